//! Answer (R5): a person decides, or answers in part (R12), passes it on (R13), or agrees with others (R14).
//!
//! The order of evaluation is section 8's: [`Answer::read`] does steps 2 to 4, the engine looks up a replay (step 5) and
//! the request (step 6), [`answer`] does steps 7 to 10, and the store's lock makes the write conditional (step 11).

use super::{
    authorization::{Authorization, BoundTo},
    body,
    capability::{CapabilityUse, check_uses},
    context::Context,
    delivery, dispose,
    effects::{Effects, EventType, Rendering},
    endorse::{self, Tally},
    error::DecisionError,
    limits, partial,
    progress::actor_type,
    receipt::{Actor, Clearance, Endorsement, Receipt, RecordedAuthority, RecordedDecision, Rendered, Satisfied, Via},
    request::{ReceiptPointer, Request},
    requires::Requires,
    signal::{Decision, Signal},
    target::Target,
    terms::{ClearanceSource, DecisionSource, Disposition, PresentationBinding, ReceiptKind, RequestState, SignalType},
    values,
    waiter::Waiter,
};
use crate::{
    chain::Head,
    digest::{AnyDigest, Digest},
    id::{DeliveryId, RenderingId},
    json::{DecodeError, Json, Object, ObjectReader},
    principal::{AuthStrength, Identity, Principal},
};

/// An answer that can be carried out: well-formed, from somebody who may answer at all, with its numbers in their
/// stored spelling.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    digest: Digest,
    intent: Intent,
    pub(super) values: Object,
    pub(super) note: Option<String>,
    via: Option<DeliveryId>,
    rendered_digest: Option<AnyDigest>,
    uses: Vec<CapabilityUse>,
    /// Whether it counts only for what its person was shown, whatever the request asks.
    must_echo: bool,
}

