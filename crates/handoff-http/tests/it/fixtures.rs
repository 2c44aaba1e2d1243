//! Every fixture of the contract is produced or accepted as its kind. Without the contract's files this prints one line.

use std::{collections::BTreeMap, fs, path::PathBuf};

use handoff_protocol::{
    chain::verify_alone,
    decision::{
        Answer, Delivery, ErrorEnvelope,
        capability::{GrantSessionView, GrantView},
        tenant_policy::TenantPolicy,
        view::{AnswerResult, AuthorizationView, ReattachResult, ReceiptView, RequestView, SignalView},
    },
    digest::Digest,
    id::{OrgId, Ulid, UserId},
    json::{Json, from_json, read, read_str, to_json},
    principal::{AuthStrength, Identity, Principal, Role, Scopes},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{contract, use_cases, world::World};

/// What becomes of a fixture here.
enum Kind {
    /// A raise that the server takes.
    Raise,
    /// An answer that the server reads.
    Answer,
    /// What our types read and write again without a loss, where these members are first set as a reading of the contract
    /// has it; the text says which.
    Typed(fn(Json) -> Result<Json, String>, &'static [(&'static str, &'static str)], &'static str),
    /// What `/v1/meta` answers, in members and words.
    Meta,
    /// A use case, played from its raise on.
    Played,
    /// Canonical bytes with a published digest.
    Canonical(&'static str),
}

const OLDER_REQUEST: &[(&str, &str)] = &[
    ("attempt_ttl", r#""PT15M""#),
    ("rendered_digest", r#""sha256:7e6d5c4b3a291807f6e5d4c3b2a190817e6d5c4b3a291807f6e5d4c3b2a19081""#),
];
/// The receipt of fixture 08, as sealed, is older than some members, and spells two of them otherwise.
const OLDER_RECEIPT: &[(&str, &str)] = &[
    ("authority.satisfied", r#""session""#),
    ("authority.required.quorum", "1"),
    ("authority.required.forbid_requester", "true"),
    ("authority.endorsements", "[]"),
    ("rendered.ref", "null"),
    ("rendered.binding", r#""advisory""#),
    ("rendered.diverged", "false"),
    ("waiter_state_at_decision", r#""armed""#),
];
const OLDER_POLICY_RECEIPT: &[(&str, &str)] = &[
    ("authority.required.quorum", "1"),
    ("authority.required.forbid_requester", "true"),
    ("authority.endorsements", "[]"),
    ("rendered.binding", r#""advisory""#),
    ("rendered.diverged", "false"),
    ("via", "{}"),
    ("waiter_state_at_decision", r#""armed""#),
];
const CORE: &str = "sha256:2763f39ef8a61d493106d3db302ec36cae5c024ca3da3a019d483ccc29704ad1";

fn kind(name: &str) -> Option<Kind> {
    use Kind::{Answer, Canonical, Meta, Played, Raise, Typed};
    Some(match name {
        "01-raise-request.json" => Raise,
        "02-request-created.json" => {
            Typed(typed::<RequestView>, OLDER_REQUEST, "the window and the digest to echo (rule D-8) are always there")
        }
        "03-answer-request.json" => Answer,
        "04-answer-result.json" => Typed(typed::<AnswerResult>, &[], ""),
        "05-signal-answered.json" | "06-signal-expired.json" | "07-signal-attempt-lapsed.json" => {
            Typed(typed::<SignalView>, &[], "")
        }
        "08-receipt-decision.json" => {
            Typed(typed::<ReceiptView>, OLDER_RECEIPT, "readings Q-4 and Q-6; its `ref` is one digit short of an id")
        }
        "09-receipt-policy.json" => Typed(typed::<ReceiptView>, OLDER_POLICY_RECEIPT, "readings Q-5 and Q-6"),
        "10-authorization.json" => Typed(typed::<AuthorizationView>, &[], ""),
        "11-delivery.json" => Typed(typed::<Delivery>, &[], ""),
        "14-error-already-answered.json"
        | "15-error-requester-may-not-answer.json"
        | "16-error-unsupported-requires-version.json" => {
            Typed(typed::<ErrorEnvelope>, &[("error.docs", "null")], "a link to read on is a server's own choice")
        }
        "17-reattach-response.json" => Typed(typed::<ReattachResult>, &[], ""),
        "18-meta.json" => Meta,
        "signing/receipt-core.json" => Canonical(CORE),
        "signing/callback-body.json" => Canonical(""),
        _ if name.starts_with("use-cases/") => Played,
        "12-capability-grant.json" => Typed(typed::<GrantView>, &[], ""),
        "13-grant-session.json" => Typed(typed::<GrantSessionView>, &[], ""),
        "19-tenant-policy.json" => Typed(policy, &[], ""),
        _ => return None,
    })
}

/// Reads a value as a type, and gives what that type writes.
fn typed<T: DeserializeOwned + Serialize>(value: Json) -> Result<Json, String> {
    let read: T = from_json(value).map_err(|error| error.to_string())?;
    to_json(&read).map_err(|error| error.to_string())
}

/// Reads a policy of the tenant that it names, and gives the document that is kept.
fn policy(value: Json) -> Result<Json, String> {
    let tenant = OrgId::parse(value.get("org_id").and_then(Json::as_str).unwrap_or_default());
    let policy = TenantPolicy::read(value, tenant.map_err(|error| error.to_string())?);
    policy.map(|policy| policy.document().clone()).map_err(|error| error.to_string())
}

/// Every file below the contract's fixtures, by its path there.
fn fixtures() -> Option<BTreeMap<String, Vec<u8>>> {
    let root = contract::folder().join("decisions/fixtures");
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).ok()? {
            let path = folder.join(entry.unwrap().file_name());
            if root.join(&path).is_dir() {
                folders.push(path);
            } else {
                let name = path.components().map(|part| part.as_os_str().to_str().unwrap()).collect::<Vec<_>>();
                found.insert(name.join("/"), fs::read(root.join(&path)).unwrap());
            }
        }
    }
    Some(found)
}

/// Everything in one value that another one lacks or has otherwise.
fn lost(sent: &Json, kept: &Json, at: &str, losses: &mut Vec<String>) {
    match (sent, kept) {
        (Json::Object(members), Json::Object(_)) => {
            for (name, value) in members {
                match kept.get(name) {
                    Some(other) => lost(value, other, &format!("{at}.{name}"), losses),
                    None if value.is_null() => {}
                    None => losses.push(format!("{at}.{name} is gone")),
                }
            }
        }
        (Json::Array(items), Json::Array(others)) if items.len() == others.len() => {
            for (place, (item, other)) in items.iter().zip(others).enumerate() {
                lost(item, other, &format!("{at}.{place}"), losses);
            }
        }
        _ if sent == kept => {}
        _ => losses.push(format!("{at} is {} and not {}", kept.to_text(), sent.to_text())),
    }
}

fn set(document: &mut Json, path: &str, value: Json) {
    let mut place = document;
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        let members = place.as_object_mut().unwrap();
        if names.peek().is_none() {
            members.insert(name, value);
            return;
        }
        place = members.get_mut(name).unwrap();
    }
}

/// The members of the published answer, each with the same kind of value; lists of names hold no others.
async fn meta(world: &World, published: &Json) {
    let served = world.get("/v1/meta").expect(200).await.json();
    for (name, value) in published.as_object().unwrap() {
        let ours = served.get(name).unwrap_or_else(|| panic!("no `{name}`"));
        match value.as_array() {
            // More kinds of capabilities than the published answer lists are wanted (rule G-3).
            Some(names) if name == "capability_types" => {
                assert!(names.iter().all(|one| ours.as_array().unwrap().contains(one)), "{name}");
            }
            Some(names) => assert!(ours.as_array().unwrap().iter().all(|ours| names.contains(ours)), "{name}"),
            None => assert_eq!(ours, value, "{name}"),
        }
    }
}

#[tokio::test]
async fn every_fixture_is_produced_or_accepted_as_its_kind() {
    let Some(fixtures) = fixtures() else {
        println!("skipped: {}", contract::NOT_HERE);
        return;
    };
    assert!(fixtures.len() >= 29, "{} fixtures", fixtures.len());
    let world = World::new().await;
    let mut losses = Vec::new();
    for (name, bytes) in &fixtures {
        let document = read(bytes).unwrap();
        match kind(name).unwrap_or_else(|| panic!("{name} is new: say what becomes of it")) {
            Kind::Raise => {
                let raised = world.post("/v1/requests", bytes.clone()).token(&world.home.machine).expect(201).await;
                lost(&document, &raised.json(), name, &mut losses);
            }
            Kind::Answer => {
                Answer::read(&person(), document).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            }
            Kind::Typed(typed, readings, why) => {
                let mut adapted = document.clone();
                for (path, value) in readings {
                    set(&mut adapted, path, read_str(value).unwrap());
                }
                assert_eq!(readings.is_empty(), why.is_empty(), "{name} says why");
                match typed(adapted.clone()) {
                    Ok(kept) => lost(&adapted, &kept, name, &mut losses),
                    Err(error) => losses.push(format!("{name}: {error}")),
                }
                if document.get("chain").is_some() {
                    verify_alone(&document).unwrap_or_else(|fault| panic!("{name}: {fault}"));
                }
            }
            Kind::Meta => meta(&world, &document).await,
            Kind::Played => use_cases::play(name, &document).await,
            Kind::Canonical(digest) => {
                assert_eq!(document.canonical().unwrap().as_bytes(), bytes, "{name}");
                assert!(digest.is_empty() || Digest::of(bytes).to_string() == digest, "{name}");
            }
        }
    }
    assert!(losses.is_empty(), "{losses:#?}");
}

fn person() -> Principal {
    Principal {
        tenant: OrgId::from_ulid(Ulid::from_u128(1)),
        identity: Identity::Human(UserId::from_ulid(Ulid::from_u128(2))),
        role: Role::Editor,
        strength: AuthStrength::Session,
        scopes: Scopes::All,
        display: None,
        on_behalf_of: None,
        reauth_at: None,
        mfa_at: None,
        test: false,
    }
}
