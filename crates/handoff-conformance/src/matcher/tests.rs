use serde_json::json;

use super::*;
use crate::members::Place;

fn held(matcher: &Value, got: &Value) -> Result<(), Mismatch> {
    Matcher::read(&Place::whole(matcher), Reading::Value).unwrap().check(Some(got))
}

#[track_caller]
fn told_apart(matcher: &Value, good: &[Value], bad: &[Value]) {
    for good in good {
        held(matcher, good).unwrap_or_else(|mismatch| panic!("{matcher} refuses {good}: {mismatch}"));
    }
    for bad in bad {
        assert!(held(matcher, bad).is_err(), "{matcher} accepts {bad}");
    }
}

#[test]
fn literals_are_equal_to_themselves() {
    told_apart(&json!(1), &[json!(1)], &[json!(2), json!("1"), json!(1.0), json!(null), json!([1])]);
    told_apart(&json!(null), &[json!(null)], &[json!(0), json!(""), json!({})]);
}

#[test]
fn an_object_asks_for_its_members_and_an_array_for_its_elements() {
    told_apart(
        &json!({"a": {"b": 1}}),
        &[json!({"a": {"b": 1, "c": 2}, "d": 3})],
        &[json!({}), json!({"a": 1}), json!({"a": {"b": 2}})],
    );
    told_apart(&json!([1, 2]), &[json!([1, 2])], &[json!([2, 1]), json!([1]), json!([1, 2, 3]), json!({})]);
    told_apart(&json!([]), &[json!([])], &[json!([1]), json!(null)]);
}

#[test]
fn presence_is_told_from_null() {
    told_apart(&json!({"a": {"$absent": true}}), &[json!({})], &[json!({"a": null})]);
    told_apart(&json!({"a": {"$present": true}}), &[json!({"a": null})], &[json!({})]);
    told_apart(&json!({"a": null}), &[json!({"a": null})], &[json!({})]);
}

#[test]
fn closed_objects_and_exact_values_allow_nothing_else() {
    told_apart(&json!({"$only": {"a": 1}}), &[json!({"a": 1})], &[json!({"a": 1, "b": 2}), json!({})]);
    told_apart(&json!({"$exactly": {"a": {}}}), &[json!({"a": {}})], &[json!({"a": {"b": 1}})]);
}

#[test]
fn arrays_are_told_apart() {
    told_apart(&json!({"$contains": {"a": 1}}), &[json!([{"a": 2}, {"a": 1}])], &[json!([]), json!([{"a": 2}])]);
    told_apart(&json!({"$every": {"a": 1}}), &[json!([]), json!([{"a": 1}])], &[json!([{"a": 1}, {"a": 2}])]);
    told_apart(&json!({"$count": {"n": 2, "of": 1}}), &[json!([1, 2, 1])], &[json!([1]), json!([1, 1, 1]), json!(1)]);
    told_apart(&json!({"$length": 2}), &[json!([1, 2]), json!("éa"), json!({"a": 1, "b": 2})], &[json!([1]), json!(2)]);
    told_apart(&json!({"$length": {"$at_least": 2}}), &[json!([1, 2, 3])], &[json!([1])]);
    told_apart(
        &json!({"$ascending": "/n"}),
        &[json!([]), json!([{"n": 1}, {"n": 5}])],
        &[json!([{"n": 2}, {"n": 1}]), json!([{"n": 1}, {"n": 1}]), json!([{"n": 1}, {}])],
    );
    told_apart(&json!({"$distinct": ""}), &[json!([1, 2])], &[json!([1, 2, 1])]);
}

#[test]
fn an_unordered_set_finds_the_one_way_to_pair_up() {
    // Taking the first that fits would give the wide matcher the only element that the narrow one accepts.
    let matcher = json!({"$unordered": [{"$type": "integer"}, 1]});
    told_apart(&matcher, &[json!([1, 2]), json!([2, 1])], &[json!([2, 3]), json!([1]), json!([1, 2, 3])]);
}

