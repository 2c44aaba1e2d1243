//! A call that is repeated: until it meets what is expected, or to see that it always does.

use std::time::{Duration, Instant};

use super::call;
use crate::{
    case::Call,
    story::{Failure, Story},
};

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(40);

/// Repeats a call until its reply is as expected.
pub(super) async fn until(story: &mut Story, call: &Call, within: Duration) -> Result<(), Failure> {
    let started = Instant::now();
    loop {
        match call::once(story, call).await {
            Ok(()) => return Ok(()),
            Err(failure) if started.elapsed() >= within => {
                let problem = format!("after {} ms still: {}", within.as_millis(), failure.problem);
                return Err(Failure { problem, ..failure });
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
        call::once(story, call).await.map_err(|failure| {
            let problem = format!("after {} ms: {}", elapsed.as_millis(), failure.problem);
            Failure { problem, ..failure }
        })?;
        if elapsed >= time {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}
