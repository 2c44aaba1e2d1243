//! What every handler shares.

use handoff_engine::Engine;

use crate::{limits::Limits, options::HttpOptions};

/// The state of the API: the engine, what was chosen, and what was counted. Clones share them.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) engine: Engine,
    pub(crate) options: HttpOptions,
    pub(crate) limits: Limits,
}

impl Api {
    pub(crate) fn new(engine: Engine, options: HttpOptions) -> Self {
        let limits = Limits::new(options.rate_limit_per_minute, options.calls.clone());
        Self { engine, options, limits }
    }
}
