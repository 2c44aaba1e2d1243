//! A server of our own for a run: `handoffd` on a file in a directory that vanishes, or on a fresh database of Postgres,
//! with as many tenants as wanted.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use handoff_postgres_cluster::{Cluster, Database};
use handoff_protocol::callback::CallbackSecret;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    error::BenchError,
    target::{Pair, Target},
};

/// Longer than a start takes, also with a large store on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a server is started.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    /// The program.
    pub(crate) program: PathBuf,
    /// Where its directory is made.
    pub(crate) within: PathBuf,
    /// How many tenants it has.
    pub(crate) tenants: usize,
    /// Variables beside those that a run needs.
    pub(crate) variables: Vec<(String, String)>,
    /// What it signs callbacks with, where a scenario has any.
    pub(crate) secrets: Vec<CallbackSecret>,
    /// Where it has a database; a file without.
    pub(crate) postgres: Option<Arc<Cluster>>,
    /// Whether what it left is checked, and how often it was not sound.
    pub(crate) check: Option<Arc<AtomicUsize>>,
}

/// Whether a server is started so that it pushes. Not always: one of before there were callbacks refuses the setting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Callbacks {
    With,
    Without,
}

/// A server that runs, and is killed when this is dropped.
pub(crate) struct Spawned {
    recipe: Recipe,
    callbacks: Callbacks,
    directory: TempDir,
    database: Option<Database>,
    child: Child,
    pairs: Vec<Pair>,
    pub(crate) target: Target,
    /// From the start of the process until it listened.
    pub(crate) took: Duration,
}

impl Spawned {
    /// Starts a server on a fresh store.
    pub(crate) async fn start(recipe: &Recipe, callbacks: Callbacks) -> Result<Self, BenchError> {
        let directory = tempfile::Builder::new()
            .prefix("handoff-bench-")
            .tempdir_in(&recipe.within)
            .map_err(BenchError::system("no directory for the server"))?;
        let pairs = (0..recipe.tenants).map(|_| pair()).collect::<Result<Vec<_>, _>>()?;
        write_bootstrap(&directory.path().join("bootstrap.json"), &pairs)?;
        let database = recipe.postgres.as_ref().map(|cluster| cluster.database()).transpose()?;
        let (child, target, took) = serve(recipe, callbacks, directory.path(), database.as_ref(), &pairs).await?;
        Ok(Self { recipe: recipe.clone(), callbacks, directory, database, child, pairs, target, took })
    }

    /// Ends the server and starts it again on the same store.
    pub(crate) async fn restart(&mut self) -> Result<(), BenchError> {
        self.kill();
        (self.child, self.target, self.took) =
            serve(&self.recipe, self.callbacks, self.directory.path(), self.database.as_ref(), &self.pairs).await?;
        Ok(())
    }

    /// Starts another server over the same database.
    pub(crate) async fn second(&self) -> Result<Node, BenchError> {
        if self.database.is_none() {
            return Err(BenchError::Lacking("two servers share a database; give `--postgres`".to_owned()));
        }
        let directory = self.directory.path().join("second");
        fs::create_dir_all(&directory).map_err(BenchError::system("no directory for the second server"))?;
        // They sign with one key, and have the same people.
        for name in ["bootstrap.json", "signing-key.json"] {
            let copied = fs::copy(self.directory.path().join(name), directory.join(name));
            copied.map_err(BenchError::system("no copy of what the first server started with"))?;
        }
        let (child, target, _) =
            serve(&self.recipe, self.callbacks, &directory, self.database.as_ref(), &self.pairs).await?;
        Ok(Node { child, target })
    }

    /// Bytes of the store's files.
    pub(crate) fn stored(&self) -> u64 {
        if let Some(database) = &self.database {
            let size = database.run("SELECT pg_database_size(current_database())");
            return size.ok().and_then(|size| size.parse().ok()).unwrap_or_default();
        }
        let files = fs::read_dir(self.directory.path()).into_iter().flatten().flatten();
        files
            .filter(|file| file.file_name().to_string_lossy().starts_with("handoff.db"))
            .filter_map(|file| file.metadata().ok())
            .map(|metadata| metadata.len())
            .sum()
    }

