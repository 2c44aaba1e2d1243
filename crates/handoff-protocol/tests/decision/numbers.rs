//! Numbers: one spelling at rest on every path (N-3), and what an answer may carry (N-4).

use handoff_protocol::{
    decision::{Answer, ErrorCode, FieldErrorCode, Fired, Policy, Raise, join},
    json::{Json, to_json},
    principal::Role,
};
use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::scene::{Scene, ask, json, machine, numbers_in, person, with};

const SAFE: i64 = 9_007_199_254_740_991;

/// A safe integer and one of its spellings.
fn spelled() -> impl Strategy<Value = (i64, String)> {
    let number = prop_oneof![-3..3_i64, -SAFE..=SAFE, Just(SAFE), Just(-SAFE), Just(300_i64)];
    (number, 0..6_u8).prop_map(|(number, way)| {
        let text = match way {
            0 => number.to_string(),
            1 => format!("{number}.0"),
            2 => format!("{number}.000e0"),
            3 if number != 0 => format!("{number}0E-1"),
            4 if number == 0 => "-0.0".to_owned(),
            4 if number % 100 == 0 => format!("{}e2", number / 100),
            _ => format!("{number}e+0"),
        };
        (number, text)
    })
}

/// Whether every number is spelled as the canonicalizer would, and these numbers are all there.
fn at_rest(document: &Json, expected: i64, times: usize) -> Result<(), String> {
    let numbers = numbers_in(document);
    if let Some(bad) =
        numbers.iter().find(|number| number.safe_integer().map(|n| n.to_string()).as_deref() != Some(number.text()))
    {
        return Err(format!("{} in {}", bad.text(), document.to_text()));
    }
    let found = numbers.iter().filter(|number| number.safe_integer() == Some(expected)).count();
    if found < times { Err(format!("{found} of {times} in {}", document.to_text())) } else { Ok(()) }
}

