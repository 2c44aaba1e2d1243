//! The outside world as the engine's ports show it: people, channels, receivers, resources, sinks. Each does what it should,
//! and in a troubled world also what such things do: fail, hang, do a thing and say that they did not.

mod channel;
mod directory;
mod provider;
mod receiver;
mod sink;
mod trouble;

use std::{collections::BTreeMap, sync::Arc};

use handoff_engine::Builder;

pub use self::{
    channel::Pager,
    directory::Rolodex,
    provider::{ADDRESS, Surface},
    receiver::{Pushed, Receivers},
    sink::{CANARY, Taken, Vault},
    trouble::Trouble,
};
use crate::{plan::Knobs, time::SimClock};

/// Under which name attempts are counted that a channel was asked to make once more.
pub(crate) const SENT_TWICE: &str = "(an attempt that was sent twice)";

/// Every port of a world.
pub struct Ports {
    /// Who people are.
    pub directory: Arc<Rolodex>,
    /// What reaches them.
    pub channels: Vec<Arc<Pager>>,
    /// Where signals are pushed.
    pub receivers: Arc<Receivers>,
    /// Who has resources.
    pub provider: Arc<Surface>,
    /// Where secret values go.
    pub sink: Arc<Vault>,
    trouble: Trouble,
}

impl Ports {
    /// Ports that share one world's trouble.
    #[must_use]
    pub fn new(seed: u64, knobs: &Knobs) -> Self {
        Self::with(Trouble::new(seed, knobs.ports, knobs.receivers))
    }

    /// Ports that do what they should, and at once.
    #[must_use]
    pub fn at_once() -> Self {
        Self::with(Trouble::none())
    }

    fn with(trouble: Trouble) -> Self {
        Self {
            directory: Arc::new(Rolodex::new(trouble.clone())),
            channels: vec![
                Arc::new(Pager::new("pager", true, trouble.clone())),
                Arc::new(Pager::new("mail", false, trouble.clone())),
            ],
            receivers: Arc::new(Receivers::new(trouble.clone(), SimClock::new())),
            provider: Arc::new(Surface::new(trouble.clone())),
            sink: Arc::new(Vault::new(trouble.clone())),
            trouble,
        }
    }

    /// An engine with these ports.
    pub fn plug_into(&self, builder: Builder) -> Builder {
        let builder = builder
            .callbacks(Arc::clone(&self.receivers) as _)
            .directory(Arc::clone(&self.directory) as _)
            .default_capability_provider(Arc::clone(&self.provider) as _)
            .default_sink(Arc::clone(&self.sink) as _);
        self.channels.iter().fold(builder, |builder, channel| builder.channel(Arc::clone(channel) as _))
    }

    /// Whether things go wrong from now on.
    pub fn set_troubled(&self, troubled: bool) {
        self.trouble.set(troubled);
    }

    /// What went wrong, by kind.
    #[must_use]
    pub fn counted(&self) -> BTreeMap<&'static str, u64> {
        self.trouble.counted()
    }
}
