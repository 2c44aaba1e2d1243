//! What the tests stand on: an engine with one tenant, a machine and a person.

use std::sync::Arc;

use handoff_engine::{
    Builder, Engine,
    decision::{Raised, ReceiptFilter, RequestFilter},
    identity::NewCredential,
    store::{Store, StoredEvent},
};
use handoff_protocol::{
    decision::{
        DecisionError, ErrorCode, Policy, Routing, WaiterRef,
        idempotency::IdempotencyKey,
        view::{AnswerResult, RequestView, SignalView},
    },
    id::{KeyId, OrgId, PrincipalId, RequestId, TenantId, Ulid},
    json::{Json, read_str},
    principal::{Principal, Role},
    secret::Secret,
    signature::SigningKey,
};
use handoff_testkit::{FaultStore, MemoryStore, SeededEntropy, VirtualClock, memory::LabelHook};

/// One engine and who calls it.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<FaultStore<MemoryStore>>,
    pub(crate) clock: VirtualClock,
    pub(crate) tenant: OrgId,
    pub(crate) machine: Principal,
    pub(crate) person: Principal,
}

impl World {
    /// A world without a ladder, so that nothing happens by itself but what a test asks for.
    pub(crate) async fn new() -> Self {
        Self::with_label_hook(Arc::new(|_| {})).await
    }

    /// A world whose store calls `hook` at the labels of write-sets.
    pub(crate) async fn with_label_hook(hook: LabelHook) -> Self {
        Self::with_engine(hook, |builder| builder.policy(without_ladder())).await
    }

    /// A world whose engine has other ports as well.
    pub(crate) async fn with_ports(ports: impl FnOnce(Builder) -> Builder) -> Self {
        Self::with_engine(Arc::new(|_| {}), |builder| ports(builder.policy(without_ladder()))).await
    }

    /// A world whose engine is built with more.
    pub(crate) async fn with_engine(hook: LabelHook, more: impl FnOnce(Builder) -> Builder) -> Self {
        let clock = VirtualClock::default();
        let entropy = Arc::new(SeededEntropy::new(1));
        let memory = MemoryStore::with_label_hook(Arc::new(clock.clone()), Arc::new(SeededEntropy::new(2)), hook);
        let store = Arc::new(FaultStore::new(memory, []));
        let signer = SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(7)), &Secret::new([7; 32]));
        let builder = Engine::builder()
            .store(Arc::clone(&store) as Arc<dyn Store>)
            .clock(Arc::new(clock.clone()))
            .entropy(entropy)
            .signer(Arc::new(signer));
        let engine = more(builder).build().await.unwrap();
        let tenant = engine.create_tenant().await.unwrap();
        let machine = add_machine(&engine, tenant).await;
        let person = add_person(&engine, tenant, Role::Editor).await;
        Self { engine, store, clock, tenant, machine, person }
    }

    pub(crate) async fn raise(&self, body: &str, key: &str) -> Result<Raised, DecisionError> {
        self.engine.raise(&self.machine, json(body), Some(&key_of(key))).await
    }

    /// Raises under a fresh key and gives the id.
    pub(crate) async fn raised(&self, body: &str) -> RequestId {
        let raised = self.engine.raise(&self.machine, json(body), None).await.unwrap();
        assert!(raised.created, "{body}");
        raised.request.id
    }

    pub(crate) async fn answer(&self, id: RequestId, key: &str) -> Result<AnswerResult, DecisionError> {
        self.engine.answer(&self.person, id, json(YES), Some(&key_of(key))).await
    }

    pub(crate) async fn cancel(&self, id: RequestId, key: &str) -> Result<RequestView, DecisionError> {
        self.engine.cancel(&self.machine, id, json(REASON), Some(&key_of(key))).await
    }

    pub(crate) async fn request(&self, id: RequestId) -> RequestView {
        self.engine.request(&self.machine, id).await.unwrap()
    }

    pub(crate) async fn requests(&self) -> Vec<RequestId> {
        let filter = RequestFilter { limit: Some(200), ..RequestFilter::default() };
        let page = self.engine.requests(&self.machine, &filter).await.unwrap();
        page.data.iter().map(|request| request.id).collect()
    }

    pub(crate) async fn receipts(&self) -> Vec<Json> {
        let page = self.engine.receipts(&self.machine, ReceiptFilter::default()).await.unwrap();
        page.data.iter().map(|receipt| json(receipt.as_str())).collect()
    }

    pub(crate) async fn signals(&self, waiter: &str) -> Vec<SignalView> {
        let waiter = WaiterRef::parse(waiter).unwrap();
        self.engine.signals(&self.machine, &waiter, std::time::Duration::ZERO).await.unwrap().data
    }

    pub(crate) async fn events(&self) -> Vec<StoredEvent> {
        self.store.read_events(&TenantId::Org(self.tenant), 0, 10_000).await.unwrap()
    }

    /// The types of a request's events, oldest first.
    pub(crate) async fn events_of(&self, id: RequestId) -> Vec<String> {
        let events = self.events().await;
        let of_it = events.iter().filter(|event| event.subject == id.to_string());
        of_it.map(|event| event.event_type.to_string()).collect()
    }

    /// When the next timer of the store is due, if it has any.
    pub(crate) async fn next_timer(&self) -> Option<handoff_protocol::timestamp::Timestamp> {
        self.store.claim_timers(0, std::time::Duration::ZERO).await.unwrap().next
    }
}

/// What a deployment chooses that reaches nobody by itself.
pub(crate) fn without_ladder() -> Policy {
    Policy { ladder: Arc::new(Routing { ladder: Vec::new(), ..Routing::starter() }), ..Policy::default() }
}

pub(crate) async fn add_machine(engine: &Engine, tenant: OrgId) -> Principal {
    let id = engine.create_machine(tenant, "a machine").await.unwrap();
    enter(engine, tenant, PrincipalId::ServiceAccount(id)).await
}

pub(crate) async fn add_person(engine: &Engine, tenant: OrgId, role: Role) -> Principal {
    let id = engine.create_person(tenant, "a person", role).await.unwrap();
    enter(engine, tenant, PrincipalId::User(id)).await
}

async fn enter(engine: &Engine, tenant: OrgId, id: PrincipalId) -> Principal {
    let token = engine.issue_key(tenant, id, NewCredential::default()).await.unwrap();
    engine.authenticate(Some(token.expose())).await.unwrap()
}

pub(crate) const YES: &str = r#"{"values":{"decision":"yes"}}"#;
pub(crate) const REASON: &str = r#"{"reason":"no longer needed"}"#;

/// A question under a waiter, answered by `YES`; another title is another question.
pub(crate) fn ask(waiter: &str, title: &str) -> String {
    format!(
        r#"{{"waiter_ref":"{waiter}","prompt":{{"title":"{title}"}},"requires":{{"v":1,"answer":{{"fields":[{{"name":"decision","type":"choice","required":true,"options":[{{"id":"yes","label":"Yes"}},{{"id":"no","label":"No"}}]}}]}}}}}}"#
    )
}

/// The same with more members at its top level.
pub(crate) fn ask_with(waiter: &str, title: &str, more: &str) -> String {
    let body = ask(waiter, title);
    format!("{},{more}}}", body.strip_suffix('}').unwrap())
}

pub(crate) fn json(text: &str) -> Json {
    read_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn key_of(key: &str) -> IdempotencyKey {
    IdempotencyKey::parse(key).unwrap()
}

pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, DecisionError>) -> ErrorCode {
    result.unwrap_err().code()
}
