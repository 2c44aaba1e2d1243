//! `/v1/deliveries/{delivery_id}`: delivering once more (rule V-12).

use axum::{extract::State, http::StatusCode};
use handoff_protocol::id::DeliveryId;

use crate::{
    api::Api,
    extract::{Caller, Named, SentKey, SentOptionalBody},
    reply::{self, Reply},
};

/// It is queued, not sent yet, so 202.
pub(super) async fn redeliver(
    State(api): State<Api>,
    caller: Caller,
    id: Named<DeliveryId>,
    SentKey(key): SentKey,
    body: SentOptionalBody,
) -> Reply {
    reply::json(StatusCode::ACCEPTED, &api.engine.redeliver(&caller.0, id.0, &body.0, key.as_ref()).await?)
}
