//! A process that is killed in the middle of writing loses nothing that it acknowledged.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
};

use handoff_engine::store::{HeightRange, Store as _};
use handoff_store_sqlite::{SqliteOptions, SqliteStore};

use crate::bench::{Bench, CHAIN, key, tenant, typical};

/// Tells the child which file to write to.
const CHILD: &str = "HANDOFF_TEST_CRASH_FILE";
const WRITERS: usize = 8;
const ACKNOWLEDGED: usize = 300;

/// The child's part: it writes until it is killed, and says so after each answer. Does nothing in a normal run.
#[test]
fn the_child_that_is_killed() {
    let Some(path) = env::var_os(CHILD).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(SqliteStore::open(path, SqliteOptions::default()).unwrap());
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for n in 0_u64.. {
                        let id = format!("w{writer}-{n}");
                        let _ = store.transact(typical(id.clone(), format!("\"{id}\""))).await.unwrap();
                        println!("\nacknowledged {id}");
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let bench = Bench::new();
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "crash::the_child_that_is_killed", "--nocapture"])
        .env(CHILD, bench.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let answered = |line: String| line.strip_prefix("acknowledged ").map(str::to_owned);
    let mut acknowledged: Vec<String> = lines.by_ref().filter_map(answered).take(ACKNOWLEDGED).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    // What the pipe still holds was acknowledged as well.
    acknowledged.extend(lines.filter_map(answered));
    assert!(acknowledged.len() >= ACKNOWLEDGED, "the child wrote until it was killed");

    let store = bench.open();
    let keys: Vec<_> = acknowledged.iter().map(key).collect();
    let found = store.get(&tenant(), &keys).await.unwrap();
    let lost: Vec<_> = found.iter().zip(&acknowledged).filter(|(record, _)| record.is_none()).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");

    let entries = store.read_chain(&tenant(), &CHAIN, HeightRange { from: 1, limit: usize::MAX }).await.unwrap();
    let events = store.read_events(&tenant(), 0, usize::MAX).await.unwrap();
    assert!(entries.len() >= acknowledged.len());
    assert_eq!(entries.len(), events.len(), "each commit is there as a whole");
    for (n, pair) in entries.windows(2).enumerate() {
        assert_eq!((pair[0].height, pair[1].previous), (n as u64 + 1, pair[0].digest));
    }
    for (n, event) in events.iter().enumerate() {
        assert_eq!(event.sequence, n as u64 + 1);
    }
    let integrity: String = bench.shell().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
}
