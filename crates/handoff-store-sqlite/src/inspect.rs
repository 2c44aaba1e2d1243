//! Everything of a tenant at once, for whoever checks a store.

use async_trait::async_trait;
use handoff_engine::store::{
    BlobRef, ChainName, HeightRange, IndexName, IndexRow, Inspect, Record, RecordKey, RecordKind, Snapshot, StoreError,
    StoredClaim, StoredTimer, TimerKey,
};
use handoff_protocol::{id::TenantId, timestamp::Timestamp};
use rusqlite::{Connection, Row};

use crate::{codec, error::Failure, load, read, store::SqliteStore};

/// Where a tenant can have rows. The head is not enough: damage may have taken that and left the rest.
const TENANTS: &str =
    "SELECT tenant FROM tenants UNION SELECT tenant FROM records UNION SELECT tenant FROM record_index
    UNION SELECT tenant FROM chain_entries UNION SELECT tenant FROM events UNION SELECT tenant FROM timers
    UNION SELECT tenant FROM blobs ORDER BY tenant";

#[async_trait]
impl Inspect for SqliteStore {
    async fn tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        let read = |connection: &Connection| rows(connection, TENANTS, [], |row| codec::tenant(row, 0));
        self.readers().read(read).await
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Snapshot, StoreError> {
        let (tenant, now) = (*tenant, self.now());
        self.readers().read(move |connection| snapshot(connection, tenant, now)).await
    }
}

fn snapshot(connection: &Connection, tenant: TenantId, now: Timestamp) -> Result<Snapshot, Failure> {
    let name = tenant.to_string();
    let of_tenant = [name.as_str()];
    let mut found = Snapshot::empty(tenant, now);
    found.head = load::head(connection, &name)?;
    let sql = "SELECT kind, id, version, document FROM records WHERE tenant = ?1";
    found.records = rows(connection, sql, of_tenant, |row| {
        let key = RecordKey { kind: RecordKind::new(row.get::<_, String>(0)?), id: row.get(1)? };
        Ok((key.clone(), Record { key, version: codec::count(row, 2)?, document: row.get(3)? }))
    })?;
    let sql = "SELECT idx, sort_key, kind, id FROM record_index WHERE tenant = ?1";
    found.index = rows(connection, sql, of_tenant, |row| {
        let stands = IndexRow { index: IndexName::new(row.get::<_, String>(0)?), sort_key: row.get(1)? };
        Ok((stands, RecordKey { kind: RecordKind::new(row.get::<_, String>(2)?), id: row.get(3)? }))
    })?;
    let sql = "SELECT DISTINCT chain FROM chain_entries WHERE tenant = ?1";
    let chains: Vec<ChainName> = rows(connection, sql, of_tenant, |row| Ok(ChainName::new(row.get::<_, String>(0)?)))?;
    let all = HeightRange { from: 0, limit: usize::MAX };
    for chain in chains {
        let entries = read::chain(connection, &name, &chain, all)?;
        found.chains.insert(chain, entries);
    }
    let sql = "SELECT chain, height FROM erasures WHERE tenant = ?1";
    found.erased =
        rows(connection, sql, of_tenant, |row| Ok((ChainName::new(row.get::<_, String>(0)?), codec::count(row, 1)?)))?;
    found.events = read::events(connection, &name, 0, usize::MAX)?;
    let sql = "SELECT key, due, action, epoch, claimed_until FROM timers WHERE tenant = ?1";
    found.timers = rows(connection, sql, of_tenant, |row| {
        let until = row.get::<_, Option<i64>>(4)?.map(Timestamp::from_unix_millis);
        let epoch = codec::count(row, 3)?;
        let claim = until.map(|until| StoredClaim { epoch, until });
        let timer = StoredTimer { due: codec::time(row, 1)?, action: row.get(2)?, claim };
        Ok((TimerKey::new(row.get::<_, String>(0)?), timer))
    })?;
    let sql = "SELECT owner, digest, kept FROM blobs WHERE tenant = ?1 ORDER BY owner, digest";
    found.blobs = rows(connection, sql, of_tenant, |row| {
        Ok((BlobRef { owner: row.get(0)?, digest: codec::digest(row, 1)? }, row.get(2)?))
    })?;
    Ok(found)
}

fn rows<T, C: FromIterator<T>>(
    connection: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    each: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<C, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    std::iter::from_fn(|| rows.next().map_err(Failure::from).and_then(|row| row.map(&each).transpose()).transpose())
        .collect()
}
