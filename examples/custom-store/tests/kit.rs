//! The store in a log file passes the suite that every store must pass.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::{path::PathBuf, sync::Arc};

use example_custom_store::LogStore;
use handoff_engine::store::Store;
use handoff_testkit::{
    async_trait,
    suite::{Ports, StoreFactory},
};
use tempfile::TempDir;

/// A directory of its own for each behaviour.
struct InDirectory(TempDir);

impl InDirectory {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory for the log"))
    }

    fn open(&self, ports: Ports) -> Arc<dyn Store> {
        let path: PathBuf = self.0.path().join("handoff.log");
        Arc::new(LogStore::open(&path, ports.clock, ports.entropy).expect("the log opens"))
    }
}

#[async_trait]
impl StoreFactory for InDirectory {
    async fn fresh(&self, ports: Ports) -> Arc<dyn Store> {
        self.open(ports)
    }

    async fn reopen(&self, store: Arc<dyn Store>, ports: Ports) -> Option<Arc<dyn Store>> {
        drop(store);
        Some(self.open(ports))
    }
}

handoff_testkit::store_suite!(InDirectory::new());
