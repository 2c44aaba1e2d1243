//! Grades (V-2, V-3, V-13): how far a delivery provably got, by whoever has the evidence.

use super::{
    body,
    channels::{IN_APP, is_listing},
    context::{Context, check_scope},
    effects::Effects,
    error::DecisionError,
    owner::check_test_key,
    request::Request,
    terms::{DeliveryState, Grade, RequestState},
};
use crate::{
    digest::Digest,
    id::DeliveryId,
    json::{Json, ObjectReader},
    principal::{AuthStrength, Identity, Principal, Scope},
};

/// A grade report that can be carried out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReportGrade {
    digest: Digest,
    grade: Grade,
}

impl ReportGrade {
    /// Reads the body of a grade report by a principal.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InsufficientScope`], then [`DecisionError::InvalidRequest`]: only our transport knows `dispatched`,
    /// and only an answer makes `acted`.
    pub fn read(principal: &Principal, mut body: Json) -> Result<Self, DecisionError> {
        check_scope(principal, Scope::DeliveriesGrade)?;
        let reader = ObjectReader::new(&body, "")?;
        let grade = reader.choice("grade", &[("delivered", Grade::Delivered), ("seen", Grade::Seen)])?;
        reader.finish()?;
        let digest = body::digest(&mut body)?;
        Ok(Self { digest, grade })
    }

    /// What a repeat under the same idempotency key must equal (rule K-5).
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Takes a report of how far a delivery got (V-13). One that is at or past the grade stays as it is, and so does one that is
/// final (V-1).
///
/// # Errors
///
/// [`DecisionError::RequestNotFound`] for a delivery that is not there; [`DecisionError::InsufficientScope`] for a test key
/// on what is no test; [`DecisionError::InvalidRequest`] for a grade above
/// what its channel can prove, for a delivery that is final, and for one that nothing took yet.
pub fn report_grade(
    request: &Request,
    id: DeliveryId,
    report: &ReportGrade,
    principal: &Principal,
    context: &Context<'_>,
) -> Result<Effects, DecisionError> {
    let delivery = request.delivery(id).ok_or(DecisionError::RequestNotFound)?;
    check_test_key(principal, request.test_mode)?;
    let from = delivery.state;
    if delivery.reaches(report.grade) {
        return Ok(Effects::of(request.clone()));
    }
    let most = delivery.max_grade;
    #[cfg(feature = "planted-faults")]
    let most = if crate::planted::Fault::GradeAboveTheCeiling.is_planted() { Grade::Acted } else { most };
    if report.grade > most {
        let problem = format!("can be `{}` at the most on this delivery's channel", most.as_str());
        return Err(DecisionError::invalid("grade", problem));
    }
    if delivery.state.is_final() {
        let problem =
            format!("can be reported of a delivery that is out; this one ended as `{}`", delivery.state.as_str());
        return Err(DecisionError::invalid("grade", problem));
    }
    // What is on its way may arrive before our transport says that it took it.
    let is_out = delivery.reaches(Grade::Dispatched) || delivery.in_flight().is_some() || is_listing(&delivery.channel);
    if !is_out {
        return Err(DecisionError::invalid(
            "grade",
            "can be reported of a delivery that is out; this one was not taken yet",
        ));
    }
    let mut next = request.clone();
    if let Some(delivery) = next.delivery_mut(id) {
        delivery.prove(report.grade, context.now);
    }
    let mut effects = Effects::of(next);
    effects.delivery_event(id, from);
    Ok(effects)
}

/// Notes that a person opened the request's page, authenticated (V-3): what lists the request for them was seen. Nothing
/// follows the second time, nor for a machine or a link.
#[must_use]
pub fn see(request: &Request, principal: &Principal, context: &Context<'_>) -> Option<Effects> {
    let is_authenticated =
        matches!(principal.identity, Identity::Human(_)) && principal.grade(context.now) >= AuthStrength::Session;
    if request.state != RequestState::Pending || !is_authenticated {
        return None;
    }
    let mut next = request.clone();
    let mut seen = Vec::new();
    for delivery in &mut next.deliveries {
        let is_page = delivery.channel == IN_APP && !delivery.state.is_final();
        let from = delivery.state;
        if is_page
            && context.policy.directory.means(&delivery.target, principal, context.now)
            && delivery.prove(Grade::Seen, context.now)
        {
            seen.push((delivery.id, from));
        }
    }
    if seen.is_empty() {
        return None;
    }
    let mut effects = Effects::of(next);
    for (id, from) in seen {
        effects.delivery_event(id, from);
    }
    Some(effects)
}

/// Takes word that a delivery came back (V-1). Nothing follows unless it was dispatched or delivered.
#[must_use]
pub fn bounce(request: &Request, id: DeliveryId, context: &Context<'_>) -> Option<Effects> {
    let from = request.delivery(id)?.state;
    if !matches!(from, DeliveryState::Dispatched | DeliveryState::Delivered) {
        return None;
    }
    let mut next = request.clone();
    let delivery = next.delivery_mut(id)?;
    delivery.state = DeliveryState::Bounced;
    delivery.updated_at = context.now;
    let mut effects = Effects::of(next);
    effects.delivery_event(id, from);
    Some(effects)
}
