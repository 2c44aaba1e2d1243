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
    let wrote = if let [member] = members {
        // What it wrote and is not to stay goes with the transaction.
        run_alone(connection, options, member.as_mut()).map_err(before)?
    } else {
        run_together(connection, options, members).map_err(before)?
    };
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

/// Runs the only member of a transaction; answers whether rows of it are to stay.
fn run_alone(connection: &Connection, options: &SqliteOptions, member: &mut dyn Member) -> rusqlite::Result<bool> {
    let before = connection.total_changes();
    let outcome = member.run(connection, options)?;
    Ok(connection.total_changes() != before && outcome == Outcome::Done)
}

/// Runs several members one after the other; answers whether rows of any are to stay.
///
/// Savepoints keep a copy of every page that a member touches, and hardly any member writes and takes it back. So they run
/// without, and all of them once more with savepoints when one did.
fn run_together(
    connection: &Connection,
    options: &SqliteOptions,
    members: &mut [Box<dyn Member>],
) -> rusqlite::Result<bool> {
    if let Some(wrote) = run_plainly(connection, options, members)? {
        return Ok(wrote);
    }
    execute(connection, "ROLLBACK")?;
    execute(connection, "BEGIN IMMEDIATE")?;
    let mut wrote = false;
    for member in members {
        wrote |= run_member(connection, options, member.as_mut())?;
    }
    Ok(wrote)
}

