//! The engine inside another program.
//!
//! A deployment tool must not ship to production unless a person says so. It runs the engine in its own process, on its
//! own SQLite file; no server, no HTTP. Run it with `cargo run -p example-embed`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::{error::Error, sync::Arc, time::Duration};

use handoff_engine::{Engine, identity::NewCredential};
use handoff_protocol::{
    decision::WaiterRef,
    id::{Mint, PrincipalId, Ulid},
    json::{Json, read_str},
    principal::Role,
    secret::Secret,
    signature::SigningKey,
    timestamp::Timestamp,
};
use handoff_store_sqlite::{SqliteOptions, SqliteStore};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let store = SqliteStore::open(directory.path().join("deployments.db"), SqliteOptions::default())?;

    // A real program keeps its seed in a vault; this one makes a key for a day.
    let seed = [7; 32];
    let kid = Mint::new(Timestamp::EPOCH, Ulid::MIN, seed).next();
    let key = SigningKey::from_seed(kid, &Secret::from(seed));
    let engine = Engine::builder().store(Arc::new(store)).signer(Arc::new(key)).build().await?;

    // Who is who: one tenant, the tool itself, and a person who may decide.
    let tenant = engine.create_tenant().await?;
    let tool = engine.create_machine(tenant, "deployment tool").await?;
    let dana = engine.create_person(tenant, "Dana", Role::Editor).await?;
    let tool_key = engine.issue_key(tenant, PrincipalId::from(tool), NewCredential::default()).await?;
    let dana_key = engine.issue_key(tenant, PrincipalId::from(dana), NewCredential::default()).await?;
    let tool = engine.authenticate(Some(tool_key.expose())).await?;
    let dana = engine.authenticate(Some(dana_key.expose())).await?;

    // The tool asks.
    let waiter = WaiterRef::parse("deployment:2026-11-29/1")?;
    let question = read_str(
        r#"{
            "waiter_ref": "deployment:2026-11-29/1",
            "prompt": {"title": "Ship build 4711 to production?"},
            "requires": {"v": 1, "answer": {"fields": [
                {"name": "decision", "type": "choice", "required": true, "options": [
                    {"id": "ship", "label": "Ship it"}, {"id": "hold", "label": "Hold it"}]}]},
                "authority": {"min_role": "editor"}},
            "ttl": "PT1H",
            "ttl_policy": {"on_expiry": "expire_and_deny"}
        }"#,
    )?;
    let raised = engine.raise(&tool, question, None).await?;
    println!("asked: {}", raised.request.id);

    // The tool waits, and Dana answers. Nothing but a person's credential could.
    let answer = Json::object([("values", Json::object([("decision", Json::from("ship"))]))]);
    let refused = engine.answer(&tool, raised.request.id, answer.clone(), None).await;
    println!("the tool itself: {}", refused.err().map_or_else(String::new, |error| error.to_string()));
    let (signals, answered) = tokio::join!(
        engine.signals(&tool, &waiter, Duration::from_secs(30)),
        engine.answer(&dana, raised.request.id, answer, None),
    );
    answered?;
    let signal = signals?.data.into_iter().next().ok_or("no signal came")?;
    let decision = signal.decision.ok_or("the signal is only a nudge")?;
    println!("answered: {}", decision.values);

    // One answer, one effect: whoever redeems first may ship, and nobody else ever.
    let authorization = decision.authorization_id.ok_or("nothing was authorized")?;
    for attempt in 1..=2 {
        let effect = Json::object([("effect_key", Json::from("ship:4711"))]);
        let redeemed = engine.redeem(&tool, authorization, &effect).await?;
        println!("redeemed, attempt {attempt}: first_redemption {}", redeemed.first_redemption);
    }
    let ack =
        Json::object([("resume_token", Json::from(signal.resume_token.to_string())), ("applied", Json::from(true))]);
    engine.acknowledge(&tool, signal.id, &ack).await?;

    // And a record that anyone can verify, without this program.
    let bundle = engine.export(tenant).await?.text().await?;
    let report = handoff_protocol::bundle::verify(bundle.as_bytes(), &handoff_protocol::bundle::Trust::default())?;
    println!("verified: {} receipt, {} signed, sound: {}", report.receipts, report.signed, report.is_sound());
    Ok(())
}
