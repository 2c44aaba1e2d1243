//! Random writes against a model so naive that it cannot be wrong.

use std::collections::BTreeMap;

use handoff_engine::store::{
    IndexName, IndexRead, IndexRow, IndexScan, Order, Reads, RecordKey, RecordKind, RecordWrite, StoreError,
};

use super::{
    StoreFactory,
    bench::{Bench, Dice, load, records, tenant},
};

const KINDS: [RecordKind; 2] = [RecordKind::from_static("thing"), RecordKind::from_static("other")];
const INDEXES: [IndexName; 2] = [IndexName::from_static("by_one"), IndexName::from_static("by_two")];

/// After any series of puts, deletes and lost races, records, versions and every page of every index are what a sorted
/// map holds.
pub async fn records_and_index_agree_with_a_naive_model(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    for seed in 0..4 {
        let (mut dice, mut model) = (Dice::new(seed), Model::default());
        if seed > 0 {
            model = clear(&bench).await;
        }
        for round in 0..80 {
            let (writes, after) = random_writes(&mut dice, &model);
            match after {
                Some(after) => {
                    bench.commit(records(writes)).await;
                    model = after;
                }
                None => {
                    let refused = bench.refusal(records(writes)).await;
                    assert!(matches!(refused, StoreError::Conflict(_)), "seed {seed} round {round}: {refused:?}");
                }
            }
            if round % 8 == 7 {
                compare(&bench, &mut dice, &model, &format!("seed {seed} round {round}")).await;
            }
        }
    }
}

type Model = BTreeMap<RecordKey, Row>;

#[derive(Clone, Debug)]
struct Row {
    version: u64,
    document: String,
    rows: Vec<IndexRow>,
}

fn all_keys() -> Vec<RecordKey> {
    KINDS.into_iter().flat_map(|kind| (0..8).map(move |id| RecordKey::new(kind.clone(), id))).collect()
}

/// Writes of one to three records, and the model after them; `None` when one of them saw a wrong version.
fn random_writes(dice: &mut Dice, before: &Model) -> (Vec<RecordWrite>, Option<Model>) {
    let mut after = Some(before.clone());
    let mut keys = all_keys();
    let mut writes = Vec::new();
    for _ in 0..=dice.roll(3) {
        let key = keys.swap_remove(dice.roll(keys.len()));
        let found = before.get(&key);
        let version = found.map(|row| row.version);
        let unindex = found.map(|row| row.rows.clone()).unwrap_or_default();
        let wrong = dice.roll(12) == 0;
        if wrong {
            after = None;
        }
        if let (Some(version), 0) = (version, dice.roll(4)) {
            let seen = if wrong { version + 1 } else { version };
            after.as_mut().map(|model| model.remove(&key));
            writes.push(RecordWrite::Delete { key, seen, unindex });
        } else {
            let document = format!("document {}", dice.roll(1_000_000));
            let rows: Vec<_> = INDEXES.into_iter().filter_map(|index| random_row(dice, index, &key)).collect();
            let row = Row { version: version.unwrap_or(0) + 1, document: document.clone(), rows: rows.clone() };
            after.as_mut().map(|model| model.insert(key.clone(), row));
            let seen = if wrong { Some(version.unwrap_or(0) + 1) } else { version };
            writes.push(RecordWrite::Put { key, seen, document: document.into(), unindex, index: rows });
        }
    }
    (writes, after)
}

/// A row that ends with the record's name, as the engine's do.
fn random_row(dice: &mut Dice, index: IndexName, key: &RecordKey) -> Option<IndexRow> {
    if dice.roll(4) == 0 {
        return None;
    }
    let mut sort_key = random_bytes(dice);
    sort_key.extend_from_slice(format!("/{key:?}").as_bytes());
    Some(IndexRow { index, sort_key })
}

