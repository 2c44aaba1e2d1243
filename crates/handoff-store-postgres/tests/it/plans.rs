//! What was planned over empty tables stays good over full ones.

use std::time::{Duration, Instant};

use handoff_engine::store::{
    HeightRange, IndexName, IndexRow, RecordWrite, Store as _, TimerKey, TimerWrite, WriteSet,
};
use handoff_postgres_cluster::Database;
use handoff_protocol::timestamp::Timestamp;

use super::bench::{CHAIN, commit, database, event, key, open, put, tenant, typical};

const INDEX: IndexName = IndexName::from_static("all");

fn with_row(number: u32, seen: Option<u64>) -> RecordWrite {
    let row = |version: u64| IndexRow { index: INDEX, sort_key: format!("{number:06}/{version}").into_bytes() };
    let version = seen.unwrap_or_default();
    let unindex = seen.map(|seen| row(seen - 1)).into_iter().collect();
    RecordWrite::Put { key: key(format!("n{number}")), seen, document: "{}".into(), unindex, index: vec![row(version)] }
}

fn timer(number: u32) -> TimerKey {
    TimerKey::new(format!("timer/{number}"))
}

/// Rows that indexes have led to so far, once every connection has said what it read.
fn read(database: &Database, at_least: u64) -> u64 {
    let until = Instant::now() + Duration::from_secs(15);
    loop {
        let sum = database.run("SELECT coalesce(sum(idx_tup_read), 0)::bigint FROM pg_stat_user_indexes").unwrap();
        let sum = sum.parse().unwrap();
        if sum >= at_least || Instant::now() > until {
            return sum;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The same calls cost the same in a tenant with thousands of rows, over connections that planned when there were none.
#[tokio::test(flavor = "multi_thread")]
async fn calls_look_at_the_rows_that_they_are_about_and_at_no_others() {
    const ROWS: u32 = 4000;
    let database = database();
    let store = open(database.owner_url()).await;
    let put_timer = |number| TimerWrite::Put { key: timer(number), due: Timestamp::MAX, action: "{}".into() };
    // Plans are made now.
    commit(&store, WriteSet { records: vec![with_row(0, None)], timers: vec![put_timer(0)], ..WriteSet::default() })
        .await;
    commit(&store, WriteSet { records: vec![with_row(0, Some(1))], ..WriteSet::default() }).await;
    store.get(&tenant(), &[key("n0")]).await.unwrap();
    for from in (1..ROWS).step_by(500) {
        let numbers = || from..ROWS.min(from + 500);
        let set = WriteSet {
            records: numbers().map(|number| with_row(number, None)).collect(),
            events: numbers().map(|number| event(&number.to_string())).collect(),
            timers: numbers().map(put_timer).collect(),
            ..WriteSet::default()
        };
        commit(&store, set).await;
    }
    drop(store);
    let before = read(&database, 1);

    let store = open(database.owner_url()).await;
    for number in 1..=100 {
        let set = WriteSet {
            records: vec![with_row(number, Some(1)), put(format!("new{number}"), None, "{}")],
            timers: vec![TimerWrite::Remove { key: timer(number) }],
            ..WriteSet::default()
        };
        commit(&store, set).await;
        let _ = store.transact(typical(format!("t{number}"), format!("{number}"))).await.unwrap();
        store.get(&tenant(), &[key(format!("n{number}")), key("absent")]).await.unwrap();
        store.read_chain(&tenant(), &CHAIN, HeightRange::at(1)).await.unwrap();
        store.read_events(&tenant(), 100, 2).await.unwrap();
        store.claim_timers(10, Duration::from_secs(1)).await.unwrap();
    }
    drop(store);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let read = read(&database, before + 500) - before;
    assert!(read < 100 * 100, "{read} rows were looked at in 600 calls");
}
