//! A write-set is there as a whole or not at all.

use std::time::Duration;

use handoff_engine::store::{
    BlobRef, BlobWrite, ChainAppend, Erasure, HeightRange, Order, RecordWrite, StoreError, Topic, WriteSet,
};
use handoff_protocol::digest::Digest;

use super::{
    StoreFactory,
    bench::{Bench, CHAIN, blob, entry, event, insert_at, key, put, put_timer, row, scan_all, settle, tenant, timer},
};

/// A record that the step saw at another version: nothing of the write stays.
pub async fn a_wrong_version_leaves_nothing(factory: &dyn StoreFactory) {
    let scene = Scene::new(factory).await;
    for (id, seen) in [("old", None), ("old", Some(2)), ("new", Some(1))] {
        let mut first = scene.full_set();
        first.records.retain(|write| !matches!(write, RecordWrite::Put { key: other, .. } if other.id == id));
        let mut last = first.clone();
        first.records.insert(0, put(id, seen, "wrong"));
        last.records.push(put(id, seen, "wrong"));
        for set in [first, last] {
            let refused = scene.bench.refusal(set).await;
            assert!(matches!(refused, StoreError::Conflict(_)), "a version not seen is a conflict: {refused:?}");
            scene.assert_untouched().await;
        }
    }
    let mut set = scene.full_set();
    set.records.push(RecordWrite::Delete { key: key("absent"), seen: 1, unindex: vec![] });
    let refused = scene.bench.refusal(set).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "deleting what is not there is a conflict: {refused:?}");
    scene.assert_untouched().await;
    scene.assert_full_set_fits().await;
}

/// A chain entry that does not continue the head: nothing of the write stays.
pub async fn a_broken_chain_leaves_nothing(factory: &dyn StoreFactory) {
    let scene = Scene::new(factory).await;
    let mut set = scene.full_set();
    set.chain.push(ChainAppend { previous: Digest::of("another"), ..entry(&CHAIN, 3) });
    let refused = scene.bench.refusal(set).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "a broken link is a conflict: {refused:?}");
    scene.assert_untouched().await;
    scene.assert_full_set_fits().await;
}

/// A timer held under another epoch: nothing of the write stays.
pub async fn a_stale_timer_leaves_nothing(factory: &dyn StoreFactory) {
    let scene = Scene::new(factory).await;
    let mut set = scene.full_set();
    set.timers.push(settle("held", scene.epoch + 1));
    let refused = scene.bench.refusal(set).await;
    assert!(
        matches!(&refused, StoreError::StaleTimer { key } if *key == timer("held")),
        "a settle under another epoch names the stale timer: {refused:?}"
    );
    scene.assert_untouched().await;
    scene.assert_full_set_fits().await;
}

/// A blob to keep that is not there: nothing of the write stays.
pub async fn a_missing_blob_leaves_nothing(factory: &dyn StoreFactory) {
    let scene = Scene::new(factory).await;
    let mut set = scene.full_set();
    set.blobs.push(BlobWrite::Keep(BlobRef { owner: "owner".to_owned(), digest: Digest::of("never put") }));
    let refused = scene.bench.refusal(set).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "keeping a blob that is gone is a conflict: {refused:?}");
    scene.assert_untouched().await;
    scene.assert_full_set_fits().await;
}

/// One of everything in the store, and a write-set that would change all of it.
struct Scene {
    bench: Bench,
    kept: BlobRef,
    unkept: BlobRef,
    epoch: u64,
}

impl Scene {
    async fn new(factory: &dyn StoreFactory) -> Self {
        let bench = Bench::new(factory).await;
        let kept = bench.store.put_blob(blob(tenant(1), "owner", b"kept")).await.expect("a blob is put");
        bench
            .commit(WriteSet {
                records: vec![insert_at("old", "a/old", "first")],
                blobs: vec![BlobWrite::Keep(kept.clone())],
                chain: vec![entry(&CHAIN, 1)],
                events: vec![event("old")],
                timers: vec![put_timer("held", bench.in_seconds(0))],
                ..WriteSet::default()
            })
            .await;
        let claimed = bench.store.claim_timers(10, Duration::from_secs(3600)).await.expect("timers are claimed");
        let unkept = bench.store.put_blob(blob(tenant(1), "owner", b"unkept")).await.expect("a blob is put");
        Self { bench, kept, unkept, epoch: claimed.timers[0].epoch }
    }

