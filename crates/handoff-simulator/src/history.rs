//! What clients were told, and when they asked: what is held against the store afterwards.

use handoff_protocol::{
    decision::terms::{RequestState, WaiterState},
    digest::Digest,
    id::{AuthorizationId, ReceiptId, RequestId, SignalId, TenantId},
    timestamp::Timestamp,
};

/// From when to when a call went on, by the scheduler's count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Span {
    /// When it was made, for the first time where it was repeated.
    pub from: u64,
    /// When its answer came.
    pub to: u64,
}

/// Everything that clients were told.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Raises that were acknowledged.
    pub raised: Vec<Raised>,
    /// Operations that mend words, once for each that had or may have had an effect: on which request, or, of a raise that
    /// nobody heard of again, in which tenant.
    pub mended: Vec<Mended>,
    /// Requests as they were read.
    pub read: Vec<Read>,
    /// Answers that were acknowledged.
    pub answered: Vec<Answered>,
    /// Refusals that say how a request ended.
    pub refused: Vec<Refused>,
    /// Acknowledgements that were acknowledged.
    pub acked: Vec<Acked>,
    /// Redemptions.
    pub redeemed: Vec<Redeemed>,
    /// Polls.
    pub polled: Vec<Polled>,
    /// Calls that were held while nothing went wrong.
    pub held: Vec<Held>,
    /// Receipts as they were served.
    pub served: Vec<(ReceiptId, Digest)>,
    /// Heads of chains, with their heights.
    pub heads: Vec<(usize, Span, u64, Digest)>,
    /// Submissions that were acknowledged: the request, and the value.
    pub submitted: Vec<(RequestId, String)>,
}

/// An operation that may have mended the words of a request.
#[derive(Clone, Copy, Debug)]
pub struct Mended {
    /// Of which tenant.
    pub tenant: TenantId,
    /// Of which request, if that is known.
    pub id: Option<RequestId>,
    /// How often it was tried.
    pub tries: u32,
}

/// A raise that was acknowledged.
#[derive(Clone, Debug)]
pub struct Raised {
    /// Of which tenant.
    pub tenant: TenantId,
    /// Under which key.
    pub key: Option<String>,
    /// Which request it came to.
    pub id: RequestId,
    /// Whether this call is said to have created it.
    pub created: bool,
}

/// A request as somebody was told that it is.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// When.
    pub span: Span,
    /// Which.
    pub id: RequestId,
    /// Its state.
    pub state: RequestState,
    /// Its version.
    pub version: u64,
    /// Where its waiter stood.
    pub waiter: WaiterState,
}

/// An answer that was acknowledged.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Which request.
    pub id: RequestId,
    /// Under which key.
    pub key: Option<String>,
    /// Its receipt, if it decided.
    pub receipt: Option<(ReceiptId, Digest)>,
    /// Its authorization.
    pub authorization: Option<AuthorizationId>,
}

/// A refusal that says how a request ended.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// Which request.
    pub id: RequestId,
    /// How it ended.
    pub state: RequestState,
    /// Whose receipt stands.
    pub receipt: Option<ReceiptId>,
    /// What took its place.
    pub superseded_by: Option<RequestId>,
}

/// An acknowledgement that was acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Which signal.
    pub signal: SignalId,
    /// When, by the server.
    pub at: Timestamp,
    /// Whether this was the first.
    pub first: bool,
}

/// A redemption that was acknowledged.
#[derive(Clone, Debug)]
pub struct Redeemed {
    /// Of which authorization.
    pub authorization: AuthorizationId,
    /// For which effect.
    pub effect: String,
    /// When, by the server.
    pub at: Timestamp,
    /// Whether this was the first.
    pub first: bool,
}

/// A call that waited while nothing went wrong.
#[derive(Clone, Debug)]
pub struct Held {
    /// When.
    pub span: Span,
    /// After how many milliseconds its answer came.
    pub until: u64,
    /// What it waited for.
    pub on: HeldOn,
}

/// What a call waits for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum HeldOn {
    /// A signal of a waiter.
    Signal(TenantId, String),
    /// The end of a request.
    End(RequestId),
}

/// A poll and what it brought.
#[derive(Clone, Debug)]
pub struct Polled {
    /// When.
    pub span: Span,
    /// Of which tenant.
    pub tenant: TenantId,
    /// Whose signals.
    pub waiter: String,
    /// The signals with their numbers, as listed.
    pub signals: Vec<(SignalId, u64)>,
    /// Whether there are more.
    pub more: bool,
}
