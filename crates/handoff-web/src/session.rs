//! Who is asking: the session cookie, and the token that ties a form to it.

use axum::http::{HeaderMap, HeaderValue};
use handoff_engine::identity::Entered;
use handoff_protocol::{
    decision::DecisionError,
    digest::Digest,
    principal::{Identity, Principal},
    secret::{Secret, constant_time_eq},
};

use crate::{reader, site::Site, visible};

const COOKIE_NAME: &str = "handoff_session";

/// A person with a session.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) principal: Principal,
    token: Secret<String>,
}

impl Visitor {
    /// The person whose session the request carries, freshly authenticated; none for no session, one that ended, and
    /// one whose holder is no person (rule P-4).
    ///
    /// # Errors
    ///
    /// A failure on our side if the store fails: an outage is never "not signed in" (rule P-2).
    pub(crate) async fn find(site: &Site, headers: &HeaderMap) -> Result<Option<Self>, DecisionError> {
        let Some(token) = session_token(headers) else { return Ok(None) };
        match site.engine.authenticate(Some(token.expose())).await {
            Ok(principal) if matches!(principal.identity, Identity::Human(_)) => Ok(Some(Self { principal, token })),
            Err(error) if error.is_ours() => Err(error),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Whether the session is still worth something.
    pub(crate) async fn is_still_in(&self, site: &Site) -> bool {
        let found = site.engine.authenticate(Some(self.token.expose())).await;
        found.is_ok_and(|principal| principal.identity == self.principal.identity)
    }

    /// What to call the person.
    pub(crate) fn name(&self) -> String {
        let id = || self.principal.id().map(|id| id.to_string()).unwrap_or_default();
        self.principal.display.as_deref().map_or_else(id, visible::line)
    }

    /// The session's token, for ending it.
    pub(crate) fn token(&self) -> &str {
        self.token.expose()
    }

    /// The token that our own forms carry. It follows from the session's and does not give it away.
    pub(crate) fn csrf(&self) -> String {
        Digest::of(format!("handoff-web form token v1\n{}", self.token.expose())).hex()
    }

    /// Whether a form was made for this session.
    pub(crate) fn made_form(&self, presented: Option<&str>) -> bool {
        presented.is_some_and(|presented| constant_time_eq(presented.as_bytes(), self.csrf().as_bytes()))
    }
}

/// The cookie that begins a session, and that browsers forget when the session ends.
pub(crate) fn begin(site: &Site, entered: &Entered) -> Option<HeaderValue> {
    let secure = if site.is_secure() { "; Secure" } else { "" };
    let lasts = entered.expires_at.since(site.engine.now()).as_secs();
    let token = entered.session.expose();
    cookie(&format!("{COOKIE_NAME}={token}; Path=/; Max-Age={lasts}; HttpOnly; SameSite=Lax{secure}"))
}

/// The cookie that ends one.
pub(crate) fn end(site: &Site) -> Option<HeaderValue> {
    let secure = if site.is_secure() { "; Secure" } else { "" };
    cookie(&format!("{COOKIE_NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax{secure}"))
}

fn cookie(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    // Keeps the token out of what the HTTP library prints.
    value.set_sensitive(true);
    Some(value)
}

/// The session that a browser brings along, whatever it is worth; none if it brings two. Somebody who can set cookies for a
/// whole domain could lay theirs beside a person's own, and have them answer in another's name.
pub(crate) fn session_token(headers: &HeaderMap) -> Option<Secret<String>> {
    let token = reader::cookie(headers, COOKIE_NAME).filter(|_| !has_two(headers))?;
    Some(Secret::from(token.to_owned()))
}

/// Whether a browser brings sessions that differ.
pub(crate) fn has_two(headers: &HeaderMap) -> bool {
    let mut tokens = reader::cookies(headers, COOKIE_NAME);
    tokens.next().is_some_and(|first| tokens.any(|other| other != first))
}
