//! `/v1/grants/{handle}`: what a person may use on the way to an answer, and the sessions of it (section 16).

use axum::{extract::State, http::StatusCode};

use crate::{
    api::Api,
    extract::{Caller, NamedGrant, NamedSession, SentBody, SentKey, SentOptionalBody},
    reply::{self, Reply},
};

pub(super) async fn read(State(api): State<Api>, caller: Caller, grant: NamedGrant) -> Reply {
    reply::ok(&api.engine.grant(&caller.0, grant.0).await?)
}

pub(super) async fn revoke(
    State(api): State<Api>,
    caller: Caller,
    grant: NamedGrant,
    SentOptionalBody(body): SentOptionalBody,
) -> Reply {
    api.engine.revoke_grant(&caller.0, grant.0, &body).await?;
    Ok(reply::nothing())
}

/// The one response that holds an address; it is kept nowhere (rule G-2).
pub(super) async fn resolve(
    State(api): State<Api>,
    caller: Caller,
    grant: NamedGrant,
    SentKey(key): SentKey,
    body: SentBody,
) -> Reply {
    reply::json(StatusCode::OK, &api.engine.resolve_grant(&caller.0, grant.0, body.0, key.as_ref()).await?)
}

/// The body may be left out and says nothing.
pub(super) async fn renew(State(api): State<Api>, caller: Caller, session: NamedSession) -> Reply {
    reply::ok(&api.engine.renew_session(&caller.0, session.0, session.1).await?)
}

pub(super) async fn release(State(api): State<Api>, caller: Caller, session: NamedSession) -> Reply {
    api.engine.release_session(&caller.0, session.0, session.1).await?;
    Ok(reply::nothing())
}
