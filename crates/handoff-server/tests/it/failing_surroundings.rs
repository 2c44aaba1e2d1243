//! What happens around a server must not change what it answers, nor whose receipts it seals.

use std::{
    io::{BufRead as _, BufReader},
    net::{SocketAddr, TcpListener},
    process::Stdio,
};

use crate::support::{
    connection::Connection,
    deployment::Deployment,
    process::Handoffd,
    tenant::{Tenant, with_engine},
};

on_every_store!(
    a_log_that_nobody_reads_any_more_fails_no_call,
    a_signing_key_that_is_missing_is_asked_for_and_not_made_anew,
    a_retired_signing_key_signs_no_more_and_a_new_one_takes_its_place
);

fn a_log_that_nobody_reads_any_more_fails_no_call(deployment: &Deployment) {
    let tenant = Tenant::create(deployment);
    // The port is chosen here, since the log is cut off right after the line that would tell it.
    let address: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bind = address.to_string();
    let mut command = deployment.command(&["serve"], &[("HANDOFF_BIND", bind.as_str()), ("RUST_LOG", "debug")]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
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

fn a_signing_key_that_is_missing_is_asked_for_and_not_made_anew(deployment: &Deployment) {
    drop(deployment.serve(&[]));
    let key = deployment.signing_key();
    let elsewhere = deployment.directory().join("elsewhere.json");
    std::fs::rename(&key, &elsewhere).unwrap();

    let refused = deployment.run(&["serve"], &[]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(words.contains("is missing, and receipts of this store are signed by rk_"), "{words}");
    assert!(words.contains("handoff keys retire rk_"), "{words}");
    assert!(!key.exists(), "no key was made");

    std::fs::rename(&elsewhere, &key).unwrap();
    drop(deployment.serve(&[]));
}

fn a_retired_signing_key_signs_no_more_and_a_new_one_takes_its_place(deployment: &Deployment) {
    let kid = |server: &Handoffd, number: usize| {
        let mut connection = server.connect();
        connection.send("GET", "/v1/keys", "", "").unwrap();
        connection.receive().unwrap().text(&format!("keys.{number}.kid"))
    };
    let old = kid(&deployment.serve(&[]), 0);
    retire(deployment, &old);

    let refused = deployment.run(&["serve"], &[]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(words.contains(&format!("the signing key {old} in `")) && words.contains("was retired at "), "{words}");
    assert!(words.contains("move the file away and start again"), "{words}");

    let key = deployment.signing_key();
    std::fs::rename(&key, deployment.directory().join("retired.json")).unwrap();
    let server = deployment.serve(&[]);
    assert_eq!(kid(&server, 0), old, "what it signed can still be checked");
    assert!(kid(&server, 1).starts_with("rk_"), "the new key is published");
}

/// Says of a published key that it signs no more, as `handoff keys retire` does.
fn retire(deployment: &Deployment, kid: &str) {
    with_engine(deployment, async |engine| {
        engine.retire_key(kid).await.unwrap();
    });
}
