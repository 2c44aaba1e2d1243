//! What keeps a run from beginning: exit code 2, a line for each reason, and no call.

use std::fs;

use serde_json::json;

use crate::fixture::{Fixture, runner, said};

/// Nobody listens there, which is said only of a suite that is in order.
const NOWHERE: &str = "http://127.0.0.1:9";

#[track_caller]
fn refused(fixture: &Fixture, reason: &str) {
    let profile = fixture.profile(NOWHERE);
    for arguments in [vec!["check"], vec!["run", "--profile", profile.to_str().unwrap()]] {
        let (code, out, err) = said(&fixture.run(&arguments));
        assert_eq!(code, Some(2), "{out}{err}");
        assert_eq!(out, "");
        assert!(err.lines().any(|line| line.contains(reason)), "{reason}: {err}");
    }
}

#[test]
fn a_suite_that_agrees_with_its_map_is_not_refused() {
    assert_eq!(said(&Fixture::new().run(&["check"])).0, Some(0));
}

#[test]
fn a_case_whose_file_is_missing_is_named() {
    for id in ["C-1", "C-6b", "C-26", "I21"] {
        let fixture = Fixture::new();
        fs::remove_file(fixture.file_of(id)).unwrap();
        refused(&fixture, &format!("the map names the case `{id}`"));
    }
}

#[test]
fn a_requirement_and_an_invariant_that_the_map_does_not_have_are_named() {
    let fixture = Fixture::new();
    fixture.alter_map(|map| {
        map["requirements"].as_object_mut().unwrap().remove("C-13");
        map["invariants"]["I7"]["cases"] = json!([]);
        map["invariants"]["I22"] = json!({"title": "One more", "cases": []});
    });
    for reason in ["lacks the requirement C-13", "invariant I7 has no case", "I22, which the protocol does not know"] {
        refused(&fixture, reason);
    }
}

#[test]
fn a_case_and_the_map_must_name_each_other() {
    let fixture = Fixture::new();
    fixture.write_case("C-2", |case| case["requirements"] = json!(["C-3"]));
    refused(&fixture, "the map names the case `C-2` for the requirement C-2, and the case does not name it");
    refused(&fixture, "the case `C-2` names the requirement C-3, and the map does not name the case for it; name it");
    refused(&fixture, "cases holds 48 cases, and the map names 48; they differ");
    let stray = Fixture::new();
    stray.write_case("C-2", |case| case["requirements"] = json!([]));
    refused(&stray, "the case `C-2` names no rule");
    let ruled = Fixture::new();
    ruled.write_case("C-2", |case| case["rules"] = json!(["B-99"]));
    refused(&ruled, "the case `C-2` names the rule B-99, and there is no rule B-99");
}

#[test]
fn a_rule_has_a_case_or_a_reason_why_not() {
    let fixture = Fixture::new();
    fixture.alter_map(|map| map["rules"]["H-8"] = json!({"title": "A rule", "tests": ["it"], "cases": []}));
    refused(&fixture, "the rule H-8 has no case; write one, or say in without-case.json why there is none");
    fixture.write_without_case(&json!({"H-8": "takes a day"}));
    assert_eq!(said(&fixture.run(&["check"])).0, Some(0));
    fixture.write_without_case(&json!({"H-8": "takes a day", "B-1": "no", "B-99": "no"}));
    refused(&fixture, "the rule B-1 has a case; without-case.json says that it has none");
    refused(&fixture, "without-case.json has the rule B-99, and there is no rule B-99");
    fixture.write_without_case(&json!({"H-8": " "}));
    refused(&fixture, "`H-8` must say why there is no case");
}

#[test]
fn what_asks_for_nothing_is_refused() {
    let call = |expect| json!({"call": "GET /v1/meta", "as": null, "expect": expect});
    let plain = json!({"call": "GET /v1/meta", "as": null});
    for (step, reason) in [
        (call(json!({"status": {"$present": true}})), "expect.status` accepts a status that no case can expect"),
        (call(json!({"status": {"$at_least": 200}})), "expect.status` accepts a status that no case can expect"),
        (
            call(json!({"status": 200, "body": {"$any": [{"$present": true}, {"$absent": true}]}})),
            "expect.body` accepts anything",
        ),
        (
            json!({"together": [plain], "expect": [{"count": 1, "where": {}}]}),
            "where` must say something of the `status`",
        ),
        (json!({"together": [plain]}), "together` must say what is expected"),
    ] {
        let fixture = Fixture::new();
        fixture.write_case("C-2", |case| case["scenarios"][0]["steps"] = json!([step]));
        refused(&fixture, reason);
    }
}

