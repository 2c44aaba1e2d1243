//! `/v1/authorizations/{authorization_id}`: what an answer is worth, and spending it (section 15).

use axum::extract::State;
use handoff_protocol::id::AuthorizationId;

use crate::{
    api::Api,
    extract::{Caller, Named, SentBody},
    reply::{self, Reply},
};

pub(super) async fn read(State(api): State<Api>, caller: Caller, id: Named<AuthorizationId>) -> Reply {
    reply::ok(&api.engine.authorization(&caller.0, id.0).await?)
}

pub(super) async fn redeem(
    State(api): State<Api>,
    caller: Caller,
    id: Named<AuthorizationId>,
    body: SentBody,
) -> Reply {
    reply::ok(&api.engine.redeem(&caller.0, id.0, &body.0).await?)
}
