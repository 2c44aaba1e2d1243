//! The command line: one file a command.

mod canonicalize;
mod command_line;
mod continuation;
mod dev;
mod failure;
mod fsck;
mod logging;
mod migrate;
mod output;
#[cfg(feature = "planted-faults")]
mod planted;
mod ready;
mod record;
mod serve;
mod settings;
mod signals;
mod verify_chain;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand, error::ErrorKind};
use handoff_engine::decision::Forget;
use handoff_protocol::id::OrgId;

use self::failure::Failure;

/// The versions of server, core and protocol. Server and core are released together.
const VERSIONS: &str = concat!(env!("CARGO_PKG_VERSION"), " (core ", env!("CARGO_PKG_VERSION"), ", protocol 0.1)");

/// The Handoff server: programs ask, people answer, and every answer leaves a receipt.
#[derive(Debug, Parser)]
#[command(name = "handoffd", after_help = VARIABLES)]
#[cfg_attr(not(feature = "planted-faults"), command(version = VERSIONS))]
#[cfg_attr(feature = "planted-faults", command(version = planted::version(VERSIONS)))]
struct Arguments {
    /// The configuration file, in TOML, instead of the one that the variable names
    #[arg(long, value_name = "PATH", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve; also what happens without a command
    Serve,
    /// Bring the database to the newest schema
    Migrate,
    /// Ask the server of this configuration whether it takes calls: code 0 if it is ready, 1 if not
    Ready,
    /// Check the receipts of every tenant: one line each, OK or BROKEN
    VerifyChain {
        /// Only this tenant
        #[arg(long, value_name = "REF")]
        tenant: Option<OrgId>,
    },
    /// Check everything that is kept of every tenant: one line each, OK or BROKEN, and a line for each finding
    ///
    /// Nothing is changed, also where something is wrong; a server may run meanwhile. Everything of one tenant is held in
    /// memory at a time.
    Fsck {
        /// Only this tenant
        #[arg(long, value_name = "REF")]
        tenant: Option<OrgId>,
    },
    /// Record words that came in about a request through a channel; they settle nothing
    InjectChannelMessage {
        /// The request
        #[arg(long, value_name = "ID")]
        request: String,
        /// Through which channel
        #[arg(long, value_name = "NAME", default_value = "email")]
        channel: String,
        /// What they say
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
    },
    /// Record that a page changed which a request is about; nothing is inferred from it
    ObservePageChange {
        /// The request
        #[arg(long, value_name = "ID")]
        request: String,
    },
    /// Print what happened to a request, one type of event a line, oldest first
    DumpEvents {
        /// The request
        #[arg(long, value_name = "ID")]
        request: String,
        /// Print the time before each type, and behind it what it happened to and the ids and codes that it carries
        #[arg(long)]
        long: bool,
    },
    /// Print a JSON document in its canonical form, which digests are taken over (RFC 8785, integers alone)
    Canonicalize {
        #[command(flatten)]
        document: canonicalize::Document,
    },
    /// List the faults that this build can be told to have, one JSON object a line
    #[cfg(feature = "planted-faults")]
    PlantedFaults,
    /// Look after the keys that continuation data is sealed with
    Continuation {
        #[command(subcommand)]
        command: ContinuationCommand,
    },
    /// Look at the configuration without starting anything
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Serve on this machine without any configuration, to try things out
    Dev {
        /// Where to keep the data
        #[arg(long, value_name = "DIR", default_value = "handoff-data")]
        data: PathBuf,
        /// The port to listen on; 0 takes a free one
        #[arg(long, default_value_t = 8080, value_parser = port)]
        port: u16,
    },
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Print what a server would run with, secrets redacted; fails if it could not start
    Check,
}

#[derive(Debug, Subcommand)]
enum ContinuationCommand {
    /// List each key with how much it seals; fails if one that is in use is not configured, or something does not open
    Keys,
    /// Seal everything anew under the current key; can be stopped and repeated, also while servers run
    ///
    /// What does not open is named and left as it is, the rest is sealed, and the command fails.
    Reseal {
        /// Give up payloads that were altered: their signals give none back any more
        #[arg(long)]
        forget_unreadable: bool,
        /// Give up what a key sealed that is lost, or that has become another one; nothing that opens is given up
        #[arg(long, value_name = "NAME")]
        forget_key: Vec<String>,
    },
}

