//! Policies: a document is read whole or refused whole, and applies to raises only (section 24).

use std::sync::Arc;

use handoff_protocol::{
    callback::CallbackSecret,
    decision::{
        CallbackPolicy, ErrorCode, Policy, Raise, Request,
        capability::BlastRadius,
        raise,
        tenant_policy::{TenantPolicy, VersionedPolicy},
        terms::{Liveness, OnExpiry, SharedWith, Urgency, WaiterTerminal},
    },
    duration::ExactDuration,
    id::{OrgId, PrincipalId},
    principal::{AuthStrength, Role},
};

use super::scene::{Scene, YES, approve, json, link, machine, person, tenant, with};

/// The contract's example, for this tenant.
pub(crate) fn document() -> String {
    r#"{"v":1,"org_id":"ORG","updated_at":"2026-01-01T00:00:00Z","updated_by":"usr_01K3M7QW8ZC4YRXB2N6VD9FTHE",
    "defaults":{"ttl":null,"attempt_ttl":"PT15M","ttl_policy":{"on_expiry":"expire_and_deny"},"liveness":"durable",
        "on_waiter_terminal":"keep","mode":"advisory"},
    "authority_floors":{"min_role":"viewer","min_auth_strength":"session","allow_link_only":false,"secret_field_min_role":"admin"},
    "routing":{"default_targets":[{"kind":"role","value":"editor"}],
        "ladders":{"high":{"targets":[{"kind":"role","value":"editor"}],"ladder":[
            {"after":"PT0S","channels":["inapp","push"]},{"after":"PT5M","channels":["chat","email"]},
            {"after":"PT15M","channels":["voice"],"to":{"kind":"rotation","value":"oncall"}}]}},
        "allow_request_override":false,
        "quiet_hours":[{"channels":["voice","push"],"from":"22:00","to":"07:00","timezone":"Europe/Berlin","override_urgency":"critical"}]},
    "channels":[{"channel":"inapp","max_grade":"acted","can_authenticate_person":true},
        {"channel":"voice","max_grade":"delivered","can_authenticate_person":false,"requires_binding":true}],
    "callbacks":{"endpoints":[{"url":"https://api.acme.com/handoff/signals","secret_refs":["whsec_ref_a","whsec_ref_b"],
        "state":"active","max_attempts":12,"timeout_seconds":10}],"replay_window_seconds":300},
    "capabilities":{"grant_ttl":"PT15M","session_lease":"PT2M","max_shared_with":"space","record_navigations":"origin"},
    "retention":{"receipts":"P365D","rendered_copies":"P90D","delivery_attempts":"P1Y6MT12H"},
    "x-extensions":{"any":["thing"]}}"#
        .replace("ORG", &tenant().to_string())
}

fn read(text: &str) -> Result<TenantPolicy, String> {
    TenantPolicy::read(json(text), tenant()).map_err(|error| error.to_string())
}

/// A scene of a tenant that has a policy.
fn under(text: &str) -> Scene {
    let mut scene = Scene::climbing();
    scene.policy.tenant = Some(Arc::new(VersionedPolicy { version: 3, policy: read(text).unwrap() }));
    scene.policy.callbacks = deployment();
    scene
}

