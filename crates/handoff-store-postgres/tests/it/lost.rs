//! Connections that are lost in the middle.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use handoff_engine::store::{Step, Store as _, StoreError, Transacted, WriteSet};
use handoff_store_postgres::{PostgresOptions, PostgresStore};

use super::{
    bench::{commit, database, event, insert, key, open, options, tenant, transaction, write},
    proxy::{Proxy, Way},
};

/// Ends every connection to the database but the one that asks for it.
const END_ALL: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_lost_before_the_commit_costs_a_second_run() {
    let database = database();
    let store = open(database.owner_url()).await;
    let runs = Arc::new(AtomicU32::new(0));
    let (counted, shell) = (Arc::clone(&runs), database.clone());
    let step = transaction(move || {
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            shell.run_at(shell.admin_url(), END_ALL).unwrap();
        }
        let set = WriteSet { records: vec![insert("one", "{}")], events: vec![event("one")], ..WriteSet::default() };
        Step::Commit(Box::new(set))
    });
    let outcome = store.transact(step).await.unwrap();
    assert_eq!(outcome, Transacted::Committed { sequence: 1 });
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    // Every idle connection was ended as well; nobody notices.
    for _ in 0..10 {
        assert!(store.get(&tenant(), &[key("one")]).await.unwrap()[0].is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_unknown_and_never_guessed() {
    let database = database();
    let direct = open(database.owner_url()).await;
    let proxy = Proxy::start().await;
    let store = open(&proxy.url(database.owner_url())).await;
    commit(&store, WriteSet { events: vec![event("before")], ..WriteSet::default() }).await;
    proxy.set(Way::LosesCommits);
    let set = WriteSet { records: vec![insert("one", "{}")], ..WriteSet::default() };
    let outcome = write(&store, set.clone()).await;
    assert!(matches!(outcome, Err(StoreError::Unknown(_))), "{outcome:?}");
    // It did happen, which is why it must not be run again.
    let found = direct.get(&tenant(), &[key("one")]).await.unwrap();
    assert_eq!(found[0].as_ref().unwrap().version, 1);
    proxy.set(Way::Open);
    let recovered = async {
        while let Err(StoreError::Unavailable(_)) = store.get(&tenant(), &[key("one")]).await {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    super::bench::within(recovered, "the database").await;
    assert!(matches!(write(&store, set).await, Err(StoreError::Conflict(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_never_answered_is_unknown_as_well() {
    let database = database();
    let proxy = Proxy::start().await;
    let options = PostgresOptions { answer_within: std::time::Duration::from_millis(300), ..options() };
    let store = PostgresStore::open(&proxy.url(database.owner_url()), options).await.unwrap();
    commit(&store, WriteSet { events: vec![event("before")], ..WriteSet::default() }).await;
    let hold = database.clone();
    // A commit waits for a lock that somebody else holds on what a deferred rule of the table looks at.
    hold.run(
        "CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(5); RETURN NULL; END';
         CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON records DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION dawdle()",
    )
    .unwrap();
    let outcome = write(&store, WriteSet { records: vec![insert("one", "{}")], ..WriteSet::default() }).await;
    assert!(matches!(outcome, Err(StoreError::Unknown(_))), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_second_in_a_deadlock_runs_again() {
    let database = database();
    let store = open(database.owner_url()).await;
    database
        .run(
            "CREATE FUNCTION stumble() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN IF nextval(''stumbles'') < 3 THEN RAISE EXCEPTION ''no'' USING ERRCODE = ''40P01''; END IF;
             RETURN NULL; END';
             CREATE SEQUENCE stumbles;
             CREATE TRIGGER stumble AFTER INSERT ON records FOR EACH STATEMENT EXECUTE FUNCTION stumble()",
        )
        .unwrap();
    commit(&store, WriteSet { records: vec![insert("one", "{}")], ..WriteSet::default() }).await;
    assert_eq!(database.run("SELECT last_value FROM stumbles").unwrap(), "3");
}
