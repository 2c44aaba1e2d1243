//! A store that does not answer: everything fails at once, or nothing ever ends.

use std::{future::pending, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use handoff_engine::store::{
    BlobRef, ChainEntry, ChainHead, ChainName, Claimed, HeightRange, IndexScan, NewBlob, Page, Record, RecordKey,
    Sequence, Store, StoreError, StoredEvent, Transacted, Transaction, WakeStream,
};
use handoff_protocol::id::TenantId;

/// How it does not answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stuck {
    Fails,
    Hangs,
}

impl Stuck {
    async fn answer<T>(self) -> Result<T, StoreError> {
        match self {
            Self::Fails => Err(StoreError::Unavailable("planted by a test".to_owned())),
            Self::Hangs => pending().await,
        }
    }
}

#[async_trait]
impl Store for Stuck {
    async fn transact(&self, _: Transaction) -> Result<Transacted, StoreError> {
        self.answer().await
    }

    async fn get(&self, _: &TenantId, _: &[RecordKey]) -> Result<Vec<Option<Record>>, StoreError> {
        self.answer().await
    }

    async fn scan(&self, _: IndexScan) -> Result<Page, StoreError> {
        self.answer().await
    }

    async fn read_chain(&self, _: &TenantId, _: &ChainName, _: HeightRange) -> Result<Vec<ChainEntry>, StoreError> {
        self.answer().await
    }

    async fn chain_head(&self, _: &TenantId, _: &ChainName) -> Result<Option<ChainHead>, StoreError> {
        self.answer().await
    }

    async fn read_events(&self, _: &TenantId, _: Sequence, _: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.answer().await
    }

    async fn claim_timers(&self, _: usize, _: Duration) -> Result<Claimed, StoreError> {
        self.answer().await
    }

    async fn put_blob(&self, _: NewBlob) -> Result<BlobRef, StoreError> {
        self.answer().await
    }

    async fn get_blob(&self, _: &TenantId, _: &BlobRef) -> Result<Option<Bytes>, StoreError> {
        self.answer().await
    }

    async fn sweep_blobs(&self, _: Duration) -> Result<u64, StoreError> {
        self.answer().await
    }

    fn wakes(&self) -> WakeStream {
        futures::stream::pending().boxed()
    }
}
