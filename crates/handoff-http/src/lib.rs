//! The HTTP API of Handoff: the engine's use cases under `/v1`, in the contract's words.
//!
//! Nothing is decided here. A handler finds out who calls, reads what was sent, calls the engine and writes what came
//! of it; every refusal, from a panic to an unknown path, leaves in the one envelope of section 20.
//!
//! | module | what lives there |
//! |---|---|
//! | [`HttpOptions`] | what a deployment may choose |
//! | [`Metrics`] | what is counted for whoever watches |
//! | `routes` | the endpoints, one file a resource |
//! | [`openapi()`] | the API as a document, made from the types |
//! | `extract` | who calls, and what was sent: credentials, bodies, keys, paths, queries |
//! | `status` | the one table from error code to status |
//! | `refusal`, `reply` | how a refusal and a success are written |
//! | `limits` | how many calls a minute a credential has |
//! | `observe` | what surrounds every call: its id, its span, its headers, the net under a panic |
//!
//! ```no_run
//! # async fn example(engine: handoff_engine::Engine) -> std::io::Result<()> {
//! use handoff_http::{HttpOptions, not_found, operations, router};
//!
//! let options = HttpOptions::default();
//! let app = router(engine.clone(), options.clone())
//!     .merge(operations(engine.clone(), options.clone()))
//!     .fallback_service(not_found(engine, options));
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! axum::serve(listener, app).await
//! # }
//! ```

mod api;
mod extract;
mod limits;
mod metrics;
mod observe;
mod openapi;
mod options;
#[cfg(feature = "planted-faults")]
mod planted;
mod refusal;
mod reply;
mod routes;
mod status;

pub use self::{
    metrics::Metrics,
    openapi::openapi,
    options::HttpOptions,
    routes::{not_found, observed, operations, router},
};
