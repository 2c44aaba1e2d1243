//! Callbacks in virtual time: pushed until acknowledged, disabled after a day, woken by a redelivery (section 19).

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use handoff_engine::{
    callback::{CallbackTransport, Post},
    store::Store as _,
};
use handoff_protocol::{
    callback::{CallbackHeaders, CallbackSecret, verify},
    decision::{
        CallbackPolicy, ErrorCode, Policy, PushResult,
        terms::{EndpointCondition, PushOutcome, PushState, WaiterState},
    },
    id::{RequestId, TenantId},
    json::Json,
};

use super::{
    expiry::put_timer,
    world::{REASON, World, YES, ask, ask_with, code, json, key_of, without_ladder},
};

pub(crate) const ACCEPTED: PushResult = PushResult { outcome: PushOutcome::Accepted, status: Some(204), error: None };
const REFUSED: PushResult =
    PushResult { outcome: PushOutcome::TransientFailure, status: None, error: Some("connect_failed") };
const HOUR: Duration = Duration::from_secs(3_600);
const TO: &str = r#""callback":{"url":"https://receiver.example/cb?token=hunter2"}"#;

/// A receiver that keeps what it gets and answers as it is told.
#[derive(Default)]
pub(crate) struct Receiver {
    got: Mutex<Vec<Post>>,
    answers: Mutex<VecDeque<PushResult>>,
    down: Mutex<bool>,
}

impl Receiver {
    pub(crate) fn got(&self) -> Vec<Post> {
        self.got.lock().unwrap().clone()
    }

    fn next(&self, answers: &[PushResult]) {
        self.answers.lock().unwrap().extend(answers);
    }

    fn is_down(&self, down: bool) {
        *self.down.lock().unwrap() = down;
    }
}

#[async_trait]
impl CallbackTransport for Receiver {
    async fn post(&self, post: &Post) -> PushResult {
        self.got.lock().unwrap().push(post.clone());
        if *self.down.lock().unwrap() {
            return REFUSED;
        }
        self.answers.lock().unwrap().pop_front().unwrap_or(ACCEPTED)
    }
}

pub(crate) fn secrets() -> Vec<CallbackSecret> {
    ["whsec_new", "whsec_old"].map(|text| CallbackSecret::new(text).unwrap()).to_vec()
}

pub(crate) async fn world() -> (World, Arc<Receiver>) {
    let receiver = Arc::new(Receiver::default());
    let callbacks = CallbackPolicy { secrets: secrets(), ..CallbackPolicy::default() };
    let policy = Policy { callbacks, ..without_ladder() };
    let transport = Arc::clone(&receiver) as Arc<dyn CallbackTransport>;
    let world = World::with_engine(Arc::new(|_| {}), |builder| builder.policy(policy).callbacks(transport)).await;
    (world, receiver)
}

/// Does what is due, to the end.
pub(crate) async fn sweep(world: &World) {
    world.engine.run_due_timers().await.unwrap();
    world.engine.outbound_idle().await;
}

/// Lives through a span of time, doing each thing when it is due.
async fn live(world: &World, span: Duration) {
    let end = handoff_engine::clock::Clock::now(&world.clock).saturating_add(span);
    sweep(world).await;
    while let Some(next) = world.next_timer().await.filter(|next| *next <= end) {
        world.clock.set(next);
        sweep(world).await;
    }
    world.clock.set(end);
}

async fn answered(world: &World, title: &str) -> RequestId {
    let id = world.raised(&ask_with("run:1", title, TO)).await;
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    id
}

async fn ack(world: &World) {
    let signal = world.signals("run:1").await.remove(0);
    let body = format!(r#"{{"resume_token":"{}","applied":true}}"#, signal.resume_token);
    world.engine.acknowledge(&world.machine, signal.id, &json(&body)).await.unwrap();
}

fn header<'p>(post: &'p Post, name: &str) -> Option<&'p str> {
    post.headers.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
}

/// Verifies a push as a receiver does that has these secrets.
pub(crate) fn verified(world: &World, post: &Post, secrets: &[CallbackSecret]) -> Json {
    let headers = CallbackHeaders {
        signature: header(post, "Handoff-Signature"),
        delivery: header(post, "Handoff-Delivery"),
        idempotency_key: header(post, "Handoff-Idempotency-Key"),
        sequence: header(post, "Handoff-Sequence"),
        signal: header(post, "Handoff-Signal"),
        version: header(post, "Handoff-Version"),
    };
    verify(&headers, &post.body, secrets, handoff_engine::clock::Clock::now(&world.clock)).unwrap().body
}

