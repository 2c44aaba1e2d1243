//! What was acknowledged outlives the store.

use std::{sync::Arc, time::Duration};

use handoff_engine::store::{
    BlobWrite, ChainEntry, Erasure, IndexedRecord, Order, Reads, Record, RecordWrite, Store, StoredEvent, TenantHead,
    WriteSet,
};
use handoff_protocol::id::Ulid;

use super::{
    StoreFactory,
    bench::{
        Bench, CHAIN, blob, entry, event, insert_at, key, load, put, put_timer, records, scan_all, settle, tenant,
        timers, together,
    },
    timers::claim,
    versions::add_one,
};

/// Every acknowledged write is there after the store was closed and opened again, and nothing else is.
pub async fn acknowledged_writes_survive_reopening(factory: &dyn StoreFactory) {
    let mut bench = Bench::new(factory).await;
    bench.commit(fill(&bench)).await;
    bench.commit(records([put("counter", None, "0"), put("deleted", None, "text")])).await;
    bench.commit(records([RecordWrite::Delete { key: key("deleted"), seen: 1, unindex: vec![] }])).await;
    bench.commit(erase_first()).await;
    let refused = bench.refusal(records([put("refused", None, "text"), put("one", None, "text")])).await;
    drop(refused);
    together((0..16).map(|_| {
        let store = Arc::clone(&bench.store);
        async move { add_one(&store).await }
    }))
    .await;
    let kept = bench.store.put_blob(blob(tenant(1), "owner", b"kept")).await.expect("a blob is put");
    let unkept = bench.store.put_blob(blob(tenant(1), "owner", b"unkept")).await.expect("a blob is put");
    bench.commit(WriteSet { blobs: vec![BlobWrite::Keep(kept.clone())], ..WriteSet::default() }).await;

    let before = observe(&bench).await;
    assert_eq!(before.records[1].as_ref().map(|record| &*record.document), Some("16"), "the counter counted");
    for _ in 0..2 {
        let Some(reopened) = factory.reopen(bench.store, bench.ports.clone()).await else { return };
        bench.store = reopened;
        assert_eq!(observe(&bench).await, before, "everything is as it was");
    }

    bench.advance(7200);
    assert_eq!(bench.store.sweep_blobs(Duration::from_secs(3600)).await.expect("blobs are swept"), 1);
    let found = bench.store.get_blob(&tenant(1), &kept).await.expect("a blob is read");
    assert_eq!(found.as_deref(), Some(&b"kept"[..]), "what was kept is kept");
    assert_eq!(bench.store.get_blob(&tenant(1), &unkept).await.expect("a blob is read"), None);
}

/// Sequences, chains, ids, claims and epochs go on where they were.
pub async fn heads_and_epochs_go_on_after_reopening(factory: &dyn StoreFactory) {
    let mut bench = Bench::new(factory).await;
    bench.commit(fill(&bench)).await;
    bench.commit(timers([put_timer("gone", bench.in_seconds(0))])).await;
    let claimed = claim(&*bench.store, 10).await.timers;
    let epoch = |key: &str| claimed.iter().find(|timer| timer.key.as_str() == key).map_or(0, |timer| timer.epoch);
    let highest = epoch("held").max(epoch("gone"));
    assert!(epoch("held") > 0 && epoch("gone") > 0, "both timers are held: {claimed:?}");
    // The timer with an epoch is gone, and the epoch must still not come back.
    bench.commit(timers([settle("gone", epoch("gone"))])).await;

    let Some(reopened) = factory.reopen(bench.store, bench.ports.clone()).await else { return };
    bench.store = reopened;
    let again = claim(&*bench.store, 10).await;
    assert_eq!((again.timers, again.next), (vec![], Some(bench.in_seconds(3600))), "a claim holds beyond a restart");
    bench.commit(timers([settle("held", epoch("held"))])).await;
    bench.commit(timers([put_timer("next", bench.in_seconds(0))])).await;
    let next = claim(&*bench.store, 10).await.timers.remove(0);
    assert!(next.epoch > highest, "epoch {} after {highest}", next.epoch);

    let head = load(&bench.store, tenant(1), Reads::none()).await.head;
    assert_eq!(head, TenantHead { sequence: 2, last_id: Ulid::from_u128(77) });
    let mut set = records([put("one", Some(1), "second")]);
    set.chain.push(entry(&CHAIN, 3));
    set.events.push(event("three"));
    set.last_id = Ulid::from_u128(5);
    assert_eq!(bench.commit(set).await, 3, "the sequence goes on");
    assert_eq!(load(&bench.store, tenant(1), Reads::none()).await.head.last_id, Ulid::from_u128(77));
}

fn fill(bench: &Bench) -> WriteSet {
    WriteSet {
        last_id: Ulid::from_u128(77),
        records: vec![insert_at("one", vec![0, 255, b'"', b'\n'], "{\"text\":\"\\u0000 é\n\"}")],
        blobs: vec![BlobWrite::Store { owner: "owner".to_owned(), bytes: vec![0, 255, 10].into() }],
        chain: vec![entry(&CHAIN, 1), entry(&CHAIN, 2)],
        events: vec![event("one"), event("two")],
        timers: vec![put_timer("held", bench.in_seconds(0)), put_timer("later", bench.in_seconds(9_000))],
        ..WriteSet::default()
    }
}

fn erase_first() -> WriteSet {
    let erasure = Erasure { chain: CHAIN, height: 1, reason: "asked".to_owned() };
    WriteSet { erasures: vec![erasure], ..WriteSet::default() }
}

/// What can be read of the first tenant without changing it.
#[derive(Debug, PartialEq)]
struct Observed {
    head: TenantHead,
    records: Vec<Option<Record>>,
    rows: Vec<IndexedRecord>,
    entries: Vec<ChainEntry>,
    events: Vec<StoredEvent>,
}

async fn observe(bench: &Bench) -> Observed {
    let keys = ["one", "counter", "deleted", "refused"].map(key);
    let store: &dyn Store = &*bench.store;
    Observed {
        head: load(&bench.store, tenant(1), Reads::none()).await.head,
        records: store.get(&tenant(1), &keys).await.expect("records are read"),
        rows: scan_all(&bench.store, tenant(1), Order::Ascending, 10).await.rows,
        entries: bench.entries(&CHAIN).await,
        events: store.read_events(&tenant(1), 0, 100).await.expect("events are read"),
    }
}
