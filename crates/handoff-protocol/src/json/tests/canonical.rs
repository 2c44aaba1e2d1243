//! Canonical text (B-8, N-6).

use super::super::{Json, read_str};

fn canonical(text: &str) -> String {
    read_str(text).unwrap().canonical().unwrap()
}

#[test]
fn members_sort_by_utf16_code_unit_not_code_point() {
    // U+10348 is written as the pair D800 DF48, so it stands between U+D7FB and U+F8FF.
    let object =
        Json::object([("b", 0.into()), ("\u{d7fb}", 1.into()), ("\u{f8ff}", 2.into()), ("\u{10348}", 3.into())]);
    assert_eq!(object.canonical().unwrap(), "{\"b\":0,\"\u{d7fb}\":1,\"\u{10348}\":3,\"\u{f8ff}\":2}");
}

#[test]
fn the_sorting_sample_of_rfc_8785_comes_out_in_its_order() {
    let text = r#"{
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let sorted = read_str(&canonical(text)).unwrap();
    let values: Vec<_> = sorted.as_object().unwrap().iter().filter_map(|(_, value)| value.as_str()).collect();
    assert_eq!(
        values,
        [
            "Carriage Return",
            "One",
            "Control",
            "Latin Small Letter O With Diaeresis",
            "Euro Sign",
            "Emoji: Grinning Face",
            "Hebrew Letter Dalet With Dagesh",
        ]
    );
}

#[test]
fn ascii_names_sort_by_byte_and_a_prefix_comes_first() {
    assert_eq!(
        canonical(r#"{"b":1,"a.":2,"a":3,"A":4,"":5,"10":6,"9":7}"#),
        r#"{"":5,"10":6,"9":7,"A":4,"a":3,"a.":2,"b":1}"#
    );
}

#[test]
fn only_quotes_backslashes_and_controls_are_escaped() {
    for (character, escaped) in [
        ('"', "\\\""),
        ('\\', "\\\\"),
        ('\u{8}', "\\b"),
        ('\t', "\\t"),
        ('\n', "\\n"),
        ('\u{c}', "\\f"),
        ('\r', "\\r"),
        ('\0', "\\u0000"),
        ('\u{b}', "\\u000b"),
        ('\u{1f}', "\\u001f"),
        ('\u{7f}', "\u{7f}"),
        ('\u{2028}', "\u{2028}"),
        ('/', "/"),
        ('<', "<"),
        ('😀', "😀"),
    ] {
        let value = Json::String(character.into());
        assert_eq!(value.canonical().unwrap(), format!("\"{escaped}\""));
        assert_eq!(value.to_text(), format!("\"{escaped}\""));
    }
}

#[test]
fn white_space_and_spelling_leave_no_trace() {
    assert_eq!(canonical(" { \"b\" : [ 1.0 , -0.0, 3e2 ] , \"a\" : \"\\u0041\\/\" } "), r#"{"a":"A/","b":[1,0,300]}"#);
}

#[test]
fn a_fraction_is_refused_by_its_place() {
    let refused = read_str(r#"{"prompt":{"evidence":[{"value":0.5}]}}"#).unwrap().canonical().unwrap_err();
    assert_eq!(refused.to_string(), "`prompt.evidence[0].value` is not an integer");
    let refused = read_str("1.5").unwrap().canonical().unwrap_err();
    assert_eq!(refused.to_string(), "the value is not an integer");
}

#[test]
fn an_integer_out_of_range_is_refused_by_its_place() {
    let refused = read_str(r#"[1,9007199254740992]"#).unwrap().canonical().unwrap_err();
    assert_eq!(refused.to_string(), "`[1]` is out of the safe range of +/-9007199254740991");
}