    /// Where a file of this run may lie.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Another program from where the server's stands.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.recipe.program.with_file_name(name)
    }

    /// Checks what was left by a server that is gone.
    fn check(&self) {
        let Some(broken) = &self.recipe.check else { return };
        let mut command = Command::new(&self.recipe.program);
        let url = address(self.directory.path(), self.database.as_ref());
        command.arg("fsck").current_dir(self.directory.path()).env_clear().env("HANDOFF_DATABASE_URL", url);
        let said = match command.output() {
            Ok(output) if output.status.success() => return,
            Ok(output) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            Err(error) => error.to_string(),
        };
        broken.fetch_add(1, Ordering::Relaxed);
        eprintln!("handoff-bench: the store that was left is not sound:\n{said}");
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        self.kill();
        self.check();
    }
}

/// A further server over the database of another, killed when this is dropped.
pub(crate) struct Node {
    child: Child,
    pub(crate) target: Target,
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn serve(
    recipe: &Recipe,
    callbacks: Callbacks,
    directory: &Path,
    database: Option<&Database>,
    pairs: &[Pair],
) -> Result<(Child, Target, Duration), BenchError> {
    let log_path = directory.join("log");
    let log = fs::File::create(&log_path).map_err(BenchError::system("no log for the server"))?;
    let mut command = Command::new(&recipe.program);
    command
        .arg("serve")
        .current_dir(directory)
        .env_clear()
        .env("HANDOFF_DATABASE_URL", address(directory, database))
        .env("HANDOFF_BIND", "127.0.0.1:0")
        .env("HANDOFF_BOOTSTRAP", directory.join("bootstrap.json"))
        .env("HANDOFF_RATE_LIMIT_PER_MINUTE", "0");
    if callbacks == Callbacks::With {
        let secrets: Vec<_> = recipe.secrets.iter().map(CallbackSecret::expose).collect();
        command.env("HANDOFF_CALLBACK_SECRETS", secrets.join(","));
    }
    command
        .envs(recipe.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| {
        BenchError::Start(format!("{error}; build it with `cargo build --release --bin handoffd`, or name it"))
    })?;
    let address = match listening(&mut child, &log_path, started).await {
        Ok(address) => address,
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
    };
    let took = started.elapsed();
    let target = Target::new(&format!("http://{address}"), pairs, Some(child.id()))?.signing(recipe.secrets.clone());
    let target = target.kept_in(database.and_then(first_process));
    Ok((child, target, took))
}

/// The process that all others of a database server come from, as far as it runs on this machine.
fn first_process(database: &Database) -> Option<u32> {
    let sql = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)";
    database.run_at(database.admin_url(), sql).ok()?.trim().parse().ok()
}

/// Where a server keeps everything.
fn address(directory: &Path, database: Option<&Database>) -> String {
    let file = || format!("sqlite:{}", directory.join("handoff.db").display());
    database.map_or_else(file, |database| database.owner_url().to_owned())
}

/// Waits until the log says where the server listens.
async fn listening(child: &mut Child, log: &Path, started: Instant) -> Result<String, BenchError> {
    const WORDS: &str = "listening on ";
    loop {
        let text = fs::read_to_string(log).unwrap_or_default();
        let line = text.lines().find_map(|line| line.split_once(WORDS));
        // The line may be half written; what follows the address tells that it is whole.
        if let Some((address, _)) = line.and_then(|(_, rest)| rest.split_once(';')) {
            return Ok(address.to_owned());
        }
        let ended = child.try_wait().map_err(BenchError::system("the server cannot be watched"))?;
        if ended.is_some() || started.elapsed() > PATIENCE {
            let last = text.lines().last().unwrap_or("it said nothing").to_owned();
            return Err(BenchError::Start(last));
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn pair() -> Result<Pair, BenchError> {
    Ok(Pair { machine: token()?, person: token()? })
}

/// A token or a secret that nobody else has.
pub(crate) fn token() -> Result<String, BenchError> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(|error| BenchError::Start(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn write_bootstrap(path: &Path, pairs: &[Pair]) -> Result<(), BenchError> {
    let principals: Vec<_> = (1..)
        .zip(pairs)
        .flat_map(|(number, pair): (u32, _)| {
            let tenant = format!("org_{number:026}");
            [
                json!({"tenant_ref": tenant, "kind": "machine", "id": format!("sa_{number:026}"), "token": pair.machine}),
                json!({"tenant_ref": tenant, "kind": "human", "id": format!("usr_{number:026}"), "role": "admin",
                       "display": "A person", "token": pair.person}),
            ]
        })
        .collect();
    let text = json!({ "principals": principals }).to_string();
    fs::write(path, text).map_err(BenchError::system("the credentials cannot be written"))
}
