//! Capabilities through the engine: a real resource on a socket, in virtual time.

use std::{sync::Arc, time::Duration};

use handoff_protocol::{
    decision::{
        DecisionError, ErrorCode,
        capability::{GrantSessionView, GrantView},
        terms::{RequestState, SessionEnd},
    },
    id::{GrantHandle, PrincipalId, RequestId, SessionRef},
    json::Json,
    principal::{Principal, Role},
};
use handoff_testkit::{LocalSurface, surface::RESOURCE};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::{TcpStream, tcp::OwnedReadHalf, tcp::OwnedWriteHalf},
};

use crate::world::{World, YES, add_person, ask_with, code, json, key_of};

/// A deployment with a surface, an administrator, and a request that asks for the surface.
struct Scene {
    world: World,
    surface: LocalSurface,
    admin: Principal,
}

impl Scene {
    async fn new() -> Self {
        let surface = LocalSurface::start().await.unwrap();
        let provider = Arc::new(surface.clone());
        let world = World::with_ports(|builder| builder.capability_provider("example/browser", provider)).await;
        let admin = add_person(&world.engine, world.tenant, Role::Admin).await;
        Self { world, surface, admin }
    }

    async fn raise(&self, title: &str) -> (RequestId, GrantHandle) {
        let raised = self.world.engine.raise(&self.world.machine, json(&take_over(title, "")), None).await.unwrap();
        (raised.request.id, handle_of(&raised.request.requires))
    }

    async fn grant(&self, handle: GrantHandle) -> Result<GrantView, DecisionError> {
        self.world.engine.grant(&self.admin, handle).await
    }

