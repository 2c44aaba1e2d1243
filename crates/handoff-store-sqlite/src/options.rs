//! What can be chosen when a store is opened.

use std::{fmt, sync::Arc, time::Duration};

use handoff_engine::{
    clock::{Clock, SystemClock},
    entropy::{Entropy, SystemEntropy},
};

/// What is called with a write-set's label, between its records and its events.
pub type LabelHook = Arc<dyn Fn(&str) + Send + Sync>;

/// How a store behaves. The defaults suit a server.
#[derive(Clone)]
pub struct SqliteOptions {
    /// The store's time.
    pub clock: Arc<dyn Clock>,
    /// Where seeds for steps are drawn.
    pub entropy: Arc<dyn Entropy>,
    /// How long to wait for another process that holds the database before the store counts as unavailable.
    pub busy_timeout: Duration,
    /// How many connections read side by side; at least 1.
    pub readers: usize,
    /// How often to look for commits of other processes, which wake this one's waiters.
    pub poll_foreign: Duration,
    /// How many transactions may share one physical commit; at least 1.
    pub batch: usize,
    /// Called at the label of every write-set that has one. A panic in it takes back that write-set alone.
    pub on_label: Option<LabelHook>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            busy_timeout: Duration::from_secs(5),
            readers: std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 4)),
            poll_foreign: Duration::from_millis(100),
            batch: 256,
            on_label: None,
        }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SqliteOptions")
            .field("busy_timeout", &self.busy_timeout)
            .field("readers", &self.readers)
            .field("poll_foreign", &self.poll_foreign)
            .field("batch", &self.batch)
            .finish_non_exhaustive()
    }
}
