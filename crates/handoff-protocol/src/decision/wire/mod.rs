//! The bodies that clients send, as types: what the published schemas are made from, and builders for clients in Rust.
//!
//! The readers ([`Raise::read`](super::Raise::read) and its like) stay the law, and a test holds the two together: what
//! these types can say is accepted, and one step beyond a documented limit is refused. A member that this build refuses
//! is not here.
//!
//! ```
//! use handoff_protocol::decision::{
//!     WaiterRef,
//!     wire::{FieldSpec, RaiseBody, ToBody},
//! };
//!
//! let decision = FieldSpec::choice("decision", [("approve", "Refund"), ("reject", "Do not")]).required();
//! let body = RaiseBody::new(WaiterRef::parse("refunds/20417")?, "Refund 240 to order 20417?").field(decision);
//! assert_eq!(body.to_json()?.get("requires").and_then(|requires| requires.get("v")), Some(&1.into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod authority;
mod capability;
mod field;
mod operations;
mod policy;
mod prompt;
mod raise;
mod requires;
mod routing;

use serde::Serialize;

pub use self::{
    answer::{AnswerBody, CorrectBody, DispositionSpec},
    authority::{Assignee, AssigneeKind, AuthoritySpec},
    capability::{CapabilitySpec, CapabilityUse, ResolveBody, RevokeBody, SinkValuesBody, ValueSinkSpec},
    field::{FieldSpec, FieldType, OptionSpec},
    operations::{AckBody, AmendBody, AttemptBody, CancelBody, RedeemBody, SupersedeBody},
    policy::{
        CapabilityLimitsSpec, ChannelRuleSpec, DefaultsSpec, EndpointState, FloorsSpec, LaddersSpec,
        PolicyCallbacksSpec, PolicyDocument, PolicyEndpointSpec, PolicyRoutingSpec, QuietHoursSpec,
    },
    prompt::{Evidence, EvidenceKind, Prompt},
    raise::{CallbackSpec, RaiseBody, TtlPolicySpec},
    requires::{AnswerSpec, Requires},
    routing::{EscalateBody, GradeBody, ReassignBody, ReportedGrade, RoutingSpec, RungSpec},
};
use crate::json::{Json, JsonError, to_json};

/// What can be sent as a body.
pub trait ToBody: Serialize {
    /// The body as JSON, ready to be sent.
    ///
    /// # Errors
    ///
    /// [`JsonError`] for what has no JSON form, which the types of this module always have.
    fn to_json(&self) -> Result<Json, JsonError> {
        to_json(self)
    }
}

impl ToBody for AckBody {}
impl ToBody for AmendBody {}
impl ToBody for AnswerBody {}
impl ToBody for AttemptBody {}
impl ToBody for CancelBody {}
impl ToBody for CorrectBody {}
impl ToBody for EscalateBody {}
impl ToBody for GradeBody {}
impl ToBody for RaiseBody {}
impl ToBody for ReassignBody {}
impl ToBody for RedeemBody {}
impl ToBody for ResolveBody {}
impl ToBody for RevokeBody {}
impl ToBody for SupersedeBody {}

/// For `skip_serializing_if`: a flag that is not set is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_not_set(flag: &bool) -> bool {
    !*flag
}
