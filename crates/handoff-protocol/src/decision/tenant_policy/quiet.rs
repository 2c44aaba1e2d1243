//! Reading the quiet hours of a policy.

use crate::{
    decision::{
        directory::{QuietHours, QuietWindow, Zone},
        limits,
        routing::read_channels,
    },
    json::{DecodeError, ObjectReader},
};

/// Reads one entry of `quiet_hours`.
pub(super) fn read(reader: ObjectReader<'_, '_>) -> Result<QuietWindow, DecodeError> {
    let channels = read_channels(&reader)?;
    let (from, to) = (time_of_day(&reader, "from")?, time_of_day(&reader, "to")?);
    let window = QuietWindow {
        channels,
        hours: QuietHours::new(from, to).ok_or_else(|| reader.error("from", "must be a time of day"))?,
        zone: Zone::parse(reader.text("timezone", 1, limits::ZONE_CHARS)?)
            .map_err(|error| reader.error("timezone", format!("is no time zone: {error}")))?,
        critical_comes_through: reader.optional_choice("override_urgency", &[("critical", true)])?.unwrap_or(false),
    };
    reader.finish()?;
    Ok(window)
}

/// Reads `HH:MM` as minutes from midnight.
fn time_of_day(reader: &ObjectReader<'_, '_>, name: &str) -> Result<u16, DecodeError> {
    let text = reader.string(name)?;
    let number = |digits: &str, below: u16| {
        let plain = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u16>().ok().filter(|number| plain && *number < below)
    };
    let (hours, minutes) = text.split_once(':').unwrap_or_default();
    match (number(hours, 24), number(minutes, 60)) {
        (Some(hours), Some(minutes)) => Ok(hours * 60 + minutes),
        _ => Err(reader.error(name, "must be a time of day from `00:00` to `23:59`")),
    }
}
