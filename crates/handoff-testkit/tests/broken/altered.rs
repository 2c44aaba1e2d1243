//! Flaws that lie in what a store makes of a write-set.

use std::sync::PoisonError;

use handoff_engine::store::{BlobWrite, Loaded, NewEvent, Reads, RecordWrite, TimerWrite, WriteSet};

use super::flawed::{Flaw, Flawed, SHARED_OWNER};

impl Flawed {
    /// The write-set as this store writes it.
    pub(crate) fn alter(&self, loaded: &Loaded, mut set: WriteSet) -> WriteSet {
        match self.flaw {
            Flaw::TidiesDocuments => each_document(&mut set, |document| document.replace(' ', "")),
            Flaw::CutsDocuments => each_document(&mut set, |document| document.chars().take(900_000).collect()),
            Flaw::FoldsIds => {
                for write in &mut set.records {
                    let (RecordWrite::Put { key, .. } | RecordWrite::Delete { key, .. }) = write;
                    key.id = key.id.to_lowercase();
                }
            }
            Flaw::BlanksInsteadOfDeleting => {
                for write in &mut set.records {
                    if let RecordWrite::Delete { key, seen, unindex } = write.clone() {
                        let document = "".into();
                        *write = RecordWrite::Put { key, seen: Some(seen), document, unindex, index: vec![] };
                    }
                }
            }
            Flaw::ForgetsToUnindex => {
                for write in &mut set.records {
                    let (RecordWrite::Put { unindex, .. } | RecordWrite::Delete { unindex, .. }) = write;
                    unindex.clear();
                }
            }
            Flaw::IgnoresPreviousDigests => {
                for append in &mut set.chain {
                    if let Some(head) = loaded.chain(&append.chain).flatten() {
                        append.previous = head.digest;
                    }
                }
            }
            Flaw::KeepsErasedBodies => set.erasures.clear(),
            Flaw::RefusesASecondErasure => {
                for erasure in &set.erasures {
                    let mut erased = self.erased.lock().unwrap_or_else(PoisonError::into_inner);
                    if !erased.insert((erasure.chain.clone(), erasure.height)) {
                        set.records.push(impossible());
                    }
                }
            }
            Flaw::LosesEvents if set.events.len() > 1 => {
                set.events.pop();
            }
            Flaw::NeverRemovesTimers => set.timers.retain(|write| !matches!(write, TimerWrite::Remove { .. })),
            Flaw::SettlesAnyEpoch => {
                for write in &mut set.timers {
                    if let TimerWrite::Settle { key, .. } = write.clone() {
                        *write = TimerWrite::Remove { key };
                    }
                }
            }
            Flaw::DropsTimerPuts if set.timers.len() > 1 => {
                set.timers.retain(|write| !matches!(write, TimerWrite::Put { .. }));
            }
            Flaw::ForgetsToKeepBlobs => set.blobs.retain(|write| !matches!(write, BlobWrite::Keep(_))),
            Flaw::DropsStoredBlobs => set.blobs.retain(|write| !matches!(write, BlobWrite::Store { .. })),
            Flaw::SharesBlobs => {
                for write in &mut set.blobs {
                    match write {
                        BlobWrite::Store { owner, .. } => SHARED_OWNER.clone_into(owner),
                        BlobWrite::Keep(blob) | BlobWrite::Drop(blob) => SHARED_OWNER.clone_into(&mut blob.owner),
                    }
                }
            }
            Flaw::DropsWakes => set.wakes.clear(),
            _ => {}
        }
        set
    }

    /// What this store still writes of a set that it refused.
    pub(crate) fn remains(&self, set: WriteSet) -> Option<WriteSet> {
        match self.flaw {
            Flaw::WritesRecordsOfRefusedSets => Some(WriteSet { records: set.records, ..WriteSet::default() }),
            Flaw::WritesEventsOfRefusedSets => Some(WriteSet { events: set.events, ..WriteSet::default() }),
            _ => None,
        }
    }

    /// What is loaded as this store shows it to a step.
    pub(crate) fn show(&self, reads: &Reads, loaded: &Loaded) -> Loaded {
        let mut shown = loaded.clone();
        match self.flaw {
            Flaw::LowersTheLastId => {
                shown.head.last_id = *self.last_id.lock().unwrap_or_else(PoisonError::into_inner);
            }
            Flaw::LoadsAbsentAsUnasked => {
                shown = Loaded::new(loaded.tenant, loaded.head);
                for key in &reads.records {
                    if let Some(Some(record)) = loaded.record(key) {
                        shown.put_record(key.clone(), Some(record.clone()));
                    }
                }
            }
            _ => {}
        }
        shown
    }
}

/// An event that nobody asked for.
pub(crate) fn noise() -> WriteSet {
    let event = NewEvent {
        event_type: handoff_engine::store::EventType::from_static("noise"),
        subject: "noise".to_owned(),
        data: "{}".into(),
    };
    WriteSet { events: vec![event], ..WriteSet::default() }
}

fn each_document(set: &mut WriteSet, change: impl Fn(&str) -> String) {
    for write in &mut set.records {
        if let RecordWrite::Put { document, .. } = write {
            *document = change(document).into();
        }
    }
}

/// A write that no store accepts.
fn impossible() -> RecordWrite {
    let kind = handoff_engine::store::RecordKind::from_static("impossible");
    RecordWrite::Delete { key: handoff_engine::store::RecordKey::new(kind, ""), seen: 1, unindex: vec![] }
}
