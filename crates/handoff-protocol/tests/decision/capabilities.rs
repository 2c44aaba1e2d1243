//! Capabilities: grants, sessions, and how they end with their request (section 16).

use handoff_protocol::{
    chain::Head,
    decision::{
        Amend, Answer, Arm, Cancel, DecisionError, Effects, ErrorCode, Fired, Policy, Raise, Request, Supersede,
        TimerChange, Waiter, amend, answer, arm, cancel,
        capability::{
            BlastRadius, Capabilities, Grant, GrantSession, Identity, Resolve, Revoke, Usage, lapse_session, release,
            renew, resolve, revoke,
        },
        join, lease, supersede,
        terms::{SessionEnd, SharedWith},
    },
    digest::Digest,
    json::Json,
    principal::{Principal, Role},
    timestamp::Timestamp,
};

use super::scene::{START, Scene, YES, approve, json, link, machine, person, person_of, with};

const SURFACE: &str =
    r#"{"type":"interactive_surface","scope":"drive","provider":"p","resource_ref":"r","ttl":"PT10M"}"#;

fn take_over() -> String {
    with(&approve(), "requires.capabilities", &format!("[{SURFACE}]"))
}

/// A request with one grant, and what became of both.
struct Story {
    scene: Scene,
    request: Request,
    waiter: Waiter,
}

impl Story {
    fn new() -> Self {
        Self::of(&take_over())
    }

    fn of(body: &str) -> Self {
        let mut scene = Scene::new();
        let effects = scene.raise_effects(json(body));
        scene.capabilities.grants = effects.grants;
        Self { scene, request: effects.request, waiter: effects.waiter.unwrap() }
    }

    fn grant(&self) -> Grant {
        self.scene.capabilities.grants[0].clone()
    }

    fn pass(&mut self, seconds: u64) {
        self.scene.now = self.scene.now.saturating_add(std::time::Duration::from_secs(seconds));
    }

