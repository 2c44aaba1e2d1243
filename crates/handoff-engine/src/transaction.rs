//! Typed transactions over the store port: a step that reads documents, and a reply or refusal that comes back.

use std::sync::{Arc, Mutex, PoisonError};

use handoff_protocol::{
    chain::Head,
    id::{Mint, TenantId},
};

use crate::{
    document::{self, Document, Kept},
    store::{
        ChainName, IndexRead, Loaded, Moment, Reads, RecordKey, Sequence, Step, Store, StoreError, Transacted,
        Transaction, WriteSet,
    },
};

/// How a step ends when it does not stop early.
pub(crate) enum Outcome<R> {
    /// Write this, then reply.
    Write(Box<WriteSet>, R),
    /// Write nothing and reply.
    Nothing(R),
}

/// Why a step stops early.
pub(crate) enum Halt<E> {
    /// It needs more to be loaded.
    Need(Reads),
    /// The command is refused.
    Refuse(E),
    /// What is stored is not what it must be.
    Broken(StoreError),
}

impl<E> From<E> for Halt<E> {
    fn from(refusal: E) -> Self {
        Self::Refuse(refusal)
    }
}

/// Why a transaction came to nothing.
#[derive(Debug)]
pub(crate) enum Failure<E> {
    /// The command is refused.
    Refused(E),
    /// The store failed.
    Store(StoreError),
}

/// What a step sees: everything loaded so far, as documents.
pub(crate) struct View<'a> {
    loaded: &'a Loaded,
    moment: &'a Moment,
}

impl View<'_> {
    /// Ids for this run, above every one that the tenant ever minted.
    pub(crate) fn mint(&self) -> Mint {
        Mint::new(self.moment.now, self.loaded.head.last_id, self.moment.seed)
    }

    /// The last event of the tenant; 0 before the first.
    pub(crate) fn sequence(&self) -> Sequence {
        self.loaded.head.sequence
    }

    /// A document by its id.
    pub(crate) fn get<D: Document, E>(&self, id: impl std::fmt::Display) -> Result<Option<Kept<D>>, Halt<E>> {
        let key = RecordKey::new(D::KIND, id);
        match self.loaded.record(&key) {
            None => Err(Halt::Need(Reads::none().record(key))),
            Some(None) => Ok(None),
            Some(Some(record)) => document::read(record).map(Some).map_err(Halt::Broken),
        }
    }

    /// Documents by their ids, in that order, loaded together; what is not there is left out.
    pub(crate) fn get_all<D: Document, E>(&self, ids: &[impl std::fmt::Display]) -> Result<Vec<Kept<D>>, Halt<E>> {
        let keys: Vec<RecordKey> = ids.iter().map(|id| RecordKey::new(D::KIND, id)).collect();
        let missing = keys.iter().filter(|key| self.loaded.record(key).is_none());
        let reads = missing.fold(Reads::none(), |reads, key| reads.record(key.clone()));
        if !reads.is_empty() {
            return Err(Halt::Need(reads));
        }
        let found = keys.iter().filter_map(|key| self.loaded.record(key).flatten());
        found.map(|record| document::read(record).map_err(Halt::Broken)).collect()
    }

    /// The documents behind the first rows of an index.
    pub(crate) fn scan<D: Document, E>(&self, read: IndexRead) -> Result<Vec<Kept<D>>, Halt<E>> {
        match self.loaded.index(&read) {
            None => Err(Halt::Need(Reads::none().index(read))),
            Some(rows) => rows.iter().map(|row| document::read(&row.record).map_err(Halt::Broken)).collect(),
        }
    }

    /// The head of a chain.
    pub(crate) fn chain<E>(&self, chain: &ChainName) -> Result<Head, Halt<E>> {
        match self.loaded.chain(chain) {
            None => Err(Halt::Need(Reads::none().chain(chain.clone()))),
            Some(None) => Ok(Head::GENESIS),
            Some(Some(head)) => Ok(Head { height: head.height, digest: head.digest }),
        }
    }
}

/// A document that a step has read when it finds that it needs more: the next run takes it from here, unless what is
/// stored is another text by then.
pub(crate) struct ReadBefore<D>(Mutex<Option<(Arc<str>, Kept<D>)>>);

impl<D: Document> ReadBefore<D> {
    /// Nothing read yet.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The document by its id, as [`View::get`] gives it.
    pub(crate) fn get<E>(&self, view: &View<'_>, id: impl std::fmt::Display) -> Result<Option<Kept<D>>, Halt<E>> {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let key = RecordKey::new(D::KIND, id);
        match (before, view.loaded.record(&key)) {
            // The same key, version and text come to the same document, whoever wrote it meanwhile.
            (Some((text, kept)), Some(Some(record)))
                if kept.version == record.version && text == record.document && kept.document.key() == key =>
            {
                Ok(Some(kept))
            }
            _ => view.get(&key.id),
        }
    }

    /// Keeps a document for the next run.
    pub(crate) fn keep(&self, view: &View<'_>, kept: Kept<D>) {
        if let Some(Some(record)) = view.loaded.record(&kept.document.key()) {
            let text = Arc::clone(&record.document);
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((text, kept));
        }
    }
}

/// Runs a typed step in a transaction of a tenant.
pub(crate) async fn run<R, E, F>(store: &dyn Store, tenant: TenantId, reads: Reads, step: F) -> Result<R, Failure<E>>
where
    R: Send + 'static,
    E: Send + 'static,
    F: Fn(&View<'_>, &Moment) -> Result<Outcome<R>, Halt<E>> + Send + Sync + 'static,
{
    // The last run's reply counts: the store may run the step again after a failure that it shared with others.
    let reply = Arc::new(Mutex::new(None::<Result<R, Failure<E>>>));
    let slot = Arc::clone(&reply);
    let step = move |loaded: &Loaded, moment: &Moment| {
        let (answer, next) = match step(&View { loaded, moment }, moment) {
            Ok(Outcome::Write(writes, reply)) => (Some(Ok(reply)), Step::Commit(writes)),
            Ok(Outcome::Nothing(reply)) => (Some(Ok(reply)), Step::Reject),
            Err(Halt::Need(reads)) => (None, Step::Need(reads)),
            Err(Halt::Refuse(refusal)) => (Some(Err(Failure::Refused(refusal))), Step::Reject),
            Err(Halt::Broken(error)) => (Some(Err(Failure::Store(error))), Step::Reject),
        };
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        next
    };
    let transacted = store.transact(Transaction { tenant, reads, step: Arc::new(step) }).await;
    match transacted {
        Ok(Transacted::Committed { .. } | Transacted::Rejected) => reply
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .unwrap_or_else(|| Err(Failure::Store(StoreError::Conflict("the store ran no step".to_owned())))),
        Err(error) => Err(Failure::Store(error)),
    }
}
