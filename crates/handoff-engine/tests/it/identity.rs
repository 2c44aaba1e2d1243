//! Who calls: credentials that live and die, roles as they are now, links that work once.

use std::time::Duration;

use handoff_engine::{
    IdentityError,
    identity::NewCredential,
    store::{Reads, RecordKey, RecordKind, RecordWrite, Step, Store as _, Transaction, WriteSet},
};
use handoff_protocol::{
    decision::{DecisionError, ErrorCode, WaiterRef},
    duration::ExactDuration,
    id::{AuthorizationId, PrincipalId, RequestId, SignalId, TenantId, Ulid, UserId},
    principal::{AuthStrength, Identity, Principal, Role, Scopes},
};

use super::world::{REASON, World, YES, add_person, ask, ask_with, code, json};

fn user(principal: &Principal) -> UserId {
    match principal.identity {
        Identity::Human(id) => id,
        Identity::Machine(_) | Identity::Link(_) => panic!("no person"),
    }
}

/// Marks a member as one that may no longer act.
async fn disable(world: &World, id: PrincipalId) {
    let key = RecordKey::new(RecordKind::from_static("principal"), id);
    let tenant = TenantId::Org(world.tenant);
    let record = world.store.get(&tenant, std::slice::from_ref(&key)).await.unwrap().remove(0).unwrap();
    let changed = record.document.replace(r#""disabled_at":null"#, r#""disabled_at":"2026-01-01T00:00:00Z""#);
    assert_ne!(*changed, *record.document);
    let step = move |_: &_, _: &_| {
        let put = RecordWrite::Put {
            key: key.clone(),
            seen: Some(record.version),
            document: changed.as_str().into(),
            unindex: Vec::new(),
            index: Vec::new(),
        };
        Step::Commit(Box::new(WriteSet { records: vec![put], ..WriteSet::default() }))
    };
    let transaction = Transaction { tenant, reads: Reads::none(), step: std::sync::Arc::new(step) };
    let _committed = world.store.transact(transaction).await.unwrap();
}

#[tokio::test]
async fn a_changed_role_holds_from_the_next_answer_on() {
    let world = World::new().await;
    let needs_editor =
        world.raised(&ask("run:1", "one").replace(r#""v":1,"#, r#""v":1,"authority":{"min_role":"editor"},"#)).await;
    let id = user(&world.person);
    world.engine.set_role(world.tenant, id, Role::Viewer).await.unwrap();
    // The caller was authenticated as an editor and is none any more.
    let refused = world.answer(needs_editor, "k").await;
    assert_eq!(code(refused), ErrorCode::InsufficientAuthority);
    let request = world.request(needs_editor).await;
    assert_eq!((request.receipt, request.authorization), (None, None));
    world.engine.set_role(world.tenant, id, Role::Admin).await.unwrap();
    world.answer(needs_editor, "k").await.unwrap();
    let receipt = world.request(needs_editor).await.receipt.unwrap();
    let actor = receipt.get("actor").unwrap();
    assert_eq!(actor.get("role_at_decision").unwrap().as_str(), Some("admin"));
    let authority = receipt.get("authority").unwrap();
    assert_eq!(authority.get("required").unwrap().get("min_role").unwrap().as_str(), Some("editor"));
    assert_eq!(authority.get("satisfied").unwrap().as_str(), Some("session"));
    // A role that falls afterwards takes nothing back, and a repeat is still a repeat.
    world.engine.set_role(world.tenant, id, Role::Viewer).await.unwrap();
    world.answer(needs_editor, "k").await.unwrap();
}

#[tokio::test]
async fn what_authenticates_nobody_is_refused_in_one_way() {
    let world = World::new().await;
    let id = PrincipalId::User(user(&world.person));
    let issue = async |ttl| {
        let credential = NewCredential { ttl, ..NewCredential::default() };
        world.engine.issue_key(world.tenant, id, credential).await.unwrap()
    };
    let (good, revoked) = (issue(None).await, issue(None).await);
    let short = issue(Some(ExactDuration::from_minutes(1))).await;
    for token in [&good, &revoked, &short] {
        world.engine.authenticate(Some(token.expose())).await.unwrap();
    }
    world.engine.revoke(revoked.expose()).await.unwrap();
    world.engine.revoke(revoked.expose()).await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    for token in [revoked.expose(), short.expose(), "", "hk_nonsense", &format!("{} ", good.expose())] {
        assert_eq!(world.engine.authenticate(Some(token)).await, Err(DecisionError::InvalidApiKey));
    }
    assert_eq!(world.engine.authenticate(None).await, Err(DecisionError::AuthenticationRequired));
    world.engine.authenticate(Some(good.expose())).await.unwrap();
    disable(&world, id).await;
    assert_eq!(world.engine.authenticate(Some(good.expose())).await, Err(DecisionError::InvalidApiKey));
}

#[tokio::test]
async fn a_person_disabled_between_authentication_and_answer_does_not_answer() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    disable(&world, PrincipalId::User(user(&world.person))).await;
    assert_eq!(code(world.answer(id, "k").await), ErrorCode::InvalidApiKey);
    assert_eq!(world.request(id).await.receipt, None);
}

#[tokio::test]
async fn a_link_works_once_and_looking_at_it_does_not_use_it() {
    let world = World::new().await;
    let request = world.raised(&ask("run:1", "one")).await;
    let ttl = ExactDuration::from_minutes(10);
    let issue = async || world.engine.issue_link(world.tenant, user(&world.person), ttl, Some(request)).await.unwrap();
    let link = issue().await;
    for _ in 0..3 {
        world.engine.invitation(link.expose()).await.unwrap();
    }
    let entered = world.engine.enter(link.expose()).await.unwrap();
    assert_eq!(entered.request_id, Some(request));
    for spent in [link.expose(), "hl_nonsense"] {
        assert!(matches!(world.engine.enter(spent).await, Err(IdentityError::LinkNotValid)));
        assert!(matches!(world.engine.invitation(spent).await, Err(IdentityError::LinkNotValid)));
    }
    // A link is no session, and the session is the person.
    assert_eq!(world.engine.authenticate(Some(link.expose())).await, Err(DecisionError::InvalidApiKey));
    let person = world.engine.authenticate(Some(entered.session.expose())).await.unwrap();
    assert_eq!(person.identity, world.person.identity);
    world.engine.answer(&person, request, json(YES), None).await.unwrap();
    world.clock.advance(Duration::from_secs(12 * 3600));
    assert_eq!(world.engine.authenticate(Some(entered.session.expose())).await, Err(DecisionError::InvalidApiKey));
    let late = issue().await;
    world.clock.advance(Duration::from_secs(600));
    assert!(matches!(world.engine.enter(late.expose()).await, Err(IdentityError::LinkNotValid)));
}

#[tokio::test]
async fn a_link_that_leads_to_a_request_says_what_it_asks() {
    let world = World::new().await;
    let request = world.raised(&ask("run:1", "one")).await;
    let ttl = ExactDuration::from_minutes(10);
    let person = user(&world.person);
    let leading = world.engine.issue_link(world.tenant, person, ttl, Some(request)).await.unwrap();
    let invitation = world.engine.invitation(leading.expose()).await.unwrap();
    assert_eq!((invitation.request_id, invitation.request_title.as_deref()), (Some(request), Some("one")));
    let plain = world.engine.issue_link(world.tenant, person, ttl, None).await.unwrap();
    let invitation = world.engine.invitation(plain.expose()).await.unwrap();
    assert_eq!((invitation.request_id, invitation.request_title), (None, None));
    // A request of another tenant is none.
    let elsewhere = world.engine.create_tenant().await.unwrap();
    let stranger = world.engine.create_person(elsewhere, "Eve", Role::Admin).await.unwrap();
    let foreign = world.engine.issue_link(elsewhere, stranger, ttl, Some(request)).await.unwrap();
    assert_eq!(world.engine.invitation(foreign.expose()).await.unwrap().request_title, None);
}

#[tokio::test]
async fn a_session_is_a_fresh_sign_in_for_five_minutes_and_no_second_factor() {
    let world = World::new().await;
    let ttl = ExactDuration::from_minutes(10);
    let link = world.engine.issue_link(world.tenant, user(&world.person), ttl, None).await.unwrap();
    let entered_at = world.engine.now();
    let session = world.engine.enter(link.expose()).await.unwrap().session;
    for (passed, grade) in [(0, AuthStrength::Reauth), (300, AuthStrength::Reauth), (1, AuthStrength::Session)] {
        world.clock.advance(Duration::from_secs(passed));
        let person = world.engine.authenticate(Some(session.expose())).await.unwrap();
        assert_eq!(person.grade(world.engine.now()), grade);
        assert_eq!((person.reauth_at, person.mfa_at), (Some(entered_at), None));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_enter_by_one_link_one_does() {
    let world = std::sync::Arc::new(World::new().await);
    let ttl = ExactDuration::from_minutes(10);
    let link = world.engine.issue_link(world.tenant, user(&world.person), ttl, None).await.unwrap();
    let token = link.expose().clone();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let (world, token) = (std::sync::Arc::clone(&world), token.clone());
        tasks.spawn(async move { world.engine.enter(&token).await.is_ok() });
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|entered| *entered).count(), 1);
}

#[tokio::test]
async fn links_are_for_people_of_the_tenant() {
    let world = World::new().await;
    let elsewhere = world.engine.create_tenant().await.unwrap();
    let ttl = ExactDuration::from_minutes(10);
    let refused = world.engine.issue_link(elsewhere, user(&world.person), ttl, None).await;
    assert!(matches!(refused, Err(IdentityError::NotFound(_))));
    let key = world.engine.issue_key(elsewhere, PrincipalId::User(user(&world.person)), NewCredential::default()).await;
    assert!(matches!(key, Err(IdentityError::NotFound(_))));
}

#[tokio::test]
async fn each_operation_needs_its_scope() {
    let world = World::new().await;
    let id = world.raised(&ask("run:1", "one")).await;
    let (request, signal) = (RequestId::from_ulid(Ulid::from_u128(5)), SignalId::from_ulid(Ulid::from_u128(5)));
    let waiter = WaiterRef::parse("run:1").unwrap();
    for scope in [
        "handoff:requests:write",
        "handoff:requests:read",
        "handoff:receipts:read",
        "handoff:waiters:wait",
        "handoff:authorizations:redeem",
        "handoff:requests:route",
    ] {
        let engine = &world.engine;
        let caller = Principal { scopes: Scopes::from(vec![scope.to_owned()]), ..world.machine.clone() };
        let refused = |code: Option<ErrorCode>| code == Some(ErrorCode::InsufficientScope);
        let none = DecisionError::code;
        for (needed, came) in [
            ("handoff:requests:write", engine.raise(&caller, json("{}"), None).await.err().map(|e| none(&e))),
            (
                "handoff:requests:write",
                engine.cancel(&caller, request, json(REASON), None).await.err().map(|e| none(&e)),
            ),
            ("handoff:requests:read", engine.request(&caller, id).await.err().map(|e| none(&e))),
            (
                "handoff:requests:read",
                engine.request_settled(&caller, id, Duration::ZERO).await.err().map(|e| none(&e)),
            ),
            ("handoff:requests:read", engine.requests(&caller, &Default::default()).await.err().map(|e| none(&e))),
            ("handoff:requests:read", engine.request_receipt(&caller, id).await.err().map(|e| none(&e))),
            (
                "handoff:requests:read",
                engine
                    .authorization(&caller, AuthorizationId::from_ulid(Ulid::from_u128(5)))
                    .await
                    .err()
                    .map(|e| none(&e)),
            ),
            ("handoff:receipts:read", engine.receipts(&caller, Default::default()).await.err().map(|e| none(&e))),
            ("handoff:receipts:read", engine.chain_head(&caller).await.err().map(|e| none(&e))),
            ("handoff:receipts:read", engine.export_own(&caller).await.err().map(|e| none(&e))),
            ("handoff:waiters:wait", engine.signals(&caller, &waiter, Duration::ZERO).await.err().map(|e| none(&e))),
            ("handoff:waiters:wait", engine.reattach(&caller, &waiter).await.err().map(|e| none(&e))),
            ("handoff:waiters:wait", engine.acknowledge(&caller, signal, &json("{}")).await.err().map(|e| none(&e))),
            (
                "handoff:authorizations:redeem",
                engine
                    .redeem(&caller, AuthorizationId::from_ulid(Ulid::from_u128(5)), &json("{}"))
                    .await
                    .err()
                    .map(|e| none(&e)),
            ),
        ] {
            assert_eq!(refused(came), needed != scope, "{needed} with {scope}: {came:?}");
        }
    }
}

#[tokio::test]
async fn people_do_not_raise_or_redeem_and_machines_do_not_answer() {
    let world = World::new().await;
    let admin = add_person(&world.engine, world.tenant, Role::Admin).await;
    let body = json(&ask_with("run:1", "one", r#""ttl":"PT1M""#));
    assert_eq!(code(world.engine.raise(&admin, body, None).await), ErrorCode::InsufficientScope);
    let id = world.raised(&ask("run:1", "one")).await;
    let unknown = RequestId::from_ulid(Ulid::from_u128(5));
    // The refusal names a request of this tenant and says nothing of any other.
    for (asked, named) in [(id, Some(id)), (unknown, None)] {
        let refused = world.engine.answer(&world.machine, asked, json(YES), None).await;
        assert_eq!(refused.unwrap_err(), DecisionError::RequesterMayNotAnswer { request_id: named });
    }
    let authorization = world.answer(id, "k").await.unwrap().authorization.unwrap().id;
    let redeemed = world.engine.redeem(&admin, authorization, &json(r#"{"effect_key":"k"}"#)).await;
    assert_eq!(code(redeemed), ErrorCode::InsufficientScope);
}

#[tokio::test]
async fn a_tenants_tokens_are_listed_by_fingerprint_and_revoked_by_it() {
    let world = World::new().await;
    let machine = world.engine.create_machine(world.tenant, "second").await.unwrap();
    let holder = PrincipalId::ServiceAccount(machine);
    let token = world.engine.issue_key(world.tenant, holder, NewCredential::default()).await.unwrap();
    let token = token.expose().as_str();
    let other = world.engine.create_tenant().await.unwrap();
    let found = || async {
        let all = world.engine.credentials(world.tenant).await.unwrap();
        let mut ours = all.into_iter().filter(|credential| credential.holder == Some(holder));
        (ours.next().unwrap(), ours.next())
    };
    let (listed, none) = found().await;
    assert_eq!((none, listed.revoked_at), (None, None));
    assert!(handoff_protocol::digest::Digest::of(token).hex().starts_with(&listed.fingerprint));
    assert!(world.engine.credentials(other).await.unwrap().is_empty(), "a tenant sees its own tokens alone");

    let missing = |tenant, fingerprint: String| {
        let engine = &world.engine;
        async move { matches!(engine.revoke_credential(tenant, &fingerprint).await, Err(IdentityError::NotFound(_))) }
    };
    assert!(missing(other, listed.fingerprint.clone()).await);
    assert!(missing(world.tenant, listed.fingerprint.chars().take(4).collect()).await, "too short to mean one");
    assert!(missing(world.tenant, "0".repeat(12)).await);
    assert!(world.engine.authenticate(Some(token)).await.is_ok());
    for _ in 0..2 {
        world.engine.revoke_credential(world.tenant, &listed.fingerprint.to_uppercase()).await.unwrap();
    }
    assert_eq!(code(world.engine.authenticate(Some(token)).await), ErrorCode::InvalidApiKey);
    assert_eq!(found().await.0.revoked_at, Some(world.engine.now()));
}
