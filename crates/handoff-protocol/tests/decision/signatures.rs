//! Signatures in an export: a key is chosen by its id alone, and what only looks like a signature or a key is refused by
//! the set of keys and by the export alike.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use handoff_protocol::{
    bundle::{Bundle, BundleError, BundleReceipt, FindingKind, Trust, verify},
    chain::Head,
    id::{KeyId, Ulid},
    secret::Secret,
    signature::{Jwks, KeyError, KeySet, ReceiptSignature, SignatureError, SigningKey},
    timestamp::Timestamp,
};

use super::scene::{START, json, tenant};

/// Points of small order, and y = p + 3, which is the point of y = 3 in a second spelling.
const BAD_KEYS: [(&str, KeyError); 6] = [
    ("0000000000000000000000000000000000000000000000000000000000000000", KeyError::Weak),
    ("0100000000000000000000000000000000000000000000000000000000000000", KeyError::Weak),
    ("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", KeyError::Weak),
    ("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa", KeyError::Weak),
    ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", KeyError::Weak),
    ("f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", KeyError::Malformed),
];

/// The order of the group, little-endian.
const ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(number.into())), &Secret::new([number; 32]))
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}

/// Two receipts, the first signed by the first key and the second by the second.
fn two() -> Bundle {
    let (mut head, mut receipts) = (Head::GENESIS, Vec::new());
    for number in [1_u8, 2] {
        let mut receipt = json(&format!(r#"{{"id":"rcpt_{number}","org_id":"{}"}}"#, tenant()));
        let link = head.append(&receipt).unwrap();
        receipt.as_object_mut().unwrap().insert("chain", link.to_json());
        receipts.push(BundleReceipt { receipt, signature: Some(key(number).sign(&link.digest)) });
        head = link.head();
    }
    let keys = Jwks { keys: [1, 2].map(|number| key(number).public_key().to_jwk()).into() };
    Bundle { org_id: tenant(), exported_at: START, head, keys, receipts }
}

fn findings(bundle: &Bundle) -> Vec<(FindingKind, Option<u64>)> {
    let report = verify(bundle.to_text().unwrap().as_bytes(), &Trust::default()).unwrap();
    report.findings.into_iter().map(|finding| (finding.kind, finding.height)).collect()
}

/// What the set of a bundle's keys says of the second receipt's signature.
fn alone(bundle: &Bundle) -> Result<(), SignatureError> {
    let keys = KeySet::from_jwks(&bundle.keys).unwrap();
    keys.verify(&bundle.head.digest, bundle.receipts[1].signature.as_ref().unwrap()).map(|_| ())
}

fn second(bundle: &mut Bundle) -> &mut ReceiptSignature {
    bundle.receipts[1].signature.as_mut().unwrap()
}

#[test]
fn a_receipt_is_verified_by_the_key_that_its_signature_names_retired_or_not() {
    let mut bundle = two();
    assert_eq!((findings(&bundle), alone(&bundle)), (vec![], Ok(())));
    bundle.keys.keys.reverse();
    assert_eq!((findings(&bundle), alone(&bundle)), (vec![], Ok(())));
    bundle.keys.keys[0].retired_at = Some(Timestamp::EPOCH);
    assert_eq!((findings(&bundle), alone(&bundle)), (vec![], Ok(())));
}

#[test]
fn no_other_key_is_tried_for_one_that_is_unknown_or_not_named() {
    for kid in ["rk_unknown", ""] {
        let mut bundle = two();
        second(&mut bundle).kid = kid.to_owned();
        assert_eq!(findings(&bundle), [(FindingKind::UnknownKey, Some(2))], "{kid}");
        assert_eq!(alone(&bundle), Err(SignatureError::UnknownKey), "{kid}");
    }
    let mut swapped = two();
    second(&mut swapped).kid = key(1).kid().to_string();
    assert_eq!(findings(&swapped), [(FindingKind::Signature, Some(2))]);
    assert_eq!(alone(&swapped), Err(SignatureError::Invalid));
    let mut gone = two();
    gone.keys.keys.pop();
    assert_eq!(findings(&gone), [(FindingKind::UnknownKey, Some(2))]);
    assert_eq!(alone(&gone), Err(SignatureError::UnknownKey));
    let named = format!(r#","kid":"{}","sig""#, key(2).kid());
    let text = two().to_text().unwrap();
    assert!(text.contains(&named), "{text}");
    let nameless = verify(text.replace(&named, r#","sig""#).as_bytes(), &Trust::default());
    assert!(matches!(nameless, Err(BundleError::NotABundle(_))));
}

#[test]
fn a_scalar_beyond_the_order_of_the_group_is_refused() {
    let mut bundle = two();
    let mut signature = URL_SAFE_NO_PAD.decode(&second(&mut bundle).sig).unwrap();
    let mut carry = 0;
    for (digit, added) in signature[32..].iter_mut().zip(bytes(ORDER)) {
        let sum = u16::from(*digit) + u16::from(added) + carry;
        *digit = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    second(&mut bundle).sig = URL_SAFE_NO_PAD.encode(signature);
    assert_eq!(findings(&bundle), [(FindingKind::Signature, Some(2))]);
    assert_eq!(alone(&bundle), Err(SignatureError::Invalid));
}

#[test]
fn a_key_that_would_accept_anything_is_refused_with_its_whole_set() {
    for (point, fault) in BAD_KEYS {
        let mut bundle = two();
        bundle.keys.keys[1].x = Some(URL_SAFE_NO_PAD.encode(bytes(point)));
        // Of a point of small order and the scalar zero, a careless verifier accepts some text or all.
        let mut nothing = bytes(point);
        nothing.extend([0; 32]);
        second(&mut bundle).sig = URL_SAFE_NO_PAD.encode(nothing);
        assert_eq!(KeySet::from_jwks(&bundle.keys).unwrap_err(), fault, "{point}");
        let found = findings(&bundle);
        assert_eq!(found[0], (FindingKind::Keys, None), "{point}");
        assert!(found.contains(&(FindingKind::UnknownKey, Some(2))), "{point}");
    }
    // With a good key the same signatures are no better.
    for (point, _) in BAD_KEYS {
        let mut bundle = two();
        let mut nothing = bytes(point);
        nothing.extend([0; 32]);
        second(&mut bundle).sig = URL_SAFE_NO_PAD.encode(nothing);
        assert_eq!(findings(&bundle), [(FindingKind::Signature, Some(2))], "{point}");
    }
}
