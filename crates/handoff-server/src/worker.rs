//! The timer worker, kept running.

use std::time::Duration;

use handoff_engine::Engine;
use tokio::task::JoinSet;

/// How long to wait before a worker that died is started again.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs the engine's timers until they are stopped or the returned future is dropped. A worker that panics is a defect: it is logged, and
/// the timers of everybody else go on.
pub(crate) async fn keep_running(engine: Engine, interval: Duration) {
    loop {
        // Dropping the set ends the worker with this future.
        let mut worker = JoinSet::new();
        let engine = engine.clone();
        worker.spawn(async move { engine.run_timers(interval).await });
        match worker.join_next().await {
            Some(Err(error)) => tracing::error!(%error, "the timer worker stopped; starting it again"),
            // It was told to end.
            Some(Ok(())) | None => return,
        }
        tokio::time::sleep(PAUSE).await;
    }
}
