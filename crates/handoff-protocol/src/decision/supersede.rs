//! Supersede (R8): another request takes this one's place.

use super::{
    body,
    context::{Context, check_machine},
    effects::{Effects, EventType},
    error::DecisionError,
    owner::check_owner,
    request::Request,
    signal::{Decision, Signal},
    terms::{DecisionSource, RequestState, SignalType},
    waiter::Waiter,
};
use crate::{
    digest::Digest,
    id::RequestId,
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
};

/// A supersession that can be carried out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Supersede {
    digest: Digest,
    by: Option<RequestId>,
}

impl Supersede {
    /// Reads the body of a supersession by a principal.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], then [`DecisionError::InvalidRequest`].
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        check_machine(principal, Scope::RequestsWrite)?;
        let reader = ObjectReader::new(&body, "")?;
        // What does not parse names no request (rule B-3).
        let by = RequestId::parse(reader.string("by")?).ok();
        reader.finish()?;
        let digest = body::digest(&mut body)?;
        Ok(Self { digest, by })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The successor; nothing if what was sent names no request at all.
    #[must_use]
    pub fn by(&self) -> Option<RequestId> {
        self.by
    }
}

/// Supersedes a pending request by another that is pending (R8). Both sides are linked in one commit.
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for whoever never raised under the request's waiter; the settled conflict of a
/// request that ended; [`DecisionError::InvalidRequest`] if the successor is not pending or the request itself.
pub fn supersede(
    pending: &Request,
    successor: &Request,
    principal: &Principal,
    waiter: &Waiter,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    check_owner(pending, principal, waiter)?;
    pending.check_pending()?;
    if successor.id == pending.id {
        return Err(DecisionError::invalid("by", "must name another request than this one"));
    }
    if successor.state != RequestState::Pending {
        return Err(DecisionError::invalid("by", "must name a request that is pending"));
    }
    let now = context.now;
    let mut request = pending.clone();
    let mut waiter = waiter.clone();
    let decision = Decision {
        superseded_by: Some(successor.id),
        ..Decision::bare(RequestState::Superseded, DecisionSource::Policy)
    };
    let signal = Signal::enqueue(&request, &mut waiter, SignalType::Superseded, Some(decision), context.mint, now);
    request.settle(RequestState::Superseded, SignalType::Superseded, now);
    request.superseded_by = Some(successor.id);
    let mut heir = successor.clone();
    heir.supersedes = Some(pending.id);
    let mut effects = Effects::of(request);
    effects.event(
        EventType::RequestSuperseded,
        [("superseded_by", Json::from(successor.id.to_string())), ("signal_id", Json::from(signal.id.to_string()))],
    );
    effects.clear_timers();
    effects.close_capabilities(context.capabilities, now);
    effects.successor = Some(heir);
    effects.waiter = Some(waiter);
    effects.signals.push(signal);
    Ok(effects)
}
