//! A store that shows everything shows what was written, and what is gone no more. It is apart from the suite because a
//! store need not be able to.

use std::{sync::Arc, time::Duration};

use handoff_engine::{
    clock::Clock as _,
    store::{BlobWrite, Erasure, Inspect, RecordWrite, Snapshot, Store, StoredTimer, TimerWrite, WriteSet},
};

use super::bench::{
    CHAIN, blob, commit, entry, event, insert_at, key, put, put_timer, records, row, tenant, timer, timers,
};
use crate::{MemoryStore, SeededEntropy, VirtualClock};

/// What a fresh store over the clock shows, after a little of everything was written, is what the store in memory does.
///
/// # Panics
///
/// When it is not.
pub async fn everything_is_shown<S: Store + Inspect>(store: S, clock: &VirtualClock) {
    let store = Arc::new(store);
    let model = Arc::new(MemoryStore::new(Arc::new(clock.clone()), Arc::new(SeededEntropy::new(1))));
    let start = clock.now();
    let both: [Arc<dyn Store>; 2] = [Arc::clone(&store) as _, Arc::clone(&model) as _];
    for store in &both {
        write(store, clock).await;
    }
    let (tenants, expected) = (store.tenants().await.expect("tenants"), model.tenants().await.expect("tenants"));
    assert_eq!(tenants, expected, "every tenant that something was written for");
    for tenant in tenants.iter().copied().chain([tenant(9)]) {
        let shown = store.snapshot(&tenant).await.expect("a snapshot");
        let expected = model.snapshot(&tenant).await.expect("a snapshot");
        same(&shown, &expected);
        let whole = tenants.contains(&tenant);
        assert_eq!(whole, !shown.records.is_empty(), "{tenant}: what is compared is there");
        assert!(shown.now >= start, "the store's time");
    }
}

fn same(shown: &Snapshot, expected: &Snapshot) {
    let name = expected.tenant;
    assert_eq!(shown.tenant, name, "the tenant");
    assert_eq!(shown.head.sequence, expected.head.sequence, "{name}: the head");
    assert_eq!(shown.records, expected.records, "{name}: records");
    assert_eq!(shown.index, expected.index, "{name}: index rows");
    assert_eq!(shown.chains, expected.chains, "{name}: chains");
    assert_eq!(shown.erased, expected.erased, "{name}: erasures");
    assert_eq!(shown.events, expected.events, "{name}: events");
    assert_eq!(shown.blobs, expected.blobs, "{name}: blobs");
    // Each store counts its epochs by itself.
    let timers = |snapshot: &Snapshot| {
        let timers = snapshot.timers.iter();
        let until = |timer: &StoredTimer| timer.claim.map(|claim| claim.until);
        let shown = timers.map(|(key, timer)| (key.clone(), timer.due, Arc::clone(&timer.action), until(timer)));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(timers(shown), timers(expected), "{name}: timers");
}

async fn write(store: &Arc<dyn Store>, clock: &VirtualClock) {
    let due = clock.now();
    for number in [1, 2] {
        let tenant = tenant(number);
        let set = WriteSet {
            records: vec![
                insert_at("one", "a", r#"{"n":1}"#),
                insert_at("two", [0, 255], "[]"),
                put("é", None, "\"\""),
            ],
            chain: vec![entry(&CHAIN, 1), entry(&CHAIN, 2)],
            events: vec![event("one"), event("two")],
            timers: vec![put_timer("soon", due), put_timer("later", due.saturating_add(Duration::from_secs(60)))],
            blobs: vec![BlobWrite::Store { owner: "kept".to_owned(), bytes: "kept".into() }],
            ..WriteSet::default()
        };
        commit(store, tenant, set).await;
        let moved = RecordWrite::Put {
            key: key("one"),
            seen: Some(1),
            document: r#"{"n":2}"#.into(),
            unindex: vec![row("a")],
            index: vec![row("b")],
        };
        commit(store, tenant, records([moved])).await;
        let gone = RecordWrite::Delete { key: key("two"), seen: 1, unindex: vec![row([0, 255])] };
        commit(store, tenant, records([gone])).await;
        let erasure = Erasure { chain: CHAIN, height: 1, reason: "asked for".to_owned() };
        commit(store, tenant, WriteSet { erasures: vec![erasure], ..WriteSet::default() }).await;
        commit(store, tenant, timers([TimerWrite::Remove { key: timer("never") }])).await;
        let unkept = blob(tenant, "unkept", b"unkept");
        store.put_blob(unkept).await.expect("a blob is put");
    }
    let claimed = store.claim_timers(1, Duration::from_secs(30)).await.expect("a timer is claimed");
    assert_eq!(claimed.timers.len(), 1, "one is held");
}
