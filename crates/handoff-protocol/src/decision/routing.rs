//! Routing: who is reached, through which channels, and when (rule V-10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{limits, target::Target};
use crate::duration::ExactDuration;

/// The ladder of a request, resolved at its raise and kept as it was then.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Routing {
    /// Who is reached unless a rung says otherwise.
    #[schemars(length(max = limits::ASSIGNEES))]
    pub targets: Vec<Target>,
    /// The rungs, by time.
    #[schemars(length(max = 10))]
    pub ladder: Vec<Rung>,
}

/// One rung of a ladder.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Rung {
    /// How long after the raise.
    pub after: ExactDuration,
    /// Through which channels.
    #[schemars(length(min = 1), inner(length(max = 64)))]
    pub channels: Vec<String>,
    /// Whom this rung reaches, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Target>,
}

impl Routing {
    /// The ladder of what is raised to try things out: it reaches nobody.
    #[must_use]
    pub fn sandbox() -> Self {
        let mut routing = Self::in_app();
        for rung in &mut routing.ladder {
            rung.channels = vec!["sandbox".to_owned()];
        }
        routing
    }

    /// The ladder of a deployment whose one channel is its own page: at once, to anybody.
    #[must_use]
    pub fn in_app() -> Self {
        Self {
            targets: vec![Target::anyone()],
            ladder: vec![Rung { after: ExactDuration::from_seconds(0), channels: vec!["inapp".to_owned()], to: None }],
        }
    }
}
