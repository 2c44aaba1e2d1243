//! What happens around a server must not change what it answers, nor whose receipts it seals.

use std::{
    io::{BufRead as _, BufReader},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
};

use handoff_engine::Engine;
use handoff_server::store;

use crate::support::{
    connection::Connection,
    process::{Handoffd, handoffd, run, url},
    tenant::Tenant,
};

#[test]
fn a_log_that_nobody_reads_any_more_fails_no_call() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("handoff.db");
    let tenant = Tenant::create(&database);
    // The port is chosen here, since the log is cut off right after the line that would tell it.
    let address: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (url, bind) = (url(&database), address.to_string());
    let variables = [("HANDOFF_DATABASE_URL", url.as_str()), ("HANDOFF_BIND", bind.as_str()), ("RUST_LOG", "debug")];
    let mut child = handoffd(&["serve"], &variables).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on ") {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "the server ended");
    }
    drop(log);
    let mut connection = Connection::open(address).unwrap();
    for number in 0..3 {
        let raised = tenant.raise(&mut connection, &format!("run:{number}")).unwrap();
        assert_eq!(raised.status, 201);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_signing_key_that_is_missing_is_asked_for_and_not_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("handoff.db");
    drop(Handoffd::serve(&database, &[]));
    let key = directory.path().join("signing-key.json");
    let elsewhere = directory.path().join("elsewhere.json");
    std::fs::rename(&key, &elsewhere).unwrap();

    let url = url(&database);
    let refused = run(&["serve"], &[("HANDOFF_DATABASE_URL", &url), ("HANDOFF_BIND", "127.0.0.1:0")]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(words.contains("is missing, and receipts of this store are signed by rk_"), "{words}");
    assert!(words.contains("handoff keys retire rk_"), "{words}");
    assert!(!key.exists(), "no key was made");

    std::fs::rename(&elsewhere, &key).unwrap();
    drop(Handoffd::serve(&database, &[]));
}

#[test]
fn a_retired_signing_key_signs_no_more_and_a_new_one_takes_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("handoff.db");
    let kid = |server: &Handoffd, number: usize| {
        let mut connection = server.connect();
        connection.send("GET", "/v1/keys", "", "").unwrap();
        connection.receive().unwrap().text(&format!("keys.{number}.kid"))
    };
    let old = kid(&Handoffd::serve(&database, &[]), 0);
    retire(&database, &old);

    let address = url(&database);
    let refused = run(&["serve"], &[("HANDOFF_DATABASE_URL", &address), ("HANDOFF_BIND", "127.0.0.1:0")]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(words.contains(&format!("the signing key {old} in `")) && words.contains("was retired at "), "{words}");
    assert!(words.contains("move the file away and start again"), "{words}");

    let key = directory.path().join("signing-key.json");
    std::fs::rename(&key, directory.path().join("retired.json")).unwrap();
    let server = Handoffd::serve(&database, &[]);
    assert_eq!(kid(&server, 0), old, "what it signed can still be checked");
    assert!(kid(&server, 1).starts_with("rk_"), "the new key is published");
}

/// Says of a published key that it signs no more, as `handoff keys retire` does.
fn retire(database: &Path, kid: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = Engine::builder().store(store::open(&url(database)).unwrap()).build().await.unwrap();
        engine.retire_key(kid).await.unwrap();
    });
}
