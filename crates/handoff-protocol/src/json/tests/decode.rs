//! Typed reading of client input, and what its errors say.

use super::super::{ArrayReader, DecodeError, Json, ObjectReader, ValueReader, read_str};

fn refusal<T: std::fmt::Debug>(result: Result<T, DecodeError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn each_type_is_read_or_asked_for() {
    let body = read_str(r#"{"s":"x","b":true,"i":3e2,"a":[1],"o":{"k":1},"c":"yes"}"#).unwrap();
    let reader = ObjectReader::new(&body, "").unwrap();
    assert_eq!(reader.string("s"), Ok("x"));
    assert_eq!(reader.boolean("b"), Ok(true));
    assert_eq!(reader.integer("i"), Ok(300));
    assert_eq!(reader.array("a").unwrap().len(), 1);
    assert_eq!(reader.object("o").unwrap().integer("k"), Ok(1));
    assert_eq!(reader.choice("c", &[("yes", 1), ("no", 0)]), Ok(1));

    assert_eq!(refusal(reader.string("b")), "`b` must be a string");
    assert_eq!(refusal(reader.boolean("s")), "`s` must be true or false");
    assert_eq!(refusal(reader.integer("s")), "`s` must be an integer within +/-9007199254740991");
    assert_eq!(refusal(reader.array("s")), "`s` must be an array");
    assert_eq!(refusal(reader.object("a")), "`a` must be an object");
    assert_eq!(refusal(reader.choice("s", &[("yes", 1), ("no", 0)])), "`s` must be one of `yes`, `no`");
    assert_eq!(refusal(reader.choice("s", &[("yes", 1)])), "`s` must be `yes`");
    assert_eq!(refusal(reader.value("i").unwrap().integer_within(1, 30)), "`i` must be an integer from 1 to 30");
    assert_eq!(refusal(reader.array("a").unwrap().count_within(2, 3)), "`a` must have 2 to 3 items");
    reader.finish().unwrap();
}

#[test]
fn fractions_and_unsafe_integers_are_no_integers() {
    let body = read_str(r#"{"half":0.5,"big":9007199254740992}"#).unwrap();
    let reader = ObjectReader::new(&body, "").unwrap();
    assert!(reader.integer("half").is_err());
    assert!(reader.integer("big").is_err());
}

#[test]
fn null_counts_as_absent() {
    let body = read_str(r#"{"n":null}"#).unwrap();
    let reader = ObjectReader::new(&body, "").unwrap();
    assert_eq!(reader.optional("n"), None);
    assert_eq!(reader.optional_string("n"), Ok(None));
    assert_eq!(reader.optional_integer("missing"), Ok(None));
    assert_eq!(reader.member("n"), Some(&Json::Null));
    assert_eq!(refusal(reader.required("n")), "`n` is required");
    assert_eq!(refusal(reader.string("missing")), "`missing` is required");
    reader.finish().unwrap();
}

#[test]
fn optional_members_are_still_checked() {
    let body = read_str(r#"{"x":[]}"#).unwrap();
    let reader = ObjectReader::new(&body, "").unwrap();
    assert!(reader.optional_string("x").is_err());
    assert!(reader.optional_text("x", 0, 1).is_err());
    assert!(reader.optional_boolean("x").is_err());
    assert!(reader.optional_integer("x").is_err());
    assert!(reader.optional_object("x").is_err());
    assert!(reader.optional_choice("x", &[("y", ())]).is_err());
    assert!(reader.optional_array("x").unwrap().is_some_and(|items| items.is_empty()));
}

#[test]
fn text_is_counted_in_characters() {
    let json = Json::from("né😀");
    let value = ValueReader::new(&json, "title");
    assert_eq!(value.text(3, 3), Ok("né😀"));
    assert_eq!(value.text(0, 5), Ok("né😀"));
    assert_eq!(refusal(value.text(4, 200)), "`title` must be 4 to 200 characters");
    assert_eq!(refusal(value.text(1, 2)), "`title` must be 1 to 2 characters");
    assert_eq!(refusal(value.text(0, 2)), "`title` must be at most 2 characters");
    assert_eq!(refusal(value.text(9, 9)), "`title` must be exactly 9 characters");
    let plain = Json::from("abc");
    assert!(ValueReader::new(&plain, "").text(1, 2).is_err());
    let empty = Json::from("");
    assert!(ValueReader::new(&empty, "").text(0, 0).is_ok());
    assert!(ValueReader::new(&empty, "").text(1, 9).is_err());
}

#[test]
fn paths_lead_through_objects_and_arrays() {
    let body = read_str(r#"{"answer":{"fields":[{"type":"text"},{"type":"text"},{}]}}"#).unwrap();
    let requires = ObjectReader::new(&body, "requires").unwrap();
    let answer = requires.object("answer").unwrap();
    let fields = answer.array("fields").unwrap();
    let types: Result<Vec<_>, _> =
        fields.items().map(|item| item.object().and_then(|field| field.string("type"))).collect();
    let error = types.unwrap_err();
    assert_eq!(error.path, "requires.answer.fields[2].type");
    assert_eq!(error.to_string(), "`requires.answer.fields[2].type` is required");
    assert_eq!(
        refusal(fields.items().next().unwrap().integer()),
        "`requires.answer.fields[0]` must be an integer within +/-9007199254740991"
    );
}

#[test]
fn values_outlive_the_readers_that_found_them() {
    fn first(body: &Json) -> Result<&str, DecodeError> {
        let reader = ObjectReader::new(body, "")?;
        let child = reader.object("o")?;
        let items = child.array("a")?;
        items.items().next().ok_or_else(|| ArrayReader::error(&items, "must not be empty"))?.string()
    }
    assert_eq!(first(&read_str(r#"{"o":{"a":["x"]}}"#).unwrap()), Ok("x"));
    assert_eq!(refusal(first(&read_str(r#"{"o":{"a":[]}}"#).unwrap())), "`o.a` must not be empty");
}

#[test]
fn the_first_unknown_member_is_named_if_its_name_may_be_shown() {
    let finish = |text: &str| {
        let body = read_str(text).unwrap();
        let reader = ObjectReader::new(&body, "").unwrap();
        reader.optional("known");
        reader.finish()
    };
    assert_eq!(finish(r#"{"known":1}"#), Ok(()));
    assert_eq!(finish("{}"), Ok(()));
    assert_eq!(refusal(finish(r#"{"known":1,"extra":2,"more":3}"#)), "`extra` is not a known member");
    assert_eq!(refusal(finish(r#"{"pass word":1}"#)), "the body has a member with an unprintable or long name");
    let long = format!(r#"{{"{}":1}}"#, "x".repeat(65));
    assert_eq!(refusal(finish(&long)), "the body has a member with an unprintable or long name");
}

#[test]
fn unknown_members_of_a_child_are_named_with_their_path() {
    let body = read_str(r#"{"prompt":{"tone":"x","bad name":1}}"#).unwrap();
    let reader = ObjectReader::new(&body, "").unwrap();
    let prompt = reader.object("prompt").unwrap();
    assert_eq!(refusal(prompt.finish()), "`prompt.tone` is not a known member");
    let prompt = reader.object("prompt").unwrap();
    prompt.optional("tone");
    assert_eq!(refusal(prompt.finish()), "`prompt` has a member with an unprintable or long name");
}

#[test]
fn marks_reach_beyond_the_first_128_members() {
    let names: Vec<String> = (0..300).map(|place| format!("m{place}")).collect();
    let body = Json::Object(names.iter().map(|name| (name.clone(), Json::Null)).collect());
    let reader = ObjectReader::new(&body, "").unwrap();
    for name in names.iter().filter(|name| *name != "m200") {
        reader.member(name);
    }
    assert_eq!(refusal(reader.finish()), "`m200` is not a known member");
    let reader = ObjectReader::new(&body, "").unwrap();
    for name in &names {
        reader.member(name);
    }
    reader.finish().unwrap();
}

#[test]
fn a_body_of_another_type_is_refused_as_the_body() {
    assert_eq!(refusal(ObjectReader::new(&Json::from(1), "")), "the body must be an object");
    let error = DecodeError::new("prompt.title", "must be shorter");
    assert_eq!(error.to_string(), "`prompt.title` must be shorter");
}
