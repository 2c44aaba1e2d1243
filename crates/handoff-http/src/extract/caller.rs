//! Who calls (rules P-1 and P-2).

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use handoff_protocol::{decision::DecisionError, principal::Principal};

use crate::{api::Api, limits::Limits, refusal::Refusal};

/// The cookie under which a person's session travels.
const SESSION_COOKIE: &str = "handoff_session";

/// The authenticated caller, freshly looked up.
pub(crate) struct Caller(pub(crate) Principal);

/// What was presented; the text is never printed.
enum Credential<'h> {
    Absent,
    Bearer(&'h str),
    Cookie(&'h str),
    Malformed,
}

impl FromRequestParts<Api> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Refusal> {
        let (token, by_cookie) = match credential(&parts.headers) {
            Credential::Absent => (None, false),
            Credential::Bearer(token) => (Some(token), false),
            Credential::Cookie(token) => (Some(token), true),
            Credential::Malformed => return Err(DecisionError::InvalidApiKey.into()),
        };
        let counted = token.map(Limits::name);
        if let Some(credential) = &counted {
            api.limits.check(credential, api.engine.now())?;
        }
        let principal = api.engine.authenticate(token).await?;
        if let Some(credential) = counted {
            api.limits.charge(credential, api.engine.now())?;
        }
        // A browser sends the cookie along with a form of any site; no form can send this type, and a script of another
        // site is asked about it first and told no.
        if by_cookie && !parts.method.is_safe() && !is_json(&parts.headers) {
            return Err(Refusal::invalid(
                "Content-Type",
                "must be application/json when the session cookie authenticates",
            ));
        }
        Ok(Self(principal))
    }
}

/// The token that was presented, whosever it is.
pub(crate) fn presented(headers: &HeaderMap) -> Option<&str> {
    match credential(headers) {
        Credential::Bearer(token) | Credential::Cookie(token) => Some(token),
        Credential::Absent | Credential::Malformed => None,
    }
}

/// A bearer token wins over the cookie, also when it is no good: nobody is authenticated by what they did not mean.
fn credential(headers: &HeaderMap) -> Credential<'_> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    match (sent.next(), sent.next()) {
        (None, _) => cookie(headers).map_or(Credential::Absent, Credential::Cookie),
        (Some(value), None) => value.to_str().ok().and_then(bearer).map_or(Credential::Malformed, Credential::Bearer),
        (Some(_), Some(_)) => Credential::Malformed,
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && !token.contains(' ')).then_some(token)
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == SESSION_COOKIE).then_some(value))
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_is_read_in_any_case_and_the_token_must_be_one_word() {
        for good in ["Bearer t0ken", "bearer t0ken", "BEARER  t0ken "] {
            assert_eq!(bearer(good), Some("t0ken"), "{good}");
        }
        for bad in ["", "Bearer", "Bearer ", "Basic t0ken", "Bearer two words", "Bearert0ken", "t0ken"] {
            assert_eq!(bearer(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_session_cookie_is_found_among_others_and_by_its_whole_name() {
        let headers = |values: &[&'static str]| {
            values.iter().map(|value| (header::COOKIE, axum::http::HeaderValue::from_static(value))).collect()
        };
        let found = |values: &[&'static str]| cookie(&headers(values)).map(str::to_owned);
        assert_eq!(found(&["a=1; handoff_session=abc=; b=2"]).as_deref(), Some("abc="));
        assert_eq!(found(&["a=1", "handoff_session=abc"]).as_deref(), Some("abc"));
        assert_eq!(found(&["x_handoff_session=abc; Handoff_Session=abc"]), None);
    }
}
