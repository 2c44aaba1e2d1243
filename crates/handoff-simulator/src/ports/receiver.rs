//! Receivers of callbacks: they verify what they get, as a receiver does, and what they accepted can be acknowledged.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use handoff_engine::{
    callback::{CallbackTransport, Post},
    clock::Clock as _,
};
use handoff_protocol::{
    callback::{CallbackHeaders, CallbackSecret, verify},
    decision::{PushResult, terms::PushOutcome},
    id::{ResumeToken, SignalId},
    json::Json,
};

use super::trouble::{Behavior, Trouble};
use crate::{node::SECRETS, scheduler::lock, time::SimClock};

const ACCEPTED: PushResult = PushResult { outcome: PushOutcome::Accepted, status: Some(204), error: None };
const BUSY: PushResult =
    PushResult { outcome: PushOutcome::TransientFailure, status: Some(503), error: Some("unexpected_status") };
const AWAY: PushResult =
    PushResult { outcome: PushOutcome::TransientFailure, status: None, error: Some("connect_failed") };
const REFUSED: PushResult =
    PushResult { outcome: PushOutcome::PermanentFailure, status: Some(404), error: Some("unexpected_status") };

/// Every receiver of a world.
pub struct Receivers {
    trouble: Trouble,
    clock: SimClock,
    down: AtomicBool,
    got: Mutex<Got>,
}

#[derive(Default)]
struct Got {
    bodies: BTreeMap<String, Vec<u8>>,
    pushed: Vec<Pushed>,
    faults: Vec<String>,
}

/// A push that a receiver took.
#[derive(Clone, Debug)]
pub struct Pushed {
    /// The signal.
    pub signal: SignalId,
    /// What acknowledges it.
    pub token: ResumeToken,
}

impl Receivers {
    pub(super) fn new(trouble: Trouble, clock: SimClock) -> Self {
        Self { trouble, clock, down: AtomicBool::new(false), got: Mutex::default() }
    }

    /// Nobody answers, or everybody does again.
    pub fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    /// Every push that was taken.
    #[must_use]
    pub fn pushed(&self) -> Vec<Pushed> {
        lock(&self.got).pushed.clone()
    }

    /// What no receiver should ever get.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        lock(&self.got).faults.clone()
    }

    /// Verifies a push, and notes it.
    fn take(&self, post: &Post) -> Result<(), String> {
        let header =
            |name: &str| post.headers.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str());
        let headers = CallbackHeaders {
            signature: header("Handoff-Signature"),
            delivery: header("Handoff-Delivery"),
            idempotency_key: header("Handoff-Idempotency-Key"),
            sequence: header("Handoff-Sequence"),
            signal: header("Handoff-Signal"),
            version: header("Handoff-Version"),
        };
        let secret = SECRETS.first().and_then(|text| CallbackSecret::new(*text).ok());
        let secret = secret.ok_or_else(|| "there is no secret".to_owned())?;
        // Clocks of nodes are off at times; a receiver's tolerance is another matter, so its clock says what the push says.
        let said = header("Handoff-Signature").and_then(|text| text.split("t=").nth(1));
        let said = said.and_then(|text| text.split(',').next()).and_then(|text| text.trim().parse::<i64>().ok());
        let now = said.map_or_else(
            || self.clock.now(),
            |seconds| handoff_protocol::timestamp::Timestamp::from_unix_millis(seconds.saturating_mul(1_000)),
        );
        let verified = verify(&headers, &post.body, &[secret], now).map_err(|error| format!("a push: {error}"))?;
        let text = |name: &str| verified.body.get(name).and_then(Json::as_str).map(str::to_owned);
        let signal = text("id").and_then(|id| SignalId::parse(&id).ok()).ok_or("a push names no signal")?;
        let token = text("resume_token").and_then(|token| ResumeToken::parse(&token).ok());
        let token = token.ok_or("a push has no token")?;
        let mut got = lock(&self.got);
        let delivery = header("Handoff-Delivery").unwrap_or_default().to_owned();
        let before = got.bodies.entry(delivery.clone()).or_insert_with(|| post.body.to_vec());
        if before.as_slice() != post.body.as_ref() {
            return Err(format!("{delivery} came with another body"));
        }
        got.pushed.push(Pushed { signal, token });
        Ok(())
    }
}

#[async_trait]
impl CallbackTransport for Receivers {
    async fn post(&self, post: &Post) -> PushResult {
        if self.down.load(Ordering::SeqCst) {
            return AWAY;
        }
        let behavior = self.trouble.receiver("receiver failed", "receiver hung").await;
        if matches!(behavior, Behavior::Well | Behavior::DoesAndFails)
            && let Err(fault) = self.take(post)
        {
            lock(&self.got).faults.push(fault);
        }
        match behavior {
            Behavior::Well => ACCEPTED,
            Behavior::Fails | Behavior::DoesAndFails | Behavior::Hangs => BUSY,
            Behavior::Refuses => REFUSED,
        }
    }
}
