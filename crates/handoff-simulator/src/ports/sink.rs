//! A sink for secret values, which are canaries: no store must ever hold one.

use std::sync::Mutex;

use async_trait::async_trait;
use handoff_engine::sink::{SecretSink, SinkDelivery, SinkError};
use handoff_protocol::id::RequestId;

use super::trouble::{Behavior, Trouble};
use crate::scheduler::lock;

/// What every secret value of a run begins with.
pub const CANARY: &str = "canary-of-the-simulator-";

/// A sink that notes what it took.
pub struct Vault {
    trouble: Trouble,
    taken: Mutex<Vec<Taken>>,
}

/// What it took.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Taken {
    /// For which request.
    pub request: RequestId,
    /// Under which name of the submission.
    pub submission: Option<String>,
    /// The values, as text.
    pub values: String,
}

impl Vault {
    pub(super) fn new(trouble: Trouble) -> Self {
        Self { trouble, taken: Mutex::default() }
    }

    /// Everything that it took, in order.
    #[must_use]
    pub fn taken(&self) -> Vec<Taken> {
        lock(&self.taken).clone()
    }
}

#[async_trait]
impl SecretSink for Vault {
    async fn submit(&self, delivery: SinkDelivery) -> Result<(), SinkError> {
        let behavior = self.trouble.port("sink failed", "sink hung").await;
        if behavior == Behavior::Well || behavior == Behavior::DoesAndFails {
            lock(&self.taken).push(Taken {
                request: delivery.request,
                submission: delivery.submission.clone(),
                values: delivery.values.expose().to_text(),
            });
        }
        match behavior {
            Behavior::Well => Ok(()),
            _ => Err(SinkError::new("planned")),
        }
    }
}
