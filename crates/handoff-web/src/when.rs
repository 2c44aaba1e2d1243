//! Times as people read them.

use std::fmt;

use handoff_protocol::timestamp::Timestamp;

/// A time for a `<time>` element: the machine's spelling, and through `Display` the person's, in UTC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When(pub(crate) Timestamp);

impl When {
    /// What goes into `datetime`.
    pub(crate) fn machine(self) -> Timestamp {
        self.0
    }
}

impl fmt::Display for When {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let (date, time) = text.split_once('T').unwrap_or((&text, ""));
        let mut parts = date.split('-');
        let (year, month, day) = (parts.next(), parts.next(), parts.next());
        let (year, day) = (year.unwrap_or_default(), day.unwrap_or_default().trim_start_matches('0'));
        let minute = time.get(..5).unwrap_or_default();
        write!(formatter, "{day} {} {year}, {minute} UTC", month_name(month.unwrap_or_default()))
    }
}

/// A time to come, and what is left until then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: When,
    pub(crate) now: Timestamp,
}

impl Deadline {
    /// How much time is left, in the two largest units; no more than there is.
    pub(crate) fn left(self) -> String {
        let minutes = self.at.0.since(self.now).as_secs() / 60;
        let (days, hours, rest) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
        let parts = match (days, hours, rest) {
            (0, 0, 0) if self.at.0 <= self.now => return "no time left".to_owned(),
            (0, 0, 0) => return "less than a minute left".to_owned(),
            (0, hours, minutes) => [count(hours, "hour"), count(minutes, "minute")],
            (days, hours, _) => [count(days, "day"), count(hours, "hour")],
        };
        format!("{} left", parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

fn count(number: u64, unit: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {unit}")),
        number => Some(format!("{number} {unit}s")),
    }
}

fn month_name(month: &str) -> &str {
    match month {
        "01" => "January",
        "02" => "February",
        "03" => "March",
        "04" => "April",
        "05" => "May",
        "06" => "June",
        "07" => "July",
        "08" => "August",
        "09" => "September",
        "10" => "October",
        "11" => "November",
        "12" => "December",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_in_the_two_largest_units() {
        for (seconds, left) in [
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
            let at = When(Timestamp::from_unix_seconds(1_000_000 + seconds));
            assert_eq!(Deadline { at, now: Timestamp::from_unix_seconds(1_000_000) }.left(), left, "{seconds}");
        }
    }

    #[test]
    fn a_time_is_written_out_to_the_minute() {
        let time = Timestamp::parse("2026-08-01T09:05:59.250Z").unwrap();
        assert_eq!(When(time).to_string(), "1 August 2026, 09:05 UTC");
        assert_eq!(When(time).machine().to_string(), "2026-08-01T09:05:59.25Z");
    }
}
