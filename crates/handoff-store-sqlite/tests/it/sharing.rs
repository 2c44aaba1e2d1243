//! Who shares a store: two handles on one file, as two processes would be, and the tenants in it.

use std::{sync::Arc, time::Duration};

use futures::StreamExt as _;
use handoff_engine::store::{Reads, RecordWrite, Step, Store as _, Topic, Transacted, Transaction, Wake, WriteSet};
use handoff_protocol::id::TenantId;
use handoff_store_sqlite::{SqliteOptions, SqliteStore};

use crate::bench::{Bench, TOPIC, key, tenant, typical, write};

fn eager() -> SqliteOptions {
    SqliteOptions { poll_foreign: Duration::from_millis(1), ..SqliteOptions::default() }
}

#[tokio::test]
async fn a_commit_of_one_wakes_the_other_and_is_read_there() {
    let bench = Bench::new();
    let (one, other) = (bench.open_with(eager()), bench.open_with(eager()));
    let mut wakes = other.wakes();
    let _ = one.transact(typical("a".to_owned(), "1".to_owned())).await.unwrap();
    let wake = tokio::time::timeout(Duration::from_secs(20), wakes.next()).await.unwrap();
    assert_eq!(wake, Some(Wake::Missed));
    assert!(other.get(&tenant(), &[key("a")]).await.unwrap()[0].is_some());
}

#[tokio::test]
async fn commits_of_its_own_are_not_taken_for_foreign_ones() {
    let bench = Bench::new();
    let store = bench.open_with(eager());
    let mut wakes = store.wakes();
    for n in 0..100 {
        let _ = store.transact(typical(format!("r{n}"), n.to_string())).await.unwrap();
        assert_eq!(wakes.next().await, Some(Wake::Touched { tenant: tenant(), topic: TOPIC }));
    }
    drop(store);
    assert_eq!(wakes.next().await, None, "the stream ends with the store");
}

#[tokio::test]
async fn wakes_come_in_the_order_of_the_write_set() {
    let bench = Bench::new();
    let store = bench.open();
    let mut wakes = store.wakes();
    let topics: Vec<_> = (0..50).map(|n| Topic::new(n.to_string())).collect();
    // The second half repeats the first, and is sent once.
    let set = WriteSet { wakes: [&*topics, &*topics].concat(), ..WriteSet::default() };
    let _ = write(&store, set).await.unwrap();
    drop(store);
    let tenant = tenant();
    let expected: Vec<_> = topics.into_iter().map(|topic| Wake::Touched { tenant, topic }).collect();
    assert_eq!(wakes.by_ref().collect::<Vec<_>>().await, expected);
}

#[tokio::test]
async fn the_first_event_of_a_tenant_is_its_first_whatever_others_wrote() {
    let bench = Bench::new();
    let store = bench.open();
    for n in [5, 9, 1, 7] {
        let tenant = TenantId::parse(&format!("org_0000000000000000000000000{n}")).unwrap();
        let transaction = Transaction { tenant, ..typical("a".to_owned(), "1".to_owned()) };
        assert_eq!(store.transact(transaction).await.unwrap(), Transacted::Committed { sequence: 1 });
    }
}

async fn count_up(store: &SqliteStore) {
    let step = |loaded: &handoff_engine::store::Loaded| {
        let (seen, document) = match loaded.record(&key("counter")).unwrap() {
            Some(record) => (Some(record.version), record.document.parse::<u32>().unwrap() + 1),
            None => (None, 1),
        };
        let put = RecordWrite::Put {
            key: key("counter"),
            seen,
            document: document.to_string().into(),
            unindex: vec![],
            index: vec![],
        };
        Step::Commit(Box::new(WriteSet { records: vec![put], ..WriteSet::default() }))
    };
    let reads = Reads::none().record(key("counter"));
    let transaction = Transaction { tenant: tenant(), reads, step: Arc::new(move |loaded, _| step(loaded)) };
    let _ = store.transact(transaction).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_that_write_at_once_lose_no_update() {
    let bench = Bench::new();
    let (one, other) = (Arc::new(bench.open()), Arc::new(bench.open()));
    let tasks: Vec<_> = [&one, &other]
        .into_iter()
        .map(Arc::clone)
        .map(|store| {
            tokio::spawn(async move {
                for _ in 0..50 {
                    count_up(&store).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let found = one.get(&tenant(), &[key("counter")]).await.unwrap();
    assert_eq!(&*found[0].as_ref().unwrap().document, "100");
}
