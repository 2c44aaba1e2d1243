//! Escalate (R4): the next rung now, or a named one.

use super::{
    body,
    context::{Context, check_machine},
    effects::Effects,
    error::DecisionError,
    ladder::{self, Cause},
    owner::check_test_key,
    request::Request,
};
use crate::{
    digest::Digest,
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
};

/// An escalation that can be carried out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Escalate {
    digest: Digest,
    rung: Option<u32>,
}

impl Escalate {
    /// Reads the body of an escalation by a principal; an empty one means the next rung.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], then [`DecisionError::InvalidRequest`].
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        check_machine(principal, Scope::RequestsRoute)?;
        let reader = ObjectReader::new(&body, "")?;
        // A number beyond every ladder is a rung that is not there, which only the request can tell.
        let rung = match reader.optional_integer("rung")? {
            Some(rung) if rung < 0 => return Err(reader.error("rung", "must be the number of a rung, from 0").into()),
            given => given.map(|rung| u32::try_from(rung).unwrap_or(u32::MAX)),
        };
        reader.finish()?;
        let digest = body::digest(&mut body)?;
        Ok(Self { digest, rung })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Fires the next rung of a pending request, or the named one (R4). The request stays pending, and it is the same one: more
/// deliveries and no receipt. A rung that was reached does not fire by itself any more; one that was passed over comes at its
/// time (rule CL-4).
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for a test key on what is no test; the settled conflict of a request that ended;
/// [`DecisionError::InvalidRequest`] if there is no such rung or no room for its deliveries, and then
/// nothing is emitted.
pub fn escalate(
    pending: &Request,
    escalate: &Escalate,
    principal: &Principal,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    check_test_key(principal, pending.test_mode)?;
    pending.check_pending()?;
    let rung = escalate.rung.unwrap_or_else(|| pending.further_rung());
    #[cfg(feature = "planted-faults")]
    if pending.routing.rung(rung).is_none() && crate::planted::Fault::UnknownRungEscalates.is_planted() {
        return Ok(Effects::of(pending.clone()));
    }
    if pending.routing.rung(rung).is_none() {
        let last = pending.routing.ladder.len().saturating_sub(1);
        let mend = match escalate.rung {
            Some(_) => format!("must be from 0 to {last}: there is no such rung on this request's ladder"),
            None => format!("must be given now, from 0 to {last}: every rung of this request's ladder was reached"),
        };
        return Err(DecisionError::invalid("rung", mend));
    }
    pending.check_room(pending.routing.rows(rung), "rung")?;
    let mut request = pending.clone();
    let fired = ladder::fire(&mut request, rung, context);
    let deadline = ladder::put_off_deadline(&mut request, context);
    let mut effects = Effects::of(request);
    effects.escalated(fired, Cause::Hand);
    #[cfg(feature = "planted-faults")]
    super::planted::split(&mut effects, context.mint);
    effects.timers.extend(deadline);
    Ok(effects)
}
