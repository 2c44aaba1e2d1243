//! The channel port: what carries a delivery to a person.

use async_trait::async_trait;
use handoff_protocol::{
    decision::{Outgoing, SendReport, channels::ChannelFacts, directory::Person, terms::RequestState},
    id::{DeliveryId, RequestId},
    secret::Secret,
};

/// A way to reach people. The engine calls it from its outbound executor, never inside a transaction.
///
/// An adapter sends to the one address that it is given and to no other (rule V-14), says what its transport said and
/// nothing more (rule V-4), and lets neither address nor content into logs or reports. One that lacks what it needs
/// reports [`kept_back`](SendReport::kept_back) with `channel_not_configured`; it never pretends.
#[async_trait]
pub trait Channel: Send + Sync + 'static {
    /// The name that ladders call it by.
    fn name(&self) -> &str;

    /// What it can do. What it declares here bounds what any delivery can ever claim.
    fn facts(&self) -> ChannelFacts;

    /// Sends a message once, and says what came of it. The same delivery can come again with the same attempt, after a
    /// crash for example: sending is at least once. Called with a limit of ten seconds, after which it counts as timed
    /// out and is dropped.
    async fn send(&self, message: &Message) -> SendReport;

    /// Hears that what it sent is out of date: the words changed, or the request ended, elsewhere perhaps. Called for a
    /// channel that declares `updates`, as well as possible: not at all after a crash, and more than once after another.
    async fn update(&self, change: &Change) {
        let _ = change;
    }
}

/// What a channel is to send.
#[derive(Clone, Debug)]
pub struct Message {
    /// The delivery, what is asked, and where to.
    pub outgoing: Outgoing,
    /// Where the person answers: a locator, which asks for authentication (rule V-11).
    pub surface_url: String,
}

/// What became of something that a channel showed.
#[derive(Clone, Debug)]
pub struct Change {
    /// The delivery that showed it.
    pub delivery_id: DeliveryId,
    /// The request.
    pub request_id: RequestId,
    /// How the request stands now; `pending` for one whose words changed.
    pub state: RequestState,
    /// The title now.
    pub title: String,
    /// Where the person looks.
    pub surface_url: String,
    /// Who was shown it.
    pub person: Person,
    /// Where.
    pub address: Secret<String>,
}
