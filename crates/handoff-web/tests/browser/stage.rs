//! A deployment on a socket, people with windows of their own, and the one browser that a run of tests shares.

use std::{
    env,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use handoff_browser::{Chromium, Look, Page};
use handoff_engine::{Engine, identity::NewCredential, store::Store as _};
use handoff_protocol::{
    duration::ExactDuration,
    id::{KeyId, OrgId, PrincipalId, RequestId, TenantId, Ulid, UserId},
    json::read_str,
    principal::{Principal, Role},
    secret::Secret,
    signature::SigningKey,
};
use handoff_testkit::{MemoryStore, SeededEntropy, VirtualClock};
use tokio::net::TcpListener;

pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) store: MemoryStore,
    pub(crate) clock: VirtualClock,
    pub(crate) tenant: OrgId,
    pub(crate) machine: Principal,
    pub(crate) base: String,
    chromium: Arc<Chromium>,
}

/// What a test looks at, unless it is about something else.
pub(crate) const YES_NO: &str = r#"[{"name":"decision","label":"Decision","type":"choice","required":true,
    "options":[{"id":"approve","label":"Refund it"},{"id":"reject","label":"Do not refund"}]}]"#;

/// Both sizes.
pub(crate) fn sizes() -> [Look; 2] {
    [Look::phone(), Look::desktop()]
}

impl Stage {
    /// A stage, if there is a browser to look at it with.
    pub(crate) async fn new() -> Option<Self> {
        let chromium = chromium()?;
        let clock = VirtualClock::default();
        let store = MemoryStore::new(Arc::new(clock.clone()), Arc::new(SeededEntropy::new(1)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let engine = Engine::builder()
            .store(Arc::new(store.clone()))
            .clock(Arc::new(clock.clone()))
            .entropy(Arc::new(SeededEntropy::new(2)))
            .signer(Arc::new(SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(7)), &Secret::new([7; 32]))))
            .public_base(&base)
            .build()
            .await
            .unwrap();
        let router = handoff_web::router(engine.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let tenant = engine.create_tenant().await.unwrap();
        let account = PrincipalId::ServiceAccount(engine.create_machine(tenant, "Deploy bot").await.unwrap());
        let key = engine.issue_key(tenant, account, NewCredential::default()).await.unwrap();
        let machine = engine.authenticate(Some(key.expose())).await.unwrap();
        Some(Self { engine, store, clock, tenant, machine, base, chromium })
    }

    pub(crate) fn window(&self, look: &Look) -> Page {
        self.chromium.window(look).unwrap()
    }

    pub(crate) async fn raise(&self, body: &str) -> RequestId {
        self.engine.raise(&self.machine, read_str(body).unwrap(), None).await.unwrap().request.id
    }

    pub(crate) async fn ask(&self, title: &str, fields: &str) -> RequestId {
        let requires = format!(r#"{{"v":1,"answer":{{"fields":{fields}}}}}"#);
        self.raise(&format!(r#"{{"waiter_ref":"w","prompt":{{"title":"{title}"}},"requires":{requires}}}"#)).await
    }

    pub(crate) async fn link(&self, person: UserId, request: Option<RequestId>) -> String {
        let token = self.engine.issue_link(self.tenant, person, ExactDuration::from_hours(1), request).await.unwrap();
        format!("{}/enter/{}", self.base, token.expose())
    }

    pub(crate) async fn person(&self, name: &str, role: Role) -> UserId {
        self.engine.create_person(self.tenant, name, role).await.unwrap()
    }

    /// The window of a person who has entered by a link, as people do.
    pub(crate) async fn entered(&self, name: &str, look: &Look) -> Page {
        let person = self.person(name, Role::Editor).await;
        let link = self.link(person, None).await;
        let page = self.window(look);
        page.open(&link).unwrap();
        page.click("main form button").unwrap();
        page.says("Everything").unwrap();
        page
    }

    pub(crate) fn address(&self, id: RequestId) -> String {
        format!("{}/requests/{id}", self.base)
    }

    /// The values that a request was answered with.
    pub(crate) async fn decided(&self, id: RequestId) -> Option<String> {
        let receipt = self.engine.surface(&self.machine, id).await.unwrap().receipt?;
        Some(receipt.get("decision").unwrap().get("values").unwrap().to_text())
    }

    /// Everything that a change would show in.
    pub(crate) async fn snapshot(&self) -> String {
        let mut seen = String::new();
        for tenant in [TenantId::System, TenantId::Org(self.tenant)] {
            seen.push_str(&format!("{:?}", self.store.read_events(&tenant, 0, 10_000).await.unwrap()));
        }
        let requests = self.engine.requests(&self.machine, &handoff_engine::decision::RequestFilter::default()).await;
        format!("{seen}{requests:?}")
    }
}

/// The browser that the tests of this run share; it goes with the last of them.
fn chromium() -> Option<Arc<Chromium>> {
    static SHARED: Mutex<Weak<Chromium>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(running) = shared.upgrade() {
        return Some(running);
    }
    let Some(program) = handoff_browser::find() else {
        assert!(env::var_os("CI").is_none(), "there is no Chromium, and continuous integration needs one");
        println!("there is no Chromium on the path, so nothing is looked at");
        return None;
    };
    let running = Arc::new(Chromium::launch(&program).unwrap());
    *shared = Arc::downgrade(&running);
    Some(running)
}

/// Where the rules of axe are, if they were fetched.
pub(crate) fn axe() -> Option<String> {
    let place = env::var_os("HANDOFF_AXE").map(PathBuf::from);
    let Some(place) = place else {
        assert!(env::var_os("CI").is_none(), "HANDOFF_AXE names no rules; `cargo xtask test` fetches them");
        println!("HANDOFF_AXE is unset, so no page is held to the rules of axe; `cargo xtask test` fetches them");
        return None;
    };
    Some(std::fs::read_to_string(place).unwrap())
}
