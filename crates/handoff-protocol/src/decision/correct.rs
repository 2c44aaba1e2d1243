//! Correction (E-4): a person puts right what a decision's receipt records, in a receipt of its own.
//!
//! The decision stands: its receipt, its signal and its authorization stay as they were. A correction is for whoever reads
//! the record later; it authorizes nothing and tells no waiter.

use super::{
    answer::{actor, check_authority},
    body,
    context::Context,
    effects::{Effects, EventType},
    error::DecisionError,
    limits,
    receipt::{Clearance, Receipt, RecordedAuthority, RecordedDecision, Rendered, Satisfied, Via},
    request::{ReceiptPointer, Request},
    terms::{ClearanceSource, Disposition, PresentationBinding, ReceiptKind},
    values,
};
use crate::{
    chain::Head,
    digest::Digest,
    json::{Json, Object, ObjectReader},
    principal::Principal,
};

/// A correction that can be carried out: well-formed, from somebody who may decide at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Correct {
    digest: Digest,
    values: Object,
    note: String,
}

impl Correct {
    /// Reads the body of a correction by a principal: all the values that should have been, and why.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InvalidRequest`] for a malformed body, [`DecisionError::RequesterMayNotAnswer`] for a machine,
    /// whatever it corrects (rule P-4), [`DecisionError::AnswerValidationFailed`] naming each field with a number that
    /// cannot be represented (rule N-4).
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        let reader = ObjectReader::new(&body, "")?;
        let members = reader.object("values")?.json().len();
        if principal.is_machine() {
            return Err(DecisionError::RequesterMayNotAnswer { request_id: None });
        }
        if members > limits::ANSWER_MEMBERS {
            return Err(reader.error("values", format!("must hold at most {} members", limits::ANSWER_MEMBERS)).into());
        }
        let note = reader.text("note", 1, limits::NOTE_CHARS)?.to_owned();
        reader.finish()?;
        if let Some(values) = body.as_object_mut().and_then(|body| body.get_mut("values")) {
            values::normalize(values)
                .map_err(|fields| DecisionError::AnswerValidationFailed { request_id: None, fields })?;
        }
        let digest = body::digest(&mut body)?;
        let Some(Json::Object(values)) = body.as_object_mut().and_then(|body| body.remove("values")) else {
            return Err(DecisionError::Internal);
        };
        Ok(Self { digest, values, note })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Checks that a receipt is of a kind that can be corrected: one person's decision.
///
/// # Errors
///
/// [`DecisionError::InvalidRequest`] for what a policy decided, for a correction, and for what took several people, of
/// whom one may not say alone what they should have decided (rule A-8).
pub fn correctable(receipt: &Receipt) -> Result<(), DecisionError> {
    match receipt.kind {
        ReceiptKind::Decision if receipt.authority.required.quorum > 1 => Err(DecisionError::invalid(
            "receipt_id",
            "must be the receipt of one person's decision; what took several people is theirs to decide anew, by a request",
        )),
        ReceiptKind::Decision => Ok(()),
        ReceiptKind::Policy | ReceiptKind::Correction => Err(DecisionError::invalid(
            "receipt_id",
            "must be the receipt of a person's decision; correct that one again to mend a correction",
        )),
    }
}

/// Corrects a decision (E-4). `decision` is the receipt of the person's decision, also where it was corrected before:
/// every correction names that one in `corrects`, and the latest in the chain is what holds.
///
/// What the new receipt says of the request, of what was shown and of the waiter is what the decision's receipt says,
/// since that is what it corrects. Nothing is shown for a correction, so it is bound to no presentation.
///
/// # Errors
///
/// [`DecisionError::RequesterMayNotAnswer`]; [`DecisionError::InvalidRequest`] as from [`correctable`];
/// [`DecisionError::InsufficientAuthority`] and [`DecisionError::AuthStrengthNotPermitted`] as for an answer;
/// [`DecisionError::AnswerValidationFailed`] with every faulty field. None of them has an effect.
pub fn correct(
    answered: &Request,
    decision: &Receipt,
    correct: &Correct,
    principal: &Principal,
    head: &Head,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    if principal.is_machine() {
        return Err(DecisionError::RequesterMayNotAnswer { request_id: Some(answered.id) });
    }
    correctable(decision)?;
    // At most one decision a request (E-4), so the receipt that the request points at is the only one to correct.
    if answered.receipt.is_none_or(|receipt| receipt.id != decision.id) {
        return Err(DecisionError::Internal);
    }
    let requires = answered.requires()?;
    let grade = check_authority(answered, &requires, principal, context)?;
    values::check(&requires, &correct.values, context.policy.schemas.as_ref())
        .map_err(|fields| DecisionError::AnswerValidationFailed { request_id: Some(answered.id), fields })?;

    let now = context.now;
    let receipt = Receipt {
        id: context.mint.next(),
        request_id: answered.id,
        org_id: answered.org_id,
        kind: ReceiptKind::Correction,
        corrects: Some(decision.id),
        decision: RecordedDecision {
            values: Json::Object(correct.values.clone()),
            disposition: Disposition::Decide,
            note: Some(correct.note.clone()),
            delegated_to: decision.decision.delegated_to.clone(),
            effective: None,
        },
        actor: actor(principal, grade),
        decided_at: now,
        attempt_id: None,
        request_version: decision.request_version,
        request_digest: decision.request_digest,
        rendered: Rendered { binding: PresentationBinding::Advisory, diverged: false, ..decision.rendered },
        via: Via::default(),
        authority: RecordedAuthority {
            required: requires.authority,
            satisfied: Satisfied::from(grade),
            endorsements: Vec::new(),
        },
        steps: Vec::new(),
        capabilities_exercised: Vec::new(),
        clearance: Clearance { source: ClearanceSource::HumanAssertion, actor: principal.id(), at: now },
        waiter_state_at_decision: decision.waiter_state_at_decision,
    };
    let sealed = receipt.seal(head).map_err(|_| DecisionError::Internal)?;
    let mut request = answered.clone();
    request.corrections.push(ReceiptPointer { id: sealed.id, height: sealed.link.height });
    let mut effects = Effects::of(request);
    effects.event(
        EventType::ReceiptCorrected,
        [("receipt_id", Json::from(receipt.id.to_string())), ("corrects", Json::from(decision.id.to_string()))],
    );
    effects.receipt = Some(sealed);
    Ok(effects)
}
