//! `/v1/requests`: raise, list, read, answer, amend, cancel, supersede, arm, and what belongs to one request.

use axum::{extract::State, http::StatusCode};
use handoff_engine::decision::RequestFilter;
use handoff_protocol::{
    decision::{Delivery, WaiterRef, limits, terms::RequestState},
    id::{PrincipalId, RequestId},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    api::Api,
    extract::{Caller, Named, OnRequest, Query, SentBody, SentKey, SentOptionalBody, replied},
    refusal::Refusal,
    reply::{self, Reply},
};

/// The deliveries of a request, in the order of their making.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "DeliveryList")]
pub(crate) struct Deliveries {
    data: Vec<Delivery>,
}

/// 201 for a request that this call created, 200 for one that it found (rule K-2).
pub(super) async fn raise(State(api): State<Api>, caller: Caller, SentKey(key): SentKey, body: SentBody) -> Reply {
    let raised = api.engine.raise(&caller.0, body.0, key.as_ref()).await?;
    let created = raised.created;
    #[cfg(feature = "planted-faults")]
    let created = created || handoff_protocol::planted::Fault::RaiseAlwaysSays201.is_planted();
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    reply::json(status, &raised.request)
}

pub(super) async fn list(State(api): State<Api>, caller: Caller, query: Query) -> Reply {
    let filter = RequestFilter {
        states: query.all("state")?.iter().map(|word| state(word)).collect::<Result<_, _>>()?,
        waiter_ref: query.one("waiter_ref")?.map(|text| WaiterRef::parse(&text)).transpose()?,
        assignee: query.one("assignee")?.map(|text| principal(&text)).transpose()?,
        channel: query.one("channel")?.map(|text| channel(&text)).transpose()?,
        created: query.created()?,
        after: query.one("cursor")?.map(|text| cursor(&text)).transpose()?,
        limit: query.limit(limits::MAX_PAGE)?,
    };
    reply::ok(&api.engine.requests(&caller.0, &filter).await?)
}

/// Holds for as long as `wait` says unless the request has ended; 200 either way (section 21).
pub(super) async fn read(State(api): State<Api>, caller: Caller, id: Named<RequestId>, query: Query) -> Reply {
    let wait = query.wait()?;
    let _held = api.options.metrics.hold(wait);
    #[cfg(feature = "planted-faults")]
    let caller = crate::planted::spanning(&api, caller, id.0).await?;
    let request = api.engine.request_settled(&caller.0, id.0, wait).await?;
    #[cfg(feature = "planted-faults")]
    let request = crate::planted::served(&request);
    reply::ok(&request)
}

pub(super) async fn answer(State(api): State<Api>, call: OnRequest<SentBody>) -> Reply {
    let OnRequest { caller, id, key, body } = call;
    replied(&api, &caller, id, api.engine.answer(&caller.0, id, body.0, key.as_ref()).await).await
}

pub(super) async fn cancel(State(api): State<Api>, call: OnRequest<SentBody>) -> Reply {
    let OnRequest { caller, id, key, body } = call;
    replied(&api, &caller, id, api.engine.cancel(&caller.0, id, body.0, key.as_ref()).await).await
}

/// An empty amendment changes nothing (section 11), so the body may be left out.
pub(super) async fn amend(State(api): State<Api>, call: OnRequest<SentOptionalBody>) -> Reply {
    let OnRequest { caller, id, key, body } = call;
    replied(&api, &caller, id, api.engine.amend(&caller.0, id, body.0, key.as_ref()).await).await
}

pub(super) async fn supersede(State(api): State<Api>, call: OnRequest<SentBody>) -> Reply {
    let OnRequest { caller, id, key, body } = call;
    replied(&api, &caller, id, api.engine.supersede(&caller.0, id, body.0, key.as_ref()).await).await
}

pub(super) async fn attempt(State(api): State<Api>, call: OnRequest<SentOptionalBody>) -> Reply {
    let OnRequest { caller, id, key, body } = call;
    replied(&api, &caller, id, api.engine.arm_attempt(&caller.0, id, body.0, key.as_ref()).await).await
}

pub(super) async fn receipt(State(api): State<Api>, caller: Caller, id: Named<RequestId>) -> Reply {
    Ok(reply::text(StatusCode::OK, api.engine.request_receipt(&caller.0, id.0).await?))
}

pub(super) async fn deliveries(State(api): State<Api>, caller: Caller, id: Named<RequestId>) -> Reply {
    let request = api.engine.request(&caller.0, id.0).await?;
    reply::ok(&Deliveries { data: request.deliveries })
}

fn state(word: &str) -> Result<RequestState, Refusal> {
    let known = RequestState::ALL.iter().find(|(name, _)| *name == word);
    known.map(|(_, state)| *state).ok_or_else(|| {
        let names: Vec<&str> = RequestState::ALL.iter().map(|(name, _)| *name).collect();
        Refusal::invalid("state", format!("must be one of {}", names.join(", ")))
    })
}

fn principal(text: &str) -> Result<PrincipalId, Refusal> {
    PrincipalId::parse(text).map_err(|_| Refusal::invalid("assignee", "must be the id of a person or a machine"))
}

/// Channels come with plug-ins, so any name may be one; no name is none.
fn channel(text: &str) -> Result<String, Refusal> {
    if text.is_empty() { Err(Refusal::invalid("channel", "must name a channel")) } else { Ok(text.to_owned()) }
}

fn cursor(text: &str) -> Result<RequestId, Refusal> {
    RequestId::parse(text).map_err(|_| Refusal::invalid("cursor", "must be the `next_cursor` of an earlier page"))
}
