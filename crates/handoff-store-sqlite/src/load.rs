//! What a step is given: read on the writer's connection, so that it sees what earlier members of the batch wrote.

use handoff_engine::store::{
    ChainHead, ChainName, IndexRead, IndexedRecord, Loaded, Reads, Record, RecordKey, TenantHead,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{codec, error::Failure};

/// The head row of a tenant; the default for one that never wrote.
pub(crate) fn head(connection: &Connection, tenant: &str) -> Result<TenantHead, Failure> {
    let mut statement = connection.prepare_cached("SELECT sequence, last_id FROM tenants WHERE tenant = ?1")?;
    let mut rows = statement.query([tenant])?;
    match rows.next()? {
        Some(row) => Ok(TenantHead { sequence: codec::count(row, 0)?, last_id: codec::ulid(row, 1)? }),
        None => Ok(TenantHead::default()),
    }
}

/// Reads all that is asked for into `loaded`.
pub(crate) fn load(connection: &Connection, tenant: &str, reads: &Reads, loaded: &mut Loaded) -> Result<(), Failure> {
    for key in &reads.records {
        let record = record(connection, tenant, key)?;
        loaded.put_record(key.clone(), record);
    }
    for read in &reads.indexes {
        let rows = index(connection, tenant, read)?;
        loaded.put_index(read.clone(), rows);
    }
    for chain in &reads.chains {
        let head = chain_head(connection, tenant, chain)?;
        #[cfg(feature = "planted-faults")]
        let head = crate::planted::stale(tenant, chain, head);
        loaded.put_chain(chain.clone(), head);
    }
    Ok(())
}

/// One record.
pub(crate) fn record(connection: &Connection, tenant: &str, key: &RecordKey) -> Result<Option<Record>, Failure> {
    let mut statement = connection
        .prepare_cached("SELECT version, document FROM records WHERE tenant = ?1 AND kind = ?2 AND id = ?3")?;
    let mut rows = statement.query([tenant, key.kind.as_str(), &key.id])?;
    match rows.next()? {
        Some(row) => Ok(Some(Record { key: key.clone(), version: codec::count(row, 0)?, document: row.get(1)? })),
        None => Ok(None),
    }
}

/// The head of a chain.
pub(crate) fn chain_head(
    connection: &Connection,
    tenant: &str,
    chain: &ChainName,
) -> Result<Option<ChainHead>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT height, digest FROM chain_entries WHERE tenant = ?1 AND chain = ?2 ORDER BY height DESC LIMIT 1",
    )?;
    let mut rows = statement.query([tenant, chain.as_str()])?;
    match rows.next()? {
        Some(row) => Ok(Some(ChainHead { height: codec::count(row, 0)?, digest: codec::digest(row, 1)? })),
        None => Ok(None),
    }
}

fn index(connection: &Connection, tenant: &str, read: &IndexRead) -> Result<Vec<IndexedRecord>, Failure> {
    let (from, below) = codec::prefix_range(&read.prefix);
    range(connection, tenant, read.index.as_str(), &Range { from, below, descending: false, limit: read.limit })
}

/// Which rows of an index to read.
pub(crate) struct Range {
    /// The lowest sort key wanted.
    pub(crate) from: Vec<u8>,
    /// The lowest sort key that is too high; `None` when none is.
    pub(crate) below: Option<Vec<u8>>,
    /// Highest first.
    pub(crate) descending: bool,
    /// How many at the most.
    pub(crate) limit: usize,
}

macro_rules! range_sql {
    ($bound:literal, $order:literal) => {
        concat!(
            "SELECT i.sort_key, r.kind, r.id, r.version, r.document FROM record_index i ",
            "CROSS JOIN records r ON r.tenant = i.tenant AND r.kind = i.kind AND r.id = i.id ",
            "WHERE i.tenant = ?1 AND i.idx = ?2 AND i.sort_key >= ?3",
            $bound,
            " ORDER BY i.sort_key ",
            $order,
            " LIMIT ?4",
        )
    };
}

impl Range {
    fn sql(&self) -> &'static str {
        match (&self.below, self.descending) {
            (Some(_), false) => range_sql!(" AND i.sort_key < ?5", "ASC"),
            (Some(_), true) => range_sql!(" AND i.sort_key < ?5", "DESC"),
            (None, false) => range_sql!("", "ASC"),
            (None, true) => range_sql!("", "DESC"),
        }
    }
}

/// The rows of an index in a range with their records, in one statement and so in one snapshot.
pub(crate) fn range(
    connection: &Connection,
    tenant: &str,
    index: &str,
    range: &Range,
) -> Result<Vec<IndexedRecord>, Failure> {
    let mut statement = connection.prepare_cached(range.sql())?;
    let limit = codec::limit(range.limit);
    let mut rows = match &range.below {
        Some(below) => statement.query(params![tenant, index, range.from, limit, below])?,
        None => statement.query(params![tenant, index, range.from, limit])?,
    };
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(codec::indexed_record(row)?);
    }
    Ok(found)
}

/// Whether a row with this key exists.
pub(crate) fn exists(connection: &Connection, sql: &str, key: impl rusqlite::Params) -> Result<bool, Failure> {
    Ok(connection.prepare_cached(sql)?.query_row(key, |_| Ok(())).optional()?.is_some())
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::{options::SqliteOptions, schema};

    fn ranges() -> [Range; 4] {
        [(true, false), (true, true), (false, false), (false, true)].map(|(bounded, descending)| Range {
            from: vec![1],
            below: bounded.then(|| vec![2]),
            descending,
            limit: 10,
        })
    }

    #[test]
    fn a_range_is_found_and_ordered_by_the_index_alone() {
        let directory = tempfile::tempdir().unwrap();
        let connection = schema::open_writer(&directory.path().join("s.db"), &SqliteOptions::default()).unwrap();
        for range in ranges() {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", range.sql())).unwrap();
            let steps: Vec<String> = plan.raw_query().mapped(|row| row.get(3)).map(Result::unwrap).collect();
            let [index, records] = steps.as_slice() else { panic!("{steps:?}") };
            assert!(index.starts_with("SEARCH i USING PRIMARY KEY (tenant=? AND idx=? AND sort_key>"), "{steps:?}");
            let by_key = "SEARCH r USING INDEX sqlite_autoindex_records_1 (tenant=? AND kind=? AND id=?)";
            assert_eq!(records, by_key, "{steps:?}");
        }
    }

    #[test]
    fn a_statement_is_prepared_once_whatever_is_bound_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let connection = schema::open_writer(&directory.path().join("s.db"), &SqliteOptions::default()).unwrap();
        for mut asked in ranges() {
            for limit in 1..20 {
                asked.limit = limit;
                asked.from = vec![1, u8::try_from(limit).unwrap()];
                range(&connection, "t", if limit % 2 == 0 { "even" } else { "odd" }, &asked).unwrap();
            }
            let statement = connection.prepare_cached(asked.sql()).unwrap();
            assert_eq!(statement.get_status(StatementStatus::Run), 19);
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}
