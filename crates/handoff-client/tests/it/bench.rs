//! A real server over the store in memory, with a machine and a person to act as.

use std::{net::SocketAddr, sync::Arc};

use handoff_client::Client;
use handoff_engine::{Engine, clock::SystemClock, entropy::SystemEntropy, identity::NewCredential};
use handoff_protocol::{
    id::PrincipalId,
    json::{Json, read_str},
    principal::Role,
};
use handoff_testkit::{LocalSurface, MemorySink, MemoryStore};

/// Two principals of one tenant, on a server that runs as long as the test.
pub(crate) struct Bench {
    pub(crate) machine: Client,
    pub(crate) person: Client,
    /// Where submitted values go.
    pub(crate) vault: MemorySink,
}

impl Bench {
    pub(crate) async fn start() -> Self {
        let store = Arc::new(MemoryStore::new(Arc::new(SystemClock), Arc::new(SystemEntropy)));
        let surface = LocalSurface::start().await.unwrap();
        let vault = MemorySink::default();
        let engine = Engine::builder()
            .store(store)
            .default_capability_provider(Arc::new(surface))
            .default_sink(Arc::new(vault.clone()))
            .build()
            .await
            .unwrap();
        let tenant = engine.create_tenant().await.unwrap();
        let machine = engine.create_machine(tenant, "program").await.unwrap();
        let person = engine.create_person(tenant, "Ada", Role::Admin).await.unwrap();
        let key = |holder| engine.issue_key(tenant, holder, NewCredential::default());
        let machine = key(PrincipalId::ServiceAccount(machine)).await.unwrap();
        let person = key(PrincipalId::User(person)).await.unwrap();
        let address = serve(engine).await;
        let machine = Client::new(&format!("http://{address}/"), machine).unwrap();
        let person = machine.acting_with(person);
        Self { machine, person, vault }
    }
}

async fn serve(engine: Engine) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = handoff_http::router(engine, handoff_http::HttpOptions::default());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    address
}

/// A question with one choice.
pub(crate) fn question(waiter_ref: &str) -> Json {
    let mut body = read_str(
        r#"{"prompt":{"title":"Ship it?"},"requires":{"v":1,"answer":{"fields":[
            {"name":"decision","type":"choice","required":true,
             "options":[{"id":"yes","label":"Yes"},{"id":"no","label":"No"}]}]}}}"#,
    )
    .unwrap();
    body.as_object_mut().unwrap().insert("waiter_ref", waiter_ref);
    body
}
