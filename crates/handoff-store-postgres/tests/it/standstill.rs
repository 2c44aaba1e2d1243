//! What stands still holds nobody else up: a node in the middle of a transaction, a person with a lock, the database itself.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use handoff_engine::store::{Store as _, StoreError, WriteSet};
use handoff_store_postgres::{PostgresOptions, PostgresStore};

use super::{
    bench::{commit, database, event, insert, key, open, options, tenant, waking, write},
    proxy::{Proxy, Way},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stands_still_within_a_transaction_loses_its_lock_to_the_others() {
    let database = database();
    let proxy = Proxy::start().await;
    // Between its records and its events, nothing of this node reaches the database any more.
    let silence = proxy.silencer();
    let options = PostgresOptions { on_label: Some(Arc::new(move |_: &str| silence())), ..options() };
    let still = Arc::new(PostgresStore::open(&proxy.url(database.owner_url()), options).await.unwrap());
    let other = open(database.owner_url()).await;
    commit(&other, waking()).await;
    let half = WriteSet {
        records: vec![insert("half", "{}")],
        events: vec![event("half")],
        label: Some("half"),
        ..WriteSet::default()
    };
    let stands = tokio::spawn(async move { write(&still, half).await });
    let held =
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()";
    let since = Instant::now();
    while database.run_at(database.admin_url(), held).unwrap().trim() != "1" {
        assert!(since.elapsed() < Duration::from_secs(4), "the node is in the middle of a transaction");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    commit(&other, WriteSet { records: vec![insert("whole", "{}")], ..WriteSet::default() }).await;
    assert!(since.elapsed() < Duration::from_secs(9), "the tenant went on after {:?}", since.elapsed());
    let found = other.get(&tenant(), &[key("half"), key("whole")]).await.unwrap();
    assert!(found[0].is_none() && found[1].is_some(), "nothing of the half is kept");
    assert!(stands.await.unwrap().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_a_lock_that_a_person_holds_is_told_so_once_and_leaves_nothing_waiting() {
    let database = database();
    let store = open(database.owner_url()).await;
    commit(&store, waking()).await;
    let holder = database.clone();
    let hold = std::thread::spawn(move || {
        let sql = "BEGIN; SELECT tenant FROM tenants FOR UPDATE; SELECT pg_sleep(10); ROLLBACK";
        holder.run_at(holder.admin_url(), sql).unwrap();
    });
    let held = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    while database.run_at(database.admin_url(), held).unwrap().trim() != "1" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let since = Instant::now();
    let refused = write(&store, WriteSet { records: vec![insert("late", "{}")], ..WriteSet::default() }).await;
    assert!(matches!(&refused, Err(StoreError::Unavailable(text)) if text.contains("lock")), "{refused:?}");
    let took = since.elapsed();
    assert!(took < Duration::from_millis(9_700), "the database gives up first: {took:?}");
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    assert_eq!(database.run_at(database.admin_url(), waiting).unwrap().trim(), "0");
    hold.join().unwrap();
    commit(&store, WriteSet { records: vec![insert("late", "{}")], ..WriteSet::default() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_falls_silent_is_noticed_before_any_call_has_waited_its_time_out() {
    let database = database();
    let proxy = Proxy::start().await;
    let options = PostgresOptions { answer_within: Duration::from_secs(60), ..options() };
    let store = PostgresStore::open(&proxy.url(database.owner_url()), options).await.unwrap();
    commit(&store, waking()).await;
    // The listener has to come to rest.
    tokio::time::sleep(Duration::from_millis(500)).await;
    proxy.set(Way::Silent);
    let since = Instant::now();
    let wanted = [key("one")];
    let one = tenant();
    let (read, wrote) = tokio::join!(
        store.get(&one, &wanted),
        write(&store, WriteSet { records: vec![insert("unheard", "{}")], ..WriteSet::default() })
    );
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
    assert!(wrote.is_err());
    assert!(since.elapsed() < Duration::from_secs(8), "calls were held for {:?}", since.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_with_fewer_connections_than_are_wanted_is_slow_and_not_away() {
    let database = database();
    let limit = format!("ALTER DATABASE {} CONNECTION LIMIT 4", database.name());
    let store = Arc::new(open(database.owner_url()).await);
    database.run_at(database.admin_url(), &limit).unwrap();
    let callers: Vec<_> = (0..24)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.read_events(&tenant(), 0, 10).await.map(drop) })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap().unwrap();
    }
    commit(&store, waking()).await;
}
