//! The requests in `examples/requests`: each is one that a server accepts.

use std::{fs, path::PathBuf};

use handoff_protocol::{
    decision::{Policy, Raise},
    id::{OrgId, ServiceAccountId, Ulid},
    json::read,
    principal::{AuthStrength, Identity, Principal, Role, Scopes},
};

use super::bench::Bench;

fn files() -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/requests");
    let mut files: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    assert!(files.len() >= 4);
    files
}

#[test]
fn every_example_is_a_raise() {
    let machine = Principal {
        tenant: OrgId::from_ulid(Ulid::MIN),
        identity: Identity::Machine(ServiceAccountId::from_ulid(Ulid::MIN)),
        role: Role::Viewer,
        strength: AuthStrength::Session,
        reauth_at: None,
        mfa_at: None,
        scopes: Scopes::All,
        display: None,
        on_behalf_of: None,
        test: false,
    };
    for file in files() {
        let body = read(&fs::read(&file).unwrap()).unwrap();
        Raise::read(&machine, body, &Policy::default()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_can_be_asked_from_its_file() {
    let bench = Bench::start().await;
    for file in files() {
        let id = bench.ask(&["--file", &file.display().to_string()]).await;
        let shown = bench.run(&["show", &id]).await;
        assert_eq!(shown.code, 0, "{}", shown.err);
    }
}
