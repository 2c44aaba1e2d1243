//! What somebody who does not want to wait sends.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for the signals that end a program, from when it is made: a program that listens is not ended by them, so that it
/// can end what it started.
#[derive(Debug)]
pub struct Interruption {
    signals: [Signal; 3],
}

impl Interruption {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// The operating system does not let it.
    pub fn listen() -> io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Self { signals: [interrupt?, terminate?, hangup?] })
    }

    /// Waits for the first of them.
    pub async fn came(mut self) {
        let [interrupt, terminate, hangup] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
