//! The check of a store: what the engine leaves is sound, and each way of being unsound is found by the check that is for it.

use std::{sync::Arc, time::Duration};

use handoff_engine::{
    decision::RECEIPTS,
    fsck::{Trust, check, published_keys},
    store::{IndexName, IndexRow, Inspect as _, RecordKey, RecordKind, Snapshot, TimerKey},
};
use handoff_protocol::{
    callback::CallbackSecret,
    continuation::{ContinuationKey, Keyring},
    decision::{CallbackPolicy, Policy},
    id::{Mint, RequestId, TenantId, Ulid},
    json::Json,
    principal::Role,
    timestamp::Timestamp,
};

use super::{
    callbacks::Receiver,
    world::{REASON, World, add_person, ask, ask_with, json, key_of, without_ladder},
};

/// A tenant with a request in every state, everything that hangs on them, and the keys that signatures are judged by.
async fn kept() -> (Snapshot, Trust) {
    let receiver = Arc::new(Receiver::default());
    let secrets = vec![CallbackSecret::new("whsec_new").unwrap()];
    let key = ContinuationKey::parse(&format!("a:{}", "a".repeat(64))).unwrap();
    let policy = Policy {
        callbacks: CallbackPolicy { secrets, ..CallbackPolicy::default() },
        continuation: Some(Arc::new(Keyring::new([key]).unwrap())),
        ..without_ladder()
    };
    let world = World::with_engine(Arc::new(|_| {}), |builder| builder.policy(policy).callbacks(receiver)).await;
    let admin = add_person(&world.engine, world.tenant, Role::Admin).await;
    let engine = &world.engine;
    let to = r#""callback":{"url":"https://receiver.example/cb"}"#;
    let answered = world.raised(&ask_with("run:1", "answered", to)).await;
    let minted = world.answer(answered, "a").await.unwrap();
    let effect = json(r#"{"effect_key":"e"}"#);
    engine.redeem(&world.machine, minted.authorization.unwrap().id, &effect).await.unwrap();
    let no = json(r#"{"values":{"decision":"no"},"note":"a slip of the finger"}"#);
    engine.correct(&world.person, minted.receipt.unwrap().id, no, Some(&key_of("c"))).await.unwrap();
    let acked = world.raised(&ask("run:1", "acknowledged")).await;
    world.answer(acked, "b").await.unwrap();
    let signal = world.signals("run:1").await.into_iter().find(|signal| signal.request_id == acked).unwrap();
    let body = json(&format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.resume_token));
    engine.acknowledge(&world.machine, signal.id, &body).await.unwrap();
    let cancelled = world.raised(&ask("run:2", "cancelled")).await;
    world.cancel(cancelled, "d").await.unwrap();
    world.raised(&ask_with("run:2", "expired", r#""ttl":"PT1S","ttl_policy":{"on_expiry":"expire_and_deny"}"#)).await;
    let (old, new) = (world.raised(&ask("run:2", "old")).await, world.raised(&ask("run:2", "new")).await);
    engine.supersede(&world.machine, old, json(&format!(r#"{{"by":"{new}"}}"#)), None).await.unwrap();
    let more = r#""ttl":"PT1H","attempt_ttl":"PT10M","liveness":"leased","on_waiter_terminal":"keep""#;
    let pending = world.raised(&ask_with("run:3", "pending", more)).await;
    engine.arm_attempt(&world.machine, pending, json("{}"), None).await.unwrap();
    world.raised(&ask_with("run:4", "continued", r#""resume_payload":"cGF5bG9hZA==""#)).await;
    let ladder = r#""routing":{"ladder":[{"after":"PT5M","channels":["inapp"],"to":{"kind":"anyone","value":"*"}}]}"#;
    world.raised(&ask_with("run:3", "reaching", ladder)).await;
    let resource = r#""requires":{"capabilities":[{"type":"interactive_surface","scope":"view"}],"#;
    let surface = ask_with("run:3", "surface", r#""attempt_ttl":"PT15M""#).replacen(r#""requires":{"#, resource, 1);
    for ends in [true, false] {
        let raised =
            engine.raise(&world.machine, json(&surface.replace("surface\"}", &format!("{ends}\"}}"))), None).await;
        let view = raised.unwrap().request;
        let capability = &view.requires.get("capabilities").and_then(Json::as_array).unwrap()[0];
        let text = |name: &str| capability.get(name).and_then(Json::as_str).unwrap().to_owned();
        let handle = handoff_protocol::id::GrantHandle::parse(&text("handle")).unwrap();
        let digest = text("blast_radius_digest");
        let body = json(&format!(r#"{{"scopes":["view"],"accepted_blast_radius_digest":"{digest}"}}"#));
        engine.resolve_grant(&admin, handle, body, Some(&key_of("s"))).await.unwrap();
        if ends {
            engine.cancel(&world.machine, view.id, json(REASON), None).await.unwrap();
        }
    }
    world.clock.advance(Duration::from_secs(2));
    engine.run_due_timers().await.unwrap();
    engine.outbound_idle().await;
    let store = world.store.inner();
    let system = store.snapshot(&TenantId::System).await.unwrap();
    assert_eq!(check(&system, &Trust::default()), []);
    let trust = Trust::default().with_keys(&published_keys(&system));
    (store.snapshot(&TenantId::Org(world.tenant)).await.unwrap(), trust)
}

#[tokio::test]
async fn what_the_engine_leaves_is_sound() {
    let (snapshot, trust) = kept().await;
    assert_eq!(check(&snapshot, &trust), []);
    assert!(trust.keys.is_some());
    for kind in
        ["request", "waiter", "signal", "authorization", "grant", "grant_session", "replay", "receipt", "push_log"]
    {
        assert!(records(&snapshot, kind).next().is_some(), "there is a {kind}");
    }
}

fn records<'a>(snapshot: &'a Snapshot, kind: &'a str) -> impl Iterator<Item = (RecordKey, Json)> + 'a {
    let of_kind = snapshot.records.values().filter(move |record| record.key.kind.as_str() == kind);
    of_kind.map(|record| (record.key.clone(), json(&record.document)))
}

fn text<'a>(document: &'a Json, name: &str) -> &'a str {
    document.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Changes the first document of a kind that is meant.
fn edit(snapshot: &mut Snapshot, kind: &str, meant: impl Fn(&Json) -> bool, change: impl FnOnce(&mut Json)) {
    let (key, mut document) = records(snapshot, kind).find(|(_, document)| meant(document)).unwrap();
    change(&mut document);
    snapshot.records.get_mut(&key).unwrap().document = Arc::from(document.to_text());
}

fn set(document: &mut Json, name: &str, value: impl Into<Json>) {
    document.as_object_mut().unwrap().insert(name, value.into());
}

fn in_state(state: &'static str) -> impl Fn(&Json) -> bool {
    move |document| text(document, "state") == state
}

fn any(_: &Json) -> bool {
    true
}

/// Another id than any that is there.
fn other<I: handoff_protocol::id::Id + std::fmt::Display>() -> String {
    Mint::new(Timestamp::from_unix_millis(1), Ulid::MIN, [9; 32]).next::<I>().to_string()
}

/// The rest of a delivery.
const DISPATCHED: &str = r#""channel":"fax","target":{"kind":"anyone","value":"*"},"rung":0,"state":"dispatched","grade_reached":null,"max_grade":"dispatched","can_authenticate_person":false,"attempts":[],"created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z""#;

type Bad = (&'static str, &'static str, fn(&mut Snapshot));

/// Histories that cannot be, each with the check that must reject it.
const BAD: &[Bad] = &[
    ("terminal", "an ending without its event", |snapshot| {
        let place = snapshot.events.iter().position(|event| event.event_type.as_str() == "request.cancelled").unwrap();
        snapshot.events.remove(place);
    }),
    ("terminal", "two endings", |snapshot| {
        let event = snapshot.events.iter().find(|event| event.event_type.as_str() == "request.answered").unwrap();
        let again = handoff_engine::store::StoredEvent {
            event_type: handoff_engine::store::EventType::from_static("request.expired"),
            ..event.clone()
        };
        snapshot.events.push(again);
    }),
    ("terminal", "an ended request that is pending again", |snapshot| {
        edit(snapshot, "request", in_state("cancelled"), |request| set(request, "state", "pending"));
    }),
    ("terminal", "something that happened after the end", |snapshot| {
        let event = snapshot.events.iter().find(|event| event.event_type.as_str() == "request.cancelled").unwrap();
        let after = handoff_engine::store::StoredEvent {
            event_type: handoff_engine::store::EventType::from_static("request.amended"),
            ..event.clone()
        };
        snapshot.events.push(after);
    }),
    ("terminal", "an end without a time", |snapshot| {
        edit(snapshot, "request", in_state("expired"), |request| set(request, "ended_at", Json::Null));
    }),
    ("terminal", "an heir that knows nothing of it", |snapshot| {
        let heir = |request: &Json| request.get("supersedes").is_some_and(|before| !before.is_null());
        edit(snapshot, "request", heir, |request| set(request, "supersedes", Json::Null));
    }),
    ("receipts", "a receipt of something that nobody can see any more", |snapshot| snapshot.blobs.clear()),
    ("receipts", "an answer without a receipt", |snapshot| {
        edit(snapshot, "request", in_state("answered"), |request| set(request, "receipt", Json::Null));
    }),
    ("receipts", "a receipt without its transition", |snapshot| {
        edit(snapshot, "request", in_state("answered"), |request| set(request, "state", "pending"));
    }),
    ("receipts", "a receipt that is found elsewhere", |snapshot| {
        edit(snapshot, "receipt", any, |place| set(place, "height", 99_u64));
    }),
    ("receipts", "a correction that nobody names", |snapshot| {
        let corrected = |request: &Json| request.get("corrections").is_some();
        edit(snapshot, "request", corrected, |request| {
            request.as_object_mut().unwrap().remove("corrections");
        });
    }),
    ("chain", "a body that is gone and was not erased", |snapshot| {
        snapshot.chains.get_mut(&RECEIPTS).unwrap().last_mut().unwrap().body = None;
    }),
    ("chain", "an erased body that is there", |snapshot| {
        snapshot.erased.insert((RECEIPTS, 1));
    }),
    ("chain", "an entry that is missing", |snapshot| {
        snapshot.chains.get_mut(&RECEIPTS).unwrap().remove(1);
    }),
    ("chain", "a receipt that was altered", |snapshot| {
        let entry = &mut snapshot.chains.get_mut(&RECEIPTS).unwrap()[0];
        entry.body = Some(Arc::from(entry.body.as_ref().unwrap().replace("\"yes\"", "\"no\"")));
    }),
    ("chain", "a signature of another receipt", |snapshot| {
        let chain = snapshot.chains.get_mut(&RECEIPTS).unwrap();
        let signature = chain[1].attestation.clone();
        chain[0].attestation = signature;
    }),
    ("chain", "a receipt without a signature", |snapshot| {
        snapshot.chains.get_mut(&RECEIPTS).unwrap()[0].attestation = None;
    }),
    ("authorizations", "an answer without an authorization", |snapshot| {
        edit(snapshot, "request", in_state("answered"), |request| set(request, "authorization", Json::Null));
    }),
    ("authorizations", "an authorization that was spent twice", |snapshot| {
        let spent = |minted: &Json| !minted.get("redemptions").and_then(Json::as_array).unwrap().is_empty();
        edit(snapshot, "authorization", spent, |minted| {
            let mut spent = minted.get("redemptions").and_then(Json::as_array).unwrap().to_vec();
            let mut again = spent[0].clone();
            set(&mut again, "effect_key", "another");
            spent.push(again);
            set(minted, "redemptions", Json::Array(spent));
        });
    }),
    ("authorizations", "one that grants what was not decided", |snapshot| {
        edit(snapshot, "authorization", any, |minted| set(minted, "grants", json(r#"{"decision":"maybe"}"#)));
    }),
    ("authorizations", "one that is bound to somebody else", |snapshot| {
        edit(snapshot, "authorization", any, |minted| {
            let mut bound = minted.get("bound_to").unwrap().clone();
            set(&mut bound, "waiter_ref", "run:9");
            set(minted, "bound_to", bound);
        });
    }),
    ("signals", "an ending that nobody hears of", |snapshot| {
        let (key, _) = records(snapshot, "signal").next().unwrap();
        snapshot.records.remove(&key);
    }),
    ("signals", "a signal under a number that was given already", |snapshot| {
        edit(
            snapshot,
            "signal",
            |signal| signal.get("sequence") == Some(&Json::from(2_u64)),
            |signal| {
                set(signal, "sequence", 1_u64);
            },
        );
    }),
    ("signals", "a signal that tells of another end", |snapshot| {
        edit(snapshot, "signal", |signal| text(signal, "type") == "answered", |signal| set(signal, "type", "expired"));
    }),
    ("signals", "a count that is wrong", |snapshot| {
        edit(snapshot, "request", in_state("cancelled"), |request| {
            set(request, "waiter", json(r#"{"state":"released","unacked":0}"#));
        });
    }),
    ("signals", "an orphan whose waiter came back", |snapshot| {
        edit(snapshot, "request", in_state("pending"), |request| {
            set(request, "waiter", json(r#"{"state":"orphaned","unacked":0}"#));
        });
    }),
    ("signals", "a signal whose continuation data is gone", |snapshot| {
        edit(snapshot, "signal", |signal| text(signal, "type") == "expired", |signal| set(signal, "continued", true));
    }),
    ("settled", "continuation data that nobody will get", |snapshot| {
        let continued = |request: &Json| request.get("continued") == Some(&Json::from(true));
        edit(snapshot, "request", continued, |request| set(request, "state", "cancelled"));
    }),
    ("settled", "a grant that outlived its request", |snapshot| {
        let revoked = |grant: &Json| grant.get("revoked_at").is_some_and(|at| !at.is_null());
        edit(snapshot, "grant", revoked, |grant| set(grant, "revoked_at", Json::Null));
    }),
    ("settled", "a session that outlived its request", |snapshot| {
        let ended = |session: &Json| session.get("released_at").is_some_and(|at| !at.is_null());
        edit(snapshot, "grant_session", ended, |session| {
            set(session, "released_at", Json::Null);
            set(session, "close_reason", Json::Null);
        });
    }),
    ("settled", "a deadline of what ended", |snapshot| {
        let id = request_in(snapshot, "cancelled");
        put_timer(snapshot, &format!("deadline/{id}"), &format!(r#"{{"do":"expire","request":"{id}"}}"#));
    }),
    ("timers", "a request that will never expire", |snapshot| remove_timer(snapshot, "deadline/")),
    ("timers", "an attempt that will never lapse", |snapshot| remove_timer(snapshot, "attempt/")),
    ("timers", "a rung that will never be reached", |snapshot| remove_timer(snapshot, "tend/")),
    ("timers", "a lease that nobody watches", |snapshot| remove_timer(snapshot, "lease/")),
    ("timers", "a session that will never lapse", |snapshot| remove_timer(snapshot, "session/")),
    ("timers", "a signal that will never be pushed again", |snapshot| remove_timer(snapshot, "push/")),
    ("timers", "replay records that stay forever", |snapshot| remove_timer(snapshot, "purge-replays/")),
    ("timers", "a deadline that comes too late", |snapshot| {
        let timer = snapshot.timers.iter_mut().find(|(key, _)| key.as_str().starts_with("deadline/")).unwrap().1;
        timer.due = timer.due.saturating_add(handoff_protocol::duration::ExactDuration::from_seconds(1));
    }),
    ("timers", "a timer of nothing", |snapshot| {
        let id = other::<RequestId>();
        put_timer(snapshot, &format!("deadline/{id}"), &format!(r#"{{"do":"expire","request":"{id}"}}"#));
    }),
    ("timers", "a timer that says nothing", |snapshot| put_timer(snapshot, "deadline/x", r#"{"do":"dance"}"#)),
    ("index", "a document that does not stand where it should", |snapshot| {
        let row = snapshot.index.keys().find(|row| row.index.as_str() == "request.state").unwrap().clone();
        snapshot.index.remove(&row);
    }),
    ("index", "a row of nothing", |snapshot| {
        let row = IndexRow { index: IndexName::from_static("request.state"), sort_key: b"pending\0x".to_vec() };
        snapshot.index.insert(row, RecordKey::new(RecordKind::from_static("request"), "req_x"));
    }),
    ("index", "a document under another's name", |snapshot| {
        let mut all = records(snapshot, "request");
        let (one, other) = (all.next().unwrap().0, all.next().unwrap().0);
        drop(all);
        let document = Arc::clone(&snapshot.records[&other].document);
        snapshot.records.get_mut(&one).unwrap().document = document;
    }),
    ("index", "a document that cannot be read", |snapshot| {
        let (key, _) = records(snapshot, "waiter").next().unwrap();
        snapshot.records.get_mut(&key).unwrap().document = Arc::from("{}");
    }),
    ("events", "a gap", |snapshot| {
        snapshot.events.remove(2);
    }),
    ("events", "a head that counts another number", |snapshot| snapshot.head.sequence += 1),
    ("events", "an event of nothing", |snapshot| {
        snapshot.events.last_mut().unwrap().subject = other::<RequestId>();
    }),
    ("events", "a version that no event tells of", |snapshot| {
        edit(snapshot, "request", in_state("pending"), |request| set(request, "version", 7_u64));
    }),
    ("events", "a delivery that moved and no event tells of it", |snapshot| {
        edit(snapshot, "request", in_state("pending"), |request| {
            let (id, request_id) = (other::<handoff_protocol::id::DeliveryId>(), text(request, "id").to_owned());
            let delivery = format!(r#"{{"id":"{id}","request_id":"{request_id}",{DISPATCHED}}}"#);
            set(request, "deliveries", Json::Array(vec![json(&delivery)]));
        });
    }),
    ("replays", "a question that is pending twice", |snapshot| {
        let keyed = |request: &Json| text(request, "state") == "pending" && text(request, "waiter_ref") == "run:3";
        let all: Vec<RecordKey> =
            records(snapshot, "request").filter(|(_, request)| keyed(request)).map(|(key, _)| key).collect();
        for key in all {
            let this = |request: &Json| text(request, "id") == key.id;
            edit(snapshot, "request", this, |request| set(request, "dedupe_key", "the same"));
        }
    }),
    ("replays", "a repeat that leads nowhere", |snapshot| {
        let body = format!(r#"{{"id":"{}"}}"#, other::<RequestId>());
        edit(snapshot, "replay", any, |replay| set(replay, "outcome", Json::object([("body", Json::from(body))])));
    }),
    ("replays", "a repeat that tells of another receipt", |snapshot| {
        let id = request_in(snapshot, "answered");
        let receipt = other::<handoff_protocol::id::ReceiptId>();
        edit(snapshot, "replay", any, |replay| {
            let body = format!(r#"{{"request":{{"id":"{id}"}},"receipt":{{"id":"{receipt}"}}}}"#);
            set(replay, "outcome", Json::object([("body", Json::from(body))]));
        });
    }),
    ("tenants", "a request of another tenant", |snapshot| {
        let org = other::<handoff_protocol::id::OrgId>();
        edit(snapshot, "request", any, |request| set(request, "org_id", org));
    }),
    ("tenants", "a reference that leaves the tenant", |snapshot| {
        let id = other::<RequestId>();
        edit(snapshot, "request", in_state("superseded"), |request| set(request, "superseded_by", id));
    }),
    ("tenants", "a session of somebody who does not hold the grant", |snapshot| {
        let id = other::<handoff_protocol::id::UserId>();
        edit(snapshot, "grant_session", any, |session| set(session, "principal_id", id));
    }),
];

fn request_in(snapshot: &Snapshot, state: &str) -> String {
    let (_, request) = records(snapshot, "request").find(|(_, request)| text(request, "state") == state).unwrap();
    text(&request, "id").to_owned()
}

fn put_timer(snapshot: &mut Snapshot, key: &str, action: &str) {
    let timer = handoff_engine::store::StoredTimer { due: snapshot.now, action: Arc::from(action), claim: None };
    snapshot.timers.insert(TimerKey::new(key), timer);
}

fn remove_timer(snapshot: &mut Snapshot, prefix: &str) {
    let before = snapshot.timers.len();
    snapshot.timers.retain(|key, _| !key.as_str().starts_with(prefix));
    assert!(snapshot.timers.len() < before, "there is a timer {prefix}");
}

#[tokio::test]
async fn each_history_that_cannot_be_is_rejected_by_the_check_that_is_for_it() {
    let (sound, trust) = kept().await;
    for (name, what, spoil) in BAD {
        let mut snapshot = sound.clone();
        spoil(&mut snapshot);
        let found = check(&snapshot, &trust);
        assert!(found.iter().any(|finding| finding.check == *name), "{name}: {what}: {found:#?}");
    }
    let checks = ["terminal", "receipts", "chain", "authorizations", "signals", "settled", "timers", "index", "events"];
    for name in checks.into_iter().chain(["replays", "tenants"]) {
        assert!(BAD.iter().any(|(of, _, _)| *of == name), "{name} rejects something");
    }
}

#[tokio::test]
async fn a_secret_is_found_wherever_it_is_kept_and_the_finding_does_not_repeat_it() {
    let (sound, _) = kept().await;
    let trust = Trust { canaries: vec!["hunter2".to_owned()], keys: None };
    let spoils: [fn(&mut Snapshot); 4] = [
        |snapshot| edit(snapshot, "request", any, |request| set(request, "cancel_reason", "hunter2")),
        |snapshot| {
            snapshot.events[0].data = Arc::from(r#"{"note":"hunter2"}"#);
        },
        |snapshot| snapshot.chains.get_mut(&RECEIPTS).unwrap()[0].body = Some(Arc::from(r#"{"note":"hunter2"}"#)),
        |snapshot| put_timer(snapshot, "deadline/x", r#"{"do":"hunter2"}"#),
    ];
    for spoil in spoils {
        let mut snapshot = sound.clone();
        spoil(&mut snapshot);
        let found = check(&snapshot, &trust);
        assert!(found.iter().any(|finding| finding.check == "canary"), "{found:#?}");
        assert!(!found.iter().any(|finding| finding.message.contains("hunter2") && finding.check == "canary"));
    }
}
