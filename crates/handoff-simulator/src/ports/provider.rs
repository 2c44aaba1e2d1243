//! A provider of resources that opens and closes sessions, and notes which.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use async_trait::async_trait;
use handoff_engine::capability::{CapabilityError, CapabilityProvider, OpenSession, Resource};
use handoff_protocol::{
    decision::{
        capability::{BlastRadius, Transport, Usage},
        terms::{SessionEnd, TransportKind},
    },
    id::SessionRef,
};

use super::trouble::{Behavior, Trouble};
use crate::scheduler::lock;

/// What every address that it gives out begins with; no store must ever hold one.
pub const ADDRESS: &str = "wss://surface.simulated/";

/// A provider with one resource of every name.
pub struct Surface {
    trouble: Trouble,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    opened: BTreeMap<SessionRef, u32>,
    closed: BTreeSet<SessionRef>,
}

impl Surface {
    pub(super) fn new(trouble: Trouble) -> Self {
        Self { trouble, sessions: Mutex::default() }
    }

    /// Whether it heard that a session ended.
    #[must_use]
    pub fn heard_the_end_of(&self, session: SessionRef) -> bool {
        lock(&self.sessions).closed.contains(&session)
    }

    async fn behave<T>(&self, act: impl FnOnce() -> T) -> Result<T, CapabilityError> {
        let behavior = self.trouble.port("provider failed", "provider hung").await;
        let done = (behavior == Behavior::Well || behavior == Behavior::DoesAndFails).then(act);
        match (behavior, done) {
            (Behavior::Well, Some(done)) => Ok(done),
            _ => Err(CapabilityError::Unavailable("planned".to_owned())),
        }
    }
}

#[async_trait]
impl CapabilityProvider for Surface {
    async fn blast_radius(&self, _: &Resource) -> Result<BlastRadius, CapabilityError> {
        self.behave(BlastRadius::unknown).await
    }

    async fn open(&self, session: &OpenSession) -> Result<Transport, CapabilityError> {
        let opened = || {
            let mut sessions = lock(&self.sessions);
            let times = sessions.opened.entry(session.session).or_default();
            *times = times.saturating_add(1);
            *times
        };
        let times = self.behave(opened).await?;
        let url = format!("{ADDRESS}{}/{times}", session.session);
        Ok(Transport { kind: TransportKind::Websocket, url })
    }

    async fn usage(&self, session: SessionRef) -> Result<Option<Usage>, CapabilityError> {
        let seen = || {
            let times = lock(&self.sessions).opened.get(&session).copied().unwrap_or(0);
            Some(Usage { input_events: u64::from(times), navigations: Vec::new() })
        };
        self.behave(seen).await
    }

    async fn close(&self, session: SessionRef, _: SessionEnd) -> Result<(), CapabilityError> {
        let closed = || {
            lock(&self.sessions).closed.insert(session);
        };
        self.behave(closed).await
    }
}
