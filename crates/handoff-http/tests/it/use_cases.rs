//! The contract's use cases, each played over HTTP from its raise to what it expects.

use std::time::Duration;

use handoff_engine::identity::NewCredential;
use handoff_protocol::{duration::ExactDuration, json::Json, principal::Role};

use crate::{
    client::Reply,
    world::{World, question},
};

/// Plays a use case, told by the name of its file.
pub(crate) async fn play(name: &str, case: &Json) {
    let world = World::new().await;
    match name {
        "use-cases/01-approve-reject.json" | "use-cases/02-answer-a-question.json" => {
            let request = raise(&world, case).await;
            let answered = answer(&world, &request, case, &world.home.editor, 200).await;
            expect(&world, case, &answered).await;
        }
        "use-cases/03-login-assistance.json" => login(&world, case).await,
        "use-cases/04-challenge-takeover.json" => takeover(&world, case).await,
        "use-cases/05-review-and-correction.json" => review(&world, case).await,
        "use-cases/06-confirm-external-side-effect.json" => side_effect(&world, case).await,
        "use-cases/07-reassign-escalate.json" => passing_on(&world, case).await,
        "use-cases/08-expiry-unanswered.json" => expiry(&world, case).await,
        _ => panic!("{name} is a new use case: play it"),
    }
}

fn body(case: &Json, member: &str) -> String {
    case.get(member).unwrap_or_else(|| panic!("no `{member}`")).to_text()
}

fn at<'c>(case: &'c Json, path: &str) -> &'c Json {
    path.split('.').fold(case, |place, name| place.get(name).unwrap_or_else(|| panic!("no `{path}`")))
}

async fn raise(world: &World, case: &Json) -> String {
    world.post("/v1/requests", body(case, "raise")).token(&world.home.machine).expect(201).await.str("id")
}

async fn answer(world: &World, request: &str, case: &Json, token: &str, status: u16) -> Reply {
    let path = format!("/v1/requests/{request}/answer");
    world.post(&path, body(case, "answer")).token(token).expect(status).await
}

/// What every use case that a person settles expects.
async fn expect(world: &World, case: &Json, answered: &Reply) {
    assert_eq!(answered.at("request.state"), *at(case, "expect.state"));
    let path = format!("/v1/receipts/{}", answered.str("receipt.id"));
    let receipt = world.get(&path).token(&world.home.machine).expect(200).await;
    let actor = at(case, "expect").get("receipt_actor_type").cloned().unwrap_or_else(|| Json::from("user"));
    assert_eq!((receipt.at("actor.type"), receipt.str("kind")), (actor, "decision".to_owned()));
    assert!(answered.str("authorization.id").starts_with("auth_"));
}

/// A document is corrected under strict binding: the digest of another version is stale, the one that is shown counts.
async fn review(world: &World, case: &Json) {
    let request = raise(world, case).await;
    let stale = answer(world, &request, case, &world.home.editor, 409).await;
    assert_eq!(stale.at("error.code"), *at(case, "expect.stale_presentation_rejected_with"));
    let shown = world.get(&format!("/v1/requests/{request}")).token(&world.home.machine).expect(200).await;
    let mut fresh = case.clone();
    let given = fresh.as_object_mut().unwrap().get_mut("answer").unwrap().as_object_mut().unwrap();
    given.insert("rendered_digest", shown.at("rendered_digest"));
    let answered = answer(world, &request, &fresh, &world.home.editor, 200).await;
    expect(world, case, &answered).await;
}

