//! Timers: rows with a due time, claimed in batches under one rising epoch.

use std::time::Duration;

use handoff_engine::store::{Claimed, ClaimedTimer, StoreError, TimerKey, TimerWrite};
use handoff_protocol::timestamp::Timestamp;
use rusqlite::{Connection, params};

use crate::{codec, error::Failure};

/// What a commit does with a timer.
pub(crate) fn write(connection: &Connection, tenant: &str, write: &TimerWrite) -> Result<(), Failure> {
    match write {
        TimerWrite::Settle { key, epoch } => {
            // Epoch 0 is a timer that nobody claimed: there is nothing to settle.
            let settled = match i64::try_from(*epoch) {
                Ok(epoch) if epoch > 0 => connection
                    .prepare_cached("DELETE FROM timers WHERE tenant = ?1 AND key = ?2 AND epoch = ?3")?
                    .execute(params![tenant, key.as_str(), epoch])?,
                _ => 0,
            };
            if settled == 0 {
                return Err(Failure::Member(StoreError::StaleTimer { key: key.clone() }));
            }
        }
        TimerWrite::Remove { key } => {
            connection
                .prepare_cached("DELETE FROM timers WHERE tenant = ?1 AND key = ?2")?
                .execute([tenant, key.as_str()])?;
        }
        TimerWrite::Put { key, due, action } => {
            connection
                .prepare_cached(
                    "INSERT INTO timers (tenant, key, due, action) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE
                     SET due = excluded.due, action = excluded.action, epoch = 0, claimed_until = NULL",
                )?
                .execute(params![tenant, key.as_str(), due.unix_millis(), action])?;
        }
    }
    Ok(())
}

/// Claims at most `limit` due timers for the length of a lease.
///
/// Lapsed claims are first given back, each once, so that one index finds what is due however many are held.
pub(crate) fn claim(
    connection: &Connection,
    limit: usize,
    lease: Duration,
    now: Timestamp,
) -> Result<Claimed, Failure> {
    connection
        .prepare_cached("UPDATE timers SET claimed_until = NULL WHERE claimed_until <= ?1")?
        .execute([now.unix_millis()])?;
    let held_elsewhere = earliest(
        connection,
        "SELECT claimed_until FROM timers WHERE claimed_until IS NOT NULL ORDER BY claimed_until LIMIT 1",
    )?;
    let mut timers = due(connection, limit, now)?;
    if !timers.is_empty() {
        hold(connection, &mut timers, now.unix_millis().saturating_add(codec::millis(lease)))?;
    }
    let waiting = earliest(connection, "SELECT due FROM timers WHERE claimed_until IS NULL ORDER BY due LIMIT 1")?;
    let next = [held_elsewhere, waiting].into_iter().flatten().min();
    Ok(Claimed { now, timers, next })
}

fn due(connection: &Connection, limit: usize, now: Timestamp) -> Result<Vec<ClaimedTimer>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT tenant, key, due, action FROM timers
         WHERE claimed_until IS NULL AND due <= ?1 ORDER BY due, tenant, key LIMIT ?2",
    )?;
    let mut rows = statement.query([now.unix_millis(), codec::limit(limit)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(ClaimedTimer {
            tenant: codec::tenant(row, 0)?,
            key: TimerKey::new(row.get::<_, String>(1)?),
            due: codec::time(row, 2)?,
            action: row.get(3)?,
            epoch: 0,
        });
    }
    Ok(found)
}

/// Marks the timers as held, each under an epoch of its own that no timer had before.
fn hold(connection: &Connection, timers: &mut [ClaimedTimer], until: i64) -> Result<(), Failure> {
    let mut epoch = connection
        .prepare_cached("SELECT epoch FROM timer_epoch WHERE one = 1")?
        .query_row([], |row| row.get::<_, i64>(0))?;
    for timer in timers {
        epoch = epoch.saturating_add(1);
        timer.epoch = epoch.unsigned_abs();
        connection
            .prepare_cached("UPDATE timers SET epoch = ?3, claimed_until = ?4 WHERE tenant = ?1 AND key = ?2")?
            .execute(params![timer.tenant.to_string(), timer.key.as_str(), epoch, until])?;
    }
    connection.prepare_cached("UPDATE timer_epoch SET epoch = ?1 WHERE one = 1")?.execute([epoch])?;
    Ok(())
}

fn earliest(connection: &Connection, sql: &str) -> Result<Option<Timestamp>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    rows.next()?.map(|row| codec::time(row, 0)).transpose()
}
