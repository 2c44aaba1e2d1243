//! A real program, started for each submission.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{fs, path::Path, sync::Arc};

use handoff_engine::{Engine, identity::NewCredential};
use handoff_protocol::{
    decision::ErrorCode,
    id::PrincipalId,
    json::{Json, read_str},
    principal::{Principal, Role},
    secret::Secret,
};
use handoff_sink_command::CommandSink;
use handoff_testkit::{MemoryStore, SeededEntropy, VirtualClock};

const ASK: &str = r#"{"waiter_ref":"run:1","prompt":{"title":"Sign in?"},"requires":{"v":1,"answer":{"fields":[
    {"name":"password","type":"secret"}],"value_sink":{"provider":"vault","op":"put","ref":"opaque:1"}}}}"#;

/// An engine whose provider `vault` is this shell script, and a person who may submit.
async fn engine(script: &str, file: &Path) -> (Engine, Principal) {
    engine_with(CommandSink::new("/bin/sh", ["-c".into(), script.into(), file.into()])).await
}

async fn engine_with(sink: CommandSink) -> (Engine, Principal) {
    let clock = Arc::new(VirtualClock::default());
    let store = MemoryStore::new(clock, Arc::new(SeededEntropy::new(1)));
    let engine = Engine::builder().store(Arc::new(store)).sink("vault", Arc::new(sink)).build().await.unwrap();
    let tenant = engine.create_tenant().await.unwrap();
    let machine = PrincipalId::ServiceAccount(engine.create_machine(tenant, "m").await.unwrap());
    let person = PrincipalId::User(engine.create_person(tenant, "p", Role::Admin).await.unwrap());
    let enter = async |id| {
        let token = engine.issue_key(tenant, id, NewCredential::default()).await.unwrap();
        engine.authenticate(Some(token.expose())).await.unwrap()
    };
    let (machine, person) = (enter(machine).await, enter(person).await);
    engine.raise(&machine, read_str(ASK).unwrap(), None).await.unwrap();
    (engine, person)
}

fn values() -> Secret<Json> {
    Secret::new(read_str(r#"{"values":{"password":"hunter2"}}"#).unwrap())
}

#[tokio::test]
async fn a_program_gets_the_values_on_its_standard_input() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("taken");
    let (engine, person) = engine(r#"cat > "$0""#, &file).await;
    engine.submit_values(&person, "opaque:1", values(), None).await.unwrap();
    let taken = read_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let at = |name: &str| taken.get(name).cloned().unwrap();
    assert_eq!(at("values").to_text(), r#"{"password":"hunter2"}"#);
    assert_eq!((at("reference"), at("op")), (Json::from("opaque:1"), Json::from("put")));
    assert_eq!(at("submitted_by"), Json::from(person.id().unwrap().to_string()));
}

#[tokio::test]
async fn of_the_servers_environment_a_program_gets_the_path_alone() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("taken");
    let (engine, person) = engine(r#"env > "$0""#, &file).await;
    engine.submit_values(&person, "opaque:1", values(), None).await.unwrap();
    let environment = fs::read_to_string(&file).unwrap();
    let names: Vec<&str> = environment.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(names.contains(&"PATH"), "{environment}");
    // A shell sets a few of its own.
    let of_the_shell = ["PATH", "PWD", "SHLVL", "_", "OLDPWD"];
    assert!(names.iter().all(|name| of_the_shell.contains(name)), "{names:?}");
    assert!(std::env::vars().any(|(name, _)| !of_the_shell.contains(&name.as_str())), "there was something to inherit");
}

#[tokio::test]
async fn a_program_that_fails_or_does_not_exist_fails_the_submission_and_says_nothing_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("taken");
    let (failing, person) = engine(r#"cat; cat >&2; exit 3"#, &file).await;
    let refused = failing.submit_values(&person, "opaque:1", values(), None).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::DeliveryUnavailable);
    assert!(!refused.to_string().contains("hunter2"));
    let missing = CommandSink::new(directory.path().join("no-such-program"), []);
    assert!(!format!("{missing:?}").is_empty());
    let (missing, person) = engine_with(missing).await;
    let refused = missing.submit_values(&person, "opaque:1", values(), None).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::DeliveryUnavailable);
}

#[tokio::test]
async fn a_program_that_does_not_read_may_succeed_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, person) = engine("exit 0", &directory.path().join("taken")).await;
    engine.submit_values(&person, "opaque:1", values(), None).await.unwrap();
}
