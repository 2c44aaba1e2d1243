//! What the planted faults of this domain do (see [`crate::planted`]), where a line at their place does not say it.

use super::{
    authorization::{Authorization, BoundTo, Redemption},
    context::Context,
    effects::{Effects, Fired, TimerChange},
    error::DecisionError,
    expire::expire,
    receipt::Receipt,
    redeem::Redeemed,
    request::Request,
    requires::Requires,
    resume::Resumed,
    terms::{ActorType, Grade, RequestState},
    waiter::Waiter,
};
use crate::{
    chain::{Head, Link},
    digest::Digest,
    duration::ExactDuration,
    id::{Mint, PrincipalId, UserId},
    json::{Json, NotCanonical, Object},
    planted::Fault,
    principal::{Identity, Principal, Role},
    timestamp::Timestamp,
};

/// An answered request as a fault that overlooks the answer sees it.
pub(super) fn overlooking_the_answer(fault: Fault, request: &Request) -> Request {
    let mut seen = request.clone();
    if fault.is_planted() && seen.state == RequestState::Answered {
        seen.state = RequestState::Pending;
    }
    seen
}

/// A machine taken for a person.
pub(super) fn disguised(principal: &Principal) -> Principal {
    let mut seen = principal.clone();
    if let (true, Identity::Machine(id)) = (Fault::MachineMayAnswer.is_planted(), &principal.identity) {
        seen.identity = Identity::Human(UserId::from_ulid(id.ulid()));
        seen.role = Role::Admin;
    }
    seen
}

/// A test key taken for any other.
pub(super) fn unmarked(principal: &Principal) -> Principal {
    Principal { test: principal.test && !Fault::TestKeyRaisesForReal.is_planted(), ..principal.clone() }
}

/// What an answer needs, without those who must agree.
pub(super) fn agreed_by_one(mut requires: Requires) -> Requires {
    if Fault::QuorumOfOne.is_planted() {
        requires.authority.quorum = 1;
    }
    requires
}

/// A receipt that says what it does not know.
pub(super) fn embellished(mut receipt: Receipt) -> Receipt {
    let somebody = Some(PrincipalId::User(UserId::from_ulid(receipt.id.ulid())));
    match receipt.actor.actor_type {
        ActorType::AnonymousLink if Fault::LinkReceiptNamesAPerson.is_planted() => {
            receipt.actor.principal_id = somebody;
        }
        ActorType::Policy if Fault::PolicyReceiptNamesAPerson.is_planted() => receipt.actor.principal_id = somebody,
        _ => {}
    }
    if Fault::ReceiptFillsInAGrade.is_planted() {
        receipt.via.grade_reached = Some(Grade::Acted);
    }
    receipt
}

/// The head of an empty chain that somebody made up.
pub(super) fn genesis(head: Head) -> Head {
    if head.height == 0 && Fault::GenesisNotZeros.is_planted() {
        return Head { digest: Digest::of("genesis"), ..head };
    }
    head
}

/// The link with the digest of one that stands a height lower.
pub(super) fn sealed_lower(link: Link, core: &Json) -> Result<Link, NotCanonical> {
    if !Fault::HeightFromZero.is_planted() {
        return Ok(link);
    }
    let lower = Link::seal(link.height.saturating_sub(1), link.prev_digest, core)?;
    Ok(Link { digest: lower.digest, ..link })
}

/// The receipt's link as of a height lower.
pub(super) fn renumber(receipt: &mut Object, link: Link) {
    let shown = receipt.get_mut("chain").and_then(Json::as_object_mut);
    if let (true, Some(shown)) = (Fault::HeightFromZero.is_planted(), shown) {
        shown.insert("height", link.height.saturating_sub(1));
    }
}

/// Every signal once more.
pub(super) fn signal_twice(effects: &mut Effects, mint: &mut Mint) {
    if !Fault::SecondSignal.is_planted() {
        return;
    }
    for mut again in effects.signals.clone() {
        again.id = mint.next();
        again.resume_token = mint.unguessable();
        if let Some(waiter) = &mut effects.waiter {
            waiter.last_sequence = waiter.last_sequence.saturating_add(1);
            again.sequence = waiter.last_sequence;
        }
        effects.request.waiter.unacked = effects.request.waiter.unacked.saturating_add(1);
        effects.signals.push(again);
    }
}

/// A window that lapsed, armed once more by itself.
pub(super) fn lapse_again(effects: &mut Effects, now: Timestamp) {
    if Fault::NudgeTwice.is_planted() {
        let lapses_at = now.saturating_add(effects.request.attempt_ttl.min(ExactDuration::from_seconds(1)));
        effects.request.attempt_expires_at = Some(lapses_at);
        effects.request.attempt_notified = false;
        effects.timers.push(TimerChange::SetAttempt(lapses_at));
    }
}

