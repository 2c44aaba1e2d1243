//! Pushing signals: where they go, who signs, what comes of each attempt (section 19).

use std::{sync::Arc, time::Duration};

use handoff_protocol::{
    callback::CallbackSecret,
    decision::{
        CallbackEndpoint, CallbackFormat, CallbackPolicy, DecisionError, EndpointHealth, NO_ACTIVE_SECRET, Policy,
        PushAttempt, PushAttempts, PushLog, Pushed, Raise, Request, Signal, is_to_be_pushed, push_body, pushed, raise,
        requeue, rest,
        terms::{EndpointCondition, PushOutcome, PushState, SignalType, WaiterState},
        view::SignalView,
    },
    id::PrincipalId,
    json::{Json, read_str},
    principal::{Principal, Role},
};

use super::scene::{Scene, YES, approve, json, machine, machine_of, person, tenant, with};

const HOUR: Duration = Duration::from_secs(3_600);
const URL: &str = "https://example.com/cb";

fn secrets(names: &[&str]) -> Vec<CallbackSecret> {
    names.iter().map(|name| CallbackSecret::new(format!("whsec_{name}")).unwrap()).collect()
}

fn policy(callbacks: CallbackPolicy) -> Policy {
    Policy { callbacks, ..Policy::default() }
}

fn endpoint(owner: Option<PrincipalId>, url: Option<&str>, secret_ref: Option<&str>) -> CallbackEndpoint {
    CallbackEndpoint {
        owner,
        url: url.map(str::to_owned),
        secret_ref: secret_ref.map(str::to_owned),
        format: CallbackFormat::Handoff,
    }
}

/// The address and the name of the secrets that a raise comes to.
fn settled(
    body: &str,
    principal: &Principal,
    policy: &Policy,
) -> Result<Option<(String, Option<String>)>, DecisionError> {
    let command = Raise::read(principal, json(body), policy)?;
    let effects = raise(&command, principal, None, &mut Scene::new().context())?;
    Ok(effects.request.callback.map(|callback| (callback.url, callback.secret_ref)))
}

fn calling(callback: &str) -> String {
    with(&approve(), "callback", callback)
}

