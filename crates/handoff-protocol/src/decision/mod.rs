//! Decisions: a program asks, a person answers, the answer comes back as typed data.
//!
//! | rule | function |
//! |---|---|
//! | R1, K-1 case 4, D-1 to D-6 | [`Raise::read`], [`raise()`] |
//! | K-1 case 3 | [`join`] |
//! | R2 | [`Amend::read`], [`amend()`] |
//! | C-1, C-2, R3 | [`Arm::read`], [`arm`], [`lapse`] |
//! | R8 | [`Supersede::read`], [`supersede()`] |
//! | R5, R12 to R14, A-8, S-2, S-3, section 8 | [`Answer::read`], [`answer()`] |
//! | R6, C-5, C-6, E-2 | [`expire()`] |
//! | R7, R11 | [`Cancel::read`], [`cancel()`] |
//! | W4, W9, X-8 | [`acknowledge()`] |
//! | W6, W7, X-10 | [`lease`] |
//! | Z-3 to Z-6 | [`redeem()`] |
//! | K-1 cases 1 and 2, K-6, K-7 | [`idempotency`] |
//! | E-4 | [`Correct::read`], [`correct()`] |
//! | A-1 to A-4 | [`Authority::check`] |
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
mod cancel;
mod context;
mod correct;
mod delivery;
mod dispose;
mod effects;
mod endorse;
mod error;
mod error_code;
mod error_envelope;
mod expire;
mod expiry_policy;
mod field;
pub mod idempotency;
pub mod lease;
pub mod limits;
mod owner;
mod partial;
mod progress;
mod prompt;
mod raise;
mod reach;
mod receipt;
mod redeem;
mod request;
mod requires;
mod reword;
mod routing;
mod schemas;
mod signal;
mod supersede;
mod target;
pub mod terms;
pub mod values;
pub mod view;
mod waiter;
mod waiter_ref;
pub mod wire;

pub use self::{
    acknowledge::{Acknowledge, Acknowledged, acknowledge},
    amend::{Amend, amend},
    answer::{Answer, answer},
    attempt::{Arm, arm, lapse},
    authority::Authority,
    authorization::{Authorization, BoundTo, Redemption},
    backoff::backoff,
    cancel::{Cancel, cancel},
    context::{Context, Policy, check_machine, check_scope},
    correct::{Correct, correct, correctable},
    delivery::Delivery,
    effects::{Effects, Event, EventType, Fired, Rendering, TimerChange},
    error::{DecisionError, FieldError, FieldErrorCode, Lacking, MissingScope},
    error_code::ErrorCode,
    error_envelope::{ErrorBody, ErrorEnvelope},
    expire::expire,
    expiry_policy::TtlPolicy,
    field::{Field, FieldKind, FieldOption},
    progress::{Contributor, Endorsed, Progress, RecordedDisposition, Step},
    raise::{Raise, join, raise},
    receipt::{
        Actor, Clearance, Endorsement, Receipt, ReceiptStep, RecordedAuthority, RecordedDecision, Rendered, Satisfied,
        SealError, SealedReceipt, Via,
    },
    redeem::{Redeem, Redeemed, redeem},
    request::{ReceiptPointer, Request, RequestWaiter},
    requires::Requires,
    routing::{Routing, Rung},
    schemas::{NoSchemas, Schemas},
    signal::{Decision, Signal},
    supersede::{Supersede, supersede},
    target::Target,
    waiter::Waiter,
    waiter_ref::WaiterRef,
};
