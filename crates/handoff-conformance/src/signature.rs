//! Signatures of callbacks, checked by code of the suite's own (H-1, H-2, H-4).

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::{
    json::{hex, sha256_hex},
    receiver::Push,
};

/// How far the time of a signature may lie from the time of its coming, in seconds.
const WINDOW: i64 = 300;

/// What a `Handoff-Signature` says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Signature {
    /// When it was made, in seconds since the epoch.
    pub time: i64,
    /// One code for each active secret.
    pub codes: Vec<String>,
}

impl Signature {
    /// Reads a header: `t=<seconds>,v1=<64 hexadecimal digits>`, with one `v1` or more.
    ///
    /// # Errors
    ///
    /// It is not of that form.
    pub fn read(header: &str) -> Result<Self, String> {
        let mut parts = header.split(',');
        let time = parts.next().and_then(|part| part.strip_prefix("t="));
        let time = time.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let time = time
            .and_then(|digits| digits.parse().ok())
            .ok_or("`Handoff-Signature` does not begin with `t=` and a time")?;
        let codes = parts.map(|part| {
            let code = part.strip_prefix("v1=").unwrap_or_default();
            let valid = code.len() == 64 && code.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            valid
                .then(|| code.to_owned())
                .ok_or("`Handoff-Signature` has a part that is no `v1=` and 64 hexadecimal digits")
        });
        let codes: Vec<_> = codes.collect::<Result<_, _>>()?;
        if codes.is_empty() { Err("`Handoff-Signature` has no `v1=`".to_owned()) } else { Ok(Self { time, codes }) }
    }
}

/// The code of a body under a secret.
#[must_use]
pub fn code(secret: &str, time: i64, delivery: &str, body: &[u8]) -> String {
    let signed = format!("1\n{time}\n{delivery}\n{}", sha256_hex(body));
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(signed.as_bytes());
    hex(&mac.finalize().into_bytes())
}

/// Checks what came: headers, freshness, and that it is signed under just these secrets, each by itself.
///
/// # Errors
///
/// What is wrong, in words; no secret is repeated.
pub fn check(push: &Push, secrets: &[&str]) -> Result<(), String> {
    let header = |name: &str| push.header(name).ok_or_else(|| format!("the header `{name}` is not there once"));
    let delivery = header("handoff-delivery")?;
    let signature = Signature::read(header("handoff-signature")?)?;
    if header("handoff-idempotency-key")? != delivery {
        return Err("`Handoff-Idempotency-Key` is not `Handoff-Delivery`".to_owned());
    }
    if header("handoff-version")? != "1" {
        return Err("`Handoff-Version` is not `1`".to_owned());
    }
    if header("content-type")? != "application/json" {
        return Err("`Content-Type` is not `application/json`".to_owned());
    }
    let distance = (push.at.as_second() - signature.time).abs();
    if distance > WINDOW {
        return Err(format!("it was signed for a time {distance} seconds from its coming"));
    }
    let body = push.value();
    if body.pointer("/body/sequence").map(ToString::to_string).as_deref() != Some(header("handoff-sequence")?) {
        return Err("`Handoff-Sequence` is not the body's `sequence`".to_owned());
    }
    if body.pointer("/body/id").and_then(|id| id.as_str()) != Some(header("handoff-signal")?) {
        return Err("`Handoff-Signal` is not the body's `id`".to_owned());
    }
    let codes = |time, delivery: &str, body: &[u8]| -> Vec<String> {
        secrets.iter().map(|secret| code(secret, time, delivery, body)).collect()
    };
    let expected = codes(signature.time, delivery, &push.body);
    if let Some(number) = expected.iter().position(|code| !signature.codes.contains(code)) {
        return Err(format!("it does not verify under secret {} of {}", number + 1, secrets.len()));
    }
    if signature.codes.len() != secrets.len() {
        return Err(format!("it has {} signatures, and {} secrets are active", signature.codes.len(), secrets.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    const SECRETS: [&str; 2] = ["whsec_one", "whsec_two"];

    fn push() -> Push {
        let body = br#"{"id":"sig_1","sequence":3}"#.to_vec();
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        let codes: Vec<_> = SECRETS.iter().map(|secret| code(secret, at.as_second(), "dlv_1", &body)).collect();
        let headers = [
            ("handoff-signature", format!("t={},v1={},v1={}", at.as_second(), codes[0], codes[1])),
            ("handoff-delivery", "dlv_1".to_owned()),
            ("handoff-idempotency-key", "dlv_1".to_owned()),
            ("handoff-signal", "sig_1".to_owned()),
            ("handoff-sequence", "3".to_owned()),
            ("handoff-version", "1".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Push { method: "POST".to_owned(), headers, body, at }
    }

    fn with(name: &str, value: &str) -> Push {
        let mut push = push();
        for (known, old) in &mut push.headers {
            if known == name {
                value.clone_into(old);
            }
        }
        push
    }

    #[test]
    fn a_push_that_every_active_secret_signed_is_good() {
        check(&push(), &SECRETS).unwrap();
    }

    #[test]
    fn the_code_is_that_of_another_program() {
        // printf '1\n1800000000\ndlv_1\n%s' "$(printf '{}' | sha256sum | cut -d' ' -f1)" | openssl dgst -sha256 -hmac whsec_x
        let known = "520c2f00c4ac8117949a2784721a377d0d1ff6e92315f74c6216e2e4e51ef8d4";
        assert_eq!(code("whsec_x", 1_800_000_000, "dlv_1", b"{}"), known);
    }

    #[test]
    fn whatever_is_altered_is_found() {
        let mut altered = push();
        altered.body.push(b' ');
        let late = Push { at: Timestamp::from_second(1_800_000_301).unwrap(), ..push() };
        let mut twice = push();
        twice.headers.push(("handoff-delivery".to_owned(), "dlv_1".to_owned()));
        for (bad, why) in [
            (altered, "verify"),
            (late, "301 seconds"),
            (with("handoff-delivery", "dlv_2"), "Idempotency-Key"),
            (with("handoff-sequence", "4"), "Sequence"),
            (with("handoff-signal", "sig_2"), "Signal"),
            (with("handoff-version", "2"), "Version"),
            (with("content-type", "text/plain"), "Content-Type"),
            (with("handoff-signature", "t=1,v1=00"), "64"),
            (twice, "once"),
        ] {
            let found = check(&bad, &SECRETS).unwrap_err();
            assert!(found.contains(why), "{found}");
        }
        assert!(check(&push(), &SECRETS[..1]).unwrap_err().contains("2 signatures"));
        assert!(check(&push(), &["whsec_one", "whsec_three"]).unwrap_err().contains("secret 2"));
    }
}
