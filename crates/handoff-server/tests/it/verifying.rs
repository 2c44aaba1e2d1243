//! `handoffd verify-chain` tells sound chains from altered ones, and says what is wrong.

use handoff_protocol::bundle::{self, FindingKind, Trust};

use crate::support::{deployment::Deployment, tenant::Tenant};

on_every_store!(
    sound_chains_are_ok_with_count_head_and_height,
    every_way_of_altering_a_chain_is_named_and_the_other_tenant_stays_ok,
    a_cut_tail_without_a_head_from_elsewhere_is_said_to_be_beyond_what_can_be_shown
);

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
fn verify(deployment: &Deployment, arguments: &[&str]) -> (Vec<String>, bool) {
    let arguments: Vec<_> = ["verify-chain"].iter().chain(arguments).copied().collect();
    let output = deployment.run(&arguments, &[]);
    let lines = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    (lines, output.status.success())
}

/// Two tenants with three receipts each.
fn two_tenants(deployment: &Deployment) -> [Tenant; 2] {
    let tenants = [Tenant::create(deployment), Tenant::create(deployment)];
    let server = deployment.serve(&[]);
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

fn sound_chains_are_ok_with_count_head_and_height(deployment: &Deployment) {
    let tenants = two_tenants(deployment);
    let shell = deployment.shell();
    let expected: Vec<String> = tenants
        .iter()
        .map(|tenant| {
            let head =
                shell.value(&format!("SELECT digest FROM chain_entries WHERE tenant = '{}' AND height = 3", tenant.id));
            format!("{} OK count=3 head={head} height=3", tenant.id)
        })
        .collect();
    assert_eq!(verify(deployment, &[]), (expected.clone(), true));
    let one = tenants[1].id.to_string();
    assert_eq!(verify(deployment, &["--tenant", &one]), (vec![expected[1].clone()], true));
    assert_eq!(verify(deployment, &["--tenant", "org_01K3M7QW8ZC4YRXB2N6VD9FTHE"]), (vec![], false));
    let other = deployment.directory().join("other.db");
    let url = format!("sqlite:{}", other.display());
    assert!(!deployment.run(&["verify-chain"], &[("HANDOFF_DATABASE_URL", &url)]).status.success());
    assert!(!other.exists(), "looking makes no database");
}

fn every_way_of_altering_a_chain_is_named_and_the_other_tenant_stays_ok(like: &Deployment) {
    for (change, words) in CHANGES {
        let deployment = &like.another();
        let [altered, other] = two_tenants(deployment);
        let shell = deployment.shell();
        let change = change.replace("?1", &format!("'{}'", altered.id));
        assert!(shell.run(&change).is_err(), "the triggers refuse it: {change}");
        shell.disarm();
        shell.run(&change).unwrap();
        drop(shell);

        let (lines, sound) = verify(deployment, &[]);
        assert!(!sound, "{change}");
        let line = lines.iter().find(|line| line.starts_with(&altered.id.to_string())).unwrap();
        assert!(line.starts_with(&format!("{} BROKEN ", altered.id)) && line.contains(words), "{change}: {line}");
        let line = lines.iter().find(|line| line.starts_with(&other.id.to_string())).unwrap();
        assert!(line.contains(" OK "), "{change}: {line}");
    }
}

fn a_cut_tail_without_a_head_from_elsewhere_is_said_to_be_beyond_what_can_be_shown(like: &Deployment) {
    const BEYOND: &str = "without a head recorded elsewhere, receipts missing from the end cannot be seen";
    for cut in 1..=3_u32 {
        let deployment = &like.another();
        let [tenant, _] = two_tenants(deployment);
        let known = export(deployment, &tenant);
        let whole = bundle::verify(known.as_bytes(), &Trust::default()).unwrap();
        let anchor = whole.head.unwrap();
        assert_eq!(anchor.height, 3);

        let shell = deployment.shell();
        shell.disarm();
        for table in ["chain_bodies", "chain_entries"] {
            shell.run(&format!("DELETE FROM {table} WHERE tenant = '{}' AND height > {}", tenant.id, 3 - cut)).unwrap();
        }
        drop(shell);

        let output = deployment.run(&["verify-chain"], &[]);
        let (said, noted) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && said.contains(&format!("{} OK count={} ", tenant.id, 3 - cut)), "{said}");
        assert!(noted.contains(BEYOND), "{noted}");

        let left = export(deployment, &tenant);
        let report = bundle::verify(left.as_bytes(), &Trust::default()).unwrap();
        assert!(report.is_sound() && report.limits.contains(&BEYOND), "{report:?}");
        let report = bundle::verify(left.as_bytes(), &Trust { keys: None, anchors: vec![anchor] }).unwrap();
        assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Head), "{report:?}");
        assert!(!report.limits.contains(&BEYOND), "{report:?}");
    }
}

/// What a server over the database exports.
fn export(deployment: &Deployment, tenant: &Tenant) -> String {
    let server = deployment.serve(&[]);
    let exported = server.connect().call("GET", "/v1/export", &tenant.machine, "").unwrap();
    assert_eq!(exported.status, 200);
    server.terminate();
    assert!(server.wait().0.success());
    exported.body
}