/// What its person means to do (rules S-2, S-3).
#[derive(Clone, Debug, PartialEq)]
enum Intent {
    Decide,
    GivePart,
    Delegate(Target),
    DeclareUnable,
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
        #[cfg(feature = "planted-faults")]
        let principal = &super::planted::disguised(principal);
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
        let intent = Intent::read(&reader)?;
        #[cfg(feature = "planted-faults")]
        let intent = intent.mistaken();
        let uses = CapabilityUse::read_all(&reader)?;
        reader.finish()?;
        if let Some(values) = body.as_object_mut().and_then(|body| body.get_mut("values")) {
            values::normalize(values)
                .map_err(|fields| DecisionError::AnswerValidationFailed { request_id: None, fields })?;
        }
        let digest = body::digest(&mut body)?;
        let Some(Json::Object(values)) = body.as_object_mut().and_then(|body| body.remove("values")) else {
            return Err(DecisionError::Internal);
        };
        Ok(Self { digest, intent, values, note, via, rendered_digest, uses, must_echo: false })
    }

    /// The same answer, refused as stale unless it echoes what is asked now, as under strict binding (rule S-5). A surface
    /// that shows the question again on the spot takes its people's answers so, whatever the request's binding is.
    #[must_use]
    pub fn only_as_shown(self) -> Self {
        Self { must_echo: true, ..self }
    }

    /// Whom the request is passed to, if that is what this does.
    #[must_use]
    pub fn delegate_to(&self) -> Option<&Target> {
        match &self.intent {
            Intent::Delegate(to) => Some(to),
            Intent::Decide | Intent::GivePart | Intent::DeclareUnable => None,
        }
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

impl Intent {
    /// What is meant, taken for a decision.
    #[cfg(feature = "planted-faults")]
    fn mistaken(self) -> Self {
        use crate::planted::Fault::{DispositionsDecide, PartIsTheWhole};

        match self {
            Self::GivePart if PartIsTheWhole.is_planted() => Self::Decide,
            Self::Delegate(_) | Self::DeclareUnable if DispositionsDecide.is_planted() => Self::Decide,
            meant => meant,
        }
    }

    /// Reads what is meant from members that belong together.
    fn read(reader: &ObjectReader<'_, '_>) -> Result<Self, DecodeError> {
        let disposition = reader.optional_choice("disposition", Disposition::ALL)?.unwrap_or(Disposition::Decide);
        let partial = reader.optional_boolean("partial")?.unwrap_or(false);
        let delegate_to = reader.optional_object("delegate_to")?.map(Target::read).transpose()?;
        if partial && disposition != Disposition::Decide {
            return Err(reader.error("partial", "belongs to the disposition `decide`"));
        }
        match (disposition, delegate_to) {
            (Disposition::Delegate, Some(to)) => Ok(Self::Delegate(to)),
            (Disposition::Delegate, None) => {
                Err(reader.error("delegate_to", "is required with the disposition `delegate`"))
            }
            (_, Some(_)) => Err(reader.error("delegate_to", "belongs to the disposition `delegate`")),
            (Disposition::Unable, None) => Ok(Self::DeclareUnable),
            (Disposition::Decide, None) if partial => Ok(Self::GivePart),
            (Disposition::Decide, None) => Ok(Self::Decide),
        }
    }
}

/// Carries out a person's answer: steps 7 to 10 of section 8, then what it means to do.
///
/// A decision settles the request (R5), unless more people must agree (R14). A partial answer (R12), a delegation and an
/// inability (R13) leave it pending, mint nothing and signal nobody.
///
/// # Errors
///
/// The settled conflict of a request that ended; [`DecisionError::InsufficientAuthority`];
/// [`DecisionError::AuthStrengthNotPermitted`]; [`DecisionError::PresentationStale`];
/// [`DecisionError::AnswerValidationFailed`] with every faulty field; [`DecisionError::InsufficientScope`] for a link that
/// passes the request on; [`DecisionError::InvalidRequest`] for a session that is not the answerer's (rule S-7), for
/// a partial answer that gives nothing, and once a request was given too many steps or passed on to too many. None of them
/// has an effect.
pub fn answer(
    pending: &Request,
    answer: &Answer,
    principal: &Principal,
    waiter: &Waiter,
    head: &Head,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    #[cfg(feature = "planted-faults")]
    let principal = &super::planted::disguised(principal);
    if principal.is_machine() {
        return Err(DecisionError::RequesterMayNotAnswer { request_id: Some(pending.id) });
    }
    #[cfg(feature = "planted-faults")]
    let pending = &super::planted::overlooking_the_answer(crate::planted::Fault::SecondAnswerSettles, pending);
    pending.check_pending()?;
    let requires = pending.requires()?;
    #[cfg(feature = "planted-faults")]
    let requires = super::planted::agreed_by_one(requires);
    let grade = check_authority(pending, &requires, principal, context)?;
    let must_echo = answer.must_echo || pending.presentation_binding == PresentationBinding::Strict;
    #[cfg(feature = "planted-faults")]
    let must_echo = must_echo && !crate::planted::Fault::StrictBindingUnchecked.is_planted();
    if must_echo && !answer.echoes(pending)? {
        return Err(DecisionError::PresentationStale { request_id: pending.id });
    }
    check_uses(&answer.uses, &context.capabilities.sessions, principal)?;
    let refuse = |fields| DecisionError::AnswerValidationFailed { request_id: Some(pending.id), fields };
    if matches!(answer.intent, Intent::Delegate(_) | Intent::DeclareUnable) {
        // Their values are not judged, and must hold no secret all the same.
        values::check_secrets(&requires, &answer.values).map_err(refuse)?;
    }
    let merged = match &answer.intent {
        Intent::GivePart => return partial::record(pending, answer, &requires, principal, context),
        Intent::Delegate(to) => return dispose::delegate(pending, answer, to, principal, context),
        Intent::DeclareUnable => return Ok(dispose::unable(pending, answer, principal, context)),
        Intent::Decide => pending.progress.merged(&answer.values),
    };
    values::check(&requires, &merged, context.policy.schemas.as_ref()).map_err(refuse)?;
    let mut endorsements = Vec::new();
    if requires.authority.quorum > 1 {
        let tally = Tally::with(pending, &requires, (answer, &merged), principal, context.now)?;
        if !tally.is_met(&requires) {
            return Ok(endorse::record(pending, tally, answer, principal, context));
        }
        endorsements = tally.agreeing;
    }
    settle(
        Settling { pending, answer, values: merged, requires, grade, endorsements },
        principal,
        waiter,
        head,
        context,
    )
}

/// An answer that settles a request, with everything that goes on its receipt.
struct Settling<'a> {
    pending: &'a Request,
    answer: &'a Answer,
    /// The values of this answer and of the steps before it.
    values: Object,
    requires: Requires,
    grade: AuthStrength,
    endorsements: Vec<Endorsement>,
}

