//! Records, as they are stored and as they are to be.

use handoff_engine::store::{Record, RecordKey, RecordWrite, StoreError};

use super::{IndexRows, Refusal, Tracking};
use crate::tracked::Tracked;

/// One record.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// The stored version, or what the first write supposed it to be.
    pub(crate) stored: Option<u64>,
    /// Whether the stored version was read.
    known: bool,
    /// As steps see it.
    pub(crate) now: Option<Record>,
    /// Whether that differs from what is stored.
    pub(crate) changed: bool,
}

/// The records that a batch has read or written.
#[derive(Debug, Default)]
pub(crate) struct Records(Tracked<RecordKey, Slot>);

impl Records {
    /// The record under a key: `None` if that is not known.
    pub(crate) fn get(&self, key: &RecordKey) -> Option<Option<&Record>> {
        self.0.get(key).map(|slot| slot.now.as_ref())
    }

    /// Every slot, in the order of the keys.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (&RecordKey, &Slot)> {
        self.0.rows().iter()
    }

    pub(crate) fn note(&mut self, key: RecordKey, stored: Option<Record>) -> Result<(), StoreError> {
        let version = stored.as_ref().map(|record| record.version);
        match self.0.get(&key) {
            Some(slot) if slot.known => {}
            Some(slot) if slot.stored == version => {
                let known = Slot { known: true, ..slot.clone() };
                self.0.put(key, known);
            }
            Some(_) => return Err(misfit(&key)),
            None => self.0.put(key, Slot { stored: version, known: true, now: stored, changed: false }),
        }
        self.0.keep();
        Ok(())
    }

    pub(super) fn write(&mut self, write: RecordWrite, index: &mut IndexRows) -> Result<(), Refusal> {
        match write {
            RecordWrite::Put { key, seen, document, unindex, index: rows } => {
                let slot = self.slot(&key, seen)?;
                let version = seen.unwrap_or(0).saturating_add(1);
                let now = Some(Record { key: key.clone(), version, document });
                self.0.put(key.clone(), Slot { now, changed: true, ..slot });
                index.remove(&key, unindex);
                index.add(&key, rows)
            }
            RecordWrite::Delete { key, seen, unindex } => {
                let slot = self.slot(&key, Some(seen))?;
                if slot.stored.is_none() && !slot.known {
                    // Nothing would be written, so nothing would show that the one who made it supposed wrongly.
                    return Err(Refusal::Missing(handoff_engine::store::Reads::none().record(key)));
                }
                self.0.put(key.clone(), Slot { now: None, changed: true, ..slot });
                index.remove(&key, unindex);
                Ok(())
            }
        }
    }

    /// The slot of a record that a step saw at a version. One that nobody read is supposed to be there at that version; the
    /// write will tell.
    fn slot(&self, key: &RecordKey, seen: Option<u64>) -> Result<Slot, Refusal> {
        match self.0.get(key) {
            Some(slot) if slot.now.as_ref().map(|record| record.version) == seen => Ok(slot.clone()),
            Some(_) => Err(Refusal::Misfit(misfit(key))),
            None => Ok(Slot { stored: seen, known: false, now: None, changed: false }),
        }
    }

    pub(super) fn each(&mut self, tracking: Tracking) {
        tracking.on(&mut self.0);
    }
}

fn misfit(key: &RecordKey) -> StoreError {
    StoreError::Conflict(format!("a record of kind {} is not at the version that was seen", key.kind))
}
