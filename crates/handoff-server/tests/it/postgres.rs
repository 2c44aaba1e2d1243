//! Several servers over one Postgres database.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use handoff_postgres_cluster::Database;

use crate::{
    home::{answer, document, machine, person, raise, receipt},
    support::process::{Handoffd, handoffd, run},
};

fn database() -> Database {
    handoff_postgres_cluster::shared().unwrap().database().unwrap()
}

/// What each server of a database is told; all of them sign with one key.
fn variables<'a>(url: &'a str, key: &'a str, loaded: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("HANDOFF_DATABASE_URL", url),
        ("HANDOFF_BIND", "127.0.0.1:0"),
        ("HANDOFF_SIGNING_KEY_FILE", key),
        ("HANDOFF_BOOTSTRAP_JSON", loaded),
    ]
}

fn serve(variables: &[(&str, &str)]) -> Handoffd {
    Handoffd::start(handoffd(&["serve"], variables))
}

fn key(directory: &Path) -> String {
    directory.join("key.json").display().to_string()
}

#[test]
fn a_poll_at_one_server_is_woken_by_an_answer_at_another_and_every_command_finds_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let (database, key) = (database(), key(directory.path()));
    let loaded = document(&[machine("t-m", ""), person("t-p", "")]);
    let variables = variables(database.owner_url(), &key, &loaded);
    let migrated = run(&["migrate"], &variables);
    assert!(migrated.status.success(), "{migrated:?}");
    let (one, other) = (serve(&variables), serve(&variables));
    assert_eq!(one.connect().call("GET", "/readyz", "", "").unwrap().status, 200);
    // The listeners of servers that were just started have to come to rest.
    thread::sleep(Duration::from_millis(300));
    for round in 0..3 {
        let request = raise(&mut one.connect(), "t-m", &format!("run:{round}"), "session", "").text("id");
        let mut polling = other.connect();
        let headers = "Authorization: Bearer t-m\r\n";
        polling.send("GET", &format!("/v1/requests/{request}?wait=20"), headers, "").unwrap();
        thread::sleep(Duration::from_millis(200));
        let answered = answer(&mut one.connect(), "t-p", &request);
        let since = Instant::now();
        let polled = polling.receive().unwrap();
        assert!(polled.status == 200 && polled.text("state") == "answered", "{polled:?}");
        assert!(since.elapsed() < Duration::from_secs(5), "woken after {:?}", since.elapsed());
        receipt(&mut other.connect(), "t-m", &answered);
        let events = run(&["dump-events", "--request", &request], &variables);
        assert!(String::from_utf8_lossy(&events.stdout).contains("request.answered"), "{events:?}");
    }
    let verified = run(&["verify-chain"], &variables);
    assert!(String::from_utf8_lossy(&verified.stdout).contains("OK"), "{verified:?}");
}

#[test]
fn an_effective_configuration_shows_no_password() {
    let url = "postgres://me:hunter2@db.example.com/handoff?sslmode=verify-full";
    let shown = run(&["config", "check"], &[("HANDOFF_DATABASE_URL", url), ("HANDOFF_DATABASE_DIRECT_URL", url)]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned() + &String::from_utf8_lossy(&shown.stderr);
    assert!(shown.status.success() && !text.contains("hunter2"), "{text}");
    assert!(text.contains("postgres://me:[redacted]@db.example.com/handoff?sslmode=verify-full"), "{text}");
    let refused = run(&["migrate"], &[("HANDOFF_DATABASE_URL", "postgres://me:hunter2@127.0.0.1:1/handoff")]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && !text.contains("hunter2"), "{text}");
}

#[test]
fn a_crash_in_the_middle_of_an_answer_leaves_nothing_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let (database, key) = (database(), key(directory.path()));
    let loaded = document(&[machine("t-m", ""), person("t-p", "")]);
    let variables = variables(database.owner_url(), &key, &loaded);
    let mut crashing = variables.to_vec();
    crashing.push(("HANDOFF_CRASH_POINT", "answer_after_state_write"));
    let server = serve(&crashing);
    let request = raise(&mut server.connect(), "t-m", "run:1", "session", "").text("id");
    let mut connection = server.connect();
    let path = format!("/v1/requests/{request}/answer");
    let lost = connection.call("POST", &path, "t-p", r#"{"values":{"decision":"yes"}}"#);
    assert!(lost.is_err(), "{lost:?}");
    drop(server);
    let server = serve(&variables);
    let found = server.connect().call("GET", &format!("/v1/requests/{request}"), "t-m", "").unwrap();
    assert_eq!(found.text("state"), "pending");
    let answered = answer(&mut server.connect(), "t-p", &request);
    assert_eq!(receipt(&mut server.connect(), "t-m", &answered).text("chain.height"), "1");
}

#[test]
fn while_the_database_is_away_calls_are_refused_with_a_time_to_come_back_and_then_served_again() {
    let directory = tempfile::tempdir().unwrap();
    let (database, key) = (database(), key(directory.path()));
    let loaded = document(&[machine("t-m", ""), person("t-p", "")]);
    let variables = variables(database.owner_url(), &key, &loaded);
    let server = serve(&variables);
    let name = database.name();
    let postgres = database.admin_url().replace(name, "postgres");
    let away = format!(
        "ALTER DATABASE {name} ALLOW_CONNECTIONS false;
         SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'"
    );
    database.run_at(&postgres, &away).unwrap();
    let since = Instant::now();
    let mut refused = 0;
    while since.elapsed() < Duration::from_secs(3) {
        let found = server.connect().call("GET", "/v1/requests", "t-m", "").unwrap();
        assert_eq!(found.status, 503, "{found:?}");
        assert!(found.header("retry-after").is_some(), "{found:?}");
        assert_eq!(server.connect().call("GET", "/readyz", "", "").unwrap().status, 503);
        refused += 1;
        thread::sleep(Duration::from_millis(50));
    }
    assert!(refused > 20, "calls fail at once: {refused}");
    database.run_at(&postgres, &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).unwrap();
    let since = Instant::now();
    while server.connect().call("GET", "/readyz", "", "").unwrap().status != 200 {
        assert!(since.elapsed() < Duration::from_secs(10), "the server goes on by itself");
        thread::sleep(Duration::from_millis(20));
    }
    let request = raise(&mut server.connect(), "t-m", "run:1", "session", "").text("id");
    answer(&mut server.connect(), "t-p", &request);
    server.terminate();
    let (_, _, log) = server.wait();
    let lines = log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).count();
    assert!(lines <= 8, "under a line a second and a few for the change:\n{log}");
}
