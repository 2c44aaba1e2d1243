//! `/v1/sinks/{sink_ref}/values`: values that pass through (section 17). Neither what is sent nor what comes of it is logged.

use axum::{extract::State, http::StatusCode};
use handoff_protocol::id::RequestId;

use crate::{
    api::Api,
    extract::{Caller, NamedSink, Query, SentKey, SentSecretBody},
    refusal::Refusal,
    reply::{self, Reply},
};

pub(super) async fn submit(
    State(api): State<Api>,
    caller: Caller,
    sink: NamedSink,
    query: Query,
    SentKey(key): SentKey,
    body: SentSecretBody,
) -> Reply {
    let request = query.one("request_id")?.map(|text| {
        RequestId::parse(&text)
            .map_err(|_| Refusal::invalid("request_id", "must be the id of a request, as its raise gave it"))
    });
    let accepted = match request.transpose()? {
        Some(id) => api.engine.submit_values_for(&caller.0, id, &sink.0, body.0, key.as_ref()).await?,
        None => api.engine.submit_values(&caller.0, &sink.0, body.0, key.as_ref()).await?,
    };
    reply::json(StatusCode::ACCEPTED, &accepted)
}
