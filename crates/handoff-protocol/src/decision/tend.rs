//! Tending a request: what reaching people asks for by itself, when its time comes (R4, C-4, V-9, section 10's reminders).

use super::{
    channels::Addressing,
    context::Context,
    delivery::Delivery,
    directory::Person,
    effects::{Effects, EventType, Fired},
    ladder::{self, Cause},
    limits,
    request::Request,
    target::Target,
    terms::{DeliveryState, OnExpiry, RequestState, Suppression, Urgency},
};
use crate::{
    id::{DeliveryId, PrincipalId},
    json::Json,
};

/// How many deliveries one tending claims; the rest follows at once.
const CLAIMS: usize = 50;

/// Does what is due: fires rungs whose time came, reminds, and claims deliveries that nobody claimed yet. A claimed
/// delivery is on its way to its person, or kept back for a reason that it says.
///
/// Repeating this is harmless: what is done is not due.
pub fn tend(request: &Request, context: &mut Context<'_>) -> Fired {
    let again = request.next_tend();
    if again.is_none_or(|due| context.now < due) {
        return Fired::NotDue { again };
    }
    debug_assert!(request.state == RequestState::Pending, "nothing is due once a request ended");
    let mut next = request.clone();
    let rungs = ladder::fire_due(&mut next, context);
    let escalates = next.ttl_policy.as_ref().is_some_and(|policy| policy.on_expiry == OnExpiry::Escalate);
    let deadline = if rungs.is_empty() || !escalates { None } else { ladder::put_off_deadline(&mut next, context) };
    let reminded = remind(&mut next, context);
    let claimed = claim_all(&mut next, context);
    let mut effects = Effects::of(next);
    effects.timers.extend(deadline);
    for rung in rungs.iter().filter(|rung| **rung > 0 || request.outreach.rung.is_some()) {
        effects.escalated(*rung, Cause::Time);
    }
    if reminded {
        let count = effects.request.outreach.reminders;
        effects.event(EventType::RequestReminded, [("reminder", Json::from(count))]);
    }
    for id in claimed {
        effects.delivery_event(id, DeliveryState::Queued);
    }
    Fired::Acted(Box::new(effects))
}

/// Makes the deliveries of the current rung once more if a reminder is due. Those that were missed meanwhile are not made
/// up for.
fn remind(request: &mut Request, context: &mut Context<'_>) -> bool {
    let Some(every) = request.reminder_every() else { return false };
    if request.next_reminder().is_none_or(|due| context.now < due) {
        return false;
    }
    let passed = context.now.since(request.created_at).as_secs();
    request.outreach.reminders = passed.checked_div(every.seconds()).unwrap_or(0).max(1);
    ladder::mint_again(request, context);
    true
}

/// Claims what is queued, and says which deliveries were claimed.
fn claim_all(request: &mut Request, context: &mut Context<'_>) -> Vec<DeliveryId> {
    let mut claimed = Vec::new();
    let mut place = 0;
    while claimed.len() < CLAIMS {
        let Some(delivery) = request.deliveries.get(place) else { break };
        if delivery.state == DeliveryState::Queued {
            claimed.push(delivery.id);
            // Siblings are put at the end, so that this walk meets them too; what is forgotten for them moves it.
            place = claim(request, place, context);
        } else {
            place = place.saturating_add(1);
        }
    }
    claimed
}

