//! Channels: what each can do, so that no delivery ever claims more than its channel can prove (rules V-2, V-5).

use std::collections::BTreeMap;

use super::terms::Grade;

/// The channel of our own pages.
pub(super) const IN_APP: &str = "inapp";
/// The channel of what is raised to try things out.
pub(super) const SANDBOX: &str = "sandbox";

/// How long a delivery that is made by listing is not noted yet, in seconds: a request that ends sooner, as many do, costs
/// no commit for it.
pub(super) const LISTED_AFTER_SECONDS: u64 = 1;

/// What a channel can do, as its adapter declares it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChannelFacts {
    /// How far it can ever prove that a delivery got.
    pub max_grade: Grade,
    /// Whether it can tell who answers through it.
    pub can_authenticate_person: bool,
    /// Whom it sends to.
    pub addressing: Addressing,
    /// Whether what it sent can be changed or taken back once a request changes or ends.
    pub updates: bool,
    /// Whether it shows more than text, buttons for example.
    pub rich_actions: bool,
    /// Whether it hears what a person writes back. Such text is provisional and settles nothing (rule S-10).
    pub captures_text: bool,
    /// How soon a person notices.
    pub latency: Latency,
}

/// Whom a channel sends to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Addressing {
    /// Nobody in particular: a delivery is made by listing the request where its target looks.
    Listing,
    /// A person, at an address that the directory holds for that person (rule V-14).
    Person,
}

/// How soon a person notices.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Latency {
    /// At once: a call, a push.
    Immediate,
    /// Within minutes: a message.
    Minutes,
    /// When the person looks: mail, a page.
    WhenLooked,
}

/// The channels of a deployment, by name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Channels(BTreeMap<String, ChannelFacts>);

/// Whether deliveries through a channel are made by listing, on every deployment.
pub(super) fn is_listing(channel: &str) -> bool {
    matches!(channel, IN_APP | SANDBOX)
}

impl ChannelFacts {
    /// What is served of a channel without an adapter (rule V-5): it proves as little as one can.
    pub const UNKNOWN: Self = Self {
        max_grade: Grade::Dispatched,
        can_authenticate_person: false,
        addressing: Addressing::Person,
        updates: false,
        rich_actions: false,
        captures_text: false,
        latency: Latency::WhenLooked,
    };

    /// Our own pages: listed at once, and who answers there is authenticated.
    pub const IN_APP: Self = Self {
        max_grade: Grade::Acted,
        can_authenticate_person: true,
        addressing: Addressing::Listing,
        rich_actions: true,
        ..Self::UNKNOWN
    };

    /// The channel of what is raised to try things out: it takes everything and reaches nobody.
    pub const SANDBOX: Self = Self { addressing: Addressing::Listing, ..Self::UNKNOWN };
}

impl Channels {
    /// Adds a channel, or replaces what was said of it.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, facts: ChannelFacts) -> Self {
        self.0.insert(name.into(), facts);
        self
    }

    /// What a channel can do, if there is an adapter for it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ChannelFacts> {
        self.0.get(name)
    }

    /// The names of those that reach people, in alphabetical order.
    pub fn reaching(&self) -> impl Iterator<Item = &str> {
        self.names().filter(|name| *name != SANDBOX)
    }

    /// The names, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl Default for Channels {
    /// Those that need no adapter.
    fn default() -> Self {
        Self(BTreeMap::new()).with(IN_APP, ChannelFacts::IN_APP).with(SANDBOX, ChannelFacts::SANDBOX)
    }
}
