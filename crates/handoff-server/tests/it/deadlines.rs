//! Deadlines as the process keeps them: without traffic, and whatever zone the host is in.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    home::{document, machine, raise},
    support::deployment::Deployment,
};

on_every_store!(a_request_expires_within_the_bound_while_nobody_calls, the_zone_of_the_host_moves_no_instant);

/// How late a deadline may be acted on: one sweep interval and a second.
const BOUND: Duration = Duration::from_millis(500 + 1000);

fn a_request_expires_within_the_bound_while_nobody_calls(deployment: &Deployment) {
    let loaded = document(&[machine("t-m", "")]);
    let server = deployment.serve(&[("HANDOFF_BOOTSTRAP_JSON", &loaded)]);
    let more = r#","ttl":"PT2S","ttl_policy":{"on_expiry":"expire_and_deny"}"#;
    let raised = raise(&mut server.connect(), "t-m", "run:1", "session", more);
    let began = Instant::now();
    let request = raised.text("id");
    // The store is looked at from outside: no call reaches the server.
    let shell = deployment.shell();
    let state = || shell.value(&format!("SELECT state FROM requests WHERE id = '{request}'"));
    while state() == "pending" && began.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(20));
    }
    let took = began.elapsed();
    assert_eq!(state(), "expired");
    assert!(took <= Duration::from_secs(2) + BOUND, "it took {took:?}");
    let found = server.connect().call("GET", &format!("/v1/requests/{request}"), "t-m", "").unwrap();
    assert_eq!(found.text("receipt.kind"), "policy");
    assert_eq!(found.text("receipt.actor.principal_id"), "null");
}

fn the_zone_of_the_host_moves_no_instant(deployment: &Deployment) {
    let loaded = document(&[machine("t-m", "")]);
    for zone in ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"] {
        let server = deployment.serve(&[("HANDOFF_BOOTSTRAP_JSON", &loaded), ("TZ", zone)]);
        let connection = &mut server.connect();
        // Some of these lie beyond a change to or from daylight time, whatever day it is.
        for (ttl, seconds) in [("P1D", 86_400), ("PT24H", 86_400), ("P100D", 8_640_000), ("P200D", 17_280_000)] {
            let raised = raise(connection, "t-m", &format!("{zone}:{ttl}"), "session", &format!(r#","ttl":"{ttl}""#));
            let (created, expires) = (instant(&raised.text("created_at")), instant(&raised.text("expires_at")));
            assert_eq!(expires - created, seconds * 1000, "{ttl} in {zone}");
        }
    }
}

/// Milliseconds since 1970.
fn instant(text: &str) -> i64 {
    assert!(text.ends_with('Z'), "{text}");
    handoff_protocol::timestamp::Timestamp::parse(text).unwrap().unix_millis()
}
