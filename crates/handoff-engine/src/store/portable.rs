//! Handing out everything that a store keeps, row by row, and filling an empty store with it.
//!
//! The rows are those that [`crate::moving`] writes to a file and reads from one. They name what every store keeps, not how.

use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures::Stream;
use handoff_protocol::id::TenantId;

use super::StoreError;

/// A store whose content can move to another store, of whatever kind.
///
/// No use case needs this: [`Store::portable`](super::Store::portable) leads to it in a store that can do it.
#[async_trait]
pub trait Portable: Send + Sync {
    /// Hands out every row as one commit left the store: tenant after tenant by name, the tables of each in the order of
    /// [`Table::ALL`], the rows of each by their keys, compared bytewise.
    ///
    /// Claims on timers are left behind, and so are blobs that no transaction kept.
    ///
    /// # Errors
    ///
    /// If the store fails; later failures come out of the stream.
    async fn unload(&self) -> Result<RowStream, StoreError>;

    /// Begins to fill the store. Nobody else can write until that ends.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if anything was ever written to it.
    async fn fill(&self) -> Result<Box<dyn Filling>, StoreError>;
}

/// Rows on their way out. What hands them out waits for whoever takes them.
pub type RowStream = Pin<Box<dyn Stream<Item = Result<Row, StoreError>> + Send>>;

/// A store that is being filled, in one transaction: dropping this leaves the store as empty as it was.
#[async_trait]
pub trait Filling: Send {
    /// Writes rows of one tenant and one table, in the order in which they were handed out.
    ///
    /// # Errors
    ///
    /// If the store fails or a row does not fit; nothing can be written afterwards.
    async fn write(&mut self, rows: Vec<Row>) -> Result<(), StoreError>;

    /// Makes everything durable, at once.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write).
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// One row of a tenant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    /// Whose it is.
    pub tenant: TenantId,
    /// What it is.
    pub table: Table,
    /// Its values, in the order of the table's columns.
    pub cells: Vec<Cell>,
}

/// A value of a row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Cell {
    /// Text, byte for byte.
    Text(String),
    /// A count, or milliseconds since the epoch.
    Number(i64),
    /// Bytes.
    Bytes(Bytes),
    /// Nothing, where a text may be missing.
    Absent,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ColumnKind {
    /// [`Cell::Text`].
    Text,
    /// [`Cell::Text`] or [`Cell::Absent`].
    OptionalText,
    /// [`Cell::Number`].
    Number,
    /// [`Cell::Bytes`].
    Bytes,
}

/// A column: its name, which is that of the member in a file, and what it holds.
pub type Column = (&'static str, ColumnKind);

/// What every store keeps. The order is one in which rows can be written: what others refer to comes first.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Table {
    /// The head row of a tenant.
    Tenants,
    /// Records.
    Records,
    /// Index rows.
    RecordIndex,
    /// Chain entries without what was sealed.
    ChainEntries,
    /// Why bodies are gone.
    Erasures,
    /// What was sealed.
    ChainBodies,
    /// Events.
    Events,
    /// Timers, without claims.
    Timers,
    /// Blobs that a transaction kept.
    Blobs,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Tenants,
        Self::Records,
        Self::RecordIndex,
        Self::ChainEntries,
        Self::Erasures,
        Self::ChainBodies,
        Self::Events,
        Self::Timers,
        Self::Blobs,
    ];

    /// Its name in a file, and in the stores of this project.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tenants => "tenants",
            Self::Records => "records",
            Self::RecordIndex => "record_index",
            Self::ChainEntries => "chain_entries",
            Self::Erasures => "erasures",
            Self::ChainBodies => "chain_bodies",
            Self::Events => "events",
            Self::Timers => "timers",
            Self::Blobs => "blobs",
        }
    }

    /// Its columns beside the tenant.
    #[must_use]
    pub const fn columns(self) -> &'static [Column] {
        use ColumnKind::{Bytes, Number, OptionalText, Text};
        match self {
            Self::Tenants => &[("sequence", Number), ("last_id", Text)],
            Self::Records => &[("kind", Text), ("id", Text), ("version", Number), ("document", Text)],
            Self::RecordIndex => &[("idx", Text), ("sort_key", Bytes), ("kind", Text), ("id", Text)],
            Self::ChainEntries => &[
                ("chain", Text),
                ("height", Number),
                ("previous", Text),
                ("digest", Text),
                ("attestation", OptionalText),
                ("at", Number),
            ],
            Self::Erasures => &[("chain", Text), ("height", Number), ("reason", Text), ("at", Number)],
            Self::ChainBodies => &[("chain", Text), ("height", Number), ("body", Text)],
            Self::Events => &[("sequence", Number), ("type", Text), ("subject", Text), ("at", Number), ("data", Text)],
            Self::Timers => &[("key", Text), ("due", Number), ("action", Text)],
            Self::Blobs => &[("owner", Text), ("digest", Text), ("put_at", Number), ("bytes", Bytes)],
        }
    }

    /// How many columns, from the first on, make the key of a row within its tenant.
    #[must_use]
    pub const fn key_columns(self) -> usize {
        match self {
            Self::Tenants => 0,
            Self::Events | Self::Timers => 1,
            Self::Records
            | Self::RecordIndex
            | Self::ChainEntries
            | Self::Erasures
            | Self::ChainBodies
            | Self::Blobs => 2,
        }
    }

    /// The table of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }
}
