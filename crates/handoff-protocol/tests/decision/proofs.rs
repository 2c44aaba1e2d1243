//! Proofs of one receipt: what they show, and what they say that they cannot.

use handoff_protocol::{
    bundle::{BundleReport, FindingKind, Trust, verify},
    chain::{CHAIN_MEMBER, Head, Link},
    digest::Digest,
    id::{KeyId, Ulid},
    proof::Proof,
    secret::Secret,
    signature::{KeySet, SigningKey},
};

use super::scene::{START, json, tenant};

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(number.into())), &Secret::new([number; 32]))
}

/// The fourth receipt of some chain.
fn proof() -> (Proof, Head) {
    let mut receipt = json(&format!(r#"{{"id":"rcpt_x","org_id":"{}","says":"approve"}}"#, tenant()));
    let link = Link::seal(4, Digest::of("the third"), &receipt).unwrap();
    receipt.as_object_mut().unwrap().insert(CHAIN_MEMBER, link.to_json());
    let keys = KeySet::new([key(1).public_key()]).unwrap().to_jwks();
    let signature = Some(key(1).sign(&link.digest));
    (Proof { org_id: tenant(), made_at: START, keys, receipt, signature }, link.head())
}

fn check(text: &str, trust: &Trust) -> BundleReport {
    verify(text.as_bytes(), trust).unwrap()
}

fn kinds(text: &str, trust: &Trust) -> Vec<FindingKind> {
    check(text, trust).findings.into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_sound_proof_shows_one_signed_receipt_and_says_what_it_does_not_show() {
    let (proof, head) = proof();
    let text = proof.to_text().unwrap();
    let report = check(&text, &Trust::default());
    assert!(report.is_sound(), "{:?}", report.findings);
    assert_eq!((report.receipts, report.signed, report.head), (1, 1, Some(head)));
    assert_eq!(report.limits.len(), 3, "{:?}", report.limits);
    let keys = Some(KeySet::new([key(1).public_key()]).unwrap());
    let report = check(&text, &Trust { keys, anchors: vec![head] });
    assert!(report.is_sound());
    assert_eq!(report.limits.len(), 1, "that others came before or after is never seen: {:?}", report.limits);
}

#[test]
fn every_change_is_named_for_what_it_is() {
    let (proof, head) = proof();
    let text = proof.to_text().unwrap();
    let trust = Trust::default();
    assert_eq!(kinds(&text.replace("approve", "reject"), &trust), [FindingKind::Digest]);
    let unsigned = Proof { signature: None, ..proof.clone() }.to_text().unwrap();
    assert_eq!(kinds(&unsigned, &trust), [FindingKind::Unsigned]);
    let forged = Proof { signature: Some(key(2).sign(&head.digest)), ..proof.clone() }.to_text().unwrap();
    assert_eq!(kinds(&forged, &trust), [FindingKind::UnknownKey]);
    let misplaced = Proof { signature: Some(key(1).sign(&Digest::of("another"))), ..proof.clone() };
    assert_eq!(kinds(&misplaced.to_text().unwrap(), &trust), [FindingKind::Signature]);
    let made_at = format!("\"made_at\":\"{START}\"");
    assert!(text.contains(&made_at));
    assert_eq!(kinds(&text.replace(&made_at, "\"made_at\":\"2020-01-01T00:00:00Z\""), &trust), [FindingKind::Bundle]);
    let elsewhere = Trust { keys: None, anchors: vec![Head { height: 4, digest: Digest::of("another") }] };
    assert_eq!(kinds(&text, &elsewhere), [FindingKind::Head]);
    let strangers = Trust { keys: Some(KeySet::new([key(2).public_key()]).unwrap()), anchors: Vec::new() };
    assert_eq!(kinds(&text, &strangers), [FindingKind::UnknownKey]);
}

#[test]
fn what_is_no_proof_is_refused_and_judged_as_nothing() {
    let (proof, _) = proof();
    let text = proof.to_text().unwrap();
    for broken in [text.replace("\"made_at\"", "\"more\":1,\"made_at\""), text.replace("/1\"", "/2\"")] {
        assert!(verify(broken.as_bytes(), &Trust::default()).is_err(), "{broken}");
    }
}