#[test]
fn what_is_no_case_among_the_cases_is_not_passed_over() {
    let fixture = Fixture::new();
    fs::copy(fixture.file_of("C-2"), fixture.file_of("C-2").with_file_name("C-99.JSON")).unwrap();
    refused(&fixture, "C-99.JSON: is no case");
    let round = Fixture::new();
    let cases = round.file_of("C-2").parent().unwrap().to_owned();
    std::os::unix::fs::symlink(&cases, cases.join("round.json")).unwrap();
    refused(&round, "round.json: is no case");
}

#[test]
fn a_case_of_a_higher_level_than_what_it_tests_is_named() {
    let fixture = Fixture::new();
    fixture.write_case("C-2", |case| case["level"] = json!(2));
    refused(&fixture, "the requirement C-2 is of level 1, and its case `C-2` of level 2");
}

#[test]
fn what_is_no_case_is_named_by_its_file_and_member() {
    for (spoil, reason) in [
        (json!({"comment": "x"}), "`comment` is not a member that is known here"),
        (json!({"case": "C-3"}), "`case` must be the name of the file"),
        (json!({"title": ""}), "`title` must be one line"),
        (json!({"level": 3}), "`level` must be 1 or 2"),
        (json!({"scenarios": []}), "`scenarios` must have one that applies"),
    ] {
        let fixture = Fixture::new();
        fixture.write_case("C-2", |case| {
            for (name, value) in spoil.as_object().unwrap() {
                case[name] = value.clone();
            }
        });
        refused(&fixture, &format!("C-2.json: {reason}"));
    }
}

#[test]
fn what_is_no_step_is_named_by_its_place() {
    let call = |expect| json!({"call": "GET /v1/meta", "as": null, "expect": expect});
    for (step, reason) in [
        (json!({"why": "nothing"}), "`scenarios[0].steps[0]` must have exactly one of"),
        (json!({"call": "GET /v1/meta", "hook": "log", "as": null}), "steps[0]` must have exactly one of"),
        (json!({"call": "meta", "as": null}), "steps[0].call` must be a method and a path"),
        (json!({"call": "GET /v1/meta", "expect": {"status": 200}}), "steps[0].as` is missing"),
        (json!({"call": "GET /v1/meta", "as": null}), "steps[0]` must say in `expect` which `status`"),
        (call(json!({"status": {"$contians": 1}})), "expect.status.$contians` is not a matcher"),
        (call(json!({"status": 200, "stauts": 200})), "expect.stauts` is not a member"),
        (json!({"set": {"a": 1}}), "`scenarios[0].steps` must hold at least one call"),
        (
            call(json!({"status": "${nothing}"})),
            "names the variable `nothing`, and no `let` or `keep` before it makes it",
        ),
    ] {
        let fixture = Fixture::new();
        fixture.write_case("C-2", |case| case["scenarios"][0]["steps"] = json!([step]));
        refused(&fixture, reason);
    }
}

#[test]
fn a_file_with_a_name_twice_and_two_files_with_one_id_are_refused() {
    let fixture = Fixture::new();
    let text = fs::read_to_string(fixture.file_of("C-2")).unwrap().replacen('{', "{\"level\":1,", 1);
    fs::write(fixture.file_of("C-2"), text).unwrap();
    refused(&fixture, "`/level` stands twice");
    let twice = Fixture::new();
    let below = twice.file_of("C-2").with_file_name("below");
    fs::create_dir(&below).unwrap();
    fs::copy(twice.file_of("C-2"), below.join("C-2.json")).unwrap();
    refused(&twice, "each id stands once");
}

#[test]
fn a_profile_that_cannot_be_used_and_a_case_that_is_not_there_are_refused() {
    let fixture = Fixture::new();
    let profile = fixture.profile(NOWHERE);
    let profile = profile.to_str().unwrap();
    let (code, _, err) = said(&fixture.run(&["run", "--profile", profile, "--only", "C-99"]));
    assert_eq!(code, Some(2));
    assert!(err.starts_with("handoff-conformance: there is no case `C-99`; did you mean `C-"), "{err}");
    let (code, _, err) = said(&runner(&["run", "--profile", profile, "--cases", "nowhere"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(err.contains("at the repository's root, or give --cases and --spec"), "{err}");
    fs::write(profile, "base_url = \"http://127.0.0.1:9\"\nlevel = 1\n[credentials.machine]\ntoken = secret-token\n")
        .unwrap();
    let (code, _, err) = said(&fixture.run(&["run", "--profile", profile]));
    assert_eq!(code, Some(2));
    assert!(err.contains("line 4") && !err.contains("secret-token"), "{err}");
}
