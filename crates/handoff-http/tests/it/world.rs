//! A served engine with a tenant, its machine and its people, in memory and under a virtual clock.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use handoff_engine::{Engine, identity::NewCredential};
use handoff_http::{HttpOptions, not_found, router};
use handoff_protocol::{
    id::{KeyId, OrgId, PrincipalId},
    principal::{Role, Scope, Scopes},
    secret::Secret,
    signature::SigningKey,
};
use handoff_testkit::{FaultStore, MemoryStore, SeededEntropy, VirtualClock};

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
    server: tokio::task::JoinHandle<()>,
}

/// A tenant and a token of everyone in it.
pub(crate) struct Tenant {
    pub(crate) id: OrgId,
    pub(crate) machine: String,
    pub(crate) viewer: String,
    pub(crate) editor: String,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(HttpOptions::default()).await
    }

    pub(crate) async fn with(options: HttpOptions) -> Self {
        logs::install();
        let time = VirtualClock::default();
        let clock = Arc::new(WatchedClock::new(time.clone()));
        let entropy = Arc::new(SeededEntropy::new(1));
        let memory = MemoryStore::new(Arc::new(time.clone()), Arc::clone(&entropy) as _);
        let store = Arc::new(FaultStore::new(memory, []));
        let kid = KeyId::parse("rk_01K3M7QW8ZC4YRXB2N6VD9FTHE").unwrap();
        let engine = Engine::builder()
            .store(Arc::clone(&store) as _)
            .clock(Arc::clone(&clock) as _)
            .entropy(entropy)
            .signer(Arc::new(SigningKey::from_seed(kid, &Secret::new([7; 32]))))
            .build()
            .await
            .unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = router(engine.clone(), options).fallback_service(not_found());
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let home = Tenant::new(&engine).await;
        Self { address, engine, time, clock, store, home, server }
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

    /// A token of a new machine of the home tenant that may do this alone.
    pub(crate) async fn machine_with(&self, scopes: &[Scope]) -> String {
        let machine = self.engine.create_machine(self.home.id, "narrow").await.unwrap();
        let credential =
            NewCredential { scopes: Scopes::Some(scopes.iter().copied().collect()), ..NewCredential::default() };
        let holder = PrincipalId::ServiceAccount(machine);
        self.engine.issue_key(self.home.id, holder, credential).await.unwrap().expose().clone()
    }
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
        let token =
            async |holder| engine.issue_key(id, holder, NewCredential::default()).await.unwrap().expose().clone();
        Self { id, machine: token(machine).await, viewer: token(viewer).await, editor: token(editor).await }
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
