//! How long to wait before the next try (rules H-6, V-7).

use std::time::Duration;

use crate::id::Mint;

/// The wait after the given number of tries: `2^tries` seconds up to a cap, and up to a quarter of that more, so that
/// what failed together does not come back together.
///
/// ```
/// use std::time::Duration;
///
/// use handoff_protocol::{decision::backoff, id::{Mint, Ulid}, timestamp::Timestamp};
///
/// let mut mint = Mint::new(Timestamp::from_unix_seconds(0), Ulid::MIN, [7; 32]);
/// let wait = backoff(3, Duration::from_secs(300), &mut mint);
/// assert!(wait >= Duration::from_secs(8) && wait <= Duration::from_secs(10));
/// assert!(backoff(1_000, Duration::from_secs(300), &mut mint) <= Duration::from_secs(375));
/// ```
#[must_use]
pub fn backoff(tries: u32, cap: Duration, mint: &mut Mint) -> Duration {
    let wait = Duration::from_secs(1_u64.checked_shl(tries).unwrap_or(u64::MAX)).min(cap);
    let quarter = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) / 4;
    wait.saturating_add(Duration::from_millis(u64::from_be_bytes(mint.bytes()) % quarter.saturating_add(1)))
}
