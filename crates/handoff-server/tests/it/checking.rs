//! `handoffd fsck` tells a sound store from a damaged one, and names the rule and the record.

use std::path::Path;

use handoff_postgres_cluster::Database;
use rusqlite::Connection as Shell;

use crate::{
    home::{self, TENANT, document, machine, person},
    support::process::{Handoffd, handoffd, run},
};

/// What is asked, which no finding may repeat.
const TITLE: &str = "Ship it?";

/// What somebody with the database and without its rules can do to a request that was answered, in words that both stores
/// understand; and what is said of it: check, rule, and on what.
const DAMAGE: &[(&str, &str, &str)] = &[
    (
        "UPDATE records SET document = replace(document, '\"state\":\"answered\"', '\"state\":\"cancelled\"')
         WHERE tenant = '{tenant}' AND kind = 'request' AND id = '{request}'",
        "terminal (R",
        "{request}",
    ),
    (
        "DELETE FROM record_index WHERE tenant = '{tenant}' AND idx = 'request.id'",
        "index (section 4)",
        "does not stand in request.id",
    ),
    ("DELETE FROM records WHERE tenant = '{tenant}' AND kind = 'signal'", "signals (X-", "{request}"),
    ("DELETE FROM records WHERE tenant = '{tenant}' AND kind = 'authorization'", "authorizations (Z-1)", "{request}"),
    ("DELETE FROM timers WHERE tenant = '{tenant}' AND key LIKE '%{pending}%'", "timers (C-", "{pending}"),
    ("DELETE FROM events WHERE tenant = '{tenant}' AND sequence = 1", "events (section 23)", "stands at place"),
    ("DELETE FROM chain_bodies WHERE tenant = '{tenant}' AND height = 1", "chain (E-8)", "has lost its body"),
    ("UPDATE chain_bodies SET body = replace(body, 'yes', 'no') WHERE tenant = '{tenant}'", "chain (E-", "digest"),
    ("UPDATE chain_entries SET digest = 'x' WHERE tenant = '{tenant}'", "store (section 4)", "a digest is malformed"),
    (
        "UPDATE records SET document = 'x' WHERE tenant = '{tenant}' AND kind = 'request' AND id = '{request}'",
        "index (section 4)",
        "{request}",
    ),
    ("DELETE FROM records WHERE tenant = '{tenant}'", "events (section 23)", "{request}"),
];

/// Serves a database until one request is answered and one is pending with a deadline, and gives their ids.
fn used(variables: &[(&str, &str)]) -> (String, String) {
    let server = Handoffd::start(handoffd(&["serve"], variables));
    let connection = &mut server.connect();
    let request = home::raise(connection, "t-m", "run:1", "session", "").text("id");
    let answered = home::answer(connection, "t-p", &request);
    home::receipt(connection, "t-m", &answered);
    let pending = home::raise(connection, "t-m", "run:2", "session", r#","ttl":"PT1H""#).text("id");
    server.terminate();
    assert!(server.wait().0.success());
    (request, pending)
}

/// What the command prints, and its exit code.
fn fsck(database_url: &str, arguments: &[&str]) -> (String, Option<i32>) {
    let arguments: Vec<_> = ["fsck"].iter().chain(arguments).copied().collect();
    let output = run(&arguments, &[("HANDOFF_DATABASE_URL", database_url)]);
    let printed = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (printed, output.status.code())
}

/// A sound store has a line a tenant, the system's among them; each damage is found, and nobody else's tenant is blamed.
fn tells(database_url: &str, (request, pending): &(String, String), damaged: impl Fn(&str, &dyn Fn())) {
    let (printed, code) = fsck(database_url, &[]);
    assert_eq!(code, Some(0), "{printed}");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains(" OK records=")), "{printed}");
    assert!(printed.contains(&format!("{TENANT} OK")) && printed.contains("receipts=1"), "{printed}");
    let (one, code) = fsck(database_url, &["--tenant", TENANT]);
    assert!(code == Some(0) && one.lines().count() == 1 && printed.contains(one.trim_end()), "{one}");
    let (none, code) = fsck(database_url, &["--tenant", "org_01K3M7QW8ZC4YRXB2N6VD9FTHF"]);
    assert!(code == Some(1) && none.contains("there is no tenant"), "{none}");
    let fill =
        |text: &str| text.replace("{tenant}", TENANT).replace("{request}", request).replace("{pending}", pending);
    for (change, check, place) in DAMAGE {
        damaged(&fill(change), &|| {
            let (printed, code) = fsck(database_url, &[]);
            assert_eq!(code, Some(1), "{change}: {printed}");
            assert!(printed.contains(&format!("{TENANT} BROKEN findings=")), "{change}: {printed}");
            let (check, place) = (format!("  {check}"), fill(place));
            let named = |line: &str| line.starts_with(&check) && line.contains(&place);
            assert!(printed.lines().any(named), "{change} is not found by {check} on {place}: {printed}");
            assert!(printed.contains("handoffd: 1 of 2 tenants are broken"), "{change}: {printed}");
            assert!(!printed.contains(TITLE), "{change}: a value is repeated: {printed}");
        });
    }
    let (printed, code) = fsck(database_url, &[]);
    assert_eq!(code, Some(0), "looking changes nothing: {printed}");
}

