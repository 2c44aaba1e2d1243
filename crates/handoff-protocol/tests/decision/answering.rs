//! Answering: who may, in which order that is judged, and what a receipt says of it.

use handoff_protocol::{
    decision::{
        Answer, DecisionError, Effects, ErrorCode, Request, SealedReceipt, Target, TimerChange, Waiter,
        terms::{DeliveryState, Grade},
    },
    duration::ExactDuration,
    id::{DeliveryId, PrincipalId, Ulid},
    json::Json,
    principal::{AuthStrength, Principal, Role},
};

use super::scene::{START, Scene, YES, approve, json, link, machine, machine_of, person, person_of, with};

fn answer_to(body: &str, principal: &Principal) -> Result<Effects, DecisionError> {
    let mut scene = Scene::new();
    let raised = scene.raise(body);
    scene.answer(&raised, principal, YES)
}

fn receipt(effects: &Effects) -> Json {
    json(&effects.receipt.as_ref().unwrap().text)
}

fn at<'a>(document: &'a Json, path: &str) -> &'a Json {
    path.split('.').fold(document, |place, name| place.get(name).unwrap_or_else(|| panic!("no {path}")))
}

#[test]
fn a_machine_never_answers_whatever_it_is_and_whatever_is_wrong_besides() {
    for principal in [machine(), machine_of(9)] {
        for body in [YES, r#"{"values":{"decision":0.5}}"#, r#"{"values":{},"partial":true,"more":1}"#] {
            let refused = Answer::read(&principal, json(body)).unwrap_err();
            assert_eq!(refused.code(), ErrorCode::RequesterMayNotAnswer, "{body}");
        }
        for body in ["[]", "{}", r#"{"values":null}"#, r#"{"values":[]}"#] {
            assert_eq!(Answer::read(&principal, json(body)).unwrap_err().code(), ErrorCode::InvalidRequest, "{body}");
        }
    }
    // Also where a caller hands the transition an answer that a person's call was read into.
    let mut scene = Scene::new();
    let (request, waiter) = scene.raise(&approve());
    let command = Answer::read(&person(Role::Admin), json(YES)).unwrap();
    let head = handoff_protocol::chain::Head::GENESIS;
    let refused =
        handoff_protocol::decision::answer(&request, &command, &machine(), &waiter, &head, &mut scene.context());
    assert_eq!(refused.unwrap_err().code(), ErrorCode::RequesterMayNotAnswer);
}

#[test]
fn authority_comes_before_the_link_policy_and_both_before_values() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "requires.authority.min_role", r#""admin""#));
    let nonsense = r#"{"values":{"decision":"perhaps"}}"#;
    let code =
        |scene: &mut Scene, principal: &Principal| scene.answer(&raised, principal, nonsense).unwrap_err().code();
    assert_eq!(code(&mut scene, &person(Role::Editor)), ErrorCode::InsufficientAuthority);
    assert_eq!(code(&mut scene, &person(Role::Admin)), ErrorCode::AnswerValidationFailed);
    let by_link = with(&approve(), "requires.authority.auth_strength", r#""link_only""#);
    let raised = scene.raise(&by_link);
    let code = |scene: &mut Scene| scene.answer(&raised, &link(AuthStrength::LinkOnly), nonsense).unwrap_err().code();
    assert_eq!(code(&mut scene), ErrorCode::AuthStrengthNotPermitted);
    scene.policy.link_only_permitted = true;
    assert_eq!(code(&mut scene), ErrorCode::AnswerValidationFailed);
}

#[test]
fn a_role_is_met_by_itself_and_by_higher_ones() {
    let roles = [Role::Viewer, Role::Editor, Role::Admin];
    for needed in roles {
        let body = with(&approve(), "requires.authority.min_role", &format!("\"{}\"", needed.as_str()));
        for held in roles {
            let answered = answer_to(&body, &person(held));
            assert_eq!(answered.is_ok(), held >= needed, "{held:?} for {needed:?}");
            if let Err(refused) = answered {
                assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
                assert!(refused.request_id().is_some());
            }
        }
    }
}