    async fn resolve(
        &self,
        who: &Principal,
        handle: GrantHandle,
        scopes: &str,
        key: Option<&str>,
    ) -> Result<GrantSessionView, DecisionError> {
        let digest = self.world.engine.grant(who, handle).await.map(|grant| grant.blast_radius_digest.to_string());
        let digest = digest.unwrap_or_else(|_| format!("sha256:{}", "0".repeat(64)));
        let body = json(&format!(r#"{{"scopes":{scopes},"accepted_blast_radius_digest":"{digest}"}}"#));
        let key = key.map(key_of);
        self.world.engine.resolve_grant(who, handle, body, key.as_ref()).await
    }

    async fn pass(&self, seconds: u64) {
        self.world.clock.advance(Duration::from_secs(seconds));
        self.world.engine.run_due_timers().await.unwrap();
        self.world.engine.outbound_idle().await;
    }

    /// What the receipt of a request lists.
    async fn exercised(&self, id: RequestId) -> Vec<Json> {
        let receipt = self.world.request(id).await.receipt.unwrap();
        receipt.get("capabilities_exercised").and_then(Json::as_array).unwrap().to_vec()
    }
}

fn take_over(title: &str, more: &str) -> String {
    let body = ask_with("run:1", title, &format!(r#""attempt_ttl":"PT15M"{more}"#));
    let surface = format!(
        r#""capabilities":[{{"type":"interactive_surface","scope":"drive","provider":"example/browser","resource_ref":"{RESOURCE}"}}]"#
    );
    body.replacen(r#""requires":{"#, &format!(r#""requires":{{{surface},"#), 1)
}

fn handle_of(requires: &Json) -> GrantHandle {
    let capabilities = requires.get("capabilities").and_then(Json::as_array).unwrap();
    GrantHandle::parse(capabilities[0].get("handle").and_then(Json::as_str).unwrap()).unwrap()
}

/// A person's connection to the surface.
struct Hand {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writing: OwnedWriteHalf,
}

impl Hand {
    /// Follows an address and says what the surface greets with.
    async fn reach(url: &str) -> (Self, String) {
        let (host, key) = url.strip_prefix("ws://").unwrap().split_once('/').unwrap();
        let (reading, writing) = TcpStream::connect(host).await.unwrap().into_split();
        let mut hand = Self { lines: BufReader::new(reading).lines(), writing };
        let greeting = hand.say(key).await.unwrap_or_default();
        (hand, greeting)
    }

    async fn say(&mut self, line: &str) -> Option<String> {
        self.writing.write_all(format!("{line}\n").as_bytes()).await.ok()?;
        self.lines.next_line().await.ok().flatten()
    }
}

#[tokio::test]
async fn a_person_takes_over_clears_the_way_and_the_receipt_says_what_was_done_and_not_what_was_typed() {
    let scene = Scene::new().await;
    let (id, handle) = scene.raise("Take over?").await;
    let shown = scene.grant(handle).await.unwrap();
    assert_eq!((shown.blast_radius.principals, shown.revoked_at), (Some(4), None));

    let session = scene.resolve(&scene.admin, handle, r#"["view","drive"]"#, None).await.unwrap();
    let (mut hand, greeting) = Hand::reach(&session.transport.url).await;
    assert_eq!(greeting, "drive");
    assert_eq!(hand.say("go app.example.com").await.as_deref(), Some("at app.example.com"));
    assert_eq!(hand.say("do s3cret").await.as_deref(), Some("did s3cret"));
    assert_eq!(Hand::reach(&session.transport.url).await.1, "gone", "an address opens one connection");

    scene.pass(100).await;
    let renewed = scene.world.engine.renew_session(&scene.admin, handle, session.session_ref).await.unwrap();
    assert_eq!(renewed.lease_until.since(session.lease_until).as_secs(), 100);
    assert_eq!(renewed.renew_after_ms, 45_000);
    scene.pass(60).await;
    assert_eq!(hand.say("do more").await.as_deref(), Some("did more"));
    let uses = format!(r#"[{{"handle":"{handle}","session_ref":"{}"}}]"#, session.session_ref);
    let answer = format!(r#"{{"values":{{"decision":"yes"}},"capability_uses":{uses}}}"#);
    scene.world.engine.answer(&scene.admin, id, json(&answer), None).await.unwrap();

    let listed = scene.exercised(id).await;
    let [used] = listed.as_slice() else { panic!("{listed:?}") };
    for (member, value) in [
        ("held_ms", "160000"),
        ("close_reason", r#""revoked""#),
        ("input_events", "2"),
        ("navigations", r#"["app.example.com"]"#),
        ("role_at_grant", r#""admin""#),
    ] {
        assert_eq!(used.get(member).map(Json::to_text).as_deref(), Some(value), "{member}");
    }
    assert_eq!(
        scene.world.events_of(id).await,
        ["request.raised", "grant.resolved", "request.answered", "grant.revoked"]
    );
    scene.pass(0).await;
    assert_eq!(scene.surface.closed(session.session_ref), Some(SessionEnd::Revoked));
    assert_eq!(hand.say("do more").await, None, "the connection ends with the request");
    assert!(scene.grant(handle).await.unwrap().revoked_at.is_some());
    assert_eq!(code(scene.resolve(&scene.admin, handle, r#"["view"]"#, None).await), ErrorCode::AlreadyAnswered);
}

#[tokio::test]
async fn a_session_that_may_look_cannot_act() {
    let scene = Scene::new().await;
    let (_, handle) = scene.raise("Look?").await;
    let viewer = add_person(&scene.world.engine, scene.world.tenant, Role::Viewer).await;
    let session = scene.resolve(&viewer, handle, r#"["view"]"#, None).await.unwrap();
    let (mut hand, greeting) = Hand::reach(&session.transport.url).await;
    assert_eq!((greeting.as_str(), hand.say("do it").await.as_deref()), ("view", Some("only looking")));
    assert_eq!(code(scene.resolve(&viewer, handle, r#"["drive"]"#, None).await), ErrorCode::InsufficientAuthority);
}

#[tokio::test]
async fn a_resolve_that_is_repeated_gives_the_same_session_under_another_address() {
    let scene = Scene::new().await;
    let (id, handle) = scene.raise("Take over?").await;
    let first = scene.resolve(&scene.admin, handle, r#"["drive"]"#, Some("k")).await.unwrap();
    let again = scene.resolve(&scene.admin, handle, r#"["drive"]"#, Some("k")).await.unwrap();
    assert_eq!((first.session_ref, first.lease_until), (again.session_ref, again.lease_until));
    assert_ne!(first.transport.url, again.transport.url);
    let other = scene.resolve(&scene.admin, handle, r#"["view"]"#, Some("k")).await;
    assert_eq!(code(other), ErrorCode::IdempotencyKeyReused);
    let fresh = scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap();
    assert_ne!((fresh.session_ref, &fresh.transport.url), (first.session_ref, &first.transport.url));
    assert_eq!(Hand::reach(&again.transport.url).await.1, "drive");

    let engine = &scene.world.engine;
    engine.release_session(&scene.admin, handle, first.session_ref).await.unwrap();
    engine.release_session(&scene.admin, handle, first.session_ref).await.unwrap();
    let gone = scene.resolve(&scene.admin, handle, r#"["drive"]"#, Some("k")).await;
    assert_eq!(code(gone), ErrorCode::CapabilityNotFound, "what ended is not opened again");
    scene.world.engine.answer(&scene.admin, id, json(YES), None).await.unwrap();
    let settled = scene.resolve(&scene.admin, handle, r#"["drive"]"#, Some("k")).await;
    assert_eq!(code(settled), ErrorCode::AlreadyAnswered);
    assert_eq!(scene.exercised(id).await.len(), 2);
}

#[tokio::test]
async fn of_two_people_at_the_same_instant_one_holds_the_grant() {
    let scene = Scene::new().await;
    let (_, handle) = scene.raise("Take over?").await;
    let mut others = Vec::new();
    for _ in 0..8 {
        others.push(add_person(&scene.world.engine, scene.world.tenant, Role::Admin).await);
    }
    let tries = others.iter().map(|who| scene.resolve(who, handle, r#"["drive"]"#, None));
    let results = futures::future::join_all(tries).await;
    let held = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(held, 1);
    let refused = results.into_iter().filter_map(Result::err).all(|error| error.code() == ErrorCode::GrantAlreadyHeld);
    assert!(refused);
}

#[tokio::test]
async fn a_renewal_that_races_a_revocation_leaves_nothing_open() {
    let scene = Scene::new().await;
    for round in 0..20 {
        let (id, handle) = scene.raise(&format!("Round {round}?")).await;
        let session = scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap();
        let engine = &scene.world.engine;
        let none = json("{}");
        let renewing = engine.renew_session(&scene.admin, handle, session.session_ref);
        let revoking = engine.revoke_grant(&scene.admin, handle, &none);
        let (renewed, revoked) = if round % 2 == 0 {
            tokio::join!(renewing, revoking)
        } else {
            let (revoked, renewed) = tokio::join!(revoking, renewing);
            (renewed, revoked)
        };
        revoked.unwrap();
        if let Err(refused) = renewed {
            assert_eq!(refused.code(), ErrorCode::CapabilityNotFound);
        }
        assert_eq!(
            code(engine.renew_session(&scene.admin, handle, session.session_ref).await),
            ErrorCode::CapabilityNotFound
        );
        scene.pass(0).await;
        assert_eq!(scene.surface.closed(session.session_ref), Some(SessionEnd::Revoked), "round {round}");
        scene.world.engine.answer(&scene.admin, id, json(YES), None).await.unwrap();
        assert_eq!(scene.exercised(id).await.len(), 1);
    }
}

#[tokio::test]
async fn a_session_that_nobody_renews_ends_by_itself_and_its_person_may_open_another() {
    let scene = Scene::new().await;
    let (id, handle) = scene.raise("Take over?").await;
    let session = scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap();
    let (mut hand, _) = Hand::reach(&session.transport.url).await;
    assert_eq!(hand.say("do it").await.as_deref(), Some("did it"));
    scene.pass(119).await;
    assert_eq!(scene.surface.closed(session.session_ref), None);
    scene.pass(300).await;
    assert_eq!(scene.surface.closed(session.session_ref), Some(SessionEnd::LeaseLapsed));
    let renewed = scene.world.engine.renew_session(&scene.admin, handle, session.session_ref).await;
    assert_eq!(code(renewed), ErrorCode::CapabilityNotFound);
    scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap();
    scene.world.engine.answer(&scene.admin, id, json(YES), None).await.unwrap();
    let listed = scene.exercised(id).await;
    assert_eq!(listed[0].get("held_ms"), Some(&Json::from(120_000)), "its own time, and not that of the sweep");
    assert_eq!(listed[0].get("input_events"), Some(&Json::from(1)));
    assert_eq!(listed[1].get("held_ms"), Some(&Json::from(0)));
}

#[tokio::test]
async fn a_grant_runs_out_with_its_attempt_and_comes_back_with_the_next() {
    let scene = Scene::new().await;
    let (id, handle) = scene.raise("Take over?").await;
    let session = scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap();
    for _ in 0..8 {
        scene.pass(110).await;
        scene.world.engine.renew_session(&scene.admin, handle, session.session_ref).await.unwrap();
    }
    scene.pass(110).await;
    assert_eq!(scene.surface.closed(session.session_ref), Some(SessionEnd::Expired));
    assert_eq!(code(scene.grant(handle).await), ErrorCode::CapabilityExpired);
    assert_eq!(code(scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await), ErrorCode::CapabilityExpired);
    scene.world.engine.arm_attempt(&scene.world.machine, id, json("{}"), None).await.unwrap();
    scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap();
    assert_eq!(scene.world.request(id).await.state, RequestState::Pending);
}

#[tokio::test]
async fn every_way_in_which_a_request_ends_closes_what_was_open() {
    let ends = [r#","ttl":"PT1M""#, "", "", r#","liveness":"leased""#];
    for (how, more) in ends.into_iter().enumerate() {
        let scene = Scene::new().await;
        let raised = scene.world.engine.raise(&scene.world.machine, json(&take_over("Take over?", more)), None);
        let raised = raised.await.unwrap();
        let (id, handle) = (raised.request.id, handle_of(&raised.request.requires));
        let session = scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap();
        match how {
            0 => scene.pass(60).await,
            1 => drop(scene.world.cancel(id, "k").await.unwrap()),
            2 => {
                let heir = scene.raise("Another?").await.0;
                let body = json(&format!(r#"{{"by":"{heir}"}}"#));
                scene.world.engine.supersede(&scene.world.machine, id, body, None).await.unwrap();
            }
            _ => scene.pass(90).await,
        }
        scene.pass(0).await;
        assert_ne!(scene.world.request(id).await.state, RequestState::Pending, "{how}");
        assert_eq!(scene.surface.closed(session.session_ref), Some(SessionEnd::Revoked), "{how}");
        assert!(scene.grant(handle).await.unwrap().revoked_at.is_some(), "{how}");
        assert!(scene.world.events_of(id).await.contains(&"grant.revoked".to_owned()), "{how}");
    }
}

#[tokio::test]
async fn a_provider_that_is_away_fails_a_raise_whole_and_not_its_repeat() {
    let scene = Scene::new().await;
    let engine = &scene.world.engine;
    let raise = async |key: &str| {
        engine.raise(&scene.world.machine, json(&take_over("Take over?", "")), Some(&key_of(key))).await
    };
    scene.surface.fail(true);
    assert_eq!(code(raise("k").await), ErrorCode::DeliveryUnavailable);
    assert!(scene.world.requests().await.is_empty());
    scene.surface.fail(false);
    let first = raise("k").await.unwrap();
    scene.surface.fail(true);
    let again = raise("k").await.unwrap();
    assert_eq!((first.request.id, first.created, again.created), (again.request.id, true, false));
    let handle = handle_of(&first.request.requires);
    let refused = scene.resolve(&scene.admin, handle, r#"["drive"]"#, Some("r")).await.unwrap_err();
    assert_eq!((refused.code(), refused.request_id()), (ErrorCode::DeliveryUnavailable, Some(first.request.id)));
    scene.surface.fail(false);
    let session = scene.resolve(&scene.admin, handle, r#"["drive"]"#, Some("r")).await.unwrap();

    // What ended is told to the provider until it hears it.
    scene.surface.fail(true);
    engine.release_session(&scene.admin, handle, session.session_ref).await.unwrap();
    scene.pass(0).await;
    assert_eq!(scene.surface.closed(session.session_ref), None);
    scene.surface.fail(false);
    scene.pass(31).await;
    assert_eq!(scene.surface.closed(session.session_ref), Some(SessionEnd::Released));
}

#[tokio::test]
async fn an_amendment_that_is_repeated_or_refused_anyway_asks_no_provider() {
    let scene = Scene::new().await;
    let (id, _) = scene.raise("Take over?").await;
    let amend = async |key: &str| {
        let body = json(&take_over("?", ""));
        let requires = body.get("requires").unwrap().to_text();
        let body = json(&format!(r#"{{"requires":{requires}}}"#));
        scene.world.engine.amend(&scene.world.machine, id, body, Some(&key_of(key))).await
    };
    let first = amend("k").await.unwrap();
    scene.surface.fail(true);
    assert_eq!(amend("k").await.unwrap(), first);
    let refused = amend("other").await.unwrap_err();
    assert_eq!((refused.code(), refused.request_id()), (ErrorCode::DeliveryUnavailable, Some(id)));
    assert_eq!(scene.world.request(id).await.version, 2);
    scene.world.cancel(id, "c").await.unwrap();
    assert_eq!(code(amend("late").await), ErrorCode::RequestCancelled);
}

#[tokio::test]
async fn nobody_is_thrown_out_of_a_session_by_an_amendment_while_they_act() {
    let scene = Scene::new().await;
    let (id, handle) = scene.raise("Take over?").await;
    let amend = async || {
        let body = json(r#"{"requires":{"v":1,"answer":{"fields":[]}}}"#);
        scene.world.engine.amend(&scene.world.machine, id, body, None).await
    };
    let session = scene.resolve(&scene.admin, handle, r#"["view","drive"]"#, None).await.unwrap();
    let refused = amend().await.unwrap_err();
    assert_eq!((refused.code(), refused.request_id()), (ErrorCode::RequestInProgress, Some(id)));
    assert_eq!(scene.surface.closed(session.session_ref), None);
    scene.world.engine.release_session(&scene.admin, handle, session.session_ref).await.unwrap();
    // Who only looks does not answer yet.
    let looking = scene.resolve(&scene.admin, handle, r#"["view"]"#, None).await.unwrap();
    amend().await.unwrap();
    scene.pass(0).await;
    assert_eq!(scene.surface.closed(looking.session_ref), Some(SessionEnd::Revoked));
}

#[tokio::test]
async fn a_resource_that_nobody_has_is_named_in_the_refusal() {
    let scene = Scene::new().await;
    let body = take_over("Take over?", "").replace(RESOURCE, "opaque:other");
    let refused = scene.world.engine.raise(&scene.world.machine, json(&body), None).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    assert!(refused.to_string().contains("requires.capabilities[0].resource_ref"), "{refused}");
    assert!(!refused.to_string().contains("opaque"), "{refused}");
    assert!(scene.world.requests().await.is_empty());
}

#[tokio::test]
async fn resources_without_a_provider_have_addresses_under_the_deployments_own_base() {
    for (base, kind, prefix) in [
        (None, "websocket", "wss://127.0.0.1:8443/v1/sessions/hs_"),
        (Some("https://relay.example.com/"), "https", "https://relay.example.com/v1/sessions/hs_"),
    ] {
        let world = World::with_ports(|builder| match base {
            Some(base) => builder.capability_transport_base(base),
            None => builder,
        })
        .await;
        let admin = add_person(&world.engine, world.tenant, Role::Admin).await;
        let raised = world.engine.raise(&world.machine, json(&take_over("Take over?", "")), None).await.unwrap();
        let handle = handle_of(&raised.request.requires);
        let grant = world.engine.grant(&admin, handle).await.unwrap();
        assert_eq!(grant.blast_radius.shared_with.as_str(), "org", "what nobody describes may be everything");
        let body = format!(r#"{{"scopes":["view"],"accepted_blast_radius_digest":"{}"}}"#, grant.blast_radius_digest);
        let first = world.engine.resolve_grant(&admin, handle, json(&body), None).await.unwrap();
        let second = world.engine.resolve_grant(&admin, handle, json(&body), None).await.unwrap();
        assert_eq!(first.transport.kind.as_str(), kind);
        assert!(first.transport.url.starts_with(prefix), "{}", first.transport.url);
        assert_ne!(first.transport.url, second.transport.url);
        assert!(!format!("{first:?}").contains(&first.transport.url), "nothing prints an address");
    }
}

#[tokio::test]
async fn another_tenants_grant_is_one_that_never_was_and_machines_and_unknown_ones_are_refused_alike() {
    let scene = Scene::new().await;
    let (_, handle) = scene.raise("Take over?").await;
    let session = scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap().session_ref;
    let elsewhere = scene.world.engine.create_tenant().await.unwrap();
    let stranger = add_person(&scene.world.engine, elsewhere, Role::Admin).await;
    let engine = &scene.world.engine;
    let unknown = GrantHandle::parse("hg_01K3M7QW8ZC4YRXB2N6VD9FTHG").unwrap();
    let none = json("{}");
    for (who, handle) in [(&stranger, handle), (&scene.admin, unknown)] {
        assert_eq!(code(engine.grant(who, handle).await), ErrorCode::CapabilityNotFound);
        assert_eq!(code(scene.resolve(who, handle, r#"["view"]"#, None).await), ErrorCode::CapabilityNotFound);
        assert_eq!(code(engine.renew_session(who, handle, session).await), ErrorCode::CapabilityNotFound);
        assert_eq!(code(engine.release_session(who, handle, session).await), ErrorCode::CapabilityNotFound);
        assert_eq!(code(engine.revoke_grant(who, handle, &none).await), ErrorCode::CapabilityNotFound);
    }
    let machine = &scene.world.machine;
    let refused = ErrorCode::RequesterMayNotAnswer;
    assert_eq!(code(engine.grant(machine, handle).await), refused);
    assert_eq!(code(engine.renew_session(machine, handle, session).await), refused);
    assert_eq!(code(engine.release_session(machine, handle, session).await), refused);
    assert_eq!(code(engine.revoke_grant(machine, handle, &none).await), refused);
    let never = SessionRef::parse("hs_01K3MB2R4S8ZC4YRXB2N6VD9FT").unwrap();
    assert_eq!(code(engine.renew_session(&scene.admin, handle, never).await), ErrorCode::CapabilityNotFound);
}

#[tokio::test]
async fn who_lost_the_role_since_cannot_renew() {
    let scene = Scene::new().await;
    let (id, handle) = scene.raise("Take over?").await;
    let session = scene.resolve(&scene.admin, handle, r#"["drive"]"#, None).await.unwrap();
    let Some(PrincipalId::User(person)) = scene.admin.id() else { panic!() };
    scene.world.engine.set_role(scene.world.tenant, person, Role::Editor).await.unwrap();
    let renewed = scene.world.engine.renew_session(&scene.admin, handle, session.session_ref).await;
    assert_eq!(code(renewed), ErrorCode::InsufficientAuthority);
    assert_eq!(scene.world.request(id).await.state, RequestState::Pending);
}
