//! `/v1/keys`: the public halves of every key that ever signed a receipt (rule E-13). No credential is looked at.

use axum::extract::State;

use crate::{
    api::Api,
    reply::{self, Reply},
};

pub(super) async fn read(State(api): State<Api>) -> Reply {
    reply::ok(&api.engine.key_set().await?).map(reply::cacheable)
}
