//! The store in memory passes the suite.

use std::sync::{Arc, Mutex};

use handoff_engine::store::Store;
use handoff_testkit::{
    MemoryStore, async_trait,
    suite::{Ports, StoreFactory},
};

/// Keeps a handle, so that a second one can be given out.
#[derive(Default)]
struct InMemory(Mutex<Option<MemoryStore>>);

#[async_trait]
impl StoreFactory for InMemory {
    async fn fresh(&self, ports: Ports) -> Arc<dyn Store> {
        let store = MemoryStore::new(ports.clock, ports.entropy);
        *self.0.lock().unwrap() = Some(store.clone());
        Arc::new(store)
    }

    async fn second(&self, _ports: Ports) -> Option<Arc<dyn Store>> {
        let store = self.0.lock().unwrap().clone();
        store.map(|store| Arc::new(store) as Arc<dyn Store>)
    }
}

handoff_testkit::store_suite!(InMemory::default());