fn body(number: &str) -> String {
    let field = r#"{"name":"n","type":"number"},{"name":"t","type":"text","initial":N}"#.replace('N', number);
    let body =
        with(&ask(&field), "prompt.evidence", &format!(r#"[{{"kind":"table","label":"L","value":[[{number}]]}}]"#));
    let body = with(&body, "requires.x-n", number);
    let body = with(&body, "metadata", &format!(r#"{{"a":{{"b":[{number}]}}}}"#));
    let policy = format!(r#"{{"on_expiry":"default","default_answer":{{"n":{number}}}}}"#);
    with(&with(&body, "ttl", r#""PT1M""#), "ttl_policy", &policy)
}

proptest! {
    #[test]
    fn numbers_at_rest_have_one_spelling_on_every_path((number, text) in spelled()) {
        let mut scene = Scene::new();
        let raised = scene.raise(&body(&text));
        // Evidence, initial value, private member, metadata, default answer.
        prop_assert_eq!(at_rest(&to_json(&raised.0).unwrap(), number, 5), Ok(()));

        let command = Raise::read(&machine(), json(&body(&text)), &Policy::default()).unwrap();
        let joined = join(&command, &machine(), &raised.0, Some(&raised.1), &mut scene.context()).unwrap();
        prop_assert_eq!(at_rest(&to_json(&joined.request).unwrap(), number, 5), Ok(()));
        for rendering in &joined.renderings {
            prop_assert_eq!(at_rest(&json(&rendering.text), number, 3), Ok(()));
        }

        let answer = format!(r#"{{"values":{{"n":{text}}}}}"#);
        let effects = scene.answer(&raised, &person(Role::Viewer), &answer).unwrap();
        prop_assert_eq!(at_rest(&json(&effects.receipt.unwrap().text), number, 1), Ok(()));
        prop_assert_eq!(at_rest(&to_json(&effects.authorization.unwrap()).unwrap(), number, 1), Ok(()));
        prop_assert_eq!(at_rest(&to_json(&effects.signals[0]).unwrap(), number, 1), Ok(()));

        scene.now = raised.0.expires_at.unwrap();
        let Fired::Acted(effects) = scene.expire(&raised) else { panic!("not due") };
        prop_assert_eq!(at_rest(&json(&effects.receipt.unwrap().text), number, 1), Ok(()));
        prop_assert_eq!(at_rest(&to_json(&effects.signals[0]).unwrap(), number, 1), Ok(()));
    }

    #[test]
    fn a_spelling_does_not_make_another_raise_or_another_answer((number, text) in spelled()) {
        let one = Raise::read(&machine(), json(&body(&text)), &Policy::default()).unwrap();
        let two = Raise::read(&machine(), json(&body(&number.to_string())), &Policy::default()).unwrap();
        prop_assert_eq!((one.digest(), one.dedupe_key()), (two.digest(), two.dedupe_key()));
        let read = |text: &str| Answer::read(&person(Role::Viewer), json(&format!(r#"{{"values":{{"n":{text}}}}}"#))).unwrap();
        prop_assert_eq!(read(&text), read(&number.to_string()));
    }

    #[test]
    fn a_number_that_cannot_be_represented_names_its_field_and_no_other(
        bad in prop_oneof![
            Just("0.5"), Just("1e-1"), Just("9007199254740992"), Just("-9007199254740992"), Just("1e16"), Just("1e400"),
            Just("123456789012345678901234567890"),
        ],
        which in proptest::collection::vec(proptest::bool::ANY, 3),
        deep in proptest::bool::ANY,
    ) {
        let value = |bad_here: bool| match (bad_here, deep) {
            (false, _) => "1".to_owned(),
            (true, false) => bad.to_owned(),
            (true, true) => format!(r#"{{"x":[1,{bad}]}}"#),
        };
        let body = format!(r#"{{"values":{{"a":{},"undeclared":{},"c":{}}}}}"#, value(which[0]), value(which[1]), value(which[2]));
        let expected: Vec<_> = ["a", "undeclared", "c"].into_iter().zip(&which).filter(|(_, bad)| **bad).map(|(name, _)| name).collect();
        match Answer::read(&person(Role::Viewer), json(&body)) {
            Ok(_) => prop_assert!(expected.is_empty()),
            Err(error) => {
                prop_assert_eq!(error.code(), ErrorCode::AnswerValidationFailed);
                let fields = error.fields();
                prop_assert_eq!(fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), expected);
                prop_assert!(fields.iter().all(|field| field.code == FieldErrorCode::OutOfRange));
            }
        }
    }

    #[test]
    fn a_raise_with_such_a_number_is_refused_wherever_it_stands(
        bad in prop_oneof![Just("0.5"), Just("9007199254740992"), Just("1e400")],
        path in prop_oneof![
            Just("metadata.a.b"), Just("requires.x-n"), Just("x"), Just("prompt.n"), Just("ttl_policy.default_answer.n"),
        ],
    ) {
        let error = Raise::read(&machine(), json(&with(&body("1"), path, bad)), &Policy::default()).unwrap_err();
        prop_assert_eq!(error.code(), ErrorCode::InvalidRequest);
        prop_assert!(!error.to_string().contains(bad));
    }
}

#[test]
fn bounds_are_inclusive_and_the_ends_of_the_range_pass() {
    let field = format!(r#"{{"name":"n","type":"number","min":{},"max":{SAFE}}}"#, -SAFE);
    for number in [SAFE, -SAFE, 0] {
        let mut scene = Scene::new();
        let raised = scene.raise(&ask(&field));
        let _settled =
            scene.answer(&raised, &person(Role::Viewer), &format!(r#"{{"values":{{"n":{number}}}}}"#)).unwrap();
    }
}

#[test]
fn an_answer_of_ten_thousand_faults_is_refused_for_its_size_alone() {
    let members: Vec<String> = (0..10_000).map(|n| format!("\"m{n}\":0.5")).collect();
    let body = format!("{{\"values\":{{{}}}}}", members.join(","));
    let error = Answer::read(&person(Role::Admin), json(&body)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidRequest);
    assert_eq!(error.to_string(), "`values` must hold at most 1000 members");
}

#[test]
fn each_faulty_field_is_named_once_in_the_order_of_the_answer() {
    let error =
        Answer::read(&person(Role::Admin), json(r#"{"values":{"b":[0.5,0.5],"a":1,"c":{"x":1e300}}}"#)).unwrap_err();
    let names: Vec<&str> = error.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
}
