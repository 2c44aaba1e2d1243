//! Reads by key that are asked together: one question under way for each tenant, and whoever comes meanwhile shares the next.
//!
//! Most calls of a server begin with the same few small reads, of who it is that calls. Each as a question of its own costs
//! the database many times what the rows cost. A read is part of a question that is sent after it came, so it sees every
//! commit before it; nothing is kept from one question to the next.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use handoff_engine::store::{Record, RecordKey, StoreError};
use handoff_protocol::id::TenantId;
use tokio::sync::oneshot;

use crate::{
    link::Link,
    read::{self, Found},
};

/// How many keys one question names, as far as it is not a single read that names more.
const KEYS: usize = 256;

/// A read, and who waits for it.
#[derive(Debug)]
struct Ask {
    keys: Vec<RecordKey>,
    reply: oneshot::Sender<Result<Vec<Option<Record>>, StoreError>>,
}

/// Tenants about which somebody asks, with what waits in each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gather(Arc<Mutex<HashMap<TenantId, Vec<Ask>>>>);

impl Gather {
    /// Records in the order asked, of one snapshot.
    pub(crate) async fn records(
        &self,
        link: &Link,
        tenant: &TenantId,
        keys: &[RecordKey],
    ) -> Result<Vec<Option<Record>>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (reply, answer) = oneshot::channel();
        let ask = Ask { keys: keys.to_vec(), reply };
        match self.waiting().entry(*tenant) {
            Entry::Occupied(mut asks) => asks.get_mut().push(ask),
            Entry::Vacant(place) => {
                place.insert(vec![ask]);
                tokio::spawn(self.clone().work(link.clone(), *tenant));
            }
        }
        answer.await.map_err(|_| StoreError::Unavailable("the read was not done".to_owned()))?
    }

    async fn work(self, link: Link, tenant: TenantId) {
        let mut leaving = Leaving { gather: &self, tenant, done: false };
        loop {
            // Whatever else is ready to run may bring a read that can go along.
            tokio::task::yield_now().await;
            let Some(asks) = self.take(tenant) else { break };
            answer(&link, &tenant, asks).await;
        }
        leaving.done = true;
    }

    /// What waits now; nothing, and nobody asks about the tenant any more.
    fn take(&self, tenant: TenantId) -> Option<Vec<Ask>> {
        let mut waiting = self.waiting();
        let asks = waiting.get_mut(&tenant)?;
        if asks.is_empty() {
            waiting.remove(&tenant);
            return None;
        }
        let mut keys = 0_usize;
        let fit = asks.iter().take_while(|ask| {
            keys = keys.saturating_add(ask.keys.len());
            keys <= KEYS
        });
        let many = fit.count().max(1);
        Some(asks.drain(..many).collect())
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<TenantId, Vec<Ask>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When work ends in a panic whoever waits is told, by the loss of the reply, and the next who comes begins anew.
struct Leaving<'a> {
    gather: &'a Gather,
    tenant: TenantId,
    done: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.gather.waiting().remove(&self.tenant);
        }
    }
}

async fn answer(link: &Link, tenant: &TenantId, asks: Vec<Ask>) {
    // Who went away wants nothing.
    let asks: Vec<Ask> = asks.into_iter().filter(|ask| !ask.reply.is_closed()).collect();
    // Each key once: callers ask for the same.
    let mut places = BTreeMap::new();
    for key in asks.iter().flat_map(|ask| &ask.keys) {
        let next = places.len();
        places.entry(key).or_insert(next);
    }
    let mut keys: Vec<_> = places.iter().collect();
    keys.sort_unstable_by_key(|(_, place)| **place);
    let keys: Vec<&RecordKey> = keys.into_iter().map(|(key, _)| *key).collect();
    if keys.is_empty() {
        return;
    }
    let found = read::records(link, tenant, &keys).await;
    let answers: Vec<_> = asks.iter().map(|ask| pick(&found, &places, &ask.keys)).collect();
    for (ask, answer) in asks.into_iter().zip(answers) {
        // An error means that the caller went away.
        let _ = ask.reply.send(answer);
    }
}

/// The records of one read, of all that were found.
fn pick(
    found: &Result<Vec<Found>, StoreError>,
    places: &BTreeMap<&RecordKey, usize>,
    keys: &[RecordKey],
) -> Result<Vec<Option<Record>>, StoreError> {
    let found = found.as_ref().map_err(again)?;
    let one = |key| match places.get(key).and_then(|place| found.get(*place)) {
        Some(Ok(record)) => Ok(record.clone()),
        Some(Err(error)) => Err(again(error)),
        None => Ok(None),
    };
    keys.iter().map(one).collect()
}

/// The same failure once more, for another who waits.
fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Corrupt(text) => StoreError::Corrupt(text.clone()),
        StoreError::Conflict(text) => StoreError::Conflict(text.clone()),
        StoreError::Unavailable(text) => StoreError::Unavailable(text.clone()),
        other => StoreError::Unavailable(other.to_string()),
    }
}
