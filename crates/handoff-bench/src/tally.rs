//! Durations of operations, counted in bounded memory.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::error::BenchError;

/// The longest duration that is told from others, in microseconds: two minutes.
const LONGEST: u64 = 120_000_000;

/// How long operations took.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    micros: Histogram<u64>,
}

impl Tally {
    pub(crate) fn new() -> Result<Self, BenchError> {
        // Three digits cost some tens of kilobytes, however much is counted.
        let micros =
            Histogram::new_with_bounds(1, LONGEST, 3).map_err(|error| BenchError::Nonsense(error.to_string()))?;
        Ok(Self { micros })
    }

    pub(crate) fn record(&mut self, took: Duration) {
        self.micros.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    pub(crate) fn add(&mut self, other: &Self) -> Result<(), BenchError> {
        self.micros.add(&other.micros).map_err(|error| BenchError::Nonsense(error.to_string()))
    }

    pub(crate) fn count(&self) -> u64 {
        self.micros.len()
    }

    /// The duration that this share of all was within, in milliseconds.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        milliseconds(self.micros.value_at_quantile(share))
    }

    pub(crate) fn longest(&self) -> f64 {
        milliseconds(self.micros.max())
    }
}

fn milliseconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_thousandth() {
        let mut tally = Tally::new().unwrap();
        for millis in 1..=1000 {
            tally.record(Duration::from_millis(millis));
        }
        assert_eq!(tally.count(), 1000);
        for (share, expected) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            assert!((tally.quantile(share) / expected - 1.0).abs() < 0.001, "{}", tally.quantile(share));
        }
        tally.record(Duration::from_secs(3600));
        assert!(tally.longest() >= 120_000.0);
    }
}
