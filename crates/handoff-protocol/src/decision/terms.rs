//! The closed vocabularies of a request: each an enum, spelled on the wire in snake case.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! term {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every value with its wire name.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($text, Self::$variant)),+];

            /// The wire name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }
        }
    };
}

term! {
    /// Where a request stands. `pending` is the only state that another can follow (section 9).
    RequestState {
        /// Waiting for a person.
        Pending = "pending",
        /// A person decided.
        Answered = "answered",
        /// The deadline decided.
        Expired = "expired",
        /// Its owner withdrew it.
        Cancelled = "cancelled",
        /// Another request took its place.
        Superseded = "superseded",
    }
}
term! {
    /// How urgent the asker says it is; the server chooses channels.
    Urgency {
        /// Whenever convenient.
        Low = "low",
        /// The default.
        Normal = "normal",
        /// Soon.
        High = "high",
        /// Now, also in quiet hours.
        Critical = "critical",
    }
}
term! {
    /// Whether a request wants attention or its attempt window lapsed (rule CL-2).
    UrgencyState {
        /// It wants attention.
        Attention = "attention",
        /// An attempt lapsed; it stays answerable.
        Waiting = "waiting",
    }
}
term! {
    /// Whether the waiting runtime lives on a lease.
    Liveness {
        /// It may be away for as long as it likes.
        Durable = "durable",
        /// It shows that it lives by calling.
        Leased = "leased",
    }
}
term! {
    /// What becomes of a request whose leased waiter dies.
    WaiterTerminal {
        /// It stays answerable.
        Keep = "keep",
        /// It is cancelled.
        Cancel = "cancel",
    }
}
term! {
    /// Whether the runtime must redeem before it acts (rule Z-7). The server treats both alike.
    Mode {
        /// It may act on the signal.
        Advisory = "advisory",
        /// It must redeem first.
        Gated = "gated",
    }
}
term! {
    /// Whether an answer must echo what its person was shown (rule S-5).
    PresentationBinding {
        /// A different digest is accepted and recorded.
        Advisory = "advisory",
        /// A missing or different digest is refused.
        Strict = "strict",
    }
}
term! {
    /// What happens at the deadline (section 10).
    OnExpiry {
        /// The next rung, then denial.
        Escalate = "escalate",
        /// Denial.
        ExpireAndDeny = "expire_and_deny",
        /// The declared default answer.
        Default = "default",
        /// Nothing: it never expires.
        Park = "park",
    }
}
term! {
    /// What an expiry came to.
    Effective {
        /// The answer counts as no.
        Deny = "deny",
        /// The default answer counts.
        Default = "default",
    }
}
term! {
    /// What an answerer does with a request (rule S-2).
    Disposition {
        /// Decides it.
        Decide = "decide",
        /// Passes it on.
        Delegate = "delegate",
        /// Says that they cannot.
        Unable = "unable",
    }
}
term! {
    /// What a signal reports (rule X-2).
    SignalType {
        /// A person decided.
        Answered = "answered",
        /// The deadline decided.
        Expired = "expired",
        /// The owner withdrew it.
        Cancelled = "cancelled",
        /// Another request took its place.
        Superseded = "superseded",
        /// An attempt window lapsed; nothing ended.
        AttemptLapsed = "attempt_lapsed",
    }
}
term! {
    /// Who or what originated a decision (rule X-3).
    DecisionSource {
        /// A person.
        Human = "human",
        /// A policy, or the request's owner.
        Policy = "policy",
        /// An inference of the runtime, labelled as one (rule E-3).
        RuntimeInference = "runtime_inference",
    }
}
term! {
    /// Where the waiter of one request stands (section 13).
    WaiterState {
        /// Waiting.
        Armed = "armed",
        /// A signal waits for it.
        Signalled = "signalled",
        /// A callback carries the signal now.
        Delivering = "delivering",
        /// It took its signal.
        Acked = "acked",
        /// Its lease lapsed.
        Orphaned = "orphaned",
        /// Its request was withdrawn.
        Released = "released",
    }
}
term! {
    /// How an attempt to push a signal went (rule H-7).
    PushOutcome {
        /// The receiver took it: a status of 2xx. That is not an acknowledgement (rule H-6).
        Accepted = "accepted",
        /// It failed in a way that may pass: no connection, 5xx, 429.
        TransientFailure = "transient_failure",
        /// The receiver refused it, with any other status. It is tried again all the same, until the acknowledgement: what
        /// is permanent is the receiver's answer, as far as its status says (rules H-6, H-7).
        PermanentFailure = "permanent_failure",
        /// The receiver did not answer in time.
        Timeout = "timeout",
    }
}
term! {
    /// What is to come of the push of a signal (rules H-6, H-8).
    PushState {
        /// It is pushed until it is acknowledged.
        Pushing = "pushing",
        /// It waits for its endpoint, which is disabled, to work again. It can be polled for, and redelivered.
        Resting = "resting",
        /// It was acknowledged, and is pushed no more.
        Acknowledged = "acknowledged",
    }
}
term! {
    /// How an endpoint fares (rule H-8).
    EndpointCondition {
        /// The last attempt of any signal succeeded, or none was made yet.
        Working = "working",
        /// Every attempt failed for a while.
        Failing = "failing",
        /// Every attempt failed for a day, so that nothing is pushed there; a redelivery that succeeds enables it.
        Disabled = "disabled",
    }
}
term! {
    /// What a target names (rule V-9).
    TargetKind {
        /// One person.
        Principal = "principal",
        /// Everybody of a role or a higher one.
        Role = "role",
        /// A group.
        Group = "group",
        /// Whoever is on duty.
        Rotation = "rotation",
        /// Anybody.
        Anyone = "anyone",
    }
}
term! {
    /// How far a delivery provably got (rule V-2), in rising order.
    Grade {
        /// Our transport took it.
        Dispatched = "dispatched",
        /// The channel reports arrival.
        Delivered = "delivered",
        /// A person opened the surface, authenticated.
        Seen = "seen",
        /// A person answered through it.
        Acted = "acted",
    }
}
term! {
    /// Where a delivery stands (rule V-1).
    DeliveryState {
        /// Not yet claimed.
        Queued = "queued",
        /// Kept back, for a reason with a code.
        Suppressed = "suppressed",
        /// Claimed.
        Sending = "sending",
        /// Our transport took it.
        Dispatched = "dispatched",
        /// Failed for now.
        Retrying = "retrying",
        /// Failed for good.
        Failed = "failed",
        /// Arrived.
        Delivered = "delivered",
        /// Came back.
        Bounced = "bounced",
        /// Opened.
        Seen = "seen",
        /// Answered through.
        Acted = "acted",
        /// Dispatched, and the request ended elsewhere.
        Stale = "stale",
        /// Not yet dispatched when the request ended.
        Cancelled = "cancelled",
    }
}
term! {
    /// What came of one attempt to deliver (rule V-6).
    AttemptOutcome {
        /// The transport took it.
        Accepted = "accepted",
        /// Not this time.
        TransientFailure = "transient_failure",
        /// Never.
        PermanentFailure = "permanent_failure",
        /// No word in time.
        Timeout = "timeout",
        /// It was kept back.
        Suppressed = "suppressed",
    }
}
term! {
    /// Why a delivery was kept back (rule V-8).
    Suppression {
        /// Nobody is meant.
        NoRecipient = "no_recipient",
        /// Whoever is meant has no address on this channel.
        NoAddress = "no_address",
        /// No such channel is there.
        ChannelUnknown = "channel_unknown",
        /// The channel is there and not ready for use.
        ChannelNotConfigured = "channel_not_configured",
        /// The same person is being reached through the same channel already.
        Duplicate = "duplicate",
        /// It is not the time.
        QuietHours = "quiet_hours",
        /// The person did not confirm the address.
        ConsentMissing = "consent_missing",
    }
}
term! {
    /// What a receipt records (section 14).
    ReceiptKind {
        /// A person's decision.
        Decision = "decision",
        /// A policy's outcome.
        Policy = "policy",
        /// A correction of an earlier receipt.
        Correction = "correction",
    }
}
term! {
    /// Who acted, on a receipt (rule E-1).
    ActorType {
        /// An authenticated person.
        User = "user",
        /// A policy.
        Policy = "policy",
        /// The runtime, by inference.
        Runtime = "runtime",
        /// Whoever held a link.
        AnonymousLink = "anonymous_link",
    }
}
term! {
    /// Where a clearance comes from (rule E-3).
    ClearanceSource {
        /// A person asserted it.
        HumanAssertion = "human_assertion",
        /// The runtime inferred it.
        RuntimeInference = "runtime_inference",
        /// Time ran out.
        Timeout = "timeout",
    }
}
term! {
    /// What an authorization is worth now (rule Z-2).
    AuthorizationState {
        /// It can be redeemed.
        Open = "open",
        /// It was.
        Spent = "spent",
        /// Its time is over.
        Expired = "expired",
    }
}

