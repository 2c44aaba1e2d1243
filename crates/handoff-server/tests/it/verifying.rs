//! `handoffd verify-chain` tells sound chains from altered ones, and says what is wrong.

use std::path::Path;

use handoff_protocol::bundle::{self, FindingKind, Trust};
use rusqlite::Connection as Shell;

use crate::support::{
    process::{Handoffd, run, url},
    tenant::Tenant,
};

/// What somebody with the file and without the triggers can do to the second receipt of a tenant, and what is said of it.
const CHANGES: &[(&str, &str)] = &[
    (
        "UPDATE chain_bodies SET body = replace(body, 'yes', 'no') WHERE tenant = ?1 AND height = 2",
        "at height 2: the receipt does not have the digest that it records",
    ),
    ("UPDATE chain_bodies SET body = 'x' WHERE tenant = ?1 AND height = 2", "at height 2: the receipt cannot be read"),
    ("DELETE FROM chain_bodies WHERE tenant = ?1 AND height = 2", "at height 2: the receipt's body is gone"),
    (
        "UPDATE chain_entries SET digest = previous WHERE tenant = ?1 AND height = 2",
        "at height 2: the entry beside the receipt differs from the receipt's own link",
    ),
    (
        "UPDATE chain_entries SET previous = digest WHERE tenant = ?1 AND height = 2",
        "at height 2: the entry beside the receipt differs from the receipt's own link",
    ),
    ("UPDATE chain_entries SET digest = 'x' WHERE tenant = ?1 AND height = 2", "the store cannot read the chain"),
    (
        "UPDATE chain_entries SET attestation = NULL WHERE tenant = ?1 AND height = 2",
        "at height 2: the receipt has no signature although others have",
    ),
    (
        "UPDATE chain_entries SET attestation = 'x' WHERE tenant = ?1 AND height = 2",
        "at height 2: the signature cannot be read",
    ),
    (
        "UPDATE chain_entries AS entry SET attestation = (SELECT attestation FROM chain_entries AS other
         WHERE other.tenant = entry.tenant AND other.height = 1) WHERE tenant = ?1 AND height = 2",
        "at height 2: the signature is not valid",
    ),
    (
        "UPDATE chain_entries SET attestation = replace(attestation, 'rk_', 'rk_X') WHERE tenant = ?1 AND height = 2",
        "at height 2: the signature names an unknown key",
    ),
    (
        "UPDATE chain_entries SET attestation = replace(attestation, '\"kid\"', '\"k\"') WHERE tenant = ?1 AND height = 2",
        "at height 2: the signature cannot be read",
    ),
    (
        "DELETE FROM chain_entries WHERE tenant = ?1 AND height = 2",
        "at height 3: the receipt stands at height 3 where height 2 is due",
    ),
];

/// What the command says of each tenant, and whether all is well.
fn verify(database: &Path, arguments: &[&str]) -> (Vec<String>, bool) {
    let arguments: Vec<_> = ["verify-chain"].iter().chain(arguments).copied().collect();
    let output = run(&arguments, &[("HANDOFF_DATABASE_URL", &url(database))]);
    let lines = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    (lines, output.status.success())
}

/// Two tenants with three receipts each.
fn two_tenants(database: &Path) -> [Tenant; 2] {
    let tenants = [Tenant::create(database), Tenant::create(database)];
    let server = Handoffd::serve(database, &[]);
    let mut connection = server.connect();
    for tenant in &tenants {
        for n in 0..3 {
            let request = tenant.raise(&mut connection, &format!("run:{n}")).unwrap().text("id");
            assert_eq!(tenant.answer(&mut connection, &request).unwrap().status, 200);
        }
    }
    server.terminate();
    assert!(server.wait().0.success());
    tenants
}

