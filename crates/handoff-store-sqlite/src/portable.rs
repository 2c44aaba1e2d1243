//! Handing out everything that the file holds, and filling one that is empty: each on a thread and a connection of its own.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use async_trait::async_trait;
use handoff_engine::store::{
    Cell, Filling, Portable, Row, RowStream, StoreError, Table,
    portable::{Column, ColumnKind},
};
use handoff_protocol::id::TenantId;
use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params_from_iter, types::Null};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use crate::{error::Failure, readers::in_snapshot, schema, store::SqliteStore};

/// How many rows wait at the most for whoever takes them.
const WAITING: usize = 64;

#[async_trait]
impl Portable for SqliteStore {
    async fn unload(&self) -> Result<RowStream, StoreError> {
        let (path, options) = self.file();
        let connection = schema::open_reader(path, &options)?;
        let (sender, rows) = mpsc::channel(WAITING);
        spawn(move || {
            let unloaded = in_snapshot(&connection, |connection| hand_out(connection, &sender));
            if let Err(failure) = unloaded {
                // Whoever takes the rows may be gone.
                let _ = sender.blocking_send(Err(failure.into()));
            }
        })?;
        Ok(Box::pin(ReceiverStream::new(rows)))
    }

    async fn fill(&self) -> Result<Box<dyn Filling>, StoreError> {
        let (path, options) = self.file();
        let mut connection = schema::open_writer(path, &options)?;
        let (orders, received) = channel();
        let (begun, answer) = oneshot::channel();
        spawn(move || {
            let committed = match begin(&mut connection) {
                // Without anybody left the transaction ends with nothing done.
                Ok(transaction) => begun.send(Ok(())).ok().and_then(|()| obey(transaction, &received)),
                Err(failure) => {
                    let _ = begun.send(Err(StoreError::from(failure)));
                    None
                }
            };
            // Before the answer, so that whoever closes the store then is the last, and tidies the log away.
            drop(connection);
            if let Some((done, committed)) = committed {
                let _ = done.send(committed);
            }
        })?;
        answer.await.map_err(|_| gone())??;
        Ok(Box::new(FileFilling { orders }))
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
    let thread = thread::Builder::new().name("handoff-store-move".to_owned()).spawn(work);
    thread.map(drop).map_err(|error| StoreError::Unavailable(format!("there is no thread for it: {error}")))
}

fn gone() -> StoreError {
    StoreError::Unavailable("the store is closing".to_owned())
}

fn begin(connection: &mut Connection) -> Result<Transaction<'_>, Failure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    refuse_anything_there(&transaction)?;
    Ok(transaction)
}

fn refuse_anything_there(connection: &Connection) -> Result<(), Failure> {
    for table in Table::ALL {
        let any = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name());
        if connection.query_row(&any, [], |row| row.get(0))? {
            return Err(Failure::conflict("the store is not empty"));
        }
    }
    Ok(())
}

fn hand_out(connection: &Connection, rows: &mpsc::Sender<Result<Row, StoreError>>) -> Result<(), Failure> {
    let each = Table::ALL.map(|table| format!("SELECT tenant FROM {}", table.name())).join(" UNION ");
    let mut tenants = connection.prepare(&format!("{each} ORDER BY 1"))?;
    let tenants: Vec<String> = tenants.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for text in tenants {
        let tenant = TenantId::parse(&text).map_err(|_| Failure::corrupt("a tenant is malformed"))?;
        for table in Table::ALL {
            let mut statement = connection.prepare_cached(&select(table))?;
            let mut found = statement.query([&text])?;
            while let Some(row) = found.next()? {
                let cells = table.columns().iter().enumerate().map(|(place, column)| cell(row, place, column));
                let row = Row { tenant, table, cells: cells.collect::<Result<_, Failure>>()? };
                if rows.blocking_send(Ok(row)).is_err() {
                    // Nobody takes them any more.
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
    let kept = if table == Table::Blobs { " AND kept = 1" } else { "" };
    let key: Vec<_> = columns.iter().take(table.key_columns()).copied().chain(["tenant"]).collect();
    format!("SELECT {} FROM {} WHERE tenant = ?1{kept} ORDER BY {}", columns.join(", "), table.name(), key.join(", "))
}

fn cell(row: &rusqlite::Row<'_>, place: usize, (_, kind): &Column) -> Result<Cell, Failure> {
    Ok(match kind {
        ColumnKind::Text => Cell::Text(row.get(place)?),
        ColumnKind::OptionalText => row.get::<_, Option<String>>(place)?.map_or(Cell::Absent, Cell::Text),
        ColumnKind::Number => Cell::Number(row.get(place)?),
        ColumnKind::Bytes => Cell::Bytes(row.get::<_, Vec<u8>>(place)?.into()),
    })
}

/// What the thread that fills is told.
enum Order {
    Write(Vec<Row>, Reply),
    Commit(Reply),
}

struct FileFilling {
    orders: Sender<Order>,
}

impl FileFilling {
    async fn order(&self, order: impl FnOnce(Reply) -> Order + Send) -> Result<(), StoreError> {
        let (done, answer) = oneshot::channel();
        self.orders.send(order(done)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

#[async_trait]
impl Filling for FileFilling {
    async fn write(&mut self, rows: Vec<Row>) -> Result<(), StoreError> {
        self.order(|done| Order::Write(rows, done)).await
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.order(Order::Commit).await
    }
}

/// Who waits for an outcome.
type Reply = oneshot::Sender<Result<(), StoreError>>;

/// Writes what comes, until a commit, whose outcome is to be told, or until nothing comes any more, which takes everything
/// back.
fn obey(transaction: Transaction<'_>, orders: &Receiver<Order>) -> Option<(Reply, Result<(), StoreError>)> {
    while let Ok(order) = orders.recv() {
        match order {
            Order::Write(rows, done) => {
                let written = rows.iter().try_for_each(|row| insert(&transaction, row));
                let failed = written.is_err();
                // Whoever fills may be gone; then the next order does not come.
                let _ = done.send(written.map_err(StoreError::from));
                if failed {
                    return None;
                }
            }
            Order::Commit(done) => {
                return Some((done, transaction.commit().map_err(|error| Failure::from(error).into())));
            }
        }
    }
    None
}

fn insert(connection: &Connection, row: &Row) -> Result<(), Failure> {
    let mut columns = names(row.table);
    columns.push("tenant");
    let mut places: Vec<_> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
    if row.table == Table::Blobs {
        columns.push("kept");
        places.push("1".to_owned());
    }
    let sql = format!("INSERT INTO {} ({}) VALUES ({})", row.table.name(), columns.join(", "), places.join(", "));
    let tenant = row.tenant.to_string();
    let bytes: Vec<Option<&[u8]>> =
        row.cells.iter().map(|cell| if let Cell::Bytes(bytes) = cell { Some(bytes.as_ref()) } else { None }).collect();
    let values = row.cells.iter().zip(&bytes).map(|(cell, bytes)| -> &dyn ToSql {
        match cell {
            Cell::Text(text) => text,
            Cell::Number(number) => number,
            Cell::Bytes(_) => bytes,
            Cell::Absent => &Null,
        }
    });
    let values = values.chain([&tenant as &dyn ToSql]);
    connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}
