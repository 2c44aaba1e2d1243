//! Time zones: what a clock on a wall shows at an instant.
//!
//! The database of zones is compiled in, so that one instant and one zone come to one local time on every machine, and
//! nothing is read from the host.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::{id::text::text_value, timestamp::Timestamp};

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time zone by its IANA name, `Europe/Berlin` for example.
///
/// ```
/// use handoff_protocol::{decision::directory::Zone, timestamp::Timestamp};
///
/// let berlin = Zone::parse("Europe/Berlin")?;
/// let before = berlin.local(Timestamp::parse("2026-03-29T00:59:00Z")?);
/// let after = berlin.local(Timestamp::parse("2026-03-29T01:00:00Z")?);
/// assert_eq!((before.minute, after.minute), (119, 180), "the clocks go forward from 2 to 3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct Zone(
    // INVARIANT: it has a name in the database.
    TimeZone,
);

/// A text names no zone that is known here; it is never repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected the IANA name of a time zone, such as `Europe/Berlin` or `UTC`")]
pub struct ZoneError;

/// What a clock and a calendar on a wall show.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct LocalTime {
    /// Days since the beginning of 1970, by that calendar.
    pub day: i64,
    /// Minutes since midnight, by that clock.
    pub minute: u16,
}

impl Zone {
    /// Reads the name of a zone, in any case.
    ///
    /// # Errors
    ///
    /// [`ZoneError`] for any other text.
    pub fn parse(name: &str) -> Result<Self, ZoneError> {
        let zone = DATABASE.get(name).map_err(|_| ZoneError)?;
        if zone.iana_name().is_some() { Ok(Self(zone)) } else { Err(ZoneError) }
    }

    /// Coordinated universal time.
    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// What a clock in this zone shows at an instant. Where clocks go forward some minutes never come; where they go
    /// back some come twice.
    #[must_use]
    pub fn local(&self, at: Timestamp) -> LocalTime {
        // The library's instants end a day before ours, so that every zone's clock stays within the year 9999.
        let instant = jiff::Timestamp::from_millisecond(at.unix_millis()).unwrap_or(jiff::Timestamp::MAX);
        let face = self.0.to_datetime(instant);
        let day = jiff::civil::date(1970, 1, 1).until(face.date()).map_or(0, |span| i64::from(span.get_days()));
        let minute = i64::from(face.hour()) * 60 + i64::from(face.minute());
        LocalTime { day, minute: u16::try_from(minute).unwrap_or(0) }
    }

    /// The first instant at which clocks in this zone show a time: where they go back and it comes twice, the first; where
    /// they go forward and it is left out, as long after the change as it is after the time at which they went. None beyond
    /// the ends of the calendar.
    pub(super) fn instant(&self, local: LocalTime) -> Option<Timestamp> {
        let day = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().try_days(local.day).ok()?).ok()?;
        let (hour, minute) = (i8::try_from(local.minute / 60).ok()?, i8::try_from(local.minute % 60).ok()?);
        let face = jiff::civil::DateTime::from_parts(day, jiff::civil::Time::new(hour, minute, 0, 0).ok()?);
        let instant = self.0.to_ambiguous_timestamp(face).compatible().ok()?;
        Some(Timestamp::from_unix_millis(instant.as_millisecond()))
    }
}

impl LocalTime {
    /// The date and time of day that are so many minutes after the beginning of 1970; none where no day has that number.
    pub(super) fn from_minutes(minutes: i64) -> Option<Self> {
        let minute = u16::try_from(minutes.rem_euclid(24 * 60)).ok()?;
        Some(Self { day: minutes.div_euclid(24 * 60), minute })
    }

    /// Minutes since the beginning of 1970, by that clock and calendar.
    #[must_use]
    pub fn minutes(self) -> i64 {
        self.day.saturating_mul(24 * 60).saturating_add(i64::from(self.minute))
    }

    /// Reads a date and a time of day, `2026-03-23T09:00`.
    ///
    /// # Errors
    ///
    /// [`LocalTimeError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, LocalTimeError> {
        let ours = text.len() == 16 && text.as_bytes().get(10) == Some(&b'T') && !text.contains(['+', '[']);
        let face: jiff::civil::DateTime = text.parse().map_err(|_| LocalTimeError)?;
        let at = Timestamp::parse(&format!("{text}:00Z")).map_err(|_| LocalTimeError)?;
        if !ours || face.second() != 0 {
            return Err(LocalTimeError);
        }
        Ok(Zone::utc().local(at))
    }
}

/// A text is no local time; it is never repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected a date and a time of day, such as `2026-03-23T09:00`")]
pub struct LocalTimeError;

impl FromStr for Zone {
    type Err = ZoneError;

    fn from_str(name: &str) -> Result<Self, ZoneError> {
        Self::parse(name)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

text_value!(Zone, "Zone", "the IANA name of a time zone", { "type": "string" });

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_zone_follows_its_daylight_changes() {
        let zone = Zone::parse("america/new_york").unwrap();
        assert_eq!(zone.name(), "America/New_York");
        for (instant, minute) in [
            ("2026-03-08T06:59:00Z", 119),
            ("2026-03-08T07:00:00Z", 180),
            ("2026-11-01T05:59:00Z", 119),
            ("2026-11-01T06:00:00Z", 60),
        ] {
            assert_eq!(zone.local(at(instant)).minute, minute, "{instant}");
        }
    }

    #[test]
    fn the_ends_of_time_have_a_local_time() {
        let zone = Zone::parse("Pacific/Kiritimati").unwrap();
        for end in [Timestamp::MIN, Timestamp::MAX] {
            assert!(zone.local(end).minute < 24 * 60);
        }
        assert!(zone.local(Timestamp::MAX).day > 2_900_000);
    }

    #[test]
    fn what_is_no_name_of_the_database_is_refused() {
        for name in ["", "Berlin", "+02:00", "Europe/Berlin ", "EST5EDT,M3.2.0,M11.1.0", "../etc/passwd"] {
            assert_eq!(Zone::parse(name), Err(ZoneError), "{name}");
        }
        assert_eq!(Zone::parse("UTC").unwrap(), Zone::utc());
    }

    #[test]
    fn a_local_time_is_a_date_and_minutes() {
        assert_eq!(LocalTime::parse("1970-01-02T01:05").unwrap().minutes(), 24 * 60 + 65);
        for text in ["2026-03-23", "2026-03-23T09:00:00", "2026-03-23 09:00", "2026-03-23T09:00Z", "2026-02-30T09:00"] {
            assert_eq!(LocalTime::parse(text), Err(LocalTimeError), "{text}");
        }
    }
}
