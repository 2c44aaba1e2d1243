//! First writer wins.

use std::sync::Arc;

use handoff_engine::store::{Reads, RecordWrite, Step, StoreError, Transacted, Transaction};

use super::{
    StoreFactory,
    bench::{Bench, always, key, put, records, tenant, together, transact},
};

/// A record starts at version 1, rises by one, and starts again after a delete.
pub async fn versions_rise_by_one_and_begin_again_after_a_delete(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    for (seen, version) in [(None, 1), (Some(1), 2), (Some(2), 3)] {
        bench.commit(records([put("one", seen, "text")])).await;
        assert_eq!(bench.record("one").await.expect("the record is there").version, version);
    }
    bench.commit(records([RecordWrite::Delete { key: key("one"), seen: 3, unindex: vec![] }])).await;
    assert_eq!(bench.record("one").await, None, "a deleted record is gone");
    bench.commit(records([put("one", None, "again")])).await;
    assert_eq!(bench.record("one").await.expect("the record is there").version, 1);
}

/// Of two writers that saw the same version, the second conflicts and changes nothing.
pub async fn first_writer_wins(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(records([put("one", None, "start")])).await;
    bench.commit(records([put("one", Some(1), "first")])).await;
    for late in [put("one", Some(1), "second"), RecordWrite::Delete { key: key("one"), seen: 1, unindex: vec![] }] {
        let refused = bench.refusal(records([late])).await;
        assert!(matches!(refused, StoreError::Conflict(_)), "a lost race is a conflict: {refused:?}");
        let record = bench.record("one").await.expect("the record is there");
        assert_eq!((record.version, &*record.document), (2, "first"), "the first writer's text stays");
    }
}

/// 64 writers insert one absent key at once without looking: one succeeds, 63 conflict.
pub async fn of_many_blind_inserts_one_succeeds(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let outcomes = together((0..64).map(|writer| {
        let store = Arc::clone(&bench.store);
        let step = always(records([put("one", None, &format!("writer {writer}"))]));
        async move { (writer, store.transact(Transaction { tenant: tenant(1), reads: Reads::none(), step }).await) }
    }))
    .await;
    let won: Vec<_> = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(writer, _)| writer).collect();
    assert_eq!(won.len(), 1, "exactly one insert succeeds");
    let lost = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Err(StoreError::Conflict(_)))).count();
    assert_eq!(lost, 63, "every other one conflicts");
    let record = bench.record("one").await.expect("the record is there");
    assert_eq!((record.version, &*record.document), (1, &*format!("writer {}", won[0])), "the winner's text is stored");
}

/// 64 writers look for an absent key and insert it: one finds it absent, 63 find it there.
pub async fn of_many_reading_inserts_one_succeeds(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let outcomes = together((0..64).map(|_| {
        let store = Arc::clone(&bench.store);
        async move {
            transact(&store, tenant(1), Reads::none().record(key("one")), |loaded, _| {
                match loaded.record(&key("one")) {
                    Some(None) => Step::Commit(Box::new(records([put("one", None, "text")]))),
                    _ => Step::Reject,
                }
            })
            .await
        }
    }))
    .await;
    let won = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Transacted::Committed { .. }))).count();
    let lost = outcomes.iter().filter(|outcome| matches!(outcome, Ok(Transacted::Rejected))).count();
    assert_eq!((won, lost), (1, 63), "one inserts, and every other one sees the record: {outcomes:?}");
}

/// 32 writers each add one to a number four times: none of the additions is lost.
pub async fn no_update_is_lost(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    bench.commit(records([put("counter", None, "0")])).await;
    together((0..32).map(|_| {
        let store = Arc::clone(&bench.store);
        async move {
            for _ in 0..4 {
                add_one(&store).await;
            }
        }
    }))
    .await;
    let record = bench.record("counter").await.expect("the record is there");
    assert_eq!((&*record.document, record.version), ("128", 129), "every addition counts");
}

/// Adds one to the number in the record `counter`.
pub(super) async fn add_one(store: &Arc<dyn handoff_engine::store::Store>) {
    let reads = Reads::none().record(key("counter"));
    let outcome = transact(store, tenant(1), reads, |loaded, _| {
        let counter = loaded.record(&key("counter")).flatten().expect("the counter is loaded");
        let number: u64 = counter.document.parse().expect("the counter is a number");
        Step::Commit(Box::new(records([put("counter", Some(counter.version), &(number + 1).to_string())])))
    })
    .await;
    assert!(matches!(outcome, Ok(Transacted::Committed { .. })), "an addition is committed: {outcome:?}");
}
