//! The ladder: rungs that fire, and the deliveries that each of them makes (rules V-9, V-10, C-4, R4).

use super::{
    channels::ChannelFacts,
    context::Context,
    delivery::Delivery,
    effects::{Effects, EventType, TimerChange},
    limits,
    request::Request,
    target::Target,
    terms::Grade,
};
use crate::json::Json;

/// Why a rung fires, as events say it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Cause {
    /// Its time came.
    Time,
    /// Somebody asked for it.
    Hand,
    /// The deadline came, and the policy escalates.
    Deadline,
}

/// Fires the rungs whose time has come, all of them (rule C-4), and says which. One that was reached by hand stays as it
/// is.
pub(super) fn fire_due(request: &mut Request, context: &mut Context<'_>) -> Vec<u32> {
    let mut fired = Vec::new();
    loop {
        let rung = request.outreach.next_rung();
        if request.rung_time(rung).is_none_or(|time| context.now < time) {
            return fired;
        }
        fire(request, rung, context);
        fired.push(rung);
    }
}

/// Fires one rung: a delivery for each of its channels and targets. A number that has no rung makes none.
pub(super) fn fire(request: &mut Request, rung: u32, context: &mut Context<'_>) {
    let Some(declared) = request.routing.rung(rung) else { return };
    let channels = declared.channels.clone();
    let targets = match &declared.to {
        Some(to) => vec![to.clone()],
        None => request.routing.targets.clone(),
    };
    request.outreach.reached(rung);
    mint(request, rung, &channels, &targets, context);
}

/// Makes deliveries for a target at the current rung: what passing a request on comes to.
pub(super) fn mint_for(request: &mut Request, target: &Target, context: &mut Context<'_>) {
    let rung = request.outreach.rung.unwrap_or(0);
    let channels = request.routing.rung(rung).map(|rung| rung.channels.clone()).unwrap_or_default();
    mint(request, rung, &channels, std::slice::from_ref(target), context);
}

/// Makes the deliveries of the current rung once more.
pub(super) fn mint_again(request: &mut Request, context: &mut Context<'_>) {
    match request.outreach.passed_to.clone() {
        Some(target) => mint_for(request, &target, context),
        None => fire(request, request.outreach.rung.unwrap_or(0), context),
    }
}

fn mint(request: &mut Request, rung: u32, channels: &[String], targets: &[Target], context: &mut Context<'_>) {
    for channel in channels {
        for target in targets {
            if !make_room(request) {
                return;
            }
            let target = context.policy.directory.settle_rotation(target, context.now);
            let delivery = deliver(request, channel, target, rung, context);
            request.deliveries.push(delivery);
        }
    }
}

/// A delivery that was not claimed yet, with what its channel can do by its adapter and by the request's policy.
pub(super) fn deliver(
    request: &Request,
    channel: &str,
    target: Target,
    rung: u32,
    context: &mut Context<'_>,
) -> Delivery {
    let declared = context.policy.channels.get(channel).copied().unwrap_or(ChannelFacts::UNKNOWN);
    let rule = request.terms.as_ref().and_then(|terms| terms.channel(channel));
    let facts = rule.map_or(declared, |rule| rule.narrow(declared));
    Delivery::queued(context.mint.next(), request.id, channel, target, rung, facts, context.now)
}

/// Makes room for one more delivery: the oldest with which nothing goes on is forgotten, whose history is in the events.
/// False if something goes on with each.
pub(super) fn make_room(request: &mut Request) -> bool {
    if request.deliveries.len() < limits::DELIVERIES {
        return true;
    }
    let is_done = |delivery: &Delivery| {
        request.send_time(delivery).is_none()
            && (delivery.state.is_final() || delivery.reaches(Grade::Dispatched))
            && !delivery.reaches(Grade::Acted)
    };
    let Some(place) = request.deliveries.iter().position(is_done) else { return false };
    let forgotten = request.deliveries.remove(place);
    request.outreach.shown.retain(|shown| *shown != forgotten.id);
    true
}

/// Puts the deadline off so that whoever is reached now has some time to answer (R4). A deadline that is further away
/// stays where it is.
pub(super) fn put_off_deadline(request: &mut Request, context: &Context<'_>) -> Option<TimerChange> {
    let deadline = request.deadline()?;
    let later = context.now.saturating_add(context.policy.escalation_extension);
    if later <= deadline {
        return None;
    }
    request.expires_at = Some(later);
    Some(TimerChange::SetDeadline(later))
}

impl Effects {
    /// Notes that a rung was fired.
    pub(super) fn escalated(&mut self, rung: u32, cause: Cause) {
        let cause = match cause {
            Cause::Time => "time",
            Cause::Hand => "hand",
            Cause::Deadline => "deadline",
        };
        self.event(EventType::RequestEscalated, [("rung", Json::from(u64::from(rung))), ("cause", Json::from(cause))]);
    }
}
