//! Serves the pages over a store in memory, with requests to look at: `cargo run -p handoff-web --example look`.
//!
//! For working on templates and the stylesheet. It prints a one-time link, and nothing outlives it.
#![expect(clippy::print_stdout, reason = "an example talks to the terminal")]

use std::{error::Error, sync::Arc};

use handoff_engine::{Engine, clock::SystemClock, entropy::SystemEntropy, identity::NewCredential};
use handoff_protocol::{duration::ExactDuration, id::PrincipalId, json::read_str, principal::Role};
use handoff_testkit::MemoryStore;

const REQUESTS: [&str; 8] = [
    include_str!("../../../examples/requests/contract.json"),
    include_str!("../../../examples/requests/deployment.json"),
    include_str!("../../../examples/requests/question.json"),
    include_str!("../../../examples/requests/refund.json"),
    r#"{"waiter_ref":"run:0198f2a1","urgency":"high","prompt":{"title":"Refund $2,400 to Acme Corp?",
      "body":"Invoice INV-8821 was charged twice on 28 July.\nAcme has asked for the second charge back.\n\nThe refund cannot be undone once it has been sent to the bank.",
      "evidence":[{"kind":"link","label":"Invoice INV-8821","url":"https://billing.example/invoices/8821"},
        {"kind":"table","label":"Both charges","value":{"columns":["Date","Amount","Charge","Card","State"],
          "rows":[["2026-07-28","$2,400","ch_1A","ending 4242","captured"],["2026-07-28","$2,400","ch_1B","ending 4242","captured"]]}},
        {"kind":"text","label":"What Acme wrote","value":"We see two identical charges. Please send one back."}]},
      "requires":{"v":1,"answer":{"fields":[
        {"name":"decision","label":"Decision","type":"choice","required":true,
          "options":[{"id":"approve","label":"Refund it"},{"id":"reject","label":"Do not refund"}]},
        {"name":"reasons","label":"What speaks for it","type":"choice","multi":true,
          "options":[{"id":"twice","label":"It really was charged twice"},{"id":"goodwill","label":"Goodwill"}]},
        {"name":"amount","label":"Amount in dollars","help":"The full second charge unless you say otherwise.","type":"number","min":1,"max":2400,"required":true,"initial":2400},
        {"name":"reference","label":"Bank reference","type":"text","max_len":35},
        {"name":"message","label":"Message to Acme","type":"text","max_len":500},
        {"name":"notify","label":"Tell the account manager?","type":"boolean","required":true},
        {"name":"checked","label":"I have compared both charges with the bank statement","type":"attestation","required":true}]},
        "authority":{"min_role":"editor","reason":"Refunds above $1,000 need an editor."}},
      "ttl":"PT4H","ttl_policy":{"on_expiry":"expire_and_deny"}}"#,
    r#"{"waiter_ref":"deploy:eu-west","prompt":{"title":"Ship build 1482 to production?"},
      "requires":{"v":1,"answer":{"fields":[{"name":"ship","label":"Ship it?","type":"boolean","required":true}]}}}"#,
    r#"{"waiter_ref":"config:eu-west","presentation_binding":"strict","prompt":{"title":"Review the new limits"},
      "requires":{"v":1,"authority":{"auth_strength":"reauth"},"answer":{"fields":[
        {"name":"limits","label":"Limits","type":"document","schema_ref":"https://schemas.example/limits/v1","required":true,
          "initial":{"per_minute":1000,"burst":{"size":50,"window":"PT10S"},"exempt":["billing","health"]}},
        {"name":"change","label":"Change record","type":"file_ref"}]}},"ttl":"PT4H"}"#,
    r#"{"waiter_ref":"hr:41","urgency":"critical","prompt":{"title":"Close the account of a former colleague"},
      "requires":{"v":1,"authority":{"min_role":"admin"}},"ttl":"P2D"}"#,
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let store = MemoryStore::new(Arc::new(SystemClock), Arc::new(SystemEntropy));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", listener.local_addr()?);
    let engine = Engine::builder().store(Arc::new(store)).public_base(&base).build().await?;
    let tenant = engine.create_tenant().await?;
    let machine = engine.create_machine(tenant, "Sample machine").await?;
    let key = engine.issue_key(tenant, PrincipalId::ServiceAccount(machine), NewCredential::default()).await?;
    let machine = engine.authenticate(Some(key.expose())).await?;
    for body in REQUESTS {
        engine.raise(&machine, read_str(body)?, None).await?;
    }
    let person = engine.create_person(tenant, "Ada Lovelace", Role::Editor).await?;
    let link = engine.issue_link(tenant, person, ExactDuration::from_seconds(3600), None).await?;
    println!("{base}/enter/{}", link.expose());
    axum::serve(listener, handoff_web::router(engine)).await?;
    Ok(())
}
