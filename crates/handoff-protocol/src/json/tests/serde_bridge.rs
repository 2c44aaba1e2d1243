//! Our own types to JSON and back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::{
    Json, JsonError, JsonText, Number, Object, TextError, from_json, from_text, read_str, to_json, to_text,
};

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Carrier {
    before: u8,
    json: Json,
    members: Object,
    number: Number,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Flat {
    id: String,
    #[serde(flatten)]
    rest: Inner,
    #[serde(flatten)]
    open: BTreeMap<String, Json>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Inner {
    count: i64,
    note: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum External {
    Unit,
    Newtype(i64),
    Tuple(i64, String),
    Struct { json: Json },
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Internal {
    Plain,
    Text { max: i64, extra: Json },
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    One(i64),
    Two { json: Json },
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
enum Untagged {
    Integer(i64),
    Text(String),
    Other(Json),
}

fn through<T: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let json = to_json(value).unwrap();
    let text = json.to_text();
    assert_eq!(&from_json::<T>(json).unwrap(), value, "{text}");
    assert_eq!(to_text(value).unwrap(), text, "without the tree");
    assert_eq!(&from_text::<T>(&text).unwrap(), value, "{text}");
    text
}

#[test]
fn json_inside_a_struct_keeps_the_text_of_its_numbers() {
    let text = r#"{"before":1,"json":[1.0,-0,-0.0,1e999,18446744073709551615,123456789012345678901234567890,{"z":1,"a":2}],"members":{"x":0.10},"number":3e2}"#;
    let carrier: Carrier = from_json(read_str(text).unwrap()).unwrap();
    assert_eq!(through(&carrier), text);
}

#[test]
fn all_enum_representations_go_there_and_back() {
    assert_eq!(through(&External::Unit), r#""unit""#);
    assert_eq!(through(&External::Newtype(-3)), r#"{"newtype":-3}"#);
    assert_eq!(through(&External::Tuple(1, "x".into())), r#"{"tuple":[1,"x"]}"#);
    let json = read_str(r#"{"n":1.50}"#).unwrap();
    assert_eq!(through(&External::Struct { json: json.clone() }), r#"{"struct":{"json":{"n":1.50}}}"#);
    assert_eq!(through(&Internal::Plain), r#"{"type":"plain"}"#);
    let text = Internal::Text { max: 5, extra: json.clone() };
    assert_eq!(through(&text), r#"{"type":"text","max":5,"extra":{"n":1.50}}"#);
    assert_eq!(through(&Adjacent::One(1)), r#"{"t":"One","c":1}"#);
    assert_eq!(through(&Adjacent::Two { json: json.clone() }), r#"{"t":"Two","c":{"json":{"n":1.50}}}"#);
    assert_eq!(through(&Untagged::Integer(-9)), "-9");
    assert_eq!(through(&Untagged::Text("x".into())), r#""x""#);
    assert_eq!(through(&Untagged::Other(json)), r#"{"n":1.50}"#);
}

#[test]
fn flattened_members_keep_their_kind_and_number_text() {
    let text = r#"{"id":"r","count":-4,"note":null,"price":1.50,"tags":["a"]}"#;
    let flat: Flat = from_json(read_str(text).unwrap()).unwrap();
    assert_eq!(through(&flat), text);
}

#[test]
fn integers_are_read_by_value() {
    assert_eq!(from_json::<u8>(read_str("4.0").unwrap()), Ok(4));
    assert_eq!(from_json::<i64>(read_str("-3e2").unwrap()), Ok(-300));
    assert_eq!(from_json::<f64>(read_str("0.25").unwrap()), Ok(0.25));
    assert!(from_json::<u8>(read_str("256").unwrap()).is_err());
    assert!(from_json::<i64>(read_str("0.5").unwrap()).is_err());
}

#[test]
fn floats_pass_only_as_safe_integers() {
    assert_eq!(to_json(&4.0_f64), Ok(Json::from(4)));
    assert_eq!(to_json(&-0.0_f64), Ok(Json::from(0)));
    assert_eq!(to_json(&2.0_f32), Ok(Json::from(2)));
    for refused in [0.5, f64::NAN, f64::INFINITY, 1e300, 9_007_199_254_740_992.0] {
        assert_eq!(to_text(&refused).unwrap_err(), to_json(&refused).unwrap_err());
    }
    assert_eq!(to_text(&(4.0_f64, -0.0_f64, 2.0_f32)).unwrap(), "[4,0,2]");
}

#[test]
fn wide_integers_pass_if_they_fit() {
    assert_eq!(to_json(&i128::from(i64::MIN)).unwrap().to_text(), "-9223372036854775808");
    assert_eq!(to_json(&u128::from(u64::MAX)).unwrap().to_text(), "18446744073709551615");
    assert!(to_json(&(i128::from(i64::MIN) - 1)).is_err());
    assert!(to_json(&u128::MAX).is_err());
    assert_eq!(
        to_text(&(i128::from(i64::MIN), u128::from(u64::MAX))).unwrap(),
        "[-9223372036854775808,18446744073709551615]"
    );
    assert!(to_text(&(i128::from(i64::MIN) - 1)).is_err());
    assert!(to_text(&u128::MAX).is_err());
}

#[test]
fn keys_may_be_texts_integers_and_unit_variants() {
    #[derive(Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    struct Name(String);
    #[derive(Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
    enum Word {
        Yes,
    }
    assert_eq!(through(&BTreeMap::from([(Name("n".into()), 1)])), r#"{"n":1}"#);
    assert_eq!(through(&BTreeMap::from([(-3, 1), (4, 2)])), r#"{"-3":1,"4":2}"#);
    assert_eq!(through(&BTreeMap::from([(Word::Yes, 1)])), r#"{"Yes":1}"#);
    assert_eq!(through(&BTreeMap::from([(true, 1)])), r#"{"true":1}"#);
    assert!(to_json(&BTreeMap::from([(None::<String>, 1)])).is_err());
    assert!(to_json(&BTreeMap::from([(vec![1], 1)])).is_err());
    assert!(to_text(&BTreeMap::from([(None::<String>, 1)])).is_err());
}

#[test]
fn options_units_and_tuples_follow_the_usual_shapes() {
    assert_eq!(through(&Some(1)), "1");
    assert_eq!(through(&None::<i64>), "null");
    assert_eq!(through(&()), "null");
    assert_eq!(through(&(1, "a".to_owned(), false)), r#"[1,"a",false]"#);
    assert_eq!(through(&'é'), r#""é""#);
    assert!(from_json::<(i64, i64)>(read_str("[1,2,3]").unwrap()).is_err());
    assert!(from_text::<(i64, i64)>("[1,2,3]").is_err());
    assert!(from_text::<(i64, i64, i64)>("[1,2]").is_err());
    assert!(from_text::<(i64, i64)>("[1,2").is_err());
}

#[test]
fn two_members_of_one_name_are_refused() {
    #[derive(Serialize)]
    struct Clash {
        id: i64,
        #[serde(flatten)]
        open: BTreeMap<String, i64>,
    }
    let clash = Clash { id: 1, open: BTreeMap::from([("id".to_owned(), 2)]) };
    assert_eq!(to_text(&clash).unwrap_err(), to_json(&clash).unwrap_err());
    assert!(serde_json::from_str::<Json>(r#"{"a":1,"a":2}"#).is_err());
}

#[test]
fn other_formats_see_ordinary_json() {
    let value = read_str(r#"{"b":[1,-1,0.5,18446744073709551615],"a":{"x":null,"y":true,"z":"s"}}"#).unwrap();
    let text = serde_json::to_string(&value).unwrap();
    assert_eq!(text, value.to_text());
    assert_eq!(serde_json::from_str::<Json>(&text).unwrap().to_text(), text);
    assert!(serde_json::from_str::<Json>("1e300").unwrap().canonical().is_err());
    assert_eq!(serde_json::from_str::<Number>("12").unwrap(), Number::from(12));
    assert!(serde_json::from_str::<Number>("\"12\"").is_err());
}

#[test]
fn a_string_never_becomes_a_number() {
    let value = Json::from("1.5");
    assert_eq!(to_json(&value).unwrap(), value);
    assert_eq!(from_json::<Json>(value.clone()), Ok(value.clone()));
    assert!(from_json::<Number>(value).is_err());
}

#[test]
fn messages_quote_no_value() {
    let message = |error: JsonError| error.to_string();
    let secret = || read_str(r#"{"count":"hunter2","note":null}"#).unwrap();
    let shown = message(from_json::<Inner>(secret()).unwrap_err());
    assert_eq!(shown, "invalid type: string, expected i64");
    let shown = message(from_json::<External>(Json::from("hunter2")).unwrap_err());
    assert_eq!(shown, "unknown variant, expected one of `unit`, `newtype`, `tuple`, `struct`");
    let shown = message(from_json::<u8>(Json::from(7777)).unwrap_err());
    assert_eq!(shown, "invalid value: integer, expected u8");
    let shown = message(from_json::<i64>(read_str("7777.5").unwrap()).unwrap_err());
    assert_eq!(shown, "invalid type: number, expected i64");
    let shown = message(from_json::<Inner>(read_str(r#"{"note":"x"}"#).unwrap()).unwrap_err());
    assert_eq!(shown, "missing field `count`");
    for value in ["hunter2", "7777"] {
        let shown = message(from_json::<Internal>(Json::object([("type", value.into())])).unwrap_err());
        assert!(!shown.contains(value), "{shown}");
    }
}

#[test]
fn unknown_fields_are_named_only_if_their_names_may_be_shown() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Closed {
        #[serde(rename = "a")]
        _a: Option<i64>,
    }
    let shown = |text: &str| from_json::<Closed>(read_str(text).unwrap()).unwrap_err().to_string();
    assert_eq!(shown(r#"{"b":1}"#), "unknown field `b`, expected `a`");
    assert_eq!(shown(r#"{"b b":1}"#), "unknown field with an unprintable or long name, expected `a`");
}

/// What the two ways of reading say about a text, in words.
fn both<T: for<'de> Deserialize<'de> + std::fmt::Debug>(text: &str) -> (String, String) {
    let tree = read_str(text).map_err(TextError::from).and_then(|json| Ok(from_json::<T>(json)?));
    let words = |read: Result<T, TextError>| match read {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    };
    (words(from_text(text)), words(tree))
}

#[test]
fn with_and_without_the_tree_the_same_is_refused_in_the_same_words() {
    for text in [
        r#"{"id":1,"count":2,"note":null}"#,
        r#"{"id":"a","count":"b","note":null}"#,
        r#"{"id":"a","count":2.5,"note":null}"#,
        r#"{"id":"a","note":null}"#,
        "[]",
        "null",
        "3",
        r#"{"id":"a","#,
        r#"{"id":"a","count":1} x"#,
    ] {
        let (without, with) = both::<Flat>(text);
        assert_eq!(without, with, "{text}");
    }
    for text in [
        r#""unit""#,
        r#""other""#,
        r#"{"unit":null}"#,
        r#"{"unit":1}"#,
        r#"{"newtype":4.0}"#,
        r#"{"newtype":"x"}"#,
        r#"{"tuple":1}"#,
        r#"{"tuple":[1]}"#,
        r#"{"tuple":[1,"a",2]}"#,
        r#"{"struct":[]}"#,
        r#"{"struct":{"json":[{"a":1.50}]}}"#,
        r#"{"newtype":1,"unit":null}"#,
        "{}",
        "7",
        "\u{feff}7",
        "",
    ] {
        let (without, with) = both::<External>(text);
        // Which is wrong first, the item too many or the array, is not worth the same words.
        let alike = without == with || (without.contains("more items") && with.contains("invalid length"));
        assert!(alike, "{text}: {without} / {with}");
    }
}

#[test]
fn a_name_given_twice_is_refused_wherever_it_stands_also_where_no_type_looks() {
    #[derive(Debug, Deserialize)]
    struct Open {
        #[serde(rename = "a")]
        _a: i64,
    }
    assert!(from_text::<Open>(r#"{"a":1,"b":2}"#).is_ok());
    let many = (0..100).map(|place| format!("\"m{place}\":{place}")).collect::<Vec<_>>().join(",");
    assert!(from_text::<Open>(&format!("{{\"a\":1,{many}}}")).is_ok());
    for twice in [
        r#"{"a":1,"b":2,"b":3}"#,
        r#"{"a":1,"b":2,"\u0062":3}"#,
        r#"{"a":1,"b":{"c":[{"d":1,"d":2}]}}"#,
        &format!("{{\"a\":1,{many},\"m3\":1}}"),
        &format!("{{\"a\":1,{many},\"m99\":1}}"),
    ] {
        let refused = from_text::<Open>(twice).unwrap_err();
        assert!(matches!(refused, TextError::Read(_)), "{refused} {twice}");
    }
    // Names of inner objects and of neighbors do not count.
    assert!(from_text::<Json>(r#"{"a":{"a":1,"b":{"a":2}},"b":[{"a":3},{"a":4}],"c":{"b":5}}"#).is_ok());
}

#[test]
fn nesting_ends_where_the_reader_ends_it() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [128, 129] {
        assert_eq!(from_text::<Json>(&nested(depth)).is_ok(), read_str(&nested(depth)).is_ok(), "{depth}");
        assert_eq!(from_text::<serde::de::IgnoredAny>(&nested(depth)).is_ok(), depth == 128);
    }
}

#[test]
fn a_text_of_our_own_stands_in_another_as_it_is() {
    let sealed = JsonText::of_written(r#"{"b":1.50,  "a":[]}"#.into());
    assert_eq!(to_text(&[&sealed]).unwrap(), r#"[{"b":1.50,  "a":[]}]"#);
    assert_eq!(to_json(&sealed).unwrap().to_text(), r#"{"b":1.50,"a":[]}"#);
    assert_eq!(serde_json::to_string(&sealed).unwrap(), r#"{"b":1.5,"a":[]}"#);
}

/// A name of a member that is no text by itself.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
enum Name {
    First,
    Second(u8),
}

#[derive(Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
struct Wrapped(i16);

#[test]
fn members_are_named_by_whatever_is_written_as_one_text() {
    fn named<K: Ord + Serialize>(key: K, name: &str) {
        let map = BTreeMap::from([(key, 1)]);
        let text = format!(r#"{{"{name}":1}}"#);
        assert_eq!((to_json(&map).unwrap().to_text(), to_text(&map).unwrap()), (text.clone(), text));
    }
    named(true, "true");
    named(-1_i8, "-1");
    named(-2_i16, "-2");
    named(-3_i32, "-3");
    named(-4_i64, "-4");
    named(-5_i128, "-5");
    named(1_u8, "1");
    named(2_u16, "2");
    named(3_u32, "3");
    named(u64::MAX, "18446744073709551615");
    named(5_u128, "5");
    named('c', "c");
    named("s", "s");
    named(Name::First, "first");
    named(Wrapped(7), "7");
}

#[test]
fn what_is_no_text_names_no_member() {
    fn refused<K: Ord + Serialize>(key: K) {
        let map = BTreeMap::from([(key, 1)]);
        let error = to_json(&map).unwrap_err().to_string();
        assert_eq!(to_text(&map).unwrap_err().to_string(), error);
        assert!(error.contains("name"), "{error}");
    }
    refused(());
    refused(Some(1));
    refused(None::<u8>);
    refused((1, 2));
    refused(vec![1]);
    refused(BTreeMap::from([(1, 2)]));
    refused(Name::Second(1));
}