fn random_bytes(dice: &mut Dice) -> Vec<u8> {
    (0..dice.roll(3)).map(|_| [0, 1, b'a', 255][dice.roll(4)]).collect()
}

async fn compare(bench: &Bench, dice: &mut Dice, model: &Model, case: &str) {
    let keys = all_keys();
    let found = bench.store.get(&tenant(1), &keys).await.expect("records are read");
    for (key, found) in keys.iter().zip(found) {
        let found = found.map(|record| (record.version, record.document.to_string()));
        let expected = model.get(key).map(|row| (row.version, row.document.clone()));
        assert_eq!(found, expected, "{key:?} at {case}");
    }
    for index in INDEXES {
        let mut sorted: Vec<(Vec<u8>, RecordKey)> = Vec::new();
        for (key, row) in model {
            let of_index = row.rows.iter().filter(|row| row.index == index);
            sorted.extend(of_index.map(|row| (row.sort_key.clone(), key.clone())));
        }
        sorted.sort();
        for _ in 0..6 {
            let order = if dice.roll(2) == 0 { Order::Ascending } else { Order::Descending };
            let after = (dice.roll(2) == 0 && !sorted.is_empty()).then(|| sorted[dice.roll(sorted.len())].0.clone());
            let (prefix, limit) = (random_bytes(dice), 1 + dice.roll(8));
            let scan = IndexScan { tenant: tenant(1), index: index.clone(), prefix, after, order, limit };
            compare_page(bench, &sorted, scan, case).await;
        }
    }
}

async fn compare_page(bench: &Bench, sorted: &[(Vec<u8>, RecordKey)], scan: IndexScan, case: &str) {
    let case = format!("{scan:?} at {case}");
    let IndexScan { index, prefix, after, order, limit, .. } = scan.clone();
    let mut expected: Vec<_> = sorted.iter().filter(|(sort_key, _)| sort_key.starts_with(&prefix)).cloned().collect();
    if order == Order::Descending {
        expected.reverse();
    }
    let first_rows: Vec<_> = expected.iter().take(limit).cloned().collect();
    expected.retain(|(sort_key, _)| {
        after.as_ref().is_none_or(|after| if order == Order::Ascending { sort_key > after } else { sort_key < after })
    });
    let more = expected.len() > limit;
    expected.truncate(limit);

    let page = bench.store.scan(scan).await.expect("an index is scanned");
    let found: Vec<_> = page.rows.into_iter().map(|row| (row.sort_key, row.record.key)).collect();
    assert_eq!((found, page.more), (expected, more), "{case}");

    if order == Order::Ascending {
        let read = IndexRead { index, prefix, limit };
        let loaded = load(&bench.store, tenant(1), Reads::none().index(read.clone())).await;
        let rows = loaded.index(&read).expect("the index read is loaded");
        let found: Vec<_> = rows.iter().map(|row| (row.sort_key.clone(), row.record.key.clone())).collect();
        assert_eq!(found, first_rows, "the rows a step is given for {case}");
    }
}

/// Deletes whatever the last series left, by what the index rows and records themselves say.
async fn clear(bench: &Bench) -> Model {
    let found = bench.store.get(&tenant(1), &all_keys()).await.expect("records are read");
    let mut deletes = Vec::new();
    for record in found.into_iter().flatten() {
        let mut unindex = Vec::new();
        for index in INDEXES {
            let scan = IndexScan {
                tenant: tenant(1),
                index: index.clone(),
                prefix: Vec::new(),
                after: None,
                order: Order::Ascending,
                limit: 1_000,
            };
            let page = bench.store.scan(scan).await.expect("an index is scanned");
            let own = page.rows.into_iter().filter(|row| row.record.key == record.key);
            unindex.extend(own.map(|row| IndexRow { index: index.clone(), sort_key: row.sort_key }));
        }
        deletes.push(RecordWrite::Delete { key: record.key, seen: record.version, unindex });
    }
    bench.commit(records(deletes)).await;
    Model::new()
}
