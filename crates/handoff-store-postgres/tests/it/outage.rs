//! A database that cannot be reached for a while.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use handoff_engine::store::{Store as _, StoreError};
use tracing::{Event, Level, Metadata, Subscriber, field::Visit, span};

use super::{
    bench::{commit, database, key, open, tenant, waking, within, write},
    proxy::{Proxy, Way},
};

/// Keeps each line that is written at the level of a warning or above, or says that something is over.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Text<'a>(&'a mut String);

impl Visit for Text<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            *self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = String::new();
        event.record(&mut Text(&mut text));
        self.0.lock().unwrap().push(format!("{} {text}", event.metadata().level()));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn calls_fail_at_once_with_few_lines_in_the_log_and_go_on_by_themselves() {
    let lines = Lines::default();
    // For every thread of this test's runtime, and for no other test.
    let (on_start, shared) = (lines.clone(), lines.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .on_thread_start(move || std::mem::forget(tracing::subscriber::set_default(on_start.clone())))
        .build()
        .unwrap();
    runtime.block_on(async move { tokio::spawn(outage(shared)).await.unwrap() });
}

async fn outage(lines: Lines) {
    let database = database();
    let proxy = Proxy::start().await;
    let store = Arc::new(open(&proxy.url(database.owner_url())).await);
    commit(&store, waking()).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    lines.0.lock().unwrap().clear();

    proxy.set(Way::Cut);
    // It looks every few milliseconds.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let since = Instant::now();
    let mut calls = 0;
    while since.elapsed() < Duration::from_secs(3) {
        let asked = Instant::now();
        let (read, wrote) = (store.get(&tenant(), &[key("one")]).await, write(&store, waking()).await);
        assert!(
            asked.elapsed() < Duration::from_secs(1),
            "a call waits {:?} for a database that is gone",
            asked.elapsed()
        );
        for outcome in [read.map(drop), wrote.map(drop)] {
            assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
        }
        calls += 2;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(calls > 100, "calls fail at once: {calls}");
    let told = lines.0.lock().unwrap().clone();
    assert!(!told.is_empty() && told.len() <= 3, "under one line a second: {told:#?}");

    proxy.set(Way::Open);
    let back = async {
        while write(&store, waking()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let since = Instant::now();
    within(back, "the database").await;
    assert!(since.elapsed() < Duration::from_secs(3), "back after {:?}", since.elapsed());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let told = lines.0.lock().unwrap().clone();
    assert!(told.iter().any(|line| line.contains("can be reached again")), "{told:#?}");
    assert!(told.iter().any(|line| line.contains("are heard again")), "{told:#?}");
    assert!(told.len() <= 5, "{told:#?}");
}
