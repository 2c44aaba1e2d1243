//! Values against declared fields: every fault, in declared order, by code, and never the value.

use handoff_protocol::{
    decision::{FieldErrorCode, NoSchemas, Requires, values},
    json::{Json, Object},
};
use proptest::{
    prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest},
    sample::subsequence,
};

use super::scene::json;

/// What no error may repeat.
const CANARY: &str = "c4n4ry";
const CANARY_NUMBER: i64 = 271_828_182_845;

const FIELDS: [&str; 8] = [
    r#"{"name":"one","type":"choice","required":true,"options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]}"#,
    r#"{"name":"many","type":"choice","multi":true,"required":true,"options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]}"#,
    r#"{"name":"any","type":"choice","multi":true,"options":[{"id":"a","label":"A"},{"id":"b","label":"B"}]}"#,
    r#"{"name":"words","type":"text","max_len":8}"#,
    r#"{"name":"free","type":"text","required":true}"#,
    r#"{"name":"count","type":"number","min":-5,"max":5,"required":true}"#,
    r#"{"name":"flag","type":"boolean"}"#,
    r#"{"name":"sworn","type":"attestation","required":true}"#,
];

/// The rule, written a second time: what a value of a field comes to, if it is given at all.
fn expected(name: &str, value: Option<&Json>) -> Option<FieldErrorCode> {
    use FieldErrorCode::{AttestationMustBeTrue, NotAnOption, OutOfRange, Required, UndeclaredField, WrongType};
    let required = ["one", "many", "free", "count", "sworn"].contains(&name);
    let value = match value {
        None | Some(Json::Null) => return required.then_some(Required),
        Some(value) => value,
    };
    let option = |id: &str| id == "a" || id == "b";
    match (name, value) {
        ("one", Json::String(id)) => (!option(id)).then_some(NotAnOption),
        ("many", Json::Array(ids)) if ids.is_empty() => Some(Required),
        ("many" | "any", Json::Array(ids)) => {
            for (place, id) in ids.iter().enumerate() {
                match id {
                    Json::String(text) if !option(text) || ids[..place].contains(id) => return Some(NotAnOption),
                    Json::String(_) => {}
                    _ => return Some(WrongType),
                }
            }
            None
        }
        ("words", Json::String(text)) => (text.chars().count() > 8).then_some(OutOfRange),
        ("free", Json::String(_)) | ("flag", Json::Bool(_)) | ("sworn", Json::Bool(true)) => None,
        ("count", Json::Number(number)) => {
            let fits = number.safe_integer().is_some_and(|number| (-5..=5).contains(&number));
            (!fits).then_some(OutOfRange)
        }
        ("sworn", _) => Some(AttestationMustBeTrue),
        ("one" | "many" | "any" | "words" | "free" | "count" | "flag", _) => Some(WrongType),
        _ => Some(UndeclaredField),
    }
}

fn submitted() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-8..8_i64).prop_map(Json::from),
        Just(Json::from(CANARY_NUMBER)),
        Just(json("0.5")),
        prop_oneof![
            Just("a".to_owned()),
            Just("b".to_owned()),
            Just(CANARY.to_owned()),
            Just(format!("{CANARY}{CANARY}"))
        ]
        .prop_map(Json::from),
    ];
    prop_oneof![leaf.clone(), proptest::collection::vec(leaf, 0..4).prop_map(Json::from)]
}

proptest! {
    #[test]
    fn every_fault_is_collected_in_declared_order_and_no_value_is_repeated(
        fields in subsequence(FIELDS.to_vec(), 0..=FIELDS.len()).prop_shuffle(),
        values in proptest::collection::btree_map(
            prop_oneof![
                Just("one"), Just("many"), Just("any"), Just("words"), Just("free"), Just("count"), Just("flag"),
                Just("sworn"), Just("undeclared"), Just(""),
            ],
            submitted(),
            0..10,
        ),
    ) {
        let requires = Requires::read(&json(&format!(r#"{{"v":1,"answer":{{"fields":[{}]}}}}"#, fields.join(",")))).unwrap();
        let submitted: Object = values.iter().rev().map(|(name, value)| (name.to_owned().to_owned(), value.clone())).collect();
        let declared: Vec<&str> = requires.fields.iter().map(|field| field.name.as_str()).collect();
        let mut faults: Vec<(String, FieldErrorCode)> = declared
            .iter()
            .filter_map(|name| expected(name, submitted.get(name)).map(|code| ((*name).to_owned(), code)))
            .collect();
        faults.extend(
            submitted
                .keys()
                .filter(|name| !declared.contains(name))
                .map(|name| (name.to_owned(), FieldErrorCode::UndeclaredField)),
        );
        let errors = values::check(&requires, &submitted, &NoSchemas).err().unwrap_or_default();
        let found: Vec<_> = errors.iter().map(|error| (error.name.clone(), error.code)).collect();
        prop_assert_eq!(found, faults);
        let words = format!("{errors:?}");
        prop_assert!(!words.contains(CANARY) && !words.contains(&CANARY_NUMBER.to_string()), "{}", words);
    }

    #[test]
    fn a_text_is_measured_in_characters(text in "\\PC{0,12}") {
        let requires = Requires::read(&json(r#"{"v":1,"answer":{"fields":[{"name":"t","type":"text","max_len":6}]}}"#)).unwrap();
        let submitted: Object = [("t".to_owned(), Json::from(text.as_str()))].into_iter().collect();
        prop_assert_eq!(values::check(&requires, &submitted, &NoSchemas).is_ok(), text.chars().count() <= 6);
    }
}
