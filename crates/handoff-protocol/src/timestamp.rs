//! Instants, in whole milliseconds, as RFC 3339 text in UTC (B-5).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;
use jiff::civil::DateTime;

use crate::id::text::text_value;

/// A millisecond in time, between the years 0000 and 9999.
///
/// It is written in UTC with `Z`, and with a fraction only when there is one (B-5). Arithmetic stops at the ends of
/// the range instead of wrapping (B-6), so every value can be written and read again.
///
/// ```
/// use handoff_protocol::duration::ExactDuration;
/// use handoff_protocol::timestamp::Timestamp;
///
/// let decided = Timestamp::parse("2026-07-30T16:07:44.250+02:00")?;
/// assert_eq!(decided.to_string(), "2026-07-30T14:07:44.25Z");
/// assert_eq!(decided.saturating_add(ExactDuration::parse("P1D")?).to_string(), "2026-07-31T14:07:44.25Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(
    // INVARIANT: between MIN and MAX, whose years have four digits.
    i64,
);

/// Why a text is no instant; the text itself is never repeated.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected an RFC 3339 date and time with an offset, such as `2026-07-30T14:07:44Z`")]
pub struct TimestampError;

impl Timestamp {
    /// The first instant of the year 0000.
    pub const MIN: Self = Self(-62_167_219_200_000);
    /// The beginning of 1970 in UTC.
    pub const EPOCH: Self = Self(0);
    /// The last millisecond of the year 9999, at which additions stop (B-6).
    pub const MAX: Self = Self(253_402_300_799_999);

    /// Takes milliseconds since the epoch, moved into the range if they lie outside.
    #[must_use]
    pub const fn from_unix_millis(millis: i64) -> Self {
        if millis < Self::MIN.0 {
            Self::MIN
        } else if millis > Self::MAX.0 {
            Self::MAX
        } else {
            Self(millis)
        }
    }

    /// Takes seconds since the epoch, moved into the range if they lie outside.
    #[must_use]
    pub const fn from_unix_seconds(seconds: i64) -> Self {
        Self::from_unix_millis(seconds.saturating_mul(1_000))
    }

