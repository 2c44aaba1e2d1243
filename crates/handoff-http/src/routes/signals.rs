//! `/v1/signals/{signal_id}`: acknowledging (rule X-8), and the attempts to push it (rule H-7).

use axum::extract::State;
use handoff_protocol::id::SignalId;

use crate::{
    api::Api,
    extract::{Caller, Named, SentBody},
    reply::{self, Reply},
};

pub(super) async fn acknowledge(State(api): State<Api>, caller: Caller, id: Named<SignalId>, body: SentBody) -> Reply {
    reply::ok(&api.engine.acknowledge(&caller.0, id.0, &body.0).await?)
}

pub(super) async fn attempts(State(api): State<Api>, caller: Caller, id: Named<SignalId>) -> Reply {
    reply::ok(&api.engine.push_attempts(&caller.0, id.0).await?)
}
