//! A sink that remembers what it was given, in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use handoff_engine::sink::{SecretSink, SinkDelivery, SinkError};

/// A sink whose submissions a test can look at. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemorySink {
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    deliveries: Vec<SinkDelivery>,
    failing: bool,
}

impl MemorySink {
    /// Fails every submission from now on, or no more.
    pub fn fail(&self, failing: bool) {
        self.lock().failing = failing;
    }

    /// How many submissions came.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().deliveries.len()
    }

    /// Looks at every submission, in the order in which they came.
    pub fn look<T>(&self, look: impl FnOnce(&[SinkDelivery]) -> T) -> T {
        look(&self.lock().deliveries)
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SecretSink for MemorySink {
    async fn submit(&self, delivery: SinkDelivery) -> Result<(), SinkError> {
        let mut taken = self.lock();
        if taken.failing {
            return Err(SinkError::new("the sink is told to fail"));
        }
        taken.deliveries.push(delivery);
        Ok(())
    }
}
