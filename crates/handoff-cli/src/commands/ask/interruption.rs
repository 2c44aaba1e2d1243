//! A signal while waiting: the way back is told, and a question that is asked only while somebody waits is given up.

use std::time::Duration;

use handoff_client::Client;
use handoff_protocol::{
    decision::{
        WaiterRef,
        terms::{Liveness, WaiterTerminal},
        view::RequestView,
    },
    id::RequestId,
};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{exit::Exit, failure::Failure, output};

/// How long the server may take to hear of the end: whoever pressed Ctrl-C wants to leave.
const PATIENCE: Duration = Duration::from_secs(3);

/// The signals that ask a program to end. From when it is made, none of them ends the process by itself.
pub(super) struct Signals {
    #[cfg(unix)]
    hangup: Signal,
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

impl Signals {
    #[cfg(unix)]
    pub(super) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| Failure::failed(format!("the system's signals cannot be received: {error}")))
        };
        Ok(Self {
            hangup: listen(SignalKind::hangup())?,
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for the first of them.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.hangup.recv() => Exit::HungUp,
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
        }
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> Result<Self, Failure> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Exit {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Exit::Interrupted
    }
}

/// Who stops waiting, and for what.
pub(super) struct Waiter {
    request: RequestId,
    waiter_ref: WaiterRef,
    liveness: Liveness,
    at_its_end: WaiterTerminal,
}

impl Waiter {
    pub(super) fn of(request: &RequestView) -> Self {
        Self {
            request: request.id,
            waiter_ref: request.waiter_ref.clone(),
            liveness: request.liveness,
            at_its_end: request.on_waiter_terminal,
        }
    }

    /// Says how to go on, and tells the server of a leased waiter's end (rule W6).
    pub(super) async fn leave(&self, client: &Client) {
        let go_on = format!("go on with: handoff ask --resume {}", self.request);
        if self.liveness == Liveness::Durable {
            output::note(&format!("no longer waiting; {go_on}"));
            return;
        }
        // Told first: the call may take a moment, and whoever is impatient may end the program before it returns.
        output::note(&go_on);
        let told = tokio::time::timeout(PATIENCE, client.report_end(&self.waiter_ref)).await;
        output::note(match (told, self.at_its_end) {
            (Ok(Ok(_)), WaiterTerminal::Cancel) => "nobody waits any more, so the question was cancelled",
            (Ok(Ok(_)), WaiterTerminal::Keep) => "nobody waits any more; the question stands",
            (_, WaiterTerminal::Cancel) => {
                "the server could not be told; 90 seconds after it last heard of this program it cancels the question"
            }
            (_, WaiterTerminal::Keep) => "the server could not be told; the question stands",
        });
    }
}
