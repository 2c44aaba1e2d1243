//! The names of this domain's rows: kinds, indexes, topics, timers.

use handoff_protocol::{
    decision::{WaiterRef, terms::RequestState},
    digest::Digest,
    id::{RequestId, Ulid},
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::store::{ChainName, IndexName, RecordKind, TimerKey, Topic};

pub(crate) const REQUEST: RecordKind = RecordKind::from_static("request");
pub(crate) const WAITER: RecordKind = RecordKind::from_static("waiter");
pub(crate) const SIGNAL: RecordKind = RecordKind::from_static("signal");
pub(crate) const AUTHORIZATION: RecordKind = RecordKind::from_static("authorization");
pub(crate) const DISPOSITION: RecordKind = RecordKind::from_static("disposition");
pub(crate) const RECEIPT: RecordKind = RecordKind::from_static("receipt");
pub(crate) const REPLAY: RecordKind = RecordKind::from_static("replay");

/// The chain of a tenant's receipts.
pub const RECEIPTS: ChainName = ChainName::from_static("receipts");

/// Every request, by id.
pub(crate) const BY_ID: IndexName = IndexName::from_static("request.id");
/// Every request, by state, then id.
pub(crate) const BY_STATE: IndexName = IndexName::from_static("request.state");
/// Every request, by waiter, then id.
pub(crate) const BY_WAITER: IndexName = IndexName::from_static("request.waiter");
/// Pending requests, by waiter, then id.
pub(crate) const OPEN_BY_WAITER: IndexName = IndexName::from_static("request.open");
/// Pending requests, by what they ask.
pub(crate) const BY_QUESTION: IndexName = IndexName::from_static("request.question");
/// Pending requests whose waiter lives on a lease, by waiter, then id.
pub(crate) const LEASED: IndexName = IndexName::from_static("request.leased");
/// Pending requests whose waiter was given up, by waiter, then id.
pub(crate) const ORPHANED: IndexName = IndexName::from_static("request.orphaned");
/// Pending requests, by who may answer them, then by what cannot wait (see `inbox`).
pub(crate) const INBOX: IndexName = IndexName::from_static("request.inbox");
/// Dispositions that decided nothing, by request, then number.
pub(crate) const DISPOSITIONS: IndexName = IndexName::from_static("disposition.request");
/// Signals not acknowledged, by waiter, then sequence.
pub(crate) const UNACKED: IndexName = IndexName::from_static("signal.unacked");
/// Replay records, by the time they lapse.
pub(crate) const REPLAYS: IndexName = IndexName::from_static("replay.expiry");

pub(crate) fn by_id(id: RequestId) -> Vec<u8> {
    ulid_bytes(id.ulid()).to_vec()
}

pub(crate) fn state_prefix(state: RequestState) -> Vec<u8> {
    [state.as_str().as_bytes(), &[0]].concat()
}

pub(crate) fn by_state(state: RequestState, id: RequestId) -> Vec<u8> {
    [state_prefix(state).as_slice(), &ulid_bytes(id.ulid())].concat()
}

pub(crate) fn waiter_prefix(waiter: &WaiterRef) -> Vec<u8> {
    digest_prefix(waiter.digest())
}

/// The rows of the waiter whose reference has this digest.
pub(crate) fn digest_prefix(waiter: Digest) -> Vec<u8> {
    waiter.as_bytes().to_vec()
}

pub(crate) fn by_waiter(waiter: &WaiterRef, id: RequestId) -> Vec<u8> {
    [waiter.digest().as_bytes().as_slice(), &ulid_bytes(id.ulid())].concat()
}

/// The scope of a dedupe key is tenant and waiter (rule K-1, reading Q-3).
pub(crate) fn question_prefix(waiter: &WaiterRef, dedupe_key: &str) -> Vec<u8> {
    let question = [waiter.digest().as_bytes().as_slice(), dedupe_key.as_bytes()].concat();
    Digest::of(question).as_bytes().to_vec()
}

pub(crate) fn by_question(waiter: &WaiterRef, dedupe_key: &str, id: RequestId) -> Vec<u8> {
    [question_prefix(waiter, dedupe_key).as_slice(), &ulid_bytes(id.ulid())].concat()
}

pub(crate) fn disposition(request: RequestId, n: u64) -> Vec<u8> {
    [by_id(request).as_slice(), &n.to_be_bytes()].concat()
}

pub(crate) fn unacked(waiter: &WaiterRef, sequence: u64) -> Vec<u8> {
    [waiter.digest().as_bytes().as_slice(), &sequence.to_be_bytes()].concat()
}

pub(crate) fn replay_expiry(expires_at: Timestamp, id: &str) -> Vec<u8> {
    [time_bytes(expires_at).as_slice(), id.as_bytes()].concat()
}

/// A time as bytes that sort as times do.
pub(crate) fn time_bytes(time: Timestamp) -> [u8; 8] {
    // Flipping the sign bit puts negative times first.
    (time.unix_millis().cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

pub(super) fn ulid_bytes(ulid: Ulid) -> [u8; 16] {
    ulid.as_u128().to_be_bytes()
}

/// What callers wait on who poll a waiter.
pub(crate) fn waiter_topic(waiter: &WaiterRef) -> Topic {
    Topic::new(format!("waiter/{}", waiter.digest().hex()))
}

/// What callers wait on who hold a request.
pub(crate) fn request_topic(id: RequestId) -> Topic {
    Topic::new(format!("request/{id}"))
}

/// What callers wait on who look at what is pending.
pub(crate) fn inbox_topic() -> Topic {
    Topic::new("inbox".to_owned())
}

pub(crate) fn deadline_timer(id: RequestId) -> TimerKey {
    TimerKey::new(format!("deadline/{id}"))
}

pub(crate) fn attempt_timer(id: RequestId) -> TimerKey {
    TimerKey::new(format!("attempt/{id}"))
}

pub(crate) fn lease_timer(waiter: Digest) -> TimerKey {
    TimerKey::new(format!("lease/{}", waiter.hex()))
}

/// What a timer of this domain does when its time comes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum TimerAction {
    /// Expire a request.
    Expire {
        /// Which.
        request: RequestId,
    },
    /// Tell a waiter that an attempt lapsed.
    Lapse {
        /// Of which request.
        request: RequestId,
    },
    /// Give up a waiter that was silent for longer than its lease.
    LapseLease {
        /// The digest of its reference.
        waiter: Digest,
    },
    /// Delete replay records that lapsed.
    PurgeReplays,
}

impl TimerAction {
    /// Where it sends to; none for what this server does by itself.
    pub(crate) fn destination(self) -> Option<Digest> {
        match self {
            Self::Expire { .. } | Self::Lapse { .. } | Self::LapseLease { .. } | Self::PurgeReplays => None,
        }
    }

    /// How often its send was put off since it was last tried.
    pub(crate) fn times_put_off(self) -> u32 {
        match self {
            Self::Expire { .. } | Self::Lapse { .. } | Self::LapseLease { .. } | Self::PurgeReplays => 0,
        }
    }

    /// The same, put off once more.
    pub(crate) fn put_off_once_more(self) -> Self {
        match self {
            Self::Expire { .. } | Self::Lapse { .. } | Self::LapseLease { .. } | Self::PurgeReplays => self,
        }
    }
}

/// Replay records are purged an hour at a time, so that retention is a handful of timers a tenant and not one a record.
pub(crate) fn purge_timer(expires_at: Timestamp) -> (TimerKey, Timestamp) {
    const HOUR: i64 = 60 * 60 * 1000;
    let hour = expires_at.unix_millis().div_euclid(HOUR).saturating_add(1);
    (TimerKey::new(format!("purge-replays/{hour}")), Timestamp::from_unix_millis(hour.saturating_mul(HOUR)))
}
