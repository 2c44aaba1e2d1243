//! Leases that lapse, and epochs that only rise.

use std::{collections::HashSet, sync::Arc, time::Duration};

use handoff_engine::store::{StoreError, TimerWrite};

use super::{
    StoreFactory,
    bench::{Bench, commit, put, put_timer, records, settle, tenant, timer, timers, together},
    timers::claim,
};

/// When a lease lapses another may claim the timer, under a higher epoch; the first holder then cannot settle it.
pub async fn a_lapsed_lease_is_claimed_again_under_a_higher_epoch(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let due = bench.in_seconds(0);
    bench.commit(timers([put_timer("one", due)])).await;
    let lease = Duration::from_secs(30);
    let first = bench.store.claim_timers(1, lease).await.expect("timers are claimed").timers.remove(0);
    bench.advance(29);
    assert_eq!(claim(&*bench.store, 1).await.timers, [], "the lease still holds");
    bench.advance(1);
    let second = claim(&*bench.store, 1).await.timers.remove(0);
    assert!(second.epoch > first.epoch, "a later claim has a higher epoch");
    assert_eq!((second.key, second.due), (first.key, due), "it is the same timer");

    let mut late = records([put("late", None, "text")]);
    late.timers.push(settle("one", first.epoch));
    assert_stale(&bench.refusal(late).await, "one");
    assert_eq!(bench.record("late").await, None, "the late holder's write is refused whole");
    let mut current = records([put("current", None, "text")]);
    current.timers.push(settle("one", second.epoch));
    bench.commit(current).await;
    assert_stale(&bench.refusal(timers([settle("one", second.epoch)])).await, "one");
    bench.advance(7200);
    assert_eq!(claim(&*bench.store, 1).await.timers, [], "a settled timer is gone");

    // A lease that lapsed unnoticed still settles: nobody else acted.
    bench.commit(timers([put_timer("two", bench.in_seconds(0))])).await;
    let alone = bench.store.claim_timers(1, lease).await.expect("timers are claimed").timers.remove(0);
    bench.advance(60);
    bench.commit(timers([settle("two", alone.epoch)])).await;
}

/// A timer that was never claimed or is not there cannot be settled, whatever the epoch.
pub async fn a_timer_that_is_not_held_cannot_be_settled(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(timers([put_timer("waits", bench.in_seconds(0)), put_timer("held", bench.in_seconds(0))])).await;
    bench.commit(timers([TimerWrite::Remove { key: timer("waits") }])).await;
    let held = claim(&*bench.store, 1).await.timers.remove(0);
    bench.commit(timers([put_timer("waits", bench.in_seconds(0))])).await;
    for epoch in [0, 1, held.epoch, held.epoch + 1] {
        assert_stale(&bench.refusal(timers([settle("waits", epoch)])).await, "waits");
        assert_stale(&bench.refusal(timers([settle("absent", epoch)])).await, "absent");
    }
    assert_stale(&bench.refusal(timers([settle("held", held.epoch + 1)])).await, "held");
    bench.commit(timers([settle("held", held.epoch)])).await;
}

/// Setting a timer again ends whatever claim there was on it.
pub async fn a_put_ends_a_claim(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(timers([put_timer("one", bench.in_seconds(0))])).await;
    let first = claim(&*bench.store, 1).await.timers.remove(0);
    let action = "something else".into();
    bench.commit(timers([TimerWrite::Put { key: timer("one"), due: bench.in_seconds(5), action }])).await;
    assert_stale(&bench.refusal(timers([settle("one", first.epoch)])).await, "one");
    assert_eq!(claim(&*bench.store, 1).await.next, Some(bench.in_seconds(5)), "the new due time counts");
    bench.advance(5);
    let second = claim(&*bench.store, 1).await.timers.remove(0);
    assert!(second.epoch > first.epoch, "a later claim has a higher epoch");
    assert_eq!(&*second.action, "something else", "the timer was replaced whole");
}

/// An epoch never comes back, not for a timer of the same name and not for any other.
pub async fn epochs_rise_across_removal_and_a_new_put(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let mut last = 0;
    for round in 0..12_u128 {
        let key = if round % 3 == 0 { "other" } else { "one" };
        let whose = tenant(1 + round % 2);
        commit(&bench.store, whose, timers([put_timer(key, bench.in_seconds(0))])).await;
        let claimed = claim(&*bench.store, 10).await.timers.remove(0);
        assert!(claimed.epoch > last, "epoch {} after {last} in round {round}", claimed.epoch);
        last = claimed.epoch;
        let end = if round % 2 == 0 { TimerWrite::Remove { key: timer(key) } } else { settle(key, claimed.epoch) };
        commit(&bench.store, whose, timers([end])).await;
    }
}

/// Eight claimers empty 96 timers; no timer and no epoch is given twice.
pub async fn concurrent_claimers_never_share_a_timer(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    for whose in 0..4 {
        let due = (0..24).map(|number| put_timer(&format!("{number}"), bench.in_seconds(number % 5)));
        commit(&bench.store, tenant(whose), timers(due)).await;
    }
    bench.advance(60);
    let held = together((0..8).map(|_| {
        let store = Arc::clone(&bench.store);
        async move {
            let mut held = Vec::new();
            loop {
                let claimed = claim(&*store, 5).await;
                assert!(claimed.timers.len() <= 5, "no more than asked");
                if claimed.timers.is_empty() {
                    return held;
                }
                held.extend(claimed.timers);
                assert!(held.len() <= 96, "no timer is held twice");
            }
        }
    }))
    .await;
    let all: Vec<_> = held.into_iter().flatten().collect();
    assert_eq!(all.len(), 96, "every timer is claimed");
    let distinct: HashSet<_> = all.iter().map(|timer| (timer.tenant, timer.key.clone())).collect();
    assert_eq!(distinct.len(), 96, "no timer is held twice");
    let epochs: HashSet<_> = all.iter().map(|timer| timer.epoch).collect();
    assert_eq!(epochs.len(), 96, "no epoch is given twice");
}

fn assert_stale(refused: &StoreError, expected: &str) {
    assert!(
        matches!(refused, StoreError::StaleTimer { key } if key.as_str() == expected),
        "a timer that is not held under this epoch is stale, and named: {refused:?}"
    );
}
