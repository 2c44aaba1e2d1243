//! How waiting callers learn of commits.

use std::pin::Pin;

use futures::Stream;
use handoff_protocol::id::TenantId;

use super::Topic;

/// A stream of wakes that ends with the store.
pub type WakeStream = Pin<Box<dyn Stream<Item = Wake> + Send>>;

/// A hint that something may have changed. A wake carries no data: whoever wakes reads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Wake {
    /// A commit touched this topic of this tenant.
    Touched {
        /// Whose.
        tenant: TenantId,
        /// Which topic.
        topic: Topic,
    },
    /// Wakes may have been lost, or another process committed: every waiter reads again.
    Missed,
}
