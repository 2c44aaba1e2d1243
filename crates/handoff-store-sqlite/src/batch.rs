//! One physical transaction for many members, and what happens when it fails.

use std::time::Instant;

use handoff_engine::store::StoreError;
use rusqlite::Connection;

use crate::{
    error::{commit_was_refused, describe},
    member::{Member, Outcome},
    options::SqliteOptions,
    schema::patiently,
    stats::Counters,
};

/// A physical transaction that did not become durable.
struct Broken {
    error: StoreError,
    /// Whether its commit record may be in the file all the same.
    doubtful: bool,
}

/// Runs the members under one commit. When that fails they run singly, so that one cannot spoil the others.
///
/// Afterwards every member knows its outcome, and none may be answered before: a refusal may rest on rows of a member
/// before it.
pub(crate) fn run(
    connection: &Connection,
    options: &SqliteOptions,
    counters: &Counters,
    members: &mut [Box<dyn Member>],
) {
    let Err(broken) = attempt(connection, options, counters, members) else { return };
    tracing::warn!(members = members.len(), error = %broken.error, "a commit of the store failed");
    if let [member] = members {
        member.fail(broken.error);
        return;
    }
    for member in members {
        if let Err(alone) = attempt(connection, options, counters, std::slice::from_mut(member)) {
            // What the shared commit left behind may surface after a crash, until a later commit overwrites it.
            member.fail(if broken.doubtful { unknown(&alone.error) } else { alone.error });
        }
    }
}

fn attempt(
    connection: &Connection,
    options: &SqliteOptions,
    counters: &Counters,
    members: &mut [Box<dyn Member>],
) -> Result<(), Broken> {
    match transact(connection, options, counters, members) {
        Ok(()) => Ok(()),
        Err(broken) => {
            roll_back(connection);
            Err(broken)
        }
    }
}

fn transact(
    connection: &Connection,
    options: &SqliteOptions,
    counters: &Counters,
    members: &mut [Box<dyn Member>],
) -> Result<(), Broken> {
    let before = |error: rusqlite::Error| Broken { error: describe(&error), doubtful: false };
    execute(connection, "BEGIN IMMEDIATE").map_err(before)?;
    let mut wrote = false;
    for member in &mut *members {
        wrote |= run_member(connection, options, member.as_mut()).map_err(before)?;
    }
    if !wrote {
        return execute(connection, "ROLLBACK").map_err(before);
    }
    let deadline = Instant::now() + options.busy_timeout;
    patiently(deadline, || execute(connection, "COMMIT")).map_err(|error| {
        let doubtful = !commit_was_refused(&error);
        let error = describe(&error);
        Broken { error: if doubtful { unknown(&error) } else { error }, doubtful }
    })?;
    counters.committed(members.len());
    Ok(())
}

/// Runs one member between savepoints; answers whether rows of it stay.
fn run_member(
    connection: &Connection,
    options: &SqliteOptions,
    member: &mut dyn Member,
) -> Result<bool, rusqlite::Error> {
    execute(connection, "SAVEPOINT member")?;
    let before = connection.total_changes();
    let outcome = member.run(connection, options)?;
    let changed = connection.total_changes() != before;
    if outcome == Outcome::Refused {
        execute(connection, "ROLLBACK TO member")?;
    }
    execute(connection, "RELEASE member")?;
    Ok(changed && outcome == Outcome::Done)
}

/// Ends a transaction that failed, unless SQLite ended it already.
fn roll_back(connection: &Connection) {
    if connection.is_autocommit() {
        return;
    }
    if let Err(error) = execute(connection, "ROLLBACK") {
        tracing::error!(%error, "a transaction of the store could not be rolled back");
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

fn unknown(error: &StoreError) -> StoreError {
    StoreError::Unknown(error.to_string())
}
