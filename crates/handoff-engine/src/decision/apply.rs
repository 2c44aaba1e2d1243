//! Carrying out what a transition returned: one write-set that holds all of it.

use std::sync::Arc;

use bytes::Bytes;
use handoff_protocol::{
    decision::{
        Authorization, Continuation, DecisionError, Effects, Event, RecordedDisposition, Request, Signal, TimerChange,
        Waiter,
        idempotency::{Replay, ReplayOutcome, ReplayScope},
    },
    digest::Digest,
    duration::ExactDuration,
    id::Mint,
    json::{from_text, to_text},
    timestamp::Timestamp,
};

use super::{
    deliveries,
    documents::{ReceiptPlace, ReplayRecord},
    held::Held,
    keys::{self, TimerAction},
};
use crate::{
    document::{self, Document, Kept},
    signer::Signer,
    store::{BlobWrite, ChainAppend, EventType, IndexRow, NewEvent, StoreError, TimerKey, TimerWrite, WriteSet},
    transaction::Halt,
};

/// The documents of a transition as they were read; none for what did not exist.
#[derive(Clone, Copy, Default)]
pub(crate) struct Before<'a> {
    pub(crate) request: Option<&'a Kept<Request>>,
    pub(crate) waiter: Option<&'a Kept<Waiter>>,
    pub(crate) successor: Option<&'a Kept<Request>>,
    pub(super) held: Option<&'a Held>,
    /// The timer that the transition runs under, if it is one of reaching people.
    pub(crate) claim: Claimed<'a>,
}

/// What becomes of the claimed timer that a transition runs under.
#[derive(Clone, Copy, Default)]
pub(crate) enum Claimed<'a> {
    /// There is none that matters here.
    #[default]
    Nothing,
    /// It is settled, so that what it waits for next needs it again.
    Settled(&'a TimerKey),
    /// It stays claimed, and is not to be touched.
    Held(&'a TimerKey),
}

/// A write-set under construction.
#[derive(Default)]
pub(crate) struct Writes {
    set: WriteSet,
}

/// What an idempotency key does to a write.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    pub(crate) scope: ReplayScope,
    pub(crate) digest: Digest,
    pub(crate) ttl: ExactDuration,
}

impl Writes {
    /// Writes a document over what was read, or as a new one.
    pub(crate) fn put<D: Document>(&mut self, before: Option<&Kept<D>>, after: &D) -> Result<(), StoreError> {
        self.set.records.push(document::write(before, after)?);
        Ok(())
    }

    /// Writes a document unless it is what was read.
    pub(crate) fn put_changed<D: Document + PartialEq>(
        &mut self,
        before: Option<&Kept<D>>,
        after: &D,
    ) -> Result<(), StoreError> {
        if before.is_some_and(|before| before.document == *after) {
            return Ok(());
        }
        self.put(before, after)
    }

    /// Writes a document over a record that cannot be read as one, found by these rows.
    pub(crate) fn overwrite<D: Document>(
        &mut self,
        version: u64,
        rows: Vec<IndexRow>,
        after: &D,
    ) -> Result<(), StoreError> {
        self.set.records.push(document::overwrite(version, rows, after)?);
        Ok(())
    }

    /// Deletes a document that was read.
    pub(crate) fn delete<D: Document>(&mut self, before: &Kept<D>) {
        self.set.records.push(document::delete(before));
    }

    /// Changes a timer.
    pub(crate) fn timer(&mut self, write: TimerWrite) {
        self.set.timers.push(write);
    }

    /// Tells of something that happened.
    pub(crate) fn event(&mut self, event: &Event) -> Result<(), StoreError> {
        self.set.events.push(NewEvent {
            event_type: EventType::from_static(event.event_type.as_str()),
            subject: event.request_id.to_string(),
            data: json_text(&event.data)?,
        });
        Ok(())
    }

