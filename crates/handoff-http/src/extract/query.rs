//! The query: pairs read once, strictly; names that no endpoint knows are left alone (section 21).

use std::{convert::Infallible, time::Duration};

use axum::{extract::FromRequestParts, http::request::Parts};
use handoff_engine::decision::Span;
use handoff_protocol::{decision::limits, timestamp::Timestamp};
use percent_encoding::percent_decode_str;

use crate::{api::Api, refusal::Refusal};

/// The pairs of a query, still encoded.
pub(crate) struct Query(String);

impl FromRequestParts<Api> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Infallible> {
        Ok(Self(parts.uri.query().unwrap_or_default().to_owned()))
    }
}

impl Query {
    /// Every value under a name, in order.
    pub(crate) fn all(&self, name: &str) -> Result<Vec<String>, Refusal> {
        let mut values = Vec::new();
        for pair in self.0.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if decode(key).is_some_and(|key| key == name) {
                values.push(decode(value).ok_or_else(|| Refusal::invalid(name, "must be percent-encoded UTF-8"))?);
            }
        }
        Ok(values)
    }

    /// The value under a name that may be given once.
    pub(crate) fn one(&self, name: &str) -> Result<Option<String>, Refusal> {
        let mut values = self.all(name)?;
        let last = values.pop();
        if values.is_empty() { Ok(last) } else { Err(Refusal::invalid(name, "must be given once")) }
    }

    /// How long to hold the call: `wait` in seconds, none for no holding, clamped to the longest (rule X-6).
    pub(crate) fn wait(&self) -> Result<Duration, Refusal> {
        let Some(text) = self.one("wait")? else { return Ok(Duration::ZERO) };
        let seconds = digits(&text).ok_or_else(|| Refusal::invalid("wait", "must be a whole number of seconds"))?;
        Ok(Duration::from_secs(seconds.min(limits::MAX_WAIT_SECONDS)))
    }

    /// How many items a page may hold, clamped to 1 to `most`; none if not given.
    pub(crate) fn limit(&self, most: usize) -> Result<Option<usize>, Refusal> {
        let Some(text) = self.one("limit")? else { return Ok(None) };
        let below_one = text.strip_prefix('-').and_then(digits).map(|_| 1);
        let limit = below_one.or_else(|| digits(&text));
        let limit = limit.ok_or_else(|| Refusal::invalid("limit", "must be a whole number"))?;
        Ok(Some(usize::try_from(limit).unwrap_or(most).clamp(1, most)))
    }

    /// A span of time: `created_after` inclusive, `created_before` exclusive (section 21).
    pub(crate) fn created(&self) -> Result<Span, Refusal> {
        Ok(Span { from: self.instant("created_after")?, before: self.instant("created_before")? })
    }

    /// What is finer than a millisecond rounds up: what is kept has whole milliseconds, so "at or after" and "before"
    /// both mean the next one.
    fn instant(&self, name: &str) -> Result<Option<Timestamp>, Refusal> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        // A `+` in a query is a space, but callers often leave the one of an offset as it is.
        let offset = text.rfind(' ').filter(|at| *at > "2026-07-30".len());
        let text = offset.map_or(text.clone(), |at| {
            text.char_indices().map(|(place, letter)| if place == at { '+' } else { letter }).collect()
        });
        let read = Timestamp::parse_ceil(&text);
        read.map(Some).map_err(|error| Refusal::invalid(name, error.to_string()))
    }
}

/// A number in decimal digits and nothing else; one too large for the type is as large as the type goes.
pub(crate) fn digits(text: &str) -> Option<u64> {
    let all_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| text.parse().unwrap_or(u64::MAX))
}

fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query(text.to_owned())
    }

    #[test]
    fn names_and_values_are_decoded_and_repeats_kept_in_order() {
        let query = query("state=pending&&stat%65=answered&other=1&flag");
        assert_eq!(query.all("state").unwrap(), ["pending", "answered"]);
        assert_eq!(query.one("flag").unwrap().as_deref(), Some(""));
        assert_eq!(query.one("absent").unwrap(), None);
        assert!(query.one("state").is_err());
    }

    #[test]
    fn a_value_that_is_not_utf_8_is_refused_and_never_repaired() {
        assert!(query("waiter_ref=%FF").one("waiter_ref").is_err());
        assert_eq!(query("waiter_ref=a+b%2Fc%3A%C3%A9").one("waiter_ref").unwrap().as_deref(), Some("a b/c:é"));
    }

    #[test]
    fn a_wait_is_whole_seconds_and_clamps() {
        let wait = |text: &str| query(text).wait().ok().map(|wait| wait.as_secs());
        assert_eq!(wait(""), Some(0));
        assert_eq!(wait("wait=7"), Some(7));
        assert_eq!(wait("wait=31"), Some(30));
        assert_eq!(wait("wait=99999999999999999999999"), Some(30));
        for bad in ["wait=", "wait=-1", "wait=1.5", "wait=x", "wait=%2B1", "wait=1&wait=2"] {
            assert_eq!(wait(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_instant_takes_any_offset_and_a_finer_one_rounds_up() {
        let from = |text: &str| query(text).created().ok().and_then(|span| span.from).map(|from| from.to_string());
        assert_eq!(from("created_after=2026-07-30T14:07:44Z").as_deref(), Some("2026-07-30T14:07:44Z"));
        assert_eq!(from("created_after=2026-07-30T16:07:44%2B02:00").as_deref(), Some("2026-07-30T14:07:44Z"));
        assert_eq!(from("created_after=2026-07-30+16:07:44+02:00").as_deref(), Some("2026-07-30T14:07:44Z"));
        assert_eq!(from("created_after=2026-07-30T14:07:44.0001Z").as_deref(), Some("2026-07-30T14:07:44.001Z"));
        for bad in ["", "yesterday", "2026-07-30", "2026-07-30T14:07:44", "1785592064"] {
            assert!(query(&format!("created_after={bad}")).created().is_err(), "{bad}");
            assert!(query(&format!("created_before={bad}")).created().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_limit_clamps_on_both_sides() {
        let limit = |text: &str| query(text).limit(200).ok().flatten();
        assert_eq!(limit("limit=5"), Some(5));
        assert_eq!(limit("limit=0"), Some(1));
        assert_eq!(limit("limit=-3"), Some(1));
        assert_eq!(limit("limit=201"), Some(200));
        assert_eq!(limit("limit=99999999999999999999999"), Some(200));
        assert!(query("limit=ten").limit(200).is_err());
        assert!(query("limit=").limit(200).is_err());
    }
}
