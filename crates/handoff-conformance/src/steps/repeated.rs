//! A call that is repeated: until it meets what is expected, or to see that it always does.

use std::time::{Duration, Instant};

use super::call;
use crate::{case::Call, failure::Failure, story::Story};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(40);

/// Repeats a call until its reply is as expected.
pub(super) async fn until(story: &mut Story, call: &Call, within: Duration) -> Result<(), Failure> {
    let started = Instant::now();
    loop {
        match call::once(story, call).await {
            Ok(()) => return Ok(()),
            Err(failure) if started.elapsed() >= within => {
                return Err(failure.after(&format!("after {} ms still", within.as_millis())));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Repeats a call for a time; each reply must be as expected.
pub(super) async fn always(story: &mut Story, call: &Call, time: Duration) -> Result<(), Failure> {
    let started = Instant::now();
    loop {
        let elapsed = started.elapsed();
        let outcome = call::once(story, call).await;
        outcome.map_err(|failure| failure.after(&format!("after {} ms", elapsed.as_millis())))?;
        if elapsed >= time {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}