    /// Everything that a transition of a request names.
    pub(crate) fn effects(
        &mut self,
        before: Before<'_>,
        effects: &Effects,
        signer: Option<&dyn Signer>,
    ) -> Result<(), StoreError> {
        self.put_changed(before.request, &effects.request)?;
        if let Some(after) = &effects.successor {
            self.put_changed(before.successor, after)?;
            self.set.wakes.push(keys::request_topic(after.id));
        }
        if let Some(after) = &effects.waiter {
            self.put_changed(before.waiter, after)?;
        }
        for signal in &effects.signals {
            self.put::<Signal>(None, signal)?;
            self.push(signal, signal.created_at)?;
        }
        if let Some(continuation) = &effects.continuation {
            self.put::<Continuation>(None, continuation)?;
        }
        if let Some(authorization) = &effects.authorization {
            self.put::<Authorization>(None, authorization)?;
        }
        if let Some(receipt) = &effects.receipt {
            let place = ReceiptPlace { id: receipt.id, request_id: receipt.request_id, height: receipt.link.height };
            self.put(None, &place)?;
            let signed = &receipt.link.digest;
            #[cfg(feature = "planted-faults")]
            let signed = if handoff_protocol::planted::Fault::AttestationOfAnother.is_planted() {
                &receipt.link.prev_digest
            } else {
                signed
            };
            let attestation = signer.map(|signer| json_text(&signer.sign(signed))).transpose()?;
            self.set.chain.push(ChainAppend {
                chain: keys::RECEIPTS,
                height: receipt.link.height,
                previous: receipt.link.prev_digest,
                digest: receipt.link.digest,
                body: Arc::from(receipt.text.as_str()),
                attestation,
            });
        }
        for grant in &effects.grants {
            self.put_changed(before.held.and_then(|held| held.grant(grant.handle)), grant)?;
        }
        for session in &effects.sessions {
            self.put_changed(before.held.and_then(|held| held.session(session.session_ref)), session)?;
        }
        if let Some(disposition) = &effects.disposition {
            self.put::<RecordedDisposition>(None, disposition)?;
        }
        for rendering in &effects.renderings {
            self.set
                .blobs
                .push(BlobWrite::Store { owner: rendering.id.to_string(), bytes: Bytes::from(rendering.text.clone()) });
        }
        effects.events.iter().try_for_each(|event| self.event(event))?;
        let (request, waiter) = (effects.request.id, effects.request.waiter_ref.digest());
        for timer in &effects.timers {
            self.timer(match timer {
                TimerChange::SetDeadline(due) => TimerWrite::Put {
                    key: keys::deadline_timer(request),
                    due: *due,
                    action: json_text(&TimerAction::Expire { request })?,
                },
                TimerChange::ClearDeadline => TimerWrite::Remove { key: keys::deadline_timer(request) },
                TimerChange::SetAttempt(due) => TimerWrite::Put {
                    key: keys::attempt_timer(request),
                    due: *due,
                    action: json_text(&TimerAction::Lapse { request })?,
                },
                TimerChange::SetLease(due) => TimerWrite::Put {
                    key: keys::lease_timer(waiter),
                    due: *due,
                    action: json_text(&TimerAction::LapseLease { waiter })?,
                },
                TimerChange::SetSession(session, due) => TimerWrite::Put {
                    key: keys::session_timer(*session),
                    due: *due,
                    action: json_text(&TimerAction::LapseSession { session: *session })?,
                },
                TimerChange::CloseSession { session, provider, due } => TimerWrite::Put {
                    key: keys::session_timer(*session),
                    due: *due,
                    action: json_text(&TimerAction::CloseSession {
                        session: *session,
                        provider: *provider,
                        put_off: 0,
                    })?,
                },
                TimerChange::ClearAttempt => TimerWrite::Remove { key: keys::attempt_timer(request) },
            });
        }
        let requested = before.request.map(|kept| &kept.document);
        self.set.timers.extend(deliveries::timers(requested, &effects.request, before.claim)?);
        self.set.wakes.push(keys::request_topic(effects.request.id));
        self.set.wakes.push(keys::waiter_topic(&effects.request.waiter_ref));
        self.set.wakes.push(keys::inbox_topic());
        Ok(())
    }

    /// Keeps the first success under an idempotency key, in the same commit as its effect (rule K-6).
    pub(crate) fn replay(
        &mut self,
        keyed: &Keyed,
        lapsed: Option<&Kept<ReplayRecord>>,
        outcome: ReplayOutcome,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let expires_at = now.saturating_add(keyed.ttl);
        let replay = Replay { digest: keyed.digest, outcome, expires_at };
        self.put(lapsed, &ReplayRecord { scope: keyed.scope.id(), replay })?;
        let (key, due) = keys::purge_timer(expires_at);
        self.timer(TimerWrite::Put { key, due, action: json_text(&TimerAction::PurgeReplays)? });
        Ok(())
    }

    /// A point for test builds to fail at, between the state and its events (section 24).
    pub(crate) fn label(&mut self, label: Option<&'static str>) {
        self.set.label = label;
    }

    /// The write-set, with the last id that was minted for it.
    pub(crate) fn finish(mut self, mint: &Mint) -> Box<WriteSet> {
        self.set.last_id = mint.last();
        #[cfg(feature = "planted-faults")]
        crate::planted::lose(&mut self.set);
        Box::new(self.set)
    }
}

/// A value as JSON text for the store.
pub(crate) fn json_text<T: serde::Serialize>(value: &T) -> Result<Arc<str>, StoreError> {
    to_text(value).map(Arc::from).map_err(|error| StoreError::Conflict(format!("a value has no JSON form: {error}")))
}

/// What the first call under a key returned.
pub(crate) fn replayed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Halt<DecisionError>> {
    from_text(text).map_err(|error| Halt::Broken(StoreError::Corrupt(format!("a replay record: {error}"))))
}
