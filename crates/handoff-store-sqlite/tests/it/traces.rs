//! What is deleted leaves no trace in the file.

use std::fs;

use handoff_engine::store::{RecordWrite, WriteSet};

use crate::bench::{Bench, insert, key, write};

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

fn holds(bench: &Bench, text: &str) -> bool {
    let files = fs::read_dir(bench.path().parent().unwrap()).unwrap();
    files.into_iter().any(|file| {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}
