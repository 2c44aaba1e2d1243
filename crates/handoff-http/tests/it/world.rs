//! A served engine with a tenant, its machine and its people, in memory and under a virtual clock.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use handoff_engine::{
    Builder, Engine,
    clock::Clock as _,
    identity::NewCredential,
    store::{Loaded, Moment, Reads, RecordKey, RecordKind, RecordWrite, Step, Store as _, Transaction, WriteSet},
};
use handoff_http::{HttpOptions, not_found, operations, router};
use handoff_protocol::{
    id::{KeyId, OrgId, PrincipalId, TenantId},
    principal::{Role, Scope, Scopes},
    secret::Secret,
    signature::SigningKey,
    timestamp::Timestamp,
};
use handoff_testkit::{FaultStore, LocalSurface, MemorySink, MemoryStore, SeededEntropy, VirtualClock};

use crate::{
    client::{Call, Reply},
    clock::WatchedClock,
    logs,
};

/// A running server; dropping it stops it.
pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    pub(crate) time: VirtualClock,
    pub(crate) clock: Arc<WatchedClock>,
    pub(crate) store: Arc<FaultStore<MemoryStore>>,
    pub(crate) home: Tenant,
    /// Where the values of every sink go.
    pub(crate) vault: MemorySink,
    server: tokio::task::JoinHandle<()>,
    more: More,
}

/// What an engine is built with besides.
pub(crate) type More = Arc<dyn Fn(Builder) -> Builder + Send + Sync>;

