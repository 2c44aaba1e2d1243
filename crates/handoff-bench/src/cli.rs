//! The command line.

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::{Args, Parser, Subcommand};
use handoff_postgres_cluster::{Cluster, Settings};
use handoff_protocol::callback::CallbackSecret;

use crate::{
    error::BenchError,
    scenario::{Scenario, Size, Source},
    spawn::{self, Recipe},
    target::{self, Pair, Target},
};

/// Loads a server of the decision contract, and says what it bore.
#[derive(Debug, Parser)]
#[command(name = "handoff-bench", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a server
    Run(Box<Run>),
    /// Print a page out of the files of several runs: the median of each figure, against the floors
    Report {
        /// What `run --json` wrote
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// Which server, what, and how much of it.
#[derive(Args, Debug)]
pub(crate) struct Run {
    /// Measure only these; all of them unless named
    #[arg(long = "scenario", value_delimiter = ',')]
    pub(crate) scenarios: Vec<Scenario>,

    /// Base address of a server that runs, without `/v1`
    #[arg(long, env = "HANDOFF_URL", conflicts_with = "spawn")]
    url: Option<String>,

    /// File with a machine's and a person's token for each tenant
    #[arg(long)]
    credentials: Option<PathBuf>,

    /// Token of a machine, where one tenant is enough
    #[arg(long, env = "HANDOFF_API_KEY", hide_env_values = true, requires = "person_token")]
    api_key: Option<String>,

    /// Token of a person in the same tenant
    #[arg(long, env = "HANDOFF_PERSON_TOKEN", hide_env_values = true)]
    person_token: Option<String>,

    /// Base address of a second server over the same database, for what is told from one to the other
    #[arg(long, requires = "url")]
    second_url: Option<String>,

    /// Process of the server, where it runs on this machine, to measure what it uses
    #[arg(long)]
    pid: Option<u32>,

    /// Start a handoffd for each measurement: the one beside this program, or the one named
    #[arg(long, num_args = 0..=1, value_name = "PROGRAM")]
    spawn: Option<Option<PathBuf>>,

    /// Let the server that is started keep its data in Postgres, a fresh database each time: in a cluster that is started
    /// for this, or in the one at the address of a superuser
    #[arg(long, num_args = 0..=1, value_name = "ADDRESS", requires = "spawn")]
    postgres: Option<Option<String>>,

    /// Check with `handoffd fsck` what each server that was started left, and fail if it is not sound
    #[arg(long, requires = "spawn")]
    check: bool,

    /// Variable for the server that is started, `NAME=VALUE`
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = variable)]
    variables: Vec<(String, String)>,

    /// What the server signs callbacks with, separated by commas; one that is started gets a new one unless given
    #[arg(long, env = "HANDOFF_CALLBACK_SECRETS", hide_env_values = true, value_delimiter = ',')]
    callback_secrets: Vec<String>,

    /// Where the store of a started server lies; the disk matters
    #[arg(long)]
    directory: Option<PathBuf>,

    /// Write everything that was measured to this file
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,

    /// How many call at once
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 32, 64])]
    workers: Vec<usize>,

    /// In how many tenants
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8])]
    tenants: Vec<usize>,

    /// How many seconds each measurement takes
    #[arg(long, default_value_t = 5)]
    seconds: u64,

    /// How many requests are pending when they are listed
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000])]
    pending: Vec<u64>,

    /// To how many receipts a tenant grows
    #[arg(long, default_value_t = 200_000)]
    receipts: u64,

    /// How many polls are held
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000])]
    polls: Vec<usize>,

    /// Answers a second that those with ladder and callbacks are held against; those with the page alone unless given
    #[arg(long, value_name = "A_SECOND")]
    base_answers: Option<f64>,

    /// How many requests expire, raised at 500 a second
    #[arg(long, default_value_t = 5_000)]
    expiries: u32,

    /// How many receivers callbacks go to, of which every fifth fails
    #[arg(long, default_value_t = 1_000)]
    receivers: usize,

    /// How many seconds the soak takes
    #[arg(long, default_value_t = 600)]
    soak: u64,
}

impl Run {
    pub(crate) fn size(&self) -> Size {
        Size {
            workers: self.workers.clone(),
            tenants: self.tenants.clone(),
            time: Duration::from_secs(self.seconds),
            pending: self.pending.clone(),
            receipts: self.receipts,
            polls: self.polls.clone(),
            base_answers: self.base_answers,
            expiries: self.expiries,
            receivers: self.receivers,
            soak: Duration::from_secs(self.soak),
        }
    }

    /// What callbacks are signed with: what is set for the server goes before what is said of it.
    fn secrets(&self) -> Vec<CallbackSecret> {
        let set = self.variables.iter().rev().find(|(name, _)| name == "HANDOFF_CALLBACK_SECRETS");
        let texts =
            set.map_or_else(|| self.callback_secrets.clone(), |(_, list)| list.split(',').map(str::to_owned).collect());
        // Empty ones are none, as the server reads them.
        texts.iter().filter_map(|text| CallbackSecret::new(text.trim()).ok()).collect()
    }

    fn cluster(&self) -> Result<Option<Arc<Cluster>>, BenchError> {
        let cluster = match &self.postgres {
            None => return Ok(None),
            Some(None) => Cluster::start(&Settings::default()),
            Some(Some(address)) => Cluster::at(address),
        };
        Ok(Some(Arc::new(cluster?)))
    }

    pub(crate) fn source(&self) -> Result<Source, BenchError> {
        let mut secrets = self.secrets();
        if let Some(program) = &self.spawn {
            let beside = || Ok(std::env::current_exe()?.with_file_name("handoffd"));
            let program = program.clone().map_or_else(beside, Ok);
            if secrets.is_empty() {
                secrets.extend(CallbackSecret::new(spawn::token()?));
            }
            return Ok(Source::Fresh(Recipe {
                program: program.map_err(BenchError::system("this program does not know where it stands"))?,
                within: self.directory.clone().unwrap_or_else(std::env::temp_dir),
                tenants: self.tenants.iter().copied().max().unwrap_or(1).max(8),
                variables: self.variables.clone(),
                secrets,
                postgres: self.cluster()?,
                check: self.check.then(Arc::default),
            }));
        }
        let pairs = match (&self.credentials, &self.api_key, &self.person_token) {
            (Some(path), _, _) => target::read_credentials(path)?,
            (None, Some(machine), Some(person)) => vec![Pair { machine: machine.clone(), person: person.clone() }],
            _ => return Err(BenchError::NoCredentials),
        };
        let url = self.url.as_deref().ok_or(BenchError::Url("is missing; or give `--spawn`"))?;
        let second = self.second_url.as_deref().map(|url| Target::new(url, &pairs, None)).transpose()?;
        let second = second.map(|second| Box::new(second.signing(secrets.clone())));
        Ok(Source::There(Target::new(url, &pairs, self.pid)?.signing(secrets), second))
    }
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn what_is_set_for_the_server_is_what_pushes_are_verified_with() {
        let secrets = |arguments: &[&str]| {
            let line = [&["handoff-bench", "run", "--spawn"], arguments].concat();
            let Command::Run(run) = Arguments::parse_from(line).command else { panic!("not a run") };
            run.secrets().iter().map(|secret| secret.expose().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(secrets(&["--callback-secrets", "whsec_a,whsec_b"]), ["whsec_a", "whsec_b"]);
        let set = ["--callback-secrets", "whsec_a", "--set", "HANDOFF_CALLBACK_SECRETS=whsec_c, whsec_d,"];
        assert_eq!(secrets(&set), ["whsec_c", "whsec_d"]);
    }
}
