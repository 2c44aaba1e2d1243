//! Continuation data (section 18): given back in signals, and sealed anew when keys change.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use handoff_protocol::{
    continuation::{ContinuationKeyId, Keyring, OpenError},
    decision::{Continuation, DecisionError, Resumed, Signal},
    id::{OrgId, RequestId, TenantId},
};

use super::{apply::Writes, internal, keys};
use crate::{
    document,
    engine::Engine,
    identity::IdentityError,
    store::{IndexScan, Order, Reads, RecordKey, StoreError},
    transaction::{Halt, Outcome},
};

/// How many payloads one read brings, and one commit seals anew.
const BATCH: usize = 25;

/// How much is sealed with each key, over all tenants.
pub type ContinuationKeyUse = BTreeMap<ContinuationKeyId, u64>;

/// What is sealed cannot be looked through, or not be sealed anew.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContinuationError {
    /// There is no key to seal with.
    #[error("no continuation key is configured, so there is nothing to seal with")]
    NoKey,
    /// Something does not open. What was sealed anew before stays so, and a repetition goes on from there.
    #[error("the continuation data of {request} cannot be sealed anew: {error}")]
    Sealed {
        /// Whose it is.
        request: RequestId,
        /// What is wrong.
        #[source]
        error: OpenError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The tenants cannot be listed.
    #[error(transparent)]
    Tenants(#[from] IdentityError),
    /// A commit failed; the log has the words.
    #[error(
        "a batch could not be committed; what was sealed anew before stays so, and a repetition goes on from there"
    )]
    Commit,
}

impl Engine {
    /// Whether continuation data can be kept (rule L-4): what makes a server one of level 2.
    #[must_use]
    pub fn keeps_continuations(&self) -> bool {
        self.policy().continuation.is_some()
    }

