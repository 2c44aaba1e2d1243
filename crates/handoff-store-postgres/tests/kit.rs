//! The suite that every store must pass, on this one.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use handoff_engine::store::Store;
use handoff_postgres_cluster::Database;
use handoff_store_postgres::{PostgresOptions, PostgresStore};
use handoff_testkit::{
    async_trait,
    suite::{Ports, StoreFactory},
};

struct InOneDatabase(Database);

impl InOneDatabase {
    fn new() -> Self {
        Self(handoff_postgres_cluster::shared().unwrap().database().unwrap())
    }

    async fn open(&self, ports: Ports) -> Arc<dyn Store> {
        let options = PostgresOptions {
            clock: Some(ports.clock),
            entropy: ports.entropy,
            connections: 5,
            ..PostgresOptions::default()
        };
        Arc::new(PostgresStore::open(self.0.owner_url(), options).await.unwrap())
    }
}

#[async_trait]
impl StoreFactory for InOneDatabase {
    async fn fresh(&self, ports: Ports) -> Arc<dyn Store> {
        self.open(ports).await
    }

    async fn reopen(&self, store: Arc<dyn Store>, ports: Ports) -> Option<Arc<dyn Store>> {
        drop(store);
        Some(self.open(ports).await)
    }

    async fn second(&self, ports: Ports) -> Option<Arc<dyn Store>> {
        Some(self.open(ports).await)
    }
}

handoff_testkit::store_suite!(InOneDatabase::new());
