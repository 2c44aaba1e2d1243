//! What a stretch of work cost: time, and processor time of this process and the server's.

use std::time::{Duration, Instant};

use crate::{outcome::Measurement, process, tally::Tally, target::Target};

/// Runs from its start until it is read.
pub(crate) struct Meter {
    server: Option<u32>,
    database: Option<u32>,
    database_before: Option<Duration>,
    server_before: Option<Duration>,
    client_before: Option<Duration>,
    began: Instant,
}

/// What was spent on a stretch, or on several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    time: Duration,
    server: Option<Duration>,
    database: Option<Duration>,
    client: Option<Duration>,
}

impl Meter {
    /// Of this process and the server's.
    pub(crate) fn start(target: &Target) -> Self {
        Self::of(target.process, target.database)
    }

    /// Of this process alone.
    pub(crate) fn alone() -> Self {
        Self::of(None, None)
    }

    fn of(server: Option<u32>, database: Option<u32>) -> Self {
        Self {
            server,
            database,
            database_before: database.and_then(process::processor_time_of_family),
            server_before: server.and_then(|id| process::processor_time(Some(id))),
            client_before: process::processor_time(None),
            began: Instant::now(),
        }
    }

    /// What was spent since the start.
    pub(crate) fn spent(&self) -> Spent {
        let time = self.began.elapsed();
        let server_after = self.server.and_then(|id| process::processor_time(Some(id)));
        let client_after = process::processor_time(None);
        let since = |before: Option<Duration>, after: Option<Duration>| after?.checked_sub(before?);
        let database_after = self.database.and_then(process::processor_time_of_family);
        Spent {
            time,
            server: since(self.server_before, server_after),
            database: since(self.database_before, database_after),
            client: since(self.client_before, client_after),
        }
    }

    pub(crate) fn stop(&self, name: &str, tally: &Tally) -> Measurement {
        self.spent().measurement(name, tally)
    }
}

impl Spent {
    /// Both together; what one of them does not know the sum does not know.
    pub(crate) fn and(self, other: Self) -> Self {
        let sum = |one: Option<Duration>, other: Option<Duration>| one.zip(other).map(|(one, other)| one + other);
        Self {
            time: self.time + other.time,
            server: sum(self.server, other.server),
            database: sum(self.database, other.database),
            client: sum(self.client, other.client),
        }
    }

    /// The measurement that operations and their cost make.
    pub(crate) fn measurement(self, name: &str, tally: &Tally) -> Measurement {
        let measurement = Measurement {
            name: name.to_owned(),
            operations: tally.count(),
            seconds: self.time.as_secs_f64(),
            p50_ms: tally.quantile(0.5),
            p99_ms: tally.quantile(0.99),
            max_ms: tally.longest(),
            server_cpu_us: share(self.server, tally.count()),
            client_cpu_us: share(self.client, tally.count()),
            ..Measurement::default()
        };
        match share(self.database, tally.count()) {
            Some(spent) => measurement.with("database_us", spent),
            None => measurement,
        }
    }
}

/// Microseconds of processor time for one operation.
fn share(spent: Option<Duration>, operations: u64) -> Option<f64> {
    let operations = u32::try_from(operations).ok().filter(|operations| *operations > 0)?;
    Some(spent?.as_secs_f64() * 1e6 / f64::from(operations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_add_up_and_what_one_does_not_know_is_not_made_up() {
        let stretch = |millis, server: Option<u64>| Spent {
            time: Duration::from_millis(millis),
            server: server.map(Duration::from_millis),
            database: server.map(|millis| Duration::from_millis(millis * 2)),
            client: Some(Duration::from_millis(2)),
        };
        let mut tally = Tally::new().unwrap();
        for _ in 0..4 {
            tally.record(Duration::from_millis(1));
        }
        let both = stretch(300, Some(10)).and(stretch(700, Some(30))).measurement("both", &tally);
        assert_eq!((both.operations, both.seconds), (4, 1.0));
        assert_eq!((both.server_cpu_us, both.client_cpu_us), (Some(10_000.0), Some(1_000.0)));
        assert_eq!(both.figures.get("database_us"), Some(&20_000.0));
        let unknown = stretch(300, None).and(stretch(700, Some(30))).measurement("both", &tally);
        assert_eq!(unknown.server_cpu_us, None);
    }
}