    /// What each signal gives back, in order. Nothing is read for signals that give nothing back; none comes for one whose
    /// continuation data is gone, which says that it was acknowledged meanwhile.
    pub(super) async fn resumed(
        &self,
        tenant: TenantId,
        signals: &[Signal],
    ) -> Result<Vec<Option<Resumed>>, DecisionError> {
        let mut ids: Vec<RequestId> =
            signals.iter().filter(|signal| signal.continued).map(|signal| signal.request_id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut kept = HashMap::new();
        if let TenantId::Org(org) = tenant
            && !ids.is_empty()
        {
            let records: Vec<RecordKey> = ids.iter().map(|id| RecordKey::new(keys::CONTINUATION, id)).collect();
            let found = self.inner.store.get(&tenant, &records).await.map_err(|error| internal(&error))?;
            for record in found.into_iter().flatten() {
                let continuation = document::read::<Continuation>(&record).map_err(|error| internal(&error))?.document;
                let keyring = self.policy().continuation.as_deref();
                let resumed = continuation.resume(org, keyring).map_err(|error| internal(&error))?;
                kept.insert(continuation.request_id, resumed);
            }
        }
        let resumed = |signal: &Signal| {
            if signal.continued { kept.get(&signal.request_id).cloned() } else { Some(Resumed::default()) }
        };
        Ok(signals.iter().map(resumed).collect())
    }

    /// The keys that something is sealed with, and how much.
    ///
    /// # Errors
    ///
    /// [`ContinuationError`].
    pub async fn continuation_keys(&self) -> Result<ContinuationKeyUse, ContinuationError> {
        let mut used = ContinuationKeyUse::new();
        for tenant in self.tenants().await? {
            let mut after = None;
            loop {
                let (found, next) = self.sealed(tenant, after, BATCH).await?;
                for continuation in found {
                    if let Some(sealed) = continuation.resume_payload {
                        let count = used.entry(sealed.key).or_default();
                        *count = count.saturating_add(1);
                    }
                }
                match next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
        }
        Ok(used)
    }

    /// The keys that something is sealed with and that are not configured. A server that lacks one would have to break its
    /// word, so it should not start. Costs one or two looks a tenant.
    ///
    /// # Errors
    ///
    /// [`ContinuationError`].
    pub async fn missing_continuation_keys(&self) -> Result<Vec<ContinuationKeyId>, ContinuationError> {
        let keyring = self.policy().continuation.clone();
        let mut missing = Vec::new();
        for tenant in self.tenants().await? {
            let mut after = None;
            loop {
                let (found, _) = self.sealed(tenant, after.take(), 1).await?;
                let key =
                    found.into_iter().find_map(|continuation| continuation.resume_payload).map(|sealed| sealed.key);
                let Some(key) = key else { break };
                after = Some(keys::after_key(&key));
                if !keyring.as_ref().is_some_and(|keyring| keyring.has(&key)) && !missing.contains(&key) {
                    missing.push(key);
                }
            }
        }
        Ok(missing)
    }

    /// Seals everything with the current key that is sealed with another one, a batch a commit, and answers how much that
    /// was. It can be stopped at any point and repeated: what is done stays done.
    ///
    /// # Errors
    ///
    /// [`ContinuationError`].
    pub async fn reseal_continuations(&self) -> Result<u64, ContinuationError> {
        let keyring = self.policy().continuation.clone().ok_or(ContinuationError::NoKey)?;
        let current = keyring.ids().next().cloned().ok_or(ContinuationError::NoKey)?;
        let mut done: u64 = 0;
        for tenant in self.tenants().await? {
            let mut after = None;
            loop {
                let (found, next) = self.sealed(tenant, after.take(), BATCH).await?;
                let ids: Vec<RequestId> = found
                    .into_iter()
                    .filter(|kept| kept.resume_payload.as_ref().is_some_and(|sealed| sealed.key != current))
                    .map(|kept| kept.request_id)
                    .collect();
                if !ids.is_empty() {
                    done = done.saturating_add(self.reseal(tenant, ids, Arc::clone(&keyring)).await?);
                }
                match next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
        }
        Ok(done)
    }

    async fn reseal(
        &self,
        tenant: OrgId,
        ids: Vec<RequestId>,
        keyring: Arc<Keyring>,
    ) -> Result<u64, ContinuationError> {
        let reads = ids.iter().fold(Reads::none(), |reads, id| reads.record(RecordKey::new(keys::CONTINUATION, id)));
        let step = self.decide(TenantId::Org(tenant), reads, move |view, _| {
            let mut mint = view.mint();
            let mut writes = Writes::default();
            let mut done: u64 = 0;
            for id in &ids {
                // It may have gone with the last of its signals.
                let Some(kept) = view.get::<Continuation, DecisionError>(id)? else { continue };
                match kept.document.reseal(tenant, &keyring, &mut mint) {
                    Ok(Some(sealed)) => {
                        writes.put(Some(&kept), &sealed).map_err(Halt::Broken)?;
                        done = done.saturating_add(1);
                    }
                    Ok(None) => {}
                    Err(error) => return Ok(Outcome::Nothing(Err((*id, error)))),
                }
            }
            Ok(Outcome::Write(writes.finish(&mint), Ok(done)))
        });
        match step.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err((request, error))) => Err(ContinuationError::Sealed { request, error }),
            Err(_) => Err(ContinuationError::Commit),
        }
    }

    /// One page of what is sealed, by key, and where the next begins.
    async fn sealed(
        &self,
        tenant: OrgId,
        after: Option<Vec<u8>>,
        limit: usize,
    ) -> Result<(Vec<Continuation>, Option<Vec<u8>>), StoreError> {
        let tenant = TenantId::Org(tenant);
        let scan = IndexScan { tenant, index: keys::SEALED, prefix: Vec::new(), after, order: Order::Ascending, limit };
        let page = self.inner.store.scan(scan).await?;
        let next = page.rows.last().filter(|_| page.more).map(|row| row.sort_key.clone());
        let found: Result<Vec<Continuation>, StoreError> =
            page.rows.iter().map(|row| document::read(&row.record).map(|kept| kept.document)).collect();
        Ok((found?, next))
    }
}
