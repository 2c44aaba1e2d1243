//! `handoffd inject-channel-message`, `observe-page-change` and `dump-events`: what an operator puts into the record of a
//! request, and reads out of it.

use std::path::Path;

use handoff_engine::{Engine, decision::Noted};
use handoff_protocol::id::{OrgId, RequestId};
use handoff_server::store;

use super::{failure::Failure, output, settings};

pub(super) async fn inject(file: Option<&Path>, request: &str, channel: &str, text: &str) -> Result<(), Failure> {
    let (engine, tenant, id) = find(file, request).await?;
    say(&engine.receive_message(tenant, id, channel, text).await?)
}

pub(super) async fn observe(file: Option<&Path>, request: &str) -> Result<(), Failure> {
    let (engine, tenant, id) = find(file, request).await?;
    say(&engine.observe_change(tenant, id).await?)
}

pub(super) async fn dump(file: Option<&Path>, request: &str, long: bool) -> Result<(), Failure> {
    let (engine, tenant, id) = find(file, request).await?;
    for event in engine.history(tenant, id).await? {
        let event_type = &event.event_type;
        let said = if long {
            output::say(format_args!("{} {event_type} {} {}", event.at, event.subject, event.data))
        } else {
            output::say(event_type)
        };
        said.map_err(Failure::Output)?;
    }
    Ok(())
}

/// The request and its tenant. What is no id, byte for byte, names none (rule B-3).
async fn find(file: Option<&Path>, request: &str) -> Result<(Engine, OrgId, RequestId), Failure> {
    let store = store::open_existing(&settings::start(file, "warn")?.database_url)?;
    let engine = Engine::builder().store(store).build().await?;
    let id = RequestId::parse(request).map_err(|_| Failure::NoRequest)?;
    let tenant = engine.tenant_of_request(id).await?;
    Ok((engine, tenant, id))
}

/// The record, the request, and how that stands.
fn say(noted: &Noted) -> Result<(), Failure> {
    let Noted { id, request_id, state } = noted;
    output::say(format_args!("{id} {request_id} {}", state.as_str())).map_err(Failure::Output)
}
