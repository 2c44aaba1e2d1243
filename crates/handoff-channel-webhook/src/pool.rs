//! Connections that wait for the next post to the same receiver.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use tokio::time::Instant;

use crate::connection::Target;

/// How long a connection waits: shorter than servers usually do, so that few are closed while they are taken.
const WAITS: Duration = Duration::from_secs(15);
/// How many wait for one receiver.
const OF_ONE: usize = 8;
/// How many receivers have connections that wait.
const RECEIVERS: usize = 128;

/// Connections that wait.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    waiting: Mutex<HashMap<Target, Vec<Waiting>>>,
}

#[derive(Debug)]
struct Waiting {
    sender: SendRequest<Full<Bytes>>,
    until: Instant,
}

impl Pool {
    /// A connection that was alive when it was last looked at.
    pub(crate) fn take(&self, target: &Target) -> Option<SendRequest<Full<Bytes>>> {
        let mut waiting = self.lock();
        let of_target = waiting.get_mut(target)?;
        let now = Instant::now();
        while let Some(Waiting { sender, until }) = of_target.pop() {
            if now < until && !sender.is_closed() {
                return Some(sender);
            }
        }
        waiting.remove(target);
        None
    }

    /// Keeps a connection whose last response was read to its end.
    pub(crate) fn keep(&self, target: Target, sender: SendRequest<Full<Bytes>>) {
        if sender.is_closed() {
            return;
        }
        let mut waiting = self.lock();
        let now = Instant::now();
        if waiting.len() >= RECEIVERS && !waiting.contains_key(&target) {
            waiting.retain(|_, of_one| of_one.iter().any(|one| now < one.until && !one.sender.is_closed()));
            if waiting.len() >= RECEIVERS {
                return;
            }
        }
        let of_target = waiting.entry(target).or_default();
        of_target.retain(|one| now < one.until && !one.sender.is_closed());
        if of_target.len() < OF_ONE {
            of_target.push(Waiting { sender, until: now + WAITS });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Target, Vec<Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
