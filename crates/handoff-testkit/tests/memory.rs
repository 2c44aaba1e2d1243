//! The store in memory passes the suite.

use std::sync::{Arc, OnceLock};

use handoff_engine::store::Store;
use handoff_testkit::{
    MemoryStore, async_trait,
    suite::{Ports, StoreFactory},
};

/// Keeps a handle, so that a second one can be given out.
#[derive(Default)]
struct InMemory(OnceLock<MemoryStore>);

#[async_trait]
impl StoreFactory for InMemory {
    async fn fresh(&self, ports: Ports) -> Arc<dyn Store> {
        Arc::new(self.0.get_or_init(|| MemoryStore::new(ports.clock, ports.entropy)).clone())
    }

    async fn second(&self, _ports: Ports) -> Option<Arc<dyn Store>> {
        self.0.get().map(|store| Arc::new(store.clone()) as Arc<dyn Store>)
    }
}

handoff_testkit::store_suite!(InMemory::default());
