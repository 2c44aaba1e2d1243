//! The engine and its builder.

use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
};

use futures::future::AbortHandle;
use handoff_protocol::{
    decision::{CallbackPolicy, Policy, channels::Channels, tenant_policy::VersionedPolicy},
    id::{OrgId, TenantId},
    timestamp::Timestamp,
};

use crate::{
    callback::CallbackTransport,
    capability::{CapabilityProvider, Providers, RelayProvider},
    channel::Channel,
    clock::{Clock, SystemClock},
    decision::SignsOfLife,
    directory::Directory,
    entropy::{Entropy, SystemEntropy},
    hub::Hub,
    identity::IdentityError,
    outbound::Outbound,
    signer::Signer,
    sink::{SecretSink, Sinks},
    spawn::{Spawn, TokioSpawn},
    store::{Store, StoreError},
    worker::{DueNow, SweepCounters},
};

/// Everything that Handoff does, over the ports it was built with. Clones share one engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) signer: Option<Arc<dyn Signer>>,
    pub(crate) callbacks: Option<Arc<dyn CallbackTransport>>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) directory: Option<Arc<dyn Directory>>,
    pub(crate) channels: HashMap<String, Arc<dyn Channel>>,
    /// The policies that are in force here.
    pub(crate) policies: RwLock<HashMap<OrgId, Arc<VersionedPolicy>>>,
    pub(crate) public_base: String,
    pub(crate) hub: Hub,
    pub(crate) sweeps: SweepCounters,
    pub(crate) due_now: DueNow,
    pub(crate) outbound: Arc<Outbound>,
    pub(crate) signs: SignsOfLife,
    pub(crate) providers: Providers,
    pub(crate) sinks: Sinks,
    /// Since when this engine could hear a waiter.
    pub(crate) listening_since: Timestamp,
    listener: AbortHandle,
}

/// Puts an engine together. Only the store is required.
///
/// ```no_run
/// # async fn example(store: std::sync::Arc<dyn handoff_engine::store::Store>) -> Result<(), handoff_engine::BuildError> {
/// let engine = handoff_engine::Engine::builder()
///     .store(store)
///     .public_base("https://handoff.example.com")
///     .build()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Default)]
#[must_use]
pub struct Builder {
    store: Option<Arc<dyn Store>>,
    clock: Option<Arc<dyn Clock>>,
    spawner: Option<Arc<dyn Spawn>>,
    entropy: Option<Arc<dyn Entropy>>,
    signer: Option<Arc<dyn Signer>>,
    callbacks: Option<Arc<dyn CallbackTransport>>,
    policy: Option<Policy>,
    public_base: Option<String>,
    capability_base: Option<String>,
    capability_providers: HashMap<String, Arc<dyn CapabilityProvider>>,
    capability_default: Option<Arc<dyn CapabilityProvider>>,
    sinks: Sinks,
    directory: Option<Arc<dyn Directory>>,
    channels: HashMap<String, Arc<dyn Channel>>,
}

/// An engine could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No store was given.
    #[error("an engine needs a store: call `store` on the builder")]
    NoStore,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The signer's key could not be published.
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

impl Engine {
    /// Begins an engine.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The store that the engine runs on.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// The base of the addresses that people open.
    #[must_use]
    pub fn public_base(&self) -> &str {
        &self.inner.public_base
    }

    /// The time now, by the engine's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// What the deployment chose.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.inner.policy
    }
}

impl Builder {
    /// The store to run on.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Another clock than the machine's, for what is computed at read. The store has a clock of its own: give both the
    /// same.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Another runtime for background tasks than the one that [`build`](Self::build) is called in. The engine's waits use
    /// Tokio's time all the same.
    pub fn spawner(mut self, spawner: Arc<dyn Spawn>) -> Self {
        self.spawner = Some(spawner);
        self
    }

