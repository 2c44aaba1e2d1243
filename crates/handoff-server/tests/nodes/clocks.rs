//! Nodes whose clocks are ten minutes off: timers go by the database's time.
//!
//! The clock of a whole process is moved by Debian's `libfaketime`; without it this says so and passes. That the store asks
//! the database in every case is tested with the store, which needs nothing.

use std::{
    collections::HashMap,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::{
    receiver::receive,
    support::{deployment::Deployment, process::Handoffd, tenant::Tenant},
};

/// Where Debian keeps it, by architecture.
const LIBRARIES: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"];

/// Longer than a look at what is due, shorter than a push may take.
const SLOWLY: Duration = Duration::from_secs(4);

#[test]
fn a_node_whose_clock_is_ten_minutes_off_takes_nothing_from_another_and_expires_nothing_early() {
    let Some(library) = LIBRARIES.into_iter().find(|library| Path::new(library).exists()) else {
        println!("skipped: Debian's package libfaketime is not on this machine");
        return;
    };
    let deployment = Deployment::postgres();
    let tenant = Tenant::create(&deployment);
    let nodes: Vec<_> = ["+0", "+600s", "-600s"]
        .into_iter()
        .map(|off| {
            deployment.serve(&[
                ("LD_PRELOAD", library),
                ("FAKETIME", off),
                ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
                ("HANDOFF_CALLBACK_SECRETS", "whsec_clocks"),
                ("HANDOFF_SWEEP_INTERVAL_MS", "50"),
            ])
        })
        .collect();
    let (port, pushes) = receive(SLOWLY);
    let raise = |node: &Handoffd, waiter: &str, more: &str| {
        let body = format!(
            r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"Ship it?"}}{more},"requires":{{"v":1,"answer":{{"fields":
            [{{"name":"decision","type":"choice","required":true,"options":[{{"id":"yes","label":"Yes"}}]}}]}}}}}}"#
        );
        let raised = node.connect().call("POST", "/v1/requests", &tenant.machine, &body).unwrap();
        assert_eq!(raised.status, 201, "{raised:?}");
        raised.text("id")
    };

    // What one node pushes slowly no other one takes up meanwhile.
    let callback = format!(r#","callback":{{"url":"http://127.0.0.1:{port}/slow"}}"#);
    for (number, node) in nodes.iter().enumerate() {
        let request = raise(node, &format!("push:{number}"), &callback);
        assert_eq!(tenant.answer(&mut node.connect(), &request).unwrap().status, 200);
    }
    // A deadline is met when it comes, whatever the node thinks that looks.
    let asked = Instant::now();
    let first = nodes.first().unwrap();
    let deadline = r#","ttl":"PT3S","ttl_policy":{"on_expiry":"expire_and_deny"}"#;
    let each = nodes.iter().enumerate();
    let mut left: Vec<_> = each.map(|(number, node)| raise(node, &format!("ttl:{number}"), deadline)).collect();
    while !left.is_empty() {
        left.retain(|request| {
            let path = format!("/v1/requests/{request}");
            let found = first.connect().call("GET", &path, &tenant.machine, "").unwrap();
            let pending = found.text("state") == "pending";
            assert!(pending || asked.elapsed() >= Duration::from_millis(2900), "expired {:?} early", asked.elapsed());
            pending
        });
        assert!(asked.elapsed() < Duration::from_secs(15), "deadlines are met");
        // Often enough to see one that is early, and within the calls that a credential has.
        thread::sleep(Duration::from_millis(25));
    }
    // Each comes, and while it is being taken it does not come from another node as well. What nobody acknowledges comes again
    // after that.
    let mut first: HashMap<String, Instant> = HashMap::new();
    let mut until = Instant::now() + Duration::from_secs(20);
    while let Ok(push) = pushes.recv_timeout(until.saturating_duration_since(Instant::now())) {
        let began = *first.entry(push.signal).or_insert(push.at);
        let later = push.at.duration_since(began);
        assert!(
            later.is_zero() || later >= SLOWLY,
            "a push that another node has under way is taken up after {later:?}"
        );
        if first.len() == nodes.len() {
            until = until.min(first.values().max().map_or(until, |last| *last + SLOWLY));
        }
    }
    assert_eq!(first.len(), nodes.len());
}
