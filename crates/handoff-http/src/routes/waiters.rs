//! `/v1/waiters/{waiter_ref}`: polling, reattaching, and the report of an end (section 13). Reading consumes nothing.

use axum::{extract::State, response::Response};
use handoff_protocol::{
    decision::{DecisionError, WaiterRef, check_scope},
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
};

use crate::{
    api::Api,
    extract::{Caller, NamedWaiter, Query, SentOptionalBody, digits},
    refusal::Refusal,
    reply::{self, Reply},
};

/// 200 with the signals; 204 when a wait ended without any (rule X-6). A caller that hangs up leaves nothing behind:
/// its wait is this future, which is dropped with the connection.
pub(super) async fn signals(State(api): State<Api>, caller: Caller, waiter: NamedWaiter, query: Query) -> Reply {
    let wait = query.wait()?;
    let after = query.one("after")?.map_or(Ok(0), |text| sequence(&text))?;
    let waiter = known(&caller.0, waiter)?;
    let _held = api.options.metrics.hold(wait);
    let signals = api.engine.signals_after(&caller.0, &waiter, after, wait).await?;
    if signals.data.is_empty() && !wait.is_zero() { Ok(reply::nothing()) } else { reply::ok(&signals) }
}

pub(super) async fn reattach(
    State(api): State<Api>,
    caller: Caller,
    waiter: NamedWaiter,
    SentOptionalBody(body): SentOptionalBody,
) -> Result<Response, Refusal> {
    let waiter = known(&caller.0, waiter)?;
    must_be_object(&body)?;
    reply::ok(&api.engine.reattach(&caller.0, &waiter).await?)
}

/// A runtime reports its own end (W6): what waits under it is given up now and not when its lease runs out.
pub(super) async fn terminal(
    State(api): State<Api>,
    caller: Caller,
    waiter: NamedWaiter,
    SentOptionalBody(body): SentOptionalBody,
) -> Result<Response, Refusal> {
    let waiter = known(&caller.0, waiter)?;
    must_be_object(&body)?;
    reply::ok(&api.engine.waiter_ended(&caller.0, &waiter).await?)
}

/// A reference that nobody can have raised under is one that nobody did (rule X-7), after the same check.
fn known(principal: &Principal, waiter: NamedWaiter) -> Result<WaiterRef, DecisionError> {
    check_scope(principal, Scope::WaitersWait)?;
    waiter.0.ok_or(DecisionError::WaiterNotFound)
}

fn sequence(text: &str) -> Result<u64, Refusal> {
    digits(text).ok_or_else(|| Refusal::invalid("after", "must be the `sequence` of a signal"))
}

/// These bodies have no members yet; what a newer client puts there is not ours to refuse.
fn must_be_object(body: &Json) -> Result<(), Refusal> {
    ObjectReader::new(body, "").map(drop).map_err(Refusal::from)
}