    /// Another source of tokens than the operating system's.
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.entropy = Some(entropy);
        self
    }

    /// Who signs receipts; without one they carry no signature and still chain.
    pub fn signer(mut self, signer: Arc<dyn Signer>) -> Self {
        self.signer = Some(signer);
        self
    }

    /// Who pushes signals; without one a raise that names a callback is refused, and no endpoint is a default.
    pub fn callbacks(mut self, transport: Arc<dyn CallbackTransport>) -> Self {
        self.callbacks = Some(transport);
        self
    }

    /// What the deployment chooses.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The base of the addresses that people open, `http://127.0.0.1:8080` unless set.
    pub fn public_base(mut self, base: impl Into<String>) -> Self {
        self.public_base = Some(base.into());
        self
    }

    /// Where the deployment's relay listens, `wss://127.0.0.1:8443` unless set: the base of the addresses of resources
    /// that no provider was registered for (section 24).
    pub fn capability_transport_base(mut self, base: impl Into<String>) -> Self {
        self.capability_base = Some(base.into());
        self
    }

    /// Registers whoever has the resources that declarations name with this `provider`.
    pub fn capability_provider(mut self, name: impl Into<String>, provider: Arc<dyn CapabilityProvider>) -> Self {
        self.capability_providers.insert(name.into(), provider);
        self
    }

    /// Registers whoever has the resources of every other name.
    pub fn default_capability_provider(mut self, provider: Arc<dyn CapabilityProvider>) -> Self {
        self.capability_default = Some(provider);
        self
    }

    /// Registers where values go whose `value_sink` names this `provider`.
    pub fn sink(mut self, name: impl Into<String>, sink: Arc<dyn SecretSink>) -> Self {
        self.sinks.named.insert(name.into(), sink);
        self
    }

    /// Registers where all other values go; without it they are dropped (rule K-S4).
    pub fn default_sink(mut self, sink: Arc<dyn SecretSink>) -> Self {
        self.sinks.default = Some(sink);
        self
    }

    /// Who knows people; without one the directory of the [`policy`](Self::policy) holds for every tenant.
    pub fn directory(mut self, directory: Arc<dyn Directory>) -> Self {
        self.directory = Some(directory);
        self
    }

    /// A way to reach people, under its name. The pages of this deployment need none.
    pub fn channel(mut self, channel: Arc<dyn Channel>) -> Self {
        self.channels.insert(channel.name().to_owned(), channel);
        self
    }

    /// Builds the engine, publishes its signer's key and begins to listen to the store. Call it within a Tokio runtime.
    ///
    /// Timers act only while a [`worker`](crate::worker) runs.
    ///
    /// # Errors
    ///
    /// [`BuildError`].
    pub async fn build(self) -> Result<Engine, BuildError> {
        let store = self.store.ok_or(BuildError::NoStore)?;
        let hub = Hub::default();
        let spawner = self.spawner.unwrap_or_else(|| Arc::new(TokioSpawn));
        let listener = hub.listen(store.wakes(), spawner.as_ref());
        let mut policy = self.policy.unwrap_or_default();
        if self.callbacks.is_none() {
            policy.callbacks = CallbackPolicy::default();
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let entropy = self.entropy.unwrap_or_else(|| Arc::new(SystemEntropy));
        let relay = || {
            let base = self.capability_base.unwrap_or_else(|| CAPABILITY_TRANSPORT_BASE.to_owned());
            Arc::new(RelayProvider::new(base, Arc::clone(&entropy))) as Arc<dyn CapabilityProvider>
        };
        let providers = Providers::new(self.capability_providers, self.capability_default.unwrap_or_else(relay));
        let declared = policy.channels.as_ref().clone();
        let with =
            |channels: Channels, (name, channel): (&String, &Arc<dyn Channel>)| channels.with(name, channel.facts());
        policy.channels = Arc::new(self.channels.iter().fold(declared, with));
        let engine = Engine {
            inner: Arc::new(Inner {
                store,
                listening_since: clock.now(),
                clock,
                entropy,
                signer: self.signer,
                callbacks: self.callbacks,
                policy: Arc::new(policy),
                directory: self.directory,
                channels: self.channels,
                policies: RwLock::default(),
                public_base: self.public_base.unwrap_or_else(|| "http://127.0.0.1:8080".to_owned()),
                hub,
                sweeps: SweepCounters::default(),
                due_now: DueNow::default(),
                outbound: Arc::new(Outbound::new(spawner)),
                signs: SignsOfLife::default(),
                providers,
                sinks: self.sinks,
                listener,
            }),
        };
        if let Some(signer) = &engine.inner.signer {
            engine.publish_key(&signer.public_key()).await?;
        }
        Ok(engine)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").field("public_base", &self.inner.public_base).finish_non_exhaustive()
    }
}

/// Where a deployment's relay listens unless the deployment says otherwise (section 24).
pub const CAPABILITY_TRANSPORT_BASE: &str = "wss://127.0.0.1:8443";

/// The tenant of what must be found before a tenant is known.
pub(crate) const SYSTEM: TenantId = TenantId::System;
