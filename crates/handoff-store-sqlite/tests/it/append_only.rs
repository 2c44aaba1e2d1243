//! The database itself keeps what was sealed, whoever asks.

use handoff_engine::store::{Erasure, HeightRange, Store as _, WriteSet};

use crate::bench::{Bench, CHAIN, tenant, typical, write};

const ERASE: &str =
    "INSERT INTO erasures SELECT tenant, chain, height, 'asked to', 0 FROM chain_entries WHERE height = 2";

#[tokio::test]
async fn sealed_rows_can_be_neither_changed_nor_removed_nor_replaced() {
    let bench = Bench::new();
    let store = bench.open();
    for id in ["a", "b"] {
        let _ = store.transact(typical(id.to_owned(), format!("\"{id}\""))).await.unwrap();
    }
    let shell = bench.shell();
    shell.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    shell.execute(ERASE, []).unwrap();
    for table in ["chain_entries", "chain_bodies", "erasures", "events"] {
        let column = if table == "events" { "subject" } else { "chain" };
        for attempt in [
            format!("UPDATE {table} SET {column} = 'x'"),
            format!("UPDATE OR REPLACE {table} SET {column} = 'x'"),
            format!("DELETE FROM {table}"),
            format!("INSERT INTO {table} SELECT * FROM {table}"),
            format!("INSERT OR REPLACE INTO {table} SELECT * FROM {table}"),
            format!("INSERT OR IGNORE INTO {table} SELECT * FROM {table}"),
            format!("INSERT INTO {table} SELECT * FROM {table} WHERE true ON CONFLICT DO UPDATE SET {column} = 'x'"),
        ] {
            let refusal = shell.execute(&attempt, []).expect_err(&attempt).to_string();
            assert!(refusal.contains("append-only"), "{attempt}: {refusal}");
        }
    }
    let entries = store.read_chain(&tenant(), &CHAIN, HeightRange { from: 1, limit: 9 }).await.unwrap();
    let bodies: Vec<_> = entries.iter().map(|entry| entry.body.as_deref()).collect();
    assert_eq!(bodies, [Some("\"a\""), Some("\"b\"")]);
}

#[tokio::test]
async fn a_body_goes_only_after_its_erasure_and_never_comes_back() {
    let bench = Bench::new();
    let store = bench.open();
    let _ = store.transact(typical("a".to_owned(), "1".to_owned())).await.unwrap();
    let erasure = Erasure { chain: CHAIN, height: 1, reason: "asked to".to_owned() };
    let set = WriteSet { erasures: vec![erasure], ..WriteSet::default() };
    let _ = write(&store, set).await.unwrap();

    let entries = store.read_chain(&tenant(), &CHAIN, HeightRange::at(1)).await.unwrap();
    assert_eq!(entries[0].body, None);
    let again = "INSERT INTO chain_bodies SELECT tenant, chain, height, 'forged' FROM chain_entries";
    let refusal = bench.shell().execute(again, []).unwrap_err().to_string();
    assert!(refusal.contains("append-only"), "{refusal}");
}
