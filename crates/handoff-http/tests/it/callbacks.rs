//! Callbacks over real sockets: a receiver on this machine, and this server's own pushes (section 19).

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use handoff_channel_webhook::{Guard, WebhookTransport};
use handoff_http::HttpOptions;
use handoff_protocol::{
    callback::{CallbackHeaders, CallbackSecret, verify},
    continuation::{ContinuationKey, Keyring},
    decision::{CallbackPolicy, Policy},
    json::{Json, read_str},
};

use crate::world::{More, World, question, serve};

const SECRETS: [&str; 2] = ["whsec_new", "whsec_old"];

/// A deployment that pushes and keeps, with its guard off as the default base has it.
pub(crate) fn policy() -> More {
    let secrets = SECRETS.map(|text| CallbackSecret::new(text).unwrap()).to_vec();
    let key = ContinuationKey::parse(&format!("k1:{}", "0".repeat(64))).unwrap();
    let policy = Policy {
        callbacks: CallbackPolicy { secrets, ..CallbackPolicy::default() },
        continuation: Some(Arc::new(Keyring::new([key]).unwrap())),
        ..Policy::default()
    };
    let transport = Arc::new(WebhookTransport::new(Guard::Open));
    Arc::new(move |builder| builder.policy(policy.clone()).callbacks(Arc::clone(&transport) as _))
}

pub(crate) async fn world() -> World {
    World::built(HttpOptions::default(), policy()).await
}

/// What a receiver got.
#[derive(Clone)]
pub(crate) struct Got {
    headers: HeaderMap,
    body: Bytes,
    at: Instant,
}

/// A receiver on this machine.
#[derive(Clone, Default)]
pub(crate) struct Receiver(Arc<Mutex<Vec<Got>>>);

impl Receiver {
    /// A receiver that answers with a status, after a while.
    pub(crate) async fn start(status: StatusCode, after: Duration) -> (Self, SocketAddr) {
        let receiver = Self::default();
        let take = move |State(receiver): State<Self>, headers: HeaderMap, body: Bytes| async move {
            receiver.0.lock().unwrap().push(Got { headers, body, at: Instant::now() });
            tokio::time::sleep(after).await;
            status
        };
        let (address, _) = serve(Router::new().route("/cb", post(take)).with_state(receiver.clone())).await;
        (receiver, address)
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.0.lock().unwrap().clone()
    }
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body, as a receiver with this secret verifies it.
    fn verified(&self, world: &World, secret: &str) -> Json {
        let headers = CallbackHeaders {
            signature: self.header("handoff-signature"),
            delivery: self.header("handoff-delivery"),
            idempotency_key: self.header("handoff-idempotency-key"),
            sequence: self.header("handoff-sequence"),
            signal: self.header("handoff-signal"),
            version: self.header("handoff-version"),
        };
        let secret = CallbackSecret::new(secret).unwrap();
        verify(&headers, &self.body, &[secret], world.time_now()).unwrap().body
    }
}

