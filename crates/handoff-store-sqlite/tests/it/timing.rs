//! A rough timing, run by hand: `cargo test --release -p handoff-store-sqlite -- --ignored --nocapture timing`.

use std::{sync::Arc, time::Instant};

use handoff_engine::store::{
    IndexName, IndexRow, Reads, RecordWrite, Step, Store as _, TimerKey, TimerWrite, Transaction, WriteSet,
};
use handoff_protocol::timestamp::Timestamp;

use crate::bench::{Bench, CHAIN, TOPIC, entry, event, key, tenant};

const CALLERS: usize = 32;
const EACH: usize = 1000;

/// About twelve statements: a record with two index rows, an update, a chain entry with its body, two events, a timer.
fn full(id: String) -> Transaction {
    let document: Arc<str> = format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}", "x".repeat(800)).into();
    let owner = key(id.split('-').next().unwrap());
    let reads = Reads::none().chain(CHAIN).record(owner.clone()).record(key(&id));
    let step = move |loaded: &handoff_engine::store::Loaded| {
        let seen = loaded.record(&owner).unwrap().map(|record| record.version);
        let row = |index| IndexRow { index: IndexName::from_static(index), sort_key: id.clone().into_bytes() };
        let put =
            |key, seen, index| RecordWrite::Put { key, seen, document: Arc::clone(&document), unindex: vec![], index };
        Step::Commit(Box::new(WriteSet {
            records: vec![put(key(&id), None, vec![row("all"), row("pending")]), put(owner.clone(), seen, vec![])],
            chain: vec![entry(loaded.chain(&CHAIN).unwrap(), &document)],
            events: vec![event(&id), event(&id)],
            timers: vec![TimerWrite::Put {
                key: TimerKey::new(&*id),
                due: Timestamp::MAX,
                action: "{\"expire\":true}".into(),
            }],
            wakes: vec![TOPIC],
            ..WriteSet::default()
        }))
    };
    Transaction { tenant: tenant(), reads, step: Arc::new(move |loaded, _| step(loaded)) }
}

#[test]
#[ignore = "a timing to read by hand, which checks nothing"]
fn many_callers() {
    let bench = Bench::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let store = Arc::new(bench.open());
    let began = Instant::now();
    runtime.block_on(async {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for n in 0..EACH {
                        let _ = store.transact(full(format!("c{caller}-{n}"))).await.unwrap();
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    });
    let (took, all) = (began.elapsed(), CALLERS * EACH);
    println!("{all} in {took:?}: {:.0} a second; {:?}", all as f64 / took.as_secs_f64(), store.stats());
}