    fn resolve(&mut self, who: &Principal, scopes: &str) -> Result<GrantSession, DecisionError> {
        let digest = self.grant().blast_radius_digest.to_string();
        self.resolve_with(who, &format!(r#"{{"scopes":{scopes},"accepted_blast_radius_digest":"{digest}"}}"#))
    }

    fn resolve_with(&mut self, who: &Principal, body: &str) -> Result<GrantSession, DecisionError> {
        let command = Resolve::read(who, json(body))?;
        let (request, grant) = (self.request.clone(), self.grant());
        let (effects, session) = resolve(&request, &grant, &command, who, &mut self.scene.context())?;
        self.apply(effects);
        Ok(session)
    }

    fn renew(&mut self, who: &Principal, session: &GrantSession) -> Result<GrantSession, DecisionError> {
        let (request, grant) = (self.request.clone(), self.grant());
        let (effects, renewed) = renew(&request, &grant, session, who, None, &self.scene.context())?;
        self.apply(effects);
        Ok(renewed)
    }

    fn apply(&mut self, effects: Effects) {
        self.request = effects.request;
        for grant in effects.grants {
            match self.scene.capabilities.grants.iter_mut().find(|known| known.handle == grant.handle) {
                Some(known) => *known = grant,
                None => self.scene.capabilities.grants.push(grant),
            }
        }
        for session in effects.sessions {
            let sessions = &mut self.scene.capabilities.sessions;
            match sessions.iter_mut().find(|known| known.session_ref == session.session_ref) {
                Some(known) => *known = session,
                None => sessions.push(session),
            }
        }
    }

    fn last_session(&self) -> GrantSession {
        self.scene.capabilities.sessions.last().unwrap().clone()
    }
}

#[test]
fn an_address_is_no_name_of_a_resource() {
    for address in ["https://u:hunter2@host/secret-address", "x://", "opaque:a wss://b"] {
        let body = take_over().replace(r#""resource_ref":"r""#, &format!(r#""resource_ref":"{address}""#));
        let refused = Raise::read(&machine(), json(&body), &Policy::default()).map(drop).unwrap_err();
        let said = refused.to_string();
        assert_eq!(refused.code(), ErrorCode::InvalidRequest, "{address}");
        assert!(said.contains("requires.capabilities[0].resource_ref") && !said.contains("hunter2"), "{said}");
    }
    let opaque = take_over().replace(r#""resource_ref":"r""#, r#""resource_ref":"opaque:bs_4KpQ""#);
    assert!(Raise::read(&machine(), json(&opaque), &Policy::default()).is_ok());
}

/// What is left to tell the surface's provider.
fn close(session: &GrantSession, due: Timestamp) -> TimerChange {
    TimerChange::CloseSession { session: session.session_ref, provider: Digest::of("p"), due }
}

fn code<T: std::fmt::Debug>(result: Result<T, DecisionError>) -> ErrorCode {
    result.unwrap_err().code()
}

fn exercised(effects: &Effects) -> Json {
    let receipt = json(&effects.receipt.as_ref().unwrap().text);
    receipt.get("capabilities_exercised").unwrap().clone()
}

#[test]
fn a_raise_mints_one_grant_a_capability_and_serves_its_own_handle_and_digest() {
    let declared = with(
        &take_over(),
        "requires.capabilities",
        &format!(
            r#"[{{"handle":"hg_01K3M7QW8ZC4YRXB2N6VD9FTHG","blast_radius_digest":"sha256:{}","type":"document","scope":"view"}},{SURFACE}]"#,
            "0".repeat(64)
        ),
    );
    let mut scene = Scene::new();
    let effects = scene.raise_effects(json(&declared));
    let handles: Vec<String> = effects.grants.iter().map(|grant| grant.handle.to_string()).collect();
    assert_eq!(handles.len(), 2);
    let served = effects.request.requires.get("capabilities").and_then(Json::as_array).unwrap();
    for (item, grant) in served.iter().zip(&effects.grants) {
        assert_eq!(item.get("handle"), Some(&Json::from(grant.handle.to_string())));
        assert_eq!(item.get("blast_radius_digest"), Some(&Json::from(grant.blast_radius_digest.to_string())));
    }
    assert_ne!(handles[0], "hg_01K3M7QW8ZC4YRXB2N6VD9FTHG");
    assert_eq!(effects.request.open_grants.len(), 2);
    // Its own time to live, or else the attempt's.
    let lives = |seconds| START.saturating_add(std::time::Duration::from_secs(seconds));
    assert_eq!(effects.grants[0].expires_at, lives(15 * 60));
    assert_eq!(effects.grants[1].expires_at, lives(10 * 60));
    let again = Raise::read(&machine(), json(&declared), &Policy::default()).unwrap();
    let parsed = effects.request.requires().unwrap();
    assert_eq!(parsed.capabilities, again.capabilities(), "what is served can be read again");
}

#[test]
fn what_a_declaration_may_not_hold_is_refused_and_unknown_types_have_their_own_code() {
    let refusal = |capabilities: &str| {
        let body = with(&approve(), "requires.capabilities", capabilities);
        code(Raise::read(&machine(), json(&body), &Policy::default()))
    };
    for capability in [r#"[{"type":"teleport","scope":"view"}]"#, "[{}]", "[1]", r#"[{"type":null}]"#] {
        assert_eq!(refusal(capability), ErrorCode::UnsupportedCapabilityType, "{capability}");
    }
    for capability in [
        r#"[{"type":"document"}]"#,
        r#"[{"type":"document","scope":"own"}]"#,
        r#"[{"type":"document","scope":"view","url":"wss://x"}]"#,
        r#"[{"type":"document","scope":"view","constraints":[]}]"#,
        r#"[{"type":"document","scope":"view","ttl":"P1M"}]"#,
        r#"{"type":"document","scope":"view"}"#,
    ] {
        assert_eq!(refusal(capability), ErrorCode::InvalidRequest, "{capability}");
    }
    let many = vec![r#"{"type":"document","scope":"view"}"#; 17].join(",");
    assert_eq!(refusal(&format!("[{many}]")), ErrorCode::InvalidRequest);
}

#[test]
fn the_first_failure_of_a_resolve_is_the_one_that_is_told() {
    let admin = person_of(4, Role::Admin);
    let wrong = format!(r#"{{"scopes":["drive"],"accepted_blast_radius_digest":"sha256:{}"}}"#, "0".repeat(64));
    let viewer = person(Role::Viewer);

    let mut story = Story::new();
    // The digest is the last to be looked at, and a refusal binds nobody.
    assert_eq!(code(story.resolve_with(&admin, &wrong)), ErrorCode::BlastRadiusMismatch);
    assert_eq!(story.grant().bound_principal_id, None);
    story.resolve(&person_of(5, Role::Admin), r#"["view"]"#).unwrap();
    assert_eq!(code(story.resolve_with(&admin, &wrong)), ErrorCode::GrantAlreadyHeld);
    assert_eq!(code(story.resolve_with(&viewer, &wrong)), ErrorCode::InsufficientAuthority);
    story.pass(10 * 60);
    assert_eq!(code(story.resolve_with(&viewer, &wrong)), ErrorCode::CapabilityExpired);
    story.scene.capabilities.grants[0].revoked_at = Some(story.scene.now);
    assert_eq!(code(story.resolve_with(&viewer, &wrong)), ErrorCode::CapabilityNotFound);
    let settled = (story.request.clone(), story.waiter.clone());
    story.request = story.scene.answer(&settled, &admin, YES).unwrap().request;
    assert_eq!(code(story.resolve_with(&viewer, &wrong)), ErrorCode::AlreadyAnswered);
    assert_eq!(code(story.resolve_with(&machine(), &wrong)), ErrorCode::RequesterMayNotAnswer);
    assert_eq!(
        code(story.resolve_with(&link(handoff_protocol::principal::AuthStrength::Session), &wrong)),
        ErrorCode::InsufficientScope
    );
}

#[test]
fn to_look_any_role_is_enough_and_to_act_only_the_highest() {
    let mut story = Story::new();
    let session = story.resolve(&person(Role::Viewer), r#"["view"]"#).unwrap();
    assert_eq!(session.role_at_grant, Role::Viewer);
    assert_eq!(code(story.resolve(&person(Role::Editor), r#"["view","drive"]"#)), ErrorCode::InsufficientAuthority);
    story.resolve(&person(Role::Admin), r#"["drive","view","drive"]"#).unwrap_err();
    assert_eq!(story.resolve(&person(Role::Admin), r#"["drive","view"]"#).unwrap().scopes.len(), 2);

    let mut only_view =
        Story::of(&with(&approve(), "requires.capabilities", r#"[{"type":"document","scope":"view"}]"#));
    let refused = only_view.resolve(&person(Role::Admin), r#"["drive"]"#).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    assert!(refused.to_string().contains("a grant of the scope `drive`"), "{refused}");
}

#[test]
fn a_session_lives_for_two_minutes_and_never_longer_than_its_grant() {
    let mut story = Story::new();
    let admin = person(Role::Admin);
    let session = story.resolve(&admin, r#"["drive"]"#).unwrap();
    assert_eq!(session.lease_until.since(START).as_secs(), 120);
    story.pass(100);
    let renewed = story.renew(&admin, &session).unwrap();
    assert_eq!(renewed.lease_until.since(START).as_secs(), 220);
    for _ in 0..4 {
        story.pass(100);
        let session = story.last_session();
        story.renew(&admin, &session).unwrap();
    }
    assert_eq!(story.last_session().lease_until.since(START).as_secs(), 600, "the grant's own end");
    story.pass(100);
    let session = story.last_session();
    assert_eq!(code(story.renew(&admin, &session)), ErrorCode::CapabilityExpired);
    let grant = story.grant();
    let Fired::Acted(effects) = lapse_session(&story.request, &grant, &session, story.scene.now) else { panic!() };
    let ended = &effects.sessions[0];
    assert_eq!((ended.close_reason, ended.released_at), (Some(SessionEnd::Expired), Some(grant.expires_at)));
}

#[test]
fn a_renewal_looks_at_everything_again() {
    let admin = person(Role::Admin);
    let mut story = Story::new();
    let session = story.resolve(&admin, r#"["drive"]"#).unwrap();
    assert_eq!(code(story.renew(&person_of(9, Role::Admin), &session)), ErrorCode::CapabilityNotFound);
    assert_eq!(code(story.renew(&person(Role::Editor), &session)), ErrorCode::InsufficientAuthority);
    story.pass(120);
    assert_eq!(code(story.renew(&admin, &session)), ErrorCode::CapabilityNotFound, "its lease ran out");

    let session = story.resolve(&admin, r#"["drive"]"#).unwrap();
    let released = release(&story.request, &story.grant(), &session, &admin, None, &story.scene.context()).unwrap();
    story.apply(released);
    let session = story.last_session();
    assert_eq!(session.close_reason, Some(SessionEnd::Released));
    assert_eq!(code(story.renew(&admin, &session)), ErrorCode::CapabilityNotFound);
    let again = release(&story.request, &story.grant(), &session, &admin, None, &story.scene.context()).unwrap();
    assert!(again.sessions.is_empty() && again.timers.is_empty(), "releasing twice is releasing once");
    let other =
        release(&story.request, &story.grant(), &session, &person_of(9, Role::Admin), None, &story.scene.context());
    assert_eq!(code(other), ErrorCode::CapabilityNotFound);
}

#[test]
fn a_lease_that_nobody_renewed_ends_at_its_own_time_however_late_that_is_noticed() {
    let mut story = Story::new();
    let session = story.resolve(&person(Role::Admin), r#"["drive"]"#).unwrap();
    let (request, grant) = (story.request.clone(), story.grant());
    let early = lapse_session(&request, &grant, &session, START);
    assert_eq!(early, Fired::NotDue { again: Some(session.lease_until) });
    story.pass(500);
    let Fired::Acted(effects) = lapse_session(&request, &grant, &session, story.scene.now) else { panic!() };
    let ended = effects.sessions[0].clone();
    assert_eq!((ended.close_reason, ended.released_at), (Some(SessionEnd::LeaseLapsed), Some(session.lease_until)));
    assert_eq!(ended.exercised().unwrap().held_ms, 120_000);
    assert_eq!(effects.timers, [close(&session, story.scene.now)]);
    assert_eq!(lapse_session(&request, &grant, &ended, story.scene.now), Fired::NotDue { again: None });
}

#[test]
fn arming_the_attempt_renews_grants_also_those_that_ran_out() {
    let mut story = Story::new();
    story.pass(3600);
    assert_eq!(code(story.grant().check_readable(story.scene.now)), ErrorCode::CapabilityExpired);
    let command = Arm::read(&machine(), json("{}")).unwrap();
    let armed = arm(&story.request, &command, &machine(), &story.scene.context()).unwrap();
    assert_eq!(armed.grants[0].expires_at.since(story.scene.now).as_secs(), 600);
    story.apply(armed);
    story.resolve(&person(Role::Admin), r#"["drive"]"#).unwrap();
}

#[test]
fn every_ending_revokes_the_grants_and_ends_the_sessions_in_its_own_effects() {
    let ttl = with(&take_over(), "ttl", r#""PT1H""#);
    let leased = with(&ttl, "liveness", r#""leased""#);
    let end = |story: &mut Story, how: &str| -> Effects {
        let (request, waiter) = (story.request.clone(), story.waiter.clone());
        let admin = person(Role::Admin);
        match how {
            "answer" => story.scene.answer(&(request, waiter), &admin, YES).unwrap(),
            "expire" => {
                story.pass(3600);
                let Fired::Acted(effects) = story.scene.expire(&(request, waiter)) else { panic!() };
                *effects
            }
            "cancel" => {
                let command = Cancel::read(&machine(), json(r#"{"reason":"x"}"#)).unwrap();
                cancel(&request, &command, &machine(), &waiter, &mut story.scene.context()).unwrap()
            }
            "supersede" => {
                let (heir, _) = story.scene.raise(&with(&approve(), "dedupe_key", r#""2""#));
                let command = Supersede::read(&machine(), json(&format!(r#"{{"by":"{}"}}"#, heir.id))).unwrap();
                assert_eq!(command.by(), Some(heir.id));
                supersede(&request, &heir, &machine(), &waiter, &mut story.scene.context()).unwrap()
            }
            _ => lease::orphan(&request, &waiter, lease::WaiterLoss::Silent, &mut story.scene.context()).unwrap(),
        }
    };
    for how in ["answer", "expire", "cancel", "supersede", "orphan"] {
        let mut story = Story::of(&leased);
        let session = story.resolve(&person(Role::Admin), r#"["drive"]"#).unwrap();
        story.pass(60);
        let effects = end(&mut story, how);
        let now = story.scene.now;
        assert!(effects.request.open_grants.is_empty(), "{how}");
        assert_eq!(effects.grants[0].revoked_at, Some(now), "{how}");
        let ended = &effects.sessions[0];
        let expected = if how == "expire" { SessionEnd::LeaseLapsed } else { SessionEnd::Revoked };
        assert_eq!((ended.session_ref, ended.close_reason), (session.session_ref, Some(expected)), "{how}");
        assert!(effects.timers.contains(&close(&session, now)), "{how}");
        let events: Vec<&str> = effects.events.iter().map(|event| event.event_type.as_str()).collect();
        assert!(events.contains(&"grant.revoked"), "{how}: {events:?}");
        if effects.receipt.is_some() {
            let listed = exercised(&effects);
            assert_eq!(listed.as_array().unwrap().len(), 1, "{how}");
        }
    }
}

#[test]
fn a_receipt_lists_every_session_with_its_real_times_and_what_the_provider_counted() {
    let mut story = Story::new();
    let admin = person(Role::Admin);
    let first = story.resolve(&admin, r#"["view"]"#).unwrap();
    story.pass(30);
    let seen = Usage { input_events: 7, navigations: vec!["app.example.com".to_owned()] };
    let released = release(&story.request, &story.grant(), &first, &admin, Some(seen), &story.scene.context()).unwrap();
    story.apply(released);
    let second = story.resolve(&admin, r#"["view","drive"]"#).unwrap();
    story.pass(45);
    let body = format!(
        r#"{{"values":{{"decision":"yes"}},"capability_uses":[{{"handle":"{}","session_ref":"{}"}}]}}"#,
        second.handle, second.session_ref
    );
    let settled = (story.request.clone(), story.waiter.clone());
    let effects = story.scene.answer(&settled, &admin, &body).unwrap();
    let listed = exercised(&effects);
    let [one, two] = listed.as_array().unwrap() else { panic!("{}", listed.to_text()) };
    let digest = story.grant().blast_radius_digest.to_string();
    let expected = |session: &GrantSession, scopes: &str, rest: &str| {
        json(&format!(
            r#"{{"handle":"{}","session_ref":"{}","scopes":{scopes},"role_at_grant":"admin",{rest},"blast_radius_digest":"{digest}"}}"#,
            session.handle, session.session_ref
        ))
    };
    let times = |from: u64, to: u64| {
        let at = |seconds| START.saturating_add(std::time::Duration::from_secs(seconds));
        format!(r#""resolved_at":"{}","released_at":"{}","held_ms":{}"#, at(from), at(to), (to - from) * 1000)
    };
    let counted = r#","close_reason":"released","input_events":7,"navigations":["app.example.com"]"#;
    assert_eq!(*one, expected(&first, r#"["view"]"#, &(times(0, 30) + counted)));
    assert_eq!(*two, expected(&second, r#"["view","drive"]"#, &(times(30, 75) + r#","close_reason":"revoked""#)));
}

#[test]
fn an_answer_may_name_only_sessions_of_its_author_on_this_request() {
    let admin = person(Role::Admin);
    let mut story = Story::new();
    let session = story.resolve(&admin, r#"["view"]"#).unwrap();
    let asked = (story.request.clone(), story.waiter.clone());
    let mut with_uses = |who: &Principal, handle: &str, session: &str| {
        let uses = format!(r#"[{{"handle":"{handle}","session_ref":"{session}"}}]"#);
        story.scene.answer(&asked, who, &with(YES, "capability_uses", &uses))
    };
    let (handle, named) = (session.handle.to_string(), session.session_ref.to_string());
    for (who, handle, named) in [
        (&person_of(9, Role::Admin), handle.as_str(), named.as_str()),
        (&admin, "hg_01K3M7QW8ZC4YRXB2N6VD9FTHG", named.as_str()),
        (&admin, handle.as_str(), "hs_01K3MB2R4S8ZC4YRXB2N6VD9FT"),
        (&admin, handle.as_str(), "hs_x"),
        (&admin, "x", named.as_str()),
    ] {
        assert_eq!(code(with_uses(who, handle, named)), ErrorCode::InvalidRequest, "{handle} {named}");
    }
    let _accepted = with_uses(&admin, &handle, &named).unwrap();
    let many = with(YES, "capability_uses", &format!("[{}]", vec!["{}"; 17].join(",")));
    assert_eq!(code(Answer::read(&admin, json(&many))), ErrorCode::InvalidRequest);
}

#[test]
fn revoking_is_for_the_holder_and_for_whoever_could_hold_it() {
    let command = Revoke::read(&person(Role::Viewer), &json(r#"{"reason":"done"}"#)).unwrap();
    let take = |story: &mut Story, who: &Principal| {
        let (request, grant) = (story.request.clone(), story.grant());
        revoke(&request, &grant, &command, who, &story.scene.context())
    };
    let mut story = Story::new();
    assert_eq!(code(take(&mut story, &person_of(9, Role::Editor))), ErrorCode::InsufficientAuthority);
    let session = story.resolve(&person(Role::Viewer), r#"["view"]"#).unwrap();
    let effects = take(&mut story, &person(Role::Viewer)).unwrap();
    assert_eq!(effects.grants[0].revoke_reason.as_deref(), Some("done"));
    assert_eq!(effects.sessions[0].close_reason, Some(SessionEnd::Revoked));
    assert!(effects.request.open_grants.is_empty());
    let data = Json::Object(effects.events[0].data.clone()).to_text();
    assert!(!data.contains("done") && !data.contains(&session.session_ref.to_string()), "{data}");
    story.apply(effects);
    let again = take(&mut story, &person_of(9, Role::Admin)).unwrap();
    assert!(again.grants.is_empty() && again.events.is_empty(), "revoking twice is revoking once");
    assert_eq!(code(Revoke::read(&machine(), &json("{}"))), ErrorCode::RequesterMayNotAnswer);
}

#[test]
fn an_amendment_keeps_the_grants_that_it_still_asks_for_and_mints_and_revokes_the_others() {
    let two = format!(r#"[{SURFACE},{{"type":"document","scope":"view"}}]"#);
    let mut story = Story::of(&with(&approve(), "requires.capabilities", &two));
    let session = story.resolve(&person(Role::Admin), r#"["view"]"#).unwrap();
    let change = |story: &mut Story, capabilities: &str, radius: BlastRadius| {
        let requires =
            json(&with(&approve(), "requires.capabilities", capabilities)).get("requires").unwrap().to_text();
        let command =
            Amend::read(&machine(), json(&format!(r#"{{"requires":{requires}}}"#)), &Policy::default()).unwrap();
        let radii = vec![radius; command.capabilities().len()];
        let command = command.with_blast_radii(radii);
        amend(&story.request.clone(), &command, &machine(), &story.waiter.clone(), &mut story.scene.context()).unwrap()
    };
    let kept =
        change(&mut story, &format!(r#"[{{"type":"document","scope":"drive"}},{SURFACE}]"#), BlastRadius::unknown());
    assert_eq!(kept.grants.len(), 2, "one is new, one is revoked");
    let fresh: Vec<&Grant> = kept.grants.iter().filter(|grant| grant.revoked_at.is_none()).collect();
    assert_eq!(kept.request.open_grants, [fresh[0].handle, session.handle]);
    assert!(kept.sessions.is_empty(), "the session of what stays goes on");
    let served = kept.request.requires.get("capabilities").and_then(Json::as_array).unwrap();
    assert_eq!(served[1].get("handle"), Some(&Json::from(session.handle.to_string())));

    let other = BlastRadius { summary: "More than before".to_owned(), ..BlastRadius::unknown() };
    let changed = change(&mut story, &two, other);
    assert_eq!(changed.sessions[0].close_reason, Some(SessionEnd::Revoked), "nobody accepted what it touches now");
    let none = change(&mut story, "[]", BlastRadius::unknown());
    assert!(none.request.open_grants.is_empty() && none.request.granted);
}

#[test]
fn whoever_acts_in_a_session_began_to_answer_until_it_is_over() {
    let mut story = Story::new();
    let session = story.resolve(&person(Role::Admin), r#"["view","drive"]"#).unwrap();
    let amended = |story: &mut Story| {
        let command = Amend::read(&machine(), json(r#"{"prompt":{"title":"?"}}"#), &Policy::default()).unwrap();
        amend(&story.request.clone(), &command, &machine(), &story.waiter.clone(), &mut story.scene.context())
    };
    assert_eq!(code(amended(&mut story)), ErrorCode::RequestInProgress);
    story.pass(121);
    let _amended = amended(&mut story).unwrap();
    assert!(story.scene.now > session.lease_until, "a lease that ran out is no session any more");
}

#[test]
fn what_a_provider_says_beyond_the_limits_is_the_providers_fault() {
    let fine = BlastRadius {
        summary: "é".repeat(300),
        shared_with: SharedWith::Isolated,
        principals: Some(0),
        identities: vec![Identity { origin: "x".repeat(256), label: Some("x".repeat(200)) }; 100],
        reversible: None,
        note: Some("x".repeat(1000)),
    };
    fine.clone().checked().unwrap();
    let one_more = |change: fn(&mut BlastRadius)| {
        let mut radius = fine.clone();
        change(&mut radius);
        radius.checked().unwrap_err().to_string()
    };
    assert!(one_more(|radius| radius.summary.push('x')).contains("summary"));
    assert!(one_more(|radius| radius.note = Some("x".repeat(1001))).contains("note"));
    assert!(one_more(|radius| radius.principals = Some(1 << 53)).contains("principals"));
    assert!(
        one_more(|radius| radius.identities.push(Identity { origin: "x".to_owned(), label: None }))
            .contains("identities")
    );
    assert!(one_more(|radius| radius.identities[0].origin.push('x')).contains("origin"));
    assert!(one_more(|radius| radius.identities[0].label = Some("x".repeat(201))).contains("label"));
}

#[test]
fn the_digest_of_a_blast_radius_is_over_its_canonical_text() {
    let radius = BlastRadius {
        summary: "s".to_owned(),
        shared_with: SharedWith::Space,
        principals: Some(4),
        identities: Vec::new(),
        reversible: Some(false),
        note: None,
    };
    let text = r#"{"principals":4,"reversible":false,"shared_with":"space","summary":"s"}"#;
    assert_eq!(radius.digest(), Digest::of(text));
}

#[test]
fn a_transition_without_capabilities_says_nothing_of_any() {
    let mut scene = Scene::new();
    let asked = scene.raise(&approve());
    assert!(!asked.0.granted && scene.capabilities == Capabilities::NONE);
    let command = Answer::read(&person(Role::Admin), json(YES)).unwrap();
    let effects =
        answer(&asked.0, &command, &person(Role::Admin), &asked.1, &Head::GENESIS, &mut scene.context()).unwrap();
    assert!(effects.grants.is_empty() && effects.sessions.is_empty());
    assert_eq!(exercised(&effects).to_text(), "[]");
}

#[test]
fn a_step_begins_the_window_of_the_grants_afresh_and_the_same_question_still_joins() {
    let two =
        r#"{"name":"decision","type":"choice","options":[{"id":"yes","label":"Yes"}]},{"name":"why","type":"text"}"#;
    let body = with(&super::scene::ask(two), "requires.capabilities", &format!("[{SURFACE}]"));
    let mut story = Story::of(&body);
    story.pass(500);
    let asked = (story.request.clone(), story.waiter.clone());
    let step = story.scene.answer(&asked, &person(Role::Admin), &with(YES, "partial", "true")).unwrap();
    assert_eq!(step.grants[0].expires_at.since(story.scene.now).as_secs(), 600);
    story.apply(step);
    // What is served has our handles in it, and is the same question all the same.
    let command = Raise::read(&machine(), json(&body), &Policy::default()).unwrap();
    let command = command.with_blast_radii(vec![BlastRadius::unknown()]);
    let pending = story.request.clone();
    let joined = join(&command, &machine(), &pending, Some(&story.waiter), &mut story.scene.context()).unwrap();
    assert_eq!(joined.request.version, pending.version);
    let other = with(&body, "requires.capabilities", &format!("[{SURFACE},{SURFACE}]"));
    let command = Raise::read(&machine(), json(&other), &Policy::default()).unwrap();
    let command = command.with_blast_radii(vec![BlastRadius::unknown(); 2]);
    let refused = join(&command, &machine(), &pending, Some(&story.waiter), &mut story.scene.context());
    assert_eq!(code(refused), ErrorCode::RequestInProgress);
}
