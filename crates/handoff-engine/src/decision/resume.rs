//! Continuation data (section 18): given back in signals, and sealed anew when keys change.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use handoff_protocol::{
    continuation::{ContinuationKeyId, Keyring, OpenError},
    decision::{Continuation, DecisionError, Resumed, Signal},
    id::{OrgId, RequestId, TenantId},
    json::read_str,
};

use super::{apply::Writes, internal, keys};
use crate::{
    document,
    engine::Engine,
    identity::IdentityError,
    store::{IndexRow, IndexScan, IndexedRecord, Order, Reads, Record, RecordKey, StoreError},
    transaction::{Halt, Outcome},
};

/// How many payloads one read brings, and one commit seals anew.
const BATCH: usize = 25;

/// What is sealed with each key, over all tenants.
pub type ContinuationKeyUse = BTreeMap<ContinuationKeyId, Sealings>;

/// What is sealed with one key.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sealings {
    /// How much in all.
    pub all: u64,
    /// How much of it does not open, although this very key is configured.
    pub unreadable: u64,
    /// How much of it was sealed with another key of this name than the one that is configured.
    pub under_another: u64,
}

/// What a deployment gives up: payloads that do not open and never will. Nothing that opens is ever given up.
#[derive(Clone, Debug, Default)]
pub struct Forget {
    /// Those that were altered.
    pub unreadable: bool,
    /// Those of keys that are lost: not configured, or configured as another key of the same name.
    pub keys: Vec<String>,
}

/// A payload that does not open.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unreadable {
    /// The request that it was handed over with.
    pub request: RequestId,
    /// Why not.
    pub error: OpenError,
}

/// What sealing anew came to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Resealed {
    /// How much was sealed anew.
    pub sealed: u64,
    /// What was given up.
    pub forgotten: Vec<Unreadable>,
    /// What does not open and is kept as it is.
    pub left: Vec<Unreadable>,
}

/// What is sealed cannot be looked through, or not be sealed anew.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContinuationError {
    /// There is no key to seal with.
    #[error("no continuation key is configured, so there is nothing to seal with")]
    NoKey,
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

impl Forget {
    /// Whether a payload that does not open for this reason is given up.
    fn covers(&self, error: &OpenError) -> bool {
        match error {
            OpenError::UnknownKey(key) | OpenError::OtherKey(key) => self.keys.iter().any(|name| name == key.as_str()),
            OpenError::Altered => self.unreadable,
            // A reason that is not known here is none to give anything up for.
            _ => false,
        }
    }
}

impl Engine {
    /// Whether continuation data can be kept (rule L-4): what makes a server one of level 2.
    #[must_use]
    pub fn keeps_continuations(&self) -> bool {
        self.policy().continuation.is_some()
    }

