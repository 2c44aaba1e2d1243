//! What becomes of the log file when a process or a disk fails.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path, sync::Arc};

use example_custom_store::LogStore;
use handoff_engine::store::{EventType, NewEvent, Reads, Step, Store, StoreError, Transaction, WriteSet};
use handoff_protocol::id::TenantId;
use handoff_testkit::{SeededEntropy, VirtualClock};

#[tokio::test]
async fn an_unfinished_last_line_is_cut_off_and_writing_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("handoff.log");
    write_events(&path, 3).await;
    let whole = fs::read(&path).unwrap();
    for torn in [&b"x"[..], b"sha256:00 {}", b"sha256:00 {}\n", &whole[..whole.len() / 3 - 1], b"\0\0\0\0"] {
        fs::write(&path, [&whole, torn].concat()).unwrap();
        assert_eq!(count_events(&path).await, 3);
        assert_eq!(fs::read(&path).unwrap(), whole, "the file is as it was before the write that did not finish");
    }
    write_events(&path, 1).await;
    assert_eq!(count_events(&path).await, 4);
}

#[tokio::test]
async fn damage_before_the_last_line_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("handoff.log");
    write_events(&path, 3).await;
    let whole = fs::read_to_string(&path).unwrap();
    let second = whole.lines().nth(1).unwrap();
    for damaged in [whole.replacen("thing", "think", 1), whole.replace(second, ""), format!("\n{whole}")] {
        fs::write(&path, &damaged).unwrap();
        assert!(matches!(open(&path), Err(StoreError::Corrupt(_))), "damage is not taken for an unfinished write");
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged, "a damaged file is left alone");
    }
}

#[tokio::test]
async fn a_second_process_cannot_open_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("handoff.log");
    let first = open(&path).unwrap();
    assert!(matches!(open(&path), Err(StoreError::Unavailable(_))));
    drop(first);
    assert!(open(&path).is_ok());
}

fn open(path: &Path) -> Result<LogStore, StoreError> {
    LogStore::open(path, Arc::new(VirtualClock::default()), Arc::new(SeededEntropy::new(1)))
}

async fn write_events(path: &Path, count: usize) {
    let store = open(path).unwrap();
    for _ in 0..count {
        let step = |_: &_, _: &_| {
            let event_type = EventType::from_static("thing.happened");
            let event = NewEvent { event_type, subject: "thing".to_owned(), data: "{}".into() };
            Step::Commit(Box::new(WriteSet { events: vec![event], ..WriteSet::default() }))
        };
        let transaction = Transaction { tenant: TenantId::System, reads: Reads::none(), step: Arc::new(step) };
        let _committed = store.transact(transaction).await.unwrap();
    }
}

async fn count_events(path: &Path) -> usize {
    open(path).unwrap().read_events(&TenantId::System, 0, 100).await.unwrap().len()
}
