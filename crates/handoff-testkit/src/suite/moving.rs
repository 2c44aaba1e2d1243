//! A store that can be moved is filled as a whole or not at all, serves what it was filled with, and hands it out again. A
//! store that cannot is not looked at.

use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt as _;
use handoff_engine::store::{
    BlobRef, Cell, ChainAppend, ChainHead, HeightRange, Order, Portable, Row, Sequence, StoreError, Table, WriteSet,
};
use handoff_protocol::{digest::Digest, id::TenantId};

use super::{
    StoreFactory,
    bench::{Bench, CHAIN, INDEX, KIND, chain, entry, scan_all, tenant},
};

fn text(value: &(impl ToString + ?Sized)) -> Cell {
    Cell::Text(value.to_string())
}

fn number(value: impl TryInto<i64>) -> Cell {
    Cell::Number(value.try_into().unwrap_or_default())
}

/// Some of everything that can be kept, with texts and bytes that are hard to keep.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for owner in [tenant(1), TenantId::System] {
        let mut add = |table, cells| rows.push(Row { tenant: owner, table, cells });
        add(Table::Tenants, vec![number(2), text("01K3M7QW8ZC4YRXB2N6VD9FTHE")]);
        for (id, version, document) in [("a", 7, r#"{"b":1,"a":2.50}"#), ("a\u{1b}0é", 1, "\u{0}\u{1b}0\u{1b}\u{1b}")]
        {
            add(Table::Records, vec![text(KIND.as_str()), text(id), number(version), text(document)]);
        }
        let sort_key = Cell::Bytes(Bytes::from_static(b"\x00\xff'"));
        add(Table::RecordIndex, vec![text(INDEX.as_str()), sort_key, text(KIND.as_str()), text("a")]);
        for height in 1..=2 {
            let ChainAppend { previous, digest, attestation, .. } = entry(&CHAIN, height);
            let attestation = attestation.filter(|_| height == 1).map_or(Cell::Absent, |attested| text(&attested));
            let cells = vec![text(&CHAIN), number(height), text(&previous), text(&digest), attestation, number(5)];
            add(Table::ChainEntries, cells);
        }
        add(Table::Erasures, vec![text(&CHAIN), number(1), text("asked for"), number(6)]);
        add(Table::ChainBodies, vec![text(&CHAIN), number(2), text(&entry(&CHAIN, 2).body)]);
        for sequence in 1..=2 {
            add(Table::Events, vec![number(sequence), text("thing.done"), text("a"), number(7), text("{}")]);
        }
        add(Table::Timers, vec![text("t"), number(0), text(r#"{"do":"it"}"#)]);
        let bytes = Bytes::from_static(&[0, 255, 1, 27]);
        add(Table::Blobs, vec![text("o"), text(&Digest::of(&bytes)), number(9), Cell::Bytes(bytes)]);
    }
    rows
}

async fn fill(portable: &dyn Portable, rows: &[Row]) {
    let mut filling = portable.fill().await.expect("an empty store can be filled");
    for together in rows.chunk_by(|one, other| (one.tenant, one.table) == (other.tenant, other.table)) {
        filling.write(together.to_vec()).await.expect("rows are written");
    }
    filling.commit().await.expect("what was written is committed");
}

async fn unload(portable: &dyn Portable) -> Vec<Row> {
    portable.unload().await.expect("a store hands out its rows").try_collect().await.expect("all of them")
}

/// What was filled in is served like what was committed, goes on from there, and is handed out again row by row.
pub async fn what_was_filled_in_is_served_and_handed_out_again(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let Some(portable) = bench.store.portable() else { return };
    assert_eq!(unload(portable).await, [], "nothing is in an empty store");
    let rows = rows();
    fill(portable, &rows).await;
    assert_eq!(unload(portable).await, rows, "in the same order, byte for byte");

    let record = bench.record("a").await.expect("the record is there");
    assert_eq!((record.version, &*record.document), (7, r#"{"b":1,"a":2.50}"#));
    assert_eq!(scan_all(&bench.store, tenant(1), Order::Ascending, 10).await.rows.len(), 1);
    let entries = bench.entries(&CHAIN).await;
    assert_eq!(entries.iter().map(|entry| entry.body.is_some()).collect::<Vec<_>>(), [false, true]);
    let events = bench.store.read_events(&tenant(1), 0, 10).await.expect("events are read");
    assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<Sequence>>(), [1, 2]);
    let claimed = bench.store.claim_timers(10, Duration::from_secs(60)).await.expect("timers are claimed");
    assert_eq!(claimed.timers.len(), 2, "of both tenants");
    let blob = BlobRef { owner: "o".to_owned(), digest: Digest::of([0, 255, 1, 27]) };
    bench.advance(1_000_000);
    bench.store.sweep_blobs(Duration::ZERO).await.expect("blobs are swept");
    let kept = bench.store.get_blob(&tenant(1), &blob).await.expect("a blob is read");
    assert_eq!(kept.as_deref(), Some(&[0, 255, 1, 27][..]), "it was kept");

    assert_eq!(bench.commit(chain([entry(&CHAIN, 3)])).await, 2, "the sequence goes on");
    let head = bench.store.chain_head(&tenant(1), &CHAIN).await.expect("a head is read");
    assert_eq!(head, Some(ChainHead { height: 3, digest: entry(&CHAIN, 3).digest }), "the chain goes on");
    assert_eq!(unload(portable).await.len(), rows.len() + 2);
}

/// A store in which anything was ever written is refused, and so is one that is being filled.
pub async fn a_store_with_anything_in_it_is_not_filled(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let Some(portable) = bench.store.portable() else { return };
    bench.commit(chain([entry(&CHAIN, 1)])).await;
    let refused = portable.fill().await.err();
    assert!(matches!(refused, Some(StoreError::Conflict(_))), "{refused:?}");
    assert_eq!(bench.entries(&CHAIN).await.len(), 1);
}

/// A filling that is dropped, or that a row does not fit into, leaves the store as empty as it was.
pub async fn what_is_not_committed_leaves_nothing(factory: &dyn StoreFactory) {
    let bench = Bench::new(factory).await;
    let Some(portable) = bench.store.portable() else { return };
    let rows = rows();
    let records: Vec<Row> = rows.iter().filter(|row| row.table == Table::Records).take(2).cloned().collect();
    let mut filling = portable.fill().await.expect("an empty store can be filled");
    filling.write(records.clone()).await.expect("rows are written");
    assert_eq!(bench.record("a").await, None, "nobody sees it before the commit");
    drop(filling);

    let mut filling = portable.fill().await.expect("an empty store can be filled");
    filling.write(records.clone()).await.expect("rows are written");
    assert!(filling.write(records).await.is_err(), "the same rows once more do not fit");
    drop(filling);

    fill(portable, &rows).await;
    let head = HeightRange { from: 1, limit: 10 };
    let found = bench.store.read_chain(&TenantId::System, &CHAIN, head).await.expect("a chain is read");
    assert_eq!(found.len(), 2);
    bench.commit(WriteSet::default()).await;
}
