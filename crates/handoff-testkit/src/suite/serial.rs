//! Transactions that come at once give what some order of them, one after another, gives.

use std::sync::Arc;

use futures::future::join_all;
use handoff_engine::store::{
    HeightRange, Loaded, Order, Reads, RecordWrite, Step, Store, StoreError, Transacted, Transaction, WriteSet,
};
use handoff_protocol::id::TenantId;

use super::{
    Ports, StoreFactory,
    bench::{Bench, CHAIN, Dice, entry, event, key, put, row, scan_all, tenant},
};
use crate::MemoryStore;

/// How often transactions come at once, each time for a tenant of their own.
const ROUNDS: u64 = 40;

/// How many come at once. Every order of them is tried.
const AT_ONCE: usize = 4;

/// The records that they are about: few, so that they are about the same ones.
const IDS: [&str; 2] = ["a", "b"];

/// A record that is written without looking, and stands in no index.
const BLIND: &str = "c";

/// What a transaction does. What it writes holds its number, and what was there before: so it shows when it ran.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// Adds to a record, which it makes if there is none, and moves it in the index.
    Add(usize),
    /// Makes a record, or rejects.
    Make(usize),
    /// Deletes a record, or rejects.
    Delete(usize),
    /// Adds one record to the other, after asking for that in a second run.
    Copy(usize),
    /// Seals an entry.
    Seal,
    /// Makes the record that is there once, without having looked.
    Blind,
    /// Writes over its first version, without having looked.
    Stale,
}

/// What came of a transaction, as far as every store agrees on it.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Came {
    Committed(u64),
    Rejected,
    Conflict,
}

/// What is there: records and index as they stand, bodies of the chain, subjects of events.
type Left = (Vec<(Vec<u8>, String, u64, String)>, Vec<Option<(u64, String)>>, Vec<String>, Vec<String>);

/// Whatever comes at once is as if it had come in some order: what callers are told, and what is left.
pub async fn what_comes_at_once_is_some_serial_order(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let mut dice = Dice::new(23);
    for round in 1..=ROUNDS {
        let mut draw = |_| {
            let id = dice.roll(IDS.len());
            let kinds = [Work::Add(id), Work::Make(id), Work::Delete(id), Work::Copy(id), Work::Seal, Work::Stale];
            kinds[dice.roll(kinds.len())]
        };
        let before: Vec<Work> = (0..3).map(&mut draw).chain([Work::Blind]).collect();
        let works: Vec<Work> = (0..AT_ONCE).map(&mut draw).collect();
        let tenant = tenant(u128::from(round));
        for (number, work) in before.iter().enumerate() {
            perform(&*bench.store, tenant, *work, number).await;
        }
        let all = works.iter().enumerate().map(|(place, work)| perform(&*bench.store, tenant, *work, 10 + place));
        let came = join_all(all).await;
        let left = left(&bench.store, tenant).await;
        let mut fits = false;
        for order in orders(AT_ONCE) {
            fits =
                fits || in_order(&bench.ports, tenant, &before, &works, &order).await == (came.clone(), left.clone());
        }
        assert!(fits, "no order of {works:?} after {before:?} comes to {came:?} and leaves {left:?}");
    }
}

/// What one order of the transactions comes to, in memory.
async fn in_order(
    ports: &Ports,
    tenant: TenantId,
    before: &[Work],
    works: &[Work],
    order: &[usize],
) -> (Vec<Came>, Left) {
    let model: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::clone(&ports.clock), Arc::clone(&ports.entropy)));
    for (number, work) in before.iter().enumerate() {
        perform(&*model, tenant, *work, number).await;
    }
    let mut came = vec![Came::Rejected; works.len()];
    for place in order {
        came[*place] = perform(&*model, tenant, works[*place], 10 + place).await;
    }
    (came, left(&model, tenant).await)
}

