//! Sending a delivery through its channel, under the claim of its timer (rules V-6, V-7), and telling channels of changes.

use std::{sync::Arc, time::Duration};

use handoff_protocol::{
    decision::{
        Context, DecisionError, Fired, Policy, Request, SendReport, begin_send,
        capability::Capabilities,
        end_send, outgoing,
        terms::{AttemptOutcome, Suppression},
        view::surface_url,
    },
    id::{DeliveryId, Mint, RequestId, Ulid, UserId},
};

use super::{
    apply::{Before, Claimed, Writes, json_text},
    keys::{self, TimerAction},
};
use crate::{
    channel::{Change, Message},
    engine::Engine,
    outbound::Sent,
    store::{ClaimedTimer, Reads, RecordKey, TimerKey, TimerWrite},
    transaction::{Halt, Outcome},
};

/// How long a channel may take for one message.
const LIMIT: Duration = Duration::from_secs(10);

impl Engine {
    /// Sends a delivery once and notes what came of it. A crash in between leaves the claim to lapse, and the same attempt
    /// is made once more.
    pub(super) async fn send_delivery(&self, timer: ClaimedTimer, request: RequestId, delivery: DeliveryId) -> Sent {
        match self.try_delivery(&timer, request, delivery).await {
            Ok(sent) => sent,
            Err(error) => {
                tracing::debug!(key = %timer.key, %error, "a delivery could not be sent; it comes back when its claim lapses");
                Sent::Nothing
            }
        }
    }

    async fn try_delivery(
        &self,
        timer: &ClaimedTimer,
        id: RequestId,
        delivery: DeliveryId,
    ) -> Result<Sent, DecisionError> {
        let policy = self.policy_for(timer.tenant).await?;
        let Some(request) = self.begin(timer, id, delivery, &policy).await? else { return Ok(Sent::Nothing) };
        let Some(attempt) = request.delivery(delivery).and_then(|delivery| delivery.in_flight()).map(|going| going.n)
        else {
            return Ok(Sent::Nothing);
        };
        // What is to be sent needs no id and no moment but this one.
        let mut mint = Mint::new(self.now(), Ulid::MIN, [0; 32]);
        let context = Context { now: self.now(), mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE };
        let report = match outgoing(&request, delivery, &context) {
            Ok(outgoing) => {
                self.send_through(Message { surface_url: surface_url(self.public_base(), id), outgoing }).await
            }
            Err(unsent) => unsent,
        };
        let sent = match report.outcome() {
            AttemptOutcome::Accepted => Sent::Well,
            AttemptOutcome::TransientFailure | AttemptOutcome::Timeout => Sent::Badly,
            AttemptOutcome::PermanentFailure | AttemptOutcome::Suppressed => Sent::Nothing,
        };
        self.end(timer, id, delivery, (attempt, report), policy).await?;
        Ok(sent)
    }

    async fn send_through(&self, message: Message) -> SendReport {
        let Some(channel) = self.inner.channels.get(&message.outgoing.channel) else {
            return SendReport::kept_back(Suppression::ChannelUnknown);
        };
        tokio::time::timeout(LIMIT, channel.send(&message)).await.unwrap_or_else(|_| SendReport::timed_out())
    }

