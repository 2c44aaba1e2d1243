//! Tending a request: what reaching people asks for by itself, when its time comes (R4, CL-4, V-9, section 10's reminders).

use super::{
    channels::{self, Addressing},
    contact::contact,
    context::Context,
    delivery::Delivery,
    directory::Person,
    effects::{Effects, EventType, Fired},
    ladder::{self, Cause},
    limits,
    outreach::Again,
    request::Request,
    target::Target,
    terms::{DeliveryState, OnExpiry, RequestState, Suppression},
};
use crate::{
    id::{DeliveryId, PrincipalId},
    json::Json,
};

/// How many deliveries one tending claims; the rest follows at once.
const CLAIMS: usize = 50;

/// Does what is due: fires rungs whose time came, reminds, and claims deliveries that nobody claimed yet. A claimed
/// delivery is ready to be sent to its person, or kept back for a reason that it says.
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
    for fired in rungs.iter().filter(|fired| fired.rung > 0 || request.outreach.rung.is_some()) {
        effects.escalated(*fired, Cause::Time);
    }
    if let Some(left_out) = reminded {
        let said = [("reminder", Json::from(effects.request.outreach.reminders))];
        effects.event(EventType::RequestReminded, said.into_iter().chain(ladder::left_out(left_out)));
    }
    for id in claimed {
        // What is ready says so when its attempt begins.
        if effects.request.delivery(id).is_some_and(|delivery| delivery.state != DeliveryState::Queued) {
            effects.delivery_event(id, DeliveryState::Queued);
        }
    }
    Fired::Acted(Box::new(effects))
}

/// Makes the deliveries of the current rung once more if a reminder is due, and says then how many found no room. Those
/// that were missed meanwhile are not made up for.
fn remind(request: &mut Request, context: &mut Context<'_>) -> Option<usize> {
    let every = request.reminder_every()?;
    if request.next_reminder().is_none_or(|due| context.now < due) {
        return None;
    }
    let passed = context.now.since(request.created_at).as_secs();
    request.outreach.reminders = passed.checked_div(every.seconds()).unwrap_or(0).max(1);
    Some(ladder::mint_again(request, context))
}

/// Claims what is queued, and says which deliveries were claimed.
fn claim_all(request: &mut Request, context: &mut Context<'_>) -> Vec<DeliveryId> {
    let mut claimed = Vec::new();
    let mut place = 0;
    while claimed.len() < CLAIMS {
        let Some(delivery) = request.deliveries.get(place) else { break };
        if request.is_unclaimed(delivery) {
            claimed.push(delivery.id);
            // Siblings are put at the end, so that this walk meets them too; what is forgotten for them moves it.
            place = claim(request, place, context);
        } else {
            place = place.saturating_add(1);
        }
    }
    claimed
}

/// Claims one delivery: its target becomes people, the first of whom it is for from now on, and it is ready to be sent or
/// kept back. Gives the place of the delivery behind it.
fn claim(request: &mut Request, place: usize, context: &mut Context<'_>) -> usize {
    let behind = place.saturating_add(1);
    let Some(delivery) = request.deliveries.get(place).cloned() else { return behind };
    let found = if lists(request, &delivery, context) {
        if reaches_nobody(&delivery, context) { Err(Suppression::NoRecipient) } else { Ok(Vec::new()) }
    } else {
        people_of(request, &delivery, context)
    };
    let people = match found {
        Ok(people) => people,
        Err(reason) => {
            if let Some(delivery) = request.deliveries.get_mut(place) {
                delivery.suppress(reason, context.now);
            }
            return behind;
        }
    };
    let mut people = people.into_iter();
    let Some(first) = people.next() else {
        if let Some(delivery) = request.deliveries.get_mut(place) {
            delivery.list(context.now);
        }
        return behind;
    };
    let kept_back = keep_back(request, &delivery, &first, context);
    if let Some(delivery) = request.deliveries.get_mut(place) {
        delivery.target = Target::person(PrincipalId::User(first.id));
        if let Some(reason) = kept_back {
            delivery.suppress(reason, context.now);
        }
        delivery.updated_at = context.now;
    }
    if kept_back.is_none() {
        request.outreach.ready.push(Again { delivery: delivery.id, at: context.now });
    }
    let mut left_out = 0_u32;
    for (number, person) in people.enumerate() {
        // The first of the place is not among these.
        if number.saturating_add(1) >= limits::PEOPLE_OF_A_PLACE || !request.make_room() {
            left_out = left_out.saturating_add(1);
            continue;
        }
        let target = Target::person(PrincipalId::User(person.id));
        let sibling = ladder::deliver(request, &delivery.channel, target, delivery.rung, context);
        request.deliveries.push(sibling);
    }
    if let Some(delivery) = request.delivery_mut(delivery.id) {
        delivery.left_out = left_out;
    }
    request.deliveries.iter().position(|known| known.id == delivery.id).map_or(0, |place| place.saturating_add(1))
}

/// Whether nobody could find a request where a delivery lists it. A group and a rotation are the directory's to know, where
/// there is one; who holds a role, and who else signs in, is not.
fn reaches_nobody(delivery: &Delivery, context: &Context<'_>) -> bool {
    delivery.channel != channels::SANDBOX && context.policy.directory.has_nobody(&delivery.target, context.now)
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
    Ok(people.into_iter().cloned().collect())
}

/// Why a delivery does not set out to a person now; nothing if it does.
///
/// One rung asks a person once through one channel, however many places name them. What an earlier rung sent is no reason to
/// leave out a later one: it may never arrive.
fn keep_back(request: &Request, delivery: &Delivery, person: &Person, context: &Context<'_>) -> Option<Suppression> {
    let kept_back = contact(request, &delivery.channel, person, context).err();
    kept_back.or_else(|| is_duplicate(request, delivery, person).then_some(Suppression::Duplicate))
}

/// Whether the person is just being reached by the same rung through the same channel.
fn is_duplicate(request: &Request, delivery: &Delivery, person: &Person) -> bool {
    let target = Target::person(PrincipalId::User(person.id));
    request.deliveries.iter().any(|other| {
        other.id != delivery.id
            && (&other.channel, other.rung) == (&delivery.channel, delivery.rung)
            && other.target == target
            && (matches!(other.state, DeliveryState::Sending | DeliveryState::Retrying)
                || request.outreach.is_ready(other.id))
    })
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
        said.extend(ladder::left_out(usize::try_from(delivery.left_out).unwrap_or(usize::MAX)));
        self.event(EventType::DeliveryTransitioned, said);
    }
}
