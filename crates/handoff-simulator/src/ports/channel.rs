//! Channels that send nowhere.

use std::{collections::BTreeMap, sync::Mutex};

use async_trait::async_trait;
use handoff_engine::channel::{Change, Channel, Message};
use handoff_protocol::{
    decision::{
        SendReport,
        channels::ChannelFacts,
        terms::{Grade, Suppression},
    },
    id::DeliveryId,
};

use super::{
    SENT_TWICE,
    trouble::{Behavior, Trouble},
};
use crate::scheduler::lock;

/// A channel that notes what it sent.
pub struct Pager {
    name: &'static str,
    updates: bool,
    trouble: Trouble,
    sent: Mutex<BTreeMap<(DeliveryId, u32), u32>>,
}

impl Pager {
    pub(super) fn new(name: &'static str, updates: bool, trouble: Trouble) -> Self {
        Self { name, updates, trouble, sent: Mutex::default() }
    }

    /// Every delivery that it sent at least once.
    #[must_use]
    pub fn sent(&self) -> Vec<DeliveryId> {
        lock(&self.sent).keys().map(|(delivery, _)| *delivery).collect()
    }
}

#[async_trait]
impl Channel for Pager {
    fn name(&self) -> &str {
        self.name
    }

    fn facts(&self) -> ChannelFacts {
        ChannelFacts { max_grade: Grade::Seen, updates: self.updates, ..ChannelFacts::UNKNOWN }
    }

    async fn send(&self, message: &Message) -> SendReport {
        let behavior = self.trouble.port("channel failed", "channel hung").await;
        if behavior != Behavior::Fails && behavior != Behavior::Refuses {
            let key = (message.outgoing.delivery_id, message.outgoing.attempt);
            let mut sent = lock(&self.sent);
            let times = sent.entry(key).or_default();
            *times = times.saturating_add(1);
            if *times > 1 {
                self.trouble.count(SENT_TWICE);
            }
        }
        match behavior {
            Behavior::Well => SendReport::accepted(),
            Behavior::Fails | Behavior::DoesAndFails | Behavior::Hangs => SendReport::failed_for_now("busy"),
            Behavior::Refuses if message.outgoing.attempt.is_multiple_of(2) => SendReport::failed_for_good("refused"),
            Behavior::Refuses => SendReport::kept_back(Suppression::ConsentMissing),
        }
    }

    async fn update(&self, _: &Change) {
        self.trouble.port("channel failed", "channel hung").await;
    }
}
