//! Paging through an index.

use handoff_protocol::id::TenantId;

use super::{IndexName, Record};

/// A page wanted from an index.
///
/// A page is stable under writes: whoever continues after the last sort key seen misses no row that was there all the
/// time and sees none twice.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexScan {
    /// Whose index.
    pub tenant: TenantId,
    /// Which index.
    pub index: IndexName,
    /// What the sort keys begin with; empty for all.
    pub prefix: Vec<u8>,
    /// Only rows strictly beyond this sort key, in the direction of [`order`](IndexScan::order).
    pub after: Option<Vec<u8>>,
    /// Which way.
    pub order: Order,
    /// How many rows at the most; at least 1.
    pub limit: usize,
}

/// The direction of a scan.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Order {
    /// Lowest sort key first.
    #[default]
    Ascending,
    /// Highest sort key first.
    Descending,
}

/// One page of an index.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Page {
    /// The rows in order, each with its record.
    pub rows: Vec<IndexedRecord>,
    /// Whether more rows follow the last one.
    pub more: bool,
}

/// An index row with the record it points to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexedRecord {
    /// The row's sort key.
    pub sort_key: Vec<u8>,
    /// The record.
    pub record: Record,
}
