//! What operators ask: is it alive, is it ready, what did it count. Plain text, without a credential, outside `/v1`.

use std::time::Duration;

use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use handoff_engine::{
    Engine,
    store::{RecordKey, RecordKind, StoreError},
};
use handoff_protocol::id::TenantId;

use super::wrong_method;
use crate::{api::Api, options::HttpOptions};

/// How long the store may take to answer a trivial question before the server counts as not ready.
const READY_WITHIN: Duration = Duration::from_secs(1);
/// No such kind of record exists, so that the question costs one look.
const NOTHING: RecordKind = RecordKind::from_static("readiness");

/// What operators ask: `/healthz`, `/readyz` and `/metrics`. The metrics are those of the router that was given the same
/// [`Metrics`](crate::Metrics) in its options.
pub fn operations(engine: Engine, options: HttpOptions) -> Router {
    Router::new()
        .route("/healthz", get(health))
        .route("/readyz", get(readiness))
        .route("/metrics", get(metrics))
        .method_not_allowed_fallback(wrong_method)
        .with_state(Api::new(engine, options))
}

/// The process answers; nothing else is looked at.
async fn health() -> Response {
    plain(StatusCode::OK, "ok".to_owned())
}

/// The store answers, and soon.
async fn readiness(State(api): State<Api>) -> Response {
    let key = RecordKey::new(NOTHING, "probe");
    let asked = async { api.engine.store().get(&TenantId::System, &[key]).await };
    match tokio::time::timeout(READY_WITHIN, asked).await {
        Ok(Ok(_)) => plain(StatusCode::OK, "ready".to_owned()),
        Ok(Err(error)) => not_ready(Some(&error)),
        Err(_) => not_ready(None),
    }
}

async fn metrics(State(api): State<Api>) -> Response {
    match api.options.metrics.text(api.engine.sweep_stats(), api.engine.outbound_stats()) {
        Ok(text) => {
            let mut response = plain(StatusCode::OK, text);
            let format = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, format);
            response
        }
        Err(error) => {
            tracing::error!(%error, "the metrics cannot be written");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be written".to_owned())
        }
    }
}

fn not_ready(error: Option<&StoreError>) -> Response {
    if let Some(StoreError::Unavailable(reason)) = error {
        // The store says so itself, once and not for every question.
        tracing::debug!(reason, "not ready");
    } else {
        tracing::warn!(error = error.map(tracing::field::display), "not ready: the store does not answer");
    }
    plain(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer".to_owned())
}

fn plain(status: StatusCode, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (status, headers, text).into_response()
}
