//! Commits wake, on other handles as well.

use std::sync::Arc;

use handoff_engine::store::{Topic, Wake, WriteSet};

use super::{
    StoreFactory,
    bench::{Bench, commit, put, record, records, tenant, together, wait_for, wake},
    versions::add_one,
};

/// Every subscriber is woken for every topic that a commit names, once the commit can be read.
pub async fn a_commit_wakes_its_topics(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let (mut first, mut second) = (bench.store.wakes(), bench.store.wakes());
    let mut set = records([put("one", None, "text")]);
    set.wakes = vec![Topic::from_static("a"), Topic::new("b/é")];
    bench.commit(set).await;
    for topic in ["a", "b/é"] {
        for wakes in [&mut first, &mut second] {
            wait_for(wakes, tenant(1), topic).await;
            assert!(bench.record("one").await.is_some(), "whoever wakes reads the commit");
        }
    }
    commit(&bench.store, tenant(2), wake("c")).await;
    wait_for(&mut first, tenant(2), "c").await;

    // A subscriber that comes later is woken by what comes later.
    let mut late = bench.store.wakes();
    bench.commit(wake("late")).await;
    wait_for(&mut late, tenant(1), "late").await;
}

/// A subscriber that does not keep up either gets every wake after all, or is told that it missed some.
pub async fn a_lagging_subscriber_learns_that_it_missed_some(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let mut wakes = bench.store.wakes();
    for batch in 0..20 {
        let topics = (0..250).map(|number| Topic::new(format!("{batch}/{number}"))).collect();
        bench.commit(WriteSet { wakes: topics, ..WriteSet::default() }).await;
    }
    'all: for batch in 0..20 {
        for number in 0..250 {
            if wait_for(&mut wakes, tenant(1), &format!("{batch}/{number}")).await == Wake::Missed {
                break 'all;
            }
        }
    }
    bench.commit(wake("after")).await;
    wait_for(&mut wakes, tenant(1), "after").await;
}

/// What one handle commits another one reads at once and is woken for.
pub async fn a_second_handle_sees_commits_and_wakes(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let Some(second) = factory.second(bench.ports.clone()).await else { return };
    for (round, (writer, reader)) in [(&bench.store, &second), (&second, &bench.store)].into_iter().enumerate() {
        let mut wakes = reader.wakes();
        let id = round.to_string();
        let mut set = records([put(&id, None, "text")]);
        set.wakes.push(Topic::from_static("across"));
        commit(writer, tenant(1), set).await;
        assert!(record(reader, tenant(1), &id).await.is_some(), "a commit is read on every handle at once");
        wait_for(&mut wakes, tenant(1), "across").await;
    }
}

/// Two handles write to one tenant at once, and nothing is lost.
pub async fn two_handles_write_serially(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let Some(second) = factory.second(bench.ports.clone()).await else { return };
    bench.commit(records([put("counter", None, "0")])).await;
    together((0..16).map(|writer| {
        let store = Arc::clone(if writer % 2 == 0 { &bench.store } else { &second });
        async move {
            for _ in 0..4 {
                add_one(&store).await;
            }
        }
    }))
    .await;
    for store in [&bench.store, &second] {
        let counter = record(store, tenant(1), "counter").await.expect("the record is there");
        assert_eq!((&*counter.document, counter.version), ("64", 65), "every addition counts");
    }
}
