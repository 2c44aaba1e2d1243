//! Settings: language and time zone, remembered by the browser; and signing out everywhere.

use askama::Template;
use axum::{
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header::SET_COOKIE},
    response::Response,
};

use super::{not_ours, read_form};
use crate::{
    origin,
    page::{self, Frame},
    reader::{self, LANGUAGE_COOKIE, Reader, ZONE_COOKIE},
    session::Visitor,
    site::Site,
    words::{LANGUAGES, Words},
};

/// For how long a browser remembers, in seconds: a year.
const REMEMBERED: u32 = 365 * 24 * 60 * 60;

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    words: &'static Words,
    frame: Frame,
    /// Every zone by name, with the one that is in use.
    zones: Vec<(String, bool)>,
}

/// `GET /settings`.
pub(crate) async fn show(State(site): State<Site>, reader: Reader, headers: HeaderMap) -> Response {
    let visitor = match Visitor::find(&site, &headers).await {
        Ok(visitor) => visitor,
        Err(error) => return page::refuse(&reader, &error, None),
    };
    let is_used = |name: &str| reader.zone_name.as_deref() == Some(name);
    let names = jiff::tz::db().available().map(|name| name.to_string());
    let mut zones: Vec<(String, bool)> =
        names.filter(|name| is_place(name)).map(|name| (name.clone(), is_used(&name))).collect();
    zones.sort();
    let page = SettingsPage { words: reader.words, frame: Frame::new(&reader, visitor.as_ref()), zones };
    page::render(StatusCode::OK, &page)
}

/// `POST /settings`. It changes what this browser remembers and nothing else, so no session is needed; the origin shows
/// that the person meant it.
pub(crate) async fn submit(
    State(site): State<Site>,
    reader: Reader,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    if !origin::is_ours(&site, &headers) {
        return not_ours(&reader, None);
    }
    let form = match read_form(&reader, &headers, body, None) {
        Ok(form) => form,
        Err(refusal) => return *refusal,
    };
    let mut response = page::see_other(form.get("back").and_then(reader::path_back).unwrap_or("/"));
    let language = form.get("language").and_then(|code| LANGUAGES.into_iter().find(|words| words.code == code));
    let zone = form.get("zone").and_then(reader::zone_of).map(|(name, _)| name);
    let chosen = [(LANGUAGE_COOKIE, language.map(|words| words.code.to_owned())), (ZONE_COOKIE, zone)];
    let secure = if site.is_secure() { "; Secure" } else { "" };
    for (name, value) in chosen {
        // The script may tell the zone where nobody chose one; what only the server can write, it cannot overwrite.
        let cookie =
            value.map(|value| format!("{name}={value}; Path=/; Max-Age={REMEMBERED}; HttpOnly; SameSite=Lax{secure}"));
        if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::try_from(cookie).ok()) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
    response
}

/// Whether a zone is named by a place, as people know theirs, and not by a number or a rule.
fn is_place(name: &str) -> bool {
    name.contains('/') && !["Etc/", "SystemV/", "US/", "posix/", "right/"].iter().any(|prefix| name.starts_with(prefix))
}
