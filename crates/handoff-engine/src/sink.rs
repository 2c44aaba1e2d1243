//! The sink port: where values go that this server must not keep (section 17).

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use handoff_protocol::{
    id::{OrgId, PrincipalId, RequestId},
    json::Json,
    secret::Secret,
};
use tokio::time::timeout;

/// How long a sink may take: less than the 30 seconds for which clients wait, so that they hear what came of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Takes values that a person gave for a request, and keeps them or uses them as its deployment sees fit.
///
/// Handoff has no custody of its own: without a sink, names are accepted and values dropped (rule K-S4).
#[async_trait]
pub trait SecretSink: Send + Sync + 'static {
    /// Takes the values of one submission. When this returns, the person is told that they were taken.
    ///
    /// After a failure, and after a crash between this and its record, the same submission may come again, with the same
    /// [`submission`](SinkDelivery::submission).
    ///
    /// # Errors
    ///
    /// [`SinkError`]; the person is told to try again.
    async fn submit(&self, delivery: SinkDelivery) -> Result<(), SinkError>;
}

/// One submission on its way to a sink.
#[derive(Debug)]
#[non_exhaustive]
pub struct SinkDelivery {
    /// The tenant.
    pub tenant: OrgId,
    /// The request that declared the sink.
    pub request: RequestId,
    /// The name of the place, as the submission gave it.
    pub reference: String,
    /// What is to be done with the values, as the request declared it.
    pub op: Option<String>,
    /// Who gave them.
    pub submitted_by: Option<PrincipalId>,
    /// The same text for the same submission, where its caller gave an idempotency key.
    pub submission: Option<String>,
    /// The values: an object of one member a field. They are wiped when this is dropped.
    pub values: Secret<Json>,
}

/// A sink could not take values. The words are for the log: they must hold no value.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the sink failed: {0}")]
pub struct SinkError(String);

impl SinkError {
    /// An error with words for the log, which must hold no value.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// Every sink of an engine, by the provider's name, and the one for every other name.
#[derive(Default)]
pub(crate) struct Sinks {
    pub(crate) named: HashMap<String, Arc<dyn SecretSink>>,
    pub(crate) default: Option<Arc<dyn SecretSink>>,
}

impl Sinks {
    /// Hands values to the sink of a provider; without one they are dropped here (rule K-S4).
    pub(crate) async fn submit(&self, provider: Option<&str>, delivery: SinkDelivery) -> Result<(), SinkError> {
        let Some(sink) = provider.and_then(|name| self.named.get(name)).or(self.default.as_ref()) else {
            return Ok(());
        };
        let submitted = timeout(PATIENCE, sink.submit(delivery)).await;
        submitted.unwrap_or_else(|_| Err(SinkError::new("it took too long")))
    }
}
