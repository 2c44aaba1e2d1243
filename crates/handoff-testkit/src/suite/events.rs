//! Sequences have no gap, in the order of commits.

use std::{sync::Arc, time::Duration};

use futures::StreamExt as _;
use handoff_engine::{
    clock::Clock as _,
    store::{EventType, NewEvent, Reads, Step, StoredEvent, Topic, Transacted, WriteSet},
};

use super::{
    StoreFactory,
    bench::{Bench, event, key, put, records, tenant, together, transact},
};

/// Events get the next numbers and the time of their commit; a commit without events costs no number.
pub async fn events_are_numbered_and_timed_by_their_commit(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    assert_eq!(bench.commit(records([put("one", None, "text")])).await, 0, "no event, no number");
    let first = bench.clock.now();
    assert_eq!(bench.commit(events(["a", "b"])).await, 2, "a commit answers its last number");
    bench.advance(5);
    let second = bench.clock.now();
    assert_eq!(bench.commit(events(["c"])).await, 3);
    assert_eq!(bench.commit(records([put("two", None, "text")])).await, 3, "no event, no number");

    let all = bench.store.read_events(&tenant(1), 0, 10).await.expect("events are read");
    let seen: Vec<_> = all.iter().map(|event| (event.sequence, event.subject.as_str(), event.at)).collect();
    assert_eq!(seen, [(1, "a", first), (2, "b", first), (3, "c", second)]);
    assert_eq!(all[0].event_type, EventType::from_static("thing.happened"));
    for (after, limit, expected) in [(0, 2, &all[..2]), (1, 1, &all[1..2]), (2, 9, &all[2..]), (3, 9, &[]), (9, 9, &[])]
    {
        let page = bench.store.read_events(&tenant(1), after, limit).await.expect("events are read");
        assert_eq!(page, expected, "after {after} at most {limit}");
    }
}

/// The order of events is the order in which their commits saw each other.
pub async fn event_order_is_commit_order(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(records([put("counter", None, "text")])).await;
    together((0..32).map(|_| {
        let store = Arc::clone(&bench.store);
        async move {
            for _ in 0..3 {
                let outcome = transact(&store, tenant(1), Reads::none().record(key("counter")), |loaded, _| {
                    let version = loaded.record(&key("counter")).flatten().expect("the counter is loaded").version;
                    let mut set = records([put("counter", Some(version), "text")]);
                    set.events.push(event(&version.to_string()));
                    Step::Commit(Box::new(set))
                })
                .await;
                assert!(matches!(outcome, Ok(Transacted::Committed { .. })), "a write is committed: {outcome:?}");
            }
        }
    }))
    .await;
    let all = bench.store.read_events(&tenant(1), 0, 1_000).await.expect("events are read");
    assert_eq!(all.len(), 96, "every event is there");
    for event in all {
        assert_eq!(event.subject, event.sequence.to_string(), "the nth commit has the nth event");
    }
}

/// While 16 writers commit, 4 readers follow; none ever sees an event before the one below it, or misses one.
pub async fn readers_that_tail_skip_nothing(factory: &dyn StoreFactory) {
    const WRITERS: u64 = 16;
    const ROUNDS: u64 = 8;
    // Each writer commits 0, 1, 2, 3 events and again.
    const TOTAL: u64 = WRITERS * (1 + 2 + 3) * (ROUNDS / 4);

    let bench = Bench::new(factory).await;
    let readers: Vec<_> = (0..4)
        .map(|reader| {
            let store = Arc::clone(&bench.store);
            tokio::spawn(async move {
                let mut wakes = store.wakes();
                let mut seen: Vec<StoredEvent> = Vec::new();
                loop {
                    let after = seen.last().map_or(0, |event| event.sequence);
                    let page = store.read_events(&tenant(1), after, 5 + reader).await.expect("events are read");
                    assert!(page.len() <= 5 + reader, "a page is no longer than asked");
                    for (expected, event) in (after + 1..).zip(&page) {
                        assert_eq!(event.sequence, expected, "an event comes after the one below it");
                    }
                    seen.extend(page.iter().cloned());
                    if seen.len() as u64 >= TOTAL {
                        return seen;
                    }
                    if page.is_empty() {
                        // Wakes may be lost, so nobody waits for one for ever.
                        let _ = tokio::time::timeout(Duration::from_millis(50), wakes.next()).await;
                    }
                }
            })
        })
        .collect();
    together((0..WRITERS).map(|writer| {
        let store = Arc::clone(&bench.store);
        async move {
            for round in 0..ROUNDS {
                let subjects = (0..round % 4).map(|part| format!("{writer} {round} {part}"));
                let mut set = events(subjects.collect::<Vec<_>>().iter().map(String::as_str));
                set.wakes.push(Topic::from_static("events"));
                super::bench::commit(&store, tenant(1), set).await;
            }
        }
    }))
    .await;

    let all = bench.store.read_events(&tenant(1), 0, 10_000).await.expect("events are read");
    assert_eq!(all.len() as u64, TOTAL, "every event is there");
    for pair in all.windows(2) {
        let [one, next] = pair else { continue };
        let (one, next) = (split(&one.subject), split(&next.subject));
        assert!(next.2 == 0 || (next.0, next.1, next.2) == (one.0, one.1, one.2 + 1), "a commit's events are together");
    }
    for reader in readers {
        assert_eq!(reader.await.expect("a reader never sees a gap"), all, "every reader saw what is there");
    }
}

fn split(subject: &str) -> (u64, u64, u64) {
    let numbers: Vec<u64> = subject.split(' ').map(|part| part.parse().expect("a number")).collect();
    (numbers[0], numbers[1], numbers[2])
}

fn events<'a>(subjects: impl IntoIterator<Item = &'a str>) -> WriteSet {
    let events: Vec<NewEvent> = subjects.into_iter().map(event).collect();
    WriteSet { events, ..WriteSet::default() }
}
