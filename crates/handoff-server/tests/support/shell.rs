//! A shell at a store: what an operator does and sees with SQL, whatever keeps the store.

use std::{path::Path, thread, time::Duration};

use handoff_postgres_cluster::Database;
use rusqlite::types::Value;

/// The same few things on either store.
pub(crate) enum Shell {
    /// A connection to the file.
    Sqlite(rusqlite::Connection),
    /// `psql`, as a superuser: whom no policy binds, so what is refused is refused to everybody.
    Postgres(Database),
}

/// A text as SQL writes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Shell {
    pub(crate) fn sqlite(file: &Path) -> Self {
        let shell = rusqlite::Connection::open(file).unwrap();
        shell.busy_timeout(Duration::from_secs(20)).unwrap();
        Self::Sqlite(shell)
    }

    pub(crate) fn postgres(database: Database) -> Self {
        Self::Postgres(database)
    }

    /// Runs statements; what the database says where it refuses.
    pub(crate) fn run(&self, sql: &str) -> Result<(), String> {
        match self {
            Self::Sqlite(shell) => shell.execute_batch(sql).map_err(|error| error.to_string()),
            Self::Postgres(database) => admin(database, sql).map(drop),
        }
    }

    /// The one value that a query finds.
    pub(crate) fn value(&self, query: &str) -> String {
        match self {
            Self::Sqlite(shell) => shell.query_row(query, [], |row| row.get(0).map(text)).unwrap(),
            Self::Postgres(database) => admin(database, query).unwrap(),
        }
    }

    /// A number that a query finds.
    pub(crate) fn number(&self, query: &str) -> i64 {
        self.value(query).parse().unwrap()
    }

    /// The rows that a query finds, two columns of plain words each.
    pub(crate) fn pairs(&self, query: &str) -> Vec<(String, String)> {
        match self {
            Self::Sqlite(shell) => {
                let mut statement = shell.prepare(query).unwrap();
                let rows = statement.query_map([], |row| Ok((row.get(0).map(text)?, row.get(1).map(text)?))).unwrap();
                rows.map(Result::unwrap).collect()
            }
            Self::Postgres(database) => {
                let printed = admin(database, query).unwrap();
                let pair = |line: &str| line.split_once('|').map(|(one, other)| (one.to_owned(), other.to_owned()));
                printed.lines().map(|line| pair(line).unwrap()).collect()
            }
        }
    }

    /// Takes everything off that refuses changes, as somebody can who has the files or all rights.
    pub(crate) fn disarm(&self) {
        match self {
            Self::Sqlite(shell) => {
                let mut all =
                    shell.prepare("SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
                let names: Vec<String> = all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
                shell.execute_batch(&names.join(";")).unwrap();
                shell.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
            }
            Self::Postgres(_) => {
                for table in ["chain_entries", "chain_bodies", "events", "erasures"] {
                    self.run(&format!("ALTER TABLE {table} DISABLE TRIGGER ALL")).unwrap();
                }
            }
        }
    }

    /// Runs a statement, does something, and commits the statement after that.
    pub(crate) fn while_open<T>(&self, sql: &str, work: impl FnOnce() -> T) -> T {
        match self {
            Self::Sqlite(_) => {
                self.run(&format!("BEGIN IMMEDIATE; {sql}")).unwrap();
                let done = work();
                self.run("COMMIT").unwrap();
                done
            }
            Self::Postgres(database) => thread::scope(|scope| {
                let open = scope.spawn(|| admin(database, &format!("{sql}; SELECT pg_sleep(1)")));
                let asleep = "SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event = 'PgSleep'";
                while self.number(asleep) == 0 {
                    assert!(!open.is_finished());
                    thread::sleep(Duration::from_millis(5));
                }
                let done = work();
                open.join().unwrap().unwrap();
                done
            }),
        }
    }
}

fn admin(database: &Database, sql: &str) -> Result<String, String> {
    database.run_at(database.admin_url(), sql).map_err(|error| error.to_string())
}

fn text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(_) => panic!("no column that is looked at is binary"),
    }
}