/// The same without savepoints; nothing once a member wrote what is not to stay.
fn run_plainly(
    connection: &Connection,
    options: &SqliteOptions,
    members: &mut [Box<dyn Member>],
) -> rusqlite::Result<Option<bool>> {
    let mut wrote = false;
    for member in members {
        let before = connection.total_changes();
        let outcome = member.run(connection, options)?;
        let changed = connection.total_changes() != before;
        match outcome {
            Outcome::Done => wrote |= changed,
            Outcome::Refused if changed => return Ok(None),
            Outcome::Refused => {}
        }
    }
    Ok(Some(wrote))
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use handoff_engine::store::NewBlob;
    use handoff_protocol::id::TenantId;
    use tokio::sync::oneshot::Receiver;

    use super::*;
    use crate::{
        blobs,
        error::Failure,
        member::{Finished, member},
        schema,
    };

    type Answer = Receiver<Result<(), StoreError>>;

    fn member_of(
        mut work: impl FnMut(&Connection) -> Result<(), Failure> + Send + 'static,
    ) -> (Box<dyn Member>, Answer) {
        member(move |connection: &Connection, _: &SqliteOptions| {
            work(connection)?;
            Ok(Finished { outcome: Outcome::Done, value: (), wakes: None, erases: false })
        })
    }

    fn putting(owner: &'static str, size: usize) -> (Box<dyn Member>, Answer) {
        member_of(move |connection| {
            let bytes = Bytes::from(vec![7; size]);
            let blob = NewBlob { tenant: TenantId::System, owner: owner.to_owned(), bytes };
            blobs::put(connection, &blob, handoff_protocol::timestamp::Timestamp::EPOCH).map(drop)
        })
    }

    /// Runs three members, the second of which spoils the physical transaction, and answers what they were told and
    /// how many rows are there.
    fn with_a_bad_second(
        spoil: impl FnOnce(&Connection),
        second: (Box<dyn Member>, Answer),
    ) -> (Vec<Result<(), StoreError>>, i64) {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteOptions::default();
        let connection = schema::open_writer(&directory.path().join("s.db"), &options).unwrap();
        spoil(&connection);
        let (mut members, answers): (Vec<_>, Vec<_>) =
            [putting("first", 10), second, putting("third", 10)].into_iter().unzip();
        run(&connection, &options, &Counters::default(), &mut members);
        members.into_iter().for_each(Member::answer);
        let answers = answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect();
        let rows = connection.query_row("SELECT count(*) FROM blobs", [], |row| row.get(0)).unwrap();
        (answers, rows)
    }

    #[test]
    fn a_member_that_fills_the_disk_fails_alone() {
        let (answers, rows) = with_a_bad_second(
            |connection| connection.pragma_update(None, "max_page_count", 100).unwrap(),
            putting("second", 1_000_000),
        );
        assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
        assert!(matches!(&answers[1], Err(StoreError::Unavailable(text)) if text.contains("full")), "{answers:?}");
        assert_eq!(rows, 2);
    }

    #[test]
    fn a_member_that_wrote_and_is_refused_takes_back_its_own_rows_alone() {
        for ending in [Ok(Outcome::Refused), Err(Failure::conflict("no")), Ok(Outcome::Done)] {
            let stays = matches!(ending, Ok(Outcome::Done));
            let mut endings = vec![ending];
            let (again, answer) = member(move |connection: &Connection, _: &SqliteOptions| {
                let blob = NewBlob { tenant: TenantId::System, owner: "a".to_owned(), bytes: Bytes::from("a") };
                blobs::put(connection, &blob, handoff_protocol::timestamp::Timestamp::EPOCH)?;
                let outcome = endings.pop().unwrap_or_else(|| Ok(Outcome::Refused))?;
                Ok(Finished { outcome, value: (), wakes: None, erases: false })
            });
            let (answers, rows) = with_a_bad_second(|_| {}, (again, answer));
            assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
            assert_eq!(rows, if stays { 3 } else { 2 });
        }
    }

    /// A member whose rows break a rule that is only checked by the commit.
    fn orphan() -> (Box<dyn Member>, Answer) {
        member_of(|connection| {
            connection.execute_batch(
                "PRAGMA defer_foreign_keys = ON;
                 INSERT INTO chain_bodies (tenant, chain, height, body) VALUES ('system', 'none', 1, '');",
            )?;
            Ok(())
        })
    }

    #[test]
    fn a_commit_that_is_refused_is_never_answered_as_done() {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteOptions::default();
        let connection = schema::open_writer(&directory.path().join("s.db"), &options).unwrap();
        let (member, mut answer) = orphan();
        let mut members = vec![member];
        run(&connection, &options, &Counters::default(), &mut members);
        members.into_iter().for_each(Member::answer);
        assert!(matches!(answer.try_recv().unwrap(), Err(StoreError::Conflict(_))));
    }

    #[test]
    fn a_member_whose_commit_is_refused_fails_alone() {
        let (answers, rows) = with_a_bad_second(|_| {}, orphan());
        assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
        assert!(matches!(answers[1], Err(StoreError::Conflict(_))), "{answers:?}");
        assert_eq!(rows, 2);
    }

    #[test]
    fn a_member_that_is_alone_and_refused_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteOptions::default();
        let connection = schema::open_writer(&directory.path().join("s.db"), &options).unwrap();
        let write = |connection: &Connection| {
            let blob = NewBlob { tenant: TenantId::System, owner: "a".to_owned(), bytes: Bytes::from("a") };
            blobs::put(connection, &blob, handoff_protocol::timestamp::Timestamp::EPOCH).map(drop)
        };
        let (refused, _) = member(move |connection: &Connection, _: &SqliteOptions| {
            write(connection)?;
            Ok(Finished { outcome: Outcome::Refused, value: (), wakes: None, erases: false })
        });
        let (failing, _) = member_of(move |connection| {
            write(connection)?;
            Err(Failure::conflict("no"))
        });
        for member in [refused, failing] {
            run(&connection, &options, &Counters::default(), &mut [member]);
            assert!(connection.is_autocommit(), "the transaction is over");
            let rows: i64 = connection.query_row("SELECT count(*) FROM blobs", [], |row| row.get(0)).unwrap();
            assert_eq!(rows, 0);
        }
    }

    #[test]
    fn a_database_that_stays_locked_is_unavailable() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s.db");
        let options = SqliteOptions { busy_timeout: std::time::Duration::from_millis(20), ..SqliteOptions::default() };
        let connection = schema::open_writer(&path, &options).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let try_once = || {
            let (member, mut answer) = putting("a", 10);
            let mut members = vec![member];
            run(&connection, &options, &Counters::default(), &mut members);
            members.into_iter().for_each(Member::answer);
            answer.try_recv().unwrap()
        };
        assert!(matches!(try_once(), Err(StoreError::Unavailable(_))));
        other.execute_batch("ROLLBACK").unwrap();
        assert!(try_once().is_ok());
    }
}
