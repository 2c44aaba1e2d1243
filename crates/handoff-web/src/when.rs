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
    fn a_time_is_written_out_to_the_minute() {
        let time = Timestamp::parse("2026-08-01T09:05:59.250Z").unwrap();
        assert_eq!(When(time).to_string(), "1 August 2026, 09:05 UTC");
        assert_eq!(When(time).machine().to_string(), "2026-08-01T09:05:59.25Z");
    }
}
