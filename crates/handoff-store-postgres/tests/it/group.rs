//! Many callers share a commit, and none spoils it for the others.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use handoff_engine::store::{
    HeightRange, IndexName, IndexRead, IndexRow, Reads, RecordWrite, Step, Store as _, StoreError, Transaction,
    WriteSet,
};
use handoff_store_postgres::PostgresOptions;

use super::bench::{
    CHAIN, commit, database, event, insert, key, open, options, put, tenant, transaction, typical, write,
};
use handoff_store_postgres::PostgresStore;

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_share_a_commit_and_the_chain_has_no_gap() {
    let database = database();
    let store = Arc::new(open(database.owner_url()).await);
    let callers: Vec<_> = (0..200)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(
                async move { store.transact(typical(format!("r{number}"), format!("{{\"n\":{number}}}"))).await },
            )
        })
        .collect();
    for caller in callers {
        let _ = caller.await.unwrap().unwrap();
    }
    let stats = store.stats();
    assert_eq!(stats.members, 200);
    assert!(stats.commits < 100 && stats.largest_batch > 10, "{stats:?}");
    let all = HeightRange { from: 1, limit: 1000 };
    let entries = store.read_chain(&tenant(), &CHAIN, all).await.unwrap();
    assert_eq!(entries.len(), 200);
    for (height, pair) in (1..).zip(entries.windows(2)) {
        assert_eq!((pair[0].height, pair[1].previous), (height, pair[0].digest));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_does_not_fit_fails_alone() {
    let database = database();
    let store = Arc::new(open(database.owner_url()).await);
    commit(&store, WriteSet { records: vec![insert("there", "{}")], ..WriteSet::default() }).await;
    let callers: Vec<_> = (0..40)
        .map(|number| {
            let store = Arc::clone(&store);
            let id = if number % 10 == 0 { "there".to_owned() } else { format!("r{number}") };
            let set = WriteSet { records: vec![insert(id, "{}")], events: vec![event("x")], ..WriteSet::default() };
            tokio::spawn(async move { (number, write(&store, set).await) })
        })
        .collect();
    for caller in callers {
        let (number, outcome) = caller.await.unwrap();
        match outcome {
            Ok(_) => assert_ne!(number % 10, 0),
            Err(error) => assert!(number % 10 == 0 && matches!(error, StoreError::Conflict(_)), "{error}"),
        }
    }
    assert_eq!(store.read_events(&tenant(), 0, 100).await.unwrap().len(), 36, "a refusal costs no sequence");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_at_a_label_takes_back_its_own_write_set_alone() {
    let database = database();
    let hook = |label: &str| assert_ne!(label, "bad", "planted");
    let options = PostgresOptions { on_label: Some(Arc::new(hook)), ..options() };
    let store = Arc::new(PostgresStore::open(database.owner_url(), options).await.unwrap());
    let callers: Vec<_> = (0..20)
        .map(|number| {
            let store = Arc::clone(&store);
            let label = Some(if number % 5 == 0 { "bad" } else { "good" });
            let set = WriteSet {
                records: vec![insert(number, "{}")],
                label,
                events: vec![event("x")],
                ..WriteSet::default()
            };
            tokio::spawn(async move { (number, write(&store, set).await) })
        })
        .collect();
    for caller in callers {
        let (number, outcome) = caller.await.unwrap();
        match outcome {
            Ok(_) => assert_ne!(number % 5, 0),
            Err(error) => assert!(number % 5 == 0 && matches!(error, StoreError::StepPanicked(_)), "{error}"),
        }
        assert_eq!(store.get(&tenant(), &[key(number)]).await.unwrap()[0].is_some(), number % 5 != 0);
    }
}

/// Steps that run in one batch see each other's records, rows and deletions as if each had been committed.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_sees_what_the_steps_before_it_in_the_batch_did() {
    const INDEX: IndexName = IndexName::from_static("queue");
    let database = database();
    let store = Arc::new(open(database.owner_url()).await);
    let row = |number: u32| IndexRow { index: INDEX, sort_key: format!("q/{number:03}").into_bytes() };
    let fill = (0..60).map(move |number| RecordWrite::Put {
        key: key(number),
        seen: None,
        document: "{}".into(),
        unindex: vec![],
        index: vec![row(number)],
    });
    commit(&store, WriteSet { records: fill.collect(), ..WriteSet::default() }).await;
    // Each takes the first two of the queue, and puts one back at the end.
    let taken = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..50_u32)
        .map(|caller| {
            let (store, taken) = (Arc::clone(&store), Arc::clone(&taken));
            let read = IndexRead { index: INDEX, prefix: b"q/".to_vec(), limit: 2 };
            let step = move |loaded: &handoff_engine::store::Loaded, _: &handoff_engine::store::Moment| {
                let rows = loaded.index(&read).unwrap();
                let [first, second] = rows else { panic!("the queue is never shorter: {rows:?}") };
                let row = |sort_key: &Vec<u8>| IndexRow { index: INDEX, sort_key: sort_key.clone() };
                let back = IndexRow { index: INDEX, sort_key: format!("q/{:03}", 100 + caller).into_bytes() };
                Step::Commit(Box::new(WriteSet {
                    records: vec![
                        RecordWrite::Delete {
                            key: first.record.key.clone(),
                            seen: first.record.version,
                            unindex: vec![row(&first.sort_key)],
                        },
                        RecordWrite::Put {
                            key: second.record.key.clone(),
                            seen: Some(second.record.version),
                            document: format!("{{\"by\":{caller}}}").into(),
                            unindex: vec![row(&second.sort_key)],
                            index: vec![back],
                        },
                    ],
                    ..WriteSet::default()
                }))
            };
            tokio::spawn(async move {
                let reads = Reads::none().index(IndexRead { index: INDEX, prefix: b"q/".to_vec(), limit: 2 });
                let outcome = store.transact(Transaction { tenant: tenant(), reads, step: Arc::new(step) }).await;
                if outcome.is_ok() {
                    taken.fetch_add(1, Ordering::SeqCst);
                }
                outcome
            })
        })
        .collect();
    for caller in callers {
        let _ = caller.await.unwrap().unwrap();
    }
    assert_eq!(taken.load(Ordering::SeqCst), 50);
    assert!(store.stats().largest_batch > 1, "{:?}", store.stats());
    let scan = handoff_engine::store::IndexScan {
        tenant: tenant(),
        index: INDEX,
        prefix: vec![],
        after: None,
        order: handoff_engine::store::Order::Ascending,
        limit: 100,
    };
    assert_eq!(store.scan(scan).await.unwrap().rows.len(), 10, "each took one away for good");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_goes_away_does_not_take_the_commit_along() {
    let database = database();
    let store = open(database.owner_url()).await;
    let set = WriteSet { records: vec![put("one", None, "{}")], ..WriteSet::default() };
    let step = transaction(move || Step::Commit(Box::new(set.clone())));
    let gone = tokio::time::timeout(std::time::Duration::ZERO, store.transact(step)).await;
    drop(gone);
    let there = async {
        while store.get(&tenant(), &[key("one")]).await.unwrap()[0].is_none() {
            tokio::task::yield_now().await;
        }
    };
    super::bench::within(there, "the commit").await;
}

/// Reads that are under way together are one question, and each is answered with its own records.
#[tokio::test(flavor = "multi_thread")]
async fn reads_of_many_callers_share_questions_and_get_what_each_asked_for() {
    const CALLERS: usize = 64;
    let database = database();
    let store = open(database.owner_url()).await;
    let records = (0..8).map(|number| insert(number, &format!(r#"{{"n":{number}}}"#))).collect();
    commit(&store, WriteSet { records, ..WriteSet::default() }).await;
    let read = |caller: usize| {
        let keys = [key(caller % 8), key("absent"), key((caller + 1) % 8), key(caller % 8)];
        let store = &store;
        async move {
            let found = store.get(&tenant(), &keys).await.unwrap();
            let found: Vec<_> = found.iter().map(|found| found.as_ref().map(|record| &*record.document)).collect();
            let document = |number: usize| format!(r#"{{"n":{number}}}"#);
            let (one, other) = (document(caller % 8), document((caller + 1) % 8));
            assert_eq!(found, [Some(&*one), None, Some(&*other), Some(&*one)]);
        }
    };
    futures::future::join_all((0..CALLERS).map(read)).await;
    // Whoever reads after a commit sees it, whatever else is being read.
    let others = async { futures::future::join_all((0..CALLERS).map(read)).await };
    let own = async {
        for number in 0..20 {
            commit(&store, WriteSet { records: vec![insert(format!("x{number}"), "{}")], ..WriteSet::default() }).await;
            let found = store.get(&tenant(), &[key(format!("x{number}"))]).await.unwrap();
            assert!(found.iter().all(Option::is_some), "{number}");
        }
    };
    futures::join!(others, own);
}
