//! The suite that every store must pass, on this one.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{path::PathBuf, sync::Arc};

use handoff_engine::store::Store;
use handoff_store_sqlite::{SqliteOptions, SqliteStore};
use handoff_testkit::{
    async_trait,
    suite::{Ports, StoreFactory},
};
use tempfile::TempDir;

struct InOneFile {
    directory: TempDir,
}

impl InOneFile {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn open(&self, ports: Ports) -> Arc<dyn Store> {
        let path: PathBuf = self.directory.path().join("handoff.db");
        let options = SqliteOptions { clock: ports.clock, entropy: ports.entropy, ..SqliteOptions::default() };
        Arc::new(SqliteStore::open(path, options).unwrap())
    }
}

#[async_trait]
impl StoreFactory for InOneFile {
    async fn fresh(&self, ports: Ports) -> Arc<dyn Store> {
        self.open(ports)
    }

    async fn reopen(&self, store: Arc<dyn Store>, ports: Ports) -> Option<Arc<dyn Store>> {
        drop(store);
        Some(self.open(ports))
    }

    async fn second(&self, ports: Ports) -> Option<Arc<dyn Store>> {
        Some(self.open(ports))
    }
}

handoff_testkit::store_suite!(InOneFile::new());
