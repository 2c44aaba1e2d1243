//! What the runner says of servers that are none: nothing passes that was not shown.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use axum::{
    Router,
    http::{StatusCode, header},
    response::IntoResponse as _,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Runtime};

use crate::fixture::{Fixture, profile, runner, said};

/// A server that gives everybody the same reply.
struct Stub {
    address: String,
    _runtime: Runtime,
}

impl Stub {
    fn answering(status: u16, body: &'static str) -> Self {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let reply = move || async move {
            (StatusCode::from_u16(status).unwrap(), [(header::CONTENT_TYPE, "application/json")], body).into_response()
        };
        runtime.spawn(async move { axum::serve(listener, Router::new().fallback(reply)).await });
        Self { address, _runtime: runtime }
    }
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/cases")
}

fn ids(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let ids = entries.flat_map(|path| match path.is_dir() {
        true => ids(&path),
        false => vec![path.file_stem().unwrap().to_str().unwrap().to_owned()],
    });
    ids.collect()
}

/// Runs every case of the suite against an address, and returns the output and the report.
fn whole_suite(address: &str) -> (Output, Value) {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.json");
    let profile = profile(directory.path(), address);
    let mut command = runner(&["run", "--profile", profile.to_str().unwrap(), "--only"]);
    command.args(ids(&cases())).arg("--cases").arg(cases()).arg("--report").arg(&report);
    let output = command.output().unwrap();
    (output, serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap())
}

#[track_caller]
fn nothing_passes(address: &str) {
    let (output, report) = whole_suite(address);
    let (code, out, err) = said(&output);
    assert_eq!(code, Some(1), "{out}{err}");
    let passed: Vec<_> = out.lines().filter(|line| line.starts_with("PASS")).collect();
    assert_eq!(passed, Vec::<&str>::new());
    let number = ids(&cases()).len();
    assert_eq!(report["totals"], json!({"cases": number, "passed": 0, "failed": number}));
    let last = out.lines().last().unwrap();
    assert!(last.starts_with(&format!("{number} cases: 0 passed, {number} failed")), "{last}");
    assert!(!out.contains("token-of-"), "a token was shown");
}

#[test]
fn a_server_that_has_implemented_nothing_passes_nothing() {
    nothing_passes(&Stub::answering(501, r#"{"error":{"code":"not_implemented","message":"not here"}}"#).address);
}

#[test]
fn a_server_that_says_yes_to_everything_passes_nothing() {
    nothing_passes(&Stub::answering(200, "{}").address);
}

#[test]
fn a_server_that_is_not_there_or_is_of_another_level_is_refused_with_the_mend() {
    let fixture = Fixture::new();
    let other = Stub::answering(200, r#"{"conformance_level":2}"#);
    for (address, words) in [
        ("http://127.0.0.1:9", "no server answers at http://127.0.0.1:9/v1/meta"),
        ("http://127.0.0.1:9", "is `base_url` right, and without `/v1`?"),
        (other.address.as_str(), "claims level 2 at "),
        (other.address.as_str(), "`level` in the profile is 1"),
    ] {
        let profile = fixture.profile(address);
        let (code, out, err) = said(&fixture.run(&["run", "--profile", profile.to_str().unwrap()]));
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(err.contains(words), "{words}: {err}");
    }
}

#[test]
fn what_a_profile_lacks_is_said_and_the_run_goes_on() {
    let fixture = Fixture::new();
    let good = Stub::answering(200, r#"{"protocol_version":"0.1"}"#);
    let profile = fixture.profile(&good.address);
    let report = profile.with_file_name("report.json");
    let arguments =
        ["run", "--profile", profile.to_str().unwrap(), "--report", report.to_str().unwrap(), "--only", "C-1,C-2"];
    let (code, out, err) = said(&fixture.run(&arguments));
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("the profile lacks hooks read_title, ") && !err.contains("credentials"), "{err}");
    assert!(out.contains("2 cases of the suite; the map was not compared\n2 cases: 2 passed"), "{out}");
    let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(report["only"], json!(["C-1", "C-2"]));
    assert_eq!(report["server"], json!({"protocol_version": "0.1"}));
    assert_eq!(report["cases_digest"].as_str().unwrap().len(), 71);
    assert!(report["started_at"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn a_case_that_is_met_passes_and_the_report_says_so() {
    let fixture = Fixture::new();
    let good = Stub::answering(200, r#"{"protocol_version":"0.1"}"#);
    let profile = fixture.profile(&good.address);
    let (code, out, _) = said(&fixture.run(&["run", "--profile", profile.to_str().unwrap()]));
    assert_eq!(code, Some(0), "{out}");
    assert_eq!(out.lines().filter(|line| line.starts_with("PASS ")).count(), 48);
    let order: Vec<_> = out.lines().filter_map(|line| line.split(' ').nth(1)).take(8).collect();
    assert_eq!(order, ["C-1", "C-2", "C-3", "C-4", "C-5", "C-6", "C-6b", "C-7"]);
}

#[test]
fn a_failure_names_scenario_step_path_and_both_values() {
    let fixture = Fixture::new();
    let other = Stub::answering(200, r#"{"protocol_version":"0.2"}"#);
    let profile = fixture.profile(&other.address);
    let (code, out, _) = said(&fixture.run(&["run", "--profile", profile.to_str().unwrap(), "--only", "C-1"]));
    assert_eq!(code, Some(1));
    for words in [
        "FAIL C-1 The server says what it is",
        "scenario `meta`",
        "step 1 (GET /v1/meta): the body at `/protocol_version` is not as expected",
        "expected: \"0.1\"",
        "got: \"0.2\"",
        "reply: 200 {\"protocol_version\":\"0.2\"}",
        "1 case: 0 passed, 1 failed",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

#[test]
fn a_hook_that_the_profile_does_not_name_fails_its_case() {
    let fixture = Fixture::new();
    fixture.write_case("C-2", |case| {
        case["scenarios"][0]["steps"]
            .as_array_mut()
            .unwrap()
            .push(json!({"hook": "events", "with": {"request": "x"}, "expect": {"exit": 0}}));
    });
    let good = Stub::answering(200, r#"{"protocol_version":"0.1"}"#);
    let profile = fixture.profile(&good.address);
    let (code, out, _) = said(&fixture.run(&["run", "--profile", profile.to_str().unwrap(), "--only", "C-2"]));
    assert_eq!(code, Some(1));
    assert!(out.contains("step 2 (hook events): the profile names no hook `events`"), "{out}");
}
