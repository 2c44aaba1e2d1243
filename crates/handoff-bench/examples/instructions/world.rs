//! A server without its socket: a tenant with a machine and a person, over SQLite on disk.

use std::{error::Error, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use handoff_engine::{Engine, identity::NewCredential};
use handoff_http::{HttpOptions, router};
use handoff_protocol::{
    id::{KeyId, PrincipalId, Ulid},
    principal::Role,
    secret::Secret,
    signature::SigningKey,
};
use handoff_store_sqlite::{SqliteOptions, SqliteStore};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

const ANSWER: &str = r#"{"values":{"decision":"approve","note":"Checked the invoices."}}"#;

pub(crate) struct World {
    router: Router,
    machine: String,
    person: String,
    // Removed when the work is done.
    _directory: TempDir,
}

impl World {
    pub(crate) async fn new() -> Result<Self, Box<dyn Error>> {
        let directory = tempfile::tempdir()?;
        let store = Arc::new(SqliteStore::open(directory.path().join("handoff.db"), SqliteOptions::default())?);
        let key = SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(7)), &Secret::new([7; 32]));
        let engine = Engine::builder().store(store).signer(Arc::new(key)).build().await?;
        let tenant = engine.create_tenant().await?;
        let machine = PrincipalId::ServiceAccount(engine.create_machine(tenant, "a program").await?);
        let person = PrincipalId::User(engine.create_person(tenant, "A person", Role::Admin).await?);
        let machine = engine.issue_key(tenant, machine, NewCredential::default()).await?.expose().clone();
        let person = engine.issue_key(tenant, person, NewCredential::default()).await?.expose().clone();
        let router = router(engine, HttpOptions::default().rate_limit_per_minute(0));
        Ok(Self { router, machine, person, _directory: directory })
    }

    /// Raises a request and gives its id.
    pub(crate) async fn raise(&self, number: usize) -> Result<String, Box<dyn Error>> {
        let body = format!(
            r#"{{"waiter_ref":"bench.{number}","mode":"gated","prompt":{{"title":"Release 4.2.1 to production?",
            "body":"The build passed its 2,114 tests. It changes the totals of 31 open invoices by a cent each."}},
            "requires":{{"v":1,"answer":{{"fields":[{{"name":"decision","type":"choice","required":true,"options":
            [{{"id":"approve","label":"Approve"}},{{"id":"reject","label":"Reject"}}]}},{{"name":"note","type":"text",
            "max_len":500}}]}},"capabilities":[],"authority":{{"min_role":"editor","forbid_requester":true}}}}}}"#
        );
        let key = format!("{number:026}");
        let text = self.call("POST", "/v1/requests", &self.machine, Some(&key), body).await?;
        let request: Value = serde_json::from_str(&text)?;
        Ok(request.get("id").and_then(Value::as_str).ok_or("a request without an id")?.to_owned())
    }

    pub(crate) async fn answer(&self, request: &str) -> Result<(), Box<dyn Error>> {
        let path = format!("/v1/requests/{request}/answer");
        self.call("POST", &path, &self.person, Some(request), ANSWER.to_owned()).await.map(drop)
    }

    pub(crate) async fn export(&self) -> Result<String, Box<dyn Error>> {
        self.call("GET", "/v1/export", &self.machine, None, String::new()).await
    }

    async fn call(
        &self,
        method: &str,
        path: &str,
        token: &str,
        key: Option<&str>,
        body: String,
    ) -> Result<String, Box<dyn Error>> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let response = self.router.clone().oneshot(request.body(Body::from(body))?).await?;
        let status = response.status();
        let text = String::from_utf8(to_bytes(response.into_body(), usize::MAX).await?.to_vec())?;
        if matches!(status, StatusCode::OK | StatusCode::CREATED) {
            Ok(text)
        } else {
            Err(format!("{method} {path} was answered with {status}: {text}").into())
        }
    }
}
