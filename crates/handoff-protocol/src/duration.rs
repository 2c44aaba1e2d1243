//! Exact durations in ISO 8601 text: weeks to seconds, never months or years (B-6).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::id::text::text_value;

/// A whole number of seconds, written like `PT10M` or `P1DT12H` (B-6).
///
/// Any spelling of the grammar `P[nW][nD][T[nH][nM][nS]]` is read. What is written is normalized: days, hours (below
/// 24), minutes and seconds (below 60), without zero parts and without weeks, so `PT600S` and `PT10M` are one value with
/// one text, and zero is `PT0S`. A sum that does not fit becomes the largest value, about 585 billion years.
///
/// ```
/// use handoff_protocol::duration::ExactDuration;
///
/// let week = ExactDuration::parse("P1WT600S")?;
/// assert_eq!(week.seconds(), 604_800 + 600);
/// assert_eq!(week.to_string(), "P7DT10M");
/// # Ok::<(), handoff_protocol::duration::DurationError>(())
/// ```
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ExactDuration(u64);

/// Why a text is no exact duration; the text itself is never repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// The duration counts years or months, which have no fixed length.
    #[error("years and months have no exact length; use weeks, days, hours, minutes or seconds")]
    YearsOrMonths,
    /// The text does not follow the grammar.
    #[error("expected an ISO 8601 duration such as `PT10M` or `P1DT12H`")]
    Malformed,
}

impl ExactDuration {
    /// No time at all, `PT0S`.
    pub const ZERO: Self = Self(0);
    /// The largest duration, which any text that counts more becomes.
    pub const MAX: Self = Self(u64::MAX);

    /// Takes a number of seconds.
    #[must_use]
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds)
    }

    /// Takes a number of minutes, or the largest duration if they are too many.
    #[must_use]
    pub const fn from_minutes(minutes: u64) -> Self {
        Self(minutes.saturating_mul(MINUTE))
    }

    /// Takes a number of hours, or the largest duration if they are too many.
    #[must_use]
    pub const fn from_hours(hours: u64) -> Self {
        Self(hours.saturating_mul(HOUR))
    }

    /// Takes a number of days of 24 hours, or the largest duration if they are too many.
    #[must_use]
    pub const fn from_days(days: u64) -> Self {
        Self(days.saturating_mul(DAY))
    }

    /// Reads a duration of the grammar `P[nW][nD][T[nH][nM][nS]]` (B-6).
    ///
    /// # Errors
    ///
    /// [`DurationError::YearsOrMonths`] for a text that would be right if calendar units were legal,
    /// [`DurationError::Malformed`] for any other text.
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        let text = text.strip_prefix('P').ok_or(DurationError::Malformed)?;
        let (date, time) = match text.split_once('T') {
            Some((_, "")) => return Err(DurationError::Malformed),
            Some((date, time)) => (date, time),
            None if text.is_empty() => return Err(DurationError::Malformed),
            None => (text, ""),
        };
        let calendar = date.contains(['Y', 'M']);
        // Calendar units get a length here only so that a malformed text is told from one that counts months.
        let date = sum(date, [('Y', 0), ('M', 0), ('W', WEEK), ('D', DAY)])?;
        let time = sum(time, [('H', HOUR), ('M', MINUTE), ('S', 1)])?;
        if calendar { Err(DurationError::YearsOrMonths) } else { Ok(Self(date.saturating_add(time))) }
    }

    /// Gives the number of seconds.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// Tells whether this is no time at all.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl FromStr for ExactDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        Self::parse(text)
    }
}

impl From<ExactDuration> for Duration {
    fn from(duration: ExactDuration) -> Self {
        Self::from_secs(duration.0)
    }
}

impl fmt::Display for ExactDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("PT0S");
        }
        f.write_str("P")?;
        let part = |f: &mut fmt::Formatter<'_>, count: u64, designator: char| match count {
            0 => Ok(()),
            _ => write!(f, "{count}{designator}"),
        };
        part(f, self.0 / DAY, 'D')?;
        let rest = self.0 % DAY;
        if rest > 0 {
            f.write_str("T")?;
        }
        part(f, rest / HOUR, 'H')?;
        part(f, rest % HOUR / MINUTE, 'M')?;
        part(f, rest % MINUTE, 'S')
    }
}

impl fmt::Debug for ExactDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

text_value!(ExactDuration, "Duration", "an ISO 8601 duration such as `PT10M`", {
    "type": "string",
    "pattern": "^P(?!$)(\\d+W)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+S)?)?$",
});

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;