/// Claims one delivery: its target becomes people, the first of whom it is for from now on, and it sets out or is kept
/// back. Gives the place of the delivery behind it.
fn claim(request: &mut Request, place: usize, context: &mut Context<'_>) -> usize {
    let Some(delivery) = request.deliveries.get(place).cloned() else { return place.saturating_add(1) };
    if lists(request, &delivery, context) {
        if let Some(delivery) = request.deliveries.get_mut(place) {
            delivery.list(context.now);
        }
        return place.saturating_add(1);
    }
    let people = match people_of(request, &delivery, context) {
        Ok(people) => people,
        Err(reason) => {
            if let Some(delivery) = request.deliveries.get_mut(place) {
                delivery.suppress(reason, context.now);
            }
            return place.saturating_add(1);
        }
    };
    let mut people = people.into_iter();
    let Some(first) = people.next() else { return place.saturating_add(1) };
    let kept_back = keep_back(request, &delivery, &first, context);
    if let Some(delivery) = request.deliveries.get_mut(place) {
        delivery.target = Target::person(PrincipalId::User(first.id));
        match kept_back {
            Some(reason) => delivery.suppress(reason, context.now),
            None => {
                delivery.begin(context.now);
            }
        }
    }
    for person in people {
        if !ladder::make_room(request) {
            break;
        }
        let target = Target::person(PrincipalId::User(person.id));
        let sibling = ladder::deliver(request, &delivery.channel, target, delivery.rung, context);
        request.deliveries.push(sibling);
    }
    request.deliveries.iter().position(|known| known.id == delivery.id).map_or(0, |place| place.saturating_add(1))
}

/// Whether a delivery is made by listing the request, which reaches a place without its people.
fn lists(request: &Request, delivery: &Delivery, context: &Context<'_>) -> bool {
    is_enabled(request, &delivery.channel)
        && context.policy.channels.get(&delivery.channel).is_some_and(|facts| facts.addressing == Addressing::Listing)
}

/// Whether the policy of the raise lets a channel be used.
fn is_enabled(request: &Request, channel: &str) -> bool {
    request.terms.as_ref().and_then(|terms| terms.channel(channel)).is_none_or(|rule| rule.is_enabled)
}

/// The people that a delivery is for, or why there is nobody to send to.
fn people_of(request: &Request, delivery: &Delivery, context: &Context<'_>) -> Result<Vec<Person>, Suppression> {
    if context.policy.channels.get(&delivery.channel).is_none() {
        return Err(Suppression::ChannelUnknown);
    }
    if !is_enabled(request, &delivery.channel) {
        return Err(Suppression::ChannelNotConfigured);
    }
    let people = context.policy.directory.resolve(&delivery.target, context.now);
    if people.is_empty() {
        return Err(Suppression::NoRecipient);
    }
    Ok(people.into_iter().take(limits::PEOPLE_OF_A_PLACE).cloned().collect())
}

/// Why a delivery does not set out to a person now; nothing if it does.
fn keep_back(request: &Request, delivery: &Delivery, person: &Person, context: &Context<'_>) -> Option<Suppression> {
    let terms = request.terms.as_ref();
    let Some(contact) = person.contact(&delivery.channel) else { return Some(Suppression::NoAddress) };
    let must_be_confirmed =
        terms.and_then(|terms| terms.channel(&delivery.channel)).is_none_or(|rule| rule.requires_binding);
    if must_be_confirmed && !contact.verified {
        return Some(Suppression::ConsentMissing);
    }
    let same = |other: &Delivery| {
        other.id != delivery.id
            && other.channel == delivery.channel
            && other.target == Target::person(PrincipalId::User(person.id))
            && matches!(other.state, DeliveryState::Sending | DeliveryState::Retrying)
    };
    if request.deliveries.iter().any(same) {
        return Some(Suppression::Duplicate);
    }
    let rests = request.urgency != Urgency::Critical && person.is_quiet(context.now);
    let held = terms.is_some_and(|terms| terms.holds_back(&delivery.channel, request.urgency, context.now));
    (rests || held).then_some(Suppression::QuietHours)
}

impl Effects {
    /// Notes that a delivery came to another state.
    pub(super) fn delivery_event(&mut self, id: DeliveryId, from: DeliveryState) {
        let Some(delivery) = self.request.delivery(id) else { return };
        let mut said = vec![
            ("delivery_id", Json::from(id.to_string())),
            ("channel", Json::from(delivery.channel.as_str())),
            ("rung", Json::from(u64::from(delivery.rung))),
            ("from", Json::from(from.as_str())),
            ("to", Json::from(delivery.state.as_str())),
        ];
        if let Some(reason) = delivery.suppressed_reason {
            said.push(("code", Json::from(reason.as_str())));
        }
        if let Some(attempt) = delivery.attempts.last() {
            said.push(("attempt", Json::from(u64::from(attempt.n))));
        }
        self.event(EventType::DeliveryTransitioned, said);
    }
}