    /// What each signal gives back, in order. Nothing is read for signals that give nothing back; none comes for one whose
    /// continuation data is gone, which says that it was acknowledged meanwhile.
    ///
    /// A payload that does not open is refused, and its signal goes on without it, as one that has none: the outcome is what
    /// its runtime waits for, and the signals behind it are not held up. The log names the request.
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
            for (id, record) in ids.iter().zip(found) {
                let Some(record) = record else { continue };
                kept.insert(*id, self.given_back(org, *id, &record));
            }
        }
        let resumed = |signal: &Signal| {
            if signal.continued { kept.get(&signal.request_id).cloned() } else { Some(Resumed::default()) }
        };
        Ok(signals.iter().map(resumed).collect())
    }

    fn given_back(&self, tenant: OrgId, request: RequestId, record: &Record) -> Resumed {
        let refused = |error: &dyn std::error::Error| {
            tracing::error!(%tenant, %request, %error, "a signal goes on without its resume_payload, which does not open");
        };
        let continuation = match document::read::<Continuation>(record) {
            // What stands under another request's name was never this one's.
            Ok(kept) if kept.document.request_id == request => kept.document,
            Ok(_) => {
                refused(&OpenError::Altered);
                return Resumed::default();
            }
            Err(error) => {
                refused(&error);
                return salvaged(request, record).resume(tenant, None).unwrap_or_default();
            }
        };
        continuation.resume(tenant, self.policy().continuation.as_deref()).unwrap_or_else(|error| {
            refused(&error);
            continuation.without_payload().resume(tenant, None).unwrap_or_default()
        })
    }

    /// The keys that something is sealed with, how much, and how much of that does not open. Each payload is opened.
    ///
    /// # Errors
    ///
    /// [`ContinuationError`].
    pub async fn continuation_keys(&self) -> Result<ContinuationKeyUse, ContinuationError> {
        let keyring = self.policy().continuation.clone();
        let mut used = ContinuationKeyUse::new();
        for tenant in self.tenants().await? {
            let mut after = None;
            loop {
                let (found, next) = self.sealed(tenant, after, BATCH).await?;
                for found in found {
                    let opened = found.check(tenant, keyring.as_deref());
                    let Some(key) = found.key() else { continue };
                    let sealings = used.entry(key).or_default();
                    sealings.all = sealings.all.saturating_add(1);
                    match opened {
                        // Of a key that is missing, nothing can be said.
                        Ok(()) | Err(OpenError::UnknownKey(_)) => {}
                        Err(OpenError::OtherKey(_)) => {
                            sealings.under_another = sealings.under_another.saturating_add(1);
                        }
                        Err(_) => sealings.unreadable = sealings.unreadable.saturating_add(1),
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

    /// The keys that something is sealed with and that are not configured, or configured as another key of the same name. A
    /// server that lacks one would have to break its word, so it should not start. Costs one or two looks a tenant.
    ///
    /// # Errors
    ///
    /// [`ContinuationError`].
    pub async fn missing_continuation_keys(&self) -> Result<Vec<OpenError>, ContinuationError> {
        let keyring = self.policy().continuation.clone();
        let mut missing = Vec::new();
        for tenant in self.tenants().await? {
            let mut after = None;
            loop {
                let (found, _) = self.sealed(tenant, after.take(), 1).await?;
                let sealed = match found.into_iter().next() {
                    None => break,
                    // Nothing opens it, so no key is missing for it.
                    Some(Found::Damaged { place, .. }) => {
                        after = Some(place);
                        continue;
                    }
                    Some(Found::Whole(continuation)) => continuation.resume_payload,
                };
                let Some(sealed) = sealed else { break };
                after = Some(keys::after_key(&sealed.key));
                let checked = match &keyring {
                    None => Err(OpenError::UnknownKey(sealed.key)),
                    Some(keyring) => keyring.check(&sealed),
                };
                missing.extend(checked.err().filter(|error| !missing.contains(error)));
            }
        }
        Ok(missing)
    }

    /// Seals everything with the current key that is sealed with another one, a batch a commit. What does not open is left
    /// as it is and told, or given up where that is asked for; it holds up nothing else. It can be stopped at any point and
    /// repeated: what is done stays done.
    ///
    /// # Errors
    ///
    /// [`ContinuationError`].
    pub async fn reseal_continuations(&self, forget: &Forget) -> Result<Resealed, ContinuationError> {
        let keyring = self.policy().continuation.clone().ok_or(ContinuationError::NoKey)?;
        let current = keyring.ids().next().cloned().ok_or(ContinuationError::NoKey)?;
        let mut all = Resealed::default();
        for tenant in self.tenants().await? {
            let mut after = None;
            loop {
                let (found, next) = self.sealed(tenant, after.take(), BATCH).await?;
                let is_done = |kept: &Continuation| {
                    let own = kept.resume_payload.as_ref().is_none_or(|sealed| sealed.key == current);
                    own && kept.check(tenant, Some(&keyring)).is_ok()
                };
                let mut ids = Vec::new();
                for found in found {
                    match found {
                        Found::Whole(kept) if is_done(&kept) => {}
                        Found::Whole(kept) => ids.push(kept.request_id),
                        Found::Damaged { request, place, record } => {
                            let unreadable = Unreadable { request, error: OpenError::Altered };
                            if forget.covers(&unreadable.error) {
                                self.forget_damaged(tenant, request, place, record).await?;
                                all.forgotten.push(unreadable);
                            } else {
                                all.left.push(unreadable);
                            }
                        }
                    }
                }
                if !ids.is_empty() {
                    let batch = self.reseal(tenant, ids, Arc::clone(&keyring), forget.clone()).await?;
                    all.sealed = all.sealed.saturating_add(batch.sealed);
                    all.forgotten.extend(batch.forgotten);
                    all.left.extend(batch.left);
                }
                match next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
        }
        Ok(all)
    }

    async fn reseal(
        &self,
        tenant: OrgId,
        ids: Vec<RequestId>,
        keyring: Arc<Keyring>,
        forget: Forget,
    ) -> Result<Resealed, ContinuationError> {
        let reads = ids.iter().fold(Reads::none(), |reads, id| reads.record(RecordKey::new(keys::CONTINUATION, id)));
        let step = self.decide(TenantId::Org(tenant), reads, move |view, _| {
            let mut mint = view.mint();
            let mut writes = Writes::default();
            let mut done = Resealed::default();
            for id in &ids {
                // It may have gone with the last of its signals.
                let Some(kept) = view.get::<Continuation, DecisionError>(id)? else { continue };
                let opened = kept.document.check(tenant, Some(&keyring));
                match opened.and_then(|()| kept.document.reseal(tenant, &keyring, &mut mint)) {
                    Ok(Some(sealed)) => {
                        writes.put(Some(&kept), &sealed).map_err(Halt::Broken)?;
                        done.sealed = done.sealed.saturating_add(1);
                    }
                    Ok(None) => {}
                    Err(error) if forget.covers(&error) => {
                        writes.put(Some(&kept), &kept.document.without_payload()).map_err(Halt::Broken)?;
                        done.forgotten.push(Unreadable { request: *id, error });
                    }
                    Err(error) => done.left.push(Unreadable { request: *id, error }),
                }
            }
            if done.sealed == 0 && done.forgotten.is_empty() {
                return Ok(Outcome::Nothing(done));
            }
            Ok(Outcome::Write(writes.finish(&mint), done))
        });
        step.await.map_err(|_| ContinuationError::Commit)
    }

    /// Puts what can be saved in the place of a record that is no longer one, unless somebody wrote there meanwhile.
    async fn forget_damaged(
        &self,
        tenant: OrgId,
        request: RequestId,
        place: Vec<u8>,
        record: Record,
    ) -> Result<(), ContinuationError> {
        let step = self.decide(TenantId::Org(tenant), Reads::none(), move |view, _| {
            let mut writes = Writes::default();
            let rows = vec![IndexRow { index: keys::SEALED, sort_key: place.clone() }];
            writes.overwrite(record.version, rows, &salvaged(request, &record)).map_err(Halt::Broken)?;
            Ok(Outcome::Write(writes.finish(&view.mint()), ()))
        });
        step.await.map_err(|_| ContinuationError::Commit)
    }

    /// One page of what is sealed, by key, and where the next begins.
    async fn sealed(
        &self,
        tenant: OrgId,
        after: Option<Vec<u8>>,
        limit: usize,
    ) -> Result<(Vec<Found>, Option<Vec<u8>>), StoreError> {
        let tenant = TenantId::Org(tenant);
        let scan = IndexScan { tenant, index: keys::SEALED, prefix: Vec::new(), after, order: Order::Ascending, limit };
        let page = self.inner.store.scan(scan).await?;
        let next = page.rows.last().filter(|_| page.more).map(|row| row.sort_key.clone());
        let found: Result<Vec<Found>, StoreError> = page.rows.into_iter().map(Found::of).collect();
        Ok((found?, next))
    }
}

/// A record of continuation data, as it stands under the key that it is sealed with.
enum Found {
    Whole(Continuation),
    /// It is not even what such a record must look like. It holds up no other.
    Damaged {
        request: RequestId,
        place: Vec<u8>,
        record: Record,
    },
}

/// What can be saved of a record that is no longer one.
fn salvaged(request: RequestId, record: &Record) -> Continuation {
    Continuation::salvage(request, read_str(&record.document).ok().as_ref())
}

impl Found {
    fn of(row: IndexedRecord) -> Result<Self, StoreError> {
        match document::read(&row.record) {
            Ok(kept) => Ok(Self::Whole(kept.document)),
            Err(error) => {
                let Ok(request) = RequestId::parse(&row.record.key.id) else { return Err(error) };
                Ok(Self::Damaged { request, place: row.sort_key, record: row.record })
            }
        }
    }

    /// The key that it is sealed with.
    fn key(&self) -> Option<ContinuationKeyId> {
        match self {
            Self::Whole(continuation) => continuation.resume_payload.as_ref().map(|sealed| sealed.key.clone()),
            Self::Damaged { place, .. } => keys::key_of_sealed(place),
        }
    }

    fn check(&self, tenant: OrgId, keyring: Option<&Keyring>) -> Result<(), OpenError> {
        match self {
            Self::Whole(continuation) => continuation.check(tenant, keyring),
            Self::Damaged { .. } => Err(OpenError::Altered),
        }
    }
}