    fn full_set(&self) -> WriteSet {
        WriteSet {
            records: vec![
                RecordWrite::Put {
                    key: key("old"),
                    seen: Some(1),
                    document: "second".into(),
                    unindex: vec![row("a/old")],
                    index: vec![row("b/old")],
                },
                insert_at("new", "a/new", "first"),
            ],
            blobs: vec![
                BlobWrite::Store { owner: "owner".to_owned(), bytes: "stored".into() },
                BlobWrite::Keep(self.unkept.clone()),
                BlobWrite::Drop(self.kept.clone()),
            ],
            chain: vec![entry(&CHAIN, 2)],
            erasures: vec![Erasure { chain: CHAIN, height: 1, reason: "asked".to_owned() }],
            label: Some("suite"),
            events: vec![event("old"), event("new")],
            timers: vec![settle("held", self.epoch), put_timer("fresh", self.bench.in_seconds(0))],
            wakes: vec![Topic::from_static("things")],
            ..WriteSet::default()
        }
    }

    async fn assert_untouched(&self) {
        let Bench { store, .. } = &self.bench;
        let old = self.bench.record("old").await.expect("the record is there");
        assert_eq!((old.version, &*old.document), (1, "first"), "the record is as it was");
        assert_eq!(self.bench.record("new").await, None, "nothing was inserted");
        let rows = scan_all(store, tenant(1), Order::Ascending, 10).await.rows;
        let sort_keys: Vec<_> = rows.iter().map(|row| row.sort_key.clone()).collect();
        assert_eq!(sort_keys, [b"a/old"], "the index is as it was");
        let entries = self.bench.entries(&CHAIN).await;
        assert_eq!(entries.len(), 1, "nothing was appended");
        assert_eq!(entries[0].body.as_deref(), Some("body 1"), "nothing was erased");
        let events = store.read_events(&tenant(1), 0, 10).await.expect("events are read");
        assert_eq!(events.len(), 1, "no event was appended");
        let stored = BlobRef { owner: "owner".to_owned(), digest: Digest::of("stored") };
        for (blob, there) in [(&self.kept, true), (&self.unkept, true), (&stored, false)] {
            let found = store.get_blob(&tenant(1), blob).await.expect("a blob is read");
            assert_eq!(found.is_some(), there, "the blobs are as they were");
        }
        // The timer is still held, and no other was set.
        let claimed = store.claim_timers(10, Duration::from_secs(1)).await.expect("timers are claimed");
        assert_eq!(claimed.timers, [], "the timers are as they were");
        assert_eq!(claimed.next, Some(self.bench.in_seconds(3600)), "the claim is as it was");
    }

    /// What was refused for one bad part fits without it, so the refusals above had no other cause.
    async fn assert_full_set_fits(&self) {
        assert_eq!(self.bench.commit(self.full_set()).await, 3, "a refusal costs no sequence");
        let Bench { store, .. } = &self.bench;
        let erased = store.read_chain(&tenant(1), &CHAIN, HeightRange::at(1)).await.expect("a chain is read");
        assert_eq!(erased[0].body, None, "the body is erased");
        assert_eq!(store.get_blob(&tenant(1), &self.kept).await.expect("a blob is read"), None, "the blob is dropped");
        let rows = scan_all(store, tenant(1), Order::Ascending, 10).await.rows;
        let sort_keys: Vec<_> = rows.iter().map(|row| row.sort_key.clone()).collect();
        assert_eq!(sort_keys, [b"a/new", b"b/old"], "the index moved");
        let claimed = store.claim_timers(10, Duration::from_secs(1)).await.expect("timers are claimed");
        let keys: Vec<_> = claimed.timers.into_iter().map(|timer| timer.key).collect();
        assert_eq!(keys, [timer("fresh")], "one timer settled, another set");
    }
}
