//! `/v1/sinks/{sink_ref}/values`: values that pass through (section 17). Neither what is sent nor what comes of it is logged.

use axum::{extract::State, http::StatusCode};

use crate::{
    api::Api,
    extract::{Caller, NamedSink, SentKey, SentSecretBody},
    reply::{self, Reply},
};

pub(super) async fn submit(
    State(api): State<Api>,
    caller: Caller,
    sink: NamedSink,
    SentKey(key): SentKey,
    body: SentSecretBody,
) -> Reply {
    let accepted = api.engine.submit_values(&caller.0, &sink.0, body.0, key.as_ref()).await?;
    reply::json(StatusCode::ACCEPTED, &accepted)
}
