//! `/v1/receipts`: the chain, its head, a receipt, its signature, its corrections (section 14).

use axum::{extract::State, http::StatusCode};
use handoff_engine::decision::ReceiptFilter;
use handoff_protocol::{decision::limits, id::ReceiptId};

use crate::{
    api::Api,
    extract::{Caller, Named, Query, SentBody, SentKey, digits},
    refusal::Refusal,
    reply::{self, Reply},
};

pub(super) async fn list(State(api): State<Api>, caller: Caller, query: Query) -> Reply {
    let filter = ReceiptFilter {
        limit: query.limit(limits::MAX_PAGE)?,
        after_height: query.one("cursor")?.map_or(Ok(0), |text| cursor(&text))?,
        decided: query.created()?,
    };
    reply::ok(&api.engine.receipts(&caller.0, filter).await?)
}

pub(super) async fn chain_head(State(api): State<Api>, caller: Caller) -> Reply {
    reply::ok(&api.engine.chain_head(&caller.0).await?)
}

pub(super) async fn read(State(api): State<Api>, caller: Caller, id: Named<ReceiptId>) -> Reply {
    let receipt = api.engine.receipt(&caller.0, id.0).await?;
    #[cfg(feature = "planted-faults")]
    let receipt = crate::planted::dressed_up(receipt);
    Ok(reply::text(StatusCode::OK, receipt))
}

pub(super) async fn signature(State(api): State<Api>, caller: Caller, id: Named<ReceiptId>) -> Reply {
    reply::ok(&api.engine.receipt_signature(&caller.0, id.0).await?)
}

/// Returns the receipt of the correction, as it was sealed (rule E-4).
pub(super) async fn correct(
    State(api): State<Api>,
    caller: Caller,
    id: Named<ReceiptId>,
    SentKey(key): SentKey,
    body: SentBody,
) -> Reply {
    reply::ok(&api.engine.correct(&caller.0, id.0, body.0, key.as_ref()).await?)
}

fn cursor(text: &str) -> Result<u64, Refusal> {
    // Heights are what `next_cursor` gives, and no chain has more than the type can count.
    digits(text)
        .filter(|height| *height < u64::MAX)
        .ok_or_else(|| Refusal::invalid("cursor", "must be the `next_cursor` of an earlier page"))
}
