//! The stylesheet, which stands in each page, and the script, under a name that changes with its content so that browsers
//! may keep it for good.
//!
//! A page is usable with its first response: nothing else has to arrive before it looks and works as it should. The
//! policy of the pages allows this one stylesheet by its digest, and scripts from this site alone.

use std::sync::LazyLock;

use axum::{
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::IntoResponse,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use handoff_protocol::digest::Digest;

const SCRIPT: &str = include_str!("../assets/handoff.js");

static STYLE: LazyLock<String> = LazyLock::new(|| slim(include_str!("../assets/handoff.css")));

static STYLE_SOURCE: LazyLock<String> =
    LazyLock::new(|| format!("'sha256-{}'", STANDARD.encode(Digest::of(STYLE.as_str()).as_bytes())));

static SCRIPT_PATH: LazyLock<String> =
    LazyLock::new(|| format!("/assets/handoff-{}.js", Digest::of(SCRIPT).hex().get(..16).unwrap_or("0")));

/// The stylesheet of this build, for the inside of a `style` element.
pub(crate) fn style() -> &'static str {
    &STYLE
}

/// What a content security policy calls that stylesheet.
pub(crate) fn style_source() -> &'static str {
    &STYLE_SOURCE
}

/// Where the script of this build is.
pub(crate) fn script_path() -> &'static str {
    &SCRIPT_PATH
}

/// `GET` of the script.
pub(crate) async fn script() -> impl IntoResponse {
    let headers =
        [(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (headers, SCRIPT)
}

/// A stylesheet without its comments and indentation, which every page would carry along.
fn slim(sheet: &str) -> String {
    let mut parts = sheet.split("/*");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once("*/").map_or("", |(_, after)| after));
    }
    let lines = plain.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_indentation_stay_at_home() {
        assert_eq!(slim("/* a */\n\na {\n  b: c; /* d */\n}\n"), "a {\nb: c;\n}");
        assert!(!style().contains("/*") && !style().contains("</"));
    }

    #[test]
    fn the_stylesheet_loads_nothing() {
        assert!(!style().contains("url(") && !style().contains("@import"));
    }

    #[test]
    fn the_script_sends_no_form_and_evaluates_no_text() {
        for forbidden in [
            "submit(",
            "requestSubmit",
            "eval(",
            "Function(",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            ".click(",
            "setTimeout(\"",
            "POST",
        ] {
            assert!(!SCRIPT.contains(forbidden), "{forbidden}");
        }
    }
}
