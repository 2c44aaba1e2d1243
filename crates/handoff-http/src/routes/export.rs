//! `/v1/export`: the caller's own receipts as a bundle that verifies offline.

use axum::{extract::State, http::StatusCode};

use crate::{
    api::Api,
    extract::Caller,
    refusal::Refusal,
    reply::{self, Reply},
};

pub(super) async fn read(State(api): State<Api>, caller: Caller) -> Reply {
    let bundle = api.engine.export_own(&caller.0).await?;
    let text = bundle.to_text().map_err(|error| {
        tracing::error!(%error, "a bundle cannot be written");
        Refusal::internal()
    })?;
    Ok(reply::text(StatusCode::OK, text))
}
