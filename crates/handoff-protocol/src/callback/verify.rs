//! The receiver's side: is this push genuine, fresh and whole (H-10).

use std::time::Duration;

use subtle::{Choice, ConstantTimeEq as _};
use thiserror::Error;

use super::header::SignatureHeader;
use super::{
    CallbackSecret, DELIVERY_HEADER, IDEMPOTENCY_KEY_HEADER, SCHEME_VERSION, SEQUENCE_HEADER, SIGNAL_HEADER,
    SIGNATURE_HEADER, VERSION_HEADER,
};
use crate::digest::Digest;
use crate::id::DeliveryId;
use crate::json::{self, Json, Number, ReadError};
use crate::timestamp::Timestamp;

/// How far the time of an attempt may lie from the receiver's clock, in either direction and inclusive.
pub const FRESHNESS_WINDOW: Duration = Duration::from_secs(300);

/// The headers of a push as the receiver's HTTP library gives them; nothing stands for an absent one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CallbackHeaders<'a> {
    /// `Handoff-Signature`; required.
    pub signature: Option<&'a str>,
    /// `Handoff-Delivery`; required.
    pub delivery: Option<&'a str>,
    /// `Handoff-Idempotency-Key`; required.
    pub idempotency_key: Option<&'a str>,
    /// `Handoff-Sequence`; required.
    pub sequence: Option<&'a str>,
    /// `Handoff-Signal`; compared with the body if present.
    pub signal: Option<&'a str>,
    /// `Handoff-Version`; must be `1` if present.
    pub version: Option<&'a str>,
}