pub(crate) fn calling(waiter: &str, address: SocketAddr) -> String {
    let callback = format!(r#""callback":{{"url":"http://{address}/cb"}},"ttl":"#);
    question(waiter, "Ship it?").replace(r#""ttl":"#, &callback)
}

async fn raise(world: &World, body: String) -> String {
    world.post("/v1/requests", body).token(&world.home.machine).expect(201).await.str("id")
}

/// Does what is due, to the end.
async fn sweep(world: &World) {
    world.pass(Duration::ZERO).await;
    world.engine.outbound_idle().await;
}

#[tokio::test]
async fn a_receiver_on_this_machine_gets_what_a_poll_shows_until_it_acknowledges() {
    let (world, (receiver, address)) = (world().await, Receiver::start(StatusCode::OK, Duration::ZERO).await);
    let machine = world.home.machine.as_str();
    let request = raise(&world, calling("run:1", address)).await;
    world.approve(&request).await;
    sweep(&world).await;
    world.time.advance(Duration::from_secs(3));
    sweep(&world).await;
    let got = receiver.got();
    assert_eq!(got.len(), 2);
    let polled = world.get("/v1/waiters/run:1/signals").token(machine).expect(200).await.at("data.0");
    for (push, secret) in got.iter().zip(SECRETS) {
        let body = push.verified(&world, secret);
        for (name, value) in body.as_object().unwrap() {
            assert_eq!(polled.get(name), Some(value), "{name}");
        }
        assert_eq!(push.header("content-type"), Some("application/json"));
    }
    assert_eq!((&got[0].body, got[0].header("handoff-delivery")), (&got[1].body, got[1].header("handoff-delivery")));
    assert_ne!(got[0].header("handoff-signature"), got[1].header("handoff-signature"));

    let signal = polled.get("id").and_then(Json::as_str).unwrap();
    let attempts = world.get(&format!("/v1/signals/{signal}/attempts")).token(machine).expect(200).await;
    for (place, n) in [(0, 1), (1, 2)] {
        assert_eq!(attempts.at(&format!("data.{place}.n")), Json::from(n));
        assert_eq!(attempts.at(&format!("data.{place}.status_code")), Json::from(200));
        assert_eq!(attempts.str(&format!("data.{place}.outcome")), "accepted");
    }
    assert_eq!(attempts.str("push.delivery_id"), got[0].header("handoff-delivery").unwrap());
    assert_eq!((attempts.str("push.state"), attempts.str("push.endpoint.state")), ("pushing".into(), "working".into()));
    assert!(!attempts.str("push.next_attempt_at").is_empty() && !attempts.text().contains(&address.to_string()));
    let shown = world.get(&format!("/v1/requests/{request}")).token(machine).expect(200).await;
    assert_eq!(shown.str("waiter.state"), "delivering");
    assert!(!shown.text().contains(&address.to_string()), "{}", shown.text());

    let token = polled.get("resume_token").and_then(Json::as_str).unwrap();
    let ack = format!(r#"{{"resume_token":"{token}","applied":true}}"#);
    world.post(&format!("/v1/signals/{signal}/ack"), ack).token(machine).expect(200).await;
    world.time.advance(Duration::from_secs(3_600));
    sweep(&world).await;
    assert_eq!(receiver.got().len(), 2);
}

#[tokio::test]
async fn one_more_attempt_is_queued_by_hand_once_a_key() {
    let (world, (receiver, address)) = (world().await, Receiver::start(StatusCode::OK, Duration::ZERO).await);
    let request = raise(&world, calling("run:1", address)).await;
    world.approve(&request).await;
    sweep(&world).await;
    let delivery = receiver.got()[0].header("handoff-delivery").unwrap().to_owned();
    let path = format!("/v1/deliveries/{delivery}/redeliver");
    let again = async |key: &str| world.post(&path, "").token(&world.home.machine).key(key).expect(202).await;
    let first = again("a").await;
    assert_eq!(first.str("delivery_id"), delivery);
    assert_eq!(again("a").await.text(), first.text());
    sweep(&world).await;
    assert_eq!(receiver.got().len(), 2);
    again("b").await;
    sweep(&world).await;
    assert_eq!(receiver.got().len(), 3);

    let refused = async |path: &str, body: &str, status: u16| {
        world.post(path, body).token(&world.home.machine).expect(status).await.code()
    };
    assert_eq!(refused(&path, r#"{"x":1}"#, 400).await, "invalid_request");
    for unknown in ["dlv_01K3M7QW9A8ZC4YRXB2N6VD9FT", "nothing", &request] {
        assert_eq!(refused(&format!("/v1/deliveries/{unknown}/redeliver"), "", 404).await, "request_not_found");
    }
    let narrow = world.machine_with(&[handoff_protocol::principal::Scope::WaitersWait]).await;
    assert_eq!(world.post(&path, "").token(&narrow).expect(403).await.code(), "insufficient_scope");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_receivers_slow_nobody_else() {
    let world = world().await;
    let mut slow = Vec::new();
    for _ in 0..40 {
        slow.push(Receiver::start(StatusCode::OK, Duration::from_secs(3_600)).await);
    }
    let (one_slow, one_slow_address) = Receiver::start(StatusCode::OK, Duration::from_secs(3_600)).await;
    let (healthy, address) = Receiver::start(StatusCode::OK, Duration::ZERO).await;
    for (place, (_, slow_address)) in slow.iter().enumerate() {
        // What stands behind the question mark is another endpoint of the same host.
        for (name, address) in [("slow", *slow_address), ("one slow", one_slow_address), ("healthy", address)] {
            let body = calling(&format!("{name}:{place}"), address).replace("/cb", &format!("/cb?{place}"));
            let request = raise(&world, body).await;
            world.approve(&request).await;
        }
    }
    let began = Instant::now();
    world.pass(Duration::ZERO).await;
    while healthy.got().len() < 40 {
        assert!(began.elapsed() < Duration::from_secs(9), "{} of 40", healthy.got().len());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let slowest = healthy.got().iter().map(|push| push.at.duration_since(began)).max().unwrap();
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    while slow.iter().any(|(receiver, _)| receiver.got().is_empty()) {
        assert!(began.elapsed() < Duration::from_secs(9), "all of them are being waited for");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(one_slow.got().len(), 1, "a host that was never tried is tried once, whatever the addresses are");
}

#[tokio::test]
async fn a_callback_that_would_go_unsigned_is_refused_and_nothing_is_created() {
    let world = World::new().await;
    let (_, address) = Receiver::start(StatusCode::OK, Duration::ZERO).await;
    let refused = world.post("/v1/requests", calling("run:1", address)).token(&world.home.machine).expect(400).await;
    assert_eq!(refused.code(), "invalid_request");
    assert!(refused.str("error.message").contains("`callback`"), "{}", refused.text());
    let with_secrets = self::world().await;
    let body = calling("run:1", address).replace(r#"/cb""#, r#"/cb","secret_ref":"whsec_new""#);
    let refused = with_secrets.post("/v1/requests", body).token(&with_secrets.home.machine).expect(400).await;
    assert!(!refused.text().contains("whsec"), "{}", refused.text());
    for world in [world, with_secrets] {
        let listed = world.get("/v1/requests").token(&world.home.machine).expect(200).await;
        assert_eq!(listed.at("data"), read_str("[]").unwrap());
    }
}
