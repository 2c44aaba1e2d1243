//! Whether a person may be disturbed through a channel now (rule V-8): judged at the first claim, and again at each attempt
//! that follows, because addresses, consent and the time of day change meanwhile.

use super::{
    context::Context,
    directory::{Contact, Person},
    request::Request,
    terms::{Suppression, Urgency},
};

/// Where a person is reached through a channel now.
///
/// # Errors
///
/// Why nothing is sent: there is no address, the person did not confirm it, or it is not the time. What is critical comes
/// through a person's quiet hours, and through a policy's where the policy says so.
pub(super) fn contact<'a>(
    request: &Request,
    channel: &str,
    person: &'a Person,
    context: &Context<'_>,
) -> Result<&'a Contact, Suppression> {
    let terms = request.terms.as_ref();
    let contact = person.contact(channel).ok_or(Suppression::NoAddress)?;
    let must_be_confirmed = terms.and_then(|terms| terms.channel(channel)).is_none_or(|rule| rule.requires_binding);
    if must_be_confirmed && !contact.verified {
        return Err(Suppression::ConsentMissing);
    }
    let rests = request.urgency != Urgency::Critical && person.is_quiet(context.now);
    let held = terms.is_some_and(|terms| terms.holds_back(channel, request.urgency, context.now));
    if rests || held { Err(Suppression::QuietHours) } else { Ok(contact) }
}