const VARIABLES: &str = "\
Variables, each with a key of the configuration file in small letters (`handoffd config check` prints them):
  HANDOFF_CONFIG               the configuration file, in TOML; variables win over it
  HANDOFF_DATABASE_URL         where everything is kept (required): sqlite:./handoff.db for one server, or
                               postgres://user@host/database?sslmode=verify-full for any number of them
  HANDOFF_DATABASE_DIRECT_URL  the same database past the pooler that the address above leads through, if it does
  HANDOFF_BIND                 where to listen [127.0.0.1:8080]; [::]:8080 serves both families
  HANDOFF_PUBLIC_BASE          base of the addresses that people open [http://127.0.0.1 and the port]
  HANDOFF_LINK_ONLY_PERMITTED  whether a link alone may answer [false]
  HANDOFF_SIGNING_KEY_FILE     the key that signs receipts [signing-key.json beside the SQLite
                               file, otherwise in the working directory]
  HANDOFF_MAX_QUORUM           how many people a request may ask to agree [5]
  HANDOFF_SWEEP_INTERVAL_MS    how often due timers are looked for, 50 or more [500]; a deadline is acted on at
                               most this and a second late, also without traffic
  HANDOFF_MAX_CONNECTIONS      how many connections to the database, 2 or more [what suits it]; Postgres has
                               two more, for news between servers
  HANDOFF_RATE_LIMIT_PER_MINUTE  how many calls a minute a credential may make; 0 is without a limit [1000]
  HANDOFF_IDEMPOTENCY_WINDOW   how long a repeat under an idempotency key is recognized, a day or longer [PT24H]
  HANDOFF_CALLBACK_SECRETS     the active secrets that sign callbacks, separated by commas, newest first
  HANDOFF_CALLBACK_GUARD       whether callbacks reach the public internet alone [true with an https base]
  HANDOFF_CONTINUATION_KEYS    what resume payloads are sealed with: name:key, the current one first, 32 bytes each
  HANDOFF_BOOTSTRAP            a JSON file of principals and tokens to load at the start
  HANDOFF_BOOTSTRAP_JSON       the same, inline
  HANDOFF_LOG                  text or json [text]
  RUST_LOG                     which log lines are written [info]

In the file alone, a section [schemas]: the JSON Schemas of `document` fields, each a line
  \"https://example.com/order.json\" = \"order.json\"
with the schema_ref that fields name on the left and a file on the right. Nothing is ever fetched; a document
whose schema_ref is not registered is accepted unchecked.";

/// Runs the command that the arguments name.
pub(crate) fn run() -> ExitCode {
    #[cfg(feature = "planted-faults")]
    if let Err(failure) = planted::plant() {
        output::fail(&failure);
        return ExitCode::FAILURE;
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    match perform(arguments.command.unwrap_or(Command::Serve), arguments.config.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::fail(&failure);
            ExitCode::FAILURE
        }
    }
}

fn perform(command: Command, file: Option<&Path>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::Runtime)?;
    runtime.block_on(async {
        match command {
            Command::Serve => serve::run(file).await,
            Command::Migrate => migrate::run(file),
            Command::Ready => ready::run(file),
            Command::VerifyChain { tenant } => verify_chain::run(file, tenant).await,
            Command::Fsck { tenant } => fsck::run(file, tenant).await,
            Command::Continuation { command: ContinuationCommand::Keys } => continuation::keys(file).await,
            Command::Continuation { command: ContinuationCommand::Reseal { forget_unreadable, forget_key } } => {
                continuation::reseal(file, &Forget { unreadable: forget_unreadable, keys: forget_key }).await
            }
            Command::InjectChannelMessage { request, channel, text } => {
                record::inject(file, &request, &channel, &text).await
            }
            Command::ObservePageChange { request } => record::observe(file, &request).await,
            Command::DumpEvents { request, long } => record::dump(file, &request, long).await,
            Command::Canonicalize { document } => canonicalize::run(&document),
            #[cfg(feature = "planted-faults")]
            Command::PlantedFaults => planted::list(),
            Command::Config { command: ConfigCommand::Check } => settings::check(file),
            Command::Dev { data, port } => dev::run(data, port).await,
        }
    })
}

/// Reads a port. Clap's own reader would repeat the value.
fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "expected a number from 0 to 65535".to_owned())
}

/// Help and version are answers; everything else is a command line that cannot be used.
fn refuse(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // With a reader that went away there is nobody left to tell.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        _ => {
            output::fail(command_line::words(error));
            ExitCode::from(2)
        }
    }
}