/// A tenant and a token of everyone in it.
pub(crate) struct Tenant {
    pub(crate) id: OrgId,
    pub(crate) machine: String,
    pub(crate) viewer: String,
    pub(crate) editor: String,
    pub(crate) admin: String,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(HttpOptions::default()).await
    }

    pub(crate) async fn with(options: HttpOptions) -> Self {
        Self::built(options, Arc::new(|builder| builder)).await
    }

    /// A server whose engine is built with more, also after a restart.
    pub(crate) async fn built(options: HttpOptions, more: More) -> Self {
        logs::install();
        let time = VirtualClock::default();
        let clock = Arc::new(WatchedClock::new(time.clone()));
        let entropy = Arc::new(SeededEntropy::new(1));
        let memory = MemoryStore::new(Arc::new(time.clone()), Arc::clone(&entropy) as _);
        let store = Arc::new(FaultStore::new(memory, []));
        let (surface, vault) = (LocalSurface::start().await.unwrap(), MemorySink::default());
        let more = with_ports(&surface, &vault, more);
        let engine = build(&store, &clock, entropy, &more).await;
        let (address, server) = serve(app(&engine, options)).await;
        let home = Tenant::new(&engine).await;
        Self { address, engine, time, clock, store, home, vault, server, more }
    }

    /// Ends the server and its engine, and starts others over the same store.
    pub(crate) async fn restart(&mut self) {
        self.server.abort();
        self.engine = build(&self.store, &self.clock, Arc::new(SeededEntropy::new(2)), &self.more).await;
        (self.address, self.server) = serve(app(&self.engine, HttpOptions::default())).await;
    }

    pub(crate) fn get(&self, path: &str) -> Call {
        self.call("GET", path)
    }

    pub(crate) fn post(&self, path: &str, body: impl Into<Vec<u8>>) -> Call {
        self.call("POST", path).body(body)
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        Call::new(self.address, method, path)
    }

    /// Raises a question of the home tenant's machine and expects it to be new.
    pub(crate) async fn raise(&self, waiter: &str) -> Reply {
        self.post("/v1/requests", question(waiter, "Ship it?")).token(&self.home.machine).expect(201).await
    }

    /// Answers a request as the home tenant's editor.
    pub(crate) async fn approve(&self, request: &str) -> Reply {
        let path = format!("/v1/requests/{request}/answer");
        self.post(&path, r#"{"values":{"decision":"approve"}}"#).token(&self.home.editor).expect(200).await
    }

    /// Moves the time and lets the timers act.
    pub(crate) async fn pass(&self, time: Duration) {
        self.time.advance(time);
        self.engine.run_due_timers().await.unwrap();
    }

    /// The time, without a look at the clock that is watched.
    pub(crate) fn time_now(&self) -> Timestamp {
        self.time.now()
    }

    /// Whom a token authenticates.
    pub(crate) async fn principal(&self, token: &str) -> PrincipalId {
        self.engine.authenticate(Some(token)).await.unwrap().id().unwrap()
    }

    /// Makes a request's deliveries go to one principal, as a ladder that names people would.
    pub(crate) async fn retarget(&self, request: &str, to: PrincipalId) {
        let key = RecordKey::new(RecordKind::from_static("request"), request);
        let step = move |loaded: &Loaded, _: &Moment| {
            let Some(record) = loaded.record(&key) else { return Step::Need(Reads::none().record(key.clone())) };
            let record = record.unwrap();
            let target = format!(r#""kind":"principal","value":"{to}""#);
            let document = record.document.replace(r#""kind":"anyone","value":"*""#, &target);
            let put = RecordWrite::Put {
                key: key.clone(),
                seen: Some(record.version),
                document: document.into(),
                index: Vec::new(),
                unindex: Vec::new(),
            };
            Step::Commit(Box::new(WriteSet { records: vec![put], ..WriteSet::default() }))
        };
        let tenant = TenantId::Org(self.home.id);
        let transaction = Transaction { tenant, reads: Reads::none(), step: Arc::new(step) };
        let _committed = self.store.transact(transaction).await.unwrap();
    }

    /// A token of a new editor of the home tenant.
    pub(crate) async fn editor_with(&self, credential: NewCredential) -> String {
        let person = self.engine.create_person(self.home.id, "Emil", Role::Editor).await.unwrap();
        let holder = PrincipalId::User(person);
        self.engine.issue_key(self.home.id, holder, credential).await.unwrap().expose().clone()
    }

    /// A token of a new machine of the home tenant that may do this alone.
    pub(crate) async fn machine_with(&self, scopes: &[Scope]) -> String {
        let machine = self.engine.create_machine(self.home.id, "narrow").await.unwrap();
        let credential =
            NewCredential { scopes: Scopes::Some(scopes.iter().copied().collect()), ..NewCredential::default() };
        let holder = PrincipalId::ServiceAccount(machine);
        self.engine.issue_key(self.home.id, holder, credential).await.unwrap().expose().clone()
    }
}

/// The ports of every world, and more.
fn with_ports(surface: &LocalSurface, vault: &MemorySink, more: More) -> More {
    let (surface, vault) = (surface.clone(), vault.clone());
    Arc::new(move |builder: Builder| {
        let builder = builder
            .capability_provider("example/browser", Arc::new(surface.clone()))
            .default_sink(Arc::new(vault.clone()));
        more(builder)
    })
}

async fn build(
    store: &Arc<FaultStore<MemoryStore>>,
    clock: &Arc<WatchedClock>,
    entropy: Arc<SeededEntropy>,
    more: &More,
) -> Engine {
    let kid = KeyId::parse("rk_01K3M7QW8ZC4YRXB2N6VD9FTHE").unwrap();
    let builder = Engine::builder()
        .store(Arc::clone(store) as _)
        .clock(Arc::clone(clock) as _)
        .entropy(entropy)
        .signer(Arc::new(SigningKey::from_seed(kid, &Secret::new([7; 32]))));
    more(builder).build().await.unwrap()
}

fn app(engine: &Engine, options: HttpOptions) -> axum::Router {
    router(engine.clone(), options.clone())
        .merge(operations(engine.clone(), options.clone()))
        .fallback_service(not_found(engine.clone(), options))
}

/// Serves on a port of its own until the task is aborted.
pub(crate) async fn serve(app: axum::Router) -> (SocketAddr, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (address, tokio::spawn(async move { axum::serve(listener, app).await.unwrap() }))
}

impl Drop for World {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Tenant {
    pub(crate) async fn new(engine: &Engine) -> Self {
        let id = engine.create_tenant().await.unwrap();
        let machine = PrincipalId::ServiceAccount(engine.create_machine(id, "runner").await.unwrap());
        let viewer = PrincipalId::User(engine.create_person(id, "Vera", Role::Viewer).await.unwrap());
        let editor = PrincipalId::User(engine.create_person(id, "Edda", Role::Editor).await.unwrap());
        let admin = PrincipalId::User(engine.create_person(id, "Ada", Role::Admin).await.unwrap());
        let token =
            async |holder| engine.issue_key(id, holder, NewCredential::default()).await.unwrap().expose().clone();
        Self {
            id,
            machine: token(machine).await,
            viewer: token(viewer).await,
            editor: token(editor).await,
            admin: token(admin).await,
        }
    }
}

/// The body of a raise: approve or reject, by an editor, within an hour.
pub(crate) fn question(waiter: &str, title: &str) -> String {
    format!(
        r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"{title}"}},"requires":{{"v":1,"answer":{{"fields":[
        {{"name":"decision","type":"choice","required":true,"options":[{{"id":"approve","label":"Yes"}},{{"id":"reject","label":"No"}}]}},
        {{"name":"amount","type":"number"}}]}},"authority":{{"min_role":"editor"}}}},
        "ttl":"PT1H","ttl_policy":{{"on_expiry":"expire_and_deny"}}}}"#
    )
}

/// A question that asks for the surface as well, by an editor, within an hour.
pub(crate) fn take_over(waiter: &str) -> String {
    let surface = r#""capabilities":[{"type":"interactive_surface","scope":"drive","provider":"example/browser",
        "resource_ref":"opaque:bs_4KpQ"}]"#;
    question(waiter, "Take over?").replacen(r#""requires":{"#, &format!(r#""requires":{{{surface},"#), 1)
}

/// Signing in for a program: a text and a secret, for the sink `vault/1`, within an hour.
pub(crate) fn sign_in(waiter: &str) -> String {
    format!(
        r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"Sign in?"}},"requires":{{"v":1,"answer":{{"fields":[
        {{"name":"user","type":"text"}},{{"name":"password","type":"secret","required":true}}],
        "value_sink":{{"ref":"vault/1"}}}}}},"ttl":"PT1H"}}"#
    )
}
