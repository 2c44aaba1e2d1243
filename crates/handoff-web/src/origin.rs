//! Whether a form came from our own page, as far as the browser says.

use axum::http::{
    HeaderMap,
    header::{HOST, ORIGIN},
};

use crate::site::Site;

/// Whether a submission may come from where its `Origin` header says: from the public base, or from the host that it
/// was sent to. Without the header the browser says nothing, and the form's own token has to do.
///
/// Browsers send `null` for pages that forbid all referrers; ours allow the origin alone (see `base.html`), so `null` is
/// foreign here.
pub(crate) fn is_ours(site: &Site, headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let Ok(origin) = origin.to_str() else { return false };
    if origin.eq_ignore_ascii_case(site.origin()) {
        return true;
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    matches!((authority, host), (Some(authority), Some(host)) if authority.eq_ignore_ascii_case(host))
}
