//! What the planted faults of this crate do (see [`handoff_protocol::planted`]), where a line at their place does not say it.

use axum::http::{HeaderMap, StatusCode, header};
use handoff_protocol::{
    decision::{ErrorCode, view::RequestView},
    id::RequestId,
    json::{Json, to_json},
    planted::Fault,
};

use crate::{api::Api, extract::Caller, refusal::Refusal};

/// A caller in the tenant of the request that it names; or it learns that the request is another's.
pub(crate) async fn spanning(api: &Api, mut caller: Caller, id: RequestId) -> Result<Caller, Refusal> {
    let (reads, tells) = (Fault::OtherTenantReadable.is_planted(), Fault::OtherTenantForbidden.is_planted());
    if let (true, Ok(tenant)) = (reads || tells, api.engine.tenant_of_request(id).await) {
        if tells && tenant != caller.0.tenant {
            return Err(Refusal::plain(StatusCode::FORBIDDEN, ErrorCode::TenantMismatch, "this is another tenant's"));
        }
        caller.0.tenant = tenant;
    }
    Ok(caller)
}

/// A request without what is null.
pub(crate) fn served(request: &RequestView) -> Json {
    let mut served = to_json(request).unwrap_or(Json::Null);
    if let (true, Some(members)) = (Fault::NullsLeftOut.is_planted(), served.as_object_mut()) {
        *members = std::mem::take(members).into_iter().filter(|(_, member)| !member.is_null()).collect();
    }
    served
}

/// A receipt with a member that nobody sealed.
pub(crate) fn dressed_up(receipt: String) -> String {
    match receipt.strip_prefix('{') {
        Some(members) if Fault::ReceiptDressedUp.is_planted() => format!(r#"{{"verified":true,{members}"#),
        _ => receipt,
    }
}

/// Headers that are missing.
pub(crate) fn undress(headers: &mut HeaderMap, failed: bool) {
    if headers.get(header::CACHE_CONTROL).is_some_and(|said| said == "no-store")
        && Fault::ResponsesMayBeKept.is_planted()
    {
        headers.remove(header::CACHE_CONTROL);
    }
    if failed && Fault::NoBudgetOnErrors.is_planted() {
        for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
            headers.remove(name);
        }
    }
}