#[test]
fn texts_numbers_and_times_are_compared() {
    told_apart(&json!({"$matches": "^a.c$"}), &[json!("abc")], &[json!("abcd"), json!(1)]);
    told_apart(&json!({"$lacks": "b"}), &[json!("ac")], &[json!("abc"), json!(null)]);
    told_apart(&json!({"$greater": 1, "$at_most": 3}), &[json!(2), json!(3)], &[json!(1), json!(4), json!("2")]);
    told_apart(
        &json!({"$after": "2026-01-01T00:00:00Z"}),
        &[json!("2026-01-01T00:00:00.5Z")],
        &[json!("2026-01-01T00:00:00Z"), json!("tomorrow")],
    );
    let within = json!({"$seconds_after": {"time": "2026-01-01T00:00:00Z", "at_least": 899, "at_most": 901}});
    told_apart(&within, &[json!("2026-01-01T00:15:00Z")], &[json!("2026-01-01T00:16:00Z"), json!(null)]);
}

#[test]
fn the_forms_of_the_protocol_are_known() {
    told_apart(
        &json!({"$time": true}),
        &[json!("2026-01-01T00:00:00Z"), json!("2026-01-01T00:00:00.25Z")],
        &[json!("2026-01-01T00:00:00+01:00"), json!("2026-01-01T00:00:00.0Z"), json!("2026-01-01"), json!(1)],
    );
    told_apart(
        &json!({"$id": "req"}),
        &[json!("req_01K3M7QW8ZC4YRXB2N6VD9FTHE")],
        &[
            json!("req_81K3M7QW8ZC4YRXB2N6VD9FTHE"),
            json!("req_01k3m7qw8zc4yrxb2n6vd9fthe"),
            json!("req_01K3M7QW8ZC4YRXB2N6VD9FTHI"),
            json!("rcpt_01K3M7QW8ZC4YRXB2N6VD9FTHE"),
            json!("req_01K3M7QW8ZC4YRXB2N6VD9FTH"),
        ],
    );
    let empty = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    told_apart(&json!({"$digest": true}), &[json!(empty)], &[json!(empty.to_uppercase()), json!("sha256:00")]);
    told_apart(&json!({"$digest_of": {}}), &[json!(empty)], &[json!(empty.replace('4', "5"))]);
}

#[test]
fn matchers_are_combined() {
    told_apart(&json!({"$any": [1, "a"]}), &[json!(1), json!("a")], &[json!(2)]);
    told_apart(&json!({"$all": [{"a": 1}, {"b": 2}]}), &[json!({"a": 1, "b": 2})], &[json!({"a": 1})]);
    told_apart(&json!({"a": {"$not": 1}}), &[json!({"a": 2}), json!({})], &[json!({"a": 1})]);
}

#[test]
fn a_mismatch_says_where_what_was_expected_and_what_was_there() {
    let found = held(&json!({"data": [{"a/b": {"$matches": "x"}}]}), &json!({"data": [{"a/b": "y"}]})).unwrap_err();
    assert_eq!(found.to_string(), "at /data/0/a~1b: expected a text in which `x` is found, got \"y\"");
    let nothing = held(&json!({"a": 1}), &json!({})).unwrap_err();
    assert_eq!(nothing.to_string(), "at /a: expected 1, got nothing");
}

#[test]
fn what_is_no_matcher_is_refused_with_its_place() {
    for (written, place) in [
        (json!({"a": {"$contians": 1}}), "a.$contians"),
        (json!({"a": [{"$matches": "("}]}), "a[0].$matches"),
        (json!({"$absent": false}), "$absent"),
        (json!({"$type": "text"}), "$type"),
        (json!({"$greater": "${n}"}), "$greater"),
        (json!({"$absent": true, "a": 1}), "a"),
    ] {
        let fault = Matcher::read(&Place::whole(&written), Reading::Value).unwrap_err();
        assert_eq!(fault.member, place);
    }
    let template = json!({"$greater": "${n}", "$matches": "^${x}$"});
    Matcher::read(&Place::whole(&template), Reading::Template).unwrap();
}
