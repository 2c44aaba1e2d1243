//! What is deleted leaves no trace in the file.

use std::{fs, time::Duration};

use handoff_engine::store::{Erasure, RecordWrite, Store as _, WriteSet};
use handoff_store_sqlite::SqliteOptions;

use crate::bench::{Bench, CHAIN, entry, insert, key, tenant, typical, write};

#[tokio::test]
async fn deleted_content_is_overwritten() {
    let bench = Bench::new();
    let marker = "a text that must not stay behind";
    let store = bench.open();
    let records = vec![insert("a", &format!("\"{marker}\"")), insert("b", "\"a text that stays\"")];
    let _ = write(&store, WriteSet { records, ..WriteSet::default() }).await.unwrap();
    drop(store);
    assert!(holds(&bench, marker), "the document is in the file in plain text");

    let store = bench.open();
    let delete = RecordWrite::Delete { key: key("a"), seen: 1, unindex: vec![] };
    let _ = write(&store, WriteSet { records: vec![delete], ..WriteSet::default() }).await.unwrap();
    drop(store);
    assert!(!holds(&bench, marker));
    assert!(holds(&bench, "a text that stays"));
}

#[tokio::test]
async fn an_erased_body_leaves_the_log_as_well_while_the_store_is_open() {
    let bench = Bench::new();
    let marker = "a body that must not stay behind";
    let store = bench.open_with(SqliteOptions { poll_foreign: Duration::from_millis(1), ..SqliteOptions::default() });
    let _ = store.transact(typical("a".to_owned(), "1".to_owned())).await.unwrap();
    let head = store.chain_head(&tenant(), &CHAIN).await.unwrap();
    let _ = write(&store, WriteSet { chain: vec![entry(head.as_ref(), marker)], ..WriteSet::default() }).await.unwrap();
    assert!(holds(&bench, marker), "the body is in the log in plain text");

    let erasure = Erasure { chain: CHAIN, height: 2, reason: "asked to".to_owned() };
    let _ = write(&store, WriteSet { erasures: vec![erasure], ..WriteSet::default() }).await.unwrap();
    let gone = async {
        while holds(&bench, marker) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.unwrap();
}

fn holds(bench: &Bench, text: &str) -> bool {
    let files = fs::read_dir(bench.path().parent().unwrap()).unwrap();
    files.into_iter().any(|file| {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}
