//! The program as it is used: small runs against a server in this process, and what it says of servers that lack something.

#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{net::SocketAddr, process::Output};

use axum::{Router, http::StatusCode, routing::get};
use handoff_engine::identity::NewCredential;
use handoff_protocol::{callback::CallbackSecret, id::PrincipalId, principal::Role};
use handoff_server::{Config, Running, Server};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

const SECRET: &str = "whsec_smoke";

/// What a run told.
struct Ran {
    output: Output,
    measurements: Vec<Value>,
}

impl Ran {
    fn errors(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    fn names(&self) -> Vec<&str> {
        self.measurements.iter().map(|measurement| measurement["name"].as_str().unwrap()).collect()
    }

    /// A number of a measurement, by its place: a member or a figure.
    fn number(&self, place: usize, name: &str) -> f64 {
        let measurement = &self.measurements[place];
        let value = measurement.get(name).or_else(|| measurement["figures"].get(name));
        value.and_then(Value::as_f64).unwrap_or_else(|| panic!("no `{name}` in {measurement}"))
    }
}

/// Runs the scenarios at their smallest.
async fn run(directory: &TempDir, url: &str, tokens: (&str, &str), more: &[&str]) -> Ran {
    let credentials = directory.path().join("credentials.json");
    let figures = directory.path().join("figures.json");
    std::fs::write(&credentials, json!({"tenants": [{"machine": tokens.0, "person": tokens.1}]}).to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_handoff-bench"))
        .args(["run", "--url", url, "--workers", "2", "--tenants", "1", "--seconds", "1"])
        .args(["--expiries", "20", "--receivers", "20"])
        .arg("--credentials")
        .arg(&credentials)
        .arg("--json")
        .arg(&figures)
        .args(more)
        .env_remove("HANDOFF_CALLBACK_SECRETS")
        .output()
        .await
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let outcome: Value = serde_json::from_slice(&std::fs::read(figures).unwrap()).unwrap();
    let measurements = outcome["measurements"].as_array().unwrap().clone();
    Ran { output, measurements }
}

async fn serve(directory: &TempDir, secrets: &[&str]) -> (Running, [String; 2]) {
    let mut config = Config::dev(directory.path());
    config.bind.set_port(0);
    config.rate_limit_per_minute = 0;
    config.callbacks.secrets = secrets.iter().map(|secret| CallbackSecret::new(*secret).unwrap()).collect();
    let server = Server::start(config).await.unwrap();
    let engine = server.engine();
    let tenant = engine.create_tenant().await.unwrap();
    let machine = PrincipalId::ServiceAccount(engine.create_machine(tenant, "a program").await.unwrap());
    let person = PrincipalId::User(engine.create_person(tenant, "A person", Role::Admin).await.unwrap());
    let mut tokens = Vec::new();
    for principal in [machine, person] {
        let key = engine.issue_key(tenant, principal, NewCredential::default()).await.unwrap();
        tokens.push(key.expose().clone());
    }
    (server, tokens.try_into().unwrap())
}

/// Runs scenarios against a server of ours that signs with these secrets.
async fn run_ours(secrets: &[&str], more: &[&str]) -> (TempDir, Ran) {
    let directory = tempfile::tempdir().unwrap();
    let (server, [machine, person]) = serve(&directory, secrets).await;
    let ran = run(&directory, &format!("http://{}", server.address()), (&machine, &person), more).await;
    server.stop().await;
    (directory, ran)
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_with_ladder_and_callbacks_are_told_with_their_share_and_each_push_comes_once() {
    let more = ["--scenario", "callback", "--callback-secrets", SECRET];
    let (directory, ran) = run_ours(&[SECRET], &more).await;
    assert_eq!(
        ran.names(),
        ["answer, page alone", "answer, with ladder", "answer, with callbacks", "answer to push"],
        "{}",
        ran.errors()
    );
    for place in 0..3 {
        assert!(ran.number(place, "percent_of_base") > 0.0 && ran.number(place, "base_a_second") > 0.0);
    }
    assert_eq!(ran.number(2, "operations"), ran.number(3, "operations"), "an answer is a push");
    assert_eq!((ran.number(3, "duplicates"), ran.number(3, "missing")), (0.0, 0.0));
    assert!(ran.number(3, "repeats") < ran.number(3, "operations"), "what is acknowledged rests");

    let page = Command::new(env!("CARGO_BIN_EXE_handoff-bench"))
        .arg("report")
        .arg(directory.path().join("figures.json"))
        .output()
        .await
        .unwrap();
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("| answer, with callbacks | 2 | 1 |"), "{page}");
    assert!(page.contains("| answers with callbacks, of those with the page alone | at least 40 % |"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_expire_after_their_deadlines_and_never_before() {
    let (_directory, ran) = run_ours(&[], &["--scenario", "expire"]).await;
    assert_eq!(ran.names(), ["expire 20, 500/s", "expire 20 together"], "{}", ran.errors());
    for place in 0..2 {
        assert_eq!((ran.number(place, "operations"), ran.number(place, "still_pending")), (20.0, 0.0));
    }
    assert!(ran.number(1, "due_within_ms") < 1_500.0, "{:?}", ran.measurements);
}

#[tokio::test(flavor = "multi_thread")]
async fn healthy_receivers_get_their_pushes_while_every_fifth_fails() {
    let more = ["--scenario", "receivers", "--callback-secrets", SECRET];
    let (_directory, ran) = run_ours(&[SECRET], &more).await;
    assert_eq!(ran.names(), ["push, 4 of 20 receivers fail", "push, 4 of 20 fail, 5 each"], "{}", ran.errors());
    for place in 0..2 {
        assert_eq!((ran.number(place, "operations"), ran.number(place, "missing")), (16.0, 0.0));
        assert_eq!(ran.number(place, "duplicates"), 0.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_callbacks_and_a_run_without_their_secrets_leave_them_out_in_a_line() {
    for (secrets, more, why) in [
        (&[][..], &["--callback-secrets", SECRET][..], "raise was answered with 4"),
        (&[SECRET][..], &[][..], "give `--callback-secrets`"),
    ] {
        let more = [&["--scenario", "callback,receivers"], more].concat();
        let (_directory, ran) = run_ours(secrets, &more).await;
        let errors = ran.errors();
        let lines: Vec<_> = errors.lines().collect();
        assert_eq!(lines.len(), 2, "{errors}");
        for (line, name) in lines.iter().zip(["callback", "receivers"]) {
            assert!(line.starts_with(&format!("handoff-bench: {name} is left out: {why}")), "{errors}");
        }
        assert!(ran.measurements.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_knows_no_terms_leaves_out_what_needs_them() {
    let refusal = (StatusCode::UNPROCESSABLE_ENTITY, r#"{"error":{"code":"unknown_member"}}"#);
    let strange = Router::new().route("/v1/meta", get(|| async { "{}" })).fallback(move || async move { refusal });
    let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, strange).await });
    let directory = tempfile::tempdir().unwrap();
    let more = ["--scenario", "callback,expire,receivers", "--callback-secrets", SECRET];
    let ran = run(&directory, &url, ("m", "p"), &more).await;
    let errors = ran.errors();
    assert_eq!(errors.matches("is left out: raise was answered with 422").count(), 3, "{errors}");
    assert_eq!(errors.matches("(unknown_member)").count(), 3, "{errors}");
}
