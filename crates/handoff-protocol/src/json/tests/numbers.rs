//! The value of a number, whatever its spelling (N-1 to N-3).

use super::super::{Json, MAX_SAFE_INTEGER, NotANumber, Number, NumberFault, normalize_numbers, read_str};

fn integer(text: &str) -> Result<i64, NumberFault> {
    text.parse::<Number>().unwrap().integer()
}

#[test]
fn an_integral_value_is_legal_in_any_spelling() {
    for (text, value) in [
        ("0", 0),
        ("-0", 0),
        ("-0.0", 0),
        ("0.000e5", 0),
        ("4.0", 4),
        ("3e2", 300),
        ("3E+2", 300),
        ("0.5e1", 5),
        ("-5.0", -5),
        ("1200e-2", 12),
        ("0.0000000000000000000001e22", 1),
        ("90071992547409910000e-4", MAX_SAFE_INTEGER),
        ("9007199254740991.000000000000000000000", MAX_SAFE_INTEGER),
        ("0.9007199254740991e16", MAX_SAFE_INTEGER),
        ("-9007199254740991", -MAX_SAFE_INTEGER),
    ] {
        assert_eq!(integer(text), Ok(value), "{text}");
    }
}

#[test]
fn a_fraction_is_never_an_integer_however_small() {
    for text in [
        "0.5",
        "-2.75",
        "1e-3",
        "0.1e0",
        "9007199254740990.5",
        "1.00000000000000000000000000000000000001",
        "123456789012345678901234567890.5",
        "1e-999999999999999999999999",
    ] {
        assert_eq!(integer(text), Err(NumberFault::NotAnInteger), "{text}");
    }
}

#[test]
fn an_integer_beyond_the_safe_range_is_told_apart() {
    for text in [
        "9007199254740992",
        "9007199254740993",
        "-9007199254740992",
        "9007199254740991.0e1",
        "18446744073709551616",
        "1e16",
        "1e300",
        "-1e999999999",
        "1e99999999999999999999999999",
    ] {
        assert_eq!(integer(text), Err(NumberFault::OutOfSafeRange), "{text}");
    }
}

#[test]
fn huge_exponents_and_long_texts_cost_one_pass() {
    assert_eq!(integer("0e999999999999999999999999"), Ok(0));
    assert_eq!(integer("0.0e-99999999999999999999"), Ok(0));
    let zeros = "0".repeat(1_000_000);
    assert_eq!(integer(&format!("7{zeros}e-1000000")), Ok(7));
    assert_eq!(integer(&format!("0.{zeros}7e1000001")), Ok(7));
    assert_eq!(integer(&format!("7{zeros}")), Err(NumberFault::OutOfSafeRange));
    assert_eq!(integer(&format!("7.{zeros}1")), Err(NumberFault::NotAnInteger));
}

#[test]
fn stored_spellings_are_plain() {
    for (written, stored) in [
        ("-0.0", "0"),
        ("0.0", "0"),
        ("-0", "0"),
        ("1.0", "1"),
        ("1e2", "100"),
        ("-5.0", "-5"),
        ("9007199254740991", "9007199254740991"),
        ("-9007199254740991", "-9007199254740991"),
    ] {
        let mut value = read_str(written).unwrap();
        normalize_numbers(&mut value).unwrap();
        assert_eq!(value.to_text(), stored, "{written}");
        assert_eq!(read_str(written).unwrap().canonical().unwrap(), stored, "{written}");
    }
}

#[test]
fn refused_numbers_are_refused_at_rest_and_in_digests() {
    let numbers = ["0.5", "-2.75", "1e-3", "9007199254740992", "9007199254740993", "-9007199254740992", "1e300"];
    for written in numbers {
        let mut value = read_str(&format!(r#"{{"n":{written}}}"#)).unwrap();
        assert_eq!(normalize_numbers(&mut value).unwrap_err()[0].to_string(), "n", "{written}");
        assert!(value.canonical().is_err(), "{written}");
    }
}

#[test]
fn plain_accessors_follow_the_spelling() {
    let number = |text: &str| text.parse::<Number>().unwrap();
    assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
    assert_eq!(number("9223372036854775808").as_i64(), None);
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(number("4.0").as_i64(), None);
    assert_eq!(number("0.25").as_f64().to_bits(), 0.25_f64.to_bits());
    assert!(number("1e999").as_f64().is_infinite());
    assert_eq!(Json::from(u64::MAX).to_text(), "18446744073709551615");
    assert_eq!(Json::from(7_usize), Json::from(7_i32));
}

#[test]
fn only_json_numbers_become_numbers() {
    for text in ["", "-", "+1", "01", "1.", ".5", "1e", "inf", "NaN", " 1", "1 ", "1_000", "0x1", "1,0"] {
        assert_eq!(text.parse::<Number>(), Err(NotANumber), "{text:?}");
    }
}
