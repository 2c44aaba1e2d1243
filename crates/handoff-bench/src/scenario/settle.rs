//! Letting a server finish what it puts off, so that a stretch pays for itself alone.

use std::time::Duration;

use crate::{process, target::Target};

/// How long one look takes.
const LOOK: Duration = Duration::from_millis(100);

/// What a server that does nothing uses of a look at the most.
const NOTHING: Duration = Duration::from_millis(10);

/// How often it is looked at; a server that never rests is measured as it is.
const LOOKS: u32 = 100;

/// How long a server has whose process cannot be seen.
const UNSEEN: Duration = Duration::from_millis(500);

/// Waits until the server does nothing.
pub(super) async fn settle(target: &Target) {
    let used = || target.process.and_then(|id| process::processor_time(Some(id)));
    for _ in 0..LOOKS {
        let Some(before) = used() else {
            return tokio::time::sleep(UNSEEN).await;
        };
        tokio::time::sleep(LOOK).await;
        if used().is_none_or(|after| after.saturating_sub(before) <= NOTHING) {
            return;
        }
    }
}
