//! What is acknowledged was handed to the disk.

use std::{fs, process::Command};

use handoff_postgres_cluster::{Cluster, Settings};

use crate::support::{
    deployment::Deployment,
    process::{Handoffd, under},
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
    let deployment = Deployment::sqlite();
    let tenant = Tenant::create(&deployment);
    let trace = deployment.directory().join("trace");
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
    let server = Handoffd::start(under(Command::new("strace"), &arguments, &deployment.variables(&[])));
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
    let checked = deployment.run(&["fsck"], &[]);
    assert!(checked.status.success(), "what was killed left a sound store: {checked:?}");
    println!("{before} syncs in all for {} writes that were acknowledged one after another", 2 * CALLS);
}

#[test]
fn an_acknowledged_answer_is_in_the_part_of_the_postgres_log_that_was_synced() {
    // A cluster of its own: nobody else moves its log.
    let cluster = Cluster::start(&Settings { fsync: true }).unwrap();
    let deployment = Deployment::within(cluster.database().unwrap());
    let tenant = Tenant::create(&deployment);
    let server = deployment.serve(&[]);
    let (mut connection, shell) = (server.connect(), deployment.shell());
    assert_eq!(shell.value("SHOW fsync"), "on");
    for n in 0..5 {
        let request = tenant.raise(&mut connection, &format!("run:{n}")).unwrap().text("id");
        assert_eq!(tenant.answer(&mut connection, &request).unwrap().status, 200);
        // What holds the event of the answer was written before, so it is synced if the log is up to there.
        let behind = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn())::bigint";
        let written = format!("SELECT count(*) FROM events WHERE subject = '{request}' AND type = 'request.answered'");
        let late = shell.number(behind);
        assert_eq!(shell.number(&written), 1);
        assert!(late < 1024, "{late} bytes of the log are not synced: the answer may be among them");
    }
}
