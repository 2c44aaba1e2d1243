//! Everything of a tenant at once, for whoever checks a store.

use async_trait::async_trait;
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainName, EventType, IndexName, IndexRow, Inspect, Record, RecordKey, RecordKind, Snapshot,
    StoreError, StoredClaim, StoredEvent, StoredTimer, TenantHead, TimerKey,
};
use handoff_protocol::{id::TenantId, timestamp::Timestamp};
use sqlx::{
    Acquire as _, PgConnection,
    postgres::{PgRow, Postgres},
};

use crate::{codec, error::Failure, limits, link::Link, store::PostgresStore};

#[async_trait]
impl Inspect for PostgresStore {
    /// Row security shows heads alone across tenants: rows of a tenant whose head is gone are found by whoever knows its id.
    async fn tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        let mut connection = self.link().connection().await?;
        let mut transaction = begin(&mut connection).await?;
        say(&mut transaction, "handoff.scope", "heads").await?;
        let rows = ask(&mut transaction, "SELECT tenant FROM tenants ORDER BY tenant", &[]).await?;
        rows.iter().map(|row| codec::tenant(codec::column(row, "tenant")?)).collect()
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Snapshot, StoreError> {
        snapshot(self.link(), *tenant, self.now()).await
    }
}

/// A transaction that sees one state throughout and writes nothing.
async fn begin(connection: &mut PgConnection) -> Result<sqlx::Transaction<'_, Postgres>, StoreError> {
    let mut transaction = connection.begin().await.map_err(Failure::from)?;
    let one_state = sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").persistent(false);
    one_state.execute(&mut *transaction).await.map_err(Failure::from)?;
    sqlx::raw_sql(limits::UNLIMITED).execute(&mut *transaction).await.map_err(Failure::from)?;
    Ok(transaction)
}

/// Says to row security what is looked at, for the length of the transaction.
async fn say(connection: &mut PgConnection, name: &str, value: &str) -> Result<(), StoreError> {
    ask(connection, "SELECT set_config($1, $2, true)", &[name, value]).await.map(drop)
}

/// Asks without a limit of time: how long a store may be read depends on its size, and a person waits for it.
async fn ask(connection: &mut PgConnection, question: &'static str, values: &[&str]) -> Result<Vec<PgRow>, StoreError> {
    let question = values.iter().fold(sqlx::query(question), |question, value| question.bind((*value).to_owned()));
    Ok(question.persistent(false).fetch_all(connection).await.map_err(Failure::from)?)
}

async fn snapshot(link: &Link, tenant: TenantId, now: Option<Timestamp>) -> Result<Snapshot, StoreError> {
    let mut connection = link.connection().await?;
    let mut transaction = begin(&mut connection).await?;
    let name = tenant.to_string();
    let of_tenant = [name.as_str()];
    say(&mut transaction, "handoff.tenant", &name).await?;
    let sql = "SELECT handoff_now() AS now";
    let read = ask(&mut transaction, sql, &[]).await?;
    let theirs = read.first().map_or(Ok(Timestamp::EPOCH), |row| codec::time(row, "now"))?;
    let mut found = Snapshot::empty(tenant, now.unwrap_or(theirs));
    let sql = "SELECT sequence, last_id FROM tenants WHERE tenant = $1";
    if let Some(row) = ask(&mut transaction, sql, &of_tenant).await?.first() {
        let last_id = codec::ulid(codec::column(row, "last_id")?)?;
        found.head = TenantHead { sequence: codec::count(row, "sequence")?, last_id };
    }
    let sql = "SELECT kind, id, version, document FROM records WHERE tenant = $1";
    for row in ask(&mut transaction, sql, &of_tenant).await? {
        let (key, document) = (key(&row)?, codec::shared(&row, "document")?);
        let version = codec::count(&row, "version")?;
        found.records.insert(key.clone(), Record { key, version, document });
    }
    let sql = "SELECT idx, sort_key, kind, id FROM record_index WHERE tenant = $1";
    for row in ask(&mut transaction, sql, &of_tenant).await? {
        let (index, sort_key) = (IndexName::new(codec::string(&row, "idx")?), codec::column(&row, "sort_key")?);
        found.index.insert(IndexRow { index, sort_key }, key(&row)?);
    }
    let sql = "SELECT e.chain, e.height, e.previous, e.digest, b.body, e.attestation FROM chain_entries e
        LEFT JOIN chain_bodies b ON b.tenant = e.tenant AND b.chain = e.chain AND b.height = e.height
        WHERE e.tenant = $1 ORDER BY e.chain, e.height";
    for row in ask(&mut transaction, sql, &of_tenant).await? {
        let chain = ChainName::new(codec::string(&row, "chain")?);
        found.chains.entry(chain).or_default().push(entry(&row)?);
    }
    let sql = "SELECT chain, height FROM erasures WHERE tenant = $1";
    for row in ask(&mut transaction, sql, &of_tenant).await? {
        found.erased.insert((ChainName::new(codec::string(&row, "chain")?), codec::count(&row, "height")?));
    }
    let sql = "SELECT sequence, type, subject, at, data FROM events WHERE tenant = $1 ORDER BY sequence";
    for row in ask(&mut transaction, sql, &of_tenant).await? {
        found.events.push(StoredEvent {
            sequence: codec::count(&row, "sequence")?,
            event_type: EventType::new(codec::string(&row, "type")?),
            subject: codec::string(&row, "subject")?,
            at: codec::time(&row, "at")?,
            data: codec::shared(&row, "data")?,
        });
    }
    let sql = "SELECT key, due, action, epoch, claimed_until FROM timers WHERE tenant = $1";
    for row in ask(&mut transaction, sql, &of_tenant).await? {
        let until = codec::column::<Option<i64>>(&row, "claimed_until")?.map(Timestamp::from_unix_millis);
        let epoch = codec::count(&row, "epoch")?;
        let claim = until.map(|until| StoredClaim { epoch, until });
        let timer = StoredTimer { due: codec::time(&row, "due")?, action: codec::shared(&row, "action")?, claim };
        found.timers.insert(TimerKey::new(codec::string(&row, "key")?), timer);
    }
    let sql = "SELECT owner, digest, kept FROM blobs WHERE tenant = $1 ORDER BY owner, digest";
    for row in ask(&mut transaction, sql, &of_tenant).await? {
        let blob = BlobRef { owner: codec::string(&row, "owner")?, digest: codec::digest(&row, "digest")? };
        found.blobs.push((blob, codec::column(&row, "kept")?));
    }
    Ok(found)
}

fn key(row: &PgRow) -> Result<RecordKey, StoreError> {
    Ok(RecordKey { kind: RecordKind::new(codec::string(row, "kind")?), id: codec::string(row, "id")? })
}

fn entry(row: &PgRow) -> Result<ChainEntry, StoreError> {
    let optional = |held: Option<String>| held.map(codec::from_text).map(Into::into);
    Ok(ChainEntry {
        height: codec::count(row, "height")?,
        previous: codec::digest(row, "previous")?,
        digest: codec::digest(row, "digest")?,
        body: optional(codec::column(row, "body")?),
        attestation: optional(codec::column(row, "attestation")?),
    })
}
