//! A call that changes one request: who, which one, under which key, and with what.

use axum::extract::{FromRequest, FromRequestParts, Request};
use handoff_protocol::{
    decision::{DecisionError, idempotency::IdempotencyKey},
    id::RequestId,
};
use serde::Serialize;

use super::{Caller, Named, SentKey};
use crate::{
    api::Api,
    refusal::Refusal,
    reply::{self, Reply},
};

/// A call on one request. Whatever is refused names that request, if the caller's tenant has it (rule ER-3): also what
/// is refused before the request itself is looked at.
pub(crate) struct OnRequest<B> {
    pub(crate) caller: Caller,
    pub(crate) id: RequestId,
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) body: B,
}

impl<B> FromRequest<Api> for OnRequest<B>
where
    B: FromRequest<Api, Rejection = Refusal> + Send,
{
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refusal> {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut parts, api).await?;
        let id = Named::<RequestId>::from_request_parts(&mut parts, api).await?.0;
        let sent = async {
            let SentKey(key) = SentKey::from_request_parts(&mut parts, api).await?;
            Ok((key, B::from_request(Request::from_parts(parts, body), api).await?))
        };
        match sent.await {
            Ok((key, body)) => Ok(Self { caller, id, key, body }),
            Err(refusal) => Err(name(api, &caller, id, refusal).await),
        }
    }
}

/// The response to a call on a request.
pub(crate) async fn replied<T: Serialize>(
    api: &Api,
    caller: &Caller,
    id: RequestId,
    outcome: Result<T, DecisionError>,
) -> Reply {
    match outcome {
        Ok(done) => reply::ok(&done),
        Err(error) => Err(name(api, caller, id, error.into()).await),
    }
}

async fn name(api: &Api, caller: &Caller, id: RequestId, refusal: Refusal) -> Refusal {
    if refusal.is_about_nothing() || !api.engine.has_request(&caller.0, id).await {
        return refusal;
    }
    refusal.about(id)
}
