//! Handing out everything that the database holds, and filling one that is empty.
//!
//! Both read and write one tenant after another, each named to row-level security, within one transaction.

use async_trait::async_trait;
use futures::TryStreamExt as _;
use handoff_engine::store::{
    Cell, Filling, Portable, Row, RowStream, StoreError, Table,
    portable::{Column, ColumnKind},
};
use handoff_protocol::id::TenantId;
use sqlx::{PgConnection, Postgres, QueryBuilder, postgres::PgRow};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::{codec, error::Failure, limits, link::Link, pool::Lease, store::PostgresStore};

/// How many rows wait at the most for whoever takes them.
const WAITING: usize = 64;

#[async_trait]
impl Portable for PostgresStore {
    async fn unload(&self) -> Result<RowStream, StoreError> {
        let transaction = begin(self.link(), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let (sender, rows) = mpsc::channel(WAITING);
        // It ends with whoever takes the rows.
        tokio::spawn(async move {
            let mut transaction = transaction;
            if let Err(error) = hand_out(&mut transaction, &sender).await {
                let _ = sender.send(Err(error)).await;
            }
        });
        Ok(Box::pin(ReceiverStream::new(rows)))
    }

    async fn fill(&self) -> Result<Box<dyn Filling>, StoreError> {
        let mut transaction = begin(self.link(), "BEGIN").await?;
        // Every write moves a head, so nobody writes meanwhile.
        let locked = sqlx::raw_sql("LOCK TABLE tenants IN EXCLUSIVE MODE").execute(&mut *transaction).await;
        locked.map_err(Failure::from)?;
        if !tenants(&mut transaction).await?.is_empty() {
            return Err(StoreError::Conflict("the store is not empty".to_owned()));
        }
        Ok(Box::new(DatabaseFilling { transaction, tenant: None }))
    }
}

/// A connection in a transaction that takes longer than a call may; it is rolled back when the connection is dropped.
async fn begin(link: &Link, statement: &'static str) -> Result<Lease, StoreError> {
    let mut connection = link.connection().await?;
    for statement in [statement, limits::UNLIMITED] {
        sqlx::raw_sql(statement).execute(&mut *connection).await.map_err(Failure::from)?;
    }
    Ok(connection)
}

/// Every tenant that anything was written for, by name.
async fn tenants(connection: &mut PgConnection) -> Result<Vec<String>, StoreError> {
    set(connection, "handoff.scope", "heads").await?;
    let found = sqlx::query_scalar("SELECT tenant FROM tenants ORDER BY tenant").persistent(false);
    let found = found.fetch_all(&mut *connection).await.map_err(Failure::from)?;
    set(connection, "handoff.scope", "").await?;
    Ok(found)
}

/// Sets something for the rest of the transaction.
async fn set(connection: &mut PgConnection, name: &str, value: &str) -> Result<(), StoreError> {
    let set = sqlx::query("SELECT set_config($1, $2, true)").persistent(false).bind(name).bind(value);
    set.execute(connection).await.map_err(Failure::from)?;
    Ok(())
}

async fn hand_out(
    connection: &mut PgConnection,
    rows: &mpsc::Sender<Result<Row, StoreError>>,
) -> Result<(), StoreError> {
    for text in tenants(connection).await? {
        let tenant = codec::tenant(&text)?;
        set(connection, "handoff.tenant", &text).await?;
        for table in Table::ALL {
            let select = select(table);
            let mut found =
                sqlx::query(sqlx::AssertSqlSafe(select)).persistent(false).bind(&text).fetch(&mut *connection);
            while let Some(row) = found.try_next().await.map_err(Failure::from)? {
                let cells = table.columns().iter().map(|column| cell(&row, column));
                let row = Row { tenant, table, cells: cells.collect::<Result<_, _>>()? };
                if rows.send(Ok(row)).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

fn names(table: Table) -> Vec<&'static str> {
    table.columns().iter().map(|(name, _)| *name).collect()
}

fn select(table: Table) -> String {
    let columns = names(table);
    let kept = if table == Table::Blobs { " AND kept" } else { "" };
    let key: Vec<_> = columns.iter().take(table.key_columns()).copied().chain(["tenant"]).collect();
    format!("SELECT {} FROM {} WHERE tenant = $1{kept} ORDER BY {}", columns.join(", "), table.name(), key.join(", "))
}

fn cell(row: &PgRow, (name, kind): &Column) -> Result<Cell, StoreError> {
    Ok(match kind {
        ColumnKind::Text => Cell::Text(codec::string(row, name)?),
        ColumnKind::OptionalText => {
            codec::column::<Option<String>>(row, name)?.map_or(Cell::Absent, |held| Cell::Text(codec::from_text(held)))
        }
        ColumnKind::Number => Cell::Number(codec::column(row, name)?),
        ColumnKind::Bytes => Cell::Bytes(codec::column::<Vec<u8>>(row, name)?.into()),
    })
}

/// Rolls back when it is dropped.
struct DatabaseFilling {
    transaction: Lease,
    tenant: Option<TenantId>,
}

#[async_trait]
impl Filling for DatabaseFilling {
    async fn write(&mut self, rows: Vec<Row>) -> Result<(), StoreError> {
        let Some(Row { tenant, table, .. }) = rows.first() else { return Ok(()) };
        let (tenant, table) = (*tenant, *table);
        if self.tenant != Some(tenant) {
            set(&mut self.transaction, "handoff.tenant", &tenant.to_string()).await?;
            self.tenant = Some(tenant);
        }
        let mut columns = names(table);
        columns.push("tenant");
        if table == Table::Blobs {
            columns.push("kept");
        }
        let mut insert =
            QueryBuilder::<Postgres>::new(format!("INSERT INTO {} ({}) ", table.name(), columns.join(", ")));
        insert.push_values(&rows, |mut values, row| {
            for cell in &row.cells {
                match cell {
                    Cell::Text(text) => values.push_bind(codec::text(text).into_owned()),
                    Cell::Number(number) => values.push_bind(*number),
                    Cell::Bytes(bytes) => values.push_bind(bytes.to_vec()),
                    Cell::Absent => values.push_bind(None::<String>),
                };
            }
            values.push_bind(row.tenant.to_string());
            if table == Table::Blobs {
                values.push("true");
            }
        });
        let written = insert.build().persistent(false).execute(&mut *self.transaction).await;
        written.map_err(Failure::from)?;
        Ok(())
    }

    async fn commit(mut self: Box<Self>) -> Result<(), StoreError> {
        let committed = sqlx::raw_sql("COMMIT").execute(&mut *self.transaction).await;
        committed.map(drop).map_err(|error| {
            if crate::error::commit_was_refused(&error) {
                Failure::from(error).into()
            } else {
                StoreError::Unknown("the answer to the commit was lost; look whether the store is empty".to_owned())
            }
        })
    }
}
