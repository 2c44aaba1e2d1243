//! A cluster: made in a temporary directory, started, removed when nobody holds it any more.

use std::{
    fs,
    io::{self, Read as _},
    net::TcpListener,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant, SystemTime},
};

use crate::{
    account::Account,
    database::{self, Database},
    error::ClusterError,
    programs::Programs,
};

/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a cluster is made anew because somebody took its port in between.
const ATTEMPTS: u32 = 3;

/// The superuser of a cluster that is started here.
const SUPERUSER: &str = "postgres";

/// Waits until its input ends, which it does with the process that holds the other end; then ends the server and removes
/// everything. The data is not wanted any more, so nobody waits for an orderly end.
const WATCHER: &str = r#"
trap '' INT TERM HUP
"$1" -D "$2/data" -p "$3" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$2" -c fsync="$4" \
    -c max_connections=400 -c shared_buffers=128MB -c logging_collector=off -c max_wal_size=4GB &
server=$!
read -r _
kill -QUIT "$server" 2>/dev/null
wait "$server"
rm -rf "$2"
"#;

/// How a cluster is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether commits are synced to the disk, as they are in production. Tests of pure logic can do without.
    pub fsync: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { fsync: true }
    }
}

/// A running cluster. Dropping one that was started here ends and removes it; so does the end of the process.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    host: String,
    port: u16,
    superuser: String,
    databases: AtomicU32,
    // Closing the pipe tells the watcher; `None` for a cluster that somebody else started.
    watcher: Option<Watcher>,
}

#[derive(Debug)]
struct Watcher {
    pipe: Option<ChildStdin>,
    process: Child,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // It removes the directory before it ends.
        let _ = self.process.wait();
    }
}

impl Cluster {
    /// Makes a cluster and starts it.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    pub fn start(settings: &Settings) -> Result<Self, ClusterError> {
        let programs = Programs::find()?;
        let account = Account::find()?;
        let mut attempts = ATTEMPTS;
        loop {
            attempts = attempts.saturating_sub(1);
            let home = make(&programs, account)?;
            match run(&programs, account, &home, settings) {
                Ok((watcher, port)) => {
                    let host = "127.0.0.1".to_owned();
                    let superuser = SUPERUSER.to_owned();
                    let databases = AtomicU32::new(0);
                    let cluster = Self { programs, host, port, superuser, databases, watcher: Some(watcher) };
                    database::make_roles(&cluster)?;
                    return Ok(cluster);
                }
                Err(error) if attempts == 0 => return Err(error),
                Err(_) => {}
            }
        }
    }

    /// A cluster that somebody else started, by the address at which its superuser comes in without a password.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Address`], and whatever keeps the server's programs from being found.
    pub fn at(address: &str) -> Result<Self, ClusterError> {
        let rest = address.strip_prefix("postgres://").or_else(|| address.strip_prefix("postgresql://"));
        let (superuser, rest) = rest.and_then(|rest| rest.split_once('@')).ok_or(ClusterError::Address)?;
        let place = rest.split('/').next().unwrap_or(rest);
        let (host, port) = place.rsplit_once(':').ok_or(ClusterError::Address)?;
        Ok(Self {
            programs: Programs::find()?,
            host: host.to_owned(),
            port: port.parse().map_err(|_| ClusterError::Address)?,
            superuser: superuser.to_owned(),
            databases: AtomicU32::new(0),
            watcher: None,
        })
    }

    /// Makes a database that nobody else uses.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    pub fn database(&self) -> Result<Database, ClusterError> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        // A process may have the number of one that is gone.
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_micros();
        Database::make(self, &format!("handoff_{}_{since}_{number}", std::process::id()))
    }

    /// Where its superuser comes in.
    #[must_use]
    pub fn address(&self) -> String {
        self.in_database("postgres")
    }

    /// The port that it listens on, on the loopback address.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Whether this process started it, and will remove it.
    #[must_use]
    pub const fn is_own(&self) -> bool {
        self.watcher.is_some()
    }

    /// Where its superuser comes into a database.
    pub(crate) fn in_database(&self, database: &str) -> String {
        self.url(&self.superuser, database)
    }

    pub(crate) fn url(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@{}:{}/{database}", self.host, self.port)
    }

    pub(crate) fn shell(&self) -> Shell {
        Shell(self.programs.path("psql"))
    }
}

/// The shell in which an operator runs SQL.
#[derive(Clone, Debug)]
pub(crate) struct Shell(PathBuf);

impl Shell {
    /// Runs SQL in a session of its own; answers what it printed.
    pub(crate) fn run(&self, url: &str, sql: &str) -> Result<String, ClusterError> {
        let mut psql = Command::new(&self.0);
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]);
        finish("psql", psql.stdin(Stdio::null()))
    }
}

/// Makes the directory of a cluster.
fn make(programs: &Programs, account: Account) -> Result<PathBuf, ClusterError> {
    let home = tempfile::Builder::new().prefix("handoff-postgres-").tempdir().map_err(in_temporary)?;
    account.give(home.path()).map_err(|error| ClusterError::Io { what: home.path().to_path_buf(), error })?;
    let mut initdb = account.command(&programs.path("initdb"));
    initdb.arg("-D").arg(home.path().join("data"));
    initdb.args(["-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
    finish("initdb", initdb.current_dir("/").stdin(Stdio::null()))?;
    // From here on the watcher removes it.
    Ok(home.keep())
}

/// Starts the server of a cluster on a port that is free now.
fn run(
    programs: &Programs,
    account: Account,
    home: &Path,
    settings: &Settings,
) -> Result<(Watcher, u16), ClusterError> {
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).map_err(in_temporary)?.port();
    let at = |what: &Path| {
        let what = what.to_path_buf();
        move |error| ClusterError::Io { what, error }
    };
    let log = home.join("log");
    let file = fs::File::create(&log).map_err(at(&log))?;
    let again = file.try_clone().map_err(at(&log))?;
    let mut command = account.command(Path::new("sh"));
    command.args(["-c", WATCHER, "sh"]).arg(programs.path("postgres")).arg(home);
    command.args([port.to_string().as_str(), if settings.fsync { "on" } else { "off" }]);
    // A group of its own, so that an interrupt at the terminal leaves it alive to tidy up.
    command.current_dir("/").process_group(0).stdin(Stdio::piped()).stdout(file).stderr(again);
    let mut process = command.spawn().map_err(at(Path::new("sh")))?;
    let pipe = process.stdin.take();
    let watcher = Watcher { pipe, process };
    let until = Instant::now() + PATIENCE;
    loop {
        let mut ready = Command::new(programs.path("pg_isready"));
        ready.args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]);
        // Only the server that listens on its socket too is ours: another may have taken the port.
        let ours = home.join(format!(".s.PGSQL.{port}")).exists();
        if ours && ready.status().is_ok_and(|status| status.success()) {
            return Ok((watcher, port));
        }
        let said = read(&log);
        if said.contains("database system is shut down") || Instant::now() > until {
            return Err(ClusterError::Silent(said));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn read(path: &Path) -> String {
    let mut text = String::new();
    // What cannot be read is not said.
    let _ = fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text));
    text
}

fn in_temporary(error: io::Error) -> ClusterError {
    ClusterError::Io { what: std::env::temp_dir(), error }
}

fn finish(program: &'static str, command: &mut Command) -> Result<String, ClusterError> {
    let output =
        command.output().map_err(|error| ClusterError::Io { what: PathBuf::from(command.get_program()), error })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    Err(ClusterError::Failed { program, said: String::from_utf8_lossy(&output.stderr).trim().to_owned() })
}
