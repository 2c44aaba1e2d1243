//! A surface that can really be reached: a resource behind the capability port, on a socket of this machine.
//!
//! Whoever has an address connects to its port and sends its key in a line; each key opens one connection. The surface
//! says `view` or `drive`, and from then on answers each line: `do THING` with `did THING`, `go ORIGIN` with
//! `at ORIGIN`, both with `only looking` for a session that may only look. When the session ends, the connection does.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use handoff_engine::capability::{CapabilityError, CapabilityProvider, OpenSession, Resource};
use handoff_protocol::{
    decision::{
        capability::{BlastRadius, Identity, Transport, Usage},
        terms::{CapabilityScope, SessionEnd, SharedWith, TransportKind},
    },
    id::{SessionRef, Ulid},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// The one resource that a surface has; every other name is unknown to it.
pub const RESOURCE: &str = "opaque:bs_4KpQ";

/// A surface on a port of its own; dropping the last clone closes it.
#[derive(Clone, Debug)]
pub struct LocalSurface {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    _listening: Arc<Listening>,
}

#[derive(Debug, Default)]
struct State {
    /// Keys that were not used yet.
    keys: HashMap<String, SessionRef>,
    sessions: HashMap<SessionRef, Session>,
    summary: Option<String>,
    failing: bool,
    given: Vec<String>,
}

#[derive(Debug)]
struct Session {
    may_act: bool,
    usage: Usage,
    closed: watch::Sender<Option<SessionEnd>>,
}

#[derive(Debug)]
struct Listening(tokio::task::JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl LocalSurface {
    /// Listens on a free port.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A connection that breaks off is over, and that is all.
                tokio::spawn(attend(stream, Arc::clone(&shared)));
            }
        });
        Ok(Self { address, state, _listening: Arc::new(Listening(listening)) })
    }

    /// Says something else of what it touches from now on.
    pub fn describe(&self, summary: impl Into<String>) {
        lock(&self.state).summary = Some(summary.into());
    }

    /// Fails every call from now on, or no more.
    pub fn fail(&self, failing: bool) {
        lock(&self.state).failing = failing;
    }

    /// Every address that it ever gave out.
    #[must_use]
    pub fn addresses(&self) -> Vec<String> {
        lock(&self.state).given.clone()
    }

    /// Why a session was closed; nothing while it is open.
    #[must_use]
    pub fn closed(&self, session: SessionRef) -> Option<SessionEnd> {
        lock(&self.state).sessions.get(&session).and_then(|session| *session.closed.borrow())
    }

    fn check(&self, resource: &Resource) -> Result<(), CapabilityError> {
        if lock(&self.state).failing {
            return Err(CapabilityError::Unavailable("the surface is told to fail".to_owned()));
        }
        if resource.resource_ref.as_deref() == Some(RESOURCE) { Ok(()) } else { Err(CapabilityError::NoSuchResource) }
    }
}

#[async_trait]
impl CapabilityProvider for LocalSurface {
    async fn blast_radius(&self, resource: &Resource) -> Result<BlastRadius, CapabilityError> {
        self.check(resource)?;
        let summary = lock(&self.state).summary.clone();
        Ok(BlastRadius {
            summary: summary.unwrap_or_else(|| "Everything this workspace's browser is signed into".to_owned()),
            shared_with: SharedWith::Space,
            principals: Some(4),
            identities: vec![Identity { origin: "mail.example.com".to_owned(), label: Some("dana".to_owned()) }],
            reversible: Some(false),
            note: None,
        })
    }

    async fn open(&self, session: &OpenSession) -> Result<Transport, CapabilityError> {
        self.check(&session.resource)?;
        let mut state = lock(&self.state);
        let place = u128::try_from(state.given.len()).unwrap_or_default();
        // Unguessable enough for a socket that only this machine reaches: the session's own 128 bits, and a count.
        let key = Ulid::from_u128(session.session.ulid().as_u128().rotate_left(64) ^ place).to_string();
        let url = format!("ws://{}/{key}", self.address);
        state.keys.insert(key, session.session);
        state.given.push(url.clone());
        state.sessions.entry(session.session).or_insert_with(|| Session {
            may_act: session.scopes.contains(&CapabilityScope::Drive),
            usage: Usage::default(),
            closed: watch::Sender::new(None),
        });
        Ok(Transport { kind: TransportKind::Websocket, url })
    }

    async fn usage(&self, session: SessionRef) -> Result<Option<Usage>, CapabilityError> {
        Ok(lock(&self.state).sessions.get(&session).map(|session| session.usage.clone()))
    }

    async fn close(&self, session: SessionRef, reason: SessionEnd) -> Result<(), CapabilityError> {
        let mut state = lock(&self.state);
        if state.failing {
            return Err(CapabilityError::Unavailable("the surface is told to fail".to_owned()));
        }
        state.keys.retain(|_, of| *of != session);
        if let Some(session) = state.sessions.get(&session) {
            session.closed.send_replace(Some(reason));
        }
        Ok(())
    }
}

/// Serves one connection until its session ends.
async fn attend(stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    let (reading, mut writing) = stream.into_split();
    let mut lines = BufReader::new(reading).lines();
    let key = lines.next_line().await?.unwrap_or_default();
    let Some((session, may_act, mut closed)) = enter(&state, &key) else {
        return writing.write_all(b"gone\n").await;
    };
    writing.write_all(if may_act { b"drive\n" } else { b"view\n" }).await?;
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line?,
            _ = closed.wait_for(Option::is_some) => return Ok(()),
        };
        let Some(line) = line else { return Ok(()) };
        let said = act(&state, session, may_act, &line);
        writing.write_all(said.as_bytes()).await?;
    }
}

/// Uses up a key.
fn enter(state: &Mutex<State>, key: &str) -> Option<(SessionRef, bool, watch::Receiver<Option<SessionEnd>>)> {
    let mut state = lock(state);
    let session = state.keys.remove(key)?;
    let known = state.sessions.get(&session)?;
    known.closed.borrow().is_none().then(|| (session, known.may_act, known.closed.subscribe()))
}

fn act(state: &Mutex<State>, session: SessionRef, may_act: bool, line: &str) -> String {
    let mut state = lock(state);
    let Some(known) = state.sessions.get_mut(&session).filter(|_| may_act) else {
        return "only looking\n".to_owned();
    };
    match line.split_once(' ') {
        Some(("go", origin)) => {
            if known.usage.navigations.last().is_none_or(|last| last != origin) {
                known.usage.navigations.push(origin.to_owned());
            }
            format!("at {origin}\n")
        }
        Some(("do", thing)) => {
            known.usage.input_events = known.usage.input_events.saturating_add(1);
            format!("did {thing}\n")
        }
        _ => "what?\n".to_owned(),
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
