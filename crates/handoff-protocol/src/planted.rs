//! Planted faults: one wrong thing each, for builds that show what a suite is worth.
//!
//! A suite that never turns red has shown nothing. So a build with the feature `planted-faults`, which no ordinary build
//! has, can be told at its start to get one thing wrong and everything else right; whoever runs a suite against it sees
//! which case notices. Each place of a fault is behind the feature, and so is this module.
//!
//! A further fault is a row of a table below and a line or two at its place. It breaks one thing, so that the case that
//! turns red says what the suite noticed; `cargo xtask conformance --planted` shows which does. Those of the second table
//! show only where calls meet, timers race or power fails: they are for the simulator (`cargo xtask simulate --planted`).

use std::sync::OnceLock;

use crate::json::{Json, Number, NumberFault};

/// The fault of this process, once it is planted.
static PLANTED: OnceLock<Fault> = OnceLock::new();

/// Plants a fault, for as long as the process lives. Only the first call counts; false for any other.
pub fn plant(fault: Fault) -> bool {
    PLANTED.set(fault).is_ok()
}

/// The fault that was planted.
#[must_use]
pub fn planted() -> Option<Fault> {
    PLANTED.get().copied()
}

/// Whether a number is taken although no rule lets it in.
pub(crate) fn is_taken(number: &Number) -> bool {
    Fault::FractionsAccepted.is_planted() && number.integer() == Err(NumberFault::NotAnInteger)
}

/// A message that repeats what was submitted.
pub(crate) fn quoting(message: String, value: &Json) -> String {
    if Fault::RefusalQuotesTheValue.is_planted() { format!("{message}, and is {}", value.to_text()) } else { message }
}

macro_rules! faults {
    (
        shown { $($fault:ident = $name:literal, $rule:literal, $breaks:literal;)* }
        played { $($other:ident = $other_name:literal, $other_rule:literal, $other_breaks:literal;)* }
    ) => {
        /// One thing that a build of the feature can get wrong.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Fault {
            $(#[doc = $breaks] $fault,)*
            $(#[doc = $other_breaks] $other,)*
        }

        impl Fault {
            /// Every fault that shows from outside, in the order of the specification's chapters.
            pub const ALL: &'static [Self] = &[$(Self::$fault,)*];

            /// Every fault that shows only where calls meet, timers race or power fails.
            pub const PLAYED: &'static [Self] = &[$(Self::$other,)*];

            /// What it is called where it is asked for.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$fault => $name,)* $(Self::$other => $other_name,)* }
            }

            /// The rule of the specification that it breaks.
            #[must_use]
            pub const fn rule(self) -> &'static str {
                match self { $(Self::$fault => $rule,)* $(Self::$other => $other_rule,)* }
            }

            /// What it breaks, in one sentence.
            #[must_use]
            pub const fn breaks(self) -> &'static str {
                match self { $(Self::$fault => $breaks,)* $(Self::$other => $other_breaks,)* }
            }
        }
    };
}

impl Fault {
    /// The fault of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().chain(Self::PLAYED).copied().find(|fault| fault.name() == name)
    }

    /// Whether this is the one that was planted.
    #[must_use]
    pub fn is_planted(self) -> bool {
        planted() == Some(self)
    }
}

