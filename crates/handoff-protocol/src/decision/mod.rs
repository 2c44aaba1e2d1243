//! Decisions: a program asks, a person answers, the answer comes back as typed data.
//!
//! | rule | function |
//! |---|---|
//! | R1, K-1 case 4, D-1 to D-6 | [`Raise::read`], [`raise()`] |
//! | K-1 case 3 | [`join`] |
//! | R2 | [`Amend::read`], [`amend()`] |
//! | CL-1, CL-2, R3 | [`Arm::read`], [`arm`], [`lapse`] |
//! | R8 | [`Supersede::read`], [`supersede()`] |
//! | R5, R12 to R14, A-8, S-2, S-3, section 8 | [`Answer::read`], [`answer()`] |
//! | R6, CL-5, CL-6, E-2 | [`expire()`] |
//! | R4, CL-4, V-9, V-10 | [`Escalate::read`], [`escalate()`], [`tend()`] |
//! | section 11, reassign | [`Reassign::read`], [`reassign()`] |
//! | V-1, V-6, V-7 | [`begin_send`], [`end_send`] |
//! | V-12 | [`redeliver()`] |
//! | V-2, V-3, V-13 | [`ReportGrade::read`], [`report_grade`], [`see`] |
//! | section 24's policies | [`tenant_policy::TenantPolicy::read`], [`explain()`] |
//! | R7, R11 | [`Cancel::read`], [`cancel()`] |
//! | W4, W9, X-8 | [`acknowledge()`] |
//! | W6, W7, X-10 | [`lease`] |
//! | Z-3 to Z-6 | [`redeem()`] |
//! | W3, W5, H-3 to H-8, V-12 | [`pushed`], [`requeue`] |
//! | H-4 | [`CallbackPolicy`] |
//! | L-1 to L-4 | [`Continuation`] |
//! | K-1 cases 1 and 2, K-6, K-7 | [`idempotency`] |
//! | E-4 | [`Correct::read`], [`correct()`] |
//! | A-1 to A-4 | [`Authority::check`] |
//! | section 16, S-7 | [`capability`] |
//! | section 17 | [`sink`] |
//! | section 7 | [`Field::check`], [`values`] |
//! | E-6 to E-8 | [`Receipt::seal`] |
//! | section 20 | [`DecisionError`], [`ErrorCode`] |
//!
//! Each transition takes the current state, a command and a [`Context`], and returns [`Effects`], which name everything
//! that follows, or a [`DecisionError`], which has no effect.

mod acknowledge;
mod amend;
mod answer;
mod attempt;
mod authority;
mod authorization;
mod backoff;
mod body;
mod callback;
mod callback_url;
mod cancel;
pub mod capability;
pub mod channels;
mod contact;
mod context;
mod correct;
mod delivery;
pub mod directory;
mod dispatch;
mod dispose;
mod effects;
mod endorse;
mod error;
mod error_code;
mod error_envelope;
mod escalate;
mod expire;
mod expiry_policy;
mod explain;
mod field;
mod grade;
pub mod idempotency;
mod known;
mod ladder;
pub mod lease;
pub mod limits;
mod observe;
mod outreach;
mod owner;
mod partial;
#[cfg(feature = "planted-faults")]
mod planted;
mod progress;
mod prompt;
mod push;
mod raise;
mod reach;
mod reassign;
mod receipt;
mod redeem;
mod redeliver;
mod request;
mod requires;
mod resume;
mod reword;
mod room;
mod routing;
mod schemas;
mod signal;
pub mod sink;
mod supersede;
mod target;
pub mod tenant_policy;
mod tend;
pub mod terms;
pub mod values;
pub mod view;
mod waiter;
mod waiter_ref;
pub mod wire;

#[cfg(feature = "planted-faults")]
pub use self::planted::infer;
pub use self::{
    acknowledge::{Acknowledge, Acknowledged, acknowledge},
    amend::{Amend, amend, check_amendable},
    answer::{Answer, answer},
    attempt::{Arm, arm, lapse},
    authority::Authority,
    authorization::{Authorization, BoundTo, Redemption},
    backoff::backoff,
    callback::{Callback, CallbackEndpoint, CallbackFormat, CallbackPolicy},
    callback_url::{BadCallbackUrl, CallbackUrl},
    cancel::{Cancel, cancel},
    context::{Context, Policy, check_machine, check_person, check_scope},
    correct::{Correct, correct, correctable},
    delivery::{Delivery, DeliveryAttempt},
    dispatch::{Outgoing, SendReport, begin_send, end_send, outgoing},
    effects::{Effects, Event, EventType, Fired, Rendering, TimerChange},
    error::{DecisionError, FieldError, FieldErrorCode, Lacking, MissingScope},
    error_code::ErrorCode,
    error_envelope::{ErrorBody, ErrorEnvelope},
    escalate::{Escalate, escalate},
    expire::expire,
    expiry_policy::TtlPolicy,
    explain::{Explained, PlannedDelivery, explain},
    field::{Field, FieldKind, FieldOption},
    grade::{ReportGrade, bounce, report_grade, see},
    observe::{ChannelMessage, Observation, observe, receive},
    outreach::{Again, Asked, Outreach},
    progress::{Contributor, Endorsed, Progress, RecordedDisposition, Step},
    push::{
        EndpointHealth, EndpointStanding, NO_ACTIVE_SECRET, Push, PushAttempt, PushAttempts, PushLog, PushResult,
        PushStanding, Pushed, Redelivery, is_to_be_pushed, push_body, pushed, requeue, rest, wake,
    },
    raise::{Raise, join, raise},
    reassign::{Reassign, reassign},
    receipt::{
        Actor, Clearance, Endorsement, Receipt, ReceiptStep, RecordedAuthority, RecordedDecision, Rendered, Satisfied,
        SealError, SealedReceipt, Via,
    },
    redeem::{Redeem, Redeemed, redeem},
    redeliver::redeliver,
    request::{ReceiptPointer, Request, RequestWaiter},
    requires::Requires,
    resume::{Continuation, Resume, Resumed},
    routing::{Routing, RoutingAsk, Rung},
    schemas::{NoSchemas, Schemas},
    signal::{Decision, Signal},
    supersede::{Supersede, supersede},
    target::Target,
    tend::tend,
    waiter::Waiter,
    waiter_ref::WaiterRef,
};