#[test]
fn assignees_restrict_who_may_answer() {
    let me = person(Role::Editor);
    let target = |kind: &str, value: &str| format!(r#"{{"kind":"{kind}","value":"{value}"}}"#);
    let id = me.id().unwrap().to_string();
    let other = person_of(9, Role::Editor).id().unwrap().to_string();
    for (list, may) in [
        (vec![], true),
        (vec![target("principal", &id)], true),
        (vec![target("principal", &other)], false),
        (vec![target("principal", &other), target("principal", &id)], true),
        (vec![target("role", "viewer")], true),
        (vec![target("role", "editor")], true),
        (vec![target("role", "admin")], false),
        (vec![target("anyone", "*")], true),
    ] {
        let body = with(&approve(), "requires.authority.assignees", &format!("[{}]", list.join(",")));
        let answered = answer_to(&body, &me);
        assert_eq!(answered.is_ok(), may, "{list:?}");
        if !may {
            assert_eq!(answered.unwrap_err().code(), ErrorCode::InsufficientAuthority);
        }
    }
}

#[test]
fn a_link_is_worth_a_link_whatever_its_credential_says() {
    let mut scene = Scene::new();
    scene.policy.link_only_permitted = true;
    let asks_for_a_session = scene.raise(&approve());
    let by_link = scene.raise(&with(&approve(), "requires.authority.auth_strength", r#""link_only""#));
    for credential in [AuthStrength::LinkOnly, AuthStrength::Session, AuthStrength::Mfa] {
        let refused = scene.answer(&asks_for_a_session, &link(credential), YES).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InsufficientAuthority, "{credential:?}");
        let receipt = receipt(&scene.answer(&by_link, &link(credential), YES).unwrap());
        assert_eq!(at(&receipt, "actor.type").as_str(), Some("anonymous_link"));
        assert!(at(&receipt, "actor.principal_id").is_null());
        assert_eq!(at(&receipt, "actor.auth_strength").as_str(), Some("link_only"));
        assert_eq!(at(&receipt, "authority.satisfied").as_str(), Some("link_only"));
        assert!(at(&receipt, "clearance.actor").is_null());
        // Nobody was authenticated, so no delivery was acted on (V-2).
        assert!(at(&receipt, "via.grade_reached").is_null());
    }
}

#[test]
fn the_grade_of_a_link_is_refused_to_a_person_too_where_it_is_off() {
    let mut weak = person(Role::Admin);
    weak.strength = AuthStrength::LinkOnly;
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "requires.authority.auth_strength", r#""link_only""#));
    assert_eq!(scene.answer(&raised, &weak, YES).unwrap_err().code(), ErrorCode::AuthStrengthNotPermitted);
    let _settled = scene.answer(&raised, &person(Role::Viewer), YES).unwrap();
    scene.policy.link_only_permitted = true;
    let _settled = scene.answer(&raised, &weak, YES).unwrap();
}

#[test]
fn a_receipt_says_who_decided_what_and_how_they_were_known() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "requires.authority.min_role", r#""editor""#));
    let mut principal = person(Role::Admin);
    principal.on_behalf_of = Some(PrincipalId::User(handoff_protocol::id::UserId::from_ulid(Ulid::from_u128(77))));
    let effects = scene.answer(&raised, &principal, &with(YES, "note", r#""fine by me""#)).unwrap();
    let receipt = receipt(&effects);
    for (path, expected) in [
        ("kind", r#""decision""#.to_owned()),
        ("corrects", "null".to_owned()),
        (
            "decision",
            r#"{"values":{"decision":"yes"},"disposition":"decide","note":"fine by me","delegated_to":null}"#
                .to_owned(),
        ),
        ("actor.type", r#""user""#.to_owned()),
        ("actor.principal_id", format!("\"{}\"", principal.id().unwrap())),
        ("actor.role_at_decision", r#""admin""#.to_owned()),
        ("actor.on_behalf_of", format!("\"{}\"", principal.on_behalf_of.unwrap())),
        ("authority.satisfied", r#""session""#.to_owned()),
        ("authority.required.min_role", r#""editor""#.to_owned()),
        ("clearance.source", r#""human_assertion""#.to_owned()),
        ("clearance.actor", format!("\"{}\"", principal.id().unwrap())),
        ("waiter_state_at_decision", r#""armed""#.to_owned()),
        ("request_version", "1".to_owned()),
        ("request_digest", format!("\"{}\"", raised.0.request_digest().unwrap())),
        ("rendered.digest", format!("\"{}\"", raised.0.rendered_digest().unwrap())),
        ("rendered.diverged", "false".to_owned()),
        ("via.grade_reached", r#""acted""#.to_owned()),
        ("steps", "[]".to_owned()),
    ] {
        assert_eq!(at(&receipt, path).to_text(), expected, "{path}");
    }
    // Null is written down, not left out (P-6).
    let effects = scene.answer(&raised, &person(Role::Admin), YES).unwrap();
    assert!(at(&json(&effects.receipt.unwrap().text), "actor.on_behalf_of").is_null());
}

#[test]
fn one_answer_mints_one_of_everything() {
    let mut scene = Scene::new();
    let digest = format!("\"sha256:{}\"", "ab".repeat(32));
    let body = with(&with(&approve(), "effect_digest", &digest), "ttl", r#""PT1H""#);
    let raised = scene.raise(&body);
    let effects = scene.answer(&raised, &person(Role::Viewer), YES).unwrap();
    let authorization = effects.authorization.as_ref().unwrap();
    let SealedReceipt { id: receipt_id, link, .. } = *effects.receipt.as_ref().unwrap();
    assert_eq!(link.height, 1);
    assert!(authorization.single_use && authorization.redemptions.is_empty());
    assert_eq!(authorization.grants.to_text(), r#"{"decision":"yes"}"#);
    assert_eq!(authorization.expires_at, START.saturating_add(ExactDuration::from_hours(24)));
    assert_eq!(authorization.bound_to.waiter_ref, raised.0.waiter_ref);
    assert_eq!(format!("\"{}\"", authorization.bound_to.effect_digest.as_ref().unwrap().as_str()), digest);
    let [signal] = effects.signals.as_slice() else { panic!("one signal, never two") };
    let decision = signal.decision.as_ref().unwrap();
    assert_eq!((decision.receipt_id, decision.authorization_id), (Some(receipt_id), Some(authorization.id)));
    assert_eq!((signal.sequence, effects.waiter.as_ref().unwrap().last_sequence), (1, 1));
    assert_eq!(effects.request.authorization, Some(authorization.id));
    assert_eq!(effects.request.answered_at, Some(START));
    assert_eq!(effects.timers, [TimerChange::ClearDeadline]);
    let [event] = effects.events.as_slice() else { panic!("one event") };
    assert_eq!(event.event_type.as_str(), "request.answered");
    assert!(!Json::Object(event.data.clone()).to_text().contains("yes"));
}

#[test]
fn an_answer_after_the_deadline_and_before_its_sweep_wins() {
    let mut scene = Scene::new();
    let raised = scene.raise(&with(&approve(), "ttl", r#""PT1S""#));
    scene.now = START.saturating_add(ExactDuration::from_hours(1));
    let _settled = scene.answer(&raised, &person(Role::Viewer), YES).unwrap();
}

#[test]
fn what_was_shown_is_recorded_and_another_digest_says_so() {
    let mut scene = Scene::new();
    let raised = scene.raise(&approve());
    let shown = raised.0.rendered_digest().unwrap().to_string();
    for (echoed, diverged) in [(shown, "false"), (format!("sha256:{}", "0".repeat(64)), "true")] {
        let body = with(YES, "rendered_digest", &format!("\"{echoed}\""));
        let effects = scene.answer(&raised, &person(Role::Viewer), &body).unwrap();
        assert_eq!(at(&receipt(&effects), "rendered.diverged").to_text(), diverged);
        assert_eq!(at(&receipt(&effects), "rendered.binding").as_str(), Some("advisory"));
        // The copy is kept under the reference that the receipt names, and has the digest that it names.
        let copy = &effects.renderings[0];
        assert_eq!(at(&receipt(&effects), "rendered.ref").as_str(), Some(copy.id.to_string().as_str()));
        assert_eq!(handoff_protocol::digest::Digest::of(copy.text.as_bytes()), copy.digest);
    }
}

/// A request with a delivery through each of these channels, to each of these people, sent or listed.
fn reached(scene: &mut Scene, to: &[(&str, u128)]) -> (Request, Waiter) {
    let mut raised = scene.raise(&approve());
    let pattern = raised.0.deliveries[0].clone();
    let deliveries = to.iter().zip(100..).map(|((channel, who), id)| {
        let mut delivery = pattern.clone();
        delivery.id = DeliveryId::from_ulid(Ulid::from_u128(id));
        delivery.channel = (*channel).to_owned();
        delivery.target = Target::person(person_of(*who, Role::Viewer).id().unwrap());
        if *channel != "inapp" {
            (delivery.max_grade, delivery.can_authenticate_person) = (Grade::Delivered, false);
        }
        (delivery.state, delivery.grade_reached) = (DeliveryState::Dispatched, Some(Grade::Dispatched));
        delivery
    });
    raised.0.deliveries = deliveries.collect();
    raised
}

#[test]
fn an_answer_is_never_said_to_have_come_by_what_was_for_somebody_else() {
    let mut scene = Scene::new();
    let unknown = with(YES, "via_delivery_id", &format!("\"{}\"", DeliveryId::from_ulid(Ulid::from_u128(5))));
    let only_bens = reached(&mut scene, &[("inapp", 4), ("email", 4)]);
    let ada = person_of(3, Role::Viewer);
    for body in [YES, unknown.as_str()] {
        let effects = scene.answer(&only_bens, &ada, body).unwrap();
        let via = at(&receipt(&effects), "via").to_text();
        assert_eq!(via, r#"{"delivery_id":null,"channel":null,"target":null,"grade_reached":null}"#);
        assert!(effects.request.deliveries.iter().all(|delivery| delivery.state == DeliveryState::Stale));
    }
    // A part says so as well, and somebody began to answer all the same.
    let step = scene.answer(&only_bens, &ada, &with(YES, "partial", "true")).unwrap();
    assert_eq!(step.request.progress.steps[0].recorded.via_delivery_id, None);
    assert!(step.request.is_in_progress());
    // Hers is named, though Ben's authenticates and is newer.
    let both = reached(&mut scene, &[("email", 3), ("inapp", 4)]);
    let effects = scene.answer(&both, &ada, YES).unwrap();
    assert_eq!(at(&receipt(&effects), "via.channel").as_str(), Some("email"));
    assert_eq!(at(&receipt(&effects), "via.grade_reached").as_str(), Some("dispatched"), "no evidence, no grade");
}

#[test]
fn a_forwarded_message_is_named_and_proves_nothing_of_who_got_it_first() {
    let mut scene = Scene::new();
    let raised = reached(&mut scene, &[("email", 4), ("inapp", 4), ("inapp", 3)]);
    let via = |place: usize| with(YES, "via_delivery_id", &format!("\"{}\"", raised.0.deliveries[place].id));
    let ada = person_of(3, Role::Viewer);
    let by_mail = receipt(&scene.answer(&raised, &ada, &via(0)).unwrap());
    assert_eq!(at(&by_mail, "via.channel").as_str(), Some("email"));
    assert_eq!(at(&by_mail, "via.grade_reached").as_str(), Some("dispatched"));
    // What lists for Ben lists for Ben: hers is the one that she found.
    let listed = receipt(&scene.answer(&raised, &ada, &via(1)).unwrap());
    let own = raised.0.deliveries[2].id.to_string();
    assert_eq!(at(&listed, "via.delivery_id").as_str(), Some(own.as_str()));
    assert_eq!(at(&listed, "via.grade_reached").as_str(), Some("acted"));
}

#[test]
fn a_wrong_delivery_never_blocks_an_answer_and_a_dead_one_is_never_named() {
    let mut scene = Scene::new();
    let mut raised = scene.raise(&approve());
    let own = raised.0.deliveries[0].id;
    for named in [own.to_string(), DeliveryId::from_ulid(Ulid::from_u128(5)).to_string(), "nonsense".to_owned()] {
        let body = with(YES, "via_delivery_id", &format!("\"{named}\""));
        let effects = scene.answer(&raised, &person(Role::Viewer), &body).unwrap();
        assert_eq!(at(&receipt(&effects), "via.delivery_id").as_str(), Some(own.to_string().as_str()));
        assert_eq!(effects.request.deliveries[0].state, DeliveryState::Acted);
    }
    for dead in [
        DeliveryState::Suppressed,
        DeliveryState::Failed,
        DeliveryState::Bounced,
        DeliveryState::Cancelled,
        DeliveryState::Stale,
    ] {
        raised.0.deliveries[0].state = dead;
        let body = with(YES, "via_delivery_id", &format!("\"{own}\""));
        let effects = scene.answer(&raised, &person(Role::Viewer), &body).unwrap();
        let via = at(&receipt(&effects), "via").to_text();
        assert_eq!(via, r#"{"delivery_id":null,"channel":null,"target":null,"grade_reached":null}"#, "{dead:?}");
        assert_eq!(effects.request.deliveries[0].state, dead);
    }
}
