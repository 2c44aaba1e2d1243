//! What rows must hold among themselves, looked at as they go by.

use std::collections::BTreeMap;

use handoff_protocol::{digest::Digest, id::TenantId};

use super::Moved;
use crate::store::{Cell, Row, Table};

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) moved: Moved,
    /// What the head row of the tenant says that the last event is, and which was seen last.
    head: Option<(TenantId, i64)>,
    events: i64,
    /// Where the last row stood.
    place: Option<(TenantId, Table)>,
}

impl Order {
    /// Looks at a row, and says what is wrong with it.
    pub(super) fn see(&mut self, row: &Row) -> Result<(), &'static str> {
        let before = self.place.replace((row.tenant, row.table));
        if before.is_some_and(|before| before.0 == row.tenant && before.1 > row.table) {
            return Err("rows of this kind come before those of the line above");
        }
        if before.is_none_or(|before| before.0 != row.tenant) {
            self.close()?;
        }
        match (row.table, row.cells.as_slice()) {
            (Table::Tenants, [Cell::Number(sequence), _]) => self.head = Some((row.tenant, *sequence)),
            (
                Table::ChainEntries,
                [Cell::Text(chain), Cell::Number(height), Cell::Text(previous), Cell::Text(digest), ..],
            ) => {
                self.entry(row.tenant, chain, *height, previous, digest)?;
            }
            (Table::Events, [Cell::Number(sequence), ..]) => {
                self.events = self.events.saturating_add(1);
                if self.events != *sequence {
                    return Err("an event is missing before it");
                }
            }
            (Table::Blobs, [_, Cell::Text(digest), _, Cell::Bytes(bytes)])
                if Digest::of(bytes).to_string() != *digest =>
            {
                return Err("the content does not have the digest that it is kept under");
            }
            _ => {}
        }
        let count = self.moved.rows.entry(row.table).or_default();
        *count = count.saturating_add(1);
        Ok(())
    }

    /// Looks at what must be true of a tenant behind its last row.
    pub(super) fn close(&mut self) -> Result<(), &'static str> {
        let events = std::mem::take(&mut self.events);
        let due = self.head.take().map_or(0, |(_, sequence)| sequence);
        if events == due { Ok(()) } else { Err("the tenant above has more or fewer events than its head says") }
    }

    fn entry(
        &mut self,
        tenant: TenantId,
        chain: &str,
        height: i64,
        previous: &str,
        digest: &str,
    ) -> Result<(), &'static str> {
        let digest = Digest::parse(digest).map_err(|_| "a digest of it cannot be read")?;
        let previous = Digest::parse(previous).map_err(|_| "a digest of it cannot be read")?;
        let height = u64::try_from(height).map_err(|_| "its height is below 1")?;
        let heads: &mut BTreeMap<_, _> = &mut self.moved.heads;
        let head = heads.insert((tenant, chain.to_owned()), (height, digest));
        let continues = match head {
            None => height == 1,
            Some((below, last)) => below.checked_add(1) == Some(height) && last == previous,
        };
        if continues { Ok(()) } else { Err("the entry does not continue its chain") }
    }
}
