//! What the store shows of itself.

use std::sync::Arc;

use handoff_store_sqlite::{SqliteOptions, SqliteStore};
use handoff_testkit::{VirtualClock, suite::inspecting};

#[tokio::test]
async fn everything_of_every_tenant_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let clock = VirtualClock::default();
    let options = SqliteOptions { clock: Arc::new(clock.clone()), ..SqliteOptions::default() };
    let store = SqliteStore::open(directory.path().join("handoff.db"), options).unwrap();
    inspecting::everything_is_shown(store, &clock).await;
}
