//! Whether a form came from our own page, as far as the browser says.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::http::{
    HeaderMap, HeaderName,
    header::{HOST, ORIGIN},
};
use url::{Host, Url};

use crate::site::Site;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a submission may come from where the browser says: from the public base, or, on a loopback address, from the
/// host that it was sent to. A host by name is no proof, since names can be pointed here. Without an origin the browser
/// says nothing, and the form's own token has to do.
///
/// Browsers send `null` for pages that forbid all referrers; ours allow the origin alone (see `base.html`), so `null` is
/// foreign here.
pub(crate) fn is_ours(site: &Site, headers: &HeaderMap) -> bool {
    if headers.get_all(FETCH_SITE).iter().any(|value| value.as_bytes().eq_ignore_ascii_case(b"cross-site")) {
        return false;
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    let Some(origin) = origins.next() else { return true };
    let (Ok(origin), None) = (origin.to_str(), origins.next()) else { return false };
    if origin.eq_ignore_ascii_case(site.origin()) {
        return true;
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    let is_here = matches!((authority, host), (Some(authority), Some(host)) if authority.eq_ignore_ascii_case(host));
    is_here && is_loopback(origin)
}

/// Whether an origin is on this machine, which nobody else can point a name at.
fn is_loopback(origin: &str) -> bool {
    let url = Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.is_some_and(|url| match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => Ipv4Addr::is_loopback(&address),
        Some(Host::Ipv6(address)) => Ipv6Addr::is_loopback(&address),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        for origin in ["http://127.0.0.1:8080", "http://localhost", "https://[::1]:1", "http://127.9.9.9"] {
            assert!(is_loopback(origin), "{origin}");
        }
        for origin in [
            "http://localhost.evil.example",
            "http://10.0.0.1",
            "http://127.0.0.1.evil.example",
            "127.0.0.1",
            "null",
            "ftp://localhost",
        ] {
            assert!(!is_loopback(origin), "{origin}");
        }
    }
}
