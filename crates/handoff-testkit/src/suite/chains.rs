//! Entries continue the head, and bodies can be erased.

use std::sync::Arc;

use handoff_engine::store::{
    ChainAppend, ChainEntry, ChainHead, ChainName, Erasure, HeightRange, Reads, Step, StoreError, Transacted, WriteSet,
};
use handoff_protocol::digest::Digest;

use super::{
    StoreFactory,
    bench::{Bench, CHAIN, chain, entry, link, load, tenant, together, transact},
};

/// Only the next height over the head's own digest is appended; the first entry may continue anything.
pub async fn an_entry_must_continue_the_head(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    for height in [0, 2, 7] {
        let early = ChainAppend { height, ..entry(&CHAIN, 1) };
        assert_conflict(&bench.refusal(chain([early])).await);
    }
    assert_eq!(bench.store.chain_head(&tenant(1), &CHAIN).await.expect("a head is read"), None);

    let own_genesis = ChainAppend { previous: Digest::of("a domain's own beginning"), ..entry(&CHAIN, 1) };
    bench.commit(chain([own_genesis, entry(&CHAIN, 2)])).await;
    let broken = ChainAppend { previous: link(&CHAIN, 1), ..entry(&CHAIN, 3) };
    for wrong in [entry(&CHAIN, 1), entry(&CHAIN, 2), entry(&CHAIN, 4), broken] {
        assert_conflict(&bench.refusal(chain([wrong])).await);
    }
    assert_conflict(&bench.refusal(chain([entry(&CHAIN, 3), entry(&CHAIN, 3)])).await);
    bench.commit(chain([entry(&CHAIN, 3)])).await;
    let head = bench.store.chain_head(&tenant(1), &CHAIN).await.expect("a head is read");
    assert_eq!(head, Some(ChainHead { height: 3, digest: link(&CHAIN, 3) }));
}

/// A range begins at its height and ends at its limit or the head; chains of similar names are apart.
pub async fn entries_are_read_by_height(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let longer_name = ChainName::from_static("log2");
    bench.commit(chain((1..=12).map(|height| entry(&CHAIN, height)))).await;
    bench.commit(chain([entry(&longer_name, 1), entry(&longer_name, 2)])).await;
    for (from, limit, heights) in [
        (0, 2, vec![1, 2]),
        (1, 3, vec![1, 2, 3]),
        (9, 3, vec![9, 10, 11]),
        (10, 100, vec![10, 11, 12]),
        (13, 100, vec![]),
    ] {
        let range = HeightRange { from, limit };
        let found = bench.store.read_chain(&tenant(1), &CHAIN, range).await.expect("a chain is read");
        assert_eq!(found.iter().map(|entry| entry.height).collect::<Vec<_>>(), heights, "from {from} at most {limit}");
    }
    let fifth = bench.store.read_chain(&tenant(1), &CHAIN, HeightRange::at(5)).await.expect("a chain is read");
    let ChainAppend { height, previous, digest, body, attestation, .. } = entry(&CHAIN, 5);
    assert_eq!(fifth, [ChainEntry { height, previous, digest, body: Some(body), attestation }], "as it was appended");
    let absent = ChainName::from_static("lo");
    assert_eq!(bench.entries(&absent).await, [], "a chain that was never written is empty");
}

/// 32 writers append to one chain at once; it has no gap and no fork.
pub async fn many_writers_make_no_gap_and_no_fork(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    together((0..32).map(|writer| {
        let store = Arc::clone(&bench.store);
        async move {
            for round in 0..4 {
                let outcome = transact(&store, tenant(1), Reads::none().chain(CHAIN), move |loaded, _| {
                    let head = loaded.chain(&CHAIN).expect("the head is loaded").copied();
                    let (below, previous) = head.map_or((0, Digest::zero()), |head| (head.height, head.digest));
                    let append = ChainAppend {
                        chain: CHAIN,
                        height: below + 1,
                        previous,
                        digest: Digest::of(format!("{previous} {writer} {round}")),
                        body: format!("{writer} {round}").into(),
                        attestation: None,
                    };
                    Step::Commit(Box::new(chain([append])))
                })
                .await;
                assert!(matches!(outcome, Ok(Transacted::Committed { .. })), "an entry is appended: {outcome:?}");
            }
        }
    }))
    .await;

    let entries = bench.entries(&CHAIN).await;
    assert_eq!(entries.len(), 128, "every acknowledged entry is there");
    let mut previous = Digest::zero();
    let mut bodies = std::collections::BTreeSet::new();
    for (height, entry) in (1..).zip(&entries) {
        assert_eq!((entry.height, entry.previous), (height, previous), "each entry continues the one before");
        assert!(bodies.insert(entry.body.clone()), "each entry is there once");
        previous = entry.digest;
    }
    let head = load(&bench.store, tenant(1), Reads::none().chain(CHAIN)).await.chain(&CHAIN).flatten().copied();
    assert_eq!(head, Some(ChainHead { height: 128, digest: previous }), "the head is the last entry");
}

/// Erasing takes the body and nothing else; the chain goes on.
pub async fn an_erased_body_is_gone_and_its_entry_stays(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(chain((1..=3).map(|height| entry(&CHAIN, height)))).await;
    let before = bench.entries(&CHAIN).await;
    for height in [2, 3] {
        bench.commit(erase(height)).await;
    }
    let expected: Vec<_> = before
        .into_iter()
        .map(|entry| if entry.height == 1 { entry } else { ChainEntry { body: None, ..entry } })
        .collect();
    assert_eq!(bench.entries(&CHAIN).await, expected, "bodies are gone, entries, digests and attestations stay");
    let head = bench.store.chain_head(&tenant(1), &CHAIN).await.expect("a head is read");
    assert_eq!(head, Some(ChainHead { height: 3, digest: link(&CHAIN, 3) }), "an erased head is still the head");
    bench.commit(chain([entry(&CHAIN, 4)])).await;
}

/// A second erasure of the same body is accepted and changes nothing.
pub async fn erasing_twice_is_harmless(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(chain([entry(&CHAIN, 1), entry(&CHAIN, 2)])).await;
    bench.commit(erase(1)).await;
    let once = bench.entries(&CHAIN).await;
    bench.commit(erase(1)).await;
    assert_eq!(bench.entries(&CHAIN).await, once);
}

fn erase(height: u64) -> WriteSet {
    let erasure = Erasure { chain: CHAIN, height, reason: "the person asked for it".to_owned() };
    WriteSet { erasures: vec![erasure], ..WriteSet::default() }
}

fn assert_conflict(refused: &StoreError) {
    assert!(matches!(refused, StoreError::Conflict(_)), "an entry that does not continue conflicts: {refused:?}");
}
