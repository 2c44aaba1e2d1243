//! The grants and sessions of a request, loaded for a transition, and what providers saw of them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use handoff_protocol::{
    decision::{
        DecisionError, Request,
        capability::{Capabilities, Grant, GrantSession, Usage},
    },
    id::{GrantHandle, SessionRef},
};

use super::keys;
use crate::{
    document::Kept,
    engine::Engine,
    store::{IndexRead, Reads},
    transaction::{Halt, View},
};

/// More sessions than the grants of a request can have, amendments aside; a receipt lists no more.
const SESSIONS: usize = 4_000;

/// The open grants of a request and all its sessions, as they were read.
#[derive(Debug, Default)]
pub(super) struct Held {
    grants: Vec<Kept<Grant>>,
    sessions: Vec<Kept<GrantSession>>,
}

impl Held {
    /// Loads what a request holds; nothing is read for one that was never granted anything.
    pub(super) fn load<E>(view: &View<'_>, request: &Request) -> Result<Self, Halt<E>> {
        if !request.granted {
            return Ok(Self::default());
        }
        Ok(Self {
            grants: view.get_all(&request.open_grants)?,
            sessions: view.scan(IndexRead {
                index: keys::SESSIONS,
                prefix: keys::by_id(request.id),
                limit: SESSIONS,
            })?,
        })
    }

    /// The same as the transitions know them.
    pub(super) fn capabilities(&self) -> Capabilities {
        Capabilities {
            grants: self.grants.iter().map(|kept| kept.document.clone()).collect(),
            sessions: self.sessions.iter().map(|kept| kept.document.clone()).collect(),
        }
    }

    /// A grant as it was read.
    pub(super) fn grant(&self, handle: GrantHandle) -> Option<&Kept<Grant>> {
        self.grants.iter().find(|kept| kept.document.handle == handle)
    }

    /// A session as it was read.
    pub(super) fn session(&self, session: SessionRef) -> Option<&Kept<GrantSession>> {
        self.sessions.iter().find(|kept| kept.document.session_ref == session)
    }

    /// Adds a grant that is not open any more, where the caller wants to write it.
    pub(super) fn with_grant(mut self, grant: Kept<Grant>) -> Self {
        if self.grant(grant.document.handle).is_none() {
            self.grants.push(grant);
        }
        self
    }
}

/// What providers saw of open sessions. A step runs under a lock and cannot ask, so it says whom it wants asked, ends,
/// and runs again with the answers.
#[derive(Clone, Default)]
pub(super) struct Seen {
    known: Option<Arc<HashMap<SessionRef, Option<Usage>>>>,
    wanted: Arc<Mutex<Vec<(Grant, SessionRef)>>>,
}

impl Seen {
    /// Puts what was seen into the sessions of a request.
    ///
    /// # Errors
    ///
    /// Ends the step if the providers were not asked yet.
    pub(super) fn fill(&self, capabilities: &mut Capabilities) -> Result<(), Halt<DecisionError>> {
        let open = |session: &&mut GrantSession| session.is_open();
        match &self.known {
            Some(known) => {
                for session in capabilities.sessions.iter_mut().filter(open) {
                    if let Some(Some(usage)) = known.get(&session.session_ref) {
                        session.usage = Some(usage.clone());
                    }
                }
                Ok(())
            }
            None => {
                let wanted: Vec<(Grant, SessionRef)> = capabilities
                    .sessions
                    .iter()
                    .filter(|session| session.is_open())
                    .filter_map(|session| Some((capabilities.grant(session.handle)?.clone(), session.session_ref)))
                    .collect();
                if wanted.is_empty() {
                    return Ok(());
                }
                *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = wanted;
                Err(DecisionError::Internal.into())
            }
        }
    }

    /// Asks the providers that a step wanted asked; nothing if it wanted none.
    pub(super) async fn ask(&self, engine: &Engine) -> Option<Self> {
        let wanted = std::mem::take(&mut *self.wanted.lock().unwrap_or_else(PoisonError::into_inner));
        if wanted.is_empty() {
            return None;
        }
        let asked = wanted
            .iter()
            .map(|(grant, session)| async { (*session, engine.inner.providers.usage(grant, *session).await) });
        let known = futures::future::join_all(asked).await.into_iter().collect();
        Some(Self { known: Some(Arc::new(known)), wanted: Arc::default() })
    }
}

/// The reads that nearly every step on capabilities begins with.
pub(super) fn reads(handle: GrantHandle) -> Reads {
    Reads::none().record(crate::store::RecordKey::new(keys::GRANT, handle))
}