#[tokio::test]
async fn a_push_says_what_a_poll_says_and_verifies_under_each_secret_alone() {
    let (world, receiver) = world().await;
    answered(&world, "one").await;
    sweep(&world).await;
    let got = receiver.got();
    assert_eq!(got.len(), 1);
    assert_eq!(header(&got[0], "Content-Type"), Some("application/json"));
    assert_eq!(header(&got[0], "Handoff-Signature-Key-Ids"), None);
    for secret in secrets() {
        let body = verified(&world, &got[0], &[secret]);
        let polled = handoff_protocol::json::to_json(&world.signals("run:1").await[0]).unwrap();
        for (name, value) in body.as_object().unwrap() {
            assert_eq!(polled.get(name), Some(value), "{name}");
        }
        assert!(body.get("attempts").is_none() && body.get("resume_payload").unwrap().is_null());
    }
    let text = str::from_utf8(&got[0].body).unwrap();
    for absent in ["org_", "tenant", "http", "whsec"] {
        assert!(!text.contains(absent), "{absent} in {text}");
    }
}

#[tokio::test]
async fn it_repeats_the_same_bytes_at_fresh_times_until_the_acknowledgement() {
    let (world, receiver) = world().await;
    let id = answered(&world, "one").await;
    receiver.next(&[REFUSED, ACCEPTED, REFUSED]);
    live(&world, Duration::from_secs(30)).await;
    let got = receiver.got();
    assert!(got.len() >= 4, "{}", got.len());
    let time = |post| header(post, "Handoff-Signature").unwrap().split_once(',').unwrap().0;
    let times: Vec<&str> = got.iter().map(time).collect();
    for (post, next) in got.iter().zip(&got[1..]) {
        assert_eq!((&post.body, header(post, "Handoff-Delivery")), (&next.body, header(next, "Handoff-Delivery")));
        assert_eq!(header(post, "Handoff-Idempotency-Key"), header(post, "Handoff-Delivery"));
    }
    assert!(times.is_sorted_by(|one, next| one < next), "{times:?}");
    assert_eq!(world.request(id).await.waiter.state, WaiterState::Delivering);
    let signal = world.signals("run:1").await.remove(0);
    let log = world.engine.push_attempts(&world.machine, signal.id).await.unwrap().data;
    assert_eq!((log.len(), signal.attempts as usize), (got.len(), got.len()));
    let outcomes: Vec<_> = log.iter().take(4).map(|attempt| attempt.outcome.as_str()).collect();
    assert_eq!(outcomes, ["transient_failure", "accepted", "transient_failure", "accepted"]);
    assert_eq!(log[1].status_code, Some(204));
    assert_eq!(log[0].error.as_deref(), Some("connect_failed"));

    ack(&world).await;
    live(&world, HOUR).await;
    assert_eq!(receiver.got().len(), got.len());
    assert_eq!((world.next_timer().await, world.request(id).await.waiter.state), (None, WaiterState::Acked));
}

