//! Export bundles: each kind of fault is found as itself, and no change of meaning goes unseen.

use handoff_protocol::{
    bundle::{Bundle, BundleError, BundleReceipt, Finding, FindingKind, Trust, verify},
    chain::{CHAIN_MEMBER, Head, Link},
    digest::Digest,
    id::{KeyId, OrgId, Ulid},
    json::{Json, read_str},
    secret::Secret,
    signature::{KeySet, SigningKey},
    timestamp::Timestamp,
};
use proptest::prelude::{any, prop_assert, proptest};

use super::scene::{START, json, tenant};

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(number.into())), &Secret::new([number; 32]))
}

fn keys(keys: &[&SigningKey]) -> KeySet {
    KeySet::new(keys.iter().map(|key| key.public_key())).unwrap()
}

/// A sealed and signed receipt of a tenant, saying something.
fn sealed(head: Head, says: &str, org_id: OrgId, signer: &SigningKey) -> (BundleReceipt, Head) {
    let core = json(&format!(r#"{{"id":"rcpt_{says}","org_id":"{org_id}","request_version":1,"says":"{says}"}}"#));
    chained(core, head.append(&json("0")).unwrap().height, head.digest, signer)
}

fn chained(mut core: Json, height: u64, previous: Digest, signer: &SigningKey) -> (BundleReceipt, Head) {
    let link = Link::seal(height, previous, &core).unwrap();
    core.as_object_mut().unwrap().insert(CHAIN_MEMBER, link.to_json());
    (BundleReceipt { receipt: core, signature: Some(signer.sign(&link.digest)) }, link.head())
}

fn bundle_of(receipts: Vec<BundleReceipt>, head: Head) -> Bundle {
    Bundle { org_id: tenant(), exported_at: START, head, keys: keys(&[&key(1)]).to_jwks(), receipts }
}

fn sound(count: usize) -> Bundle {
    let (mut receipts, mut head) = (Vec::new(), Head::GENESIS);
    for place in 0..count {
        let (receipt, next) = sealed(head, &format!("n{place}"), tenant(), &key(1));
        receipts.push(receipt);
        head = next;
    }
    bundle_of(receipts, head)
}

fn findings(text: &str, trust: &Trust) -> Vec<Finding> {
    verify(text.as_bytes(), trust).unwrap().findings
}

fn kinds(bundle: &Bundle, trust: &Trust) -> Vec<(FindingKind, Option<u64>)> {
    findings(&bundle.to_text().unwrap(), trust).into_iter().map(|finding| (finding.kind, finding.height)).collect()
}

fn edited(bundle: &Bundle, from: &str, to: &str) -> Vec<(FindingKind, Option<u64>)> {
    let text = bundle.to_text().unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(text, changed, "{from} is not in the bundle");
    findings(&changed, &Trust::default()).into_iter().map(|finding| (finding.kind, finding.height)).collect()
}

#[test]
fn a_sound_bundle_has_no_finding_whoever_is_trusted() {
    let bundle = sound(3);
    let trusted = Trust { keys: Some(keys(&[&key(1), &key(2)])), anchors: vec![bundle.head] };
    for trust in [Trust::default(), trusted] {
        let report = verify(bundle.to_text().unwrap().as_bytes(), &trust).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
        assert_eq!((report.receipts, report.signed, report.head), (3, 3, Some(bundle.head)));
        assert_eq!(report.limits.is_empty(), trust.keys.is_some(), "what was not checked is said");
    }
    assert!(verify(sound(0).to_text().unwrap().as_bytes(), &Trust::default()).unwrap().is_sound());
}

#[test]
fn a_changed_receipt_does_not_count_as_signed() {
    let text = sound(3).to_text().unwrap().replacen(r#""says":"n1""#, r#""says":"nX""#, 1);
    let report = verify(text.as_bytes(), &Trust::default()).unwrap();
    assert_eq!((report.receipts, report.signed, report.findings.len()), (3, 2, 1));
}

#[test]
fn a_changed_receipt_is_a_digest_finding_at_its_height() {
    assert_eq!(edited(&sound(3), r#""says":"n1""#, r#""says":"nX""#), [(FindingKind::Digest, Some(2))]);
    let mut bundle = sound(3);
    bundle.receipts[1].receipt.as_object_mut().unwrap().insert("says", "changed");
    assert_eq!(kinds(&bundle, &Trust::default()), [(FindingKind::Digest, Some(2))], "also under a fresh bundle digest");
}

#[test]
fn a_receipt_on_top_of_another_one_is_a_link_finding() {
    let mut bundle = sound(2);
    let core = json(&format!(r#"{{"id":"rcpt_x","org_id":"{}"}}"#, tenant()));
    let (other, head) = chained(core, 2, Digest::of("elsewhere"), &key(1));
    bundle.receipts[1] = other;
    bundle.head = head;
    assert_eq!(kinds(&bundle, &Trust::default()), [(FindingKind::Link, Some(2))]);
}

#[test]
fn a_skipped_height_is_a_height_finding_and_a_missing_receipt_breaks_the_link_as_well() {
    let mut bundle = sound(1);
    let core = json(&format!(r#"{{"id":"rcpt_x","org_id":"{}"}}"#, tenant()));
    let (skipping, head) = chained(core, 3, bundle.head.digest, &key(1));
    bundle.receipts.push(skipping);
    bundle.head = head;
    assert_eq!(kinds(&bundle, &Trust::default()), [(FindingKind::Height, Some(3))]);
    let mut bundle = sound(3);
    bundle.receipts.remove(1);
    assert_eq!(kinds(&bundle, &Trust::default()), [(FindingKind::Link, Some(3)), (FindingKind::Height, Some(3))]);
}

#[test]
fn signatures_are_judged_one_by_one() {
    let mut swapped = sound(3);
    swapped.receipts[0].signature = swapped.receipts[1].signature.clone();
    assert_eq!(kinds(&swapped, &Trust::default()), [(FindingKind::Signature, Some(1))]);
    let mut unknown = sound(3);
    let digest = unknown.head.digest;
    unknown.receipts[2].signature = Some(key(2).sign(&digest));
    assert_eq!(kinds(&unknown, &Trust::default()), [(FindingKind::UnknownKey, Some(3))]);
    let mut bare = sound(3);
    bare.receipts[1].signature = None;
    assert_eq!(kinds(&bare, &Trust::default()), [(FindingKind::Unsigned, Some(2))]);
}

#[test]
fn a_chain_without_any_signature_is_sound_only_to_who_expects_none() {
    let mut bundle = sound(2);
    for receipt in &mut bundle.receipts {
        receipt.signature = None;
    }
    let unsigned = [(FindingKind::Unsigned, Some(1)), (FindingKind::Unsigned, Some(2))];
    // Keys in the bundle, or brought along, say that there were signatures.
    assert_eq!(kinds(&bundle, &Trust::default()), unsigned);
    bundle.keys.keys.clear();
    let report = verify(bundle.to_text().unwrap().as_bytes(), &Trust::default()).unwrap();
    assert!(report.is_sound() && report.limits.iter().any(|limit| limit.contains("no signatures")));
    let trust = Trust { keys: Some(keys(&[&key(1)])), anchors: Vec::new() };
    assert_eq!(kinds(&bundle, &trust), unsigned);
}

#[test]
fn trusted_keys_stand_in_for_those_of_the_bundle() {
    let trust = Trust { keys: Some(keys(&[&key(2)])), anchors: Vec::new() };
    assert_eq!(kinds(&sound(1), &trust), [(FindingKind::UnknownKey, Some(1))]);
    // The same id over another key: the bundle's own copy must not help.
    let imposter = SigningKey::from_seed(key(1).kid(), &Secret::new([9; 32]));
    let trust = Trust { keys: Some(keys(&[&imposter])), anchors: Vec::new() };
    assert_eq!(kinds(&sound(1), &trust), [(FindingKind::Signature, Some(1))]);
}

#[test]
fn the_head_is_compared_with_the_bundle_and_with_what_was_recorded_elsewhere() {
    let mut bundle = sound(3);
    bundle.head.digest = Digest::of("another");
    assert_eq!(kinds(&bundle, &Trust::default()), [(FindingKind::Head, None)]);
    let whole = sound(3);
    let mut cut = sound(2);
    assert!(kinds(&cut, &Trust::default()).is_empty(), "an unanchored chain cannot show a missing tail");
    let anchored = |anchor: Head| Trust { keys: None, anchors: vec![anchor] };
    assert_eq!(kinds(&cut, &anchored(whole.head)), [(FindingKind::Head, Some(3))]);
    let rewritten = Head { height: 2, digest: Digest::of("as it was") };
    assert_eq!(kinds(&whole, &anchored(rewritten)), [(FindingKind::Head, Some(2))]);
    cut.head = whole.head;
    assert_eq!(kinds(&cut, &Trust::default()), [(FindingKind::Head, None)]);
}

#[test]
fn a_receipt_of_another_tenant_is_named_once_and_where_it_stands() {
    let stranger = OrgId::from_ulid(Ulid::from_u128(9));
    for foreign in 0..3_usize {
        let (mut receipts, mut head) = (Vec::new(), Head::GENESIS);
        for place in 0..3 {
            let org = if place == foreign { stranger } else { tenant() };
            let (receipt, next) = sealed(head, &format!("n{place}"), org, &key(1));
            receipts.push(receipt);
            head = next;
        }
        let height = u64::try_from(foreign).unwrap() + 1;
        assert_eq!(kinds(&bundle_of(receipts, head), &Trust::default()), [(FindingKind::Tenant, Some(height))]);
    }
    let mut renamed = sound(2);
    renamed.org_id = stranger;
    assert_eq!(kinds(&renamed, &Trust::default()), [(FindingKind::Tenant, Some(1)), (FindingKind::Tenant, Some(2))]);
}

#[test]
fn keys_that_cannot_be_used_are_named_beside_what_they_leave_unchecked() {
    let mut bundle = sound(1);
    bundle.keys.keys[0].x = Some("AAAA".to_owned());
    assert_eq!(kinds(&bundle, &Trust::default()), [(FindingKind::Keys, None), (FindingKind::UnknownKey, Some(1))]);
}

#[test]
fn a_receipt_that_cannot_be_digested_is_told_from_one_that_was_altered() {
    let found = edited(&sound(2), r#""request_version":1,"#, r#""request_version":1.5,"#);
    assert_eq!(found, [(FindingKind::NonConforming, Some(1))]);
}

#[test]
fn what_stands_outside_the_receipts_is_covered_too() {
    let bundle = sound(2);
    for (from, to) in [
        ("\"exported_at\":\"2026", "\"exported_at\":\"2027"),
        ("\"use\":\"sig\"", "\"use\":\"sig\",\"retired_at\":\"2026-01-01T00:00:00Z\""),
    ] {
        assert_eq!(edited(&bundle, from, to), [(FindingKind::Bundle, None)], "{from}");
    }
}

#[test]
fn what_is_no_bundle_is_an_error() {
    let text = sound(1).to_text().unwrap();
    let error = |text: &str| verify(text.as_bytes(), &Trust::default()).unwrap_err();
    assert!(matches!(error(text.trim_start_matches('{')), BundleError::NotJson(_)));
    assert!(matches!(error("{}"), BundleError::NotABundle(_)));
    assert!(matches!(error(&text.replacen("export/1", "export/2", 1)), BundleError::UnknownFormat));
    assert!(matches!(error(&text.replacen("\"head\"", "\"heed\"", 1)), BundleError::NotABundle(_)));
}

/// What a text means, if anything.
fn meaning(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    read_str(text).ok()?.canonical().ok()
}

#[test]
fn a_receipt_that_was_signed_after_its_key_was_retired_is_a_doubt_whoever_says_when() {
    let at = |second: i64| Timestamp::from_unix_seconds(START.unix_seconds() + second);
    let retired = KeySet::new([key(1).public_key().retired(at(5))]).unwrap();
    let plain = keys(&[&key(1)]);
    let (mut receipts, mut head) = (Vec::new(), Head::GENESIS);
    for (height, decided_at) in [(1, at(5)), (2, at(6))] {
        let core = format!(r#"{{"id":"rcpt_{height}","org_id":"{}","decided_at":"{decided_at}"}}"#, tenant());
        let (receipt, next) = chained(json(&core), height, head.digest, &key(1));
        receipts.push(receipt);
        head = next;
    }
    for (carried, brought) in [(&retired, None), (&retired, Some(&plain)), (&plain, Some(&retired))] {
        let bundle = Bundle { keys: carried.to_jwks(), ..bundle_of(receipts.clone(), head) };
        let trust = Trust { keys: brought.cloned(), anchors: vec![head] };
        let report = verify(bundle.to_text().unwrap().as_bytes(), &trust).unwrap();
        assert!(report.is_sound(), "the chain is whole: {:?}", report.findings);
        let [doubt] = report.doubts.as_slice() else { panic!("{:?}", report.doubts) };
        assert_eq!(
            (doubt.height, doubt.receipt_id.as_deref(), doubt.kind),
            (Some(2), Some("rcpt_2"), FindingKind::RetiredKey)
        );
        assert!(doubt.message.starts_with("signed after its key was retired"), "{}", doubt.message);
    }
    let bundle = bundle_of(receipts, head);
    assert!(verify(bundle.to_text().unwrap().as_bytes(), &Trust::default()).unwrap().doubts.is_empty());
}

proptest! {
    #[test]
    fn no_single_byte_changes_the_meaning_unseen(place in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let mut text = sound(2).to_text().unwrap().into_bytes();
        let before = meaning(&text);
        let place = place.index(text.len());
        text[place] = byte;
        if meaning(&text) != before {
            let seen = verify(&text, &Trust::default()).map_or(true, |report| !report.is_sound());
            prop_assert!(seen, "{}", String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn no_flipped_bit_changes_the_meaning_unseen() {
    let whole = sound(1).to_text().unwrap().into_bytes();
    let before = meaning(&whole);
    for place in 0..whole.len() {
        for bit in [0, 1, 5] {
            let mut text = whole.clone();
            text[place] ^= 1 << bit;
            if meaning(&text) != before {
                let seen = verify(&text, &Trust::default()).map_or(true, |report| !report.is_sound());
                assert!(seen, "byte {place}, bit {bit}: {}", String::from_utf8_lossy(&text));
            }
        }
    }
}

/// The members of a bundle's text in another order.
fn reordered(text: &str, order: [usize; 7]) -> String {
    let document = json(text);
    let members: Vec<_> = document.as_object().unwrap().iter().collect();
    let members = order.map(|place| format!("{}:{}", Json::from(members[place].0), members[place].1));
    format!("{{{}}}", members.join(","))
}

#[test]
fn the_order_of_members_does_not_matter() {
    let bundle = sound(5);
    let text = bundle.to_text().unwrap();
    for order in [[0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [5, 0, 1, 2, 3, 4, 6], [6, 0, 4, 5, 2, 1, 3]] {
        let text = reordered(&text, order);
        let report = verify(text.as_bytes(), &Trust::default()).unwrap();
        assert!(report.is_sound(), "{order:?}: {:?}", report.findings);
        assert_eq!((report.receipts, report.signed), (5, 5));
        let altered = text.replacen("\"says\":\"n3\"", "\"says\":\"no\"", 1);
        assert_ne!(text, altered);
        let found = findings(&altered, &Trust::default());
        assert_eq!(
            found.iter().map(|found| (found.kind, found.height)).collect::<Vec<_>>(),
            [(FindingKind::Digest, Some(4))]
        );
        assert_eq!(found[0].receipt_id.as_deref(), Some("rcpt_n3"));
    }
}

#[test]
fn every_receipt_of_many_is_judged_by_its_own_signature() {
    let bundle = sound(300);
    let text = bundle.to_text().unwrap();
    let report = verify(text.as_bytes(), &Trust::default()).unwrap();
    assert_eq!((report.is_sound(), report.receipts, report.signed), (true, 300, 300));
    let mut forged = bundle.clone();
    let taken = forged.receipts[10].signature.clone();
    for place in [127, 128, 299] {
        forged.receipts[place].signature = taken.clone();
    }
    let found = kinds(&forged, &Trust::default());
    assert_eq!(found, [128, 129, 300].map(|height| (FindingKind::Signature, Some(height))));
}

#[test]
fn what_lacks_a_signature_before_the_first_that_has_one_is_named_too() {
    let mut bundle = sound(3);
    bundle.keys.keys.clear();
    bundle.receipts[0].signature = None;
    let found = kinds(&bundle, &Trust::default());
    let expected = [(FindingKind::Unsigned, 1), (FindingKind::UnknownKey, 2), (FindingKind::UnknownKey, 3)];
    assert_eq!(found, expected.map(|(kind, height)| (kind, Some(height))));
}

#[test]
fn a_member_that_is_missing_or_unknown_makes_it_no_bundle() {
    let text = sound(1).to_text().unwrap();
    let document = json(&text);
    for name in document.as_object().unwrap().keys() {
        let mut less = document.clone();
        less.as_object_mut().unwrap().remove(name);
        let refused = verify(less.to_text().as_bytes(), &Trust::default()).unwrap_err();
        assert!(matches!(&refused, BundleError::NotABundle(_)), "{name}: {refused}");
        assert!(refused.to_string().contains(&format!("missing field `{name}`")), "{refused}");
        let mut more = document.clone();
        more.as_object_mut().unwrap().insert(format!("{name}s"), 1);
        let refused = verify(more.to_text().as_bytes(), &Trust::default()).unwrap_err();
        assert!(matches!(refused, BundleError::NotABundle(_)), "{refused}");
    }
    let twice = text.replacen("\"org_id\"", "\"head\":1,\"org_id\"", 1);
    assert!(matches!(verify(twice.as_bytes(), &Trust::default()), Err(BundleError::NotJson(_))));
    let other = text.replacen("handoff-export/1", "handoff-export/2", 1);
    assert!(matches!(verify(other.as_bytes(), &Trust::default()), Err(BundleError::UnknownFormat)));
}
