//! What the walk over a chain finds, fault by fault.

use super::*;
use crate::json::read_str;

const ORG: &str = "org_01K0A2QW8ZC4YRXB2N6VD9FTHE";

fn chain(length: u32) -> Vec<Json> {
    let mut head = Head::GENESIS;
    (1..=length)
        .map(|n| {
            let mut receipt = Json::object([("org_id", ORG.into()), ("n", n.into()), ("note", "kept".into())]);
            let link = head.append(&receipt).unwrap();
            head = link.head();
            set(&mut receipt, "chain", link.to_json());
            receipt
        })
        .collect()
}

fn set(receipt: &mut Json, name: &str, value: Json) {
    receipt.as_object_mut().unwrap().insert(name, value);
}

fn link(receipt: &Json) -> Link {
    Link::from_json(receipt.get("chain").unwrap()).unwrap()
}

fn walk(mut verifier: ChainVerifier, receipts: &[Json]) -> ChainReport {
    receipts.iter().for_each(|receipt| verifier.check(receipt));
    verifier.finish()
}

/// The findings of a walk from the beginning, as position and fault.
fn faults(receipts: &[Json]) -> Vec<(u64, ChainFault)> {
    let findings = walk(ChainVerifier::from_genesis(), receipts).findings;
    findings.into_iter().map(|finding| (finding.position.unwrap(), finding.fault)).collect()
}

#[test]
fn an_intact_chain_is_sound_and_gives_its_head() {
    let receipts = chain(4);
    let report = walk(ChainVerifier::from_genesis(), &receipts);
    assert!(report.is_sound());
    assert_eq!((report.receipts, report.head), (4, Some(link(&receipts[3]).head())));
    assert_eq!(walk(ChainVerifier::from_genesis(), &[]).head, Some(Head::GENESIS));
}

#[test]
fn every_receipt_verifies_alone() {
    for receipt in chain(3) {
        assert_eq!(verify_alone(&receipt), Ok(link(&receipt)));
    }
}

#[test]
fn an_altered_receipt_is_one_finding() {
    let mut receipts = chain(4);
    set(&mut receipts[1], "note", "altered".into());
    assert!(matches!(faults(&receipts)[..], [(2, ChainFault::DigestMismatch { .. })]));
    assert!(matches!(verify_alone(&receipts[1]), Err(ChainFault::DigestMismatch { .. })));
}

#[test]
fn an_added_member_is_found_and_a_reordered_one_is_no_change() {
    let mut receipts = chain(2);
    set(&mut receipts[0], "extra", Json::Null);
    let note = receipts[1].as_object_mut().unwrap().remove("note").unwrap();
    set(&mut receipts[1], "note", note);
    assert!(matches!(faults(&receipts)[..], [(1, ChainFault::DigestMismatch { .. })]));
}

#[test]
fn an_altered_receipt_that_was_sealed_again_breaks_the_next_link() {
    let mut receipts = chain(3);
    set(&mut receipts[1], "note", "altered".into());
    let resealed = Link::seal(2, link(&receipts[0]).digest, &receipts[1]).unwrap();
    set(&mut receipts[1], "chain", resealed.to_json());
    assert!(matches!(faults(&receipts)[..], [(3, ChainFault::BrokenLink { .. })]));
}

#[test]
fn a_deleted_receipt_leaves_a_gap_and_a_broken_link() {
    let mut receipts = chain(4);
    receipts.remove(1);
    assert!(matches!(
        faults(&receipts)[..],
        [(2, ChainFault::HeightGap { expected: 2, recorded: 3 }), (2, ChainFault::BrokenLink { .. })]
    ));
}