#[tokio::test]
async fn every_ending_and_every_nudge_is_pushed_and_each_is_its_own_delivery() {
    let (world, receiver) = world().await;
    let armed = world.raised(&ask_with("run:1", "nudged", &format!(r#"{TO},"attempt_ttl":"PT1M""#))).await;
    world.engine.arm_attempt(&world.machine, armed, json("{}"), None).await.unwrap();
    live(&world, Duration::from_secs(61)).await;
    world.raised(&ask_with("run:1", "expiring", &format!(r#"{TO},"ttl":"PT1S""#))).await;
    let withdrawn = world.raised(&ask_with("run:1", "withdrawn", TO)).await;
    world.engine.cancel(&world.machine, withdrawn, json(REASON), None).await.unwrap();
    world.engine.answer(&world.person, armed, json(YES), None).await.unwrap();
    live(&world, Duration::from_secs(2)).await;
    let mut told: Vec<(String, String)> = receiver
        .got()
        .iter()
        .map(|post| {
            let body = verified_late(post);
            (
                body.get("type").unwrap().as_str().unwrap().to_owned(),
                header(post, "Handoff-Delivery").unwrap().to_owned(),
            )
        })
        .collect();
    told.sort();
    told.dedup();
    let types: Vec<&str> = told.iter().map(|(signal_type, _)| signal_type.as_str()).collect();
    assert_eq!(types, ["answered", "attempt_lapsed", "cancelled", "expired"]);
    // What a receipt says of the waiter has no word for a callback on its way.
    let receipt = world.request(armed).await.receipt.unwrap();
    assert_eq!(receipt.get("waiter_state_at_decision").unwrap().as_str(), Some("signalled"));
    assert_eq!(world.request(withdrawn).await.waiter.state, WaiterState::Released);
}

fn verified_late(post: &Post) -> Json {
    handoff_protocol::json::read(&post.body).unwrap()
}

#[tokio::test]
async fn a_receiver_that_was_down_for_23_hours_still_gets_it() {
    let (world, receiver) = world().await;
    answered(&world, "one").await;
    receiver.is_down(true);
    live(&world, HOUR * 23).await;
    receiver.is_down(false);
    let before = receiver.got().len();
    live(&world, Duration::from_secs(400)).await;
    let got = receiver.got();
    assert!(got.len() > before, "{before}");
    verified_late(got.last().unwrap());
    assert_eq!(world.engine.outbound_stats().endpoints_disabled, 0);
}

#[tokio::test]
async fn a_receiver_that_was_down_for_25_hours_is_disabled_with_an_event_and_a_redelivery_enables_it() {
    let (world, receiver) = world().await;
    let id = answered(&world, "one").await;
    receiver.is_down(true);
    live(&world, HOUR * 25).await;
    let tries = receiver.got().len();
    assert_eq!(world.events_of(id).await.last().unwrap(), "callback.endpoint_disabled");
    let told =
        world.events().await.into_iter().filter(|event| event.event_type.as_str() == "callback.endpoint_disabled");
    let told: Vec<_> = told.collect();
    assert_eq!((told.len(), world.engine.outbound_stats().endpoints_disabled), (1, 1));
    assert!(!told[0].data.contains("receiver.example") && !told[0].data.contains("hunter2"), "{}", told[0].data);
    assert_eq!((world.next_timer().await, world.signals("run:1").await.len()), (None, 1));
    // What comes after is not tried either, and can be polled.
    receiver.is_down(false);
    answered(&world, "two").await;
    live(&world, HOUR).await;
    assert_eq!((receiver.got().len(), world.signals("run:1").await.len()), (tries, 2));
    for signal in world.signals("run:1").await {
        let push = world.engine.push_attempts(&world.machine, signal.id).await.unwrap().push.unwrap();
        assert_eq!((push.state, push.endpoint.state), (PushState::Resting, EndpointCondition::Disabled));
        assert!(push.endpoint.disabled_at.is_some() && push.next_attempt_at.is_none());
    }

    let delivery = handoff_protocol::id::DeliveryId::from_ulid(world.signals("run:1").await[0].id.ulid());
    receiver.next(&[REFUSED]);
    for key in ["a", "a", "b"] {
        let queued = world.engine.redeliver(&world.machine, delivery, &json("{}"), Some(&key_of(key))).await.unwrap();
        assert_eq!(queued.delivery_id, delivery);
        sweep(&world).await;
    }
    // In vain under the first key, whose repetition queues nothing; then with success, and the other follows by itself.
    sweep(&world).await;
    let got = receiver.got();
    assert_eq!(got.len(), tries + 3);
    live(&world, Duration::from_secs(10)).await;
    assert!(receiver.got().len() > got.len(), "both are pushed until they are acknowledged");
    ack(&world).await;
    ack(&world).await;
    // Long enough for the keys of the redeliveries to lapse as well.
    live(&world, HOUR * 26).await;
    assert_eq!(world.next_timer().await, None);
    assert_eq!(
        code(world.engine.redeliver(&world.machine, delivery, &json("{}"), None).await),
        ErrorCode::RequestNotFound
    );
}

#[tokio::test]
async fn delivery_work_that_is_replayed_a_day_later_gives_no_second_signal() {
    let (world, receiver) = world().await;
    let id = answered(&world, "one").await;
    sweep(&world).await;
    let signal = world.signals("run:1").await.remove(0);
    ack(&world).await;
    world.clock.advance(HOUR * 24);
    let (sequence, sent) = (world.events().await.len(), receiver.got().len());
    let push = format!(
        r#"{{"do":"push","signal":"{}","to":"{}"}}"#,
        signal.id,
        handoff_protocol::digest::Digest::of("somewhere")
    );
    let now = handoff_engine::clock::Clock::now(&world.clock);
    put_timer(&world, &format!("push/{}", signal.id), now, &push).await;
    let expire = format!(r#"{{"do":"expire","request":"{id}"}}"#);
    put_timer(&world, &format!("deadline/{id}"), now, &expire).await;
    let lapse = format!(r#"{{"do":"lapse","request":"{id}"}}"#);
    put_timer(&world, &format!("attempt/{id}"), now, &lapse).await;
    sweep(&world).await;
    assert_eq!((world.events().await.len(), receiver.got().len()), (sequence, sent));
    assert_eq!((world.signals("run:1").await.len(), world.next_timer().await), (0, None));
}

#[tokio::test]
async fn an_acknowledgement_while_a_push_is_on_its_way_ends_it() {
    let (world, receiver) = world().await;
    answered(&world, "one").await;
    world.engine.run_due_timers().await.unwrap();
    ack(&world).await;
    world.engine.outbound_idle().await;
    live(&world, HOUR).await;
    assert!(receiver.got().len() <= 1);
    assert_eq!(world.next_timer().await, None);
}

#[tokio::test]
async fn requests_without_a_callback_leave_nothing_to_push() {
    let (world, receiver) = world().await;
    let id = world.raised(&ask_with("run:1", "one", r#""callback":null"#)).await;
    world.engine.answer(&world.person, id, json(YES), None).await.unwrap();
    assert_eq!((world.next_timer().await, receiver.got().len()), (None, 0));
    let signal = world.signals("run:1").await.remove(0);
    assert_eq!(world.engine.push_attempts(&world.machine, signal.id).await.unwrap().data, []);
}

#[tokio::test]
async fn an_engine_without_a_transport_refuses_a_callback_and_creates_nothing() {
    let callbacks = CallbackPolicy { secrets: secrets(), ..CallbackPolicy::default() };
    let policy = Policy { callbacks, ..Policy::default() };
    let world = World::with_engine(Arc::new(|_| {}), |builder| builder.policy(policy)).await;
    let refused = world.engine.raise(&world.machine, json(&ask_with("run:1", "one", TO)), None).await;
    assert_eq!(code(refused), ErrorCode::InvalidRequest);
    assert_eq!(world.requests().await, []);
}

#[tokio::test]
async fn a_repeat_finds_its_first_reply_whatever_the_configuration_became() {
    let (world, _) = world().await;
    let quorum = |quorum: u64| {
        let body = ask("run:1", "two").replace(r#""v":1,"#, &format!(r#""v":1,"authority":{{"quorum":{quorum}}},"#));
        json(&body)
    };
    let called = json(&ask_with("run:1", "one", TO));
    let raised = world.engine.raise(&world.machine, called.clone(), Some(&key_of("a"))).await.unwrap();
    let agreed = world.engine.raise(&world.machine, quorum(3), Some(&key_of("b"))).await.unwrap();
    let amendment = |quorum: u64| json(&format!(r#"{{"requires":{}}}"#, requires(quorum)));
    let amended = async |engine: &handoff_engine::Engine, quorum: u64, key: &str| {
        engine.amend(&world.machine, agreed.request.id, amendment(quorum), Some(&key_of(key))).await
    };
    let first = amended(&world.engine, 4, "c").await.unwrap();

    // The secrets are gone, and nobody may ask two people any more.
    let policy = Policy { max_quorum: 1, ..without_ladder() };
    let store = Arc::clone(&world.store) as Arc<dyn handoff_engine::store::Store>;
    let changed = handoff_engine::Engine::builder().store(store).clock(Arc::new(world.clock.clone())).policy(policy);
    let changed = changed.build().await.unwrap();
    for (body, key, first) in [(&called, "a", &raised), (&quorum(3), "b", &agreed)] {
        let again = changed.raise(&world.machine, body.clone(), Some(&key_of(key))).await.unwrap();
        assert_eq!((again.created, again.request.id), (false, first.request.id));
        let refused = changed.raise(&world.machine, body.clone(), Some(&key_of("new"))).await;
        assert_eq!(code(refused), ErrorCode::InvalidRequest, "it is taken no more");
    }
    // Another body under the key is refused as before.
    assert_eq!(code(changed.raise(&world.machine, quorum(2), Some(&key_of("b"))).await), ErrorCode::InvalidRequest);
    assert_eq!(amended(&changed, 4, "c").await.unwrap(), first);
    assert_eq!(code(amended(&changed, 4, "new").await), ErrorCode::InvalidRequest);
    assert_eq!(code(amended(&changed, 3, "c").await), ErrorCode::InvalidRequest);
    assert_eq!(world.requests().await.len(), 2);
    world.clock.advance(HOUR * 25);
    let lapsed = changed.raise(&world.machine, called, Some(&key_of("a"))).await;
    assert_eq!(code(lapsed), ErrorCode::InvalidRequest, "the entry lived for a day");
}

fn requires(quorum: u64) -> String {
    format!(r#"{{"v":1,"authority":{{"quorum":{quorum}}},"answer":{{"fields":[]}}}}"#)
}

#[tokio::test]
async fn another_tenant_finds_neither_attempts_nor_deliveries() {
    let (world, _) = world().await;
    answered(&world, "one").await;
    sweep(&world).await;
    let signal = world.signals("run:1").await.remove(0).id;
    let elsewhere = world.engine.create_tenant().await.unwrap();
    let stranger = super::world::add_machine(&world.engine, elsewhere).await;
    assert_eq!(code(world.engine.push_attempts(&stranger, signal).await), ErrorCode::SignalNotFound);
    let delivery = handoff_protocol::id::DeliveryId::from_ulid(signal.ulid());
    assert_eq!(code(world.engine.redeliver(&stranger, delivery, &json("{}"), None).await), ErrorCode::RequestNotFound);
    let records = world.store.read_events(&TenantId::Org(elsewhere), 0, 100).await.unwrap();
    assert!(records.iter().all(|event| !event.data.contains(&signal.to_string())));
}
