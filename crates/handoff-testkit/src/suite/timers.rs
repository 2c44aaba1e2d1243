//! Due times, settling and removing.

use std::time::Duration;

use handoff_engine::{
    clock::Clock as _,
    store::{Claimed, Store, TimerWrite},
};

use super::{
    StoreFactory,
    bench::{Bench, commit, put, put_timer, records, settle, tenant, timer, timers},
};

const HOUR: Duration = Duration::from_secs(3600);

/// A timer is claimed from its due time on, with what was set and the store's time.
pub async fn timers_are_claimed_when_due_and_not_before(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let due = bench.in_seconds(10);
    bench.commit(timers([put_timer("one", due)])).await;
    for seconds in [0, 9] {
        bench.advance(seconds);
        let claimed = claim(&*bench.store, 10).await;
        assert_eq!(claimed.now, bench.clock.now(), "a claim tells the store's time");
        assert_eq!((claimed.timers, claimed.next), (vec![], Some(due)), "nothing is due yet");
    }
    bench.clock.advance(Duration::from_millis(999));
    assert_eq!(claim(&*bench.store, 10).await.timers, [], "a millisecond early is early");
    bench.clock.advance(Duration::from_millis(1));
    let claimed = claim(&*bench.store, 10).await;
    assert_eq!(claimed.now, due);
    let [one] = &claimed.timers[..] else { panic!("the timer is due: {claimed:?}") };
    assert_eq!((one.tenant, &one.key, one.due, &*one.action), (tenant(1), &timer("one"), due, "do one"));
    assert_eq!(claim(&*bench.store, 10).await.timers, [], "a held timer is not claimed again");
}

/// Due timers come in the order of their due times over all tenants, no more of them than asked.
pub async fn the_longest_overdue_come_first_over_all_tenants(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    for (whose, key, seconds) in [(2, "c", 3), (1, "e", 5), (3, "a", 1), (1, "b", 2), (2, "d", 4), (3, "f", 60)] {
        commit(&bench.store, tenant(whose), timers([put_timer(key, bench.in_seconds(seconds))])).await;
    }
    let last_due = bench.in_seconds(60);
    let fifth_due = bench.in_seconds(5);
    bench.advance(10);
    let claimed = claim(&*bench.store, 4).await;
    let seen: Vec<_> = claimed.timers.iter().map(|timer| (timer.tenant, timer.key.as_str())).collect();
    assert_eq!(seen, [(tenant(3), "a"), (tenant(1), "b"), (tenant(2), "c"), (tenant(2), "d")]);
    assert_eq!(claimed.next, Some(fifth_due), "a timer that was left is due already");
    let claimed = claim(&*bench.store, 4).await;
    assert_eq!(claimed.timers.iter().map(|timer| timer.key.as_str()).collect::<Vec<_>>(), ["e"]);
    assert_eq!(claimed.next, Some(last_due), "the last timer is due before any claim lapses");
}

/// `next` is the earliest due time or lapsing claim among the timers that this call does not hold.
pub async fn next_says_when_to_look_again(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    assert_eq!(claim(&*bench.store, 10).await.next, None, "there are no timers");
    bench.commit(timers([put_timer("one", bench.in_seconds(0))])).await;
    let lapses = bench.in_seconds(3600);
    let mine = claim(&*bench.store, 10).await;
    assert_eq!((mine.timers.len(), mine.next), (1, None), "the only timer is held by this call");
    assert_eq!(claim(&*bench.store, 10).await.next, Some(lapses), "another's claim may lapse");
    bench.commit(timers([put_timer("two", bench.in_seconds(7200))])).await;
    assert_eq!(claim(&*bench.store, 10).await.next, Some(lapses), "a claim lapses before the other is due");
    bench.commit(timers([put_timer("three", bench.in_seconds(1800))])).await;
    assert_eq!(claim(&*bench.store, 10).await.next, Some(bench.in_seconds(1800)));
    bench.commit(timers([settle("one", mine.timers[0].epoch), TimerWrite::Remove { key: timer("three") }])).await;
    assert_eq!(claim(&*bench.store, 10).await.next, Some(bench.in_seconds(7200)));
}

/// A removed timer is gone, held or not; removing what is absent is accepted.
pub async fn a_removed_timer_is_never_claimed(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let remove = |key| TimerWrite::Remove { key: timer(key) };
    bench.commit(timers([put_timer("held", bench.in_seconds(0)), put_timer("waits", bench.in_seconds(1))])).await;
    assert_eq!(claim(&*bench.store, 10).await.timers.len(), 1);
    bench.commit(timers([remove("held"), remove("waits"), remove("absent")])).await;
    bench.advance(7200);
    let claimed = claim(&*bench.store, 10).await;
    assert_eq!((claimed.timers, claimed.next), (vec![], None));
    bench.commit(timers([remove("again"), put_timer("again", bench.in_seconds(0))])).await;
    assert_eq!(claim(&*bench.store, 10).await.timers.len(), 1, "timer writes take effect in their order");
}

/// The write that acts on a timer settles it and may set it again under the same key.
pub async fn a_timer_is_settled_and_set_again_in_one_write(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(timers([put_timer("tick", bench.in_seconds(0))])).await;
    let mut last_epoch = 0;
    for round in 0..5 {
        let claimed = claim(&*bench.store, 10).await;
        let [tick] = &claimed.timers[..] else { panic!("one timer is due: {claimed:?}") };
        assert!(tick.epoch > last_epoch, "each claim has a higher epoch");
        last_epoch = tick.epoch;
        let mut set = records([put(&format!("round {round}"), None, "text")]);
        set.timers = vec![settle("tick", tick.epoch), put_timer("tick", bench.in_seconds(60))];
        bench.commit(set).await;
        let claimed = claim(&*bench.store, 10).await;
        assert_eq!((claimed.timers, claimed.next), (vec![], Some(bench.in_seconds(60))));
        bench.advance(60);
    }
}

/// Claims for an hour.
pub(super) async fn claim(store: &dyn Store, limit: usize) -> Claimed {
    store.claim_timers(limit, HOUR).await.expect("timers are claimed")
}
