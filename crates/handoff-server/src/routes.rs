//! Mounting the surfaces on one listener.

use axum::Router;
use handoff_engine::Engine;
use handoff_http::HttpOptions;

use crate::config::Config;

/// Everything that the server answers: the API, the pages, and for every other path the API's "no such endpoint".
pub(crate) fn mount(engine: &Engine, config: &Config) -> Router {
    let options = HttpOptions::default().rate_limit_per_minute(config.rate_limit_per_minute);
    handoff_http::router(engine.clone(), options.clone())
        .merge(handoff_http::operations(engine.clone(), options.clone()))
        .merge(handoff_http::observed(handoff_web::router(engine.clone()), engine.clone(), options.clone()))
        .fallback_service(handoff_http::not_found(engine.clone(), options))
}
