//! Tokens: 256 bits from the entropy port behind a prefix that says what they are for.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use handoff_protocol::{digest::Digest, secret::Secret};

use crate::entropy::{Entropy, EntropyError};

/// What a token is for. Nothing is ever derived from a token's text; the prefix is for people and secret scanners.
#[derive(Clone, Copy, Debug)]
pub(super) enum TokenUse {
    Key,
    PersonKey,
    Session,
    Link,
}

pub(super) fn mint(entropy: &dyn Entropy, usage: TokenUse) -> Result<Secret<String>, EntropyError> {
    let prefix = match usage {
        TokenUse::Key => "hk_",
        TokenUse::PersonKey => "hp_",
        TokenUse::Session => "hss_",
        TokenUse::Link => "hl_",
    };
    let random = Secret::from(entropy.seed()?);
    Ok(Secret::from(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random.expose()))))
}

/// What a token is kept as. Tokens carry 256 bits of entropy, so a plain digest cannot be guessed back.
pub(super) fn digest(token: &str) -> Digest {
    Digest::of(token.as_bytes())
}
