//! Reaching people: escalate and reassign a request, read a delivery, send it again, report how far it got.

use axum::{extract::State, http::StatusCode};
use handoff_protocol::id::DeliveryId;

use crate::{
    api::Api,
    extract::{Caller, Named, OnRequest, SentBody, SentKey, SentOptionalBody, replied},
    reply::{self, Reply},
};

/// Without a body the next rung is meant (section 11).
pub(super) async fn escalate(State(api): State<Api>, call: OnRequest<SentOptionalBody>) -> Reply {
    let OnRequest { caller, id, key, body } = call;
    replied(&api, &caller, id, api.engine.escalate(&caller.0, id, body.0, key.as_ref()).await).await
}

pub(super) async fn reassign(State(api): State<Api>, call: OnRequest<SentBody>) -> Reply {
    let OnRequest { caller, id, key, body } = call;
    replied(&api, &caller, id, api.engine.reassign(&caller.0, id, body.0, key.as_ref()).await).await
}

pub(super) async fn read(State(api): State<Api>, caller: Caller, id: Named<DeliveryId>) -> Reply {
    reply::ok(&api.engine.delivery(&caller.0, id.0).await?)
}

/// 202: the attempt is queued, and what comes of it shows on the delivery (rule V-12).
pub(super) async fn redeliver(
    State(api): State<Api>,
    caller: Caller,
    id: Named<DeliveryId>,
    SentKey(key): SentKey,
    body: SentOptionalBody,
) -> Reply {
    reply::json(StatusCode::ACCEPTED, &api.engine.redeliver(&caller.0, id.0, &body.0, key.as_ref()).await?)
}

pub(super) async fn grade(
    State(api): State<Api>,
    caller: Caller,
    id: Named<DeliveryId>,
    SentKey(key): SentKey,
    body: SentBody,
) -> Reply {
    reply::ok(&api.engine.report_grade(&caller.0, id.0, body.0, key.as_ref()).await?)
}