/// An authorization that no answer minted.
pub(super) fn authorize(effects: &mut Effects, context: &mut Context<'_>) {
    let (Some(receipt), true) = (&effects.receipt, Fault::ExpiryAuthorizes.is_planted()) else { return };
    let request = &effects.request;
    let bound_to = BoundTo { waiter_ref: request.waiter_ref.clone(), effect_digest: request.effect_digest.clone() };
    let authorization = Authorization {
        id: context.mint.next(),
        receipt_id: receipt.id,
        request_id: request.id,
        grants: Json::Object(Object::new()),
        single_use: true,
        expires_at: context.now.saturating_add(context.policy.authorization_ttl),
        bound_to,
        redemptions: Vec::new(),
        test_mode: request.test_mode,
    };
    effects.request.authorization = Some(authorization.id);
    effects.authorization = Some(authorization);
}

/// The same question once more, as a request of its own.
pub(super) fn split(effects: &mut Effects, mint: &mut Mint) {
    if Fault::LadderMakesARequest.is_planted() {
        let copy = Request { id: mint.next(), deliveries: Vec::new(), ..effects.request.clone() };
        effects.successor = Some(copy);
    }
}

/// A request whose deliveries are taken for sent.
pub(super) fn presumed_sent(mut request: Request) -> Request {
    for delivery in request.deliveries.iter_mut().filter(|_| Fault::QueuedCountsAsDispatched.is_planted()) {
        delivery.grade_reached = delivery.grade_reached.or(Some(Grade::Dispatched));
    }
    request
}

/// A further redemption for an effect that is known.
pub(super) fn redeemed_again(authorization: &Authorization, effect_key: &str, now: Timestamp) -> Option<Redeemed> {
    let known = authorization.redemptions.iter().find(|known| known.effect_key == effect_key)?;
    let again = Redemption { redeemed_at: now, ..known.clone() };
    let mut authorization = authorization.clone();
    authorization.redemptions.push(again);
    let first = Redeemed::First { authorization: Box::new(authorization), redeemed_at: now };
    Fault::SameEffectSpendsTwice.is_planted().then_some(first)
}

/// Leaves out of a declaration what has to be served. True where nothing is to be put in its place.
pub(super) fn dropped_some(requires: &mut Json) -> bool {
    let Some(members) = requires.as_object_mut() else { return false };
    if Fault::ExtensionsDropped.is_planted() {
        let known = std::mem::take(members).into_iter().filter(|(name, _)| !name.starts_with("x-"));
        *members = known.collect();
    }
    let answer = members.get_mut("answer").and_then(Json::as_object_mut);
    let empty = |answer: &&mut Object| answer.get("fields").and_then(Json::as_array).is_some_and(<[Json]>::is_empty);
    if let Some(answer) = answer.filter(empty).filter(|_| Fault::EmptyFieldsOmitted.is_planted()) {
        answer.remove("fields");
    }
    Fault::EmptyFieldsOmitted.is_planted()
}

/// Metadata that tells what a runtime handed over.
pub(super) fn with_reference(metadata: Option<Json>, body: &Json) -> Option<Json> {
    let handed_over = body.get("resume_ref").filter(|_| Fault::ContinuationInRequest.is_planted());
    let Some(handed_over) = handed_over else { return metadata };
    let mut metadata = metadata.unwrap_or_else(|| Json::Object(Object::new()));
    if let Some(members) = metadata.as_object_mut() {
        members.insert("resume_ref", handed_over.clone());
    }
    Some(metadata)
}

/// What was handed over, with something behind it.
pub(super) fn altered(mut resumed: Resumed) -> Resumed {
    if Fault::ContinuationAltered.is_planted() {
        resumed.reference = resumed.reference.map(|text| text + " ");
        resumed.payload = resumed.payload.map(|text| text + "\n");
    }
    resumed
}

/// Mints a receipt for a change that somebody observed, or settles a request by words of a channel: what no rule lets in.
///
/// # Errors
///
/// [`DecisionError::Internal`].
pub fn infer(mut effects: Effects, head: &Head, context: &mut Context<'_>) -> Result<Effects, DecisionError> {
    let due = Request { expires_at: Some(context.now), ttl_policy: None, ..effects.request.clone() };
    let waiter = Waiter::new(due.waiter_ref.clone());
    if let Fired::Acted(expired) = expire(&due, &waiter, head, context)? {
        effects.request.receipt = expired.request.receipt;
        effects.receipt = expired.receipt;
        effects.renderings = expired.renderings;
    }
    if Fault::ChannelTextSettles.is_planted() {
        effects.request.state = RequestState::Answered;
        effects.request.answered_at = Some(context.now);
    }
    Ok(effects)
}