/// Settles a request (R5): one receipt, one authorization, one signal.
fn settle(
    settling: Settling<'_>,
    principal: &Principal,
    waiter: &Waiter,
    head: &Head,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    let Settling { pending, answer, values, requires, grade, endorsements } = settling;
    let now = context.now;
    let mut request = pending.clone();
    let mut waiter = waiter.clone();
    let via = act_through(&mut request, answer, principal, context);
    let mut steps = pending.progress.recorded_steps();
    if !steps.is_empty() {
        steps.push(partial::step(pending, answer, &requires, via.delivery_id, now));
    }
    let rendering = Rendering::of(pending, context.mint)?;
    let receipt = Receipt {
        id: context.mint.next(),
        request_id: pending.id,
        org_id: pending.org_id,
        kind: ReceiptKind::Decision,
        corrects: None,
        decision: RecordedDecision {
            values: Json::Object(values.clone()),
            disposition: Disposition::Decide,
            note: answer.note.clone(),
            delegated_to: pending.progress.delegated_to.clone(),
            effective: None,
        },
        actor: actor(principal, grade),
        decided_at: now,
        attempt_id: None,
        request_version: pending.version,
        request_digest: pending.request_digest().map_err(|_| DecisionError::Internal)?,
        rendered: rendered(pending, answer, &rendering, rendering.id),
        via,
        authority: RecordedAuthority { required: requires.authority, satisfied: Satisfied::from(grade), endorsements },
        steps,
        capabilities_exercised: context.capabilities.exercised(now),
        clearance: Clearance { source: ClearanceSource::HumanAssertion, actor: principal.id(), at: now },
        waiter_state_at_decision: pending.waiter.state.at_decision(),
    };
    #[cfg(feature = "planted-faults")]
    let receipt = super::planted::embellished(receipt);
    let sealed = receipt.seal(head).map_err(|_| DecisionError::Internal)?;
    let authorization = Authorization {
        id: context.mint.next(),
        receipt_id: receipt.id,
        request_id: pending.id,
        grants: Json::Object(values.clone()),
        single_use: true,
        expires_at: now.saturating_add(context.policy.authorization_ttl),
        bound_to: BoundTo { waiter_ref: pending.waiter_ref.clone(), effect_digest: pending.effect_digest.clone() },
        redemptions: Vec::new(),
        test_mode: pending.test_mode,
    };
    let decision = Decision {
        values: Json::Object(values),
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
    effects.close_capabilities(context.capabilities, now);
    effects.waiter = Some(waiter);
    effects.receipt = Some(sealed);
    effects.authorization = Some(authorization);
    effects.signals.push(signal);
    effects.renderings.push(rendering);
    #[cfg(feature = "planted-faults")]
    super::planted::signal_twice(&mut effects, context.mint);
    #[cfg(feature = "planted-faults")]
    if crate::planted::Fault::AuthorizationMissing.is_planted() {
        (effects.authorization, effects.request.authorization) = (None, None);
    }
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
        .check(principal, &request.progress.also_assigned, &context.policy.directory, context.now)
        .map_err(|lacking| DecisionError::InsufficientAuthority { request_id: request.id, lacking })?;
    let grade = principal.grade(context.now);
    // The grade decides, not the kind of credential: a person's own token can be worth no more than a link.
    let floors = request.terms.as_ref().and_then(|terms| terms.floors);
    let permitted = context.policy.link_only_permitted && floors.is_none_or(|floors| floors.allow_link_only);
    #[cfg(feature = "planted-faults")]
    let permitted = permitted || crate::planted::Fault::LinkAnswersWhereOff.is_planted();
    if grade == AuthStrength::LinkOnly && !permitted {
        return Err(DecisionError::AuthStrengthNotPermitted { request_id: request.id });
    }
    Ok(grade)
}

/// Marks the delivery that a person answered through and says what the receipt says of it.
///
/// It is at `acted` only if it is meant for that person: their authenticated answer is the evidence (rules V-2, V-3), and
/// it is evidence of nothing that was addressed to somebody else.
pub(super) fn act_through(request: &mut Request, answer: &Answer, principal: &Principal, context: &Context<'_>) -> Via {
    let directory = &context.policy.directory;
    let is_meant = |target: &Target| directory.means(target, principal, context.now);
    let chosen = delivery::choose(&request.deliveries, answer.via, is_meant);
    let Some(delivery) = request.deliveries.iter_mut().find(|delivery| Some(delivery.id) == chosen) else {
        return Via::default();
    };
    if matches!(principal.identity, Identity::Human(_)) && is_meant(&delivery.target) {
        delivery.act(context.now);
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
        actor_type: actor_type(principal),
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
