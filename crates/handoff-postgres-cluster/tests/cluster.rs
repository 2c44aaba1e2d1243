//! A cluster is there when it is needed and gone afterwards.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpStream,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use handoff_postgres_cluster::{Cluster, OWNER, SERVICE};

#[test]
fn databases_are_apart_and_their_roles_are_bound_by_policies() {
    let cluster = handoff_postgres_cluster::shared().unwrap();
    let (one, other) = (cluster.database().unwrap(), cluster.database().unwrap());
    one.run("CREATE TABLE notes (text text)").unwrap();
    assert!(other.run("SELECT * FROM notes").is_err());
    let bound = "SELECT count(*) FROM pg_roles WHERE rolname = current_user AND NOT rolsuper AND NOT rolbypassrls";
    for (url, role) in [(one.owner_url(), OWNER), (one.service_url(), SERVICE)] {
        assert_eq!(one.run_at(url, "SELECT current_user").unwrap(), role);
        assert_eq!(one.run_at(url, bound).unwrap(), "1");
    }
    assert_eq!(one.run("SHOW fsync").unwrap(), "on");
    let again = Cluster::at(&cluster.address()).unwrap();
    assert!(!again.is_own());
    assert_eq!(again.port(), cluster.port());
}

#[test]
fn a_killed_process_leaves_no_server_and_no_directory_behind() {
    let mut starter = Command::new(env!("CARGO_BIN_EXE_handoff-postgres-cluster"));
    let mut starter = starter.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(starter.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let cluster = Cluster::at(address.trim()).unwrap();
    let database = cluster.database().unwrap();
    let directory = database.run_at(database.admin_url(), "SHOW data_directory").unwrap();
    assert!(std::fs::exists(&directory).unwrap());

    starter.kill().unwrap();
    starter.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while std::fs::exists(&directory).unwrap() || TcpStream::connect(("127.0.0.1", cluster.port())).is_ok() {
        assert!(Instant::now() < until, "the cluster outlives the process that started it");
        thread::sleep(Duration::from_millis(20));
    }
}
