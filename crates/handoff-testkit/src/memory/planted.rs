//! What the planted faults of the store in memory do (see [`handoff_protocol::planted`]), where a line at their place does not
//! say it. Whether one of many commits is hit depends on what was committed alone, so that a seed comes to the same each time.

use std::collections::BTreeMap;

use handoff_engine::store::{BlobWrite, ChainHead, ChainName, Record, RecordKey, RecordWrite, TimerWrite, WriteSet};
use handoff_protocol::{id::TenantId, planted::Fault, timestamp::Timestamp};

use super::tenant::{Tenant, Timer};

/// One commit of so many is hit.
const RARELY: u64 = 23;

/// A far future.
const NEVER: Timestamp = Timestamp::from_unix_millis(32_503_680_000_000);

impl Tenant {
    /// Whether what a commit writes is lost although its caller hears that it is there.
    pub(super) fn loses(set: &WriteSet) -> bool {
        Fault::BatchLosesOne.is_planted() && set.last_id.as_u128() % u128::from(RARELY) == 1
    }

    /// Whether an event takes the number of the one before.
    pub(super) fn reuses(&self, sequence: u64) -> bool {
        sequence > 1 && Fault::SequenceReused.is_planted() && self.is_hit()
    }

    fn is_hit(&self) -> bool {
        self.head.sequence % RARELY == RARELY / 2
    }

    /// A write-set that is not quite what was to be written.
    pub(super) fn altered(&mut self, mut set: WriteSet) -> WriteSet {
        if Fault::EventDropped.is_planted() && self.is_hit() {
            set.events.pop();
        }
        if Fault::BlobNotKept.is_planted() {
            set.blobs.retain(|write| !matches!(write, BlobWrite::Store { .. } | BlobWrite::Keep(_)));
        }
        for write in &mut set.records {
            match write {
                RecordWrite::Put { key, unindex, index, .. } => {
                    if Fault::RowLeftBehind.is_planted() && self.is_hit() {
                        unindex.clear();
                    }
                    if Fault::RowMissing.is_planted() && self.is_hit() {
                        index.pop();
                    }
                    if let Some(before) = self.records.get(key) {
                        self.previous.insert(key.clone(), before.clone());
                    }
                }
                RecordWrite::Delete { unindex, .. } => {
                    if Fault::RowLeftBehind.is_planted() {
                        unindex.clear();
                    }
                }
            }
        }
        set.timers.retain(|write| match write {
            TimerWrite::Remove { .. } => !Fault::TimerLeftBehind.is_planted(),
            TimerWrite::Put { key, .. } => !(Fault::TimerNotMoved.is_planted() && self.timers.get(key).is_some()),
            TimerWrite::Settle { .. } => true,
        });
        set
    }

    /// A record as a step sees it whose view is older than what it writes over.
    pub(super) fn as_it_was(&self, key: &RecordKey, record: Option<Record>) -> Option<Record> {
        if !Fault::CompareAndSetIgnored.is_planted() || !self.is_hit() {
            return record;
        }
        let record = record?;
        let before = self.previous.get(key).map(|before| Record { version: record.version, ..before.clone() });
        Some(before.unwrap_or(record))
    }

    /// Whether a receipt goes on from a head that is none any more.
    pub(super) fn takes_anything(&self) -> bool {
        Fault::ChainTakesAnything.is_planted() && self.is_hit()
    }

    /// The head of a chain before its last entry, or as it is.
    pub(super) fn head_before(&self, chain: &ChainName) -> Option<ChainHead> {
        let (_, entry) = self.chains.range((chain.clone(), 0)..=(chain.clone(), u64::MAX)).rev().nth(1)?;
        Some(ChainHead { height: entry.height, digest: entry.digest })
    }
}

impl Timer {
    /// From when on a timer can be claimed by a store that is mistaken about claims.
    pub(super) fn claimable_otherwise(&self) -> Option<Timestamp> {
        let claim = self.claim?;
        // Not every claim, or whoever looks for what is due would never come to an end.
        if Fault::ClaimedTwice.is_planted() && claim.epoch % 4 == 0 {
            return Some(self.due);
        }
        Fault::ClaimsNeverLapse.is_planted().then_some(NEVER)
    }
}

/// What a read brings from a store that is mistaken about what there is.
pub(super) fn read_otherwise(
    tenants: &BTreeMap<TenantId, Tenant>,
    tenant: &TenantId,
    keys: &[RecordKey],
) -> Option<Vec<Option<Record>>> {
    let own = tenants.get(tenant)?;
    if Fault::ReadsGoBack.is_planted() && own.is_hit() {
        let read = |key: &RecordKey| own.previous.get(key).or_else(|| own.records.get(key)).cloned();
        return Some(keys.iter().map(read).collect());
    }
    if Fault::OtherTenantsRecord.is_planted() {
        let any = |key: &RecordKey| tenants.values().find_map(|tenant| tenant.records.get(key));
        return Some(keys.iter().map(|key| own.records.get(key).or_else(|| any(key)).cloned()).collect());
    }
    None
}
