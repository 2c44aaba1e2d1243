//! The ladder: rungs that fire, and the deliveries that each of them makes (rules V-9, V-10, CL-4, R4).

use super::{
    channels::{self, ChannelFacts},
    context::Context,
    delivery::Delivery,
    effects::{Effects, EventType, TimerChange},
    request::Request,
    target::Target,
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

/// A rung that fired.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Fired {
    /// Which.
    pub(super) rung: u32,
    /// How many of its deliveries found no room.
    pub(super) left_out: usize,
}

/// Fires the rungs whose time has come, all of them (rule CL-4), and says which. One that was reached by hand stays as it
/// is, and one that there is no room for waits for it.
pub(super) fn fire_due(request: &mut Request, context: &mut Context<'_>) -> Vec<Fired> {
    let mut fired = Vec::new();
    while request.next_rung_time().is_some_and(|time| time <= context.now) {
        let rung = request.outreach.next_rung();
        fired.push(fire(request, rung, context));
    }
    fired
}

/// Fires one rung: a delivery for each of its channels and targets. A number that has no rung makes none.
pub(super) fn fire(request: &mut Request, rung: u32, context: &mut Context<'_>) -> Fired {
    let Some(declared) = request.routing.rung(rung) else { return Fired { rung, left_out: 0 } };
    let channels = declared.channels.clone();
    let targets = match &declared.to {
        Some(to) => vec![to.clone()],
        None => request.routing.targets.clone(),
    };
    request.outreach.reached(rung);
    Fired { rung, left_out: mint(request, rung, &channels, &targets, context) }
}

/// Makes deliveries for a target at the current rung: what passing a request on comes to. Gives how many found no room.
pub(super) fn mint_for(request: &mut Request, target: &Target, context: &mut Context<'_>) -> usize {
    let rung = request.outreach.rung.unwrap_or(0);
    let channels = request.routing.rung(rung).map(|rung| rung.channels.clone()).unwrap_or_default();
    mint(request, rung, &channels, std::slice::from_ref(target), context)
}

/// Makes the deliveries of the current rung once more. Gives how many found no room.
pub(super) fn mint_again(request: &mut Request, context: &mut Context<'_>) -> usize {
    match request.outreach.passed_to.clone() {
        Some(target) => mint_for(request, &target, context),
        None => fire(request, request.outreach.rung.unwrap_or(0), context).left_out,
    }
}

fn mint(request: &mut Request, rung: u32, channels: &[String], targets: &[Target], context: &mut Context<'_>) -> usize {
    let each = channels.iter().flat_map(|channel| targets.iter().map(move |target| (channel, target)));
    let mut rows: Vec<(&String, &Target)> = each.collect();
    if !request.has_room(rows.len()) {
        // The page is the last to go without: it is where whoever heard of the request answers it.
        rows.sort_by_key(|(channel, _)| !channels::is_listing(channel));
    }
    let mut left_out = 0_usize;
    for (channel, target) in rows {
        if !request.make_room() {
            left_out = left_out.saturating_add(1);
            continue;
        }
        let target = context.policy.directory.settle_rotation(target, context.now);
        let delivery = deliver(request, channel, target, rung, context);
        request.deliveries.push(delivery);
    }
    left_out
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
    pub(super) fn escalated(&mut self, fired: Fired, cause: Cause) {
        let cause = match cause {
            Cause::Time => "time",
            Cause::Hand => "hand",
            Cause::Deadline => "deadline",
        };
        let said = [("rung", Json::from(u64::from(fired.rung))), ("cause", Json::from(cause))];
        self.event(EventType::RequestEscalated, said.into_iter().chain(left_out(fired.left_out)));
    }
}

/// What an event says of deliveries that found no room, where there are any.
pub(super) fn left_out(count: usize) -> Option<(&'static str, Json)> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    (count > 0).then(|| ("left_out", Json::from(count)))
}