    /// Begins the attempt if it is due, and gives the request as it is then; nothing if nothing is to be sent.
    async fn begin(
        &self,
        timer: &ClaimedTimer,
        id: RequestId,
        delivery: DeliveryId,
        policy: &Arc<Policy>,
    ) -> Result<Option<Box<Request>>, DecisionError> {
        let (key, epoch, policy) = (timer.key.clone(), timer.epoch, Arc::clone(policy));
        self.decide(timer.tenant, Reads::none().record(RecordKey::new(keys::REQUEST, id)), move |view, moment| {
            let Some(kept) = view.get::<Request, _>(id)? else {
                return Ok(settle_alone(&key, epoch, &view.mint(), None));
            };
            let mut mint = view.mint();
            let context =
                Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE };
            let again = match begin_send(&kept.document, delivery, &context) {
                Fired::Acted(effects) => {
                    let before = Before { request: Some(&kept), claim: Claimed::Held(&key), ..Before::default() };
                    let mut writes = Writes::default();
                    writes.effects(before, &effects, None).map_err(Halt::Broken)?;
                    return Ok(Outcome::Write(writes.finish(&mint), Some(Box::new(effects.request))));
                }
                Fired::NotDue { again } => again,
            };
            let in_flight = kept.document.delivery(delivery).is_some_and(|delivery| delivery.in_flight().is_some());
            if in_flight {
                return Ok(Outcome::Nothing(Some(Box::new(kept.document))));
            }
            let put = again.map(|due| {
                let action = TimerAction::SendDelivery {
                    request: id,
                    delivery,
                    destination: kept.document.delivery(delivery).map_or_else(
                        || keys::channel_destination("", ""),
                        |delivery| keys::channel_destination(&delivery.channel, &delivery.target.value),
                    ),
                    put_off: 0,
                };
                json_text(&action).map(|action| TimerWrite::Put { key: key.clone(), due, action })
            });
            Ok(settle_alone(&key, epoch, &mint, put.transpose().map_err(Halt::Broken)?))
        })
        .await
    }

    async fn end(
        &self,
        timer: &ClaimedTimer,
        id: RequestId,
        delivery: DeliveryId,
        (attempt, report): (u32, SendReport),
        policy: Arc<Policy>,
    ) -> Result<(), DecisionError> {
        let (key, epoch) = (timer.key.clone(), timer.epoch);
        self.decide(timer.tenant, Reads::none().record(RecordKey::new(keys::REQUEST, id)), move |view, moment| {
            let mut mint = view.mint();
            let mut writes = Writes::default();
            writes.timer(TimerWrite::Settle { key: key.clone(), epoch });
            if let Some(kept) = view.get::<Request, _>(id)? {
                let mut context =
                    Context { now: moment.now, mint: &mut mint, policy: &policy, capabilities: &Capabilities::NONE };
                if let Some(effects) = end_send(&kept.document, delivery, attempt, &report, &mut context) {
                    let before = Before { request: Some(&kept), claim: Claimed::Settled(&key), ..Before::default() };
                    writes.effects(before, &effects, None).map_err(Halt::Broken)?;
                }
            }
            Ok(Outcome::Write(writes.finish(&mint), ()))
        })
        .await
    }

    /// Tells the channels that show a request that it changed, once, as well as possible.
    pub(super) async fn tell_change(&self, timer: ClaimedTimer, id: RequestId) -> Sent {
        match self.try_change(&timer, id).await {
            Ok(()) => Sent::Nothing,
            Err(error) => {
                tracing::debug!(key = %timer.key, %error, "channels could not be told of a change; it comes back when its claim lapses");
                Sent::Nothing
            }
        }
    }

    async fn try_change(&self, timer: &ClaimedTimer, id: RequestId) -> Result<(), DecisionError> {
        let policy = self.policy_for(timer.tenant).await?;
        if let Some(request) = self.document::<Request>(timer.tenant, id).await? {
            let changes = request.outreach.shown.iter().filter_map(|shown| self.change_of(&request, *shown, &policy));
            for (channel, change) in changes {
                if tokio::time::timeout(LIMIT, channel.update(&change)).await.is_err() {
                    tracing::warn!(delivery = %change.delivery_id, "a channel took too long to hear of a change");
                }
            }
        }
        let (key, epoch) = (timer.key.clone(), timer.epoch);
        self.decide(timer.tenant, Reads::none(), move |view, _| {
            Ok(match settle_alone(&key, epoch, &view.mint(), None) {
                Outcome::Write(writes, _) => Outcome::Write(writes, ()),
                Outcome::Nothing(_) => Outcome::Nothing(()),
            })
        })
        .await
    }

    fn change_of(
        &self,
        request: &Request,
        shown: DeliveryId,
        policy: &Policy,
    ) -> Option<(&Arc<dyn crate::channel::Channel>, Change)> {
        let delivery = request.delivery(shown)?;
        let channel = self.inner.channels.get(&delivery.channel)?;
        let person = UserId::parse(&delivery.target.value).ok().and_then(|id| policy.directory.person(id))?;
        let address = person.contact(&delivery.channel)?.address.clone();
        let change = Change {
            delivery_id: shown,
            request_id: request.id,
            state: request.state,
            title: request.title().to_owned(),
            surface_url: surface_url(self.public_base(), request.id),
            person: person.clone(),
            address,
        };
        Some((channel, change))
    }
}

/// Settles a timer that has nothing to do now, and perhaps sets it again.
fn settle_alone(key: &TimerKey, epoch: u64, mint: &Mint, again: Option<TimerWrite>) -> Outcome<Option<Box<Request>>> {
    let mut writes = Writes::default();
    writes.timer(TimerWrite::Settle { key: key.clone(), epoch });
    if let Some(again) = again {
        writes.timer(again);
    }
    Outcome::Write(writes.finish(mint), None)
}