fn variables<'a>(url: &'a str, key: &'a str, loaded: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("HANDOFF_DATABASE_URL", url),
        ("HANDOFF_BIND", "127.0.0.1:0"),
        ("HANDOFF_SIGNING_KEY_FILE", key),
        ("HANDOFF_BOOTSTRAP_JSON", loaded),
    ]
}

fn url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

fn key(directory: &Path) -> String {
    directory.join("key.json").display().to_string()
}

#[test]
fn a_sound_file_is_ok_and_each_damage_to_it_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("handoff.db");
    let (database_url, key) = (url(&file), key(directory.path()));
    let loaded = document(&[machine("t-m", ""), person("t-p", "")]);
    let ids = used(&variables(&database_url, &key, &loaded));
    tells(&database_url, &ids, |change, check| {
        let sound = std::fs::read(&file).unwrap();
        let shell = Shell::open(&file).unwrap();
        let triggers = "SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'";
        let mut named = shell.prepare(triggers).unwrap();
        let dropped: Vec<String> = named.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        drop(named);
        shell.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        shell.execute_batch(&dropped.join(";")).unwrap();
        assert!(shell.execute(change, []).unwrap() > 0, "{change}");
        drop(shell);
        check();
        std::fs::write(&file, sound).unwrap();
    });
    let (printed, code) = fsck(&url(&directory.path().join("other.db")), &[]);
    assert!(code == Some(1) && printed.contains("there is no store at"), "{printed}");
    assert!(!directory.path().join("other.db").exists(), "looking makes no database");
}

#[test]
fn a_sound_postgres_database_is_ok_and_each_damage_to_it_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let database: Database = handoff_postgres_cluster::shared().unwrap().database().unwrap();
    let key = key(directory.path());
    let loaded = document(&[machine("t-m", ""), person("t-p", "")]);
    let ids = used(&variables(database.owner_url(), &key, &loaded));
    const TABLES: [&str; 7] =
        ["records", "record_index", "chain_entries", "chain_bodies", "events", "timers", "tenants"];
    let admin = |sql: &str| database.run_at(database.admin_url(), sql).unwrap();
    admin(&TABLES.map(|table| format!("ALTER TABLE {table} DISABLE TRIGGER USER")).join(";"));
    tells(database.owner_url(), &ids, |change, check| {
        // What is damaged is put back from copies.
        admin(&TABLES.map(|table| format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}")).join(";"));
        admin(change);
        check();
        let restore = |table: &str| {
            format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table}; DROP TABLE kept_{table}")
        };
        admin(&TABLES.map(restore).join(";"));
    });
}
