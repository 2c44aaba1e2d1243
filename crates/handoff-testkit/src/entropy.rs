//! Bytes that look random and are the same in every run.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use handoff_engine::entropy::{Entropy, EntropyError};
use sha2::{Digest as _, Sha256};

/// Entropy from a number: each draw is SHA-256 over that number and a counter. Clones share the counter.
///
/// ```
/// use handoff_engine::entropy::Entropy as _;
/// use handoff_testkit::SeededEntropy;
///
/// let (one, same) = (SeededEntropy::new(7), SeededEntropy::new(7));
/// let first = one.seed()?;
/// assert_eq!(first, same.seed()?);
/// assert_ne!(first, one.seed()?);
/// # Ok::<(), handoff_engine::entropy::EntropyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SeededEntropy {
    seed: u64,
    drawn: Arc<AtomicU64>,
}

impl SeededEntropy {
    /// Entropy that depends on `seed` and on nothing else.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, drawn: Arc::default() }
    }
}

impl Entropy for SeededEntropy {
    fn seed(&self) -> Result<[u8; 32], EntropyError> {
        let draw = self.drawn.fetch_add(1, Ordering::Relaxed);
        let mut hash = Sha256::new();
        hash.update(self.seed.to_be_bytes());
        hash.update(draw.to_be_bytes());
        Ok(hash.finalize().into())
    }
}
