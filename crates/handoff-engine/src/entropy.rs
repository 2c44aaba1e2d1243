//! The entropy port: servers draw from the operating system, tests from a seed.

/// Draws unpredictable bytes. A store draws one seed for each run of a step.
pub trait Entropy: Send + Sync + 'static {
    /// Fresh bytes of a cryptographic generator.
    ///
    /// # Errors
    ///
    /// When the generator fails; nothing may be minted then.
    fn seed(&self) -> Result<[u8; 32], EntropyError>;
}

/// The generator of the operating system failed.
#[derive(Debug, thiserror::Error)]
#[error("the system's random generator failed: {0}")]
pub struct EntropyError(String);

impl EntropyError {
    /// An error with the generator's own words.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// The operating system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn seed(&self) -> Result<[u8; 32], EntropyError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| EntropyError::new(error.to_string()))?;
        Ok(seed)
    }
}
