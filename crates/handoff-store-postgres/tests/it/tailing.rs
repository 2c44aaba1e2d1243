//! Whoever follows the events misses none, whichever writer commits first.

use std::{sync::Arc, time::Duration};

use handoff_engine::store::{Store as _, Transacted};

use super::bench::{commit, database, open, tenant, waking, within, write};

#[tokio::test(flavor = "multi_thread")]
async fn of_two_writers_the_first_of_which_commits_last_a_reader_misses_nothing() {
    let database = database();
    let store = Arc::new(open(database.owner_url()).await);
    let url = database.owner_url().to_owned();
    commit(&store, waking()).await;

    // The first writer has its event, and takes its time to commit.
    let shell = database.clone();
    let first = std::thread::spawn(move || {
        shell.run_at(
            &url,
            &format!(
                "BEGIN; SELECT 1 FROM handoff_load('{0}', true, '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}');
                 INSERT INTO events (tenant, sequence, type, subject, at, data) VALUES ('{0}', 2, 'x', 'slow', 0, '{{}}');
                 UPDATE tenants SET sequence = 2; SELECT pg_sleep(1.5); COMMIT",
                tenant()
            ),
        )
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let reader = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut seen = Vec::new();
            while seen.len() < 4 {
                let after = seen.last().copied().unwrap_or(0);
                let events = store.read_events(&tenant(), after, 10).await.unwrap();
                seen.extend(events.iter().map(|event| event.sequence));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            seen
        })
    };
    // The second writer comes later, on another connection, and could commit at once if it did not wait for the first.
    for sequence in [3, 4] {
        assert_eq!(write(&store, waking()).await.unwrap(), Transacted::Committed { sequence });
    }
    assert!(first.join().unwrap().is_ok());
    assert_eq!(within(reader, "the reader").await.unwrap(), [1, 2, 3, 4]);
}

/// What is read after the lock is what the one before left behind, not what was there when the question was asked.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_under_the_lock_is_newer_than_the_lock() {
    let database = database();
    let stores = [open(database.owner_url()).await, open(database.owner_url()).await];
    let stores = stores.map(Arc::new);
    commit(&stores[0], waking()).await;
    let callers: Vec<_> = (0..100)
        .map(|caller: u32| {
            let store = Arc::clone(&stores[usize::from(caller.is_multiple_of(2))]);
            tokio::spawn(async move {
                store.transact(super::bench::typical(format!("r{caller}"), format!("{caller}"))).await
            })
        })
        .collect();
    for caller in callers {
        let _ = caller.await.unwrap().unwrap();
    }
    let head = stores[0].chain_head(&tenant(), &super::bench::CHAIN).await.unwrap();
    assert_eq!(head.unwrap().height, 100);
}
