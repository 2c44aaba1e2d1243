//! Waiting: poll, reattach, acknowledge.

use handoff_protocol::{
    decision::{
        PushAttempt, PushAttempts, Redelivery, WaiterRef,
        view::{AckResult, ReattachResult, SignalList},
    },
    id::{DeliveryId, ResumeToken, SignalId},
    json::{Json, Object},
};
use reqwest::StatusCode;

use crate::{
    address::{path, with_query},
    call::Call,
    client::Client,
    error::ClientError,
    key::CallKey,
    requests::key_or_minted,
};

impl Client {
    /// Every signal of a waiter that is not acknowledged, oldest first; held until there is one, or for so many seconds
    /// (30 at the most).
    ///
    /// Reading consumes nothing (rule X-5): call it again, and what was not acknowledged comes again. An empty list
    /// means that nothing came within the window.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn poll(&self, waiter_ref: &WaiterRef, wait: u64) -> Result<SignalList, ClientError> {
        let mut path = path(&["waiters", waiter_ref.as_str(), "signals"])?;
        if wait > 0 {
            path = with_query(path, &[("wait", &wait.to_string())]);
        }
        let reply = self.send(Call::get(path).held(wait)).await?;
        if reply.status == StatusCode::NO_CONTENT || reply.body.is_empty() {
            return Ok(SignalList { data: Vec::new(), has_more: false });
        }
        reply.read()
    }

    /// Where a waiter stands, for a program that was restarted: its open requests and unacknowledged signals.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn reattach(&self, waiter_ref: &WaiterRef, key: Option<&CallKey>) -> Result<ReattachResult, ClientError> {
        let key = key_or_minted(key)?;
        let body = Json::from(Object::new());
        self.call(Call::post(path(&["waiters", waiter_ref.as_str(), "reattach"])?, &body).under(&key)).await
    }

    /// Tells that the program which waits has ended (rule W6): each request of the waiter is cancelled at once, or kept,
    /// as it declared. Repeating it is harmless; a program that comes back reattaches.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn report_end(&self, waiter_ref: &WaiterRef) -> Result<ReattachResult, ClientError> {
        let body = Json::from(Object::new());
        self.call(Call::post(path(&["waiters", waiter_ref.as_str(), "terminal"])?, &body)).await
    }

    /// Says what became of a signal, after the work and never before. Repeating it is harmless: `first_ack` is then
    /// false.
    ///
    /// `applied: false` records that the program did not act on it, with a reason.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn acknowledge(
        &self,
        signal: SignalId,
        resume_token: ResumeToken,
        applied: bool,
        reason: Option<&str>,
    ) -> Result<AckResult, ClientError> {
        let mut body = Object::new();
        body.insert("resume_token", resume_token.to_string());
        body.insert("applied", applied);
        if let Some(reason) = reason {
            body.insert("reason", reason);
        }
        self.call(Call::post(path(&["signals", &signal.to_string(), "ack"])?, &Json::from(body))).await
    }

    /// The attempts to push a signal to a callback, the last hundred, oldest first; none for one that goes nowhere.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn push_attempts(&self, signal: SignalId) -> Result<Vec<PushAttempt>, ClientError> {
        let attempts: PushAttempts = self.call(Call::get(path(&["signals", &signal.to_string(), "attempts"])?)).await?;
        Ok(attempts.data)
    }

    /// Queues one more attempt of a delivery, the push of a signal for example. Repeating it under the same key queues no
    /// other.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn redeliver(&self, delivery: DeliveryId, key: Option<&CallKey>) -> Result<Redelivery, ClientError> {
        let key = key_or_minted(key)?;
        let body = Json::from(Object::new());
        self.call(Call::post(path(&["deliveries", &delivery.to_string(), "redeliver"])?, &body).under(&key)).await
    }
}
