//! The endpoints, one file a resource, and what answers where there is none.

mod authorizations;
mod description;
mod dispositions;
mod export;
mod keys;
mod meta;
mod operations;
mod receipts;
mod requests;
mod signals;
mod waiters;

use std::future::{Ready, ready};

use axum::{
    Router, middleware,
    routing::{MethodRouter, any, get, post},
};
use handoff_engine::Engine;

pub use self::operations::operations;
pub(crate) use self::{meta::Meta, requests::Deliveries};
use crate::{
    api::Api,
    observe::{Surroundings, observe},
    options::HttpOptions,
    refusal::Refusal,
};

/// The API: everything under `/v1`, unknown paths there included, and the published keys at their well-known path.
///
/// It sets no fallback for other paths, so that it merges with other routers; [`not_found`] is there for that.
pub fn router(engine: Engine, options: HttpOptions) -> Router {
    let api = Api::new(engine, options);
    Router::new()
        .route("/v1/requests", get(requests::list).post(requests::raise))
        .route("/v1/requests/{request_id}", get(requests::read))
        .route("/v1/requests/{request_id}/answer", post(requests::answer))
        .route("/v1/requests/{request_id}/amend", post(requests::amend))
        .route("/v1/requests/{request_id}/cancel", post(requests::cancel))
        .route("/v1/requests/{request_id}/supersede", post(requests::supersede))
        .route("/v1/requests/{request_id}/attempt", post(requests::attempt))
        .route("/v1/requests/{request_id}/dispositions", get(dispositions::list))
        .route("/v1/requests/{request_id}/receipt", get(requests::receipt))
        .route("/v1/requests/{request_id}/deliveries", get(requests::deliveries))
        .route("/v1/receipts", get(receipts::list))
        .route("/v1/receipts/chain-head", get(receipts::chain_head))
        .route("/v1/receipts/{receipt_id}", get(receipts::read))
        .route("/v1/receipts/{receipt_id}/signature", get(receipts::signature))
        .route("/v1/receipts/{receipt_id}/corrections", post(receipts::correct))
        .route("/v1/waiters/{waiter_ref}/signals", get(waiters::signals))
        .route("/v1/waiters/{waiter_ref}/reattach", post(waiters::reattach))
        .route("/v1/waiters/{waiter_ref}/terminal", post(waiters::terminal))
        .route("/v1/signals/{signal_id}/ack", post(signals::acknowledge))
        .route("/v1/authorizations/{authorization_id}", get(authorizations::read))
        .route("/v1/authorizations/{authorization_id}/redeem", post(authorizations::redeem))
        .route("/v1/export", get(export::read))
        .route("/v1/keys", get(keys::read))
        .route("/.well-known/handoff-keys.json", get(keys::read))
        .route("/v1/meta", get(meta::read))
        .route("/v1/openapi.json", get(description::read))
        .method_not_allowed_fallback(wrong_method)
        .route("/v1", any(no_such_endpoint))
        .route("/v1/", any(no_such_endpoint))
        .route("/v1/{*rest}", any(no_such_endpoint))
        .layer(middleware::from_fn_with_state(Surroundings::new(api.clone()), observe))
        .with_state(api)
}

/// What answers where no router has a path: 404 in the one envelope. Set it as the fallback service of the whole. Such a
/// call costs nothing of a credential's calls.
pub fn not_found(engine: Engine, options: HttpOptions) -> MethodRouter {
    let surroundings = Surroundings::new(Api::new(engine, options));
    any(no_such_endpoint).layer(middleware::from_fn_with_state(surroundings, observe))
}

fn no_such_endpoint() -> Ready<Refusal> {
    ready(Refusal::no_such_endpoint())
}

/// Surrounds another surface's routes as the API's own are: each call has its id, its line in the log, in which of its
/// path stands only the route that matched, its place among the metrics, and the net under a panic.
pub fn observed(routes: Router, engine: Engine, options: HttpOptions) -> Router {
    routes.layer(middleware::from_fn_with_state(Surroundings::new(Api::new(engine, options)), observe))
}

fn wrong_method() -> Ready<Refusal> {
    ready(Refusal::wrong_method())
}
