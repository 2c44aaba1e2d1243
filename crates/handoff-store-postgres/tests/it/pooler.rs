//! Behind a pooler that hands out connections by the transaction.

use std::{
    fs,
    io::Read as _,
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use handoff_engine::store::{Store as _, Wake};
use handoff_store_postgres::{PostgresOptions, PostgresStore};

use super::bench::{CHAIN, cluster, commit, database, everything, key, next_wake, options, tenant, typical, waking};

const PROGRAM: &str = "/usr/sbin/pgbouncer";

struct Pooler {
    process: Child,
    port: u16,
    _directory: tempfile::TempDir,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// With fewer connections to the server than the store has to the pooler.
fn pooler() -> Option<Pooler> {
    if !std::path::Path::new(PROGRAM).exists() {
        // Where there is none, none is tried: Debian's package `pgbouncer` has it.
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pgbouncer.ini");
    let text = format!(
        "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         auth_type = any\npool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 100\nunix_socket_dir =\n",
        cluster().port()
    );
    // With `any` everybody comes in as one user, who is named with the database.
    let text = text.replace(" port=", &format!(" user={} port=", handoff_postgres_cluster::OWNER));
    fs::write(&path, text).unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    if std::os::unix::fs::MetadataExt::uid(&fs::metadata(&path).unwrap()) == 0 {
        // It refuses to run as root.
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        command.uid(65534);
    }
    let mut pooler = Pooler { process: command.spawn().unwrap(), port, _directory: directory };
    for _ in 0..500 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Some(pooler);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    pooler.process.kill().unwrap();
    let mut said = String::new();
    pooler.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    panic!("the pooler does not start: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_behind_a_transaction_pooler_migrates_writes_reads_and_wakes() {
    let Some(pooler) = pooler() else { return };
    let database = database();
    let direct = database.owner_url().to_owned();
    let pooled = direct.replace(&format!(":{}/", cluster().port()), &format!(":{}/", pooler.port));
    let options = || PostgresOptions { pooled: true, listen_url: Some(direct.clone()), connections: 8, ..options() };
    let starting: Vec<_> = (0..3)
        .map(|_| {
            let (pooled, options) = (pooled.clone(), options());
            tokio::spawn(async move { PostgresStore::open(&pooled, options).await })
        })
        .collect();
    let mut stores = Vec::new();
    for started in starting {
        stores.push(Arc::new(started.await.unwrap().unwrap()));
    }
    let callers: Vec<_> = (0..120_usize)
        .map(|caller| {
            let store = Arc::clone(&stores[caller % 3]);
            tokio::spawn(async move {
                let _ = store.transact(typical(format!("r{caller}"), format!("{caller}"))).await.unwrap();
                store.get(&tenant(), &[key(format!("r{caller}"))]).await.unwrap()
            })
        })
        .collect();
    for caller in callers {
        assert!(caller.await.unwrap()[0].is_some());
    }
    assert_eq!(stores[0].chain_head(&tenant(), &CHAIN).await.unwrap().unwrap().height, 120);
    let mut set = everything();
    set.chain.clear();
    set.erasures.clear();
    commit(&stores[1], set).await;
    assert_eq!(stores[2].claim_timers(5, Duration::from_secs(60)).await.unwrap().timers.len(), 1);
    let mut wakes = stores[2].wakes();
    commit(&stores[0], waking()).await;
    next_wake(&mut wakes, |wake| matches!(wake, Wake::Touched { .. })).await;
}
