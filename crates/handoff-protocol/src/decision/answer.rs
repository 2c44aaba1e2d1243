//! Answer (R5): a person decides.
//!
//! The order of evaluation is section 8's: [`Answer::read`] does steps 2 to 4, the engine looks up a replay (step 5) and
//! the request (step 6), [`answer`] does steps 7 to 10, and the store's lock makes the write conditional (step 11).

use super::{
    authorization::{Authorization, BoundTo},
    body,
    context::Context,
    delivery,
    effects::{Effects, EventType, Rendering},
    error::DecisionError,
    limits,
    receipt::{Actor, Clearance, Receipt, RecordedAuthority, RecordedDecision, Rendered, Satisfied, Via},
    request::{ReceiptPointer, Request},
    requires::Requires,
    signal::{Decision, Signal},
    terms::{
        ActorType, ClearanceSource, DecisionSource, Disposition, PresentationBinding, ReceiptKind, RequestState,
        SignalType,
    },
    values,
    waiter::Waiter,
};
use crate::{
    chain::Head,
    digest::{AnyDigest, Digest},
    id::{DeliveryId, RenderingId},
    json::{Json, Object, ObjectReader},
    principal::{AuthStrength, Identity, Principal},
    timestamp::Timestamp,
};

/// An answer that can be carried out: well-formed, from somebody who may answer at all, with its numbers in their
/// stored spelling.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    digest: Digest,
    values: Object,
    note: Option<String>,
    via: Option<DeliveryId>,
    rendered_digest: Option<AnyDigest>,
}

impl Answer {
    /// Reads the body of an answer by a principal: steps 2 to 4 of section 8.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InvalidRequest`] for a malformed body, [`DecisionError::RequesterMayNotAnswer`] for a machine,
    /// whatever it answers (rule P-4), [`DecisionError::AnswerValidationFailed`] naming each field with a number that
    /// cannot be represented (rule N-4).
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        let reader = ObjectReader::new(&body, "")?;
        reader.object("values")?;
        if principal.is_machine() {
            return Err(DecisionError::RequesterMayNotAnswer { request_id: None });
        }
        if reader.object("values")?.json().len() > limits::ANSWER_MEMBERS {
            return Err(reader.error("values", format!("must hold at most {} members", limits::ANSWER_MEMBERS)).into());
        }
        let note = reader.optional_text("note", 0, limits::NOTE_CHARS)?.map(str::to_owned);
        // A wrong id never blocks an answer (rule S-6); what is not even an id is malformed.
        let via = reader.optional_string("via_delivery_id")?.and_then(|text| DeliveryId::parse(text).ok());
        let rendered_digest = reader
            .optional_string("rendered_digest")?
            .map(|text| {
                AnyDigest::parse(text)
                    .map_err(|error| reader.error("rendered_digest", format!("is not a digest: {error}")))
            })
            .transpose()?;
        let disposition = reader.optional_choice("disposition", Disposition::ALL)?.unwrap_or(Disposition::Decide);
        let partial = reader.optional_boolean("partial")?.unwrap_or(false);
        reader.optional("delegate_to");
        let uses = reader.optional_array("capability_uses")?;
        if disposition != Disposition::Decide || reader.optional("delegate_to").is_some() {
            return Err(reader.error("disposition", "can only be `decide` on this server").into());
        }
        if partial {
            return Err(reader.error("partial", "is not available on this server").into());
        }
        if uses.is_some_and(|uses| !uses.is_empty()) {
            return Err(reader
                .error("capability_uses", "must name sessions of this request's grants; it has none")
                .into());
        }
        reader.finish()?;
        if let Some(values) = body.as_object_mut().and_then(|body| body.get_mut("values")) {
            values::normalize(values)
                .map_err(|fields| DecisionError::AnswerValidationFailed { request_id: None, fields })?;
        }
        let digest = body::digest(&mut body)?;
        let Some(Json::Object(values)) = body.as_object_mut().and_then(|body| body.remove("values")) else {
            return Err(DecisionError::Internal);
        };
        Ok(Self { digest, values, note, via, rendered_digest })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether the answer shows that its person saw what is asked at this version.
    fn echoes(&self, request: &Request) -> Result<bool, DecisionError> {
        let shown = request.rendered_digest().map_err(|_| DecisionError::Internal)?.to_string();
        Ok(self.rendered_digest.as_ref().is_some_and(|echoed| echoed.as_str() == shown))
    }
}