    /// Reads any RFC 3339 form with an offset; what is finer than a millisecond is dropped.
    ///
    /// A leap second reads as the second before it. An instant that its offset moves out of the range becomes the end
    /// of the range.
    ///
    /// # Errors
    ///
    /// [`TimestampError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        read(text).map(|(floor, _)| floor)
    }

    /// Reads like [`parse`](Self::parse), but rounds what is finer than a millisecond up.
    ///
    /// For the lower bound of a range: records carry whole milliseconds, so those at or after `…44.0001Z` are those at
    /// or after `…44.001Z`.
    ///
    /// # Errors
    ///
    /// [`TimestampError`] as for [`parse`](Self::parse).
    pub fn parse_ceil(text: &str) -> Result<Self, TimestampError> {
        read(text).map(|(floor, finer)| floor.saturating_add(Duration::from_millis(u64::from(finer))))
    }

    /// Gives the milliseconds since the epoch.
    #[must_use]
    pub const fn unix_millis(self) -> i64 {
        self.0
    }

    /// Gives the whole seconds since the epoch, rounded toward the past.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Goes forward by an [`ExactDuration`](crate::duration::ExactDuration) or a standard one, at most to
    /// [`MAX`](Self::MAX) (B-6); what is finer than a millisecond is dropped.
    #[must_use]
    pub fn saturating_add(self, span: impl Into<Duration>) -> Self {
        Self::from_unix_millis(self.0.saturating_add(whole_millis(span.into())))
    }

    /// Goes back by a duration, at most to [`MIN`](Self::MIN); what is finer than a millisecond is dropped.
    #[must_use]
    pub fn saturating_sub(self, span: impl Into<Duration>) -> Self {
        Self::from_unix_millis(self.0.saturating_sub(whole_millis(span.into())))
    }

    /// Gives the time that has passed since an earlier instant; nothing if that one is in fact later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        // The range is far smaller than 64 bits, so the difference does not overflow.
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Self::parse(text)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cannot fail: the civil calendar of the library reaches from the year -9999 to 9999.
        let civil = CIVIL_EPOCH.checked_add(SignedDuration::from_millis(self.0)).unwrap_or(DateTime::MAX);
        let (date, time) = (civil.date(), civil.time());
        let millis = self.0.rem_euclid(1_000);
        let place = |number: i64, place: i64| b'0' + u8::try_from(number / place % 10).unwrap_or(0);
        let pair = |number: i8| [place(number.into(), 10), place(number.into(), 1)];
        let year = i64::from(date.year());
        let ([m1, m2], [d1, d2]) = (pair(date.month()), pair(date.day()));
        let [[h1, h2], [i1, i2], [s1, s2]] = [time.hour(), time.minute(), time.second()].map(pair);
        let [y1, y2, y3, y4] = [1_000, 100, 10, 1].map(|at| place(year, at));
        let [f1, f2, f3] = [100, 10, 1].map(|at| place(millis, at));
        // In one piece: every document and every reply has several.
        let text =
            [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', i1, i2, b':', s1, s2, b'.', f1, f2, f3];
        let shown = match millis {
            0 => 19,
            tenths if tenths % 100 == 0 => 21,
            hundredths if hundredths % 10 == 0 => 22,
            _ => 23,
        };
        f.write_str(text.get(..shown).and_then(|text| str::from_utf8(text).ok()).unwrap_or_default())?;
        f.write_str("Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

text_value!(Timestamp, "Timestamp", "an RFC 3339 date and time", {
    "type": "string",
    "format": "date-time",
}, inline);

const CIVIL_EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

fn whole_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// Reads the millisecond at or before the instant, and whether the instant lies after it.
fn read(text: &str) -> Result<(Timestamp, bool), TimestampError> {
    let (head, rest) = text.split_at_checked("0000-00-00T00:00:00".len()).ok_or(TimestampError)?;
    let (millis, finer, offset) = match rest.strip_prefix('.') {
        Some(rest) => fraction(rest)?,
        None => (0, false, rest),
    };
    let local = civil(head)?.duration_since(CIVIL_EPOCH).as_secs();
    let seconds = local.checked_sub(offset_seconds(offset)?).ok_or(TimestampError)?;
    Ok((Timestamp::from_unix_millis(seconds.saturating_mul(1_000).saturating_add(millis)), finer))
}

/// Splits `123456+02:00` into 123 milliseconds, the fact that there is more, and the offset.
fn fraction(rest: &str) -> Result<(i64, bool, &str), TimestampError> {
    let offset = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = rest.strip_suffix(offset).filter(|digits| !digits.is_empty()).ok_or(TimestampError)?;
    let mut decimals = digits.bytes().map(|digit| i64::from(digit - b'0'));
    let millis = (0..3).fold(0, |millis, _| millis * 10 + decimals.next().unwrap_or(0));
    Ok((millis, decimals.any(|digit| digit != 0), offset))
}

/// Reads `2026-07-30T14:07:44`, with a leap second taken back to the second before it.
fn civil(head: &str) -> Result<DateTime, TimestampError> {
    let (date, time) = head.split_once(['T', 't', ' ']).ok_or(TimestampError)?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let narrow = |number: i16| i8::try_from(number).map_err(|_| TimestampError);
    let second = if second == 60 { 59 } else { second };
    DateTime::new(year, narrow(month)?, narrow(day)?, narrow(hour)?, narrow(minute)?, narrow(second)?, 0)
        .map_err(|_| TimestampError)
}

fn offset_seconds(offset: &str) -> Result<i64, TimestampError> {
    if matches!(offset, "Z" | "z") {
        return Ok(0);
    }
    let (sign, rest) = match (offset.strip_prefix('+'), offset.strip_prefix('-')) {
        (Some(rest), _) => (1, rest),
        (_, Some(rest)) => (-1, rest),
        (None, None) => return Err(TimestampError),
    };
    let [hours, minutes] = numbers(rest, ':', [2, 2])?;
    if hours > 23 || minutes > 59 {
        return Err(TimestampError);
    }
    Ok(sign * (i64::from(hours) * 3_600 + i64::from(minutes) * 60))
}

/// Reads exactly `N` numbers of fixed widths between separators.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Result<[i16; N], TimestampError> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit()));
        *number = part.and_then(|part| part.parse().ok()).ok_or(TimestampError)?;
    }
    match parts.next() {
        Some(_) => Err(TimestampError),
        None => Ok(numbers),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::duration::ExactDuration;

    fn reads(text: &str) -> String {
        Timestamp::parse(text).map_or_else(|error| error.to_string(), |read| read.to_string())
    }

    #[test]
    fn the_fraction_is_written_only_when_there_is_one() {
        let text = |millis| Timestamp::from_unix_millis(millis).to_string();
        assert_eq!(text(0), "1970-01-01T00:00:00Z");
        assert_eq!(text(1_785_592_064_000), "2026-08-01T13:47:44Z");
        assert_eq!(text(500), "1970-01-01T00:00:00.5Z");
        assert_eq!(text(50), "1970-01-01T00:00:00.05Z");
        assert_eq!(text(5), "1970-01-01T00:00:00.005Z");
        assert_eq!(text(120), "1970-01-01T00:00:00.12Z");
        assert_eq!(text(-1), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn every_rfc_3339_form_is_read_into_utc() {
        for (written, meant) in [
            ("2026-07-30T14:07:44Z", "2026-07-30T14:07:44Z"),
            ("2026-07-30t14:07:44z", "2026-07-30T14:07:44Z"),
            ("2026-07-30 14:07:44Z", "2026-07-30T14:07:44Z"),
            ("2026-07-30T16:07:44+02:00", "2026-07-30T14:07:44Z"),
            ("2026-07-30T09:37:44-04:30", "2026-07-30T14:07:44Z"),
            ("2026-07-30T14:07:44-00:00", "2026-07-30T14:07:44Z"),
            ("2026-07-30T14:07:44.1234567890123Z", "2026-07-30T14:07:44.123Z"),
            ("2024-02-29T00:00:00.5+00:00", "2024-02-29T00:00:00.5Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
            ("9999-12-31T23:59:59-01:00", "9999-12-31T23:59:59.999Z"),
            ("0000-01-01T00:00:00+01:00", "0000-01-01T00:00:00Z"),
        ] {
            assert_eq!(reads(written), meant, "{written}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "2026-07-30",
            "2026-07-30T14:07:44",
            "2026-07-30T14:07Z",
            "2026-07-30T14:07:44+0200",
            "2026-07-30T14:07:44+02",
            "2026-07-30T14:07:44+24:00",
            "2026-07-30T14:07:44+02:60",
            "2026-07-30T14:07:44.Z",
            "2026-07-30T14:07:44,5Z",
            "2026-07-30T14:07:44Z ",
            "2026-07-30T14:07:44Z[Europe/Paris]",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-07-30T24:00:00Z",
            "2026-07-30T14:07:61Z",
            "+026-07-30T14:07:44Z",
            "-026-07-30T14:07:44Z",
            "2026-W31-4T14:07:44Z",
            "1785592064",
            "2026-07-30T14:07:4\u{e9}Z",
            "2026-07-30T14:07:44.\u{661}Z",
        ] {
            assert_eq!(Timestamp::parse(text), Err(TimestampError), "{text}");
        }
    }

    #[test]
    fn a_lower_bound_rounds_what_is_finer_up() {
        let ceil = |text| Timestamp::parse_ceil(text).unwrap().to_string();
        assert_eq!(ceil("2026-07-30T14:07:44.0001Z"), "2026-07-30T14:07:44.001Z");
        assert_eq!(ceil("2026-07-30T14:07:44.9990000000001Z"), "2026-07-30T14:07:45Z");
        assert_eq!(ceil("2026-07-30T14:07:44.9990000Z"), "2026-07-30T14:07:44.999Z");
        assert_eq!(ceil("1969-12-31T23:59:59.9999Z"), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn arithmetic_stops_at_the_ends_of_the_range() {
        let now = Timestamp::from_unix_seconds(1_785_592_064);
        assert_eq!(now.saturating_add(ExactDuration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MAX.saturating_add(Duration::from_millis(1)), Timestamp::MAX);
        assert_eq!(now.saturating_sub(ExactDuration::MAX), Timestamp::MIN);
        assert_eq!(Timestamp::from_unix_seconds(i64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::from_unix_seconds(i64::MIN), Timestamp::MIN);
        assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00Z");
    }

    #[test]
    fn the_time_since_a_later_instant_is_nothing() {
        let (early, late) = (Timestamp::from_unix_millis(1_000), Timestamp::from_unix_millis(2_500));
        assert_eq!(late.since(early), Duration::from_millis(1_500));
        assert_eq!(early.since(late), Duration::ZERO);
    }

    #[test]
    fn an_instant_is_a_string_in_json_and_inline_in_the_schema() {
        let read: Timestamp = serde_json::from_str("\"2026-07-30T14:07:44.250Z\"").unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"2026-07-30T14:07:44.25Z\"");
        let schema = serde_json::to_value(schemars::schema_for!(Vec<Timestamp>)).unwrap();
        assert_eq!(schema["items"]["format"], "date-time");
    }

    proptest! {
        #[test]
        fn reading_undoes_writing_and_text_sorts_like_time(left in instants(), right in instants()) {
            prop_assert_eq!(Timestamp::parse(&left.to_string()), Ok(left));
            prop_assert_eq!(Timestamp::parse_ceil(&left.to_string()), Ok(left));
            if left.unix_seconds() != right.unix_seconds() {
                prop_assert_eq!(left.cmp(&right), left.to_string().cmp(&right.to_string()));
            }
        }

        #[test]
        fn an_offset_moves_the_clock_face_and_not_the_instant(
            seconds in -62_000_000_000_i64..253_000_000_000, hours in 0_i64..24, minutes in 0_i64..60,
        ) {
            let face = Timestamp::from_unix_seconds(seconds + hours * 3_600 + minutes * 60).to_string();
            let written = format!("{}+{hours:02}:{minutes:02}", face.trim_end_matches('Z'));
            prop_assert_eq!(Timestamp::parse(&written), Ok(Timestamp::from_unix_seconds(seconds)));
        }

        #[test]
        fn hostile_text_is_refused_without_panic(text in "[0-9TZtz:.+ -]{0,30}|\\PC{0,30}") {
            let _ = Timestamp::parse(&text);
        }
    }

    fn instants() -> impl Strategy<Value = Timestamp> {
        (Timestamp::MIN.unix_millis()..=Timestamp::MAX.unix_millis()).prop_map(Timestamp::from_unix_millis)
    }
}
