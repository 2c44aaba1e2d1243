//! Who waits to write, by tenant: one worker a tenant takes what waits and runs it as one batch.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt as _;
use handoff_engine::store::Topic;
use handoff_protocol::id::TenantId;
use tokio::sync::Semaphore;

use crate::{
    batch::{self, Desk},
    link::Link,
    member::Member,
    options::PostgresOptions,
    stats::Counters,
    waiting::Waiting,
    wakes::Wakes,
};

/// What workers share.
pub(crate) struct Writers {
    pub(crate) link: Link,
    pub(crate) options: PostgresOptions,
    pub(crate) counters: Counters,
    pub(crate) wakes: Wakes,
    waiting: Waiting<TenantId, Member>,
    /// Leaves some connections to those who read.
    permits: Semaphore,
}

impl Writers {
    pub(crate) fn new(link: Link, options: PostgresOptions, wakes: Wakes) -> Self {
        let connections = usize::try_from(options.connections.max(1)).unwrap_or(1);
        let writing = connections.saturating_sub(connections.div_ceil(4)).max(1);
        Self {
            link,
            options,
            counters: Counters::default(),
            wakes,
            waiting: Waiting::default(),
            permits: Semaphore::new(writing),
        }
    }

    /// Hands in a member. It is worked on also when its caller goes away.
    pub(crate) fn push(self: &Arc<Self>, tenant: TenantId, member: Member) {
        if self.waiting.push(tenant, member) {
            tokio::spawn(Arc::clone(self).work(tenant));
        }
    }

    async fn work(self: Arc<Self>, tenant: TenantId) {
        loop {
            // A closed semaphore means that the store is going away, and so is everybody who waits.
            let Ok(_permit) = self.permits.acquire().await else { return };
            let Some(members) = self.waiting.take(&tenant, self.options.batch) else { return };
            // A defect here costs its own batch, whose callers are told that nobody knows, and no other.
            if AssertUnwindSafe(self.run(tenant, members)).catch_unwind().await.is_err() {
                tracing::error!("a batch of the store panicked");
            }
        }
    }

    async fn run(&self, tenant: TenantId, mut members: Vec<Member>) {
        let desk = Desk { link: &self.link, options: &self.options, counters: &self.counters };
        let moved_at = batch::run(desk, tenant, &mut members).await;
        let topics: Vec<Topic> = members.iter_mut().flat_map(Member::topics).collect();
        // Whoever is woken reads the commit, and whoever is answered finds others woken.
        self.wakes.touched(tenant, moved_at, topics);
        members.into_iter().for_each(Member::answer);
    }
}

impl std::fmt::Debug for Writers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Writers").field("options", &self.options).finish_non_exhaustive()
    }
}
