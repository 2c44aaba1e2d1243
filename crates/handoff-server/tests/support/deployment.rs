//! Where a server keeps its store, of either kind, and what the tests do with it: everything that runs on a SQLite file
//! runs on a Postgres database.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use handoff_postgres_cluster::Database;
use tempfile::TempDir;

use crate::support::{
    process::{Handoffd, handoffd},
    shell::Shell,
};

/// A directory with everything that a server needs, and its store in it or in a database of its own.
pub(crate) struct Deployment {
    directory: TempDir,
    url: String,
    /// What names the store, and the key where it would not stand beside it.
    variables: Vec<(&'static str, String)>,
    database: Option<Database>,
}

impl Deployment {
    /// A store in a file of the directory.
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("handoff.db").display());
        Self { variables: vec![("HANDOFF_DATABASE_URL", url.clone())], directory, url, database: None }
    }

    /// A store in a Postgres database that nobody else uses, in which the server is its owner and no superuser.
    pub(crate) fn postgres() -> Self {
        Self::within(handoff_postgres_cluster::shared().unwrap().database().unwrap())
    }

    /// One more, of the same kind.
    pub(crate) fn another(&self) -> Self {
        if self.database.is_some() { Self::postgres() } else { Self::sqlite() }
    }

    /// A store in this database.
    pub(crate) fn within(database: Database) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = database.owner_url().to_owned();
        let key = directory.path().join("signing-key.json").display().to_string();
        let variables = vec![("HANDOFF_DATABASE_URL", url.clone()), ("HANDOFF_SIGNING_KEY_FILE", key)];
        Self { variables, directory, url, database: Some(database) }
    }

    /// The directory of its files.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The file of the key that signs.
    pub(crate) fn signing_key(&self) -> PathBuf {
        self.directory().join("signing-key.json")
    }

    /// The address of its store.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its database, unless its store is a file.
    pub(crate) fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    /// What every program of it is told, with more that wins.
    pub(crate) fn variables<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let own = self.variables.iter().map(|(name, value)| (*name, value.as_str()));
        own.chain([("HANDOFF_BIND", "127.0.0.1:0")]).chain(more.iter().copied()).collect()
    }

    /// A command of it.
    pub(crate) fn command(&self, arguments: &[&str], more: &[(&str, &str)]) -> Command {
        handoffd(arguments, &self.variables(more))
    }

    /// Runs a command of it to its end.
    pub(crate) fn run(&self, arguments: &[&str], more: &[(&str, &str)]) -> Output {
        self.command(arguments, more).output().unwrap()
    }

    /// Serves on a free port.
    pub(crate) fn serve(&self, more: &[(&str, &str)]) -> Handoffd {
        Handoffd::start(self.command(&["serve"], more))
    }

    /// A shell in which an operator runs SQL.
    pub(crate) fn shell(&self) -> Shell {
        match &self.database {
            Some(database) => Shell::postgres(database.clone()),
            None => Shell::sqlite(&self.directory().join("handoff.db")),
        }
    }

    /// Whether a text stands in any file of the directory but those of these names, or anywhere in the database: in its
    /// rows, and in the files that they lie in, where also those lie that were deleted.
    pub(crate) fn keeps(&self, text: &str, apart_from: &[&str]) -> bool {
        let files = fs::read_dir(self.directory()).unwrap().map(|entry| entry.unwrap().path());
        let mut files = files.filter(|path| !apart_from.iter().any(|name| path.ends_with(name)));
        let found = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        let in_files = files.any(|path| found(&fs::read(path).unwrap()));
        in_files || self.database.as_ref().is_some_and(|database| found(rows_and_files(database).as_bytes()))
    }
}

/// Every row of a database as text, and the bytes of its tables and indexes, with escapes for what is no printable ASCII.
fn rows_and_files(database: &Database) -> String {
    let admin = database.admin_url();
    let run = |sql: &str| database.run_at(admin, sql).unwrap();
    let mut text =
        run("CHECKPOINT; SELECT encode(pg_read_binary_file(pg_relation_filepath(oid)), 'escape') FROM pg_class
         WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace OR oid IN
         (SELECT reltoastrelid FROM pg_class WHERE relnamespace = 'public'::regnamespace)");
    let all =
        run("SELECT string_agg(format('SELECT rows::text FROM %I AS rows', relname), ' UNION ALL ') FROM pg_class
         WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace");
    text.push_str(&run(&all));
    text
}
