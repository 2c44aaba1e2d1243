//! What a person is shown: title, body, evidence.

use super::limits;
use crate::json::{DecodeError, ObjectReader, ValueReader};

/// Checks a prompt against the limits of section 1.2. The prompt itself is kept as it was sent.
pub(super) fn check(prompt: ValueReader<'_, '_>) -> Result<(), DecodeError> {
    let prompt = prompt.object()?;
    prompt.text("title", 1, limits::TITLE_CHARS)?;
    prompt.optional_text("body", 0, limits::BODY_CHARS)?;
    if let Some(evidence) = prompt.optional_array("evidence")? {
        evidence.count_within(0, limits::EVIDENCE_ITEMS)?;
        for item in evidence.items() {
            check_evidence(item.object()?)?;
        }
    }
    prompt.finish()
}

fn check_evidence(item: ObjectReader<'_, '_>) -> Result<(), DecodeError> {
    let kinds = [("link", ()), ("table", ()), ("image", ()), ("document", ()), ("text", ())];
    item.choice("kind", &kinds)?;
    item.text("label", 0, limits::LABEL_CHARS)?;
    if let Some(url) = item.optional_string("url")? {
        check_uri(url).map_err(|problem| item.error("url", problem))?;
    }
    item.member("value");
    item.optional_text("ref", 0, limits::REF_CHARS)?;
    item.finish()
}

/// Checks that a text is a URI with a scheme, by RFC 3986's characters; nothing is ever fetched from it here.
fn check_uri(text: &str) -> Result<(), &'static str> {
    let (scheme, rest) = text.split_once(':').ok_or("must be an absolute URI, like `https://…`")?;
    let scheme_is_valid = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    let rest_is_valid = !rest.is_empty() && rest.chars().all(|c| !c.is_control() && !c.is_whitespace());
    if scheme_is_valid && rest_is_valid { Ok(()) } else { Err("must be an absolute URI, like `https://…`") }
}
