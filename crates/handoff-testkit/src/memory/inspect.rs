//! Everything of a store in memory, for whoever checks it.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainName, IndexRow, Inspect, Snapshot, StoreError, StoredClaim, StoredTimer,
};
use handoff_protocol::id::TenantId;

use super::MemoryStore;

#[async_trait]
impl Inspect for MemoryStore {
    async fn tenants(&self) -> Result<Vec<TenantId>, StoreError> {
        Ok(self.data().tenants.keys().copied().collect())
    }

    async fn snapshot(&self, tenant: &TenantId) -> Result<Snapshot, StoreError> {
        let (tenant_id, now) = (*tenant, self.shared.clock.now());
        Ok(self.read(tenant, |tenant| {
            let mut chains: BTreeMap<ChainName, Vec<ChainEntry>> = BTreeMap::new();
            for ((chain, _), entry) in tenant.chains.iter() {
                chains.entry(chain.clone()).or_default().push(entry.clone());
            }
            let index = tenant.index.iter().map(|((index, sort_key), key)| {
                (IndexRow { index: index.clone(), sort_key: sort_key.clone() }, key.clone())
            });
            let timers = tenant.timers.iter().map(|(key, timer)| {
                let claim = timer.claim.map(|claim| StoredClaim { epoch: claim.epoch, until: claim.until });
                (key.clone(), StoredTimer { due: timer.due, action: Arc::clone(&timer.action), claim })
            });
            let blobs = tenant
                .blobs
                .iter()
                .map(|((owner, digest), blob)| (BlobRef { owner: owner.clone(), digest: *digest }, blob.kept));
            Snapshot {
                tenant: tenant_id,
                now,
                head: tenant.head,
                records: tenant.records.iter().map(|(key, record)| (key.clone(), record.clone())).collect(),
                index: index.collect(),
                chains,
                erased: tenant.erasures.iter().map(|(place, _)| place.clone()).collect(),
                events: tenant.events.iter().map(|(_, event)| event.clone()).collect(),
                timers: timers.collect(),
                blobs: blobs.collect(),
            }
        }))
    }
}
