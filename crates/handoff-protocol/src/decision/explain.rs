//! Explaining a raise before it is made: who would be reached, when, how, and why not the others.
//!
//! The answer is what the rules themselves come to: the request is raised, tended and let expire under their eyes, at the
//! times of its rungs and deadlines, with every attempt taken for accepted. Nothing is sent, and nothing is kept.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    context::Context,
    delivery::Delivery,
    dispatch::{SendReport, begin_send, end_send},
    effects::Fired,
    error::DecisionError,
    expire::expire,
    raise::{Raise, raise},
    request::Request,
    routing::Routing,
    target::Target,
    tend::tend,
    terms::{DeliveryState, OnExpiry, Suppression, Urgency},
};
use crate::{
    chain::Head,
    duration::ExactDuration,
    id::{DeliveryId, UserId},
    principal::{AuthStrength, Principal, Role},
    timestamp::Timestamp,
};

/// What a raise would come to.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The number of the policy that would apply.
    pub policy_version: Option<u64>,
    /// How urgent it would be.
    pub urgency: Urgency,
    /// The lowest role that could answer.
    pub min_role: Role,
    /// The weakest authentication that could answer.
    pub auth_strength: AuthStrength,
    /// Who alone could answer; empty for whoever satisfies the rest.
    pub assignees: Vec<Target>,
    /// How many would have to agree.
    pub quorum: u64,
    /// The ladder.
    pub routing: Routing,
    /// When it would end, if nobody answered: with all the times that its own rungs put that off.
    pub expires_at: Option<Timestamp>,
    /// What would happen then.
    pub on_expiry: Option<OnExpiry>,
    /// Every delivery, by rung and by the order of its channels.
    pub deliveries: Vec<PlannedDelivery>,
    /// Who is in the directory and would not be reached by anything.
    pub never_reached: Vec<NeverReached>,
}

/// A delivery that would be made.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedDelivery {
    /// The rung.
    pub rung: u32,
    /// How long after the raise.
    pub after: ExactDuration,
    /// When.
    pub at: Timestamp,
    /// Through which channel.
    pub channel: String,
    /// For whom: a person once one is known.
    pub target: Target,
    /// That person's name.
    pub display: Option<String>,
    /// Whether it would set out.
    pub is_sent: bool,
    /// Why not, where it would not.
    pub kept_back: Option<Suppression>,
    /// How many more people of its place would not be reached, for want of room.
    pub left_out: u32,
}

/// Somebody whom nothing would reach.
#[derive(Clone, Debug, Serialize)]
pub struct NeverReached {
    /// Who.
    pub person: UserId,
    /// The name.
    pub display: Option<String>,
    /// Why, if something was meant for them; null where nothing is.
    pub kept_back: Option<Suppression>,
}

/// Explains a raise by a principal at a moment.
///
/// # Errors
///
/// [`DecisionError::Internal`] alone: a [`Raise`] was checked when it was read.
pub fn explain(command: &Raise, principal: &Principal, context: &mut Context<'_>) -> Result<Explained, DecisionError> {
    let raised = raise(command, principal, None, context)?;
    let (mut request, waiter) = (raised.request, raised.waiter.ok_or(DecisionError::Internal)?);
    let authority = request.requires()?.authority;
    // Reminders repeat what is told already, for ever.
    if let Some(policy) = request.ttl_policy.as_mut() {
        policy.reminder_every = None;
    }
    let mut explained = Explained {
        policy_version: request.terms.as_ref().map(|terms| terms.version),
        urgency: request.urgency,
        min_role: authority.min_role,
        auth_strength: authority.auth_strength,
        assignees: authority.assignees,
        quorum: authority.quorum,
        routing: request.routing.clone(),
        expires_at: None,
        on_expiry: request.ttl_policy.as_ref().map(|policy| policy.on_expiry),
        deliveries: Vec::new(),
        never_reached: Vec::new(),
    };
    let mut told = BTreeSet::new();
    while let Some((due, is_deadline)) = next(&request) {
        let mut then = Context {
            now: context.now.max(due),
            mint: context.mint,
            policy: context.policy,
            capabilities: context.capabilities,
        };
        let fired =
            if is_deadline { expire(&request, &waiter, &Head::GENESIS, &mut then)? } else { tend(&request, &mut then) };
        let Fired::Acted(effects) = fired else { break };
        request = effects.request;
        if request.state.is_final() {
            break;
        }
        note(&mut explained, &mut told, &request, &then);
        request = accept_all(request, &mut then);
    }
    explained.expires_at = request.ended_at.or(request.expires_at);
    let place = |planned: &PlannedDelivery| {
        let channels = explained.routing.rung(planned.rung).map(|rung| rung.channels.as_slice()).unwrap_or_default();
        (planned.rung, channels.iter().position(|channel| *channel == planned.channel))
    };
    explained.deliveries.sort_by_key(place);
    explained.never_reached = never_reached(&explained, context);
    Ok(explained)
}