fn minimal(member: &str, value: &str) -> String {
    with(&format!(r#"{{"v":1,"org_id":"{}"}}"#, tenant()), member, value)
}

fn raised(scene: &mut Scene, body: &str) -> Request {
    scene.raise(body).0
}

#[test]
fn the_contracts_document_is_read_whole() {
    let policy = read(&document()).unwrap();
    assert_eq!(policy.routing.ladders.len(), 1);
    assert_eq!(policy.callbacks[0].secret_refs, ["whsec_ref_a", "whsec_ref_b"]);
    assert_eq!(policy.capabilities.max_shared_with, Some(SharedWith::Space));
    assert_eq!(policy.retention.delivery_attempts.as_deref(), Some("P1Y6MT12H"));
    assert_eq!(policy.document().get("x-extensions").unwrap().to_text(), r#"{"any":["thing"]}"#);
    assert_eq!(policy.digest(), read(&format!(" {} ", document())).unwrap().digest());
    read(&format!(r#"{{"v":1,"org_id":"{}"}}"#, tenant())).unwrap();
}

#[test]
fn a_version_that_is_not_known_is_refused_before_anything_else() {
    for version in ["2", "0", "null", "\"1\"", "1.5"] {
        let refused = read(&with(r#"{"v":1,"org_id":"nobody","unheard_of":true}"#, "v", version)).unwrap_err();
        assert_eq!(refused, "`v` must be 1, the one version of policies that this server understands", "{version}");
    }
    assert!(read("{}").is_err() && read("[]").is_err());
}

#[test]
fn a_document_with_one_fault_is_refused_by_the_place_of_it() {
    for (member, value, place) in [
        ("org_id", r#""org_01K0A2QW8ZC4YRXB2N6VD9FTHE""#, "org_id"),
        ("unheard_of", "1", "unheard_of"),
        ("defaults.mode", r#""gated""#, "defaults.mode"),
        ("defaults.ttl", r#""P1M""#, "defaults.ttl"),
        ("defaults.ttl_policy", r#"{"on_expiry":"default"}"#, "defaults.ttl_policy.default_answer"),
        ("defaults.authority", r#"{"forbid_requester":false}"#, "defaults.authority.forbid_requester"),
        ("authority_floors.secret_field_min_role", r#""editor""#, "authority_floors.secret_field_min_role"),
        ("routing.ladders.extreme", "{}", "routing.ladders.extreme"),
        (
            "routing.quiet_hours",
            r#"[{"channels":["x"],"from":"24:00","to":"07:00","timezone":"UTC"}]"#,
            "routing.quiet_hours[0].from",
        ),
        (
            "routing.quiet_hours",
            r#"[{"channels":["x"],"from":"22:00","to":"7:00","timezone":"UTC"}]"#,
            "routing.quiet_hours[0].to",
        ),
        (
            "routing.quiet_hours",
            r#"[{"channels":["x"],"from":"22:00","to":"07:00","timezone":"Berlin"}]"#,
            "routing.quiet_hours[0].timezone",
        ),
        (
            "routing.quiet_hours",
            r#"[{"channels":[],"from":"22:00","to":"07:00","timezone":"UTC"}]"#,
            "routing.quiet_hours[0].channels",
        ),
        (
            "routing.quiet_hours",
            r#"[{"channels":["x"],"from":"22:00","to":"07:00","timezone":"UTC","override_urgency":"high"}]"#,
            "routing.quiet_hours[0].override_urgency",
        ),
        ("channels", r#"[{"channel":"x","max_grade":"read","can_authenticate_person":true}]"#, "channels[0].max_grade"),
        (
            "channels",
            r#"[{"channel":"x","max_grade":"seen","can_authenticate_person":false},
                {"channel":"x","max_grade":"acted","can_authenticate_person":false}]"#,
            "channels[1].channel",
        ),
        ("channels", r#"[{"channel":"x","max_grade":"seen"}]"#, "channels[0].can_authenticate_person"),
        ("callbacks.replay_window_seconds", "600", "callbacks.replay_window_seconds"),
        ("callbacks.endpoints", r#"[{"url":"https://user:hunter2@a.example"}]"#, "callbacks.endpoints[0].url"),
        ("callbacks.endpoints", r#"[{"url":"ftp://a.example"}]"#, "callbacks.endpoints[0].url"),
        (
            "callbacks.endpoints",
            r#"[{"url":"https://a.example","secret_refs":["a","b","c"]}]"#,
            "callbacks.endpoints[0].secret_refs",
        ),
        (
            "callbacks.endpoints",
            r#"[{"url":"https://a.example","secret_refs":["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]}]"#,
            "callbacks.endpoints[0].secret_refs[0]",
        ),
        ("callbacks.endpoints", r#"[{"url":"https://a.example","secret":"hunter2"}]"#, "callbacks.endpoints[0].secret"),
        ("capabilities.max_shared_with", r#""world""#, "capabilities.max_shared_with"),
        ("retention.receipts", r#""P""#, "retention.receipts"),
        ("retention.receipts", r#""-P1D""#, "retention.receipts"),
        ("retention.receipts", r#""PT""#, "retention.receipts"),
        ("updated_at", r#""yesterday""#, "updated_at"),
    ] {
        let refused = read(&minimal(member, value)).unwrap_err();
        assert!(refused.starts_with(&format!("`{place}` ")), "{member} {value}: {refused}");
        assert!(!refused.contains("hunter2") && !refused.contains("MfKQ"), "{refused}");
    }
}

#[test]
fn defaults_hold_where_a_raise_says_nothing() {
    let text = minimal(
        "defaults",
        r#"{"ttl":"PT2H","ttl_policy":{"on_expiry":"expire_and_deny"},"attempt_ttl":"PT1M","liveness":"leased",
            "on_waiter_terminal":"keep","authority":{"min_role":"admin"}}"#,
    );
    let mut scene = under(&text);
    let request = raised(&mut scene, &approve());
    assert_eq!(request.ttl, Some(ExactDuration::from_hours(2)));
    assert_eq!(request.ttl_policy.as_ref().unwrap().on_expiry, OnExpiry::ExpireAndDeny);
    assert_eq!(request.attempt_ttl, ExactDuration::from_minutes(1));
    assert_eq!((request.liveness, request.on_waiter_terminal), (Liveness::Leased, WaiterTerminal::Keep));
    assert_eq!(request.requires().unwrap().authority.min_role, Role::Admin);
    assert!(request.requires.get("authority").is_none(), "what is served is what was declared (D-7)");
    let said = with(&with(&approve(), "ttl", r#""PT1H""#), "requires.authority", r#"{"min_role":"viewer"}"#);
    let said = with(&with(&said, "liveness", r#""durable""#), "ttl_policy", r#"{"on_expiry":"park"}"#);
    let request = raised(&mut scene, &said);
    assert_eq!((request.ttl, request.liveness), (Some(ExactDuration::from_hours(1)), Liveness::Durable));
    assert_eq!(request.ttl_policy.as_ref().unwrap().on_expiry, OnExpiry::Park);
    assert_eq!(request.requires().unwrap().authority.min_role, Role::Viewer);
}

#[test]
fn a_standing_default_answer_must_fit_the_request_that_it_falls_on() {
    let text = minimal(
        "defaults",
        r#"{"ttl":"PT1H","ttl_policy":{"on_expiry":"default","default_answer":{"decision":"no"}}}"#,
    );
    let mut scene = under(&text);
    let request = raised(&mut scene, &approve());
    assert_eq!(request.ttl_policy.unwrap().default_answer.unwrap().to_text(), r#"{"decision":"no"}"#);
    let other = super::scene::ask(r#"{"name":"amount","type":"number","required":true}"#);
    let refused = Raise::read(&machine(), json(&other), &scene.policy).unwrap_err();
    assert!(refused.to_string().starts_with("`ttl_policy` must be given"), "{refused}");
}

#[test]
fn floors_raise_and_never_lower_and_outlast_the_policy() {
    let floors = minimal("authority_floors", r#"{"min_role":"editor","min_auth_strength":"reauth"}"#);
    let mut scene = under(&floors);
    let low =
        scene.raise(&with(&approve(), "requires.authority", r#"{"min_role":"viewer","auth_strength":"session"}"#));
    let high =
        raised(&mut scene, &with(&approve(), "requires.authority", r#"{"min_role":"admin","auth_strength":"mfa"}"#));
    scene.policy.tenant = None;
    let authority = low.0.requires().unwrap().authority;
    assert_eq!((authority.min_role, authority.auth_strength), (Role::Editor, AuthStrength::Reauth));
    let authority = high.requires().unwrap().authority;
    assert_eq!((authority.min_role, authority.auth_strength), (Role::Admin, AuthStrength::Mfa));
    let refused = scene.answer(&low, &person(Role::Viewer), YES).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
}

#[test]
fn links_answer_where_deployment_and_policy_both_permit_it() {
    let body = with(&approve(), "requires.authority.auth_strength", r#""link_only""#);
    for (floors, permitted, code) in [
        (r#"{"min_auth_strength":"link_only","allow_link_only":true}"#, true, None),
        (
            r#"{"min_auth_strength":"link_only","allow_link_only":true}"#,
            false,
            Some(ErrorCode::AuthStrengthNotPermitted),
        ),
        (r#"{"min_auth_strength":"link_only"}"#, true, Some(ErrorCode::AuthStrengthNotPermitted)),
        ("{}", true, Some(ErrorCode::InsufficientAuthority)),
    ] {
        let mut scene = under(&minimal("authority_floors", floors));
        scene.policy.link_only_permitted = permitted;
        let raised = scene.raise(&body);
        let outcome = scene.answer(&raised, &link(AuthStrength::LinkOnly), YES);
        assert_eq!(outcome.err().map(|error| error.code()), code, "{floors} {permitted}");
    }
}

#[test]
fn urgency_chooses_the_ladder_and_the_request_keeps_it() {
    let mut scene = under(&document());
    let high = raised(&mut scene, &with(&approve(), "urgency", r#""high""#));
    let channels: Vec<_> = high.routing.ladder.iter().map(|rung| rung.channels.join("+")).collect();
    assert_eq!(channels, ["inapp+push", "chat+email", "voice"]);
    assert_eq!((high.terms.as_ref().unwrap().version, high.urgency), (3, Urgency::High));
    let normal = raised(&mut scene, &approve());
    assert_eq!(normal.routing.ladder.len(), 3, "the deployment's rungs");
    assert_eq!(normal.routing.targets[0].value, "editor", "to the policy's people");
    let event = &scene.raise_effects(json(&approve())).events[0];
    assert_eq!(event.data.get("policy_version").unwrap().to_text(), "3");
}

#[test]
fn a_request_may_choose_its_people_only_where_the_policy_lets_it() {
    let body = with(&approve(), "routing", r#"{"targets":[{"kind":"role","value":"admin"}]}"#);
    let refused = Raise::read(&machine(), json(&body), &under(&document()).policy).unwrap_err();
    assert!(refused.to_string().starts_with("`routing` must be left out"), "{refused}");
    for text in
        [with(&document(), "routing.allow_request_override", "true"), format!(r#"{{"v":1,"org_id":"{}"}}"#, tenant())]
    {
        let request = raised(&mut under(&text), &body);
        assert_eq!(request.routing.targets[0].value, "admin");
    }
}

#[test]
fn a_policy_of_another_tenant_is_no_policy_of_this_one() {
    let other = OrgId::parse("org_01K0A2QW8ZC4YRXB2N6VD9FTHE").unwrap();
    assert!(TenantPolicy::read(json(&document()), other).is_err());
}

#[test]
fn what_no_raise_could_ask_for_no_policy_can() {
    let policy = minimal("defaults", r#"{"authority":{"quorum":6}}"#);
    let problem = read(&policy).unwrap().check(&Policy::default()).unwrap_err().to_string();
    assert_eq!(problem, "`defaults.authority.quorum` must be from 1 to 5 on this server");
    assert!(read(&policy).unwrap().check(&Policy { max_quorum: 6, ..Policy::default() }).is_ok());
    // A policy that was in force before the deployment took less falls on nobody unseen.
    let scene = under(&policy);
    let refused =
        |body: &str| Raise::read(&machine(), json(body), &scene.policy).map(drop).map_err(|error| error.to_string());
    let problem = refused(&approve()).unwrap_err();
    assert!(problem.starts_with("`requires.authority` must be given, with a `quorum` from 1 to 5"), "{problem}");
    assert_eq!(refused(&with(&approve(), "requires.authority", r#"{"min_role":"editor"}"#)), Ok(()));
    let targets: Vec<String> = (0..50).map(|number| format!(r#"{{"kind":"group","value":"{number}"}}"#)).collect();
    let routing = format!(
        r#"{{"ladders":{{"high":{{"targets":[{}],"ladder":[{{"after":"PT0S","channels":["a","b","c","d","e"]}}]}}}}}}"#,
        targets.join(",")
    );
    let problem = read(&minimal("routing", &routing)).unwrap().check(&Policy::default()).unwrap_err().to_string();
    assert!(problem.starts_with("`routing.ladders.high` must come to 200 deliveries at the most"), "{problem}");
    let scene = under(&minimal("routing", &routing));
    let urgent = with(&approve(), "urgency", r#""high""#);
    let problem = Raise::read(&machine(), json(&urgent), &scene.policy).unwrap_err().to_string();
    assert!(problem.starts_with("`routing` must come to 200"), "{problem}");
}

#[test]
fn a_policy_names_secrets_and_carries_none() {
    const HUNTER: &str = "whsec_MfKQ9r8GKYqrTwjUPD8-LPZIo2La_aSw";
    let key = format!("hk_{}", "aB3-".repeat(11));
    for (member, value, place) in [
        ("x-extensions", format!(r#"{{"deep":[{{"note":"use {HUNTER} please"}}]}}"#), "x-extensions.deep[0].note"),
        ("x-extensions", format!(r#"{{"{HUNTER}":1}}"#), "x-extensions"),
        ("x-extensions", format!(r#"{{"key":"{key}"}}"#), "x-extensions.key"),
        ("x-extensions", r#"{"key":"-----BEGIN PRIVATE KEY-----"}"#.to_owned(), "x-extensions.key"),
        ("defaults.authority", format!(r#"{{"reason":"{HUNTER}"}}"#), "defaults.authority.reason"),
        (
            "channels",
            format!(
                r#"[{{"channel":"x","max_grade":"seen","can_authenticate_person":false,"config_ref":"{HUNTER}"}}]"#
            ),
            "channels[0].config_ref",
        ),
        (
            "callbacks.endpoints",
            format!(r#"[{{"url":"https://a.example/?token={HUNTER}"}}]"#),
            "callbacks.endpoints[0].url",
        ),
        (
            "callbacks.endpoints",
            r#"[{"url":"https://a.example/hook/MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}]"#.to_owned(),
            "callbacks.endpoints[0].url",
        ),
        (
            "callbacks.endpoints",
            format!(r#"[{{"url":"https://a.example","secret_refs":["{}"]}}]"#, "3f2a9c".repeat(8)),
            "callbacks.endpoints[0].secret_refs[0]",
        ),
        (
            "callbacks.endpoints",
            r#"[{"url":"https://a.example","secret_refs":["whsec_hunter2hunter2"]}]"#.to_owned(),
            "callbacks.endpoints[0].secret_refs[0]",
        ),
        // A name that nobody knows is not shown where it is a secret.
        (HUNTER, "1".to_owned(), ""),
    ] {
        let refused = read(&minimal(member, &value)).unwrap_err();
        let begins = if place.is_empty() { "the body ".to_owned() } else { format!("`{place}` ") };
        assert!(refused.starts_with(&begins), "{place}: {refused}");
        for secret in ["MfKQ", "hunter2", "aB3-", "3f2a9c"] {
            assert!(!refused.contains(secret), "{refused}");
        }
    }
}

/// A deployment with one unnamed secret and a few sets.
fn deployment() -> CallbackPolicy {
    let secret = |text: &str| CallbackSecret::new(text).unwrap();
    CallbackPolicy {
        secrets: vec![secret("plain words")],
        named: ["erp", "whsec_ref_a", "whsec_ref_b"].map(|name| (name.to_owned(), vec![secret("other words")])).into(),
        ..CallbackPolicy::default()
    }
}

#[test]
fn a_policy_that_asks_for_what_is_not_done_is_refused_by_the_place_of_it() {
    let endpoint = |more: &str| format!(r#"[{{"url":"https://a.example"{more}}}]"#);
    for (member, value, place) in [
        ("retention", r#"{"receipts":"P1Y"}"#.to_owned(), "retention.receipts"),
        ("retention", r#"{"delivery_attempts":"P30D"}"#.to_owned(), "retention.delivery_attempts"),
        (
            "channels",
            r#"[{"channel":"x","max_grade":"seen","can_authenticate_person":false,"config_ref":"y"}]"#.to_owned(),
            "channels[0].config_ref",
        ),
        ("capabilities", r#"{"record_navigations":"full_url"}"#.to_owned(), "capabilities.record_navigations"),
        ("capabilities", r#"{"record_navigations":"none"}"#.to_owned(), "capabilities.record_navigations"),
        ("callbacks.endpoints", endpoint(r#","max_attempts":12"#), "callbacks.endpoints[0].max_attempts"),
        ("callbacks.endpoints", endpoint(r#","timeout_seconds":30"#), "callbacks.endpoints[0].timeout_seconds"),
        ("callbacks.endpoints", endpoint(r#","secret_refs":["nope"]"#), "callbacks.endpoints[0].secret_refs[0]"),
        ("callbacks.endpoints", endpoint(r#","secret_refs":["erp","erp"]"#), "callbacks.endpoints[0].secret_refs"),
        (
            "callbacks.endpoints",
            r#"[{"url":"https://a.example"},{"url":"https://b.example"}]"#.to_owned(),
            "callbacks.endpoints[1].state",
        ),
        ("x-extensions", r#"{"a":"these are other words."}"#.to_owned(), "x-extensions.a"),
    ] {
        let refused = read(&minimal(member, &value)).unwrap().check_carried_out(&deployment()).unwrap_err();
        assert_eq!(refused.path, place, "{member} {value}");
        assert!(!refused.to_string().contains("other words"));
    }
    for (member, value) in [
        ("capabilities", r#"{"record_navigations":"origin","grant_ttl":"PT1H"}"#.to_owned()),
        ("callbacks.endpoints", endpoint(r#","timeout_seconds":10,"state":"active","secret_refs":["erp"]"#)),
        ("callbacks.endpoints", endpoint("")),
        ("callbacks.endpoints", endpoint(r#","state":"disabled","secret_refs":["nope"]"#)),
    ] {
        read(&minimal(member, &value)).unwrap().check_carried_out(&deployment()).unwrap();
    }
    let unsigned =
        read(&minimal("callbacks.endpoints", &endpoint(""))).unwrap().check_carried_out(&CallbackPolicy::default());
    assert_eq!(unsigned.unwrap_err().path, "callbacks.endpoints[0].secret_refs");
}

#[test]
fn a_policys_endpoint_is_where_the_tenants_signals_go_unless_a_raise_says_otherwise() {
    let text = minimal(
        "callbacks.endpoints",
        r#"[{"url":"https://off.example/x","state":"disabled"},{"url":"https://erp.example/x","secret_refs":["erp"]}]"#,
    );
    let mut scene = under(&text);
    let request = raised(&mut scene, &approve());
    let callback = request.callback.unwrap();
    assert_eq!((callback.url.as_str(), callback.secret_ref.as_deref()), ("https://erp.example/x", Some("erp")));
    let named = with(&approve(), "callback", r#"{"url":"https://own.example/"}"#);
    let callback = raised(&mut scene, &named).callback.unwrap();
    assert_eq!((callback.url.as_str(), callback.secret_ref), ("https://own.example/", None));
    for url in ["https://off.example/x", "HTTPS://OFF.example:443/x", "https://off.example/./x"] {
        let off = with(&approve(), "callback", &format!(r#"{{"url":"{url}"}}"#));
        let refused = Raise::read(&machine(), json(&off), &scene.policy).unwrap_err();
        assert!(refused.to_string().starts_with("`callback` must name another address"), "{refused}");
    }
}

#[test]
fn a_policys_endpoint_has_one_state_and_secrets_that_its_tenant_may_use() {
    let endpoint = r#"{"url":"https://a.example/x","secret_refs":["erp"]}"#;
    let twice = format!(r#"[{endpoint},{{"url":"https://A.example:443/x","state":"disabled"}}]"#);
    let refused = read(&minimal("callbacks.endpoints", &twice)).unwrap().check_carried_out(&deployment());
    assert_eq!(refused.unwrap_err().path, "callbacks.endpoints[0].url");
    let policy = read(&minimal("callbacks.endpoints", &format!("[{endpoint}]"))).unwrap();
    let owned_by = |owner: PrincipalId| CallbackPolicy { owners: [("erp".to_owned(), owner)].into(), ..deployment() };
    policy.check_carried_out(&owned_by(PrincipalId::Org(tenant()))).unwrap();
    let other = OrgId::parse("org_01K0A2QW8ZC4YRXB2N6VD9FTHE").unwrap();
    for owner in [PrincipalId::Org(other), machine().id().unwrap()] {
        let refused = policy.check_carried_out(&owned_by(owner)).unwrap_err();
        assert_eq!(refused.path, "callbacks.endpoints[0].secret_refs[0]");
    }
}

#[test]
fn capabilities_are_held_to_the_policys_limits() {
    let limits = r#"{"grant_ttl":"PT5M","session_lease":"PT30S","max_shared_with":"space"}"#;
    let mut scene = under(&minimal("capabilities", limits));
    let ask = |more: &str| {
        let capability = format!(r#"[{{"type":"document","scope":"view","provider":"files"{more}}}]"#);
        with(&approve(), "requires.capabilities", &capability)
    };
    let mut raise_with = |body: &str, shared_with: SharedWith| {
        let radius = BlastRadius { shared_with, ..BlastRadius::unknown() };
        let command = Raise::read(&machine(), json(body), &scene.policy).unwrap().with_blast_radii(vec![radius]);
        raise(&command, &machine(), None, &mut scene.context())
    };
    let effects = raise_with(&ask(""), SharedWith::Space).unwrap();
    let grant = &effects.grants[0];
    assert_eq!(
        (grant.ttl, grant.session_lease),
        (ExactDuration::from_minutes(5), Some(ExactDuration::from_seconds(30)))
    );
    let effects = raise_with(&ask(r#","ttl":"PT1M""#), SharedWith::Isolated).unwrap();
    assert_eq!(effects.grants[0].ttl, ExactDuration::from_minutes(1));
    let refused = raise_with(&ask(r#","ttl":"PT6M""#), SharedWith::Isolated).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidRequest);
    assert!(refused.to_string().starts_with("`requires.capabilities[0].ttl` must be at most PT5M"), "{refused}");
    let refused = raise_with(&ask(""), SharedWith::Org).unwrap_err();
    assert!(refused.to_string().starts_with("`requires.capabilities[0]` must name a resource"), "{refused}");
    for value in [r#"{"grant_ttl":"PT0S"}"#, r#"{"session_lease":"PT9S"}"#] {
        assert!(read(&minimal("capabilities", value)).is_err(), "{value}");
    }
}
