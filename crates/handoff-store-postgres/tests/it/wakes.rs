//! Waiters on every node learn of commits, within a bound, whatever is lost on the way.

use std::time::Duration;

use futures::StreamExt as _;
use handoff_engine::store::{Store as _, Topic, Wake, WakeStream, WriteSet};
use handoff_store_postgres::{PostgresOptions, PostgresStore};

use super::{
    bench::{TOPIC, commit, database, event, next_wake, open, options, tenant, waking},
    proxy::{Proxy, Way},
};

fn touched(wake: &Wake) -> bool {
    *wake == Wake::Touched { tenant: tenant(), topic: TOPIC }
}

fn missed(wake: &Wake) -> bool {
    *wake == Wake::Missed
}

/// Lets a listener that was just made come to rest, and forgets what it told until then.
async fn settle(wakes: &mut WakeStream) {
    while tokio::time::timeout(Duration::from_millis(400), wakes.next()).await.is_ok() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_on_one_node_wakes_waiters_of_another_by_its_topic() {
    let database = database();
    let (here, there) = (open(database.owner_url()).await, open(database.owner_url()).await);
    let mut wakes = there.wakes();
    settle(&mut wakes).await;
    for _ in 0..20 {
        commit(&here, waking()).await;
        let took = next_wake(&mut wakes, touched).await;
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
    let many = (0..3000).map(|number| Topic::new(format!("waiter/{number}"))).collect();
    commit(&here, WriteSet { wakes: many, ..WriteSet::default() }).await;
    next_wake(&mut wakes, |wake| matches!(wake, Wake::Touched { topic, .. } if topic.as_str() == "waiter/2999")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_is_terminated_misses_nothing_for_longer_than_the_bound() {
    let database = database();
    let (here, there) = (open(database.owner_url()).await, open(database.owner_url()).await);
    let mut wakes = there.wakes();
    settle(&mut wakes).await;
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE datname = current_database() AND query LIKE '%pg_notify($1, $2)%' AND pid <> pg_backend_pid()";
    let ended = database.run_at(database.admin_url(), end).unwrap();
    assert_eq!(ended, "2", "both listeners");
    commit(&here, waking()).await;
    let took = next_wake(&mut wakes, |wake| touched(wake) || missed(wake)).await;
    assert!(took < Duration::from_secs(1), "{took:?}");
    settle(&mut wakes).await;
    commit(&here, waking()).await;
    next_wake(&mut wakes, touched).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_goes_silent_is_noticed_within_the_bound() {
    let database = database();
    let proxy = Proxy::start().await;
    let here = open(database.owner_url()).await;
    let listen_url = Some(proxy.url(database.owner_url()));
    let there = PostgresStore::open(database.owner_url(), PostgresOptions { listen_url, ..options() }).await.unwrap();
    let mut wakes = there.wakes();
    settle(&mut wakes).await;
    proxy.set(Way::Silent);
    commit(&here, waking()).await;
    // A word to oneself each half second, which may take half a second.
    let took = next_wake(&mut wakes, missed).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    for _ in 0..3 {
        let took = next_wake(&mut wakes, missed).await;
        assert!(took < Duration::from_secs(2), "waiters look again while nothing can be heard: {took:?}");
    }
    proxy.set(Way::Open);
    settle(&mut wakes).await;
    commit(&here, waking()).await;
    next_wake(&mut wakes, touched).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_of_a_node_that_died_before_it_told_anybody_is_found() {
    let database = database();
    let (here, there) = (open(database.owner_url()).await, open(database.owner_url()).await);
    commit(&here, waking()).await;
    let mut wakes = there.wakes();
    // Long enough for the first looks, which are about nothing yet.
    tokio::time::sleep(Duration::from_secs(2)).await;
    settle(&mut wakes).await;
    database.run(&untold()).unwrap();
    let took = next_wake(&mut wakes, missed).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    // What was told makes nobody look for no reason.
    tokio::time::sleep(Duration::from_secs(1)).await;
    commit(&here, WriteSet { records: vec![], ..waking() }).await;
    assert!(falls_quiet(&mut wakes).await, "a commit that was told is no reason to look");
    commit(&there, WriteSet { events: vec![event("x")], ..WriteSet::default() }).await;
}

/// What a node leaves behind that dies before it told anybody: its rows, and a head that says when.
fn untold() -> String {
    format!(
        "SET handoff.tenant = '{}';
         INSERT INTO events (tenant, sequence, type, subject, at, data) SELECT tenant, 2, 'x', 'x', 0, '{{}}' FROM tenants;
         UPDATE tenants SET sequence = 2, moved_at = handoff_now()",
        tenant()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_of_a_node_that_died_is_found_also_where_others_go_on_to_commit_in_its_tenant() {
    let database = database();
    let (here, there) = (open(database.owner_url()).await, open(database.owner_url()).await);
    commit(&here, waking()).await;
    let mut wakes = there.wakes();
    tokio::time::sleep(Duration::from_secs(2)).await;
    settle(&mut wakes).await;
    // Another node speaks to itself once, commits, and dies; what is told of its tenant afterwards is later.
    database.run("SELECT pg_notify('handoff_wakes', E'another\\n1')").unwrap();
    database.run(&untold()).unwrap();
    commit(&here, WriteSet { records: vec![], ..waking() }).await;
    next_wake(&mut wakes, touched).await;
    let took = next_wake(&mut wakes, missed).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    // Once is enough, and nodes that live are no reason.
    assert!(falls_quiet(&mut wakes).await, "nobody else died");
}

/// Whether for three seconds there is no reason to look, soon. A machine with too much to do makes nodes that live seem
/// silent now and then, but not again and again.
async fn falls_quiet(wakes: &mut WakeStream) -> bool {
    for _ in 0..5 {
        settle(wakes).await;
        if tokio::time::timeout(Duration::from_secs(3), next_wake(wakes, missed)).await.is_err() {
            return true;
        }
    }
    false
}
