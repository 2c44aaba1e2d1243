//! What a store in memory did, as a log from which another can be made that did the same.

use std::sync::Arc;

use bytes::Bytes;
use handoff_engine::{
    clock::Clock,
    entropy::Entropy,
    store::{BlobRef, StoreError, TimerKey, WriteSet},
};
use handoff_protocol::{digest::Digest, id::TenantId, timestamp::Timestamp};

use super::{
    MemoryStore,
    tenant::{Blob, Claim, Timer},
};

/// What is called with each change, in the order of changes. The store is locked meanwhile: the hook must not call it.
pub type LogHook = Arc<dyn Fn(Logged) + Send + Sync>;

/// One change of a store.
#[derive(Clone, Debug)]
pub enum Logged {
    /// A write-set was committed, its wakes aside.
    Wrote {
        /// Of which tenant.
        tenant: TenantId,
        /// When.
        now: Timestamp,
        /// What.
        set: Box<WriteSet>,
    },
    /// A timer was claimed.
    Claimed {
        /// Of which tenant.
        tenant: TenantId,
        /// Which.
        key: TimerKey,
        /// Under which epoch.
        epoch: u64,
        /// Until when.
        until: Timestamp,
    },
    /// A blob was put ahead of its transaction.
    PutBlob {
        /// Of which tenant.
        tenant: TenantId,
        /// Which.
        blob: BlobRef,
        /// Its content.
        bytes: Bytes,
        /// When.
        now: Timestamp,
    },
    /// A blob that nobody kept was swept.
    Swept {
        /// Of which tenant.
        tenant: TenantId,
        /// What it belonged to.
        owner: String,
        /// The digest of its content.
        digest: Digest,
    },
}

impl MemoryStore {
    /// A store that did what a log says, and that tells `on_log` of each change from now on.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] for a log that no store wrote.
    pub fn recover<'a>(
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        on_log: LogHook,
        log: impl IntoIterator<Item = &'a Logged>,
    ) -> Result<Self, StoreError> {
        let store = Self::build(clock, entropy, None, Some(on_log));
        for logged in log {
            store.redo(logged)?;
        }
        Ok(store)
    }

    fn redo(&self, logged: &Logged) -> Result<(), StoreError> {
        let mut data = self.data();
        match logged {
            Logged::Wrote { tenant, now, set } => {
                data.tenants.entry(*tenant).or_default().write(WriteSet::clone(set), *now, None)?;
            }
            Logged::Claimed { tenant, key, epoch, until } => {
                data.epoch = data.epoch.max(*epoch);
                let tenant = data.tenants.entry(*tenant).or_default();
                let Some(timer) = tenant.timers.get(key).cloned() else {
                    return Err(StoreError::Conflict("a timer that was claimed is not there".to_owned()));
                };
                tenant.timers.put(key.clone(), Timer { claim: Some(Claim { epoch: *epoch, until: *until }), ..timer });
                tenant.commit();
            }
            Logged::PutBlob { tenant, blob, bytes, now } => {
                let tenant = data.tenants.entry(*tenant).or_default();
                let key = (blob.owner.clone(), blob.digest);
                let kept = tenant.blobs.get(&key).is_some_and(|found| found.kept);
                tenant.blobs.put(key, Blob { bytes: bytes.clone(), put_at: *now, kept });
                tenant.commit();
            }
            Logged::Swept { tenant, owner, digest } => {
                let tenant = data.tenants.entry(*tenant).or_default();
                tenant.blobs.remove(&(owner.clone(), *digest));
                tenant.commit();
            }
        }
        Ok(())
    }
}
