//! Sinks through the engine: values pass through, and nothing of them stays.

use std::sync::Arc;

use handoff_protocol::{
    decision::{DecisionError, ErrorCode, view::SinkValuesResult},
    id::RequestId,
    principal::{Principal, Role},
    secret::Secret,
};
use handoff_testkit::MemorySink;

use crate::world::{World, add_person, ask_with, code, json, key_of};

struct Scene {
    world: World,
    vault: MemorySink,
    other: MemorySink,
    admin: Principal,
}

impl Scene {
    async fn new() -> Self {
        let (vault, other) = (MemorySink::default(), MemorySink::default());
        let (named, default) = (Arc::new(vault.clone()), Arc::new(other.clone()));
        let world = World::with_ports(|builder| builder.sink("vault", named).default_sink(default)).await;
        let admin = add_person(&world.engine, world.tenant, Role::Admin).await;
        Self { world, vault, other, admin }
    }

    async fn raise(&self, title: &str) -> RequestId {
        self.world.raised(&sign_in(title)).await
    }

    async fn submit(&self, place: &str, values: &str, key: Option<&str>) -> Result<SinkValuesResult, DecisionError> {
        self.submit_as(&self.admin, place, values, key).await
    }

    async fn submit_as(
        &self,
        who: &Principal,
        place: &str,
        values: &str,
        key: Option<&str>,
    ) -> Result<SinkValuesResult, DecisionError> {
        let body = Secret::new(json(&format!(r#"{{"values":{values}}}"#)));
        self.world.engine.submit_values(who, place, body, key.map(key_of).as_ref()).await
    }
}

const SNK: &str = "snk_01K3M7QW8ZC4YRXB2N6VD9FTHF";

/// A user name and a password, for the provider `vault` at `opaque:bs`.
fn sign_in(title: &str) -> String {
    let fields = format!(
        r#""fields":[{{"name":"user","type":"text"}},{{"name":"password","type":"secret","required":true,"sink_ref":"{SNK}"}}],
        "value_sink":{{"provider":"vault","op":"sign_in","ref":"opaque:bs"}}"#
    );
    let body = ask_with("run:1", title, r#""ttl":"PT1H""#);
    let (head, rest) = body.split_once(r#""fields":["#).unwrap();
    let (_, tail) = rest.split_once("]}]").unwrap();
    format!("{head}{fields}{tail}")
}

const GIVEN: &str = r#"{"values":{"password":{"provided":true}}}"#;

#[tokio::test]
async fn values_go_to_the_sink_of_their_provider_and_the_answer_says_that_they_did() {
    let scene = Scene::new().await;
    let id = scene.raise("Sign in?").await;
    for place in ["opaque:bs", SNK] {
        let result = scene.submit(place, r#"{"user":"dana","password":"hunter2"}"#, None).await.unwrap();
        assert_eq!(result.accepted, ["user", "password"]);
        assert_eq!(result.state.as_str(), "pending");
    }
    scene.vault.look(|deliveries| {
        let [first, second] = deliveries else { panic!("{}", deliveries.len()) };
        assert_eq!(first.values.expose().to_text(), r#"{"user":"dana","password":"hunter2"}"#);
        assert_eq!((first.reference.as_str(), second.reference.as_str()), ("opaque:bs", SNK));
        assert_eq!((first.request, first.op.as_deref(), first.submitted_by), (id, Some("sign_in"), scene.admin.id()));
        assert!(!format!("{first:?}").contains("hunter2"));
    });
    assert_eq!(scene.other.count(), 0);
    scene.world.engine.answer(&scene.admin, id, json(GIVEN), None).await.unwrap();
    let signals = scene.world.signals("run:1").await;
    let values = signals[0].decision.clone().unwrap().values;
    assert_eq!(values.to_text(), r#"{"password":{"provided":true}}"#);
}

#[tokio::test]
async fn a_submission_that_is_repeated_under_its_key_is_not_made_again() {
    let scene = Scene::new().await;
    scene.raise("Sign in?").await;
    let first = scene.submit("opaque:bs", r#"{"password":"hunter2"}"#, Some("k")).await.unwrap();
    let again = scene.submit("opaque:bs", r#"{"password":"hunter2"}"#, Some("k")).await.unwrap();
    assert_eq!((first, scene.vault.count()), (again, 1));
    let other = scene.submit("opaque:bs", r#"{"password":"hunter3"}"#, Some("k")).await;
    assert_eq!((code(other), scene.vault.count()), (ErrorCode::IdempotencyKeyReused, 1));
    scene.submit(SNK, r#"{"password":"hunter2"}"#, Some("k")).await.unwrap();
    assert_eq!(scene.vault.count(), 2, "another place is another object");
    assert!(scene.vault.look(|all| all[0].submission.is_some() && all[0].submission != all[1].submission));
}

#[tokio::test]
async fn a_sink_that_fails_is_tried_again_by_the_caller_under_the_same_name() {
    let scene = Scene::new().await;
    scene.raise("Sign in?").await;
    scene.vault.fail(true);
    let failed = scene.submit("opaque:bs", r#"{"password":"hunter2"}"#, Some("k")).await;
    let failed = failed.unwrap_err();
    assert_eq!(failed.code(), ErrorCode::DeliveryUnavailable);
    assert!(failed.to_string().contains("nothing was kept") && failed.to_string().contains("safe"), "{failed}");
    scene.vault.fail(false);
    scene.submit("opaque:bs", r#"{"password":"hunter2"}"#, Some("k")).await.unwrap();
    assert_eq!(scene.vault.count(), 1);
}

#[tokio::test]
async fn names_that_were_not_declared_send_nothing() {
    let scene = Scene::new().await;
    scene.raise("Sign in?").await;
    let refused = scene.submit("opaque:bs", r#"{"password":"hunter2","smuggled":"hunter2"}"#, None).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    let said = refused.to_string();
    assert!(said.contains("smuggled") && !said.contains("hunter2"), "{said}");
    assert_eq!(scene.vault.count(), 0);
}

#[tokio::test]
async fn of_several_requests_the_newest_that_is_pending_is_meant_and_unknown_places_are_nobodys() {
    let scene = Scene::new().await;
    let (old, new) = (scene.raise("Sign in?").await, scene.raise("Sign in again?").await);
    let last = async || {
        scene.submit("opaque:bs", r#"{"password":"hunter2"}"#, None).await?;
        Ok::<_, DecisionError>(scene.vault.look(|all| all.last().map(|delivery| delivery.request)))
    };
    assert_eq!(last().await.unwrap(), Some(new));
    scene.world.engine.answer(&scene.admin, new, json(GIVEN), None).await.unwrap();
    assert_eq!(last().await.unwrap(), Some(old));
    scene.world.cancel(old, "c").await.unwrap();
    // The newest that ended says how.
    assert_eq!(code(last().await), ErrorCode::AlreadyAnswered);
    let unknown = scene.submit("opaque:other", r#"{"password":"hunter2"}"#, None).await;
    assert_eq!(code(unknown), ErrorCode::RequestNotFound);
    assert_eq!(code(scene.submit("", "{}", None).await), ErrorCode::RequestNotFound);
    let elsewhere = scene.world.engine.create_tenant().await.unwrap();
    let stranger = add_person(&scene.world.engine, elsewhere, Role::Admin).await;
    let refused = scene.submit_as(&stranger, "opaque:bs", "{}", None).await;
    assert_eq!(code(refused), ErrorCode::RequestNotFound);
}

#[tokio::test]
async fn one_key_on_two_requests_of_one_place_hands_both_their_values_over() {
    let scene = Scene::new().await;
    let first = scene.raise("Sign in?").await;
    scene.submit("opaque:bs", r#"{"password":"hunter2"}"#, Some("k")).await.unwrap();
    scene.world.engine.answer(&scene.admin, first, json(GIVEN), None).await.unwrap();
    // A repeat after the end finds what was done.
    scene.submit("opaque:bs", r#"{"password":"hunter2"}"#, Some("k")).await.unwrap();
    assert_eq!(scene.vault.count(), 1);
    let second = scene.raise("Sign in again?").await;
    scene.submit("opaque:bs", r#"{"password":"hunter3"}"#, Some("k")).await.unwrap();
    let requests = scene.vault.look(|all| all.iter().map(|delivery| delivery.request).collect::<Vec<_>>());
    assert_eq!(requests, [first, second]);
    assert!(scene.vault.look(|all| all[0].submission != all[1].submission));
}

#[tokio::test]
async fn values_for_one_request_go_to_its_sink_or_to_none() {
    let scene = Scene::new().await;
    let old = scene.raise("Sign in?").await;
    let newer = scene.world.raised(&sign_in("Other?").replace(r#""provider":"vault","#, "")).await;
    let values = || Secret::new(json(r#"{"values":{"password":"hunter2"}}"#));
    let submit = async |request| {
        let engine = &scene.world.engine;
        engine.submit_values_for(&scene.admin, request, "opaque:bs", values(), Some(&key_of("k"))).await
    };
    submit(old).await.unwrap();
    assert_eq!((scene.vault.count(), scene.other.count()), (1, 0));
    submit(newer).await.unwrap();
    assert_eq!((scene.vault.count(), scene.other.count()), (1, 1));
    scene.world.cancel(old, "c").await.unwrap();
    submit(old).await.unwrap();
    let late = scene.world.engine.submit_values_for(&scene.admin, old, "opaque:bs", values(), None).await;
    assert_eq!(code(late), ErrorCode::RequestCancelled, "no other request stands in for it");
    assert_eq!((scene.vault.count(), scene.other.count()), (1, 1));
}

#[tokio::test]
async fn a_place_that_was_amended_away_is_a_place_no_more() {
    let scene = Scene::new().await;
    let id = scene.raise("Sign in?").await;
    let body =
        r#"{"requires":{"v":1,"answer":{"fields":[{"name":"password","type":"secret"}],"value_sink":{"ref":"b"}}}}"#;
    scene.world.engine.amend(&scene.world.machine, id, json(body), None).await.unwrap();
    for place in ["opaque:bs", SNK] {
        assert_eq!(code(scene.submit(place, "{}", None).await), ErrorCode::RequestNotFound);
    }
    scene.submit("b", r#"{"password":"hunter2"}"#, None).await.unwrap();
    assert_eq!((scene.vault.count(), scene.other.count()), (0, 1), "no provider is named: the default's");
}

#[tokio::test]
async fn only_who_could_answer_may_submit() {
    let scene = Scene::new().await;
    scene.raise("Sign in?").await;
    let values = r#"{"password":"hunter2"}"#;
    let by_editor = scene.submit_as(&scene.world.person, "opaque:bs", values, None).await;
    assert_eq!(code(by_editor), ErrorCode::InsufficientAuthority);
    let by_machine = scene.submit_as(&scene.world.machine, "opaque:bs", values, None).await;
    assert_eq!(code(by_machine), ErrorCode::RequesterMayNotAnswer);
    assert_eq!(scene.vault.count(), 0);
}

#[tokio::test]
async fn without_a_sink_names_are_taken_and_values_dropped() {
    let world = World::new().await;
    let admin = add_person(&world.engine, world.tenant, Role::Admin).await;
    world.raised(&sign_in("Sign in?")).await;
    let body = Secret::new(json(r#"{"values":{"password":"hunter2"}}"#));
    let result = world.engine.submit_values(&admin, "opaque:bs", body, None).await.unwrap();
    assert_eq!(result.accepted, ["password"]);
}
