//! Transactions share physical commits, and nothing else.

use std::{
    fs,
    sync::{Arc, Mutex, mpsc},
};

use futures::{FutureExt as _, future::join_all};
use handoff_engine::store::{
    Reads, Step, Store as _, StoreError, TimerKey, TimerWrite, Transacted, Transaction, WriteSet,
};

use crate::bench::{Bench, event, insert, key, tenant, transaction, typical, write};

/// Holds the writer inside a step until all the others are in the queue, so that they form one batch.
async fn in_one_batch(
    store: &handoff_store_sqlite::SqliteStore,
    others: Vec<Transaction>,
) -> Vec<Result<Transacted, StoreError>> {
    let (release, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let gate = transaction(move || {
        let _ = wait.lock().unwrap().recv();
        Step::Reject
    });
    let release = async move {
        drop(release);
        Ok(Transacted::Rejected)
    };
    let calls = std::iter::once(store.transact(gate))
        .chain(others.into_iter().map(|transaction| store.transact(transaction)))
        .chain(std::iter::once(release.boxed()));
    let mut answers = join_all(calls).await;
    answers.pop();
    answers.remove(0).map(drop).unwrap();
    answers
}

#[tokio::test]
async fn transactions_that_wait_share_a_commit() {
    let bench = Bench::new();
    let store = bench.open();
    let calls = (0..50).map(|n| typical(format!("r{n}"), n.to_string())).collect();
    for answer in in_one_batch(&store, calls).await {
        assert!(matches!(answer, Ok(Transacted::Committed { .. })), "{answer:?}");
    }
    let stats = store.stats();
    assert!(stats.commits <= 2, "{stats:?}");
    assert!(stats.largest_batch >= 25, "{stats:?}");
}

#[tokio::test]
async fn a_failing_member_does_not_hurt_the_others() {
    let bench = Bench::new();
    let store = bench.open();
    let _ = write(&store, WriteSet { records: vec![insert("taken", "1")], ..WriteSet::default() }).await.unwrap();
    let with = |id: &'static str, last: fn(&mut WriteSet)| {
        transaction(move || {
            let mut set = WriteSet { records: vec![insert(id, "1")], events: vec![event(id)], ..WriteSet::default() };
            last(&mut set);
            Step::Commit(Box::new(set))
        })
    };
    let answers = in_one_batch(
        &store,
        vec![
            with("first", |_| {}),
            with("conflict", |set| set.records.push(insert("taken", "2"))),
            with("stale", |set| {
                set.timers.push(TimerWrite::Settle { key: TimerKey::from_static("none"), epoch: 1 });
            }),
            transaction(|| panic!("planted")),
            transaction(|| Step::Reject),
            transaction(|| Step::Need(Reads::none())),
            with("last", |_| {}),
        ],
    )
    .await;
    assert!(matches!(answers[0], Ok(Transacted::Committed { sequence: 1 })), "{answers:?}");
    assert!(matches!(answers[1], Err(StoreError::Conflict(_))), "{answers:?}");
    assert!(matches!(answers[2], Err(StoreError::StaleTimer { .. })), "{answers:?}");
    assert!(matches!(&answers[3], Err(StoreError::StepPanicked(text)) if text == "planted"), "{answers:?}");
    assert!(matches!(answers[4], Ok(Transacted::Rejected)), "{answers:?}");
    assert!(matches!(answers[5], Err(StoreError::TooManyReads)), "{answers:?}");
    assert!(matches!(answers[6], Ok(Transacted::Committed { sequence: 2 })), "{answers:?}");
    let found = store.get(&tenant(), &["first", "conflict", "stale", "last"].map(key)).await.unwrap();
    let there: Vec<_> = found.iter().map(Option::is_some).collect();
    assert_eq!(there, [true, false, false, true]);
}

#[tokio::test]
async fn a_refusal_writes_nothing_at_all() {
    let bench = Bench::new();
    let store = bench.open();
    let log = bench.path().with_extension("db-wal");
    let before = fs::metadata(&log).unwrap();
    for _ in 0..20 {
        assert_eq!(store.transact(transaction(|| Step::Reject)).await.unwrap(), Transacted::Rejected);
    }
    assert!(store.claim_timers(10, std::time::Duration::from_secs(1)).await.unwrap().timers.is_empty());
    let after = fs::metadata(&log).unwrap();
    assert_eq!((before.len(), before.modified().unwrap()), (after.len(), after.modified().unwrap()));
    assert_eq!(store.stats().commits, 0);
    let heads: i64 = bench.shell().query_row("SELECT count(*) FROM tenants", [], |row| row.get(0)).unwrap();
    assert_eq!(heads, 0);
}

#[tokio::test]
async fn a_panic_at_the_label_takes_back_its_own_write_set() {
    let bench = Bench::new();
    let options = handoff_store_sqlite::SqliteOptions {
        on_label: Some(Arc::new(|label| assert_ne!(label, "planted"))),
        ..Default::default()
    };
    let store = bench.open_with(options);
    let set = |label| WriteSet { records: vec![insert(label, "1")], label: Some(label), ..WriteSet::default() };
    let error = write(&store, set("planted")).await.unwrap_err();
    assert!(matches!(error, StoreError::StepPanicked(_)), "{error}");
    let _ = write(&store, set("harmless")).await.unwrap();
    let found = store.get(&tenant(), &["planted", "harmless"].map(key)).await.unwrap();
    assert!(found[0].is_none() && found[1].is_some());
}