faults! {
shown {
    // Foundations, tenancy, principals, keys, authority.
    DuplicateNamesAccepted = "duplicate-names-accepted", "B-1",
        "A body in which a member is named twice is taken, the last one counting.";
    MalformedIdIsInvalid = "malformed-id-is-invalid", "B-3",
        "An id in a path that does not parse answers 400 in the place of the 404 of its resource.";
    NamesSortByCodePoint = "names-sort-by-code-point", "B-8",
        "Canonical text sorts member names by code point and not by UTF-16 code unit.";
    FractionsAccepted = "fractions-accepted", "N-1",
        "Numbers with a fraction are taken, kept and digested.";
    NumbersKeptAsSpelled = "numbers-kept-as-spelled", "N-3",
        "A number stays as it was spelled, so `4.0` is kept and served as `4.0`.";
    OtherTenantReadable = "other-tenant-readable", "T-3",
        "A request of another tenant can be read by whoever knows its id.";
    OtherTenantForbidden = "other-tenant-forbidden", "T-3",
        "A request of another tenant answers 403, which tells that it exists.";
    UnknownTokenToldApart = "unknown-token-told-apart", "P-2",
        "A token that is nobody's answers another code than one that was revoked.";
    MachineMayAnswer = "machine-may-answer", "P-4",
        "A machine's answer is taken like a person's.";
    MachineReadsGrants = "machine-reads-grants", "P-5",
        "A machine may read grants, which are for people alone.";
    PeopleMayRaiseAndRedeem = "people-may-raise-and-redeem", "P-8",
        "A person may do what is for machines alone: raise, redeem, cancel.";
    ScopesUnchecked = "scopes-unchecked", "SC-3",
        "A credential without a scope may do all the same what needs it.";
    TestKeyRaisesForReal = "test-key-raises-for-real", "SC-6",
        "A test key may raise what is not marked as a test.";
    ReplayIsStale = "replay-is-stale", "K-1",
        "A raise that is repeated under its key shows the request as it was raised, not as it stands now.";
    ReusedKeyUnnoticed = "reused-key-unnoticed", "K-1",
        "A key that comes again with another body gets the first reply, and no conflict.";
    RaiseAlwaysSays201 = "raise-always-says-201", "K-2",
        "A raise answers 201 also where it found the request.";
    AskOnceIgnored = "ask-once-ignored", "K-1",
        "The same question under a fresh key makes a second request while the first is pending.";
    JoinKeepsOldWords = "join-keeps-old-words", "K-1",
        "A raise that joins a pending request leaves the old wording and version in place.";
    DedupeAcrossWaiters = "dedupe-across-waiters", "K-1",
        "One dedupe key under two waiters is taken for one question.";
    RetriesNotRecognized = "retries-not-recognized", "K-6",
        "A call that is repeated under its key is carried out as a new one.";
    KeyWithoutPrincipal = "key-without-principal", "K-6",
        "Two principals that use the same idempotency key share one entry.";
    KeyWithoutTenant = "key-without-tenant", "K-6",
        "An idempotency key that one tenant raised under is taken for every other tenant.";
    KeyWithoutObject = "key-without-object", "K-7",
        "One idempotency key on two requests acts on the first alone.";
    SecretFloorMissing = "secret-floor-missing", "A-2",
        "A secret field raises neither the role nor the strength that an answer needs.";
    RoleUnchecked = "role-unchecked", "A-3",
        "An answer is taken from a role that is too low.";
    StrengthUnchecked = "strength-unchecked", "A-3",
        "An answer is taken from whoever is authenticated too weakly.";
    AssigneesUnchecked = "assignees-unchecked", "A-4",
        "An answer is taken from a person who is none of the assignees.";
    LinkAnswersWhereOff = "link-answers-where-off", "A-6",
        "A link alone may answer although the deployment does not permit it.";
    LinkReceiptNamesAPerson = "link-receipt-names-a-person", "E-1",
        "The receipt of an answer by link names a person.";
    QuorumOfOne = "quorum-of-one", "A-8",
        "The first answer settles a request that more people must agree to.";
    QuorumBeyondTheMaximum = "quorum-beyond-the-maximum", "A-8",
        "A quorum larger than the deployment takes is accepted.";

    // Raising, fields, answering.
    UnknownVersionAccepted = "unknown-version-accepted", "D-2",
        "A `requires` of another version is taken for one of version 1.";
    UnknownFieldTypeAccepted = "unknown-field-type-accepted", "D-2",
        "A field of an unknown type is taken.";
    CapabilityTypeWithoutCode = "capability-type-without-code", "D-2",
        "An unknown type of capability is refused with a general code and not with its own.";
    RefusedRaiseLeavesARow = "refused-raise-leaves-a-row", "D-2",
        "A raise that is refused leaves a request behind under its waiter.";
    UnknownMembersAccepted = "unknown-members-accepted", "D-3",
        "Members that nobody knows are taken and ignored, in every body.";
    ExtensionsDropped = "extensions-dropped", "D-3",
        "Members of `requires` that begin with `x-` are not returned.";
    EmptyFieldsOmitted = "empty-fields-omitted", "D-4",
        "A request without fields is served without the list of them.";
    RequiredMayBeMissing = "required-may-be-missing", "F-12",
        "A settling answer may leave out a required field.";
    UndeclaredValuesAccepted = "undeclared-values-accepted", "F-12",
        "An answer may hold fields that nobody declared.";
    AttestationMayBeFalse = "attestation-may-be-false", "F-9",
        "An attestation may be answered with false.";
    OnlyTheFirstFault = "only-the-first-fault", "F-13",
        "Of several faulty fields only one is named.";
    RefusalQuotesTheValue = "refusal-quotes-the-value", "F-14",
        "The fault of a field repeats what was submitted.";
    SecondAnswerSettles = "second-answer-settles", "S-1",
        "An answer to a request that is answered settles it once more, with a receipt of its own.";
    DispositionsDecide = "dispositions-decide", "S-2",
        "`delegate` and `unable` are taken for decisions and settle the request.";
    PartIsTheWhole = "part-is-the-whole", "S-3",
        "A partial answer is judged and settled as a whole one.";
    StrictBindingUnchecked = "strict-binding-unchecked", "S-5",
        "An answer to a strict request is taken whatever its person was shown.";
    ForeignSessionsAccepted = "foreign-sessions-accepted", "S-7",
        "An answer may claim sessions that were never opened.";
    ChannelTextSettles = "channel-text-settles", "S-10",
        "Words that come in through a channel settle the request.";

    // Requests, clocks, operations.
    VersionNotCounted = "version-not-counted", "R2",
        "An amendment leaves the version as it was.";
    AnyoneCancels = "anyone-cancels", "R7",
        "A machine that never raised under the waiter may cancel and amend its requests.";
    SignalOfCancelMissing = "signal-of-cancel-missing", "R7",
        "A cancelled request signals nobody.";
    CancelBeatsAnAnswer = "cancel-beats-an-answer", "R11",
        "A cancellation that comes after a person's answer wins.";
    ReceiptOfExpiryMissing = "receipt-of-expiry-missing", "R6",
        "A request expires without a receipt.";
    ArmingKeepsTheOldWindow = "arming-keeps-the-old-window", "CL-1",
        "Arming an attempt once more leaves the end of its window where it was.";
    NudgeTwice = "nudge-twice", "CL-2",
        "A waiter is told of a lapsed window again and again.";
    LapseSettles = "lapse-settles", "CL-2",
        "A lapsed window cancels the request.";
    LapseHides = "lapse-hides", "CL-2",
        "A request whose window lapsed is missing from listings.";
    DeadlineNeverActs = "deadline-never-acts", "CL-3",
        "A request whose deadline passed stays pending.";
    DeadlineClimbsNoRung = "deadline-climbs-no-rung", "CL-6",
        "A deadline denies at once where it should climb the ladder first.";
    DefaultAnswerIgnored = "default-answer-ignored", "CL-9",
        "A deadline with a default answer denies.";
    ExpiryAuthorizes = "expiry-authorizes", "CL-11",
        "A deadline mints an authorization.";
    UnknownRungEscalates = "unknown-rung-escalates", "O-5",
        "An escalation to a rung that is not there answers 200.";
    LadderMakesARequest = "ladder-makes-a-request", "R4",
        "An escalation makes a second request.";
    ReassignedMayNotAnswer = "reassigned-may-not-answer", "O-6",
        "Whoever a request was passed on to may not answer it.";

    // Deliveries, waiters, receipts, authorizations.
    DeliveriesStayOpen = "deliveries-stay-open", "V-1",
        "Deliveries of a request that ended stay open.";
    GradeAboveTheCeiling = "grade-above-the-ceiling", "V-2",
        "A delivery may be reported further than its channel can prove.";
    QueuedCountsAsDispatched = "queued-counts-as-dispatched", "V-4",
        "A request shows the grade `dispatched` of a delivery that nothing took yet.";
    SuppressionWithoutReason = "suppression-without-reason", "V-8",
        "A delivery that is kept back does not say why.";
    SecondSignal = "second-signal", "X-1",
        "A request that ends signals its waiter twice.";
    SignalWithoutValues = "signal-without-values", "X-3",
        "The signal of an answer has no values.";
    SequenceAlwaysOne = "sequence-always-one", "X-4",
        "Every signal says that it is its waiter's first.";
    PollConsumes = "poll-consumes", "X-5",
        "A signal that was polled once is not listed again.";
    WakesLost = "wakes-lost", "X-6",
        "A held call does not wake on a commit.";
    UnknownWaiterIsEmpty = "unknown-waiter-is-empty", "X-7",
        "A poll of a waiter that was never raised under answers an empty list.";
    AnyTokenAcknowledges = "any-token-acknowledges", "X-8",
        "A signal is acknowledged whatever token is shown.";
    AckAlwaysFirst = "ack-always-first", "X-8",
        "An acknowledgement that is repeated says that it is the first.";
    NudgeRetiresTheWait = "nudge-retires-the-wait", "W9",
        "An acknowledged nudge leaves the waiter of a pending request `acked`.";
    ReattachOmitsUnacked = "reattach-omits-unacked", "X-9",
        "A runtime that reattaches is not shown its signals.";
    PolicyReceiptNamesAPerson = "policy-receipt-names-a-person", "E-2",
        "The receipt of an expiry names a person.";
    PageChangeMintsAReceipt = "page-change-mints-a-receipt", "E-3",
        "An observed change of a page mints a receipt.";
    ReceiptsMayBeChanged = "receipts-may-be-changed", "E-5",
        "The database takes changes of receipts.";
    PrefixedCoreHash = "prefixed-core-hash", "E-6",
        "The digest of a link is taken over the core hash with its prefix.";
    HeightFromZero = "height-from-zero", "E-7",
        "The heights of a chain begin at 0.";
    GenesisNotZeros = "genesis-not-zeros", "E-7",
        "The first receipt of a chain builds on another digest than zeros.";
    ChainForks = "chain-forks", "E-7",
        "Of receipts at once the later builds on the same one as the earlier.";
    ReceiptDressedUp = "receipt-dressed-up", "E-8",
        "A receipt that is read by its id has a member that was not sealed.";
    RequestTrimsItsReceipt = "request-trims-its-receipt", "E-8",
        "The receipt inside a request lacks a member that was sealed.";
    ReceiptsNewestFirst = "receipts-newest-first", "E-9",
        "Receipts are listed from the newest to the oldest.";
    HeadLags = "head-lags", "E-10",
        "The head of the chain tells one receipt less than there are.";
    ReceiptFillsInAGrade = "receipt-fills-in-a-grade", "V-4",
        "A receipt says `acted` of its delivery whatever the evidence.";
    AuthorizationMissing = "authorization-missing", "Z-1",
        "An answer mints no authorization.";
    SpentReadsOpen = "spent-reads-open", "Z-2",
        "An authorization that was redeemed reads `open`.";
    SecondEffectRedeems = "second-effect-redeems", "Z-4",
        "An authorization is redeemed for a second effect.";
    SameEffectSpendsTwice = "same-effect-spends-twice", "Z-5",
        "An effect that is redeemed again is told that it is the first time.";
    EffectDigestUnchecked = "effect-digest-unchecked", "Z-6",
        "An authorization is redeemed whatever the digest of the effect.";

    // Capabilities, secrets, continuation, callbacks.
    ClientHandleKept = "client-handle-kept", "G-1",
        "The handle of a grant is the one that its client wrote.";
    SessionAddressLogged = "session-address-logged", "G-2",
        "The address of a session is written to the log.";
    HeldGrantResolves = "held-grant-resolves", "G-7",
        "A grant that one person holds is opened by another.";
    BlastRadiusUnchecked = "blast-radius-unchecked", "G-7",
        "A grant is opened whatever blast radius was accepted.";
    ViewersDrive = "viewers-drive", "G-7",
        "A viewer may open a session that drives.";
    RevokedGrantResolves = "revoked-grant-resolves", "G-13",
        "A grant that was revoked is opened.";
    SessionAddressRepeats = "session-address-repeats", "G-8",
        "Two sessions get the same address.";
    GrantsOutliveRequests = "grants-outlive-requests", "G-12",
        "The grants of a request that ended stay open.";
    UndeclaredSinkNames = "undeclared-sink-names", "K-S2",
        "A sink takes values under names that were not declared.";
    SinkEchoesValues = "sink-echoes-values", "K-S3",
        "The reply to a submission names the values besides the names.";
    SecretLogged = "secret-logged", "K-S5",
        "Values on their way to a sink are written to the log.";
    SecretInAnswerKept = "secret-in-answer-kept", "K-S6",
        "A raw value in the place of a secret is taken, and stands on the receipt.";
    ContinuationInRequest = "continuation-in-request", "L-2",
        "The `resume_ref` of a request is served with it.";
    ContinuationLost = "continuation-lost", "L-2",
        "Signals give nothing back of what was handed over.";
    ContinuationAltered = "continuation-altered", "L-2",
        "What signals give back is not what was handed over, to the byte.";
    NudgeWithoutContinuation = "nudge-without-continuation", "L-2",
        "A nudge gives nothing back.";
    MalformedPayloadAccepted = "malformed-payload-accepted", "L-1",
        "A `resume_payload` that is no base64 is taken.";
    LevelMisstated = "level-misstated", "L-4",
        "`meta` states the level that the server does not have.";
    CallbackUnsigned = "callback-unsigned", "H-1",
        "Callbacks have no signature.";
    OtherBytesSigned = "other-bytes-signed", "H-1",
        "The signature of a callback is over other bytes than those sent, though of the same JSON.";
    DeliveryIdPerAttempt = "delivery-id-per-attempt", "H-3",
        "Each attempt of a callback has a delivery id of its own.";
    BodyCountsAttempts = "body-counts-attempts", "H-3",
        "The body of a callback counts its attempts.";
    CallbackNamesTheTenant = "callback-names-the-tenant", "H-3",
        "The body of a callback names the tenant.";
    SequenceHeaderDiffers = "sequence-header-differs", "H-10",
        "The sequence in the header of a callback is not that of its body.";
    OneSecretSigns = "one-secret-signs", "H-4",
        "Of several active secrets only the newest signs.";
    KeyIdsInHeader = "key-ids-in-header", "H-5",
        "A callback tells the identifiers of its secrets in a header.";
    StopsAfterAccepted = "stops-after-accepted", "H-6",
        "A callback that was accepted is not pushed again although nobody acknowledged it.";
    AttemptsNotLogged = "attempts-not-logged", "H-7",
        "The attempts of a callback are not kept.";

    // Errors, HTTP, events, operating.
    NotFoundWithoutEnvelope = "not-found-without-envelope", "ER-1",
        "What is not found answers in plain text.";
    ConflictNamesNoReceipt = "conflict-names-no-receipt", "ER-3",
        "`already_answered` does not name the receipt that stands.";
    LateAnswerIsGeneric = "late-answer-is-generic", "ER-4",
        "An answer to a request that expired gets a general conflict.";
    NoBudgetOnErrors = "no-budget-on-errors", "HC-1",
        "Refusals do not tell what is left of the rate limit.";
    PagesEndEarly = "pages-end-early", "HC-2",
        "A page that is not the last has no cursor.";
    WaiterFilterIgnored = "waiter-filter-ignored", "HC-3",
        "The list of requests of one waiter has everybody's.";
    NullsLeftOut = "nulls-left-out", "HC-6",
        "Members that are null are left out of a request.";
    ResponsesMayBeKept = "responses-may-be-kept", "HC-8",
        "Responses do not say that nobody may keep them.";
    EventAfterCommit = "event-after-commit", "EV-1",
        "State is committed before its event, so that a crash in between loses the event.";
    AnswerWithoutEvent = "answer-without-event", "EV-2",
        "An answer leaves no event.";
    CancelTellsOfAnAnswer = "cancel-tells-of-an-answer", "EV-2",
        "A cancellation leaves the event of an answer besides its own.";
    TitlesFromACache = "titles-from-a-cache", "OP-13",
        "A title that was served once is served from memory, whatever the store says.";
}

played {
    // The engine: what is decided on what was read too early.
    OperationsReadEarly = "operations-read-early", "S-1",
        "An operation is judged on the request as it was read before the transaction.";
    SweepReadsEarly = "sweep-reads-early", "R11",
        "A deadline is judged on the request as it was read before the transaction.";
    WaiterReadEarly = "waiter-read-early", "X-4",
        "A signal is numbered by the waiter as it was read before the transaction.";
    RedeemReadsEarly = "redeem-reads-early", "Z-3",
        "An authorization is spent as it was read before the transaction.";
    PushRecordsWhatItRead = "push-records-what-it-read", "X-8",
        "What came of a push is written over the signal as it was when the attempt began.";
    // The engine: what is not in the commit that it belongs to.
    ReplayInAnotherCommit = "replay-in-another-commit", "K-6",
        "The entry of an idempotency key is written in a commit after that of its effect.";
    ReplayOfRaiseForgotten = "replay-of-raise-forgotten", "K-1",
        "A raise leaves no entry under its key.";
    PurgeTakesTheLiving = "purge-takes-the-living", "K-6",
        "The purge of entries that lapsed takes those that live as well.";
    WaiterNotWritten = "waiter-not-written", "X-4",
        "A signal does not move the last number of its waiter.";
    GrantsNotWritten = "grants-not-written", "G-12",
        "What becomes of the grants of a request that ended is not written.";
    SessionsNotWritten = "sessions-not-written", "G-11",
        "What becomes of the sessions of a request that ended is not written.";
    SuccessorNotWritten = "successor-not-written", "R8",
        "What becomes of the request that takes another's place is not written.";
    ReceiptPlaceMissing = "receipt-place-missing", "E-9",
        "A receipt is in the chain and in no index.";
    AttestationMissing = "attestation-missing", "E-13",
        "A receipt is sealed without a signature although there is a key.";
    AttestationOfAnother = "attestation-of-another", "E-13",
        "The signature of a receipt is over the digest before its own.";
    EventsAfterTheFirstLost = "events-after-the-first-lost", "EV-1",
        "Of the events of one transition only the first is written.";
    ContinuationDroppedEarly = "continuation-dropped-early", "L-2",
        "Continuation data is gone once one of several signals is acknowledged.";
    ContinuationKeptForever = "continuation-kept-forever", "L-2",
        "Continuation data stays when no signal will give it back any more.";
    // The engine: waits without a timer, and timers without a wait.
    DeadlineTimerForgotten = "deadline-timer-forgotten", "CL-3",
        "A deadline is set without its timer.";
    AttemptTimerForgotten = "attempt-timer-forgotten", "CL-1",
        "An attempt is armed without its timer.";
    LeaseTimerForgotten = "lease-timer-forgotten", "X-10",
        "A lease begins without its timer.";
    SessionTimerForgotten = "session-timer-forgotten", "G-10",
        "A session is opened without the timer of its lease.";
    CloseTimerForgotten = "close-timer-forgotten", "G-11",
        "A session ends and its provider is never told.";
    PushTimerForgotten = "push-timer-forgotten", "H-6",
        "A signal with a callback is enqueued without the timer of its push.";
    PurgeTimerForgotten = "purge-timer-forgotten", "K-6",
        "The entry of a key is kept without the timer that purges it.";
    OutreachTimersForgotten = "outreach-timers-forgotten", "V-9",
        "Deliveries and rungs are planned without their timers.";
    SettledBeforeSent = "settled-before-sent", "H-6",
        "The timer of a push is settled before the push is sent.";
    PutOffForever = "put-off-forever", "C-5",
        "A deadline's timer that fires too early is settled and not set again.";
    AckRearmsOrphans = "ack-rearms-orphans", "W7",
        "An acknowledged nudge makes an orphan `armed` before anybody watches its lease.";
    OrphansStayOrphans = "orphans-stay-orphans", "W7",
        "A sign of life leaves what was given up as it is.";
    // The engine: waits that nothing wakes.
    SubscribesAfterReading = "subscribes-after-reading", "X-6",
        "A poll subscribes to wakes after it has read, so that it misses what comes in between.";
    LastListenerTakesAll = "last-listener-takes-all", "X-6",
        "A held call that ends takes the others on its topic with it.";
    RequestTopicSilent = "request-topic-silent", "HC-5",
        "A commit wakes nobody who waits for the end of a request.";
    StaleRowsStay = "stale-rows-stay", "EP-2",
        "A document that moves in an index stays in its old place as well.";
    FreshRowsMissing = "fresh-rows-missing", "EP-2",
        "A document that is changed is not found under what it became.";
    // Stores.
    AcknowledgedBeforeSynced = "acknowledged-before-synced", "OP-15",
        "A commit is acknowledged before it would survive a power cut.";
    TornTailKept = "torn-tail-kept", "EV-1",
        "After a power cut a half of the last commit is there.";
    BatchLosesOne = "batch-loses-one", "RQ-2",
        "Of many commits that share a sync one is acknowledged and not written.";
    RefusedWriteStays = "refused-write-stays", "RQ-2",
        "A write-set that is refused leaves what came before its fault.";
    CompareAndSetIgnored = "compare-and-set-ignored", "C-3",
        "A step is given a record as it was before the last change, and may write over that change.";
    ReadsGoBack = "reads-go-back", "C-11",
        "A read outside of a transaction brings a record as it was before the last change.";
    CommitWakesNobody = "commit-wakes-nobody", "X-6",
        "A commit passes none of its wakes on.";
    SequenceReused = "sequence-reused", "EV-4",
        "An event takes the number of the one before.";
    EventDropped = "event-dropped", "EV-1",
        "A commit loses one of its events.";
    RowLeftBehind = "row-left-behind", "EP-2",
        "A row of an index stays where its document left it.";
    RowMissing = "row-missing", "EP-2",
        "A row of an index is not written.";
    TimerLeftBehind = "timer-left-behind", "CL-5",
        "A timer that is removed stays.";
    TimerNotMoved = "timer-not-moved", "CL-5",
        "A timer that is moved stays at its old time.";
    ClaimsNeverLapse = "claims-never-lapse", "V-7",
        "A timer whose worker crashed is never claimed again.";
    ClaimedTwice = "claimed-twice", "V-7",
        "A timer that somebody holds is claimed by others.";
    AnyClaimSettles = "any-claim-settles", "V-7",
        "A claim that lapsed settles the timer of whoever claimed it since.";
    ChainTakesAnything = "chain-takes-anything", "E-7",
        "A receipt is appended to a head that is no longer the head.";
    BlobNotKept = "blob-not-kept", "D-8",
        "What was rendered is not kept with its receipt.";
    OtherTenantsRecord = "other-tenants-record", "T-5",
        "What a tenant does not have is read from another.";
}
}
