//! Disposable deployments of `handoffd`: one directory with everything in it, and a profile with every hook.
//!
//! | file | what it is |
//! |---|---|
//! | `handoffd.toml`, `bootstrap.json`, `order.json` | what the server is configured with |
//! | `handoff.db`, `signing-key.json` | what the server keeps; with a Postgres database, the key alone |
//! | `log` | what the server says |
//! | `profile.toml` | the profile for the runner |
//! | `server.json` | the program, the port and the process, for restarting and stopping |

mod files;
mod process;
mod roster;

use std::{
    fmt, fs,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::Args;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::{json::hex, profile::Profile};

/// What is to be deployed.
#[derive(Args, Clone, Debug)]
pub struct Plan {
    /// The server's program, `handoffd`
    #[arg(long, value_name = "PATH")]
    pub server: PathBuf,
    /// The level that it is to claim: 2 gives it a key for continuation data
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub level: u8,
    /// Permit that a link alone answers
    #[arg(long)]
    pub link_only: bool,
    /// An empty Postgres database to keep everything in, instead of a SQLite file in the directory
    #[arg(long, value_name = "URL")]
    pub database: Option<Database>,
    /// The same database, for a superuser: whom no policy binds, to look at the whole store and to try to change it
    #[arg(long, value_name = "URL", requires = "database")]
    pub database_admin: Option<Database>,
    /// A variable of the environment of the server and of its commands
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = variable)]
    pub variables: Vec<(String, String)>,
}

/// The address of a Postgres database. It may hold a password, which no formatter prints.
#[derive(Clone, Eq, PartialEq)]
pub struct Database(String);

impl Database {
    /// The address, for who connects.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.0
    }
}

impl FromStr for Database {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // In hooks, braces are parameters.
        if text.contains(['{', '}']) || !["postgres://", "postgresql://"].iter().any(|begin| text.starts_with(begin)) {
            return Err("must be postgres://USER@HOST:PORT/DATABASE, without braces".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Database(..)")
    }
}

/// What is remembered of a server between commands.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Server {
    program: PathBuf,
    port: u16,
    process: Option<u32>,
    #[serde(default)]
    variables: Vec<(String, String)>,
}

/// A deployment that vanishes, server and directory, when this is dropped.
#[derive(Debug)]
pub struct Disposable {
    directory: TempDir,
    profile: PathBuf,
}

impl Disposable {
    /// Starts a server in a directory of its own.
    ///
    /// # Errors
    ///
    /// As for [`deploy`].
    pub async fn start(plan: &Plan) -> Result<Self, String> {
        let directory = tempfile::Builder::new().prefix("handoff-conformance-").tempdir();
        let directory = directory.map_err(|error| format!("no directory for the deployment: {error}"))?;
        let mut disposable = Self { directory, profile: PathBuf::new() };
        disposable.profile = deploy(plan, disposable.directory.path()).await?;
        Ok(disposable)
    }

    /// Where everything of it lies; it goes when this is dropped.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The profile for it.
    ///
    /// # Errors
    ///
    /// Its file went away.
    pub fn profile(&self) -> Result<Profile, String> {
        Profile::load(&self.profile)
    }
}

impl Drop for Disposable {
    fn drop(&mut self) {
        // Where there is none yet, there is nothing to end.
        if let Ok((server, directory)) = recall(self.directory.path()) {
            process::kill(&server, &directory);
        }
    }
}

/// Starts a server in a directory, which is made if it is not there and must hold no other deployment. Returns the
/// path of the profile.
///
/// # Errors
///
/// The directory holds one already, or the server does not start; the reason has the end of its log.
pub async fn deploy(plan: &Plan, directory: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let directory = directory.canonicalize().map_err(|error| format!("{}: {error}", directory.display()))?;
    let shown = directory.display();
    if remembered(&directory).exists() {
        return Err(format!("{shown} holds a deployment already; take another directory"));
    }
    if fs::read_dir(&directory).map_err(|error| format!("{shown}: {error}"))?.next().is_some() {
        return Err(format!("{shown} is not empty; take another directory"));
    }
    // In hooks, braces are parameters.
    if directory.to_string_lossy().contains(['{', '}']) {
        return Err(format!(
            "{shown} has braces in its name, which hooks would take for parameters; take another directory"
        ));
    }
    let program = plan.server.canonicalize().map_err(|error| format!("{}: {error}", plan.server.display()))?;
    let port = free_port()?;
    let roster = roster::draw()?;
    files::write(plan, &directory, &program, port, &roster)?;
    let server = Server { program, port, process: None, variables: plan.variables.clone() };
    process::start(server, &directory, "").await?;
    Ok(directory.join("profile.toml"))
}

/// Stops the server of a directory if it runs, and starts it again on the same port.
///
/// # Errors
///
/// There is no deployment, or the server does not end or start.
pub async fn restart(directory: &Path, crash_point: &str) -> Result<(), String> {
    let (server, directory) = recall(directory)?;
    process::stop(&server, &directory).await?;
    process::start(server, &directory, crash_point).await
}

/// Stops the server of a directory; one that ended already is stopped.
///
/// # Errors
///
/// There is no deployment, or the server does not end.
pub async fn stop(directory: &Path) -> Result<(), String> {
    let (server, directory) = recall(directory)?;
    process::stop(&server, &directory).await
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn remembered(directory: &Path) -> PathBuf {
    directory.join("server.json")
}

fn recall(directory: &Path) -> Result<(Server, PathBuf), String> {
    let named = |problem: String| format!("{} holds no deployment: {problem}", directory.display());
    let directory = directory.canonicalize().map_err(|error| named(error.to_string()))?;
    let text = fs::read_to_string(remembered(&directory)).map_err(|error| named(error.to_string()))?;
    Ok((serde_json::from_str(&text).map_err(|error| named(error.to_string()))?, directory))
}

/// A port that is free now. The server takes it in a moment, and again at each restart.
fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| format!("no port is free: {error}"))
}

/// Text that nobody can guess, in hexadecimal.
fn unguessable(bytes: usize) -> Result<String, String> {
    let mut drawn = vec![0_u8; bytes];
    getrandom::fill(&mut drawn).map_err(|error| format!("there is no entropy: {error}"))?;
    Ok(hex(&drawn))
}