#[test]
fn sound_chains_are_ok_with_count_head_and_height() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("handoff.db");
    let tenants = two_tenants(&database);
    let shell = Shell::open(&database).unwrap();
    let expected: Vec<String> = tenants
        .iter()
        .map(|tenant| {
            let head: String = shell
                .query_row(
                    "SELECT digest FROM chain_entries WHERE tenant = ? AND height = 3",
                    [tenant.id.to_string()],
                    |row| row.get(0),
                )
                .unwrap();
            format!("{} OK count=3 head={head} height=3", tenant.id)
        })
        .collect();
    assert_eq!(verify(&database, &[]), (expected.clone(), true));
    let one = tenants[1].id.to_string();
    assert_eq!(verify(&database, &["--tenant", &one]), (vec![expected[1].clone()], true));
    assert_eq!(verify(&database, &["--tenant", "org_01K3M7QW8ZC4YRXB2N6VD9FTHE"]), (vec![], false));
    assert_eq!(verify(&directory.path().join("other.db"), &[]), (vec![], false));
    assert!(!directory.path().join("other.db").exists(), "looking makes no database");
}

#[test]
fn every_way_of_altering_a_chain_is_named_and_the_other_tenant_stays_ok() {
    for (change, words) in CHANGES {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("handoff.db");
        let [altered, other] = two_tenants(&database);
        let shell = Shell::open(&database).unwrap();
        let triggers = triggers(&shell);
        assert!(shell.execute(change, [altered.id.to_string()]).is_err(), "the triggers refuse it: {change}");
        shell.execute_batch(&triggers).unwrap();
        shell.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        assert!(shell.execute(change, [altered.id.to_string()]).unwrap() > 0, "{change}");
        drop(shell);

        let (lines, sound) = verify(&database, &[]);
        assert!(!sound, "{change}");
        let line = lines.iter().find(|line| line.starts_with(&altered.id.to_string())).unwrap();
        assert!(line.starts_with(&format!("{} BROKEN ", altered.id)) && line.contains(words), "{change}: {line}");
        let line = lines.iter().find(|line| line.starts_with(&other.id.to_string())).unwrap();
        assert!(line.contains(" OK "), "{change}: {line}");
    }
}

#[test]
fn a_cut_tail_without_a_head_from_elsewhere_is_said_to_be_beyond_what_can_be_shown() {
    const BEYOND: &str = "without a head recorded elsewhere, receipts missing from the end cannot be seen";
    for cut in 1..=3_u32 {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("handoff.db");
        let [tenant, _] = two_tenants(&database);
        let known = export(&database, &tenant);
        let whole = bundle::verify(known.as_bytes(), &Trust::default()).unwrap();
        let anchor = whole.head.unwrap();
        assert_eq!(anchor.height, 3);

        let shell = Shell::open(&database).unwrap();
        shell.execute_batch(&triggers(&shell)).unwrap();
        for table in ["chain_bodies", "chain_entries"] {
            let delete = format!("DELETE FROM {table} WHERE tenant = ? AND height > ?");
            assert!(shell.execute(&delete, (tenant.id.to_string(), 3 - cut)).unwrap() > 0);
        }
        drop(shell);

        let output = run(&["verify-chain"], &[("HANDOFF_DATABASE_URL", &url(&database))]);
        let (said, noted) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && said.contains(&format!("{} OK count={} ", tenant.id, 3 - cut)), "{said}");
        assert!(noted.contains(BEYOND), "{noted}");

        let left = export(&database, &tenant);
        let report = bundle::verify(left.as_bytes(), &Trust::default()).unwrap();
        assert!(report.is_sound() && report.limits.contains(&BEYOND), "{report:?}");
        let report = bundle::verify(left.as_bytes(), &Trust { keys: None, anchors: vec![anchor] }).unwrap();
        assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Head), "{report:?}");
        assert!(!report.limits.contains(&BEYOND), "{report:?}");
    }
}

/// What a server over the database exports.
fn export(database: &Path, tenant: &Tenant) -> String {
    let server = Handoffd::serve(database, &[]);
    let exported = server.connect().call("GET", "/v1/export", &tenant.machine, "").unwrap();
    assert_eq!(exported.status, 200);
    server.terminate();
    assert!(server.wait().0.success());
    exported.body
}

/// What takes the triggers off.
fn triggers(shell: &Shell) -> String {
    let mut all = shell.prepare("SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    let names: Vec<String> = all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    names.join(";")
}
