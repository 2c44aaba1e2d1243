use serde_json::json;

use super::*;

fn scope() -> Scope {
    let profile = "base_url = \"http://127.0.0.1:1\"\nlevel = 1\n[choices]\nlink_only = false\n[callbacks.secrets]\n\
                   a = \"whsec_aaaa\"\nb = \"whsec_bbbb\"\n[credentials.machine]\ntoken = \"a-token-of-one\"\nid = \"sa_1\"\nkind = \"machine\"\n\
                   tenant = \"org_1\"\n";
    Scope::new(Arc::new(Profile::read(profile).unwrap()), "seed".to_owned(), "http://127.0.0.1:2/s")
}

#[test]
fn a_variable_alone_is_its_value_and_inside_a_text_it_is_spliced() {
    let mut scope = scope();
    scope.set("n", json!({"a": [1, "x"]}));
    let made = scope.value(&json!({"whole": "${n}", "part": "${n/a/0}", "text": "<${n/a/0}|${n/a/1}>"})).unwrap();
    assert_eq!(scope.value(&json!("${lower:n}")).unwrap(), json!("{\"a\":[1,\"x\"]}"));
    scope.set("id", json!({"bare": "01ABC"}));
    assert_eq!(scope.text("req_${lower:id/bare}").unwrap(), "req_01abc");
    assert_eq!(made, json!({"whole": {"a": [1, "x"]}, "part": 1, "text": "<1|x>"}));
}

#[test]
fn a_variable_that_is_not_there_is_named() {
    let refused = scope().value(&json!("${nothing}")).unwrap_err();
    assert_eq!(refused, "the variable `nothing` is not known here");
}

#[test]
fn what_is_derived_is_stable_by_label_and_differs_between_labels_and_scenarios() {
    let scope = scope();
    assert_eq!(scope.text("${key:a}"), scope.text("${key:a}"));
    assert_ne!(scope.text("${key:a}"), scope.text("${key:b}"));
    let other = Scope::new(Arc::clone(&scope.profile), "other".to_owned(), "");
    assert_ne!(scope.text("${key:a}"), other.text("${key:a}"));
    let id = scope.text("${ulid}").unwrap();
    assert_eq!(id.len(), 26);
    assert!(id.bytes().all(|byte| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&byte)), "{id}");
}

#[test]
fn in_a_path_a_variable_is_part_of_one_segment() {
    let mut scope = scope();
    scope.set("waiter", json!("a/b c:é"));
    assert_eq!(scope.path("/v1/waiters/${waiter}/signals").unwrap(), "/v1/waiters/a%2Fb%20c%3A%C3%A9/signals");
}

#[test]
fn in_an_expression_a_variable_stands_for_itself() {
    let mut scope = scope();
    scope.set("name", json!("a.b"));
    assert_eq!(scope.pattern(&json!({"$matches": "^${name}$"})).unwrap(), json!({"$matches": "^a\\.b$"}));
}

#[test]
fn in_a_pattern_an_object_out_of_a_variable_is_meant_exactly() {
    let mut scope = scope();
    scope.set("kept", json!({"a": 1}));
    assert_eq!(scope.pattern(&json!({"m": "${kept}"})).unwrap(), json!({"m": {"$exactly": {"a": 1}}}));
}

#[test]
fn a_layer_of_definitions_has_no_order() {
    let mut scope = scope();
    scope.set("z", json!("old"));
    let layer = |value: Value| value.as_object().unwrap().clone().into_iter().collect();
    scope.define_all(&layer(json!({"a": "<${b}>", "b": "${z}!", "z": "${z} and new"}))).unwrap();
    assert_eq!(scope.text("${a}").unwrap(), "<old and new!>");
    let refused = scope.define_all(&layer(json!({"c": "${d}", "d": "${c}"}))).unwrap_err();
    assert_eq!(refused, "`c`, `d` name each other");
    assert!(scope.define_all(&layer(json!({"c": "${nothing}"}))).unwrap_err().contains("`c`"));
}

#[test]
fn directives_make_bodies() {
    let mut scope = scope();
    scope.set("base", json!({"a": {"b": 1, "c": 2}, "d": [1]}));
    let merged = json!({"$merge": ["${base}", {"a": {"b": {"$remove": true}, "e": null}, "d": []}]});
    assert_eq!(scope.value(&merged).unwrap(), json!({"a": {"c": 2, "e": null}, "d": []}));
    let repeated = json!({"$repeat": {"count": 2, "of": {"name": "f${index}"}}});
    assert_eq!(scope.value(&repeated).unwrap(), json!([{"name": "f1"}, {"name": "f2"}]));
    assert_eq!(scope.value(&json!({"$literal": {"$merge": "${x}"}})).unwrap(), json!({"$merge": "${x}"}));
    assert_eq!(scope.value(&json!("${repeat:3:ab}")).unwrap(), json!("ababab"));
}
