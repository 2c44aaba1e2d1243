//! Rate limits: so many calls a minute for each credential, on this node (section 21).
//!
//! Only a credential that authenticated has a count, so tokens that are nobody's take no memory and nobody's budget. The
//! counts of a minute go with it, all at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use handoff_protocol::{digest::Digest, timestamp::Timestamp};

const WINDOW_SECONDS: i64 = 60;
/// How many calls a minute a credential has unless the deployment says otherwise. The headers name it also when there
/// is no limit: the contract wants them on every response, and a 0 would be read as "used up".
pub(crate) const PER_MINUTE: u32 = 1000;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The calls that were counted this minute. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls(Arc<Mutex<Window>>);

/// How many calls there may be, and those that were.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    per_minute: u32,
    calls: Calls,
}

#[derive(Debug, Default)]
struct Window {
    minute: i64,
    calls: HashMap<Digest, u32>,
}

/// The calls of this minute are used up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct UsedUp;

impl Limits {
    /// So many calls a minute; 0 for any number.
    pub(crate) fn new(per_minute: u32, calls: Calls) -> Self {
        Self { per_minute, calls }
    }

    /// What a credential is counted under; the token itself is not kept.
    pub(crate) fn name(token: &str) -> Digest {
        Digest::of(token.as_bytes())
    }

    /// Refuses a credential whose calls are used up, before anything is looked up for it.
    pub(crate) fn check(&self, credential: &Digest, now: Timestamp) -> Result<(), UsedUp> {
        if self.per_minute > 0 && self.used(credential, now) >= self.per_minute { Err(UsedUp) } else { Ok(()) }
    }

    /// Counts a call of a credential that authenticated; of calls at once, no more than the limit are let through.
    pub(crate) fn charge(&self, credential: Digest, now: Timestamp) -> Result<(), UsedUp> {
        if self.per_minute == 0 {
            return Ok(());
        }
        let mut window = self.window(now);
        let calls = window.calls.entry(credential).or_default();
        if *calls >= self.per_minute {
            return Err(UsedUp);
        }
        *calls = calls.saturating_add(1);
        Ok(())
    }

    /// Writes the three headers, and when to come back on a refusal.
    pub(crate) fn dress<B>(&self, response: &mut Response<B>, credential: Option<&Digest>, now: Timestamp) {
        let limit = if self.per_minute == 0 { PER_MINUTE } else { self.per_minute };
        let used = credential.map_or(0, |credential| self.used(credential, now));
        let reset = minute(now).saturating_add(1).saturating_mul(WINDOW_SECONDS);
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            let seconds = reset.saturating_sub(now.unix_seconds()).max(1);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let headers = response.headers_mut();
        headers.insert(LIMIT, HeaderValue::from(limit));
        headers.insert(REMAINING, HeaderValue::from(limit.saturating_sub(used)));
        headers.insert(RESET, HeaderValue::from(reset));
    }

    fn used(&self, credential: &Digest, now: Timestamp) -> u32 {
        self.window(now).calls.get(credential).copied().unwrap_or(0)
    }

    fn window(&self, now: Timestamp) -> MutexGuard<'_, Window> {
        let mut window = self.calls.0.lock().unwrap_or_else(PoisonError::into_inner);
        if window.minute != minute(now) {
            *window = Window { minute: minute(now), calls: HashMap::new() };
        }
        window
    }
}

fn minute(now: Timestamp) -> i64 {
    now.unix_seconds().div_euclid(WINDOW_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_seconds(seconds)
    }

    #[test]
    fn a_credential_is_let_through_so_often_a_minute_and_no_other_pays_for_it() {
        let (limits, one, other) = (Limits::new(2, Calls::default()), Limits::name("one"), Limits::name("other"));
        assert_eq!([0; 3].map(|_| limits.charge(one, at(59))), [Ok(()), Ok(()), Err(UsedUp)]);
        assert_eq!((limits.check(&one, at(59)), limits.check(&other, at(59))), (Err(UsedUp), Ok(())));
        assert_eq!(limits.check(&one, at(60)), Ok(()));
    }

    #[test]
    fn what_was_counted_goes_with_its_minute() {
        let limits = Limits::new(2, Calls::default());
        for token in 0..1000 {
            limits.charge(Limits::name(&token.to_string()), at(0)).unwrap();
        }
        limits.charge(Limits::name("next"), at(60)).unwrap();
        assert_eq!(limits.window(at(60)).calls.len(), 1);
        assert_eq!(limits.check(&Limits::name("unknown"), at(60)), Ok(()));
        assert_eq!(limits.window(at(60)).calls.len(), 1);
    }

    #[test]
    fn without_a_limit_nothing_is_kept() {
        let limits = Limits::new(0, Calls::default());
        for _ in 0..5 {
            limits.charge(Limits::name("one"), at(0)).unwrap();
        }
        assert!(limits.window(at(0)).calls.is_empty());
    }
}
