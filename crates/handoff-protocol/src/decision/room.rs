//! Room: a request keeps so many deliveries and no more, and what finds no room is never dropped without a word.
//!
//! A ladder that could never be kept is refused at its raise. A rung or a reminder whose time comes while too much is still
//! on its way waits until there is room; whoever asks by hand is told to try again. Only where waiting would not help is
//! something left out, and then the event and the delivery say how many.

use super::{delivery::Delivery, error::DecisionError, limits, request::Request, terms::Grade};

impl Request {
    /// Whether so many deliveries more can be kept, with those forgotten that are done.
    pub(super) fn has_room(&self, more: usize) -> bool {
        let fits = |kept: usize| kept.saturating_add(more) <= limits::DELIVERIES;
        fits(self.deliveries.len())
            || fits(self.deliveries.iter().filter(|delivery| !self.is_forgettable(delivery)).count())
    }

    /// Whether so many deliveries more cannot be kept now, and can be later.
    pub(super) fn must_wait_for_room(&self, more: usize) -> bool {
        !self.has_room(more) && self.deliveries.iter().any(|delivery| self.goes_on(delivery))
    }

    /// Makes room for one more delivery: the oldest with which nothing goes on is forgotten, whose history is in the
    /// events. False if something goes on with each.
    pub(super) fn make_room(&mut self) -> bool {
        if self.deliveries.len() < limits::DELIVERIES {
            return true;
        }
        let Some(place) = self.deliveries.iter().position(|delivery| self.is_forgettable(delivery)) else {
            return false;
        };
        let forgotten = self.deliveries.remove(place).id;
        self.outreach.shown.retain(|shown| *shown != forgotten);
        self.outreach.forget(forgotten);
        true
    }

    /// How many deliveries a reminder makes.
    pub(super) fn rows_of_reminder(&self) -> usize {
        let rung = self.outreach.rung.unwrap_or(0);
        match &self.outreach.passed_to {
            Some(_) => self.rows_for_one_target(),
            None => self.routing.rows(rung),
        }
    }

    /// How many deliveries one more target at the current rung makes.
    pub(super) fn rows_for_one_target(&self) -> usize {
        self.routing.rung(self.outreach.rung.unwrap_or(0)).map_or(0, |rung| rung.channels.len())
    }

    /// Refuses what would make more deliveries than can be kept now.
    ///
    /// # Errors
    ///
    /// [`DecisionError::InvalidRequest`] naming the member that asks for them.
    pub(super) fn check_room(&self, more: usize, member: &str) -> Result<(), DecisionError> {
        if self.has_room(more) {
            return Ok(());
        }
        let problem = format!(
            "cannot be reached now: a request keeps {} deliveries, and too many of this one are still on their way; try \
             again in a minute",
            limits::DELIVERIES
        );
        Err(DecisionError::invalid(member, problem))
    }

    fn goes_on(&self, delivery: &Delivery) -> bool {
        self.is_unclaimed(delivery) || self.send_time(delivery).is_some()
    }

    fn is_forgettable(&self, delivery: &Delivery) -> bool {
        self.send_time(delivery).is_none()
            && (delivery.state.is_final() || delivery.reaches(Grade::Dispatched))
            && !delivery.reaches(Grade::Acted)
    }
}
