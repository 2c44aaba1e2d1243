//! What the strict reader takes and refuses (B-1).

use super::super::{Json, MAX_DEPTH, ReadErrorKind, ReadLimits, read, read_str, read_within};

fn refused(text: &str) -> (ReadErrorKind, usize) {
    let error = read_str(text).unwrap_err();
    (error.kind, error.offset)
}

#[test]
fn member_order_and_number_text_survive() {
    let text = r#"{"z":1.50,"a":-0.0,"m":[1e2,123456789012345678901234567890],"":null}"#;
    assert_eq!(read_str(text).unwrap().to_text(), text);
}

#[test]
fn white_space_is_allowed_between_tokens_only() {
    let value = read_str(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } , \"c\" : [ ] } \n").unwrap();
    assert_eq!(value.to_text(), r#"{"a":[1,2],"b":{},"c":[]}"#);
    assert_eq!(refused("\u{a0}1").0, ReadErrorKind::ExpectedValue);
    assert_eq!(refused("\u{b}1").0, ReadErrorKind::ExpectedValue);
}

#[test]
fn escapes_are_undone() {
    let value = read_str(r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00\u0000""#).unwrap();
    assert_eq!(value.as_str(), Some("\"\\/\u{8}\u{c}\n\r\tAé€😀\0"));
}

#[test]
fn duplicate_names_are_refused_at_any_depth_after_unescaping() {
    assert_eq!(refused(r#"{"a":1,"b":2,"a":3}"#), (ReadErrorKind::DuplicateName, 13));
    assert_eq!(refused(r#"[{"x":{"a":1,"\u0061":2}}]"#), (ReadErrorKind::DuplicateName, 13));
    assert_eq!(refused(r#"{"":1,"":2}"#).0, ReadErrorKind::DuplicateName);
    assert!(read_str(r#"{"a":{"a":1},"A":2}"#).is_ok());
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ud800x""#,
        r#""\ud800\n""#,
        r#""\ud83d\u0041""#,
        r#"{"\udfff":1}"#,
    ] {
        assert_eq!(refused(text).0, ReadErrorKind::LoneSurrogate, "{text}");
    }
}

#[test]
fn invalid_utf8_is_refused_where_it_stands() {
    for bytes in [&b"\"ab\xff\""[..], b"\"ab\xc0\xaf\"", b"\"ab\xed\xa0\x80\"", b"\"ab\xf0\x9f\x98"] {
        let error = read(bytes).unwrap_err();
        assert_eq!((error.kind, error.offset), (ReadErrorKind::InvalidUtf8, 3));
    }
}

#[test]
fn control_characters_must_be_escaped() {
    for code in 0..0x20_u8 {
        let text = format!("\"a{}b\"", char::from(code));
        assert_eq!(refused(&text), (ReadErrorKind::ControlCharacter, 2));
    }
    assert_eq!(read_str("\"\u{7f}\u{2028}\"").unwrap().as_str(), Some("\u{7f}\u{2028}"));
}

#[test]
fn malformed_numbers_are_refused() {
    for text in ["01", "-01", "00", "-", "1.", "1.e2", "1e", "1e+", "-a", "0.", "-.5"] {
        assert_eq!(refused(text).0, ReadErrorKind::InvalidNumber, "{text}");
    }
    for text in ["+1", ".5", "NaN", "Infinity", "nul", "True", "'a'", "// 1", "undefined"] {
        assert_eq!(refused(text).0, ReadErrorKind::ExpectedValue, "{text}");
    }
    assert_eq!(refused("-Infinity").0, ReadErrorKind::InvalidNumber);
    assert_eq!(refused("0x10"), (ReadErrorKind::TrailingText, 1));
}

#[test]
fn each_fault_is_told_by_its_kind_and_place() {
    for (text, kind, offset) in [
        ("", ReadErrorKind::UnexpectedEnd, 0),
        ("  ", ReadErrorKind::UnexpectedEnd, 2),
        ("[1", ReadErrorKind::UnexpectedEnd, 2),
        ("{\"a", ReadErrorKind::UnexpectedEnd, 3),
        ("\"a\\", ReadErrorKind::UnexpectedEnd, 3),
        ("[1,]", ReadErrorKind::ExpectedValue, 3),
        ("[1 2]", ReadErrorKind::ExpectedCommaOrBracket, 3),
        ("[1}", ReadErrorKind::ExpectedCommaOrBracket, 2),
        ("{\"a\" 1}", ReadErrorKind::ExpectedColon, 5),
        ("{\"a\":1,}", ReadErrorKind::ExpectedName, 7),
        ("{a:1}", ReadErrorKind::ExpectedName, 1),
        ("{\"a\":1]", ReadErrorKind::ExpectedCommaOrBrace, 6),
        ("1 2", ReadErrorKind::TrailingText, 2),
        ("{}x", ReadErrorKind::TrailingText, 2),
        ("\u{feff}1", ReadErrorKind::ByteOrderMark, 0),
        (r#""\x""#, ReadErrorKind::InvalidEscape, 1),
        (r#""\u12""#, ReadErrorKind::InvalidEscape, 1),
        (r#""\u+123""#, ReadErrorKind::InvalidEscape, 1),
    ] {
        assert_eq!(refused(text), (kind, offset), "{text:?}");
    }
}

#[test]
fn nesting_is_bounded_and_a_hostile_text_is_refused_early() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read_str(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(refused(&nested(MAX_DEPTH + 1)), (ReadErrorKind::TooDeep(MAX_DEPTH), MAX_DEPTH));
    assert_eq!(refused(&"[".repeat(10_000_000)), (ReadErrorKind::TooDeep(MAX_DEPTH), MAX_DEPTH));
    assert_eq!(refused(&r#"{"a":"#.repeat(100_000)).0, ReadErrorKind::TooDeep(MAX_DEPTH));
    assert!(read_str(&format!("[{}{{}}]", "[[]],".repeat(1000))).is_ok(), "breadth is not depth");
}

#[test]
fn tighter_limits_count_depth_and_values() {
    let within = |text: &str, depth, values| read_within(text.as_bytes(), ReadLimits { depth, values });
    assert!(within("[[1],2]", 2, 4).is_ok());
    assert_eq!(within("[[1],2]", 1, 4).unwrap_err().kind, ReadErrorKind::TooDeep(1));
    assert_eq!(within("[[1],2]", 2, 3).unwrap_err().kind, ReadErrorKind::TooMany(3));
    assert_eq!(within(&format!("[{}1]", "1,".repeat(1 << 20)), 2, 1000).unwrap_err().offset, 1999);
}

#[test]
fn messages_name_the_fault_and_the_byte_and_quote_nothing() {
    let error = read_str(r#"{"secret-name":1,"secret-name":2}"#).unwrap_err();
    assert_eq!(error.to_string(), "duplicate member name at byte 17");
    assert_eq!(read_str("{\"a\":1]").unwrap_err().to_string(), "expected `,` or `}` at byte 6");
}

#[test]
fn scalars_are_documents() {
    assert_eq!(read_str("null").unwrap(), Json::Null);
    assert_eq!(read_str("true").unwrap(), Json::Bool(true));
    assert_eq!(read_str("false").unwrap(), Json::Bool(false));
    assert_eq!(read_str("-7").unwrap(), Json::from(-7));
    assert_eq!(read_str("\"\"").unwrap(), Json::from(""));
}