impl<'a> CallbackHeaders<'a> {
    /// Takes the headers as bytes, by their names; names are the same in any case. One that is not UTF-8 is malformed.
    ///
    /// ```
    /// use handoff_protocol::callback::{CallbackError, CallbackHeaders};
    ///
    /// let hostile = |name: &str| (name == "Handoff-Signature").then_some(&b"t=1,v1=\xff"[..]);
    /// assert_eq!(CallbackHeaders::from_bytes(hostile), Err(CallbackError::MalformedHeader("Handoff-Signature")));
    /// ```
    ///
    /// # Errors
    ///
    /// [`CallbackError::MalformedHeader`].
    pub fn from_bytes(get: impl Fn(&'static str) -> Option<&'a [u8]>) -> Result<Self, CallbackError> {
        let text = |name| {
            get(name).map(|bytes| str::from_utf8(bytes).map_err(|_| CallbackError::MalformedHeader(name))).transpose()
        };
        Ok(Self {
            signature: text(SIGNATURE_HEADER)?,
            delivery: text(DELIVERY_HEADER)?,
            idempotency_key: text(IDEMPOTENCY_KEY_HEADER)?,
            sequence: text(SEQUENCE_HEADER)?,
            signal: text(SIGNAL_HEADER)?,
            version: text(VERSION_HEADER)?,
        })
    }
}

/// A push that is genuine.
///
/// It may still be a repetition: a receiver remembers [`delivery`](Self::delivery) and acts once on it (H-10). It proves
/// the sender, not the tenant.
#[derive(Clone, Debug)]
pub struct Verified {
    /// What to recognize repetitions by.
    pub delivery: DeliveryId,
    /// The number of the signal among those to its waiter, as header and body agree.
    pub sequence: u64,
    /// When the attempt was signed.
    pub signed_at: Timestamp,
    /// The signal, parsed after it was found genuine.
    pub body: Json,
}

/// Why a push is refused; nothing of it is repeated.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum CallbackError {
    /// The receiver holds no secret, so no push can be genuine.
    #[error("there is no active callback secret to verify with")]
    NoActiveSecret,
    /// A required header is absent.
    #[error("the header `{0}` is missing")]
    MissingHeader(&'static str),
    /// A header does not have its form.
    #[error("the header `{0}` is malformed")]
    MalformedHeader(&'static str),
    /// The push is signed by another scheme.
    #[error("the signature scheme has another version than {SCHEME_VERSION}")]
    UnsupportedVersion,
    /// The attempt was signed too long ago, or too far ahead of the receiver's clock.
    #[error("the push was signed more than 300 seconds away from this clock")]
    Stale,
    /// No active secret made any of the signatures over this body, time and delivery.
    #[error("no active secret made this signature")]
    SignatureMismatch,
    /// The body is genuine but is not JSON.
    #[error("the body is not JSON: {0}")]
    Unreadable(#[source] ReadError),
    /// The body is genuine but is not an object with an integer `sequence`.
    #[error("the body is not an object with an integer `sequence`")]
    NotASignal,
    /// Header and body name different sequence numbers.
    #[error("the header `Handoff-Sequence` does not agree with the body")]
    SequenceMismatch,
    /// Header and body name different signals.
    #[error("the header `Handoff-Signal` does not agree with the body")]
    SignalMismatch,
    /// The idempotency key is not the delivery id.
    #[error("the header `Handoff-Idempotency-Key` is not the delivery id")]
    IdempotencyKeyMismatch,
}

/// Verifies a push: headers, freshness, signature over the raw bytes, and only then the body (H-10).
///
/// `body` is the bytes as they were received. Every active secret is tried against every signature in constant time, so
/// the duration does not tell which secret or how much of a signature was right.
///
/// ```
/// use handoff_protocol::callback::{CallbackHeaders, CallbackSecret, sign, verify};
/// use handoff_protocol::id::DeliveryId;
/// use handoff_protocol::timestamp::Timestamp;
///
/// let secrets = [CallbackSecret::new("whsec_shared")?];
/// let (delivery, now) = ("dlv_01K3MB2R6C8ZC4YRXB2N6VD9FT", Timestamp::from_unix_seconds(1_785_592_064));
/// let body = br#"{"id":"sig_1","sequence":1}"#;
/// let signature = sign(&secrets, now, DeliveryId::parse(delivery)?, body)?;
///
/// let headers = CallbackHeaders {
///     signature: Some(&signature),
///     delivery: Some(delivery),
///     idempotency_key: Some(delivery),
///     sequence: Some("1"),
///     ..CallbackHeaders::default()
/// };
/// assert_eq!(verify(&headers, body, &secrets, now)?.sequence, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A [`CallbackError`] for the first check that fails, in the order of the variants up to the signature.
pub fn verify(
    headers: &CallbackHeaders<'_>,
    body: &[u8],
    secrets: &[CallbackSecret],
    now: Timestamp,
) -> Result<Verified, CallbackError> {
    if secrets.is_empty() {
        return Err(CallbackError::NoActiveSecret);
    }
    let signature = required(headers.signature, SIGNATURE_HEADER)?;
    let delivery = required(headers.delivery, DELIVERY_HEADER)?;
    let idempotency_key = required(headers.idempotency_key, IDEMPOTENCY_KEY_HEADER)?;
    let sequence = required(headers.sequence, SEQUENCE_HEADER)?;
    let signature = SignatureHeader::parse(signature).ok_or(CallbackError::MalformedHeader(SIGNATURE_HEADER))?;
    let delivery_id = DeliveryId::parse(delivery).map_err(|_| CallbackError::MalformedHeader(DELIVERY_HEADER))?;
    if headers.version.is_some_and(|version| version != SCHEME_VERSION) {
        return Err(CallbackError::UnsupportedVersion);
    }
    if now.unix_seconds().abs_diff(signature.time) > FRESHNESS_WINDOW.as_secs() {
        return Err(CallbackError::Stale);
    }
    if !any_secret_signed(secrets, &signature, delivery, Digest::of(body)) {
        return Err(CallbackError::SignatureMismatch);
    }
    if idempotency_key != delivery {
        return Err(CallbackError::IdempotencyKeyMismatch);
    }
    let body = json::read(body).map_err(CallbackError::Unreadable)?;
    let sequence = agreed_sequence(&body, sequence)?;
    if headers.signal.is_some_and(|signal| body.get("id").and_then(Json::as_str) != Some(signal)) {
        return Err(CallbackError::SignalMismatch);
    }
    let signed_at = Timestamp::from_unix_seconds(signature.time);
    Ok(Verified { delivery: delivery_id, sequence, signed_at, body })
}

fn required<'a>(header: Option<&'a str>, name: &'static str) -> Result<&'a str, CallbackError> {
    header.ok_or(CallbackError::MissingHeader(name))
}

/// Tries every pair and stops at none, so that time tells nothing about the pair that fits.
fn any_secret_signed(secrets: &[CallbackSecret], header: &SignatureHeader, delivery: &str, body: Digest) -> bool {
    let mut found = Choice::from(0);
    for secret in secrets {
        let expected = secret.mac(header.time, delivery, body);
        for signature in &header.signatures {
            found |= expected.ct_eq(signature);
        }
    }
    found.into()
}

fn agreed_sequence(body: &Json, header: &str) -> Result<u64, CallbackError> {
    let number = body.get("sequence").and_then(Json::as_number).and_then(Number::safe_integer);
    let sequence = number.and_then(|number| u64::try_from(number).ok()).ok_or(CallbackError::NotASignal)?;
    if header == sequence.to_string() { Ok(sequence) } else { Err(CallbackError::SequenceMismatch) }
}

#[cfg(test)]
mod tests {
    use super::super::sign;
    use super::*;

    const DELIVERY: &str = "dlv_01K3MB2R6C8ZC4YRXB2N6VD9FT";
    const BODY: &str = r#"{"id":"sig_1","sequence":7}"#;

    fn now() -> Timestamp {
        Timestamp::from_unix_seconds(1_785_592_064)
    }

    fn secrets() -> [CallbackSecret; 1] {
        [CallbackSecret::new("whsec_shared").unwrap()]
    }

    /// Signs the body, lets `change` spoil the headers, and verifies.
    fn after(body: &str, change: fn(&mut CallbackHeaders<'_>)) -> Result<Verified, CallbackError> {
        let signature = sign(&secrets(), now(), DeliveryId::parse(DELIVERY).unwrap(), body.as_bytes()).unwrap();
        let mut headers = CallbackHeaders {
            signature: Some(&signature),
            delivery: Some(DELIVERY),
            idempotency_key: Some(DELIVERY),
            sequence: Some("7"),
            signal: Some("sig_1"),
            version: Some("1"),
        };
        change(&mut headers);
        verify(&headers, body.as_bytes(), &secrets(), now())
    }

    fn fault(body: &str, change: fn(&mut CallbackHeaders<'_>)) -> CallbackError {
        after(body, change).unwrap_err()
    }

    #[test]
    fn a_genuine_push_is_accepted_with_and_without_the_optional_headers() {
        let verified = after(BODY, |_| {}).unwrap();
        assert_eq!((verified.sequence, verified.signed_at), (7, now()));
        assert_eq!(verified.delivery.to_string(), DELIVERY);
        assert_eq!(verified.body.to_text(), BODY);
        assert!(after(BODY, |headers| (headers.signal, headers.version) = (None, None)).is_ok());
    }

    #[test]
    fn every_required_header_is_missed_by_name() {
        let missing = CallbackError::MissingHeader;
        assert_eq!(fault(BODY, |headers| headers.signature = None), missing("Handoff-Signature"));
        assert_eq!(fault(BODY, |headers| headers.delivery = None), missing("Handoff-Delivery"));
        assert_eq!(fault(BODY, |headers| headers.idempotency_key = None), missing("Handoff-Idempotency-Key"));
        assert_eq!(fault(BODY, |headers| headers.sequence = None), missing("Handoff-Sequence"));
    }

    #[test]
    fn headers_that_disagree_with_a_genuine_body_are_refused() {
        assert_eq!(fault(BODY, |headers| headers.sequence = Some("8")), CallbackError::SequenceMismatch);
        assert_eq!(fault(BODY, |headers| headers.sequence = Some("07")), CallbackError::SequenceMismatch);
        assert_eq!(fault(BODY, |headers| headers.signal = Some("sig_2")), CallbackError::SignalMismatch);
        assert_eq!(fault(BODY, |headers| headers.version = Some("2")), CallbackError::UnsupportedVersion);
        let other =
            |headers: &mut CallbackHeaders<'_>| headers.idempotency_key = Some("dlv_01K3MB2R6D8ZC4YRXB2N6VD9FT");
        assert_eq!(fault(BODY, other), CallbackError::IdempotencyKeyMismatch);
    }

    #[test]
    fn hostile_headers_give_typed_errors() {
        let malformed = CallbackError::MalformedHeader;
        assert_eq!(fault(BODY, |headers| headers.signature = Some("t=1,v1=\u{0}")), malformed("Handoff-Signature"));
        assert_eq!(fault(BODY, |headers| headers.delivery = Some("dlv_\n")), malformed("Handoff-Delivery"));
    }

    #[test]
    fn headers_of_any_bytes_give_typed_errors_and_no_panic() {
        let names =
            [SIGNATURE_HEADER, DELIVERY_HEADER, IDEMPOTENCY_KEY_HEADER, SEQUENCE_HEADER, SIGNAL_HEADER, VERSION_HEADER];
        let good = sign(&secrets(), now(), DeliveryId::parse(DELIVERY).unwrap(), BODY.as_bytes()).unwrap();
        let genuine = [good.as_str(), DELIVERY, DELIVERY, "7", "sig_1", "1"];
        for hostile in
            (0..=255_u8).map(|byte| vec![byte]).chain([vec![], vec![0xff; 9_000], b"t=1,v1=\x80\x00".to_vec()])
        {
            for name in names {
                let headers = CallbackHeaders::from_bytes(|asked| {
                    let place = names.iter().position(|known| *known == asked)?;
                    Some(if asked == name { hostile.as_slice() } else { genuine[place].as_bytes() })
                });
                let verdict = headers.and_then(|headers| verify(&headers, BODY.as_bytes(), &secrets(), now()));
                let unharmed =
                    (name == VERSION_HEADER && hostile == b"1") || (name == SEQUENCE_HEADER && hostile == b"7");
                assert_eq!(verdict.is_ok(), unharmed, "{name} {hostile:?}");
            }
        }
    }

    #[test]
    fn a_genuine_body_that_is_no_signal_is_refused() {
        assert!(matches!(fault("{", |_| {}), CallbackError::Unreadable(_)));
        for body in ["[]", "{}", r#"{"sequence":"7"}"#, r#"{"sequence":7.5}"#, r#"{"sequence":-7}"#, "7"] {
            assert_eq!(fault(body, |_| {}), CallbackError::NotASignal, "{body}");
        }
    }

    #[test]
    fn a_body_is_not_parsed_before_it_is_found_genuine() {
        let headers = CallbackHeaders {
            signature: Some("t=1785592064,v1=cae13126f8dcd1e918376aa373be2757db7281a3e5aaed2d83d716537e03de80"),
            delivery: Some(DELIVERY),
            idempotency_key: Some(DELIVERY),
            sequence: Some("7"),
            ..CallbackHeaders::default()
        };
        let refused = verify(&headers, b"{", &secrets(), now());
        assert_eq!(refused.unwrap_err(), CallbackError::SignatureMismatch);
    }

    #[test]
    fn during_a_rotation_one_shared_secret_is_enough() {
        let [old, new, foreign] =
            ["whsec_old", "whsec_new", "whsec_foreign"].map(|text| CallbackSecret::new(text).unwrap());
        let accepted = |senders: &[&CallbackSecret], receivers: &[&CallbackSecret]| {
            let owned = |secrets: &[&CallbackSecret]| secrets.iter().copied().cloned().collect::<Vec<_>>();
            let delivery = DeliveryId::parse(DELIVERY).unwrap();
            let signature = sign(&owned(senders), now(), delivery, BODY.as_bytes()).unwrap();
            let headers = CallbackHeaders {
                signature: Some(&signature),
                delivery: Some(DELIVERY),
                idempotency_key: Some(DELIVERY),
                sequence: Some("7"),
                ..CallbackHeaders::default()
            };
            verify(&headers, BODY.as_bytes(), &owned(receivers), now()).is_ok()
        };
        assert!(accepted(&[&new, &old], &[&old]));
        assert!(accepted(&[&new, &old], &[&new]));
        assert!(accepted(&[&old], &[&foreign, &old]));
        assert!(accepted(&[&old], &[&old, &foreign]));
        assert!(!accepted(&[&new, &old], &[&foreign]));
        assert!(!accepted(&[&old], &[&new]));
    }

    #[test]
    fn the_window_of_freshness_is_inclusive_in_both_directions() {
        let signature = sign(&secrets(), now(), DeliveryId::parse(DELIVERY).unwrap(), BODY.as_bytes()).unwrap();
        let headers = CallbackHeaders {
            signature: Some(&signature),
            delivery: Some(DELIVERY),
            idempotency_key: Some(DELIVERY),
            sequence: Some("7"),
            ..CallbackHeaders::default()
        };
        let at = |offset| {
            let clock = Timestamp::from_unix_seconds(now().unix_seconds() + offset);
            verify(&headers, BODY.as_bytes(), &secrets(), clock).map(|verified| verified.sequence)
        };
        assert_eq!((at(300), at(-300)), (Ok(7), Ok(7)));
        assert_eq!((at(301), at(-301)), (Err(CallbackError::Stale), Err(CallbackError::Stale)));
    }

    #[test]
    fn without_a_secret_nothing_is_signed_and_nothing_is_genuine() {
        let delivery = DeliveryId::parse(DELIVERY).unwrap();
        assert_eq!(sign(&[], now(), delivery, b"{}").unwrap_err(), super::super::NoActiveSecret);
        let refused = verify(&CallbackHeaders::default(), b"{}", &[], now());
        assert_eq!(refused.unwrap_err(), CallbackError::NoActiveSecret);
    }
}
