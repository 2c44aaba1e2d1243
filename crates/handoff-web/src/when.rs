//! Times as people read them: in their zone, with the offset said, and in UTC beside it for whoever compares.

use handoff_protocol::timestamp::Timestamp;
use jiff::tz::{Offset, TimeZone};

use crate::{
    reader::Reader,
    words::{Words, fill},
};

/// A time for a `<time>` element.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct When {
    /// What goes into `datetime`.
    pub(crate) machine: Timestamp,
    /// As the reader reads it.
    pub(crate) text: String,
    /// The same in UTC.
    pub(crate) utc: String,
}

/// A time to come, and what is left until then.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Deadline {
    pub(crate) at: When,
    pub(crate) left: String,
}

impl When {
    pub(crate) fn new(reader: &Reader, time: Timestamp) -> Self {
        let text = written(reader.words, &reader.zone, time);
        Self { machine: time, text, utc: written(reader.words, &TimeZone::UTC, time) }
    }
}

impl Deadline {
    pub(crate) fn new(reader: &Reader, at: Timestamp, now: Timestamp) -> Self {
        Self { at: When::new(reader, at), left: left(reader.words, at, now) }
    }
}

/// A time, written out to the minute, with its offset.
fn written(words: &Words, zone: &TimeZone, time: Timestamp) -> String {
    // What our own timestamps can say, jiff can as well; if not, the machine's spelling is better than none.
    let Ok(instant) = jiff::Timestamp::from_millisecond(time.unix_millis()) else { return time.to_string() };
    let local = zone.to_datetime(instant);
    let month = usize::try_from(local.month()).ok().and_then(|month| words.months.get(month.checked_sub(1)?));
    let clock = format!("{:02}:{:02}", local.hour(), local.minute());
    let date = fill(words.date, &[&local.day().to_string(), month.unwrap_or(&"?"), &local.year().to_string(), &clock]);
    format!("{date} {}", offset(zone.to_offset(instant)))
}

/// An offset as people write it: `UTC`, `UTC+2`, `UTC−3:30`.
fn offset(offset: Offset) -> String {
    let minutes = offset.seconds() / 60;
    let sign = if minutes < 0 { '\u{2212}' } else { '+' };
    match (minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60) {
        (0, 0) => "UTC".to_owned(),
        (hours, 0) => format!("UTC{sign}{hours}"),
        (hours, rest) => format!("UTC{sign}{hours}:{rest:02}"),
    }
}

/// How much time is left, in the two largest units; no more than there is.
fn left(words: &Words, at: Timestamp, now: Timestamp) -> String {
    let minutes = at.since(now).as_secs() / 60;
    let (days, hours, rest) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    let parts = match (days, hours, rest) {
        (0, 0, 0) if at <= now => return words.no_time_left.to_owned(),
        (0, 0, 0) => return words.under_a_minute_left.to_owned(),
        (0, hours, minutes) => [Words::count(hours, words.hours), Words::count(minutes, words.minutes)],
        (days, hours, _) => [Words::count(days, words.days), Words::count(hours, words.hours)],
    };
    fill(words.left, &[&parts.into_iter().flatten().collect::<Vec<_>>().join(" ")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::LANGUAGES;

    #[test]
    fn what_is_left_is_told_in_the_two_largest_units() {
        for (seconds, expected) in [
            (-1, "no time left"),
            (0, "no time left"),
            (59, "less than a minute left"),
            (60, "1 minute left"),
            (3_599, "59 minutes left"),
            (14_400, "4 hours left"),
            (3_660, "1 hour 1 minute left"),
            (86_399, "23 hours 59 minutes left"),
            (86_400 + 60, "1 day left"),
            (3 * 86_400 + 7_200, "3 days 2 hours left"),
        ] {
            let at = Timestamp::from_unix_seconds(1_000_000 + seconds);
            assert_eq!(left(LANGUAGES[0], at, Timestamp::from_unix_seconds(1_000_000)), expected, "{seconds}");
        }
        let at = Timestamp::from_unix_seconds(1_000_000 + 7_260);
        assert_eq!(left(LANGUAGES[1], at, Timestamp::from_unix_seconds(1_000_000)), "noch 2 Stunden 1 Minute");
    }

    #[test]
    fn a_time_is_written_out_to_the_minute_in_its_zone_with_the_offset() {
        let time = Timestamp::parse("2026-08-01T23:05:59.250Z").unwrap();
        let at = |zone: &str, words| written(words, &TimeZone::get(zone).unwrap(), time);
        assert_eq!(at("UTC", LANGUAGES[0]), "1 August 2026, 23:05 UTC");
        assert_eq!(at("Europe/Berlin", LANGUAGES[0]), "2 August 2026, 01:05 UTC+2");
        assert_eq!(at("Europe/Berlin", LANGUAGES[1]), "2. August 2026, 01:05 Uhr UTC+2");
        assert_eq!(at("America/St_Johns", LANGUAGES[0]), "1 August 2026, 20:35 UTC\u{2212}2:30");
        assert_eq!(at("Asia/Kathmandu", LANGUAGES[0]), "2 August 2026, 04:50 UTC+5:45");
    }

    #[test]
    fn the_first_and_the_last_time_of_all_have_words() {
        for time in [Timestamp::MIN, Timestamp::MAX] {
            for zone in ["Pacific/Kiritimati", "Pacific/Pago_Pago"] {
                let text = written(LANGUAGES[0], &TimeZone::get(zone).unwrap(), time);
                assert!(text.contains("UTC") || text.ends_with('Z'), "{text}");
            }
        }
    }
}
