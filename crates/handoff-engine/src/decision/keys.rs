//! The names of this domain's rows: kinds, indexes, topics, timers.

use handoff_protocol::{
    continuation::ContinuationKeyId,
    decision::{WaiterRef, terms::RequestState},
    digest::Digest,
    id::{DeliveryId, RequestId, SessionRef, SignalId, Ulid},
    json::{Json, from_json, from_text},
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::store::{ChainName, IndexName, RecordKind, StoreError, TimerKey, Topic};

pub(crate) const REQUEST: RecordKind = RecordKind::from_static("request");
pub(crate) const WAITER: RecordKind = RecordKind::from_static("waiter");
pub(crate) const SIGNAL: RecordKind = RecordKind::from_static("signal");
pub(crate) const AUTHORIZATION: RecordKind = RecordKind::from_static("authorization");
pub(crate) const DISPOSITION: RecordKind = RecordKind::from_static("disposition");
pub(crate) const RECEIPT: RecordKind = RecordKind::from_static("receipt");
pub(crate) const GRANT: RecordKind = RecordKind::from_static("grant");
pub(crate) const SESSION: RecordKind = RecordKind::from_static("grant_session");
pub(crate) const CHANNEL_MESSAGE: RecordKind = RecordKind::from_static("channel_message");
pub(crate) const OBSERVATION: RecordKind = RecordKind::from_static("observation");
pub(crate) const POLICY: RecordKind = RecordKind::from_static("policy");
pub(crate) const POLICY_HEAD: RecordKind = RecordKind::from_static("policy_head");
pub(crate) const REPLAY: RecordKind = RecordKind::from_static("replay");
pub(crate) const CONTINUATION: RecordKind = RecordKind::from_static("continuation");
pub(crate) const PUSH_LOG: RecordKind = RecordKind::from_static("push_log");
pub(crate) const ENDPOINT: RecordKind = RecordKind::from_static("callback_endpoint");

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
/// Requests that declare a place for values, by the place, then pending ones first, then newest first.
pub(crate) const BY_SINK: IndexName = IndexName::from_static("request.sink");
/// Sessions of a request's grants, by request, then the time of their opening.
pub(crate) const SESSIONS: IndexName = IndexName::from_static("grant_session.request");
/// Pending requests, by who may answer them, then by what cannot wait (see `inbox`).
pub(crate) const INBOX: IndexName = IndexName::from_static("request.inbox");
/// Dispositions that decided nothing, by request, then number.
pub(crate) const DISPOSITIONS: IndexName = IndexName::from_static("disposition.request");
/// The request of each delivery, by the delivery's id.
pub(crate) const BY_DELIVERY: IndexName = IndexName::from_static("delivery.id");
/// Signals not acknowledged, by waiter, then sequence.
pub(crate) const UNACKED: IndexName = IndexName::from_static("signal.unacked");
/// Signals whose push rests, by the digest of the endpoint's address, then signal.
pub(crate) const RESTING: IndexName = IndexName::from_static("signal.resting");
/// Sealed continuation data, by the name of its key, then request.
pub(crate) const SEALED: IndexName = IndexName::from_static("continuation.key");
/// Replay records, by the time they lapse.
pub(crate) const REPLAYS: IndexName = IndexName::from_static("replay.expiry");

pub(crate) fn by_id(id: RequestId) -> Vec<u8> {
    ulid_bytes(id.ulid()).to_vec()
}

pub(crate) fn by_delivery(id: DeliveryId) -> Vec<u8> {
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

/// The scope of a dedupe key is tenant and waiter (rule K-1).
pub(crate) fn question_prefix(waiter: &WaiterRef, dedupe_key: &str) -> Vec<u8> {
    let question = [waiter.digest().as_bytes().as_slice(), dedupe_key.as_bytes()].concat();
    #[cfg(feature = "planted-faults")]
    let question =
        if handoff_protocol::planted::Fault::DedupeAcrossWaiters.is_planted() { dedupe_key.into() } else { question };
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

/// The rows of a place for values; its name is free text.
pub(crate) fn sink_prefix(reference: &str) -> Vec<u8> {
    Digest::of(reference).as_bytes().to_vec()
}

pub(crate) fn by_sink(reference: &str, state: RequestState, id: RequestId) -> Vec<u8> {
    let newest_first = (!id.ulid().as_u128()).to_be_bytes();
    [sink_prefix(reference).as_slice(), &[u8::from(state.is_final())], &newest_first].concat()
}

pub(crate) fn session_of(request: RequestId, resolved_at: Timestamp, session: SessionRef) -> Vec<u8> {
    [by_id(request).as_slice(), &time_bytes(resolved_at), &ulid_bytes(session.ulid())].concat()
}

pub(crate) fn resting(endpoint: Digest, signal: SignalId) -> Vec<u8> {
    [endpoint.as_bytes().as_slice(), &ulid_bytes(signal.ulid())].concat()
}

/// No name of a key holds a NUL, so no key's rows are among another's.
pub(crate) fn sealed(key: &ContinuationKeyId, request: RequestId) -> Vec<u8> {
    [key.as_str().as_bytes(), &[0], &ulid_bytes(request.ulid())].concat()
}

/// The key that a row of what is sealed stands under.
pub(crate) fn key_of_sealed(place: &[u8]) -> Option<ContinuationKeyId> {
    let name = place.split(|byte| *byte == 0).next()?;
    from_json(Json::from(std::str::from_utf8(name).ok()?)).ok()
}

/// Beyond every row of a key, and before those of the next.
pub(crate) fn after_key(key: &ContinuationKeyId) -> Vec<u8> {
    [key.as_str().as_bytes(), &[1]].concat()
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

/// Whether it is what callers wait on who hold a request.
#[cfg(feature = "planted-faults")]
pub(crate) fn is_request_topic(topic: &Topic) -> bool {
    topic.as_str().starts_with("request/")
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

pub(crate) fn tend_timer(id: RequestId) -> TimerKey {
    TimerKey::new(format!("tend/{id}"))
}

pub(crate) fn send_timer(id: DeliveryId) -> TimerKey {
    TimerKey::new(format!("send/{id}"))
}

pub(crate) fn change_timer(id: RequestId) -> TimerKey {
    TimerKey::new(format!("change/{id}"))
}

/// What deliveries through one channel wait for each other by: a share of its people, so that an address that hangs holds
/// up few, and a channel that hangs no other channel.
pub(crate) fn channel_destination(channel: &str, person: &str) -> Digest {
    const SHARES: u8 = 16;
    let share = Digest::of(person).as_bytes().first().map_or(0, |byte| byte % SHARES);
    Digest::of(format!("channel/{channel}/{share}"))
}

pub(crate) fn lease_timer(waiter: Digest) -> TimerKey {
    TimerKey::new(format!("lease/{}", waiter.hex()))
}

pub(crate) fn session_timer(session: SessionRef) -> TimerKey {
    TimerKey::new(format!("session/{session}"))
}

pub(crate) fn push_timer(signal: SignalId) -> TimerKey {
    TimerKey::new(format!("push/{signal}"))
}

pub(crate) fn wake_timer(endpoint: Digest) -> TimerKey {
    TimerKey::new(format!("wake-pushes/{}", endpoint.hex()))
}

/// Reads what a timer does.
pub(crate) fn read_action(text: &str) -> Result<TimerAction, StoreError> {
    let unreadable = |reason: String| StoreError::Corrupt(format!("a timer's action: {reason}"));
    from_text(text).map_err(|error| unreadable(error.to_string()))
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
    /// End a session of a grant that was not renewed.
    LapseSession {
        /// Which.
        session: SessionRef,
    },
    /// Tell the provider of a session that it ended.
    CloseSession {
        /// Which.
        session: SessionRef,
        /// The digest of the provider's name.
        provider: Digest,
        /// How often this was put off since it was last tried.
        #[serde(default)]
        put_off: u32,
    },
    /// Delete replay records that lapsed.
    PurgeReplays,
    /// Do what reaching people asks for.
    Tend {
        /// About which request.
        request: RequestId,
    },
    /// Send a delivery.
    SendDelivery {
        /// Of which request.
        request: RequestId,
        /// Which one.
        delivery: DeliveryId,
        /// What it waits for others by.
        destination: Digest,
        /// How often it was put off.
        #[serde(default)]
        put_off: u32,
    },
    /// Tell channels that what they show is out of date.
    TellChange {
        /// Of which request.
        request: RequestId,
        /// How often it was put off.
        #[serde(default)]
        put_off: u32,
    },
    /// Push a signal.
    Push {
        /// Which.
        signal: SignalId,
        /// What stands for its destination among the places of the outbound executor.
        to: Digest,
        /// How often it was put off since it was last tried.
        #[serde(default, skip_serializing_if = "is_zero")]
        put_off: u32,
    },
    /// Push what rested while an endpoint was disabled.
    WakePushes {
        /// The digest of its address.
        endpoint: Digest,
    },
}

impl TimerAction {
    /// Where it sends to; none for what this server does by itself.
    pub(crate) fn destination(self) -> Option<Digest> {
        match self {
            Self::CloseSession { provider, .. } => Some(provider),
            Self::SendDelivery { destination, .. } => Some(destination),
            Self::TellChange { request, .. } => Some(channel_destination("", &request.to_string())),
            Self::Push { to, .. } => Some(to),
            Self::Expire { .. }
            | Self::Lapse { .. }
            | Self::LapseLease { .. }
            | Self::LapseSession { .. }
            | Self::PurgeReplays
            | Self::WakePushes { .. }
            | Self::Tend { .. } => None,
        }
    }

    /// How often its send was put off since it was last tried.
    pub(crate) fn times_put_off(self) -> u32 {
        match self {
            Self::CloseSession { put_off, .. }
            | Self::SendDelivery { put_off, .. }
            | Self::TellChange { put_off, .. }
            | Self::Push { put_off, .. } => put_off,
            Self::Expire { .. }
            | Self::Lapse { .. }
            | Self::LapseLease { .. }
            | Self::LapseSession { .. }
            | Self::PurgeReplays
            | Self::WakePushes { .. }
            | Self::Tend { .. } => 0,
        }
    }

    /// The same, put off once more.
    pub(crate) fn put_off_once_more(mut self) -> Self {
        let times = self.times_put_off().saturating_add(1);
        if let Self::CloseSession { put_off, .. }
        | Self::Push { put_off, .. }
        | Self::SendDelivery { put_off, .. }
        | Self::TellChange { put_off, .. } = &mut self
        {
            *put_off = times;
        }
        self
    }

    /// The same, tried just now.
    pub(crate) fn tried(mut self) -> Self {
        if let Self::Push { put_off, .. } = &mut self {
            *put_off = 0;
        }
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Replay records are purged an hour at a time, so that retention is a handful of timers a tenant and not one a record.
pub(crate) fn purge_timer(expires_at: Timestamp) -> (TimerKey, Timestamp) {
    const HOUR: i64 = 60 * 60 * 1000;
    let hour = expires_at.unix_millis().div_euclid(HOUR).saturating_add(1);
    (TimerKey::new(format!("purge-replays/{hour}")), Timestamp::from_unix_millis(hour.saturating_mul(HOUR)))
}
