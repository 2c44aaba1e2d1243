//! Timers that send to the world: handed to the outbound executor, or put off when it has no place for them.

use std::time::Duration;

use handoff_protocol::{decision::backoff, digest::Digest};

use super::{
    apply::{Writes, json_text},
    keys::TimerAction,
};
use crate::{
    engine::Engine,
    outbound::Sent,
    store::{ClaimedTimer, Reads, TimerWrite},
    transaction::{Halt, Outcome},
};

/// The longest that a send is put off at once, but for jitter.
const LONGEST: Duration = Duration::from_secs(30);

impl Engine {
    /// Hands a claimed timer to the outbound executor. Nothing is waited for.
    pub(crate) fn hand_over(&self, timer: ClaimedTimer, action: TimerAction, destination: Digest) {
        let (sender, claim) = (self.clone(), timer.clone());
        let send = async move {
            match action {
                TimerAction::CloseSession { session, .. } => sender.close_session(claim, session).await,
                TimerAction::Push { signal, .. } => sender.push(&claim, signal).await,
                TimerAction::SendDelivery { request, delivery, .. } => {
                    sender.send_delivery(claim, request, delivery).await
                }
                TimerAction::TellChange { request, .. } => sender.tell_change(claim, request).await,
                TimerAction::Expire { .. }
                | TimerAction::Lapse { .. }
                | TimerAction::LapseLease { .. }
                | TimerAction::LapseSession { .. }
                | TimerAction::PurgeReplays
                | TimerAction::WakePushes { .. }
                | TimerAction::Tend { .. } => Sent::Nothing,
            }
        };
        let engine = self.clone();
        let put_off = async move { engine.put_off(timer, action).await };
        self.inner.outbound.start(destination, send, put_off);
    }

    /// Gives a claim back, to be claimed again after a while that doubles each time.
    async fn put_off(&self, timer: ClaimedTimer, action: TimerAction) {
        let ClaimedTimer { tenant, key, epoch, .. } = timer;
        let name = key.clone();
        let put = self.decide(tenant, Reads::none(), move |view, moment| {
            let mut writes = Writes::default();
            let mut mint = view.mint();
            let due = moment.now.saturating_add(backoff(action.times_put_off(), LONGEST, &mut mint));
            let action = json_text(&action.put_off_once_more()).map_err(Halt::Broken)?;
            writes.timer(TimerWrite::Settle { key: key.clone(), epoch });
            writes.timer(TimerWrite::Put { key: key.clone(), due, action });
            Ok(Outcome::Write(writes.finish(&mint), ()))
        });
        if let Err(error) = put.await {
            // Whoever queued it anew meanwhile holds the timer, which is well; a store that failed is in the log already.
            tracing::debug!(key = %name, %error, "a send was not put off; it comes back when its claim lapses");
        }
    }
}
