//! Mounting the surfaces on one listener.

use axum::Router;
use handoff_engine::Engine;
use handoff_http::HttpOptions;

/// Everything that the server answers: the API, the pages, and for every other path the API's "no such endpoint".
pub(crate) fn mount(engine: &Engine) -> Router {
    handoff_http::router(engine.clone(), HttpOptions::default())
        .merge(handoff_web::router(engine.clone()))
        .fallback_service(handoff_http::not_found())
}
