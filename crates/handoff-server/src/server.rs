//! Starting a server, and stopping it without losing a request.

use std::{collections::BTreeMap, ffi::OsString, io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use handoff_channel_webhook::{Guard, WebhookTransport};
use handoff_engine::{
    BuildError, Engine, IdentityError,
    callback::CallbackTransport,
    decision::{ContinuationError, PolicyError},
    identity::Credential,
    store::Store,
};
use handoff_protocol::{
    continuation::{ContinuationKeyId, OpenError},
    decision::Policy,
    signature::SigningKey,
    timestamp::Timestamp,
};
use handoff_sink_command::CommandSink;
use tokio::{sync::watch, task::JoinSet};

use crate::{
    LIFECYCLE,
    bootstrap::{self, BootstrapError},
    config::Config,
    doubts::doubts,
    listening,
    reaching::{self, PolicyFileError},
    routes,
    schemas::{RegisteredSchemas, SchemaError},
    signing_key::{self, SigningKeyError},
    store::{self, StoreOpenError},
    worker,
};

/// How long requests in flight may take to end once the server stops. Held polls end at once; this is for bodies that
/// are still on their way.
const GRACE: Duration = Duration::from_secs(5);

/// The name of the sink that takes what goes to no other.
const DEFAULT_SINK: &str = "default";

/// Starts servers.
#[derive(Debug)]
pub struct Server;

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    engine: Engine,
    stopping: watch::Sender<bool>,
    // Dropping these ends what runs in them.
    serving: JoinSet<()>,
    worker: JoinSet<()>,
}

