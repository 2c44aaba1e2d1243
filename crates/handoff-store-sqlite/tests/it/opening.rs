//! How a file is created, recognized and refused.

use std::{fs, thread};

use handoff_engine::store::{Store as _, StoreError};
use handoff_store_sqlite::{OpenError, SqliteOptions, SqliteStore};
use rusqlite::Connection;

use crate::bench::{Bench, typical};

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let bench = Bench::new();
    drop(bench.open());
    bench.shell().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(bench.path()).unwrap();
    let error = SqliteStore::open(bench.path(), SqliteOptions::default()).unwrap_err();
    assert!(matches!(error, OpenError::NewerSchema { found: 99, known: 4 }), "{error}");
    assert!(error.to_string().contains("run the newer program"));
    assert!(matches!(StoreError::from(error), StoreError::NewerSchema { found: 99, .. }));
    assert_eq!(fs::read(bench.path()).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let bench = Bench::new();
    bench.shell().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = fs::read(bench.path()).unwrap();
    let error = SqliteStore::open(bench.path(), SqliteOptions::default()).unwrap_err();
    assert!(matches!(error, OpenError::NotAStore(_)), "{error}");
    assert_eq!(fs::read(bench.path()).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let bench = Bench::new();
    fs::write(bench.path(), "notes of some kind, longer than the header of a database file is: ".repeat(9)).unwrap();
    let error = SqliteStore::open(bench.path(), SqliteOptions::default()).unwrap_err();
    assert!(matches!(error, OpenError::Store(StoreError::Corrupt(_))), "{error}");
}

#[test]
fn a_missing_directory_is_named() {
    let bench = Bench::new();
    let error = SqliteStore::open(bench.path().join("deeper/handoff.db"), SqliteOptions::default()).unwrap_err();
    assert!(matches!(error, OpenError::NoDirectory(_)), "{error}");
    let error = SqliteStore::open(bench.path().with_file_name("none").join("handoff.db"), SqliteOptions::default());
    assert!(error.unwrap_err().to_string().contains("create it first"));
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;

    let bench = Bench::new();
    let store = bench.open();
    let _ = store.transact(typical("a".to_owned(), "1".to_owned())).await.unwrap();
    let files: Vec<_> = fs::read_dir(bench.path().parent().unwrap()).unwrap().map(Result::unwrap).collect();
    assert!(files.len() >= 2, "the log lies beside the database");
    for file in files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[test]
fn many_may_open_a_fresh_file_at_once() {
    let bench = Bench::new();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| drop(bench.open()));
        }
    });
    let version: u32 = bench.shell().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 4);
    let integrity: String = bench.shell().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
}

#[test]
fn the_file_is_in_the_mode_that_durability_needs() {
    let bench = Bench::new();
    let _store = bench.open();
    let mode: String =
        Connection::open(bench.path()).unwrap().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}