/// A person signs in for a program: the values go to the sink, the answer says that they did, and they are nowhere else.
async fn login(world: &World, case: &Json) {
    let admin = world.home.admin.as_str();
    let request = raise(world, case).await;
    let submission = body(case, "sink_submission");
    for place in ["snk_01K3M7QW8ZC4YRXB2N6VD9FTHF", "opaque%3Abs_4KpQ"] {
        let path = format!("/v1/sinks/{place}/values");
        let accepted = world.post(&path, submission.clone()).token(admin).expect(202).await;
        assert_eq!(accepted.text(), r#"{"accepted":["email","password"],"state":"pending"}"#);
    }
    assert_eq!(world.vault.count(), 2);
    assert_eq!(answer(world, &request, case, &world.home.editor, 403).await.code(), "insufficient_authority");
    let answered = answer(world, &request, case, admin, 200).await;
    expect(world, case, &answered).await;
    let receipt = world.get(&format!("/v1/requests/{request}/receipt")).token(&world.home.machine).expect(200).await;
    for member in ["min_role", "auth_strength"] {
        let floor = at(case, "expect.derived_authority_floor").get(member).unwrap();
        assert_eq!(receipt.at(&format!("authority.required.{member}")), *floor);
    }
    assert!(!receipt.text().contains("dana@example.com"));
}

/// A person takes over a surface, clears the way, and asserts it: what was held is on the receipt, what was done is not.
async fn takeover(world: &World, case: &Json) {
    let admin = world.home.admin.as_str();
    let raised = world.post("/v1/requests", body(case, "raise")).token(&world.home.machine).expect(201).await;
    let grant = format!("/v1/grants/{}", raised.str("requires.capabilities.0.handle"));
    assert_ne!(
        raised.at("requires.capabilities.0.handle"),
        *at(at_item(case, "raise.requires.capabilities"), "handle")
    );
    // What the case accepts is the digest of its own example.
    let sessions = format!("{grant}/sessions");
    let stale = world.post(&sessions, body(case, "resolve")).token(admin).expect(409).await;
    assert_eq!(stale.code(), "blast_radius_mismatch");
    let mut accepted = at(case, "resolve").clone();
    let digest = world.get(&grant).token(admin).expect(200).await.at("blast_radius_digest");
    accepted.as_object_mut().unwrap().insert("accepted_blast_radius_digest", digest);
    let session = world.post(&sessions, accepted.to_text()).token(admin).expect(200).await;
    assert_eq!(session.at("transport.kind"), Json::from("websocket"));

    let used = Json::object([
        ("handle", raised.at("requires.capabilities.0.handle")),
        ("session_ref", session.at("session_ref")),
    ]);
    let mut case = case.clone();
    let given = case.as_object_mut().unwrap().get_mut("answer").unwrap();
    given.as_object_mut().unwrap().insert("capability_uses", vec![used]);
    let request = raised.str("id");
    let answered = answer(world, &request, &case, admin, 200).await;
    expect(world, &case, &answered).await;
    let receipt = world.get(&format!("/v1/requests/{request}/receipt")).token(&world.home.machine).expect(200).await;
    assert_eq!(receipt.at("clearance.source"), *at(&case, "expect.clearance_source"));
    assert!(receipt.at("capabilities_exercised.0.held_ms").as_i64().is_some());
}

fn at_item<'c>(case: &'c Json, path: &str) -> &'c Json {
    at(case, path).as_array().and_then(|items| items.first()).unwrap()
}

/// Who entered long ago confirms nothing that cannot be undone; who just did does, for one effect.
async fn side_effect(world: &World, case: &Json) {
    let request = raise(world, case).await;
    let weak = answer(world, &request, case, &world.home.editor, 403).await;
    assert_eq!(weak.code(), "insufficient_authority");
    let person = world.engine.create_person(world.home.id, "Rea", Role::Editor).await.unwrap();
    let link = world.engine.issue_link(world.home.id, person, ExactDuration::from_hours(1), None).await.unwrap();
    let entered = world.engine.enter(link.expose()).await.unwrap();
    let answered = answer(world, &request, case, entered.session.expose(), 200).await;
    expect(world, case, &answered).await;

    let path = format!("/v1/authorizations/{}/redeem", answered.str("authorization.id"));
    let redeem =
        async |body: Json, status| world.post(&path, body.to_text()).token(&world.home.machine).expect(status).await;
    let with = |member: &str, value: &str| {
        let mut body = at(case, "redeem").clone();
        body.as_object_mut().unwrap().insert(member, value);
        body
    };
    let first = redeem(at(case, "redeem").clone(), 200).await;
    assert_eq!(first.at("first_redemption"), *at(case, "expect.first_redemption"));
    let again = redeem(at(case, "redeem").clone(), 200).await;
    let expected = at(case, "expect.second_redemption_same_effect_key.first_redemption");
    assert_eq!(again.at("first_redemption"), *expected);
    let other = redeem(with("effect_key", "mailer:another"), 409).await;
    assert_eq!(other.at("error.code"), *at(case, "expect.different_effect_key"));
    let altered = redeem(with("effect_digest", &format!("sha256:{}", "a".repeat(64))), 409).await;
    assert_eq!(altered.at("error.code"), *at(case, "expect.mismatched_digest"));
}