#[test]
fn a_chain_whose_beginning_was_cut_off_does_not_begin_at_genesis() {
    let receipts = chain(3);
    let found = faults(&receipts[1..]);
    assert!(matches!(
        found[..],
        [(1, ChainFault::HeightGap { expected: 1, recorded: 2 }), (1, ChainFault::BrokenLink { .. })]
    ));
    assert!(walk(ChainVerifier::from_anywhere(), &receipts[1..]).is_sound());
    assert!(walk(ChainVerifier::after(link(&receipts[0]).head()), &receipts[1..]).is_sound());
}

#[test]
fn a_fraction_is_called_non_conforming_and_not_tampered() {
    let mut receipts = chain(3);
    set(&mut receipts[1], "n", read_str("0.5").unwrap());
    let found = faults(&receipts);
    assert!(matches!(found[..], [(2, ChainFault::NonConforming(_))]));
    assert!(found[0].1.to_string().contains("does not conform"));
}

#[test]
fn a_receipt_without_a_link_is_one_finding() {
    let mut receipts = chain(3);
    receipts[1].as_object_mut().unwrap().remove("chain");
    assert_eq!(faults(&receipts), [(2, ChainFault::MissingChain)]);
    set(&mut receipts[1], "chain", Json::object([("height", 2.into())]));
    assert_eq!(faults(&receipts), [(2, ChainFault::MalformedChain)]);
    receipts[1] = Json::from("receipt");
    assert_eq!(faults(&receipts), [(2, ChainFault::NotAReceipt)]);
}

#[test]
fn a_receipt_of_another_tenant_is_found_even_if_its_link_is_right() {
    let mut receipts = chain(1);
    let mut foreign = Json::object([("org_id", "org_01K0A2QW8ZC4YRXB2N6VD9FTHF".into())]);
    let sealed = link(&receipts[0]).head().append(&foreign).unwrap();
    set(&mut foreign, "chain", sealed.to_json());
    receipts.push(foreign);
    assert_eq!(faults(&receipts), [(2, ChainFault::OtherTenant)]);
}

#[test]
fn an_anchor_shows_that_the_tail_was_cut_off() {
    let receipts = chain(4);
    let anchored = |kept: usize| {
        let mut verifier = ChainVerifier::from_genesis();
        verifier.expect_head(link(&receipts[3]).head());
        walk(verifier, &receipts[..kept]).findings
    };
    assert_eq!(anchored(4), []);
    for found in 0..4 {
        let fault = ChainFault::Truncated { expected: 4, found };
        let kept = usize::try_from(found).unwrap();
        assert_eq!(anchored(kept), [ChainFinding { position: None, height: Some(4), fault }]);
    }
}

#[test]
fn an_anchor_shows_that_the_whole_chain_was_rewritten() {
    let receipts = chain(3);
    let forged = Digest::of("another history");
    let mut verifier = ChainVerifier::from_genesis();
    verifier.expect_head(Head { height: 2, digest: forged });
    let report = walk(verifier, &receipts);
    let fault = ChainFault::Diverged { expected: forged, found: link(&receipts[1]).digest };
    assert_eq!(report.findings, [ChainFinding { position: Some(2), height: Some(2), fault }]);
}

#[test]
fn anchors_outside_the_walk_are_not_passed_over() {
    let receipts = chain(3);
    let mut verifier = ChainVerifier::from_anywhere();
    verifier.expect_head(link(&receipts[0]).head());
    let found = walk(verifier, &receipts[1..]).findings;
    assert_eq!(found, [ChainFinding { position: None, height: Some(1), fault: ChainFault::AnchorNotReached }]);

    let mut verifier = ChainVerifier::from_genesis();
    verifier.expect_head(Head { height: 0, digest: Digest::of("no genesis") });
    assert!(matches!(walk(verifier, &receipts).findings[0].fault, ChainFault::Diverged { .. }));

    let mut verifier = ChainVerifier::from_genesis();
    verifier.expect_head(link(&receipts[1]).head());
    verifier.expect_head(Head { height: 2, digest: Digest::of("a contradiction") });
    assert!(matches!(walk(verifier, &receipts).findings[..], [ChainFinding { height: Some(2), .. }]));
}
