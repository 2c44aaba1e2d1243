//! Reassign: somebody else is asked, and may answer (section 11).

use super::{
    body,
    context::{Context, check_scope},
    effects::{Effects, EventType},
    error::DecisionError,
    known::check_target,
    ladder, limits,
    owner::check_test_key,
    reach::call_off,
    request::Request,
    target::Target,
};
use crate::{
    digest::Digest,
    json::{Json, ObjectReader},
    principal::{Principal, Scope},
};

/// A reassignment that can be carried out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reassign {
    digest: Digest,
    to: Target,
}

impl Reassign {
    /// Reads the body of a reassignment by a principal.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], then [`DecisionError::InvalidRequest`].
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        check_scope(principal, Scope::RequestsRoute)?;
        let reader = ObjectReader::new(&body, "")?;
        let to = Target::read(reader.object("to")?)?;
        // Words for whoever reads the call; events carry none (section 23).
        reader.optional_text("reason", 0, limits::REASON_CHARS)?;
        reader.finish()?;
        let digest = body::digest(&mut body)?;
        Ok(Self { digest, to })
    }

    /// Whom the request is passed to.
    #[must_use]
    pub fn to(&self) -> &Target {
        &self.to
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Passes a pending request on: what did not set out yet is cancelled, the new target is reached at the current rung, and
/// may answer from now on (rule A-4).
///
/// # Errors
///
/// [`DecisionError::InsufficientScope`] for a test key on what is no test; the settled conflict of a request that ended;
/// [`DecisionError::InvalidRequest`] for a target that can mean nobody, once the request was passed on to too many, and
/// while there is no room for more deliveries.
pub fn reassign(
    pending: &Request,
    reassign: &Reassign,
    principal: &Principal,
    context: &mut Context<'_>,
) -> Result<Effects, DecisionError> {
    check_test_key(principal, pending.test_mode)?;
    pending.check_pending()?;
    check_target(&reassign.to, &context.policy.directory, "to")?;
    let mut request = pending.clone();
    if !request.let_answer(&reassign.to) {
        let problem = format!(
            "must name one of those it was passed on to already: {} are as many as one request can have",
            limits::ASSIGNEES
        );
        return Err(DecisionError::invalid("to", problem));
    }
    let called_off = call_off(&mut request, context);
    request.check_room(request.rows_for_one_target(), "to")?;
    request.outreach.passed_to = Some(reassign.to.clone());
    ladder::mint_for(&mut request, &reassign.to, context);
    let mut effects = Effects::of(request);
    effects.event(
        EventType::RequestReassigned,
        [("to_kind", Json::from(reassign.to.kind.as_str())), ("by", principal.id().map(|id| id.to_string()).into())],
    );
    for (id, from) in called_off {
        effects.delivery_event(id, from);
    }
    Ok(effects)
}