/// A server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}; stop the server that runs there, or choose another port")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreOpenError),
    /// The signing key cannot be used.
    #[error(transparent)]
    SigningKey(#[from] SigningKeyError),
    /// The store's receipts are signed by a key whose file is gone.
    #[error(
        "the signing key file `{}` is missing, and receipts of this store are signed by {kid}; put the file back, or say \
         that this key signs no more with `handoff keys retire {kid}`",
        .path.display()
    )]
    SigningKeyMissing {
        /// Where the file should be.
        path: PathBuf,
        /// The key that is published as signing.
        kid: String,
    },
    /// Something is sealed with a key that is not configured.
    #[error(
        "continuation data is sealed with the key `{keys}`, which is not configured; put it back into \
         HANDOFF_CONTINUATION_KEYS, behind the current one, and run `handoffd continuation reseal` before it is dropped. If \
         it is lost, `handoffd continuation reseal --forget-key NAME` gives up what it sealed"
    )]
    ContinuationKeyMissing {
        /// The names of the keys.
        keys: String,
    },
    /// Something is sealed with another key than the one that has its name now.
    #[error(
        "continuation data is sealed with another key of the name `{keys}` than the one in HANDOFF_CONTINUATION_KEYS; put \
         that key back under this name, and give the new one a name of its own, in front of it"
    )]
    ContinuationKeyChanged {
        /// The names of the keys.
        keys: String,
    },
    /// The keys of what is sealed cannot be looked through.
    #[error(transparent)]
    Continuation(#[from] ContinuationError),
    /// The key in the file was retired: it signs no more.
    #[error(
        "the signing key {kid} in `{}` was retired at {retired_at} and signs no more; move the file away and start again: \
         a new key is made and published, and the old one stays published as retired",
        .path.display()
    )]
    SigningKeyRetired {
        /// The file with the key.
        path: PathBuf,
        /// The key's id.
        kid: String,
        /// Since when it signs no more.
        retired_at: Timestamp,
    },
    /// What is to be loaded cannot be used.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// What is to be loaded cannot be kept.
    #[error("the principals cannot be loaded: {0}")]
    Load(#[from] IdentityError),
    /// A policy cannot be used.
    #[error(transparent)]
    PolicyFile(#[from] PolicyFileError),
    /// A policy cannot be put in force.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A document schema cannot be used.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The engine cannot be built.
    #[error(transparent)]
    Engine(#[from] BuildError),
    /// A task of this start died; a defect.
    #[error("starting was interrupted: {0}")]
    Interrupted(#[from] tokio::task::JoinError),
}

impl Server {
    /// Listens, opens the store, builds the engine, and serves.
    ///
    /// When this returns, requests are answered. Call it within a Tokio runtime of several threads.
    ///
    /// # Errors
    ///
    /// [`StartError`]; nothing runs then.
    pub async fn start(config: Config) -> Result<Running, StartError> {
        // The address comes first: a port that is taken must not touch the store, and a free port becomes part of links.
        let bind = |error| StartError::Bind { address: config.bind, error };
        let listener = listening::listen(config.bind).map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let engine = build_engine(&config, address).await?;

        let (stopping, mut stop) = watch::channel(false);
        let routes = routes::mount(&engine, &config);
        let until_stopped = async move {
            // An error says that the server was dropped, which is a stop as well.
            let _ = stop.wait_for(|stop| *stop).await;
        };
        let mut serving = JoinSet::new();
        serving.spawn(listening::serve(listener, routes, until_stopped));
        let mut worker = JoinSet::new();
        worker.spawn(worker::keep_running(engine.clone(), config.sweep_interval));

        let base = engine.public_base();
        tracing::info!(target: LIFECYCLE, "listening on {address}; people open {base}");
        Ok(Running { address, engine, stopping, serving, worker })
    }
}

impl Running {
    /// Where the server listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The engine behind the server.
    #[must_use]
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Waits until serving ends by itself, which it does not unless something is wrong. Safe to drop at any point.
    pub async fn ended(&mut self) {
        if let Some(Err(error)) = self.serving.join_next().await {
            tracing::error!(%error, "serving ended");
        }
    }

    /// Stops: no new connection is accepted, held polls are answered with what there is, requests in flight end, and
    /// then the timers, what is being sent, and the store.
    pub async fn stop(mut self) {
        tracing::info!(target: LIFECYCLE, "stopping");
        self.engine.stop_waiting();
        self.stopping.send_replace(true);
        if tokio::time::timeout(GRACE, self.ended()).await.is_err() {
            tracing::warn!("some requests did not end in time; their connections are closed");
            self.serving.shutdown().await;
        }
        self.engine.stop_timers();
        // What acts now ends; what was claimed and dropped would wait for its claim to lapse.
        if tokio::time::timeout(GRACE, self.worker.join_next()).await.is_err() {
            self.worker.shutdown().await;
        }
        self.engine.stop_sending(GRACE).await;
        tracing::info!(target: LIFECYCLE, "stopped");
    }
}

async fn build_engine(config: &Config, address: SocketAddr) -> Result<Engine, StartError> {
    // Opening reads and writes files, which must not hold up the tasks of this thread.
    let blocking = config.clone();
    let (bootstrap, policies, schemas, store, key) = tokio::task::spawn_blocking(move || -> Result<_, StartError> {
        // What people wrote is checked as a whole before anything is made.
        let bootstrap = bootstrap::read(&blocking)?;
        let policies = reaching::policies(&blocking)?;
        let schemas = RegisteredSchemas::load(&blocking.schemas)?;
        let store = store::open_for(&blocking)?;
        let key = signing_key::load(&blocking.signing_key)?;
        Ok((bootstrap, policies, schemas, store, key))
    })
    .await??;
    let key = match key {
        Some(key) => not_retired(config, &store, key).await?,
        None => make_key(config, &store).await?,
    };
    let can_sign = config.callbacks.can_sign();
    let transport = (can_sign || reaching::posts(config)).then(|| {
        let guard = if config.guards_callbacks() { Guard::PublicOnly } else { Guard::Open };
        // The certificates that the system trusts are files as well.
        tokio::task::spawn_blocking(move || WebhookTransport::new(guard))
    });
    let policy = Policy { schemas: Arc::new(schemas), ..config.policy() };
    let mut builder = Engine::builder()
        .store(store)
        .signer(Arc::new(key))
        .policy(policy)
        .public_base(config.public_base.of(address))
        .capability_transport_base(config.capability_transport_base.as_str());
    for (name, command) in &config.sinks {
        let arguments = command.arguments.iter().map(OsString::from);
        let sink = Arc::new(CommandSink::new(&command.program, arguments));
        builder = if name == DEFAULT_SINK { builder.default_sink(sink) } else { builder.sink(name, sink) };
    }
    let transport = match transport {
        Some(transport) => Some(Arc::new(transport.await?) as Arc<dyn CallbackTransport>),
        None => None,
    };
    if let Some(transport) = transport.as_ref().filter(|_| can_sign) {
        builder = builder.callbacks(Arc::clone(transport));
    }
    if !config.tenants.is_empty() {
        builder = builder.directory(Arc::new(reaching::directory(config)));
    }
    for channel in reaching::channels(config, transport.as_ref()) {
        builder = builder.channel(channel);
    }
    let engine = builder.build().await?;
    check_continuation_keys(&engine).await?;
    for warning in &bootstrap.warnings {
        tracing::warn!(target: LIFECYCLE, "{warning}");
    }
    for line in left_over(&engine.load_principals(bootstrap.principals).await?) {
        tracing::warn!(target: LIFECYCLE, "{line}");
    }
    for line in doubts(config, &policies) {
        tracing::warn!(target: LIFECYCLE, "{line}");
    }
    for (tenant, policy) in policies {
        let version = engine.load_policy(tenant, policy).await?;
        tracing::info!(target: LIFECYCLE, %tenant, version, "a policy is in force");
    }
    engine.announce_public_base().await?;
    Ok(engine)
}

/// Everything that is sealed can be opened, as far as keys go.
async fn check_continuation_keys(engine: &Engine) -> Result<(), StartError> {
    let faults = engine.missing_continuation_keys().await?;
    let named = |chosen: fn(&OpenError) -> Option<&ContinuationKeyId>| {
        let names: Vec<&str> = faults.iter().filter_map(chosen).map(ContinuationKeyId::as_str).collect();
        (!names.is_empty()).then(|| names.join("`, `"))
    };
    let changed = named(|fault| match fault {
        OpenError::OtherKey(key) => Some(key),
        _ => None,
    });
    let missing = named(|fault| match fault {
        OpenError::UnknownKey(key) => Some(key),
        _ => None,
    });
    match (changed, missing) {
        (Some(keys), _) => Err(StartError::ContinuationKeyChanged { keys }),
        (None, Some(keys)) => Err(StartError::ContinuationKeyMissing { keys }),
        (None, None) => Ok(()),
    }
}

/// A line for each holder of tokens that an earlier bootstrap brought along and that are valid still.
fn left_over(tokens: &[Credential]) -> Vec<String> {
    let mut holders: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for token in tokens {
        let holder = token.holder.map_or_else(|| "an anonymous link".to_owned(), |id| id.to_string());
        holders.entry(holder).or_default().push(&token.fingerprint);
    }
    let line = |(holder, fingerprints): (String, Vec<&str>)| {
        format!(
            "{holder}: a token of an earlier bootstrap is no longer in it and still valid, by its fingerprint {}; \
             `handoff keys revoke FINGERPRINT` makes it worthless",
            fingerprints.join(", ")
        )
    };
    holders.into_iter().map(line).collect()
}

/// Gives the key back if it may sign: one that the store's published keys call retired does not sign again (rule E-13).
async fn not_retired(config: &Config, store: &Arc<dyn Store>, key: SigningKey) -> Result<SigningKey, StartError> {
    let unsigned = Engine::builder().store(Arc::clone(store)).build().await?;
    let kid = key.kid().to_string();
    let published = unsigned.signing_keys().await?;
    let own = published.iter().find(|status| status.jwk.kid.as_deref() == Some(kid.as_str()));
    match own.and_then(|status| status.jwk.retired_at) {
        None => Ok(key),
        Some(retired_at) => Err(StartError::SigningKeyRetired { path: config.signing_key.clone(), kid, retired_at }),
    }
}

/// Makes a signing key for a store that has none. One whose receipts are signed already gets no second key by
/// accident: a file that is missing, behind a wrong mount for example, must not change whose receipts these are.
async fn make_key(config: &Config, store: &Arc<dyn Store>) -> Result<SigningKey, StartError> {
    let unsigned = Engine::builder().store(Arc::clone(store)).build().await?;
    let published = unsigned.signing_keys().await?;
    if let Some(active) = published.iter().find(|key| key.jwk.retired_at.is_none()) {
        // A node that started at the same moment may have made it since the file was looked for.
        let path = config.signing_key.clone();
        if let Some(key) = tokio::task::spawn_blocking(move || signing_key::load(path)).await?? {
            return Ok(key);
        }
        return Err(StartError::SigningKeyMissing {
            path: config.signing_key.clone(),
            kid: active.jwk.kid.clone().unwrap_or_default(),
        });
    }
    let path = config.signing_key.clone();
    Ok(tokio::task::spawn_blocking(move || signing_key::load_or_create(path)).await??)
}
