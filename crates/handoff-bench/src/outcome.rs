//! What a run came to: the file that `run` writes and `report` reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    /// On what machine.
    pub(crate) machine: Machine,
    /// What the server says of itself.
    pub(crate) server: String,
    /// Everything that was measured, in order.
    pub(crate) measurements: Vec<Measurement>,
}

/// The machine of a run, as far as figures depend on it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Machine {
    /// Which processor.
    pub(crate) processor: String,
    /// How many of them.
    pub(crate) cores: usize,
    /// Which kernel.
    pub(crate) kernel: String,
    /// Load average of the last minute when the run began: what else ran.
    pub(crate) load: f64,
}

/// One measurement.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Measurement {
    /// What was measured.
    pub(crate) name: String,
    /// How many callers at once.
    pub(crate) workers: usize,
    /// In how many tenants.
    pub(crate) tenants: usize,
    /// How many operations.
    pub(crate) operations: u64,
    /// In how long.
    pub(crate) seconds: f64,
    /// Median duration of an operation in milliseconds.
    pub(crate) p50_ms: f64,
    /// What 99 of 100 operations were within, in milliseconds.
    pub(crate) p99_ms: f64,
    /// The longest, in milliseconds.
    pub(crate) max_ms: f64,
    /// Processor time of the server for an operation, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) server_cpu_us: Option<f64>,
    /// Processor time of the caller for an operation, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_cpu_us: Option<f64>,
    /// Whatever else this measurement tells, with its unit in its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) figures: BTreeMap<String, f64>,
}

impl Measurement {
    /// What tells this measurement from others.
    pub(crate) fn key(&self) -> (String, usize, usize) {
        (self.name.clone(), self.workers, self.tenants)
    }

    /// Operations a second.
    pub(crate) fn per_second(&self) -> f64 {
        // An operation count fits a float by far.
        #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
        let operations = self.operations as f64;
        if self.seconds > 0.0 { operations / self.seconds } else { 0.0 }
    }

    /// Adds a figure.
    pub(crate) fn with(mut self, name: &str, value: f64) -> Self {
        self.figures.insert(name.to_owned(), value);
        self
    }
}
