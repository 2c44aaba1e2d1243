//! Quorum (R14, rule A-8): an answer of one person that counts once enough others agree.
//!
//! Answers count together when everything in them but texts is canonically equal, with what was given in earlier steps
//! merged in. What came before counts on as it is: once somebody began to answer, nothing but partial answers changes the
//! version, and those leave the question what it was.

use super::{
    answer::{Answer, act_through},
    attempt::rearm,
    context::Context,
    effects::{Effects, EventType},
    error::DecisionError,
    field::FieldKind,
    progress::Endorsed,
    receipt::Endorsement,
    request::Request,
    requires::Requires,
    terms::Grade,
};
use crate::{
    digest::Digest,
    json::{Json, Object},
    principal::{Identity, Principal},
    timestamp::Timestamp,
};

/// Everybody who answered, and those of them who agree with the one who answers now.
pub(super) struct Tally {
    all: Vec<Endorsed>,
    /// Those who agree, in the order of their answers; the last is the one who answers now.
    pub(super) agreeing: Vec<Endorsement>,
}

impl Tally {
    /// Counts a principal's answer of these values, all of them, in the place of an earlier one of its own.
    pub(super) fn with(
        pending: &Request,
        requires: &Requires,
        (answer, values): (&Answer, &Object),
        principal: &Principal,
        now: Timestamp,
    ) -> Result<Self, DecisionError> {
        let recorded = Endorsement { principal_id: principal.id(), at: now, note: answer.note.clone() };
        let own = Endorsed { holder: principal.key_holder(), recorded, agreed: agreed(requires, values)? };
        let others = pending.progress.endorsements.iter().filter(|other| other.holder != own.holder);
        let all: Vec<Endorsed> = others.chain([&own]).cloned().collect();
        let agreeing = all.iter().filter(|one| one.agreed == own.agreed).map(|one| one.recorded.clone()).collect();
        Ok(Self { all, agreeing })
    }

    /// Whether so many agree as are needed.
    pub(super) fn is_met(&self, requires: &Requires) -> bool {
        u64::try_from(self.agreeing.len()).unwrap_or(u64::MAX) >= requires.authority.quorum
    }
}

/// Records an answer that is not enough yet. The request stays pending, and nobody is signalled.
pub(super) fn record(
    pending: &Request,
    tally: Tally,
    answer: &Answer,
    principal: &Principal,
    context: &Context<'_>,
) -> Effects {
    let now = context.now;
    let mut request = pending.clone();
    let via = act_through(&mut request, answer, principal, context);
    request.progress.endorsements = tally.all;
    // A delivery that somebody acted through arms the window (rule CL-1).
    let acted = via.grade_reached == Some(Grade::Acted) && matches!(principal.identity, Identity::Human(_));
    let window = acted.then(|| rearm(&mut request, None, now));
    let mut effects = Effects::of(request);
    effects.event(
        EventType::RequestEndorsed,
        [
            ("principal_id", principal.id().map(|id| id.to_string()).into()),
            ("delivery_id", via.delivery_id.map(|id| id.to_string()).into()),
            ("agreeing", Json::from(tally.agreeing.len())),
        ],
    );
    if let Some(window) = window {
        effects.timers.push(window);
        effects.renew_grants(context.capabilities, now);
    }
    effects
}

/// The digest of everything in an answer that has to be equal: all but texts, and nothing for what is null.
fn agreed(requires: &Requires, values: &Object) -> Result<Digest, DecisionError> {
    let is_text = |name: &str| requires.field(name).is_some_and(|field| matches!(field.kind, FieldKind::Text { .. }));
    let decisive = values.iter().filter(|(name, value)| !value.is_null() && !is_text(name));
    let decisive: Object = decisive.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    Digest::of_json(&Json::Object(decisive)).map_err(|_| DecisionError::Internal)
}
