//! Who reads: the language and the time zone of a page, as far as the browser tells.
//!
//! Both can be chosen on the settings page, which keeps them in plain cookies. Without a choice the language is the first
//! that the browser asks for and we have, and times are in UTC; the script, where it runs, tells the zone on the way.

use std::convert::Infallible;

use axum::{
    extract::FromRequestParts,
    http::{
        HeaderMap, Uri,
        header::{ACCEPT_LANGUAGE, COOKIE},
        request::Parts,
    },
};
use jiff::tz::TimeZone;

use crate::{
    session,
    words::{LANGUAGES, Words},
};

pub(crate) const LANGUAGE_COOKIE: &str = "handoff_lang";
/// The script writes it as well.
pub(crate) const ZONE_COOKIE: &str = "handoff_zone";

/// Longer paths are not led back to.
const PATH: usize = 300;

/// Whoever reads a page.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) words: &'static Words,
    /// The zone that times are written in, by its name; none for UTC by default.
    pub(crate) zone_name: Option<String>,
    pub(crate) zone: TimeZone,
    /// The page's own address, for coming back to it.
    pub(crate) path: String,
    /// Whether the browser sent two sessions, of which none counts.
    pub(crate) has_two_sessions: bool,
}

impl Reader {
    fn new(headers: &HeaderMap, uri: &Uri) -> Self {
        let zone = cookie(headers, ZONE_COOKIE).and_then(zone_of);
        let (zone_name, zone) = zone.map_or((None, TimeZone::UTC), |(name, zone)| (Some(name), zone));
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Self {
            words: language(headers),
            zone_name,
            zone,
            path: path_back(path).unwrap_or("/").to_owned(),
            has_two_sessions: session::has_two(headers),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::new(&parts.headers, &parts.uri))
    }
}

/// The first value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &'a str) -> Option<&'a str> {
    cookies(headers, name).next()
}

/// Every value of a cookie that has any.
pub(crate) fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let pairs = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let named = pairs.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    named.filter(move |(found, value)| *found == name && !value.is_empty()).map(|(_, value)| value)
}

/// A zone by its name, as cookies and forms spell it; nothing for what is none.
pub(crate) fn zone_of(name: &str) -> Option<(String, TimeZone)> {
    // Scripts escape the slash.
    let name = name.replace("%2F", "/").replace("%2f", "/");
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'+'));
    let zone = TimeZone::get(&name).ok().filter(|_| is_plain && name.len() <= 64)?;
    Some((zone.iana_name().unwrap_or("UTC").to_owned(), zone))
}

/// A path of this site that a form may lead back to; nothing for one that could lead elsewhere.
pub(crate) fn path_back(path: &str) -> Option<&str> {
    let stays = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
    (stays && path.len() <= PATH && path.bytes().all(|byte| byte.is_ascii_graphic())).then_some(path)
}

/// The language that was chosen, or else the one that the browser asks for first and we have.
fn language(headers: &HeaderMap) -> &'static Words {
    let by_code = |code: &str| LANGUAGES.into_iter().find(|words| code.eq_ignore_ascii_case(words.code));
    if let Some(chosen) = cookie(headers, LANGUAGE_COOKIE).and_then(by_code) {
        return chosen;
    }
    let asked = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut best: (f32, Option<&'static Words>) = (0.0, None);
    for range in asked.split(',').take(20) {
        let mut parts = range.split(';');
        let primary = parts.next().unwrap_or_default().trim().split('-').next().unwrap_or_default();
        let weight = parts.find_map(|part| part.trim().strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
        // The first of equals is the one that was asked for first.
        if let Some(words) = by_code(primary).filter(|_| weight > best.0) {
            best = (weight, Some(words));
        }
    }
    let [first, ..] = LANGUAGES;
    best.1.unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn read(headers: &[(&'static str, &'static str)]) -> Reader {
        let headers = headers
            .iter()
            .map(|(name, value)| (axum::http::HeaderName::from_static(name), HeaderValue::from_static(value)));
        Reader::new(&headers.collect(), &Uri::from_static("/requests/x?y=1"))
    }

    #[test]
    fn the_language_is_the_one_chosen_or_the_first_that_we_have() {
        let code = |asked: &'static str| read(&[("accept-language", asked)]).words.code;
        assert_eq!(read(&[]).words.code, "en");
        assert_eq!(code("de"), "de");
        assert_eq!(code("fr-CH, de-AT;q=0.9, en;q=0.8"), "de");
        assert_eq!(code("en-GB,de;q=0.5"), "en");
        assert_eq!(code("de;q=0, en"), "en");
        assert_eq!(code("zh, ja;q=nonsense"), "en");
        let chosen = read(&[("cookie", "handoff_lang=de; a=b"), ("accept-language", "en")]);
        assert_eq!(chosen.words.code, "de");
        assert_eq!(read(&[("cookie", "handoff_lang=xx")]).words.code, "en");
    }

    #[test]
    fn a_zone_is_one_of_the_names_that_the_world_agrees_on() {
        assert_eq!(read(&[("cookie", "handoff_zone=Europe%2FBerlin")]).zone_name.as_deref(), Some("Europe/Berlin"));
        assert!(read(&[("cookie", "handoff_zone=America/Argentina/Buenos_Aires")]).zone_name.is_some());
        for name in ["", "Nowhere/City", "../etc/passwd", "Europe/Berlin\u{7f}", "<b>"] {
            assert!(zone_of(name).is_none(), "{name}");
        }
    }

    #[test]
    fn forms_lead_back_within_the_site_alone() {
        for path in ["/", "/requests/req_1?x=%20", "/?show=all"] {
            assert_eq!(path_back(path), Some(path));
        }
        for path in ["", "//evil.example", "https://evil.example", "/\\evil.example", "/a b", "/a\nb", "x"] {
            assert_eq!(path_back(path), None, "{path}");
        }
    }
}
