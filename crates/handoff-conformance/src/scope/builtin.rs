//! The variables that are there by themselves.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::Scope;

/// Crockford's base32, in which ids are written (B-2).
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// More than any limit of the protocol.
const MOST: usize = 4 << 20;

/// The value of a built-in variable.
pub(super) fn value(scope: &Scope, name: &str) -> Result<Value, String> {
    let (word, argument) = name.split_once(':').unwrap_or((name, ""));
    let text = match word {
        "fresh" => short(&scope.derived("fresh", argument), 16),
        "waiter" => format!("conformance/{}", short(&scope.derived("waiter", argument), 20)),
        "key" => format!("key-{}", short(&scope.derived("key", argument), 24)),
        "canary" => format!("canary{}", short(&scope.derived("canary", argument), 40)),
        "ulid" => ulid(&scope.derived("ulid", argument)),
        "receiver" if argument.is_empty() => scope.receiver.clone(),
        "repeat" => {
            let (count, text) = argument.split_once(':').ok_or("`${repeat:COUNT:TEXT}` lacks its text")?;
            text.repeat(count_of(count, text.len())?)
        }
        "base64" => STANDARD.encode(argument),
        "payload" => STANDARD.encode(bytes(scope, count_of(argument, 1)?)),
        _ => return of_the_profile(scope, name),
    };
    Ok(Value::String(text))
}

/// Whether a name is that of a built-in variable, for some profile at least.
#[must_use]
pub fn is_built_in(name: &str) -> bool {
    let word = name.split_once(':').map_or(name, |(word, _)| word);
    if let Some((word, of)) = name.split_once('.') {
        return match word {
            "principal" | "tenant" | "role" | "token" | "secret" => !of.is_empty(),
            "profile" => ["base_url", "level", "link_only", "tenant"].contains(&of),
            _ => false,
        };
    }
    match word {
        "receiver" => name == word,
        "repeat" | "base64" | "payload" => name != word,
        _ => ["fresh", "waiter", "key", "canary", "ulid"].contains(&word),
    }
}

fn of_the_profile(scope: &Scope, name: &str) -> Result<Value, String> {
    let profile = &scope.profile;
    let (word, of) = name.split_once('.').unwrap_or((name, ""));
    let credential = || profile.credential(of);
    match word {
        "principal" => Ok(json!(credential()?.id)),
        "tenant" => Ok(json!(credential()?.tenant)),
        "role" => Ok(json!(credential()?.role)),
        "token" => Ok(json!(credential()?.token)),
        "secret" => match profile.callbacks.secrets.get(of) {
            Some(secret) => Ok(json!(secret)),
            None => Err(format!("the profile names no callback secret `{of}`")),
        },
        "profile" => match of {
            "base_url" => Ok(json!(profile.base_url)),
            "level" => Ok(json!(profile.level)),
            "link_only" => Ok(json!(profile.choices.link_only)),
            "tenant" => Ok(json!(profile.credential("machine")?.tenant)),
            _ => Err(format!("the variable `profile.{of}` is not known")),
        },
        _ => Err(format!("the variable `{name}` is not known here")),
    }
}

fn count_of(text: &str, size: usize) -> Result<usize, String> {
    let count: usize = text.parse().map_err(|_| format!("`{text}` is not how often"))?;
    match count.checked_mul(size) {
        Some(total) if total <= MOST => Ok(count),
        _ => Err(format!("`{text}` times is more than {MOST} bytes")),
    }
}

fn short(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Bytes of this scenario, as many as wanted.
fn bytes(scope: &Scope, count: usize) -> Vec<u8> {
    (0..).flat_map(|block: u64| scope.derived("payload", &block.to_string()).into_bytes()).take(count).collect()
}

/// 26 characters that could be an id, out of hexadecimal digits.
fn ulid(hex: &str) -> String {
    let digits = hex
        .chars()
        .zip(hex.chars().skip(1))
        .filter_map(|(high, low)| Some(high.to_digit(16)? * 16 + low.to_digit(16)?));
    let text: String = digits
        .filter_map(|pair| CROCKFORD.get(usize::try_from(pair % 32).ok()?))
        .map(|&byte| char::from(byte))
        .take(25)
        .collect();
    format!("0{text}")
}
