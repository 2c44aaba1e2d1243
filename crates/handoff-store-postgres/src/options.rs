//! What can be chosen when a store is opened.

use std::{fmt, sync::Arc, time::Duration};

use handoff_engine::{
    clock::Clock,
    entropy::{Entropy, SystemEntropy},
};

/// What is called with a write-set's label, between its records and its events.
pub type LabelHook = Arc<dyn Fn(&str) + Send + Sync>;

/// How a store behaves. The defaults suit a server.
#[derive(Clone)]
pub struct PostgresOptions {
    /// The store's time. None is the database's, which is one for all nodes: a node whose own clock is wrong steals no
    /// lease. Tests bring a clock of theirs.
    pub clock: Option<Arc<dyn Clock>>,
    /// Where seeds for steps are drawn.
    pub entropy: Arc<dyn Entropy>,
    /// How many connections read and write; at least 1. Two more tell and hear of commits.
    pub connections: u32,
    /// How many transactions of one tenant may share one physical commit; at least 1.
    pub batch: usize,
    /// How long to wait for a connection before the store counts as unavailable.
    pub acquire_within: Duration,
    /// How long a statement may go unanswered before its connection counts as lost.
    pub answer_within: Duration,
    /// Where notifications are sent and heard, when the address of the store leads to a pooler: one that leads to the server.
    pub listen_url: Option<String>,
    /// Whether a pooler that hands out connections by the transaction stands in between. Then no statement is left prepared.
    pub pooled: bool,
    /// Whether the schema is made, or brought up to date, when the store is opened.
    pub migrate: bool,
    /// How often the heads of tenants are looked at for commits of which no notification came, and how often every waiter
    /// looks again while notifications cannot be heard.
    pub look_again: Duration,
    /// How long a notification to oneself may take before the connection that listens counts as lost.
    pub heard_within: Duration,
    /// Called at the label of every write-set that has one. A panic in it takes back that write-set alone.
    pub on_label: Option<LabelHook>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            clock: None,
            entropy: Arc::new(SystemEntropy),
            connections: 10,
            batch: 256,
            acquire_within: Duration::from_secs(5),
            answer_within: Duration::from_secs(30),
            listen_url: None,
            pooled: false,
            migrate: true,
            look_again: Duration::from_secs(2),
            heard_within: Duration::from_secs(2),
            on_label: None,
        }
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresOptions")
            .field("connections", &self.connections)
            .field("batch", &self.batch)
            .field("acquire_within", &self.acquire_within)
            .field("answer_within", &self.answer_within)
            .field("pooled", &self.pooled)
            .field("migrate", &self.migrate)
            .field("look_again", &self.look_again)
            .field("heard_within", &self.heard_within)
            .finish_non_exhaustive()
    }
}
