//! How a step is loaded, run, repeated and refused.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

use handoff_engine::{
    clock::Clock as _,
    store::{Reads, Step, StoreError, Transacted, WriteSet},
};
use handoff_protocol::id::Ulid;

use super::{
    StoreFactory,
    bench::{Bench, CHAIN, INDEX, event, insert_at, key, load, put, records, tenant, together, transact},
    versions::add_one,
};

/// What was asked for and is not there is told from what was not asked for.
pub async fn a_step_tells_absent_from_not_loaded(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let read = handoff_engine::store::IndexRead { index: INDEX, prefix: b"a".to_vec(), limit: 3 };
    let reads = Reads::none().record(key("one")).index(read.clone()).chain(CHAIN);
    let loaded = load(&bench.store, tenant(1), reads.clone()).await;
    assert_eq!(loaded.tenant, tenant(1));
    assert_eq!((loaded.head.sequence, loaded.head.last_id), (0, Ulid::MIN), "the head of an untouched tenant");
    assert_eq!(loaded.record(&key("one")), Some(None));
    assert_eq!(loaded.record(&key("two")), None);
    assert_eq!(loaded.index(&read), Some(&[][..]));
    assert_eq!(loaded.index(&handoff_engine::store::IndexRead { limit: 4, ..read.clone() }), None);
    assert_eq!(loaded.chain(&CHAIN), Some(None));

    let mut set = records([insert_at("one", "a", "text")]);
    set.chain.push(super::bench::entry(&CHAIN, 1));
    set.events.push(event("one"));
    bench.commit(set).await;
    let loaded = load(&bench.store, tenant(1), reads).await;
    assert_eq!(loaded.head.sequence, 1);
    assert_eq!(loaded.record(&key("one")).flatten().map(|record| &*record.document), Some("text"));
    assert_eq!(loaded.index(&read).map(<[_]>::len), Some(1));
    assert_eq!(loaded.chain(&CHAIN).flatten().map(|head| head.height), Some(1));
}

/// What a step needs on top is loaded without letting another writer in between, and earlier loads stay.
pub async fn what_a_step_needs_is_loaded_under_the_same_lock(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(records([put("left", None, "0"), put("right", None, "0")])).await;
    together((0..16).map(|_| {
        let store = Arc::clone(&bench.store);
        async move {
            for _ in 0..4 {
                let outcome = transact(&store, tenant(1), Reads::none().record(key("left")), |loaded, _| {
                    let left = loaded.record(&key("left")).flatten().expect("the first record stays loaded");
                    let Some(right) = loaded.record(&key("right")) else {
                        return Step::Need(Reads::none().record(key("right")));
                    };
                    let right = right.expect("the second record is there");
                    if left.document != right.document {
                        return Step::Reject;
                    }
                    let next = left.version.to_string();
                    Step::Commit(Box::new(records([
                        put("left", Some(left.version), &next),
                        put("right", Some(right.version), &next),
                    ])))
                })
                .await;
                assert!(
                    matches!(outcome, Ok(Transacted::Committed { .. })),
                    "both records are always of one moment: {outcome:?}"
                );
            }
        }
    }))
    .await;
    assert_eq!(&*bench.record("right").await.expect("the record is there").document, "64");
}

/// A step that never stops asking is refused and writes nothing.
pub async fn a_step_that_keeps_asking_is_cut_off(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let outcome = transact(&bench.store, tenant(1), Reads::none(), |_, moment| {
        Step::Need(Reads::none().record(key(&format!("{:?}", moment.seed))))
    })
    .await;
    assert!(matches!(outcome, Err(StoreError::TooManyReads)), "a step that keeps asking is cut off: {outcome:?}");
    bench.commit(records([put("one", None, "text")])).await;

    let runs = 4;
    let outcome = transact(&bench.store, tenant(1), Reads::none(), move |loaded, _| {
        let missing = (0..runs).map(|run| key(&run.to_string())).find(|key| loaded.record(key).is_none());
        missing.map_or(Step::Reject, |key| Step::Need(Reads::none().record(key)))
    })
    .await;
    assert!(matches!(outcome, Ok(Transacted::Rejected)), "a step may ask a few times: {outcome:?}");
}