/// Settles a request by a person's answer: steps 7 to 10 of section 8, then R5.
///
/// # Errors
///
/// The settled conflict of a request that ended; [`DecisionError::InsufficientAuthority`];
/// [`DecisionError::AuthStrengthNotPermitted`]; [`DecisionError::PresentationStale`];
/// [`DecisionError::AnswerValidationFailed`] with every faulty field. None
/// of them has an effect.
pub fn answer(
    pending: &Request,
    answer: &Answer,
    principal: &Principal,
    waiter: &Waiter,
    head: &Head,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    if principal.is_machine() {
        return Err(DecisionError::RequesterMayNotAnswer { request_id: Some(pending.id) });
    }
    pending.check_pending()?;
    let requires = pending.requires()?;
    let grade = check_authority(pending, &requires, principal, context)?;
    if pending.presentation_binding == PresentationBinding::Strict && !answer.echoes(pending)? {
        return Err(DecisionError::PresentationStale { request_id: pending.id });
    }
    values::check(&requires, &answer.values, context.policy.schemas.as_ref())
        .map_err(|fields| DecisionError::AnswerValidationFailed { request_id: Some(pending.id), fields })?;

    let now = context.now;
    let mut request = pending.clone();
    let mut waiter = waiter.clone();
    let waiter_state = pending.waiter.state.at_decision();
    let via = act_through(&mut request, answer, principal, now);
    let rendering = Rendering::of(pending, context.mint)?;
    let receipt = Receipt {
        id: context.mint.next(),
        request_id: pending.id,
        org_id: pending.org_id,
        kind: ReceiptKind::Decision,
        corrects: None,
        decision: RecordedDecision {
            values: Json::Object(answer.values.clone()),
            disposition: Disposition::Decide,
            note: answer.note.clone(),
            delegated_to: None,
            effective: None,
        },
        actor: actor(principal, grade),
        decided_at: now,
        attempt_id: None,
        request_version: pending.version,
        request_digest: pending.request_digest().map_err(|_| DecisionError::Internal)?,
        rendered: rendered(pending, answer, &rendering, rendering.id),
        via,
        authority: RecordedAuthority {
            required: requires.authority.clone(),
            satisfied: Satisfied::from(grade),
            endorsements: Vec::new(),
        },
        steps: Vec::new(),
        capabilities_exercised: Vec::new(),
        clearance: Clearance { source: ClearanceSource::HumanAssertion, actor: principal.id(), at: now },
        waiter_state_at_decision: waiter_state,
    };
    let sealed = receipt.seal(head).map_err(|_| DecisionError::Internal)?;
    let authorization = Authorization {
        id: context.mint.next(),
        receipt_id: receipt.id,
        request_id: pending.id,
        grants: Json::Object(answer.values.clone()),
        single_use: true,
        expires_at: now.saturating_add(context.policy.authorization_ttl),
        bound_to: BoundTo { waiter_ref: pending.waiter_ref.clone(), effect_digest: pending.effect_digest.clone() },
        redemptions: Vec::new(),
    };
    let decision = Decision {
        values: Json::Object(answer.values.clone()),
        receipt_id: Some(receipt.id),
        authorization_id: Some(authorization.id),
        ..Decision::bare(RequestState::Answered, DecisionSource::Human)
    };
    let signal = Signal::enqueue(&request, &mut waiter, SignalType::Answered, Some(decision), context.mint, now);

    request.settle(RequestState::Answered, SignalType::Answered, now);
    request.answered_at = Some(now);
    request.receipt = Some(ReceiptPointer { id: sealed.id, height: sealed.link.height });
    request.authorization = Some(authorization.id);
    let mut effects = Effects::of(request);
    effects.event(
        EventType::RequestAnswered,
        [
            ("receipt_id", Json::from(receipt.id.to_string())),
            ("authorization_id", Json::from(authorization.id.to_string())),
            ("signal_id", Json::from(signal.id.to_string())),
        ],
    );
    effects.clear_timers();
    effects.waiter = Some(waiter);
    effects.receipt = Some(sealed);
    effects.authorization = Some(authorization);
    effects.signals.push(signal);
    effects.renderings.push(rendering);
    Ok(effects)
}

/// Checks that a principal may decide this request now, and gives the strength that counts (rules ).
pub(super) fn check_authority(
    request: &Request,
    requires: &Requires,
    principal: &Principal,
    context: &Context<'_>,
) -> Result<AuthStrength, DecisionError> {
    requires
        .authority
        .check(principal, context.now)
        .map_err(|lacking| DecisionError::InsufficientAuthority { request_id: request.id, lacking })?;
    let grade = principal.grade(context.now);
    // The grade decides, not the kind of credential: a person's own token can be worth no more than a link.
    if grade == AuthStrength::LinkOnly && !context.policy.link_only_permitted {
        return Err(DecisionError::AuthStrengthNotPermitted { request_id: request.id });
    }
    Ok(grade)
}

/// Marks the delivery that a person answered through and says what the receipt says of it.
fn act_through(request: &mut Request, answer: &Answer, principal: &Principal, now: Timestamp) -> Via {
    let chosen = delivery::choose(&request.deliveries, answer.via);
    let Some(delivery) = request.deliveries.iter_mut().find(|delivery| Some(delivery.id) == chosen) else {
        return Via::default();
    };
    if matches!(principal.identity, Identity::Human(_)) {
        delivery.act(now);
    }
    Via {
        delivery_id: Some(delivery.id),
        channel: Some(delivery.channel.clone()),
        target: Some(delivery.target.clone()),
        grade_reached: delivery.grade_reached,
    }
}

pub(super) fn actor(principal: &Principal, grade: AuthStrength) -> Actor {
    Actor {
        actor_type: match principal.identity {
            Identity::Human(_) => ActorType::User,
            Identity::Link(_) => ActorType::AnonymousLink,
            Identity::Machine(_) => ActorType::Runtime,
        },
        principal_id: principal.id(),
        display: principal.display.clone(),
        role_at_decision: Some(principal.role),
        auth_strength: Some(grade),
        reauth_at: principal.reauth_at,
        mfa_at: principal.mfa_at,
        ip_digest: None,
        user_agent_digest: None,
        on_behalf_of: principal.on_behalf_of,
    }
}

/// What the receipt says of what was shown (rule S-5, the advisory half).
fn rendered(request: &Request, answer: &Answer, rendering: &Rendering, reference: RenderingId) -> Rendered {
    let echoed = answer.rendered_digest.as_ref().map(AnyDigest::as_str);
    Rendered {
        digest: rendering.digest,
        reference: Some(reference),
        binding: request.presentation_binding,
        diverged: echoed.is_some_and(|echoed| echoed != rendering.digest.to_string()),
    }
}
