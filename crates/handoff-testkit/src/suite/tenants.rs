//! Nothing of one tenant shows in another.

use std::time::Duration;

use handoff_engine::store::{
    BlobRef, BlobWrite, HeightRange, IndexRead, Order, Reads, RecordWrite, StoreError, TimerWrite, WriteSet,
};
use handoff_protocol::{
    digest::Digest,
    id::{TenantId, Ulid},
};

use super::{
    StoreFactory,
    bench::{
        Bench, CHAIN, INDEX, commit, entry, event, insert_at, key, load, put_timer, record, refusal, row, scan_all,
        settle, tenant, timer, timers,
    },
    timers::claim,
};

/// After one tenant wrote, every read method finds every other tenant empty.
pub async fn nothing_shows_in_another_tenant(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    commit(&bench.store, tenant(1), everything(&bench, "one")).await;
    let content = blob_of("one");
    for other in [tenant(2), tenant(u128::MAX), TenantId::System] {
        assert_eq!(record(&bench.store, other, "same").await, None, "get");
        for order in [Order::Ascending, Order::Descending] {
            assert_eq!(scan_all(&bench.store, other, order, 10).await.rows, [], "scan");
        }
        let all = HeightRange { from: 0, limit: 10 };
        assert_eq!(bench.store.read_chain(&other, &CHAIN, all).await.expect("a chain is read"), [], "read_chain");
        assert_eq!(bench.store.chain_head(&other, &CHAIN).await.expect("a head is read"), None, "chain_head");
        assert_eq!(bench.store.read_events(&other, 0, 10).await.expect("events are read"), [], "read_events");
        assert_eq!(bench.store.get_blob(&other, &content).await.expect("a blob is read"), None, "get_blob");

        let read = IndexRead { index: INDEX, prefix: Vec::new(), limit: 10 };
        let reads = Reads::none().record(key("same")).index(read.clone()).chain(CHAIN);
        let loaded = load(&bench.store, other, reads).await;
        assert_eq!(loaded.tenant, other, "the tenant a step is given");
        assert_eq!((loaded.head.sequence, loaded.head.last_id), (0, Ulid::MIN), "the head a step is given");
        assert_eq!(loaded.record(&key("same")), Some(None), "the record a step is given");
        assert_eq!(loaded.index(&read), Some(&[][..]), "the rows a step is given");
        assert_eq!(loaded.chain(&CHAIN), Some(None), "the chain a step is given");
    }
    let claimed = claim(&*bench.store, 10).await;
    assert_eq!(claimed.timers.iter().map(|timer| timer.tenant).collect::<Vec<_>>(), [tenant(1)], "claim_timers");
}

/// Two tenants use the same names for everything; what one does to them does nothing to the other.
pub async fn the_same_names_live_apart_in_two_tenants(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let (one, two) = (tenant(1), TenantId::System);
    assert_eq!(commit(&bench.store, one, everything(&bench, "one")).await, 1);
    assert_eq!(commit(&bench.store, two, everything(&bench, "two")).await, 1, "sequences are a tenant's own");

    let claimed = claim(&*bench.store, 10).await.timers;
    assert_eq!(claimed.len(), 2, "a timer each");
    let epoch = claimed.iter().find(|timer| timer.tenant == one).expect("the timer of the first").epoch;
    let stale = refusal(&bench.store, two, timers([settle("same", epoch)])).await;
    assert!(matches!(stale, StoreError::StaleTimer { .. }), "another tenant's epoch is stale: {stale:?}");
    let foreign = WriteSet { blobs: vec![BlobWrite::Keep(blob_of("one"))], ..WriteSet::default() };
    let gone = refusal(&bench.store, two, foreign).await;
    assert!(matches!(gone, StoreError::Conflict(_)), "another tenant's blob cannot be kept: {gone:?}");

    // The second tenant takes away everything that bears these names.
    let delete = RecordWrite::Delete { key: key("same"), seen: 1, unindex: vec![row("same")] };
    let take_away = WriteSet {
        records: vec![delete],
        blobs: vec![BlobWrite::Drop(blob_of("one")), BlobWrite::Drop(blob_of("two"))],
        erasures: vec![handoff_engine::store::Erasure { chain: CHAIN, height: 1, reason: "asked".to_owned() }],
        timers: vec![TimerWrite::Remove { key: timer("same") }],
        ..WriteSet::default()
    };
    commit(&bench.store, two, take_away).await;

    assert_eq!(record(&bench.store, one, "same").await.map(|record| record.document.to_string()), Some("one".into()));
    assert_eq!(scan_all(&bench.store, one, Order::Ascending, 10).await.rows.len(), 1);
    let entries = bench.entries(&CHAIN).await;
    assert_eq!(entries[0].body.as_deref(), Some("body 1"));
    assert!(bench.store.get_blob(&one, &blob_of("one")).await.expect("a blob is read").is_some());
    commit(&bench.store, one, timers([settle("same", epoch)])).await;
    bench.advance(7200);
    let left = bench.store.claim_timers(10, Duration::from_secs(1)).await.expect("timers are claimed");
    assert_eq!((left.timers, left.next), (vec![], None), "both timers are gone, each by its own tenant");
}

fn everything(bench: &Bench, text: &'static str) -> WriteSet {
    WriteSet {
        last_id: Ulid::from_u128(77),
        records: vec![insert_at("same", "same", text)],
        blobs: vec![BlobWrite::Store { owner: "same".to_owned(), bytes: text.into() }],
        chain: vec![entry(&CHAIN, 1)],
        events: vec![event(text)],
        timers: vec![put_timer("same", bench.in_seconds(0))],
        ..WriteSet::default()
    }
}

fn blob_of(text: &str) -> BlobRef {
    BlobRef { owner: "same".to_owned(), digest: Digest::of(text) }
}