term! {
    /// What a capability is (section 16).
    CapabilityType {
        /// A surface that a person looks at or drives.
        InteractiveSurface = "interactive_surface",
        /// A document.
        Document = "document",
    }
}
term! {
    /// What a person may do with a capability, in rising order.
    CapabilityScope {
        /// Look.
        View = "view",
        /// Act.
        Drive = "drive",
    }
}
term! {
    /// With whom a resource is shared (rule G-5), from nobody outward.
    SharedWith {
        /// Nobody.
        Isolated = "isolated",
        /// What else belongs to the request.
        Request = "request",
        /// Everybody of a workspace.
        Space = "space",
        /// Everybody of the organization.
        Org = "org",
    }
}
term! {
    /// Why a session of a grant ended (rule G-11).
    SessionEnd {
        /// Its person gave it back.
        Released = "released",
        /// The grant's time was over.
        Expired = "expired",
        /// The grant was revoked, or the request ended.
        Revoked = "revoked",
        /// Nobody renewed it.
        LeaseLapsed = "lease_lapsed",
    }
}
term! {
    /// How a session of a grant is reached (rule G-8).
    TransportKind {
        /// A WebSocket.
        Websocket = "websocket",
        /// HTTPS.
        Https = "https",
    }
}

impl WaiterTerminal {
    /// What a request declares that says nothing of it (section 6): a lease is asked for by whoever may die.
    #[must_use]
    pub const fn undeclared(liveness: Liveness) -> Self {
        match liveness {
            Liveness::Durable => Self::Keep,
            Liveness::Leased => Self::Cancel,
        }
    }
}

impl DeliveryState {
    /// Whether nothing can follow this state (rule V-1).
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Suppressed | Self::Failed | Self::Bounced | Self::Acted | Self::Stale | Self::Cancelled)
    }
}

impl WaiterState {
    /// What a receipt says of the waiter (section 14): how a signal travels is no matter of the decision.
    #[must_use]
    pub const fn at_decision(self) -> Self {
        match self {
            Self::Delivering => Self::Signalled,
            Self::Armed | Self::Signalled | Self::Acked | Self::Orphaned | Self::Released => self,
        }
    }
}

impl RequestState {
    /// Whether nothing can follow this state.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Pending)
    }
}
