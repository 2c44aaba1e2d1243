//! What can be measured, one file a scenario.

mod flow;
mod idle;
mod pending;
mod receipts;
mod soak;
mod verify;
mod wake;

use std::time::Duration;

use clap::ValueEnum;

use crate::{
    error::BenchError,
    limits,
    outcome::Measurement,
    spawn::{Recipe, Spawned},
    target::Target,
};

/// What is measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// What the machine itself can do: commits, signatures, round trips
    Limits,
    /// Raising
    Raise,
    /// Answering what was raised before
    Answer,
    /// The whole life of a request: raise, answer, poll, acknowledge, redeem
    Cycle,
    /// From an answer to the held poll that it ends
    Wake,
    /// Listing and paging with many requests pending, and starting over them
    Pending,
    /// Growing to many receipts, paging over them, and verifying them
    Receipts,
    /// Raising beside polls that are held and find nothing
    Idle,
    /// Cycles for long, with an eye on memory
    Soak,
}

/// How large a run is.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    pub(crate) workers: Vec<usize>,
    pub(crate) tenants: Vec<usize>,
    pub(crate) time: Duration,
    pub(crate) pending: Vec<u64>,
    pub(crate) receipts: u64,
    pub(crate) polls: Vec<usize>,
    pub(crate) soak: Duration,
}

/// Where the server of a measurement comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// It runs already, and is loaded as it is.
    There(Target),
    /// A fresh one is started for each measurement.
    Fresh(Recipe),
}

/// The server of one measurement.
pub(crate) struct Server {
    target: Target,
    spawned: Option<Spawned>,
}

impl Source {
    pub(crate) async fn server(&self) -> Result<Server, BenchError> {
        match self {
            Self::There(target) => Ok(Server { target: target.clone(), spawned: None }),
            Self::Fresh(recipe) => {
                let spawned = Spawned::start(recipe).await?;
                Ok(Server { target: spawned.target.clone(), spawned: Some(spawned) })
            }
        }
    }
}

impl Server {
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }
}

/// Runs a scenario, telling each measurement as it is made.
pub(crate) async fn run(
    scenario: Scenario,
    source: &Source,
    size: &Size,
    tell: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    match scenario {
        Scenario::Limits => limits::measure(size.time, tell).await,
        Scenario::Raise | Scenario::Answer | Scenario::Cycle => flow::measure(scenario, source, size, tell).await,
        Scenario::Wake => wake::measure(source, size, tell).await,
        Scenario::Pending => pending::measure(source, size, tell).await,
        Scenario::Receipts => receipts::measure(source, size, tell).await,
        Scenario::Idle => idle::measure(source, size, tell).await,
        Scenario::Soak => soak::measure(source, size, tell).await,
    }
}

/// Bytes in the unit that people read.
fn megabytes(bytes: u64) -> f64 {
    kilobytes(bytes) / 1024.0
}

/// Bytes in the unit for small things.
#[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^53")]
fn kilobytes(bytes: u64) -> f64 {
    bytes as f64 / 1024.0
}
