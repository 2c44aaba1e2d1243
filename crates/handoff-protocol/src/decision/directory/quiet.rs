//! Quiet hours: when a person is not to be disturbed, by the clock where that person lives.

use serde::{Deserialize, Serialize};

use super::{LocalTime, Zone};
use crate::{decision::terms::Urgency, timestamp::Timestamp};

/// Minutes in a day.
const DAY: u16 = 24 * 60;

/// From when to when, in minutes from local midnight. From later than to crosses midnight; from equal to to is never.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct QuietHours {
    /// The first minute.
    pub from: u16,
    /// The first minute after.
    pub to: u16,
}

impl QuietHours {
    /// Takes two times of day, in minutes from midnight.
    #[must_use]
    pub fn new(from: u16, to: u16) -> Option<Self> {
        (from < DAY && to <= DAY).then_some(Self { from, to })
    }

    /// Whether a local time is among them.
    #[must_use]
    pub fn cover(self, time: LocalTime) -> bool {
        let minute = time.minute;
        if self.from <= self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }
}

/// Quiet hours of a tenant's policy: on these channels, in this zone, for everybody.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct QuietWindow {
    /// The channels that are quiet.
    pub channels: Vec<String>,
    /// When.
    pub hours: QuietHours,
    /// By whose clock.
    pub zone: Zone,
    /// Whether what is critical comes through all the same.
    pub critical_comes_through: bool,
}

impl QuietWindow {
    /// Whether a channel is to be quiet now.
    #[must_use]
    pub fn holds_back(&self, channel: &str, urgency: Urgency, now: Timestamp) -> bool {
        self.channels.iter().any(|quiet| quiet == channel)
            && !(self.critical_comes_through && urgency == Urgency::Critical)
            && self.hours.cover(self.zone.local(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(from: u16, to: u16) -> Vec<u16> {
        let hours = QuietHours::new(from, to).unwrap();
        (0..DAY).filter(|minute| hours.cover(LocalTime { day: 0, minute: *minute })).collect()
    }

    #[test]
    fn hours_include_their_first_minute_and_not_their_last() {
        assert_eq!(minutes(60, 62), [60, 61]);
        assert_eq!(minutes(1438, 2), [0, 1, 1438, 1439]);
        assert!(minutes(60, 60).is_empty());
        assert_eq!(minutes(0, DAY).len(), usize::from(DAY));
        assert_eq!(QuietHours::new(DAY, 0), None);
        assert_eq!(QuietHours::new(0, DAY + 1), None);
    }

    #[test]
    fn a_window_is_of_its_channels_and_gives_way_to_what_is_critical() {
        let window = |critical_comes_through| QuietWindow {
            channels: vec!["voice".to_owned()],
            hours: QuietHours::new(22 * 60, 7 * 60).unwrap(),
            zone: Zone::parse("Europe/Berlin").unwrap(),
            critical_comes_through,
        };
        // 22:00 in winter is 21:00 UTC, in summer 20:00.
        for (instant, quiet) in [
            ("2026-01-10T20:59:00Z", false),
            ("2026-01-10T21:00:00Z", true),
            ("2026-01-11T05:59:00Z", true),
            ("2026-01-11T06:00:00Z", false),
            ("2026-07-10T20:00:00Z", true),
            ("2026-07-11T05:00:00Z", false),
        ] {
            let now = Timestamp::parse(instant).unwrap();
            assert_eq!(window(true).holds_back("voice", Urgency::High, now), quiet, "{instant}");
            assert!(!window(true).holds_back("voice", Urgency::Critical, now));
            assert_eq!(window(false).holds_back("voice", Urgency::Critical, now), quiet);
            assert!(!window(true).holds_back("email", Urgency::High, now));
        }
    }
}
