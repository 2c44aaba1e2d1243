//! Who waits to write, by tenant: one worker a tenant takes what waits and runs it as one batch.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt as _;
use handoff_engine::store::Topic;
use handoff_protocol::id::TenantId;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
    batch::{self, Desk},
    link::Link,
    member::Member,
    options::PostgresOptions,
    pool::Lease,
    stats::Counters,
    trouble::Trouble,
    waiting::Waiting,
    wakes::Wakes,
};

/// What workers share.
pub(crate) struct Writers {
    pub(crate) link: Link,
    pub(crate) options: PostgresOptions,
    pub(crate) counters: Counters,
    trouble: Trouble,
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
            trouble: Trouble::default(),
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
        let mut begun: Option<(Lease, SemaphorePermit<'_>)> = None;
        loop {
            let (lease, permit) = match begun.take() {
                Some((lease, permit)) => (Some(lease), permit),
                // A closed semaphore means that the store is going away, and so is everybody who waits.
                None => match self.permits.acquire().await {
                    Ok(permit) => (None, permit),
                    Err(_) => return,
                },
            };
            let Some(members) = self.waiting.take(&tenant, self.options.batch) else { return };
            // A defect here costs its own batch, whose callers are told that nobody knows, and no other.
            match AssertUnwindSafe(self.run(tenant, members, lease)).catch_unwind().await {
                Ok(lease) => begun = lease.map(|lease| (lease, permit)),
                Err(_) => tracing::error!("a batch of the store panicked"),
            }
        }
    }

    /// Whether this tenant has more to write and no other waits for the connection.
    fn goes_on(&self, tenant: TenantId) -> bool {
        self.permits.available_permits() > 0 && self.waiting.has_more(&tenant)
    }

    /// Runs a batch, on a connection where its transaction has begun if there is one; answers likewise for the next.
    async fn run(&self, tenant: TenantId, mut members: Vec<Member>, mut begun: Option<Lease>) -> Option<Lease> {
        let more = || self.goes_on(tenant);
        let desk = Desk {
            link: &self.link,
            options: &self.options,
            counters: &self.counters,
            trouble: &self.trouble,
            more: &more,
        };
        let moved_at = batch::run(desk, tenant, &mut members, &mut begun).await;
        let topics: Vec<Topic> = members.iter_mut().flat_map(Member::topics).collect();
        // Whoever is woken reads the commit, and whoever is answered finds others woken.
        self.wakes.touched(tenant, moved_at, topics);
        members.into_iter().for_each(Member::answer);
        begun
    }
}

impl std::fmt::Debug for Writers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Writers").field("options", &self.options).finish_non_exhaustive()
    }
}
