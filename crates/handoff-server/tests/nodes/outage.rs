//! The database stops, and comes back.

use std::{
    thread,
    time::{Duration, Instant},
};

use handoff_postgres_cluster::{Cluster, Settings};

use crate::support::{deployment::Deployment, tenant::Tenant};

#[test]
fn while_the_database_is_stopped_calls_are_refused_with_a_time_to_come_back_and_then_served_again() {
    stop_the_database(Duration::from_secs(4));
}

#[test]
#[ignore = "takes half a minute; the test above stops it for four seconds always"]
fn the_database_stops_for_half_a_minute() {
    stop_the_database(Duration::from_secs(30));
}

fn stop_the_database(lasting: Duration) {
    let cluster = Cluster::start(&Settings::default()).unwrap();
    let deployment = Deployment::within(cluster.database().unwrap());
    let tenant = Tenant::create(&deployment);
    let server = deployment.serve(&[("HANDOFF_RATE_LIMIT_PER_MINUTE", "0")]);
    let pending = tenant.raise(&mut server.connect(), "run:1").unwrap().text("id");

    cluster.stop().unwrap();
    let stopped = Instant::now();
    let mut refused = 0_u32;
    let mut slowest = Duration::ZERO;
    while stopped.elapsed() < lasting {
        let asked = Instant::now();
        let answered = tenant.answer(&mut server.connect(), &pending).unwrap();
        slowest = slowest.max(asked.elapsed());
        assert_eq!(answered.status, 503, "{answered:?}");
        assert!(answered.header("retry-after").is_some(), "{answered:?}");
        assert_eq!(server.connect().call("GET", "/readyz", "", "").unwrap().status, 503);
        assert_eq!(server.connect().call("GET", "/healthz", "", "").unwrap().status, 200, "the process is well");
        refused += 1;
        thread::sleep(Duration::from_millis(20));
    }

    cluster.start_again().unwrap();
    let since = Instant::now();
    while server.connect().call("GET", "/readyz", "", "").unwrap().status != 200 {
        assert!(since.elapsed() < Duration::from_secs(10), "the server goes on by itself");
        thread::sleep(Duration::from_millis(20));
    }
    let back = since.elapsed();
    assert_eq!(tenant.answer(&mut server.connect(), &pending).unwrap().status, 200);
    server.terminate();
    let (status, _, log) = server.wait();
    assert!(status.success());
    let lines = log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).count();
    println!(
        "stopped for {} s: {refused} calls refused, the slowest after {slowest:?}; {lines} lines of the log; served again \
         {back:?} after the database",
        lasting.as_secs()
    );
    let seconds = usize::try_from(lasting.as_secs()).unwrap();
    assert!(lines < seconds.max(8), "under a line a second:\n{log}");
    assert!(refused > 20, "calls fail at once: {refused}");
}
