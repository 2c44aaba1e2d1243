//! What can be measured, one file a scenario.

mod callback;
mod expire;
mod flow;
mod idle;
mod pending;
mod pushes;
mod receipts;
mod receivers;
mod settle;
mod soak;
mod verify;
mod wake;

pub(crate) use self::callback::{BASE, PERCENT};

use std::{sync::atomic::Ordering, time::Duration};

use clap::ValueEnum;

use crate::{
    error::BenchError,
    limits,
    load::{self, Names},
    outcome::Measurement,
    spawn::{Callbacks, Node, Recipe, Spawned},
    target::Target,
    wire::{Raised, Terms},
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
    /// From an answer at one server to the poll that it ends at another
    Across,
    /// Listing and paging with many requests pending, and starting over them
    Pending,
    /// Growing to many receipts, paging over them, and verifying them
    Receipts,
    /// Raising beside polls that are held and find nothing
    Idle,
    /// Answering with the page alone, with the ladder and with callbacks, side by side
    Callback,
    /// From a deadline to the end of the request
    Expire,
    /// From an answer to its push, with many receivers of which every fifth fails
    Receivers,
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
    pub(crate) base_answers: Option<f64>,
    pub(crate) expiries: u32,
    pub(crate) receivers: usize,
    pub(crate) soak: Duration,
}

/// Where the server of a measurement comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// It runs already, and is loaded as it is; perhaps with a second one over the same database.
    There(Target, Option<Box<Target>>),
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
        self.start(Callbacks::Without).await
    }

    /// One that pushes what a request names a callback for.
    pub(crate) async fn pushing(&self) -> Result<Server, BenchError> {
        let server = self.start(Callbacks::With).await?;
        if server.target.secrets.is_empty() {
            let mend = "give `--callback-secrets`: what the server signs callbacks with";
            return Err(BenchError::Lacking(mend.to_owned()));
        }
        Ok(server)
    }

    /// A second server over the database of the first.
    pub(crate) async fn second(&self, first: &Server) -> Result<Second, BenchError> {
        match (self, &first.spawned) {
            (Self::There(_, Some(second)), _) => Ok(Second::There(second.as_ref().clone())),
            (_, Some(spawned)) => Ok(Second::Started(spawned.second().await?)),
            _ => Err(BenchError::Lacking("give `--second-url`: another server over the same database".to_owned())),
        }
    }

    /// How many stores were checked that are not sound.
    pub(crate) fn unsound(&self) -> usize {
        let Self::Fresh(Recipe { check: Some(broken), .. }) = self else { return 0 };
        broken.load(Ordering::Relaxed)
    }

    async fn start(&self, callbacks: Callbacks) -> Result<Server, BenchError> {
        match self {
            Self::There(target, _) => Ok(Server { target: target.clone(), spawned: None }),
            Self::Fresh(recipe) => {
                let spawned = Spawned::start(recipe, callbacks).await?;
                Ok(Server { target: spawned.target.clone(), spawned: Some(spawned) })
            }
        }
    }
}

/// A further server, which runs as long as this is held if it was started here.
pub(crate) enum Second {
    There(Target),
    Started(Node),
}

impl Second {
    pub(crate) const fn target(&self) -> &Target {
        match self {
            Self::There(target) => target,
            Self::Started(node) => &node.target,
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
    let done = match scenario {
        Scenario::Limits => limits::measure(size.time, tell).await,
        Scenario::Raise | Scenario::Answer | Scenario::Cycle => flow::measure(scenario, source, size, tell).await,
        Scenario::Wake => wake::measure(source, size, tell).await,
        Scenario::Across => wake::across(source, size, tell).await,
        Scenario::Pending => pending::measure(source, size, tell).await,
        Scenario::Receipts => receipts::measure(source, size, tell).await,
        Scenario::Idle => idle::measure(source, size, tell).await,
        Scenario::Callback => callback::measure(source, size, tell).await,
        Scenario::Expire => expire::measure(source, size, tell).await,
        Scenario::Receivers => receivers::measure(source, size, tell).await,
        Scenario::Soak => soak::measure(source, size, tell).await,
    };
    match done {
        // Not every server does everything, and the other scenarios have their figures all the same.
        Err(BenchError::Lacking(why)) => {
            let name = scenario.to_possible_value();
            let name = name.as_ref().map_or("a scenario", |value| value.get_name());
            eprintln!("handoff-bench: {name} is left out: {why}");
            Ok(())
        }
        done => done,
    }
}

/// Raises one request on these terms and leaves it, to see whether the server takes them.
async fn probe(target: &Target, names: &Names, terms: Terms<'_>) -> Result<Raised, BenchError> {
    let mut workers = load::open(target, 1, 1).await?;
    let worker = workers.first_mut().ok_or(BenchError::NoCredentials)?;
    worker.client.raise_on(&names.waiter(), names.key(), terms).await.map_err(|error| match error {
        BenchError::Answer { .. } | BenchError::Unreadable { .. } => BenchError::Lacking(error.to_string()),
        error => error,
    })
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
