//! The headers of a callback, and reading the one that carries signatures.

use crate::digest::hex;

/// `t=<unix seconds>,v1=<hex>`, with one `v1` for each active secret.
pub const SIGNATURE_HEADER: &str = "Handoff-Signature";
/// The delivery id, the same in every attempt of one signal.
pub const DELIVERY_HEADER: &str = "Handoff-Delivery";
/// The delivery id once more, for frameworks that remove duplicates by themselves.
pub const IDEMPOTENCY_KEY_HEADER: &str = "Handoff-Idempotency-Key";
/// The signal id.
pub const SIGNAL_HEADER: &str = "Handoff-Signal";
/// The same number as the body's `sequence`.
pub const SEQUENCE_HEADER: &str = "Handoff-Sequence";
/// The version of the signature scheme, [`SCHEME_VERSION`].
pub const VERSION_HEADER: &str = "Handoff-Version";
/// The version of the signature scheme that is spoken here.
pub const SCHEME_VERSION: &str = "1";

/// How many signatures a header may carry, so how many secrets may be active at once: far more than any rotation of secrets needs, and few enough to check.
pub const MOST_SECRETS: usize = 16;

/// What the signature header says.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct SignatureHeader {
    /// When the attempt was signed, in seconds since the epoch.
    pub(super) time: i64,
    /// One signature for each secret of the sender.
    pub(super) signatures: Vec<[u8; 32]>,
}

impl SignatureHeader {
    /// Reads the header: one `t` of digits, one to sixteen `v1` of 64 lowercase hexadecimal characters.
    ///
    /// Members of other names are passed over, so that a later scheme can be sent beside this one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mut time, mut signatures) = (None, Vec::new());
        for member in text.split(',') {
            match member.split_once('=')? {
                ("t", digits) if time.is_none() => time = Some(seconds(digits)?),
                ("t", _) => return None,
                ("v1", _) if signatures.len() == MOST_SECRETS => return None,
                ("v1", signature) => signatures.push(hex::decode(signature)?),
                _ => {}
            }
        }
        let time = time.filter(|_| !signatures.is_empty())?;
        Some(Self { time, signatures })
    }
}

/// Reads the plain decimal spelling, so that one instant has one text under the signature.
fn seconds(digits: &str) -> Option<i64> {
    let plain = digits == "0" || !digits.starts_with('0');
    (plain && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAC: &str = "cae13126f8dcd1e918376aa373be2757db7281a3e5aaed2d83d716537e03de80";

    #[test]
    fn one_time_and_several_signatures_are_read_in_any_order() {
        let header = SignatureHeader::parse(&format!("v1={MAC},t=5,v2=later,v1={MAC}")).unwrap();
        assert_eq!((header.time, header.signatures.len()), (5, 2));
    }

    #[test]
    fn everything_else_is_malformed() {
        let upper = MAC.to_uppercase();
        let many = format!("t=5{}", format!(",v1={MAC}").repeat(MOST_SECRETS + 1));
        for text in [
            String::new(),
            "t=5".to_owned(),
            format!("v1={MAC}"),
            format!("t=,v1={MAC}"),
            format!("t=+5,v1={MAC}"),
            format!("t=-5,v1={MAC}"),
            format!("t=05,v1={MAC}"),
            format!("t= 5,v1={MAC}"),
            format!("t=5.0,v1={MAC}"),
            format!("t=\u{665},v1={MAC}"),
            format!("t=99999999999999999999,v1={MAC}"),
            format!("t=5,t=5,v1={MAC}"),
            format!("t=5,v1={MAC}0"),
            format!("t=5,v1={upper}"),
            "t=5,v1=".to_owned(),
            format!("t=5,v1={MAC},"),
            format!("t=5;v1={MAC}"),
            format!("T=5,v1={MAC}"),
            many,
        ] {
            assert_eq!(SignatureHeader::parse(&text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn hostile_text_is_refused_without_panic(text in "(t=|v1=|,|[0-9a-f]|\\PC){0,40}") {
            let _ = SignatureHeader::parse(&text);
        }
    }
}
