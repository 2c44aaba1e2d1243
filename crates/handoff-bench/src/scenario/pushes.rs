//! What becomes of pushes: each is verified, held against the answer that it tells of, and acknowledged.

use std::{
    cell::RefCell,
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use handoff_protocol::callback::CallbackSecret;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::{
    error::BenchError,
    load::{self, Worker},
    receiver::{Deliveries, Push, Seen},
    tally::Tally,
    target::Target,
    wire::Signal,
};

/// How many acknowledge at once.
const ACKNOWLEDGING: usize = 32;

/// How many pushes are taken at once, so that the first is acknowledged well before it is repeated.
const BATCH: usize = 256;

/// How long nothing may come before what is missing is given up.
const PATIENCE: Duration = Duration::from_secs(15);

/// Longer than the first repetition of a push takes, with its jitter.
const REPEATED: Duration = Duration::from_secs(3);

/// Answers that are pushed and did not arrive yet, by their requests: when each was sent, and in which tenant.
#[derive(Debug, Default)]
pub(super) struct Answered {
    sent: RefCell<HashMap<String, (Instant, usize)>>,
}

/// Where pushes arrive.
pub(super) struct Collector<'a> {
    secrets: &'a [CallbackSecret],
    answered: &'a Answered,
    pushes: UnboundedReceiver<Push>,
    acknowledging: Vec<Worker>,
    queues: Vec<RefCell<VecDeque<Signal>>>,
    pub(super) deliveries: Deliveries,
    given_up: bool,
    /// From each answer to its push, since this was last taken.
    pub(super) tally: Tally,
}

impl Answered {
    /// Takes note of an answer that is sent now.
    pub(super) fn send(&self, request: &str, tenant: usize) {
        self.sent.borrow_mut().insert(request.to_owned(), (Instant::now(), tenant));
    }

    /// How many have not been pushed.
    fn left(&self) -> usize {
        self.sent.borrow().len()
    }
}

impl<'a> Collector<'a> {
    /// Somebody who waits for pushes, and the end that receivers put them in.
    pub(super) async fn open(
        target: &'a Target,
        tenants: usize,
        answered: &'a Answered,
    ) -> Result<(Self, UnboundedSender<Push>), BenchError> {
        let (sender, pushes) = unbounded_channel();
        let collector = Self {
            secrets: &target.secrets,
            answered,
            pushes,
            acknowledging: load::open(target, ACKNOWLEDGING.max(tenants), tenants).await?,
            queues: (0..tenants).map(|_| RefCell::default()).collect(),
            deliveries: Deliveries::default(),
            given_up: false,
            tally: Tally::new()?,
        };
        Ok((collector, sender))
    }

    /// How many came that were not looked at yet.
    pub(super) fn waiting(&self) -> usize {
        self.pushes.len()
    }

    /// Takes pushes until so many were counted, or none came for long. What is still missing then counts with the time
    /// that it was waited for; the answer says how many those are.
    pub(super) async fn collect(&mut self, wanted: u64) -> Result<u32, BenchError> {
        while self.tally.count() < wanted {
            let mut batch = Vec::with_capacity(BATCH);
            match tokio::time::timeout(PATIENCE, self.pushes.recv_many(&mut batch, BATCH)).await {
                Ok(1..) => self.take(&batch).await?,
                Ok(0) | Err(_) => break,
            }
        }
        let missing = self.answered.left();
        self.given_up |= missing > 0;
        for (_, (sent, _)) in self.answered.sent.borrow_mut().drain() {
            self.tally.record(sent.elapsed());
        }
        Ok(u32::try_from(missing).unwrap_or(u32::MAX))
    }

    /// Waits a little for pushes that should not come any more.
    pub(super) async fn linger(&mut self) -> Result<(), BenchError> {
        let end = tokio::time::Instant::now() + REPEATED;
        let mut batch = Vec::with_capacity(BATCH);
        while let Ok(1..) = tokio::time::timeout_at(end, self.pushes.recv_many(&mut batch, BATCH)).await {
            self.take(&batch).await?;
            batch.clear();
        }
        Ok(())
    }

    async fn take(&mut self, batch: &[Push]) -> Result<(), BenchError> {
        for push in batch {
            let pushed = push.verify(self.secrets)?;
            if self.deliveries.see(pushed.delivery, pushed.at) == Seen::Again {
                continue;
            }
            let answer = self.answered.sent.borrow_mut().remove(&pushed.request);
            let Some((sent, tenant)) = answer else {
                // It may be one that counted as missing before.
                if self.given_up {
                    continue;
                }
                return Err(BenchError::Nonsense("a push told of a request that was not answered".to_owned()));
            };
            self.tally.record(pushed.at.saturating_duration_since(sent));
            if let Some(queue) = self.queues.get(tenant) {
                queue.borrow_mut().push_back(pushed.signal);
            }
        }
        self.acknowledge().await
    }

    /// Oldest first, so that none is repeated for having waited.
    async fn acknowledge(&mut self) -> Result<(), BenchError> {
        let queues = &self.queues;
        try_join_all(self.acknowledging.iter_mut().map(|worker| async move {
            while let Some(signal) = queues.get(worker.tenant).and_then(|queue| queue.borrow_mut().pop_front()) {
                worker.client.acknowledge(&signal).await?;
            }
            Ok(())
        }))
        .await
        .map(drop)
    }
}

/// What is said when nothing was pushed at all.
pub(super) fn nothing_came() -> BenchError {
    let seconds = PATIENCE.as_secs();
    let mend = "the server must sign and reach 127.0.0.1 of this machine, without a guard for callbacks";
    BenchError::Lacking(format!("no push came within {seconds} seconds; {mend}"))
}