/// What happens next by itself, and whether that is the deadline.
fn next(request: &Request) -> Option<(Timestamp, bool)> {
    let tended = request.next_tend().map(|due| (due, false));
    let ends = request.deadline().map(|due| (due, true));
    tended.into_iter().chain(ends).min()
}

/// Notes the deliveries that were claimed since the last time.
fn note(explained: &mut Explained, told: &mut BTreeSet<DeliveryId>, request: &Request, context: &Context<'_>) {
    let claimed = request.deliveries.iter().filter(|delivery| !request.is_unclaimed(delivery));
    for delivery in claimed {
        if told.insert(delivery.id) {
            explained.deliveries.push(planned(delivery, request, context));
        }
    }
}

fn planned(delivery: &Delivery, request: &Request, context: &Context<'_>) -> PlannedDelivery {
    let person = UserId::parse(&delivery.target.value).ok().and_then(|id| context.policy.directory.person(id));
    PlannedDelivery {
        rung: delivery.rung,
        after: request.routing.rung(delivery.rung).map_or(ExactDuration::ZERO, |rung| rung.after),
        at: delivery.updated_at,
        channel: delivery.channel.clone(),
        target: delivery.target.clone(),
        display: person.and_then(|person| person.display.clone()),
        is_sent: delivery.state != DeliveryState::Suppressed,
        kept_back: delivery.suppressed_reason,
        left_out: delivery.left_out,
    }
}

/// Makes every attempt that is to be made, and takes it for accepted, so that it keeps no later one back.
fn accept_all(mut request: Request, context: &mut Context<'_>) -> Request {
    let ready: Vec<DeliveryId> = request.outreach.ready.iter().map(|ready| ready.delivery).collect();
    for id in ready {
        if let Fired::Acted(effects) = begin_send(&request, id, context) {
            request = effects.request;
        }
        let attempt = request.delivery(id).and_then(|delivery| delivery.in_flight()).map(|attempt| attempt.n);
        if let Some(effects) =
            attempt.and_then(|attempt| end_send(&request, id, attempt, &SendReport::accepted(), context))
        {
            request = effects.request;
        }
    }
    request
}

fn never_reached(explained: &Explained, context: &Context<'_>) -> Vec<NeverReached> {
    // Who was meant by something, and why not reached; nothing where something reached them.
    let mut meant: BTreeMap<&str, Option<Suppression>> = BTreeMap::new();
    for planned in &explained.deliveries {
        let known = meant.entry(&planned.target.value).or_insert(planned.kept_back);
        *known = known.filter(|_| !planned.is_sent);
    }
    let mut never = Vec::new();
    for person in context.policy.directory.people() {
        let reason = meant.get(person.id.to_string().as_str()).copied();
        if reason != Some(None) {
            never.push(NeverReached {
                person: person.id,
                display: person.display.clone(),
                kept_back: reason.flatten(),
            });
        }
    }
    never
}
