//! The channel: a delivery as a signed post to an address that the directory holds for a person.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use handoff_engine::{
    callback::{CallbackTransport, Post},
    channel::{Channel, Message},
    clock::{Clock as _, SystemClock},
};
use handoff_protocol::{
    callback::{
        CallbackSecret, DELIVERY_HEADER, IDEMPOTENCY_KEY_HEADER, SCHEME_VERSION, SIGNATURE_HEADER, VERSION_HEADER, sign,
    },
    decision::{
        CallbackUrl, PushResult, SendReport,
        channels::{Addressing, ChannelFacts, Latency},
        terms::{Grade, PushOutcome, Suppression},
    },
    json::Json,
};

/// Posts deliveries (section 12). What it posts is signed like a callback, by every active secret, and says nothing of a
/// tenant, a signal or an answer: who gets it opens the page, and enters there.
#[derive(Clone)]
pub struct WebhookChannel {
    name: String,
    transport: Arc<dyn CallbackTransport>,
    secrets: Vec<CallbackSecret>,
}

impl WebhookChannel {
    /// What such a channel can do. A receiver's status proves that it took a message, and nothing about a person.
    pub const FACTS: ChannelFacts = ChannelFacts {
        max_grade: Grade::Dispatched,
        can_authenticate_person: false,
        addressing: Addressing::Person,
        updates: false,
        rich_actions: false,
        captures_text: false,
        latency: Latency::Minutes,
    };

    /// A channel of a name that ladders use. Without a secret it keeps every delivery back as `channel_not_configured`.
    #[must_use]
    pub fn new(name: impl Into<String>, transport: Arc<dyn CallbackTransport>, secrets: Vec<CallbackSecret>) -> Self {
        Self { name: name.into(), transport, secrets }
    }

    fn post(&self, message: &Message) -> Option<Post> {
        let out = &message.outgoing;
        let body = Json::object([
            ("type", "handoff.delivery".into()),
            ("delivery_id", out.delivery_id.to_string().into()),
            ("request_id", out.request_id.to_string().into()),
            ("channel", out.channel.as_str().into()),
            ("rung", u64::from(out.rung).into()),
            ("title", out.title.as_str().into()),
            ("surface_url", Json::from(message.surface_url.as_str())),
        ]);
        let body = body.canonical().ok()?;
        let signature = sign(&self.secrets, SystemClock.now(), out.delivery_id, body.as_bytes()).ok()?;
        let headers = vec![
            (SIGNATURE_HEADER, signature),
            (DELIVERY_HEADER, out.delivery_id.to_string()),
            (IDEMPOTENCY_KEY_HEADER, out.delivery_id.to_string()),
            (VERSION_HEADER, SCHEME_VERSION.to_owned()),
            ("Content-Type", "application/json".to_owned()),
        ];
        Some(Post { url: out.address.expose().clone(), headers, body: Bytes::from(body) })
    }
}

#[async_trait]
impl Channel for WebhookChannel {
    fn name(&self) -> &str {
        &self.name
    }

    fn facts(&self) -> ChannelFacts {
        Self::FACTS
    }

    async fn send(&self, message: &Message) -> SendReport {
        if CallbackUrl::parse(message.outgoing.address.expose()).is_err() {
            return SendReport::kept_back(Suppression::NoAddress);
        }
        let Some(post) = self.post(message) else {
            return SendReport::kept_back(Suppression::ChannelNotConfigured);
        };
        report(self.transport.post(&post).await)
    }
}

fn report(result: PushResult) -> SendReport {
    let error = result.error.unwrap_or("the receiver did not take it");
    let report = match result.outcome {
        PushOutcome::Accepted => SendReport::accepted(),
        PushOutcome::TransientFailure => SendReport::failed_for_now(error),
        PushOutcome::PermanentFailure => SendReport::failed_for_good(error),
        PushOutcome::Timeout => SendReport::timed_out(),
    };
    match result.status {
        Some(status) => report.status(status.to_string()),
        None => report,
    }
}

impl std::fmt::Debug for WebhookChannel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WebhookChannel").field("name", &self.name).finish_non_exhaustive()
    }
}