/// A reject leaves the tenant as it was and costs no sequence.
pub async fn a_reject_writes_nothing(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(WriteSet { events: vec![event("one")], ..WriteSet::default() }).await;
    let before = load(&bench.store, tenant(1), Reads::none()).await.head;
    for _ in 0..3 {
        let outcome = transact(&bench.store, tenant(1), Reads::none(), |_, _| Step::Reject).await;
        assert!(matches!(outcome, Ok(Transacted::Rejected)), "a reject is an answer, not an error: {outcome:?}");
    }
    assert_eq!(load(&bench.store, tenant(1), Reads::none()).await.head, before);
    assert_eq!(bench.store.read_events(&tenant(1), 0, 10).await.expect("events are read").len(), 1);
    assert_eq!(bench.commit(WriteSet { events: vec![event("two")], ..WriteSet::default() }).await, 2);
}

/// A step that panics is refused; the steps beside it and after it are not.
pub async fn a_panicking_step_is_its_own_refusal(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(records([put("counter", None, "0")])).await;
    together((0..24).map(|caller| {
        let store = Arc::clone(&bench.store);
        async move {
            if caller % 6 == 0 {
                let outcome = transact(&store, tenant(1), Reads::none(), |_, _| panic!("planted by the suite")).await;
                let told = matches!(&outcome, Err(StoreError::StepPanicked(text)) if text.contains("planted"));
                assert!(told, "a panic is told to its caller, with its text: {outcome:?}");
            } else {
                add_one(&store).await;
            }
        }
    }))
    .await;
    // Whoever comes after all of them is served as well.
    add_one(&bench.store).await;
    assert_eq!(&*bench.record("counter").await.expect("the record is there").document, "21");
}

/// `now` is the store's clock at each run, and no two runs draw the same seed.
pub async fn each_run_sees_the_stores_time_and_fresh_entropy(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let seeds = Arc::new(Mutex::new(Vec::new()));
    for seconds in [0, 1, 3_600, 86_400] {
        bench.advance(seconds);
        let (now, seen) = (bench.clock.now(), Arc::clone(&seeds));
        let outcome = transact(&bench.store, tenant(1), Reads::none(), move |loaded, moment| {
            seen.lock().expect("no run panics").push((moment.now, moment.seed));
            if loaded.record(&key("one")).is_none() {
                return Step::Need(Reads::none().record(key("one")));
            }
            Step::Commit(Box::new(WriteSet { events: vec![event("one")], ..WriteSet::default() }))
        })
        .await;
        assert!(matches!(outcome, Ok(Transacted::Committed { .. })), "a write is committed: {outcome:?}");
        for (seen, _) in seeds.lock().expect("no run panics").iter().rev().take(2) {
            assert_eq!(*seen, now, "the moment of a run is the store's time");
        }
    }
    // A clock can go back, and the store goes by it all the same.
    bench.clock.set(handoff_protocol::timestamp::Timestamp::from_unix_millis(1_000));
    bench.commit(WriteSet { events: vec![event("one")], ..WriteSet::default() }).await;
    let events = bench.store.read_events(&tenant(1), 4, 1).await.expect("events are read");
    assert_eq!(events[0].at, bench.clock.now());

    let seeds = seeds.lock().expect("no run panics");
    assert!(seeds.len() >= 8, "each of four steps ran at least twice");
    let distinct: HashSet<_> = seeds.iter().map(|(_, seed)| seed).collect();
    assert_eq!(distinct.len(), seeds.len(), "no seed is drawn twice");
}

/// The head keeps the highest id ever minted, whatever later write-sets carry.
pub async fn the_last_id_never_falls(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let high = u128::MAX >> 1;
    for (minted, kept) in [(100, 100), (50, 100), (0, 100), (101, 101), (high, high), (high - 1, high)] {
        bench.commit(WriteSet { last_id: Ulid::from_u128(minted), ..WriteSet::default() }).await;
        let head = load(&bench.store, tenant(1), Reads::none()).await.head;
        assert_eq!(head.last_id, Ulid::from_u128(kept), "after a write-set that minted {minted}");
    }
}
