//! What every handler shares.

use handoff_engine::Engine;

use crate::options::HttpOptions;

/// The state of the API: the engine and what was chosen. Clones share one engine.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) engine: Engine,
    pub(crate) options: HttpOptions,
}
