//! The database file: made with care for who may read it, opened with the settings that durability needs, and brought
//! to the newest schema by numbered files.

use std::{
    fs::OpenOptions,
    io::ErrorKind,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use crate::{
    error::{OpenError, is_busy},
    options::SqliteOptions,
};

/// Marks the file as a Handoff store ("HOFF"), so that no other program's database is taken for one.
const APPLICATION_ID: i32 = 0x484f_4646;

/// The migrations in order. One that was released is never changed; the version is how many were run.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_append_only.sql"),
    include_str!("migrations/0003_views.sql"),
    include_str!("migrations/0004_writing_through_views.sql"),
];

/// Prepared statements kept on each connection: more than the store has.
const STATEMENTS: usize = 128;

/// Opens the file for writing, creating it when it is missing, and brings it to the newest schema.
pub(crate) fn open_writer(path: &Path, options: &SqliteOptions) -> Result<Connection, OpenError> {
    create(path)?;
    let mut connection = connect(path, options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check(&connection, path)?;
    // Two processes that switch to the log at the same moment can find the file locked without having waited.
    let deadline = Instant::now() + options.busy_timeout;
    patiently(deadline, || {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
    })?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA cache_size = -20000;
         PRAGMA wal_autocheckpoint = 2000;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    migrate(&mut connection, path)?;
    #[cfg(feature = "planted-faults")]
    crate::planted::unseal(&connection)?;
    Ok(connection)
}

/// Opens the file for reading alone.
pub(crate) fn open_reader(path: &Path, options: &SqliteOptions) -> Result<Connection, OpenError> {
    // The flags allow writing because a reader of the log must be able to take part in its shared memory.
    let connection = connect(path, options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute_batch("PRAGMA query_only = ON;")?;
    Ok(connection)
}

/// Opens the file for reads that are done where they are asked for: while another process holds the file they do not
/// wait, and go to a thread.
pub(crate) fn open_point_reader(path: &Path, options: &SqliteOptions) -> Result<Connection, OpenError> {
    let connection = open_reader(path, options)?;
    connection.busy_timeout(Duration::ZERO)?;
    Ok(connection)
}

/// Makes an empty file that only its owner may read; the log beside it inherits that from SQLite.
fn create(path: &Path) -> Result<(), OpenError> {
    let mut fresh = OpenOptions::new();
    fresh.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut fresh, 0o600);
    match fresh.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(OpenError::NoDirectory(directory(path))),
        Err(error) => Err(OpenError::Io(error)),
    }
}

fn directory(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

fn connect(path: &Path, options: &SqliteOptions, flags: OpenFlags) -> Result<Connection, OpenError> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Else SQLite looks at the values that are bound and prepares the statement again whenever they change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA trusted_schema = OFF;")?;
    Ok(connection)
}

/// Refuses a newer schema and a database of another program before anything is changed.
fn check(connection: &Connection, path: &Path) -> Result<usize, OpenError> {
    // One statement, so that no process that creates the store meanwhile is seen half-way.
    let (application, version, tables): (i32, u32, i64) = connection.query_row(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_application_id, pragma_user_version",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    if application != APPLICATION_ID && (application != 0 || version != 0 || tables != 0) {
        return Err(OpenError::NotAStore(path.to_path_buf()));
    }
    let known = MIGRATIONS.len();
    let found = usize::try_from(version).unwrap_or(usize::MAX);
    if found > known {
        return Err(OpenError::NewerSchema { found: version, known: newest_version() });
    }
    Ok(found)
}

/// Runs the migrations that the file has not seen, all in one transaction. Whoever comes second finds them done.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    if check(connection, path)? == MIGRATIONS.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = check(&transaction, path)?;
    for migration in MIGRATIONS.iter().skip(found) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", newest_version())?;
    transaction.commit()?;
    Ok(())
}

fn newest_version() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

/// Tries again while another process holds the database, until the deadline.
pub(crate) fn patiently<T>(deadline: Instant, mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            other => return other,
        }
    }
}
