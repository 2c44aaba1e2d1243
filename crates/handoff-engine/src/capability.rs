//! The capability port: whoever has the resources that a person may use on the way to an answer (section 16).

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use handoff_protocol::{
    decision::{
        capability::{BlastRadius, Capability, Grant, GrantSession, Transport, Usage},
        terms::{CapabilityScope, CapabilityType, SessionEnd, TransportKind},
    },
    id::{OrgId, RequestId, SessionRef},
    json::Json,
};
use tokio::time::timeout;

use crate::entropy::Entropy;

/// How long a provider may take to describe a resource or to open a session.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a provider may take to say what it saw of a session; the answer goes on without.
const GLANCE: Duration = Duration::from_secs(1);

/// Has resources, and opens and closes ways to them.
///
/// The engine decides who may use what; a provider makes it so. It looks its resources up by name: it never compares
/// what a client wrote with anything else.
#[async_trait]
pub trait CapabilityProvider: Send + Sync + 'static {
    /// What using a resource may touch, for a person to read before using it (rule G-5). It is asked once for each
    /// declared capability, before the request is created, and what it said then is what people accept.
    ///
    /// # Errors
    ///
    /// [`CapabilityError::NoSuchResource`] refuses the raise; [`CapabilityError::Unavailable`] fails it.
    async fn blast_radius(&self, resource: &Resource) -> Result<BlastRadius, CapabilityError>;

    /// An address of a resource for one session: unguessable, new at each call, good for this session alone (rule G-8).
    ///
    /// It is called again when a call is repeated; an address from before need not work any more. A session whose scopes
    /// are `view` alone must not be able to act (rule G-9).
    ///
    /// # Errors
    ///
    /// [`CapabilityError`].
    async fn open(&self, session: &OpenSession) -> Result<Transport, CapabilityError>;

    /// What was seen of a session so far: counts and origins, never what was typed or shown (rule G-11).
    ///
    /// # Errors
    ///
    /// [`CapabilityError`]; the record then says nothing of it.
    async fn usage(&self, session: SessionRef) -> Result<Option<Usage>, CapabilityError>;

    /// A session ended: what was opened for it must stop working. It is called for each ended session until it succeeds,
    /// and perhaps again after that.
    ///
    /// # Errors
    ///
    /// [`CapabilityError`]; it is called again.
    async fn close(&self, session: SessionRef, reason: SessionEnd) -> Result<(), CapabilityError>;
}

/// A resource as a raise names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// The tenant that asks.
    pub tenant: OrgId,
    /// What it is.
    pub capability_type: CapabilityType,
    /// The most that it may be used for.
    pub scope: CapabilityScope,
    /// Its name, in the provider's own words.
    pub resource_ref: Option<String>,
    /// What sessions are to be held to.
    pub constraints: Option<Json>,
}

/// A session that is to get an address.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSession {
    /// The session.
    pub session: SessionRef,
    /// The request that it is for.
    pub request: RequestId,
    /// The resource.
    pub resource: Resource,
    /// What the session may be used for.
    pub scopes: Vec<CapabilityScope>,
    /// What its person asked it to be held to, beyond what was declared.
    pub constraints: Option<Json>,
}

/// A provider cannot do what it was asked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CapabilityError {
    /// It has no such resource; whoever named it must mend that.
    #[error("there is no such resource")]
    NoSuchResource,
    /// Something failed; it may work later. The words are for the log and must hold no address.
    #[error("the provider failed: {0}")]
    Unavailable(String),
}

/// Every provider of an engine, by name, and the one for every other name.
pub(crate) struct Providers {
    named: HashMap<String, Arc<dyn CapabilityProvider>>,
    default: Arc<dyn CapabilityProvider>,
}

impl Providers {
    pub(crate) fn new(
        named: HashMap<String, Arc<dyn CapabilityProvider>>,
        default: Arc<dyn CapabilityProvider>,
    ) -> Self {
        Self { named, default }
    }

    fn of(&self, provider: Option<&str>) -> &dyn CapabilityProvider {
        provider.and_then(|name| self.named.get(name)).unwrap_or(&self.default).as_ref()
    }

