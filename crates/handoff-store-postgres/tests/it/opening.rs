//! Opening a database, creating it and finding it.

use handoff_store_postgres::{OpenError, PostgresStore};

use super::bench::{cluster, commit, database, everything, open, options, write};

#[tokio::test(flavor = "multi_thread")]
async fn several_servers_that_start_at_once_make_one_schema() {
    let database = database();
    let starting: Vec<_> = (0..4)
        .map(|_| {
            let url = database.owner_url().to_owned();
            tokio::spawn(async move { PostgresStore::open(&url, options()).await })
        })
        .collect();
    for started in starting {
        commit(&started.await.unwrap().unwrap(), super::bench::waking()).await;
    }
    let applied = database.run("SELECT count(*), count(DISTINCT version) = max(version) FROM handoff_migrations");
    assert_eq!(applied.unwrap(), "6|t");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_another_program_is_left_alone() {
    let database = database();
    database.run("CREATE TABLE customers (name text)").unwrap();
    let refused = PostgresStore::open(database.owner_url(), options()).await.unwrap_err();
    assert!(matches!(&refused, OpenError::NotAStore(table) if table == "customers"), "{refused}");
    assert_eq!(database.run("SELECT to_regclass('handoff_migrations') IS NULL").unwrap(), "t");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_schema_is_refused_and_not_touched() {
    let database = database();
    drop(open(database.owner_url()).await);
    database.run("INSERT INTO handoff_migrations (version) VALUES (99)").unwrap();
    let refused = PostgresStore::open(database.owner_url(), options()).await.unwrap_err();
    assert!(matches!(refused, OpenError::NewerSchema { found: 99, known: 6 }), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_reached_or_read_is_said_without_the_password() {
    for url in ["postgres://me:hunter2@127.0.0.1:1/handoff", "postgres://me:hunter2@[/", "no address"] {
        let refused = PostgresStore::open(url, options()).await.unwrap_err().to_string();
        assert!(!refused.contains("hunter2"), "{refused}");
    }
    let there = database();
    let nowhere = there.owner_url().replace(there.name(), "absent");
    let refused = PostgresStore::open(&nowhere, options()).await.unwrap_err().to_string();
    assert!(refused.contains("does not exist"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_another_encoding_is_refused() {
    let admin = cluster().database().unwrap();
    let name = format!("{}_latin", admin.name());
    let create = format!("CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    admin.run_at(admin.admin_url(), &create).unwrap();
    let url = admin.owner_url().replace(admin.name(), &name);
    let refused = PostgresStore::open(&url, options()).await.unwrap_err();
    assert!(matches!(&refused, OpenError::Encoding(found) if found == "LATIN1"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_opened_twice_keeps_what_is_in_it() {
    let database = database();
    commit(&open(database.owner_url()).await, everything()).await;
    let again = open(database.owner_url()).await;
    let refused = write(&again, everything()).await.unwrap_err();
    assert!(matches!(refused, handoff_engine::store::StoreError::Conflict(_)), "{refused}");
}
