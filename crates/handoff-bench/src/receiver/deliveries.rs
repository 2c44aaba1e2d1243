//! Which deliveries came before, and whether they may come again.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use handoff_protocol::id::DeliveryId;

use crate::outcome::Measurement;

/// A push that nobody acknowledged is repeated after two seconds and no sooner (rule H-6); less a little, for the
/// connection.
const SOONEST: Duration = Duration::from_millis(1_900);

/// The deliveries that came.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    last: HashMap<DeliveryId, Instant>,
    /// How many came again although it was not time for that.
    duplicates: u32,
    /// How many came again because nobody had acknowledged them in time.
    repeats: u32,
}

/// What a delivery is to those before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Seen {
    /// It was not there before.
    First,
    /// It was.
    Again,
}

impl Deliveries {
    /// Takes note of a delivery.
    pub(crate) fn see(&mut self, delivery: DeliveryId, at: Instant) -> Seen {
        let Some(before) = self.last.insert(delivery, at) else { return Seen::First };
        let counter =
            if at.saturating_duration_since(before) < SOONEST { &mut self.duplicates } else { &mut self.repeats };
        *counter = counter.saturating_add(1);
        Seen::Again
    }

    /// Adds what came again to a measurement.
    pub(crate) fn tell(&self, measurement: Measurement) -> Measurement {
        measurement.with("duplicates", f64::from(self.duplicates)).with("repeats", f64::from(self.repeats))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_in_its_time_is_no_duplicate() {
        let [one, other] = ["dlv_01K3MB2R6C8ZC4YRXB2N6VD9FT", "dlv_01K3MB2R6C8ZC4YRXB2N6VD9FV"]
            .map(|text| DeliveryId::parse(text).unwrap());
        let (mut deliveries, began) = (Deliveries::default(), Instant::now());
        let mut see = |delivery, millis| deliveries.see(delivery, began + Duration::from_millis(millis));
        assert_eq!(
            [see(one, 0), see(other, 10), see(one, 2_010), see(one, 2_020)],
            [Seen::First, Seen::First, Seen::Again, Seen::Again]
        );
        assert_eq!((deliveries.repeats, deliveries.duplicates), (1, 1));
    }
}
