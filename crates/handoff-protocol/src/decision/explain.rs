//! Explaining a raise before it is made: who would be reached, when, how, and why not the others.
//!
//! The answer is what the rules themselves come to: the request is raised and tended under their eyes, at the times of its
//! rungs, with every attempt taken for accepted. Nothing is sent, and nothing is kept.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{
    context::Context,
    delivery::Delivery,
    dispatch::{SendReport, end_send},
    effects::Fired,
    error::DecisionError,
    raise::{Raise, raise},
    request::Request,
    routing::Routing,
    target::Target,
    tend::tend,
    terms::{DeliveryState, OnExpiry, Suppression, Urgency},
};
use crate::{
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
    /// The ladder.
    pub routing: Routing,
    /// When it would end, if nobody answered and nothing put that off.
    pub expires_at: Option<Timestamp>,
    /// What would happen then.
    pub on_expiry: Option<OnExpiry>,
    /// Every delivery, by rung.
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
    let mut request = raise(command, principal, None, context)?.request;
    let authority = request.requires()?.authority;
    let mut explained = Explained {
        policy_version: request.terms.as_ref().map(|terms| terms.version),
        urgency: request.urgency,
        min_role: authority.min_role,
        auth_strength: authority.auth_strength,
        routing: request.routing.clone(),
        expires_at: request.expires_at,
        on_expiry: request.ttl_policy.as_ref().map(|policy| policy.on_expiry),
        deliveries: Vec::new(),
        never_reached: Vec::new(),
    };
    let mut told = BTreeSet::new();
    loop {
        note(&mut explained, &mut told, &request, context);
        request = accept_all(request, context);
        let has_more = request.deliveries.iter().any(|delivery| delivery.state == DeliveryState::Queued)
            || request.routing.rung(request.outreach.next_rung()).is_some();
        let Some(due) = request.next_tend().filter(|_| has_more) else { break };
        let mut then = Context {
            now: context.now.max(due),
            mint: context.mint,
            policy: context.policy,
            capabilities: context.capabilities,
        };
        match tend(&request, &mut then) {
            Fired::Acted(effects) => request = effects.request,
            Fired::NotDue { .. } => break,
        }
    }
    explained.deliveries.sort_by_key(|delivery| delivery.rung);
    explained.never_reached = never_reached(&explained, context);
    Ok(explained)
}

/// Notes the deliveries that were claimed since the last time.
fn note(explained: &mut Explained, told: &mut BTreeSet<DeliveryId>, request: &Request, context: &Context<'_>) {
    let claimed = request.deliveries.iter().filter(|delivery| delivery.state != DeliveryState::Queued);
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
    }
}

/// Takes every attempt that goes on for accepted, so that it keeps no later one back.
fn accept_all(mut request: Request, context: &mut Context<'_>) -> Request {
    let going_on = request.deliveries.iter().filter_map(|delivery| Some((delivery.id, delivery.in_flight()?.n)));
    for (id, attempt) in going_on.collect::<Vec<_>>() {
        if let Some(effects) = end_send(&request, id, attempt, &SendReport::accepted(), context) {
            request = effects.request;
        }
    }
    request
}

fn never_reached(explained: &Explained, context: &Context<'_>) -> Vec<NeverReached> {
    let mut never = Vec::new();
    for person in context.policy.directory.people() {
        let meant = || {
            let id = person.id.to_string();
            explained.deliveries.iter().filter(move |delivery| delivery.target.value == id)
        };
        if !meant().any(|delivery| delivery.is_sent) {
            let kept_back = meant().find_map(|delivery| delivery.kept_back);
            never.push(NeverReached { person: person.id, display: person.display.clone(), kept_back });
        }
    }
    never
}
