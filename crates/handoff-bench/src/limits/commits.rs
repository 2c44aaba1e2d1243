//! How many synced commits a second SQLite makes, each of one row and of several.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, params};

use super::again;
use crate::{error::BenchError, outcome::Measurement};

pub(super) fn measure(place: &Path, time: Duration, batch: u32) -> Result<Measurement, BenchError> {
    let connection = Connection::open(place.join(format!("commits-{batch}.db")))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         CREATE TABLE rows (id INTEGER PRIMARY KEY, document TEXT NOT NULL);",
    )?;
    // As long as the document of a request.
    let document = "x".repeat(1500);
    let name = format!("limit: SQLite commit of {batch} row(s)");
    let commits = again(&name, time, || {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for _ in 0..batch {
            connection.prepare_cached("INSERT INTO rows (document) VALUES (?1)")?.execute(params![document])?;
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    })?;
    let rows = commits.per_second() * f64::from(batch);
    Ok(commits.with("rows_per_second", rows))
}
