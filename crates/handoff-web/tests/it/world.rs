//! A deployment with one tenant, the pages on a socket, and machines that ask.

use std::{net::SocketAddr, sync::Arc};

use handoff_engine::{Engine, store::Store as _};
use handoff_protocol::{
    decision::{Policy, Schemas},
    duration::ExactDuration,
    id::{OrgId, PrincipalId, RequestId, TenantId, UserId},
    json::{Json, read_str},
    principal::{Principal, Role},
};
use handoff_testkit::{MemorySink, MemoryStore, SeededEntropy, VirtualClock};
use tokio::net::TcpListener;

use crate::{
    browser::{Browser, Reply},
    html,
};

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) store: MemoryStore,
    pub(crate) clock: VirtualClock,
    pub(crate) tenant: OrgId,
    pub(crate) machine: Principal,
    pub(crate) address: SocketAddr,
    /// Where the values of secret fields go.
    pub(crate) vault: MemorySink,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::at("http://handoff.test").await
    }

    /// A deployment that people reach at this public base.
    pub(crate) async fn at(public_base: &str) -> Self {
        let clock = VirtualClock::default();
        let store = MemoryStore::new(Arc::new(clock.clone()), Arc::new(SeededEntropy::new(1)));
        let vault = MemorySink::default();
        let engine = Engine::builder()
            .default_sink(Arc::new(vault.clone()))
            .store(Arc::new(store.clone()))
            .clock(Arc::new(clock.clone()))
            .entropy(Arc::new(SeededEntropy::new(2)))
            .public_base(public_base)
            .policy(Policy { schemas: Arc::new(NamedThings), ..Policy::default() })
            .build()
            .await
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = handoff_web::router(engine.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let tenant = engine.create_tenant().await.unwrap();
        let machine = machine(&engine, tenant).await;
        Self { engine, store, clock, tenant, machine, address, vault }
    }

    pub(crate) fn browser(&self) -> Browser {
        Browser::new(self.address)
    }

    pub(crate) async fn person(&self, name: &str, role: Role) -> UserId {
        self.engine.create_person(self.tenant, name, role).await.unwrap()
    }

    /// Amends a request as its owner.
    pub(crate) async fn amend(&self, id: RequestId, body: &str) {
        self.engine.amend(&self.machine, id, read_str(body).unwrap(), None).await.unwrap();
    }

    /// The path of a fresh one-time link.
    pub(crate) async fn link(&self, person: UserId, request: Option<RequestId>) -> String {
        let ttl = ExactDuration::from_seconds(600);
        let token = self.engine.issue_link(self.tenant, person, ttl, request).await.unwrap();
        format!("/enter/{}", token.expose())
    }

    /// The browser of a person who has entered.
    pub(crate) async fn entered(&self, name: &str, role: Role) -> Browser {
        let person = self.person(name, role).await;
        let link = self.link(person, None).await;
        let mut browser = self.browser();
        browser.post(&link, &[], "").await.is(303);
        browser
    }

    pub(crate) async fn raise(&self, body: &str) -> RequestId {
        raise(&self.engine, &self.machine, body).await
    }

    /// Raises a request with these fields.
    pub(crate) async fn ask(&self, fields: &str) -> RequestId {
        self.raise(&format!(
            r#"{{"waiter_ref":"run:1","prompt":{{"title":"Go on?"}},"requires":{{"v":1,"answer":{{"fields":{fields}}}}}}}"#
        ))
        .await
    }

    /// The values that the receipt of a request has, if there is one.
    pub(crate) async fn decided(&self, id: RequestId) -> Option<String> {
        let view = self.engine.surface(&self.machine, id).await.unwrap();
        view.receipt.map(|receipt| {
            receipt.get("decision").and_then(|decision| decision.get("values")).map(Json::to_text).unwrap()
        })
    }

    /// Everything that a change would show in: the events of both tenants, and the requests.
    pub(crate) async fn snapshot(&self) -> String {
        let mut seen = String::new();
        for tenant in [TenantId::System, TenantId::Org(self.tenant)] {
            seen.push_str(&format!("{:?}", self.store.read_events(&tenant, 0, 10_000).await.unwrap()));
        }
        let requests = self.engine.requests(&self.machine, &handoff_engine::decision::RequestFilter::default()).await;
        format!("{seen}{requests:?}")
    }
}

/// One registered schema, under which a document has to have a name.
struct NamedThings;

impl Schemas for NamedThings {
    fn check(&self, schema_ref: &str, document: &Json) -> Option<bool> {
        (schema_ref == "schema:thing").then(|| document.get("name").is_some())
    }
}

/// A machine of a tenant.
pub(crate) async fn machine(engine: &Engine, tenant: OrgId) -> Principal {
    let account = engine.create_machine(tenant, "Deploy bot").await.unwrap();
    let holder = PrincipalId::ServiceAccount(account);
    let key = engine.issue_key(tenant, holder, handoff_engine::identity::NewCredential::default()).await.unwrap();
    engine.authenticate(Some(key.expose())).await.unwrap()
}

pub(crate) async fn raise(engine: &Engine, machine: &Principal, body: &str) -> RequestId {
    engine.raise(machine, read_str(body).unwrap(), None).await.unwrap().request.id
}

/// The answer form on a request's page.
pub(crate) fn answer_form(page: &Reply, id: RequestId) -> html::PageForm {
    html::form(&page.body, &format!("/requests/{id}"))
}

/// The form on a request's page that passes it on.
pub(crate) fn pass_on_form(page: &Reply, id: RequestId) -> html::PageForm {
    html::form(&page.body, &format!("/requests/{id}/pass-on"))
}

/// The form on a request's page that says that one cannot answer.
pub(crate) fn unable_form(page: &Reply, id: RequestId) -> html::PageForm {
    html::form(&page.body, &format!("/requests/{id}/unable"))
}

/// A question with one choice.
pub(crate) const YES_NO: &str = r#"[{"name":"decision","label":"Decision","type":"choice","required":true,
    "options":[{"id":"approve","label":"Refund it"},{"id":"reject","label":"Don't refund"}]}]"#;
