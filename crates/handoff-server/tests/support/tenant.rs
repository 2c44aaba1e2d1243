//! A tenant with a machine that asks and a person who answers, made in a database before a server opens it.

use handoff_engine::{Engine, identity::NewCredential};
use handoff_protocol::{
    id::{OrgId, PrincipalId},
    principal::Role,
};
use handoff_server::store;

use crate::support::{
    connection::{Answer, Connection},
    deployment::Deployment,
};

pub(crate) struct Tenant {
    pub(crate) id: OrgId,
    pub(crate) machine: String,
    pub(crate) person: String,
}

/// Does something with the store of a deployment directly, as commands beside the server do.
pub(crate) fn with_engine<T>(deployment: &Deployment, work: impl AsyncFnOnce(Engine) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = store::open(deployment.url()).unwrap();
        work(Engine::builder().store(store).build().await.unwrap()).await
    })
}

/// An answer to what [`Tenant::raise`] asks.
pub(crate) const YES: &str = r#"{"values":{"decision":"yes"}}"#;

impl Tenant {
    /// Makes a tenant and its credentials.
    pub(crate) fn create(deployment: &Deployment) -> Self {
        with_engine(deployment, async |engine| {
            let id = engine.create_tenant().await.unwrap();
            let machine = PrincipalId::ServiceAccount(engine.create_machine(id, "a program").await.unwrap());
            let person = PrincipalId::User(engine.create_person(id, "A person", Role::Admin).await.unwrap());
            let machine = engine.issue_key(id, machine, NewCredential::default()).await.unwrap();
            let person = engine.issue_key(id, person, NewCredential::default()).await.unwrap();
            Self { id, machine: machine.expose().clone(), person: person.expose().clone() }
        })
    }

    /// Asks yes or no for a waiter.
    pub(crate) fn raise(&self, connection: &mut Connection, waiter: &str) -> std::io::Result<Answer> {
        let body = format!(
            r#"{{"waiter_ref":"{waiter}","mode":"gated","prompt":{{"title":"Ship it?"}},"requires":{{"v":1,"answer":{{"fields":
            [{{"name":"decision","type":"choice","required":true,"options":[{{"id":"yes","label":"Yes"}},{{"id":"no","label":"No"}}]}}]}}}}}}"#
        );
        connection.call("POST", "/v1/requests", &self.machine, &body)
    }

    /// Answers yes.
    pub(crate) fn answer(&self, connection: &mut Connection, request: &str) -> std::io::Result<Answer> {
        connection.call("POST", &format!("/v1/requests/{request}/answer"), &self.person, YES)
    }
}
