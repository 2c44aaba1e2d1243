//! What the store shows of itself.

use std::sync::Arc;

use handoff_store_postgres::{PostgresOptions, PostgresStore};
use handoff_testkit::{VirtualClock, suite::inspecting};

use super::bench::{database, options};

#[tokio::test(flavor = "multi_thread")]
async fn everything_of_every_tenant_is_shown() {
    let (database, clock) = (database(), VirtualClock::default());
    let options = PostgresOptions { clock: Some(Arc::new(clock.clone())), ..options() };
    let store = PostgresStore::open(database.owner_url(), options).await.unwrap();
    inspecting::everything_is_shown(store, &clock).await;
}