/// Adds up optional components, which must stand in the order of their units and fill the text.
fn sum<const N: usize>(mut text: &str, units: [(char, u64); N]) -> Result<u64, DurationError> {
    let mut total = 0_u64;
    for (designator, seconds) in units {
        if let Some((digits, rest)) = text.split_once(designator) {
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(DurationError::Malformed);
            }
            // Only digits are left, so a number that does not parse is one that does not fit.
            let count: u64 = digits.parse().unwrap_or(u64::MAX);
            total = total.saturating_add(count.saturating_mul(seconds));
            text = rest;
        }
    }
    if text.is_empty() { Ok(total) } else { Err(DurationError::Malformed) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_of_the_grammar_is_read() {
        for (text, seconds) in [
            ("PT600S", 600),
            ("PT0S", 0),
            ("P0D", 0),
            ("P1W2D", 9 * DAY),
            ("P1DT1S", DAY + 1),
            ("P1W1DT1H1M1S", 8 * DAY + HOUR + 61),
            ("PT1H1S", HOUR + 1),
            ("PT0007M", 420),
        ] {
            assert_eq!(ExactDuration::parse(text), Ok(ExactDuration(seconds)), "{text}");
        }
    }

    #[test]
    fn calendar_units_are_told_from_nonsense() {
        for text in ["P1M", "P1Y", "P1Y2M3W4DT5H6M7S", "P0M"] {
            assert_eq!(ExactDuration::parse(text), Err(DurationError::YearsOrMonths), "{text}");
        }
        for text in [
            "",
            "P",
            "PT",
            "P1DT",
            "P0.5D",
            "PT1.5S",
            "-P1D",
            "+P1D",
            "P-1D",
            "P+1D",
            "p1d",
            "P1d",
            "P1",
            "PT1",
            "1D",
            "P1D1W",
            "PT1S1M",
            "P1D1D",
            "PT1S1S",
            "P1H",
            "PT1D",
            "PT1W",
            "PTT1S",
            "P1DT1HT1S",
            "P1M1Y",
            "PD",
            "P 1D",
            "P1D ",
            " P1D",
            "PT1Y",
            "P1Y1",
            "P\u{661}D",
            "PT1\u{ff11}S",
            "P1,5D",
        ] {
            assert_eq!(ExactDuration::parse(text), Err(DurationError::Malformed), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_the_largest() {
        for text in
            ["P99999999999999999999W", "P18446744073709551615D", "PT18446744073709551615S", "PT18446744073709551615S"]
        {
            assert_eq!(ExactDuration::parse(text), Ok(ExactDuration::MAX), "{text}");
        }
        assert_eq!(ExactDuration::parse("P99999999999999999999DT1S"), Ok(ExactDuration::MAX));
        assert_eq!(ExactDuration::parse(&ExactDuration::MAX.to_string()), Ok(ExactDuration::MAX));
    }

    #[test]
    fn the_text_is_normalized() {
        let text = |seconds| ExactDuration(seconds).to_string();
        assert_eq!(text(0), "PT0S");
        assert_eq!(text(600), "PT10M");
        assert_eq!(text(WEEK), "P7D");
        assert_eq!(text(DAY + 1), "P1DT1S");
        assert_eq!(text(2 * HOUR + 3), "PT2H3S");
    }

    #[test]
    fn a_duration_is_a_string_in_json_and_in_the_schema() {
        let read: ExactDuration = serde_json::from_str("\"PT600S\"").unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"PT10M\"");
        let refused = serde_json::from_str::<ExactDuration>("\"P1M\"").unwrap_err().to_string();
        assert!(refused.contains("use weeks, days, hours, minutes or seconds"), "{refused}");
        let schema = serde_json::to_value(schemars::schema_for!(ExactDuration)).unwrap();
        assert_eq!(schema["pattern"], r"^P(?!$)(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?$");
    }

    /// The grammar once more, as plainly as possible: one character at a time, in 128 bits, with no thought of speed.
    fn reference(text: &str) -> Option<u64> {
        let mut units = vec![('W', WEEK), ('D', DAY), ('T', 0), ('H', HOUR), ('M', MINUTE), ('S', 1)];
        let (mut total, mut number, mut in_time, mut components) = (0_u128, None::<u128>, false, 0);
        for character in text.strip_prefix('P')?.chars() {
            if let Some(digit) = character.to_digit(10) {
                number = Some((number.unwrap_or(0) * 10 + u128::from(digit)).min(1 << 90));
                continue;
            }
            let place = units.iter().position(|(designator, _)| *designator == character)?;
            let seconds = units[place].1;
            if character == 'T' {
                if number.is_some() || in_time {
                    return None;
                }
                (in_time, components) = (true, 0);
            } else {
                if (in_time && matches!(character, 'W' | 'D')) || (!in_time && matches!(character, 'H' | 'M' | 'S')) {
                    return None;
                }
                total += number.take()? * u128::from(seconds);
                components += 1;
            }
            units.drain(..=place);
        }
        (number.is_none() && components > 0).then(|| u64::try_from(total).unwrap_or(u64::MAX))
    }

    proptest! {
        #[test]
        fn reading_agrees_with_the_plain_reference(text in "P?[0-9]{0,2}[WDT]?[0-9]{0,21}[WDTHMS]?[T0-9]{0,3}[HMS]?[0-9]{0,3}[MS]?") {
            let read = ExactDuration::parse(&text);
            if read != Err(DurationError::YearsOrMonths) {
                prop_assert_eq!(read.ok().map(ExactDuration::seconds), reference(&text));
            }
        }

        #[test]
        fn every_generated_duration_is_read(
            weeks in prop::option::of(0_u64..1_000), days in prop::option::of(0_u64..1_000),
            hours in prop::option::of(0_u64..1_000), seconds in prop::option::of(0_u64..100_000),
        ) {
            let part = |count: Option<u64>, unit: char| count.map(|count| format!("{count}{unit}")).unwrap_or_default();
            let time = part(hours, 'H') + &part(seconds, 'S');
            let separator = if time.is_empty() { "" } else { "T" };
            let text = format!("P{}{}{separator}{time}", part(weeks, 'W'), part(days, 'D'));
            prop_assert_eq!(ExactDuration::parse(&text).ok().map(ExactDuration::seconds), reference(&text));
            prop_assert_eq!(ExactDuration::parse(&text).is_ok(), text.len() > 1);
        }

        #[test]
        fn reading_undoes_writing(seconds: u64) {
            let duration = ExactDuration::from_seconds(seconds);
            prop_assert_eq!(ExactDuration::parse(&duration.to_string()), Ok(duration));
            prop_assert_eq!(Duration::from(duration).as_secs(), seconds);
        }

        #[test]
        fn hostile_text_is_refused_without_panic(text in "\\PC{0,20}") {
            let _ = ExactDuration::parse(&text);
        }
    }
}