    pub(crate) async fn blast_radius(
        &self,
        tenant: OrgId,
        capability: &Capability,
    ) -> Result<BlastRadius, CapabilityError> {
        let asked = self.of(capability.provider.as_deref());
        let described = patiently(PATIENCE, asked.blast_radius(&resource(tenant, capability))).await?;
        described.checked().map_err(|fault| CapabilityError::Unavailable(fault.to_string()))
    }

    pub(crate) async fn open(
        &self,
        tenant: OrgId,
        grant: &Grant,
        session: &GrantSession,
    ) -> Result<Transport, CapabilityError> {
        let open = OpenSession {
            session: session.session_ref,
            request: session.request_id,
            resource: resource(tenant, &grant.capability),
            scopes: session.scopes.clone(),
            constraints: session.constraints.clone(),
        };
        patiently(PATIENCE, self.of(grant.capability.provider.as_deref()).open(&open)).await
    }

    /// What a provider saw; nothing if it does not say so at once.
    pub(crate) async fn usage(&self, grant: &Grant, session: SessionRef) -> Option<Usage> {
        let asked = patiently(GLANCE, self.of(grant.capability.provider.as_deref()).usage(session)).await;
        asked.unwrap_or_else(|error| {
            tracing::warn!(%error, "what was seen of a session is not known");
            None
        })
    }

    pub(crate) async fn close(
        &self,
        grant: &Grant,
        session: SessionRef,
        reason: SessionEnd,
    ) -> Result<(), CapabilityError> {
        patiently(PATIENCE, self.of(grant.capability.provider.as_deref()).close(session, reason)).await
    }
}

async fn patiently<T>(
    patience: Duration,
    call: impl Future<Output = Result<T, CapabilityError>>,
) -> Result<T, CapabilityError> {
    timeout(patience, call).await.unwrap_or_else(|_| Err(CapabilityError::Unavailable("it took too long".to_owned())))
}

fn resource(tenant: OrgId, capability: &Capability) -> Resource {
    Resource {
        tenant,
        capability_type: capability.capability_type,
        scope: capability.scope,
        resource_ref: capability.resource_ref.clone(),
        constraints: capability.constraints.clone(),
    }
}

/// The provider of resources that no other provider has: addresses under one base, where a relay of the deployment's own
/// listens. It knows nothing of what they touch and says so.
pub struct RelayProvider {
    base: String,
    entropy: Arc<dyn Entropy>,
}

impl RelayProvider {
    /// A relay at a base: its scheme says how it is reached, `ws` and `wss` by WebSocket and any other by HTTPS.
    #[must_use]
    pub fn new(base: impl Into<String>, entropy: Arc<dyn Entropy>) -> Self {
        Self { base: base.into(), entropy }
    }
}

#[async_trait]
impl CapabilityProvider for RelayProvider {
    async fn blast_radius(&self, _: &Resource) -> Result<BlastRadius, CapabilityError> {
        Ok(BlastRadius::unknown())
    }

    async fn open(&self, session: &OpenSession) -> Result<Transport, CapabilityError> {
        let seed = self.entropy.seed().map_err(|error| CapabilityError::Unavailable(error.to_string()))?;
        let kind = if self.base.starts_with("ws") { TransportKind::Websocket } else { TransportKind::Https };
        let (base, key) = (self.base.trim_end_matches('/'), URL_SAFE_NO_PAD.encode(seed));
        #[cfg(feature = "planted-faults")]
        if handoff_protocol::planted::Fault::SessionAddressRepeats.is_planted() {
            return Ok(Transport { kind, url: format!("{base}/v1/sessions/stream") });
        }
        Ok(Transport { kind, url: format!("{base}/v1/sessions/{}/stream/{key}", session.session) })
    }

    async fn usage(&self, _: SessionRef) -> Result<Option<Usage>, CapabilityError> {
        Ok(None)
    }

    async fn close(&self, _: SessionRef, _: SessionEnd) -> Result<(), CapabilityError> {
        Ok(())
    }
}

impl fmt::Debug for RelayProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RelayProvider").field("base", &self.base).finish_non_exhaustive()
    }
}