/// Whatever is done to reach somebody else, it stays one request, and one answer makes one receipt.
async fn passing_on(world: &World, case: &Json) {
    let request = world.raise("run:1").await.str("id");
    let read = async |path: String| world.get(&path).token(&world.home.machine).expect(200).await;
    let count = async |path: &str| read(path.to_owned()).await.at("data").as_array().map_or(0, <[Json]>::len);
    let admin = world.engine.create_person(world.home.id, "Ada", Role::Admin).await.unwrap();
    let admin = world.engine.issue_key(world.home.id, admin.into(), NewCredential::default()).await.unwrap();
    for operation in at(case, "operations").as_array().unwrap() {
        let path = operation.get("path").and_then(Json::as_str).unwrap().replace("{request_id}", &request);
        let deliveries = format!("/v1/requests/{request}/deliveries");
        let before = count(&deliveries).await;
        let token = if path.ends_with("/answer") { &world.home.editor } else { &world.home.machine };
        let reply = world.post(&path, body(operation, "body")).token(token).expect(200).await;
        let state = if path.ends_with("/answer") { reply.at("request.state") } else { reply.at("state") };
        assert_eq!(state, *at(operation, "expect.state"), "{path}");
        assert!(reply.at("receipt").is_null(), "{path}");
        if operation.get("expect").and_then(|expect| expect.get("new_deliveries")).is_some() {
            assert!(count(&deliveries).await > before, "{path}");
        }
    }
    let path = format!("/v1/requests/{request}/answer");
    world.post(&path, r#"{"values":{"decision":"approve"}}"#).token(admin.expose()).expect(200).await;
    assert_eq!(Json::from(count("/v1/requests").await), *at(case, "expect.request_count"));
    assert_eq!(Json::from(count("/v1/receipts").await), *at(case, "expect.receipt_count_after_final_answer"));
}

/// The attempt lapses, told once and still answerable; then the deadline comes, and the waiter hears of it.
async fn expiry(world: &World, case: &Json) {
    let asked = question("run:1", "Ship it?");
    let request = world.post("/v1/requests", asked).token(&world.home.machine).expect(201).await.str("id");
    let armed = world.post(&format!("/v1/requests/{request}/attempt"), "").token(&world.home.machine);
    armed.expect(200).await;
    let read = async |path: String| world.get(&path).token(&world.home.machine).expect(200).await;

    world.pass(Duration::from_secs(15 * 60)).await;
    let lapse = at(case, "expect.at_attempt_lapse");
    let signals = read("/v1/waiters/run:1/signals".to_owned()).await;
    assert_eq!(signals.at("data").as_array().map(<[Json]>::len), Some(1));
    assert_eq!(
        (signals.at("data.0.type"), Json::from(1)),
        (at(lapse, "signal_type").clone(), at(lapse, "signal_count").clone())
    );
    let listed = read("/v1/requests?state=pending".to_owned()).await;
    assert_eq!(
        (listed.at("data.0.state"), listed.at("data.0.urgency_state")),
        (at(lapse, "state").clone(), at(lapse, "urgency_state").clone())
    );

    world.pass(Duration::from_secs(3600)).await;
    let expected = at(case, "expect.at_request_expiry");
    let expired = read(format!("/v1/requests/{request}")).await;
    for (member, path) in [
        ("state", "state"),
        ("receipt_kind", "receipt.kind"),
        ("receipt_actor_type", "receipt.actor.type"),
        ("receipt_authority_satisfied", "receipt.authority.satisfied"),
    ] {
        assert_eq!(expired.at(path), *at(expected, member), "{member}");
    }
    let signals = read("/v1/waiters/run:1/signals".to_owned()).await;
    assert_eq!(
        (signals.at("data.1.type"), signals.at("data.1.decision.effective")),
        (at(expected, "signal_type").clone(), at(expected, "effective").clone())
    );
}