async fn perform(store: &dyn Store, tenant: TenantId, work: Work, number: usize) -> Came {
    let reads = match work {
        Work::Add(id) | Work::Make(id) | Work::Delete(id) | Work::Copy(id) => Reads::none().record(key(IDS[id])),
        Work::Seal => Reads::none().chain(CHAIN),
        Work::Blind | Work::Stale => Reads::none(),
    };
    let step = Arc::new(move |loaded: &Loaded, _: &_| decide(loaded, work, number));
    match store.transact(Transaction { tenant, reads, step }).await {
        Ok(Transacted::Committed { sequence }) => Came::Committed(sequence),
        Ok(Transacted::Rejected) => Came::Rejected,
        Err(StoreError::Conflict(_)) => Came::Conflict,
        Err(error) => panic!("{work:?} must be decided, but: {error}"),
    }
}

/// What a record was, and its version.
fn kept(loaded: &Loaded, id: usize) -> Option<(u64, String)> {
    let record = loaded.record(&key(IDS[id])).flatten();
    record.map(|record| (record.version, record.document.to_string()))
}

fn decide(loaded: &Loaded, work: Work, number: usize) -> Step {
    let mut set = WriteSet { events: vec![event(&format!("{number}"))], ..WriteSet::default() };
    match work {
        Work::Add(id) => set.records.push(write(id, kept(loaded, id), number)),
        Work::Make(id) if kept(loaded, id).is_none() => set.records.push(write(id, None, number)),
        Work::Make(_) => return Step::Reject,
        Work::Delete(id) => match kept(loaded, id) {
            Some((seen, document)) => {
                let unindex = vec![row(document)];
                set.records.push(RecordWrite::Delete { key: key(IDS[id]), seen, unindex });
            }
            None => return Step::Reject,
        },
        Work::Copy(id) => {
            let other = (id + 1) % IDS.len();
            if loaded.record(&key(IDS[other])).is_none() {
                return Step::Need(Reads::none().record(key(IDS[other])));
            }
            let Some((_, document)) = kept(loaded, id) else { return Step::Reject };
            let mut before = kept(loaded, other);
            let RecordWrite::Put { key, seen, unindex, .. } = write(other, before.take(), number) else {
                return Step::Reject;
            };
            let document = format!("{document};{number}");
            let index = vec![row(document.as_str())];
            set.records.push(RecordWrite::Put { key, seen, document: document.into(), unindex, index });
        }
        Work::Seal => {
            let height = loaded.chain(&CHAIN).flatten().map_or(0, |head| head.height) + 1;
            let mut sealed = entry(&CHAIN, height);
            sealed.body = format!("{number}").into();
            set.chain.push(sealed);
        }
        Work::Blind | Work::Stale => {
            let seen = matches!(work, Work::Stale).then_some(1);
            set.records.push(put(BLIND, seen, &format!("{number}")));
        }
    }
    Step::Commit(Box::new(set))
}

/// A record with one more number, standing in the index under what it holds.
fn write(id: usize, before: Option<(u64, String)>, number: usize) -> RecordWrite {
    let (seen, old) = before.unzip();
    let document = old.as_ref().map_or_else(|| format!("{id}:{number}"), |old| format!("{old},{number}"));
    let index = vec![row(document.as_str())];
    let unindex = old.into_iter().map(row).collect();
    RecordWrite::Put { key: key(IDS[id]), seen, document: document.into(), unindex, index }
}

async fn left(store: &Arc<dyn Store>, tenant: TenantId) -> Left {
    let keys = [IDS[0], IDS[1], BLIND].map(key);
    let records = store.get(&tenant, &keys).await.expect("records are read");
    let records = records.into_iter().map(|record| record.map(|kept| (kept.version, kept.document.to_string())));
    let rows = scan_all(store, tenant, Order::Ascending, 100).await.rows;
    let rows = rows
        .into_iter()
        .map(|row| (row.sort_key, row.record.key.id, row.record.version, row.record.document.to_string()));
    let all = HeightRange { from: 1, limit: 100 };
    let chain = store.read_chain(&tenant, &CHAIN, all).await.expect("a chain is read");
    let bodies = chain.into_iter().map(|entry| entry.body.unwrap_or_default().to_string());
    let events = store.read_events(&tenant, 0, 100).await.expect("events are read");
    let subjects = events.into_iter().map(|event| event.subject);
    (rows.collect(), records.collect(), bodies.collect(), subjects.collect())
}

/// Every order of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let last = count - 1;
    let shorter = orders(last).into_iter();
    shorter
        .flat_map(|order| (0..count).map(move |place| [&order[..place], &[last], &order[place..]].concat()))
        .collect()
}
