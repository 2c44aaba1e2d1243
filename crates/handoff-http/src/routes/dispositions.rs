//! `/v1/requests/{id}/dispositions`: what people did with a request besides deciding it *(additive)*.

use axum::extract::State;
use handoff_protocol::{decision::limits, id::RequestId};

use crate::{
    api::Api,
    extract::{Caller, Named, Query, digits},
    refusal::Refusal,
    reply::{self, Reply},
};

pub(super) async fn list(State(api): State<Api>, caller: Caller, id: Named<RequestId>, query: Query) -> Reply {
    let after = query.one("cursor")?.map(|text| cursor(&text)).transpose()?;
    let limit = query.limit(limits::MAX_PAGE)?;
    reply::ok(&api.engine.dispositions(&caller.0, id.0, after, limit).await?)
}

fn cursor(text: &str) -> Result<u64, Refusal> {
    digits(text).ok_or_else(|| Refusal::invalid("cursor", "must be the `next_cursor` of an earlier page"))
}
