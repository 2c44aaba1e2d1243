//! What is wrong is said in one line that names the variable and the mend.

use crate::support::process::run;

fn refused(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = run(arguments, variables);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    let reason = text.lines().find_map(|line| line.strip_prefix("handoffd: ")).map(str::to_owned);
    reason.unwrap_or_else(|| panic!("no reason in {text}"))
}

#[test]
fn a_bad_variable_is_named_and_its_value_is_not_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let good = format!("sqlite:{}/handoff.db", directory.path().display());
    let database = ("HANDOFF_DATABASE_URL", good.as_str());
    assert!(refused(&[], &[]).starts_with("HANDOFF_DATABASE_URL: not set"));
    for (variable, value) in [
        ("HANDOFF_DATABASE_URL", "mysql://user:hunter2@db/handoff"),
        ("HANDOFF_BIND", "hunter2"),
        ("HANDOFF_PUBLIC_BASE", "https://user:hunter2@example.com"),
        ("HANDOFF_LINK_ONLY_PERMITTED", "hunter2"),
        ("HANDOFF_SWEEP_INTERVAL_MS", "hunter2"),
        ("HANDOFF_MAX_CONNECTIONS", "hunter2"),
        ("HANDOFF_CRASH_POINT", "hunter2"),
        ("HANDOFF_LOG", "hunter2"),
        ("RUST_LOG", "hunter2=loud"),
    ] {
        let reason = refused(&["serve"], &[database, (variable, value)]);
        assert!(reason.starts_with(&format!("{variable}: ")), "{reason}");
        assert!(!reason.contains("hunter2"), "{reason}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing was made before the refusal");
}

#[test]
fn a_missing_directory_and_a_taken_port_are_said_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let missing = format!("sqlite:{}/nowhere/handoff.db", directory.path().display());
    let reason = refused(&["migrate"], &[("HANDOFF_DATABASE_URL", &missing)]);
    assert!(reason.contains("does not exist; create it first"), "{reason}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let good = format!("sqlite:{}/handoff.db", directory.path().display());
    let reason = refused(&["serve"], &[("HANDOFF_DATABASE_URL", &good), ("HANDOFF_BIND", &address)]);
    assert!(reason.contains("choose another port"), "{reason}");
    assert!(!directory.path().join("handoff.db").exists(), "a port that is taken does not touch the store");
}

#[cfg(unix)]
#[test]
fn a_signing_key_that_others_may_read_keeps_the_server_from_starting() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let key = directory.path().join("signing-key.json");
    std::fs::write(&key, "{}").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let database = format!("sqlite:{}/handoff.db", directory.path().display());
    let reason = refused(&["serve"], &[("HANDOFF_DATABASE_URL", &database), ("HANDOFF_BIND", "127.0.0.1:0")]);
    assert!(reason.contains("chmod 600"), "{reason}");
}

#[test]
fn the_version_names_server_core_and_protocol() {
    let output = run(&["--version"], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text, format!("handoffd {version} (core {version}, protocol 0.1)\n"));
    assert!(output.status.success());
    let output = run(&["no-such-command"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stderr.starts_with(b"handoffd: "));
}

#[test]
fn migrating_makes_the_database_and_can_be_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let database = format!("sqlite://{}/handoff.db", directory.path().display());
    for _ in 0..2 {
        let output = run(&["migrate"], &[("HANDOFF_DATABASE_URL", &database)]);
        assert!(output.status.success(), "{output:?}");
    }
    assert!(directory.path().join("handoff.db").exists());
}
