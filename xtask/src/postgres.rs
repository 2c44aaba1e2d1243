//! The database that tests run against: one cluster for a whole run, since the runner starts a process for each test.
//!
//! It is made by the program that tests without a runner use as well, and goes when that program's input ends, so also
//! when this process is killed.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::failure::Failure;
use crate::run::{Run, show};

/// The variable that tells the tests where the cluster is.
const VARIABLE: &str = "HANDOFF_TEST_POSTGRES";

/// The package whose program starts a cluster.
const PACKAGE: &str = "handoff-postgres-cluster";

/// A cluster that runs until this is dropped, or one that somebody else runs.
#[derive(Debug)]
pub(crate) struct Postgres {
    address: String,
    ours: Option<Started>,
}

#[derive(Debug)]
struct Started {
    process: Child,
    pipe: Option<ChildStdin>,
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // It removes everything before it ends.
        let _ = self.process.wait();
    }
}

impl Postgres {
    /// Takes the cluster that the variable names, or starts one. Root has the server installed where it is missing.
    ///
    /// # Errors
    ///
    /// [`Failure::NoPostgres`] with what is to be done.
    pub(crate) fn start(run: &Run) -> Result<Self, Failure> {
        if let Some(address) = env::var(VARIABLE).ok().filter(|address| !address.is_empty()) {
            println!("    Postgres: the cluster that {VARIABLE} names");
            return Ok(Self { address, ours: None });
        }
        // Built by itself first, so that what the compiler says is seen.
        show(&mut run.cargo(&["build", "--quiet", "--package", PACKAGE]))?;
        let mut command = run.cargo(&["run", "--quiet", "--package", PACKAGE]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = command.spawn();
        let mut process = started.map_err(|source| Failure::Start { command: PACKAGE.to_owned(), source })?;
        let pipe = process.stdin.take();
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            // Without a line there is none that could be read.
            let _ = BufReader::new(output).read_line(&mut line);
        }
        let ours = Started { process, pipe };
        let address = line.trim();
        if !address.starts_with("postgres://") {
            return Err(Failure::NoPostgres(address.trim_start_matches("error: ").to_owned()));
        }
        println!("    Postgres: a cluster of this run at {address}, removed afterwards");
        Ok(Self { address: address.to_owned(), ours: Some(ours) })
    }

    /// Tells a command where it is.
    pub(crate) fn hand_to<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        command.env(VARIABLE, &self.address)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.ours.take().is_some() {
            println!("    Postgres: the cluster of this run is stopped and removed");
        }
    }
}