/// An answered request whose signal is to be pushed.
fn answered(scene: &mut Scene) -> (Request, Signal) {
    scene.policy = policy(CallbackPolicy { secrets: secrets(&["a"]), ..CallbackPolicy::default() });
    let command = Raise::read(&machine(), json(&calling(&format!(r#"{{"url":"{URL}"}}"#))), &scene.policy).unwrap();
    let effects = raise(&command, &machine(), None, &mut scene.context()).unwrap();
    let raised = (effects.request, effects.waiter.unwrap());
    let effects = scene.answer(&raised, &person(Role::Editor), YES).unwrap();
    (effects.request, effects.signals.into_iter().next().unwrap())
}

fn attempt(scene: &Scene, outcome: PushOutcome) -> PushAttempt {
    PushAttempt {
        n: 0,
        started_at: scene.now,
        ended_at: Some(scene.now),
        status_code: None,
        duration_ms: Some(1),
        outcome,
        error: None,
    }
}

/// One receiver and what is known of it.
struct Receiver {
    scene: Scene,
    request: Request,
    signal: Signal,
    log: Option<PushLog>,
    endpoint: Option<EndpointHealth>,
}

impl Receiver {
    fn new() -> Self {
        let mut scene = Scene::new();
        let (request, signal) = answered(&mut scene);
        Self { scene, request, signal, log: None, endpoint: None }
    }

    fn push(&mut self, outcome: PushOutcome) -> Pushed {
        let attempt = attempt(&self.scene, outcome);
        self.record(attempt)
    }

    fn record(&mut self, attempt: PushAttempt) -> Pushed {
        let began_with = self.signal.push.clone().unwrap();
        let (log, endpoint) = (self.log.as_ref(), self.endpoint.as_ref());
        let mut context = self.scene.context();
        let after = pushed(&self.signal, &self.request, log, endpoint, attempt, &began_with, &mut context).unwrap();
        self.signal = after.signal.clone();
        self.request = after.request.clone();
        self.log = Some(after.log.clone());
        if after.endpoint.is_some() {
            self.endpoint.clone_from(&after.endpoint);
        }
        after
    }

    /// Pushes, for what is known of the receiver afterwards.
    fn goes(&mut self, outcome: PushOutcome) {
        let _known = self.push(outcome);
    }

    fn pass(&mut self, time: Duration) {
        self.scene.now = self.scene.now.saturating_add(time);
    }
}

#[test]
fn a_callback_needs_a_secret_that_is_active() {
    let none = Policy::default();
    let one = policy(CallbackPolicy { secrets: secrets(&["a"]), ..CallbackPolicy::default() });
    let named = policy(CallbackPolicy {
        named: [("billing".to_owned(), secrets(&["b"])), ("old".to_owned(), Vec::new())].into(),
        ..CallbackPolicy::default()
    });
    let plain = calling(&format!(r#"{{"url":"{URL}"}}"#));
    let by_name = |name: &str| calling(&format!(r#"{{"url":"{URL}","secret_ref":"{name}"}}"#));
    for (body, policy, names) in [
        (&plain, &none, "`callback`"),
        (&plain, &named, "`callback`"),
        (&by_name("billing"), &none, "`callback.secret_ref`"),
        (&by_name("whsec_a"), &one, "`callback.secret_ref`"),
        (&by_name("old"), &named, "`callback.secret_ref`"),
        (&calling(r#"{"url":"ftp://example.com"}"#), &one, "`callback.url`"),
        (&calling("{}"), &one, "`callback.url`"),
        (&calling(r#"{"url":"https://a.example","x":1}"#), &one, "`callback.x`"),
        (&calling("1"), &one, "`callback`"),
    ] {
        let refused = settled(body, &machine(), policy).unwrap_err().to_string();
        assert!(refused.contains(names), "{refused} is about {names}");
        assert!(!refused.contains("whsec_a"), "{refused}");
    }
    assert_eq!(settled(&plain, &machine(), &one).unwrap(), Some((URL.to_owned(), None)));
    let billing = Some((URL.to_owned(), Some("billing".to_owned())));
    assert_eq!(settled(&by_name("billing"), &machine(), &named).unwrap(), billing);
    assert_eq!(settled(&approve(), &machine(), &one).unwrap(), None);
}

#[test]
fn what_could_not_be_signed_in_the_format_of_its_endpoint_is_refused_with_the_field_and_the_mend() {
    const STANDARD: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
    let own = "https://own.example/";
    let standard = |url: Option<&str>, secret_ref: Option<&str>| CallbackEndpoint {
        format: CallbackFormat::StandardWebhooks,
        ..endpoint(machine().id(), url, secret_ref)
    };
    let with_endpoint = |endpoint: CallbackEndpoint| {
        policy(CallbackPolicy {
            secrets: secrets(&["a"]),
            named: [("good".to_owned(), secrets(&[STANDARD])), ("mixed".to_owned(), secrets(&[STANDARD, "b"]))].into(),
            endpoints: vec![endpoint],
            ..CallbackPolicy::default()
        })
    };
    let call = |more: &str| calling(&format!(r#"{{"url":"{own}"{more}}}"#));
    for (policy, body, field) in [
        (with_endpoint(standard(None, None)), call(""), "`callback` "),
        (with_endpoint(standard(Some(own), Some("good"))), call(r#","secret_ref":"mixed""#), "`callback.secret_ref` "),
        (with_endpoint(standard(None, Some("mixed"))), call(""), "`callback` "),
        // What a deployment configured wrongly is not pushed unsigned either.
        (with_endpoint(standard(Some(own), Some("mixed"))), approve(), "`callback` "),
        (with_endpoint(standard(Some(own), Some("gone"))), approve(), "`callback` "),
    ] {
        let refused = settled(&body, &machine(), &policy).unwrap_err().to_string();
        assert!(refused.contains(field), "{refused} is about {field}");
        assert!(refused.contains("24 to 64 bytes") || refused.contains("no active"), "{refused} says the mend");
    }
    let good = with_endpoint(standard(Some(own), Some("good")));
    assert_eq!(settled(&call(""), &machine(), &good).unwrap(), Some((own.to_owned(), Some("good".to_owned()))));
}

#[test]
fn secrets_that_are_bound_to_an_owner_sign_for_nobody_else() {
    let by_name = calling(&format!(r#"{{"url":"{URL}","secret_ref":"billing"}}"#));
    let bound = |owner: PrincipalId| {
        policy(CallbackPolicy {
            secrets: secrets(&["a"]),
            named: [("billing".to_owned(), secrets(&["b"]))].into(),
            owners: [("billing".to_owned(), owner)].into(),
            ..CallbackPolicy::default()
        })
    };
    let mut stranger = machine_of(78);
    stranger.tenant = handoff_protocol::id::OrgId::from_ulid(handoff_protocol::id::Ulid::from_u128(9));
    let (tenants, machines) = (bound(PrincipalId::Org(tenant())), bound(machine().id().unwrap()));
    assert!(settled(&by_name, &machine(), &tenants).is_ok() && settled(&by_name, &machine_of(77), &tenants).is_ok());
    assert!(settled(&by_name, &machine(), &machines).is_ok());
    let unknown = settled(&by_name, &machine(), &policy(CallbackPolicy::default())).unwrap_err();
    for (principal, policy) in [(&stranger, &tenants), (&stranger, &machines), (&machine_of(77), &machines)] {
        assert_eq!(settled(&by_name, principal, policy).unwrap_err(), unknown, "as if there were no such name");
    }
}

#[test]
fn one_host_is_one_destination_whatever_the_path_and_the_query_are() {
    let destination = |url: &str| {
        let body = calling(&format!(r#"{{"url":"{url}"}}"#));
        let policy = policy(CallbackPolicy { secrets: secrets(&["a"]), ..CallbackPolicy::default() });
        let command = Raise::read(&machine(), json(&body), &policy).unwrap();
        let request = raise(&command, &machine(), None, &mut Scene::new().context()).unwrap().request;
        request.callback.unwrap().destination()
    };
    let one = destination("https://a.example/cb?id=1");
    for same in ["https://a.example/cb?id=2", "https://a.example:443", "HTTPS://A.example/other"] {
        assert_eq!(destination(same), one, "{same}");
    }
    for other in ["http://a.example/cb?id=1", "https://a.example:8443/", "https://b.example/"] {
        assert_ne!(destination(other), one, "{other}");
    }
}

#[test]
fn who_names_no_address_has_that_of_its_key_then_of_its_tenant_then_of_everybody() {
    let (own, tenants, everybodys) = ("https://own.example/", "https://tenant.example/", "https://all.example/");
    let with_endpoints = |endpoints: Vec<CallbackEndpoint>| {
        policy(CallbackPolicy {
            secrets: secrets(&["a"]),
            named: [("billing".to_owned(), secrets(&["b"]))].into(),
            endpoints,
            ..CallbackPolicy::default()
        })
    };
    let all = with_endpoints(vec![
        endpoint(None, Some(everybodys), None),
        endpoint(Some(PrincipalId::Org(tenant())), Some(tenants), None),
        endpoint(machine().id(), Some(own), Some("billing")),
    ]);
    let url = |principal: &Principal, body: &str| settled(body, principal, &all).unwrap();
    assert_eq!(url(&machine(), &approve()), Some((own.to_owned(), Some("billing".to_owned()))));
    assert_eq!(url(&machine_of(77), &approve()), Some((tenants.to_owned(), None)));
    let mut stranger = machine_of(78);
    stranger.tenant = handoff_protocol::id::OrgId::from_ulid(handoff_protocol::id::Ulid::from_u128(9));
    assert_eq!(url(&stranger, &approve()), Some((everybodys.to_owned(), None)));
    // An address that is known brings its secrets along, unless others are named; another's address brings nothing.
    let call = calling(&format!(r#"{{"url":"{own}"}}"#));
    assert_eq!(url(&machine(), &call), Some((own.to_owned(), Some("billing".to_owned()))));
    assert_eq!(url(&stranger, &call), Some((own.to_owned(), None)));
    let owners = with_endpoints(vec![endpoint(machine().id(), None, Some("billing"))]);
    assert_eq!(settled(&call, &machine(), &owners).unwrap(), Some((own.to_owned(), Some("billing".to_owned()))));
    assert_eq!(settled(&approve(), &machine(), &owners).unwrap(), None);
}

#[test]
fn the_body_is_the_signal_without_what_changes_between_attempts() {
    let mut receiver = Receiver::new();
    let body = |signal: &Signal| push_body(&SignalView::new(signal.clone(), Default::default())).unwrap();
    let first = body(&receiver.signal);
    receiver.goes(PushOutcome::Timeout);
    assert_eq!(body(&receiver.signal), first);
    let read = read_str(&first).unwrap();
    let names: Vec<&str> = read.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "created_at",
            "decision",
            "id",
            "request_id",
            "resume_payload",
            "resume_ref",
            "resume_token",
            "sequence",
            "type",
            "waiter_ref"
        ]
    );
    assert!(read.get("resume_ref").is_some_and(Json::is_null));
    assert!(!first.contains("org_") && !first.contains("example.com"), "{first}");
}

#[test]
fn it_is_pushed_until_it_is_acknowledged_also_after_it_was_accepted() {
    let mut receiver = Receiver::new();
    let delivery = receiver.signal.push.as_ref().unwrap().delivery_id;
    for (n, outcome) in
        [PushOutcome::Accepted, PushOutcome::TransientFailure, PushOutcome::PermanentFailure].into_iter().enumerate()
    {
        let after = receiver.push(outcome);
        let wait = after.again.unwrap().since(receiver.scene.now);
        let least = Duration::from_secs(2 << n);
        assert!(wait >= least && wait <= least + least / 4, "{wait:?} after attempt {}", n + 1);
        assert_eq!(after.signal.push.unwrap().delivery_id, delivery);
    }
    for _ in 0..200 {
        let again = receiver.push(PushOutcome::Accepted).again.unwrap();
        assert!(again.since(receiver.scene.now) <= Duration::from_secs(375));
    }
    let log = receiver.log.as_ref().unwrap();
    assert_eq!((log.data.len(), log.data[0].n, log.data[99].n), (100, 104, 203));
    receiver.signal.acked_at = Some(receiver.scene.now);
    assert!(!is_to_be_pushed(&receiver.signal, None));
    assert_eq!(receiver.push(PushOutcome::Accepted).again, None, "it was acknowledged while it was on its way");
}

#[test]
fn the_waiter_shows_whether_a_callback_carries_its_signal() {
    let mut receiver = Receiver::new();
    assert_eq!(receiver.request.waiter.state, WaiterState::Signalled);
    receiver.goes(PushOutcome::Timeout);
    assert_eq!(receiver.request.waiter.state, WaiterState::Signalled);
    receiver.goes(PushOutcome::Accepted);
    assert_eq!(receiver.request.waiter.state, WaiterState::Delivering);
    receiver.goes(PushOutcome::TransientFailure);
    assert_eq!(receiver.request.waiter.state, WaiterState::Signalled);
    for state in [WaiterState::Released, WaiterState::Orphaned, WaiterState::Armed] {
        receiver.request.waiter.state = state;
        receiver.goes(PushOutcome::Accepted);
        receiver.goes(PushOutcome::Timeout);
        assert_eq!(receiver.request.waiter.state, state);
    }
    assert_eq!(WaiterState::Delivering.at_decision(), WaiterState::Signalled);
}

#[test]
fn an_endpoint_that_failed_for_a_day_is_disabled_once_and_one_success_before_that_starts_anew() {
    let mut receiver = Receiver::new();
    for _ in 0..24 {
        assert!(receiver.push(PushOutcome::Timeout).event.is_none());
        receiver.pass(HOUR);
    }
    let after = receiver.push(PushOutcome::PermanentFailure);
    let event = after.event.unwrap();
    assert_eq!((event.event_type.as_str(), event.request_id), ("callback.endpoint_disabled", receiver.request.id));
    assert!(!event.data.iter().any(|(_, value)| value.to_text().contains("example.com")), "{event:?}");
    assert_eq!((after.again, after.signal.push.as_ref().unwrap().resting), (None, true));
    assert!(!is_to_be_pushed(&receiver.signal, receiver.endpoint.as_ref()));

    // Asked for by hand, it is tried: once more in vain, then with success.
    let (queued, redelivery) = requeue(&receiver.signal, receiver.scene.now).unwrap();
    assert_eq!(redelivery.delivery_id, queued.push.as_ref().unwrap().delivery_id);
    receiver.signal = queued;
    assert!(is_to_be_pushed(&receiver.signal, receiver.endpoint.as_ref()));
    let after = receiver.push(PushOutcome::Timeout);
    assert!(after.event.is_none() && after.again.is_none() && !after.enabled);
    assert!(!is_to_be_pushed(&receiver.signal, receiver.endpoint.as_ref()));
    receiver.signal = requeue(&receiver.signal, receiver.scene.now).unwrap().0;
    let after = receiver.push(PushOutcome::Accepted);
    assert!(after.enabled && after.again.is_some());
    assert_eq!(receiver.endpoint.as_ref().unwrap().failing_since, None);

    for _ in 0..23 {
        receiver.goes(PushOutcome::Timeout);
        receiver.pass(HOUR);
    }
    receiver.goes(PushOutcome::Accepted);
    receiver.pass(HOUR);
    assert!(receiver.push(PushOutcome::Timeout).event.is_none());
}

#[test]
fn attempts_tell_what_is_to_come_and_whether_the_endpoint_is_disabled() {
    let mut receiver = Receiver::new();
    let shown = |receiver: &Receiver| {
        PushAttempts::new(&receiver.signal, receiver.log.clone(), receiver.endpoint.as_ref()).push.unwrap()
    };
    let fresh = shown(&receiver);
    assert_eq!((fresh.state, fresh.endpoint.state), (PushState::Pushing, EndpointCondition::Working));
    assert_eq!(
        (Some(fresh.delivery_id), fresh.next_attempt_at),
        (receiver.signal.push.as_ref().map(|p| p.delivery_id), None)
    );
    let since = receiver.scene.now;
    let again = receiver.push(PushOutcome::PermanentFailure).again;
    let failing = shown(&receiver);
    assert_eq!((failing.endpoint.state, failing.endpoint.failing_since), (EndpointCondition::Failing, Some(since)));
    assert!(again.is_some() && failing.next_attempt_at == again, "a refusal is tried again, and that is told");
    for _ in 0..24 {
        receiver.pass(HOUR);
        receiver.goes(PushOutcome::PermanentFailure);
    }
    let disabled = shown(&receiver);
    assert_eq!((disabled.state, disabled.endpoint.state), (PushState::Resting, EndpointCondition::Disabled));
    assert_eq!((disabled.endpoint.disabled_at, disabled.next_attempt_at), (Some(receiver.scene.now), None));
    receiver.signal = requeue(&receiver.signal, receiver.scene.now).unwrap().0;
    assert_eq!(shown(&receiver).state, PushState::Pushing, "asked for by hand");
    receiver.goes(PushOutcome::Accepted);
    assert_eq!(shown(&receiver).endpoint.state, EndpointCondition::Working);
    receiver.signal.acked_at = Some(receiver.scene.now);
    assert_eq!((shown(&receiver).state, shown(&receiver).next_attempt_at), (PushState::Acknowledged, None));
    receiver.signal.push = None;
    assert_eq!(PushAttempts::new(&receiver.signal, None, None), PushAttempts::default());
}

#[test]
fn what_could_not_be_signed_says_nothing_of_the_endpoint() {
    let mut receiver = Receiver::new();
    for _ in 0..30 {
        let unsigned = PushAttempt {
            error: Some(NO_ACTIVE_SECRET.to_owned()),
            ..attempt(&receiver.scene, PushOutcome::PermanentFailure)
        };
        let after = receiver.record(unsigned);
        assert!(after.event.is_none() && after.endpoint.is_none() && after.again.is_some());
        receiver.pass(HOUR);
    }
}

#[test]
fn two_failures_a_day_apart_say_nothing_of_the_day_between() {
    let mut receiver = Receiver::new();
    receiver.goes(PushOutcome::Timeout);
    receiver.pass(HOUR * 30);
    let after = receiver.push(PushOutcome::Timeout);
    assert!(after.event.is_none() && after.again.is_some());
}

#[test]
fn a_receiver_that_takes_and_never_acknowledges_is_not_failing() {
    let mut receiver = Receiver::new();
    for _ in 0..300 {
        let after = receiver.push(PushOutcome::Accepted);
        assert!(after.event.is_none() && after.endpoint.is_none() && after.again.is_some());
        receiver.pass(HOUR / 4);
    }
}

#[test]
fn an_attempt_that_was_overtaken_by_a_redelivery_plans_nothing() {
    let mut receiver = Receiver::new();
    let began_with = receiver.signal.push.clone().unwrap();
    let queued = requeue(&receiver.signal, receiver.scene.now).unwrap().0;
    let attempt = attempt(&receiver.scene, PushOutcome::Timeout);
    let after =
        pushed(&queued, &receiver.request, None, None, attempt, &began_with, &mut receiver.scene.context()).unwrap();
    assert_eq!((after.again, after.log.data.len()), (None, 1));
    assert!(after.signal.push.unwrap().forced, "what was asked for is still to come");
}

#[test]
fn what_is_acknowledged_or_goes_nowhere_is_not_delivered_again() {
    let mut receiver = Receiver::new();
    receiver.signal.acked_at = Some(receiver.scene.now);
    assert_eq!(requeue(&receiver.signal, receiver.scene.now).unwrap_err(), DecisionError::RequestNotFound);
    assert!(!rest(&receiver.signal).push.unwrap().resting);
    let mut scene = Scene::new();
    let raised = scene.raise(&approve());
    let signal = scene.answer(&raised, &person(Role::Editor), YES).unwrap().signals.remove(0);
    assert_eq!((signal.signal_type, &signal.push), (SignalType::Answered, &None));
    assert!(!is_to_be_pushed(&signal, None));
    assert_eq!(requeue(&signal, scene.now).unwrap_err(), DecisionError::RequestNotFound);
}

#[test]
fn nothing_of_a_secret_is_printed() {
    let policy = policy(CallbackPolicy { secrets: secrets(&["hunter2"]), ..CallbackPolicy::default() });
    assert!(!format!("{policy:?}").contains("hunter2"));
    let _ = Arc::new(policy);
}
