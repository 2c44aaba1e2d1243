//! What is acknowledged was handed to the disk.

use std::{fs, process::Command};

use crate::support::{
    process::{Handoffd, run, under, url},
    tenant::Tenant,
};

/// Whether this machine lets a process be traced.
fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-D", "-f", "-e", "trace=fsync", "-o", "/dev/null", "true"]).output();
    tried.is_ok_and(|output| output.status.success())
}

#[test]
fn an_acknowledged_answer_was_synced_to_the_disk() {
    if !can_trace() {
        println!("skipped: strace is missing or may not trace here");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("handoff.db");
    let tenant = Tenant::create(&database);
    let trace = directory.path().join("trace");
    let url = url(&database);
    // The tracer stands aside (`-D`), so that the process that the test starts and ends is the server itself.
    let arguments = [
        "-D",
        "-f",
        "-e",
        "trace=fsync,fdatasync",
        "-o",
        trace.to_str().unwrap(),
        env!("CARGO_BIN_EXE_handoffd"),
        "serve",
    ];
    let variables = [("HANDOFF_DATABASE_URL", url.as_str()), ("HANDOFF_BIND", "127.0.0.1:0")];
    let server = Handoffd::start(under(Command::new("strace"), &arguments, &variables));
    let mut connection = server.connect();
    let syncs = || {
        let text = fs::read_to_string(&trace).unwrap();
        // A call that another thread interrupts in the trace is written in two parts; the second begins with dots.
        text.lines().filter(|line| line.contains("sync(")).count()
    };
    let mut before = syncs();
    const CALLS: usize = 10;
    for n in 0..CALLS {
        let request = tenant.raise(&mut connection, &format!("run:{n}")).unwrap().text("id");
        assert_eq!(tenant.answer(&mut connection, &request).unwrap().status, 200);
        let after = syncs();
        assert!(after >= before + 2, "a raise and an answer, each acknowledged after a sync");
        before = after;
    }
    drop(server);
    let checked = run(&["fsck"], &[("HANDOFF_DATABASE_URL", &url)]);
    assert!(checked.status.success(), "what was killed left a sound store: {checked:?}");
    println!("{before} syncs in all for {} writes that were acknowledged one after another", 2 * CALLS);
}
