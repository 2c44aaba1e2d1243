//! The DevTools protocol over pipes: JSON messages that end with a zero byte.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Write as _},
    process::{ChildStdin, ChildStdout},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use serde_json::{Value, json};

use crate::BrowserError;

/// How long an answer may take; a loaded machine is slow, and nothing waits on purpose.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a browser. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Pipe(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    to: Mutex<ChildStdin>,
    next: AtomicU64,
    incoming: Arc<Mutex<Incoming>>,
}

/// What is expected, and what came unasked.
#[derive(Debug, Default)]
struct Incoming {
    waiting: HashMap<u64, Sender<Value>>,
    events: Vec<Value>,
    is_over: bool,
}

impl Pipe {
    /// Reads on a thread of its own until the browser hangs up.
    pub(crate) fn new(to: ChildStdin, from: ChildStdout) -> Self {
        let incoming = Arc::new(Mutex::new(Incoming::default()));
        let reader = Arc::clone(&incoming);
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            let mut message = Vec::new();
            while from.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                if message.last() == Some(&0) {
                    message.pop();
                }
                if let Ok(message) = serde_json::from_slice(&message) {
                    lock(&reader).take(message);
                }
                message.clear();
            }
            let mut incoming = lock(&reader);
            incoming.is_over = true;
            // Whoever waits learns of it by the end of the channel.
            incoming.waiting.clear();
        });
        Self(Arc::new(Shared { to: Mutex::new(to), next: AtomicU64::new(1), incoming }))
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn call(&self, session: Option<&str>, method: &str, parameters: &Value) -> Result<Value, BrowserError> {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let mut command = json!({ "id": id, "method": method, "params": parameters });
        if let (Some(session), Some(members)) = (session, command.as_object_mut()) {
            members.insert("sessionId".to_owned(), Value::from(session));
        }
        let answer = self.expect(id)?;
        let mut bytes = command.to_string().into_bytes();
        bytes.push(0);
        self.0.to.lock().unwrap_or_else(PoisonError::into_inner).write_all(&bytes).map_err(|_| BrowserError::Gone)?;
        let mut answer = answer.recv_timeout(PATIENCE).map_err(|_| BrowserError::Gone)?;
        match answer.get("error") {
            Some(error) => {
                let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason");
                Err(BrowserError::Refused { method: method.to_owned(), message: message.to_owned() })
            }
            None => Ok(answer.get_mut("result").map(Value::take).unwrap_or_default()),
        }
    }

    /// The events of one kind that a session had so far.
    pub(crate) fn events(&self, session: &str, method: &str) -> Vec<Value> {
        let is_wanted = |event: &&Value| {
            event.get("method").and_then(Value::as_str) == Some(method)
                && event.get("sessionId").and_then(Value::as_str) == Some(session)
        };
        lock(&self.0.incoming).events.iter().filter(is_wanted).cloned().collect()
    }

    fn expect(&self, id: u64) -> Result<Receiver<Value>, BrowserError> {
        let mut incoming = lock(&self.0.incoming);
        if incoming.is_over {
            return Err(BrowserError::Gone);
        }
        let (sender, receiver) = channel();
        incoming.waiting.insert(id, sender);
        Ok(receiver)
    }
}

impl Incoming {
    fn take(&mut self, message: Value) {
        match message.get("id").and_then(Value::as_u64) {
            Some(id) => {
                if let Some(waiting) = self.waiting.remove(&id) {
                    let _ = waiting.send(message);
                }
            }
            None => self.events.push(message),
        }
    }
}

fn lock(incoming: &Mutex<Incoming>) -> MutexGuard<'_, Incoming> {
    incoming.lock().unwrap_or_else(PoisonError::into_inner)
}
