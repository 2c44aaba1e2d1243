//! Secrets that slipped into a policy. A policy is kept with its tenant's data and shown to whoever asks what holds: it
//! names secrets and never carries one (section 24).

use crate::{
    id::PrincipalId,
    json::{DecodeError, Json, Path},
};

/// Members that name something which is configured elsewhere: a long random text there is the thing itself.
const REFERENCES: [&str; 5] = ["secret_refs", "config_ref", "url", "channel", "channels"];

/// How secrets and keys of our own kinds begin, and the least that follows in one.
const KINDS: [(&str, usize); 6] = [("whsec_", 12), ("hk_", 32), ("hp_", 32), ("hss_", 32), ("hl_", 32), ("omg_", 20)];

/// Refuses a document in which a text has the shape of a secret.
pub(super) fn refuse_shapes(document: &Json) -> Result<(), DecodeError> {
    walk(document, Path::ROOT, false, &|text, is_reference| {
        if has_our_shape(text) || text.contains("-----BEGIN ") {
            return Some("has the shape of a secret; policies name secrets and never carry one");
        }
        let is_random = is_reference && pieces(text).any(looks_random);
        is_random.then_some("must be a name or a plain address, and looks like a secret itself")
    })
}

/// Refuses a document in which one of these secrets stands.
pub(super) fn refuse_these(document: &Json, secrets: &[&str]) -> Result<(), DecodeError> {
    walk(document, Path::ROOT, false, &|text, _| {
        let holds = secrets.iter().any(|secret| !secret.is_empty() && text.contains(secret));
        holds.then_some("holds a secret that this server is configured with; put its name instead")
    })
}

/// Walks every text, names of members included. What is found is told by its place and never repeated.
fn walk(
    json: &Json,
    path: Path<'_>,
    is_reference: bool,
    problem: &dyn Fn(&str, bool) -> Option<&'static str>,
) -> Result<(), DecodeError> {
    match json {
        Json::String(text) => match problem(text, is_reference) {
            Some(problem) => Err(DecodeError::at(path, problem)),
            None => Ok(()),
        },
        Json::Array(items) => {
            items.iter().enumerate().try_for_each(|(place, item)| walk(item, path.index(place), is_reference, problem))
        }
        Json::Object(members) => members.iter().try_for_each(|(name, member)| {
            if problem(name, false).is_some() {
                return Err(DecodeError::at(path, "has a member whose name is, or looks like, a secret"));
            }
            walk(member, path.key(name), REFERENCES.contains(&name), problem)
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
    }
}

fn has_our_shape(text: &str) -> bool {
    KINDS.iter().any(|(prefix, least)| {
        text.match_indices(prefix).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.bytes().next_back());
            let rest = text.get(at.saturating_add(prefix.len())..).unwrap_or_default();
            !before.is_some_and(|byte| byte.is_ascii_alphanumeric())
                && rest.bytes().take_while(|byte| is_token_byte(*byte)).count() >= *least
        })
    })
}

const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// The parts of a name or an address that could be a secret.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_address = text.contains("://");
    text.split(move |letter: char| {
        !letter.is_ascii()
            || !u8::try_from(letter).is_ok_and(is_token_byte)
            || letter == '='
            || is_address && letter == '/'
    })
}

/// Whether a text is random as keys are: long hexadecimal, or letters of both cases and digits that change places all the
/// time, which names made of words do not. Our ids are random and no secrets.
fn looks_random(piece: &str) -> bool {
    if PrincipalId::parse(piece).is_ok() {
        return false;
    }
    let all = |test: fn(&u8) -> bool| piece.bytes().all(|byte| test(&byte));
    let any = |test: fn(&u8) -> bool| piece.bytes().any(|byte| test(&byte));
    if piece.len() >= 32 && all(u8::is_ascii_hexdigit) {
        return true;
    }
    let classes: Vec<u8> = piece.bytes().filter(u8::is_ascii_alphanumeric).map(class).collect();
    // A capital at the head of a word is no change.
    let is_change = |pair: &[u8]| matches!(pair, [one, other] if one != other && (*one, *other) != (UPPER, LOWER));
    let changes = classes.windows(2).filter(|pair| is_change(pair)).count();
    piece.len() >= 22
        && any(u8::is_ascii_lowercase)
        && any(u8::is_ascii_uppercase)
        && any(u8::is_ascii_digit)
        && changes.saturating_mul(5) >= piece.len()
}

const UPPER: u8 = 0;
const LOWER: u8 = 1;
const DIGIT: u8 = 2;

const fn class(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => UPPER,
        b'a'..=b'z' => LOWER,
        _ => DIGIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_look_random_and_names_do_not() {
        for piece in [
            "3f2a9c3f2a9c3f2a9c3f2a9c3f2a9c3f",
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "MfKQ9r8GKYqrTwjUPD8-LPZIo2La_aSw",
            "Xk29aPq7LmZ03bVcRt81yU",
        ] {
            assert!(looks_random(piece), "{piece}");
        }
        for piece in [
            "",
            "finance",
            "Production-Callback-Secret-2026",
            "callbacks_of_the_finance_department_in_berlin_2",
            "usr_01K3M7QW8ZC4YRXB2N6VD9FTHE",
            "org_01K3M7QW8ZC4YRXB2N6VD9FTHE",
            "EU-WEST-1",
        ] {
            assert!(!looks_random(piece), "{piece}");
        }
    }
}
