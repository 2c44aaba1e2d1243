//! What the machine itself can do, so that figures can be read against it.

mod commits;
mod disk;
mod loopback;
mod signatures;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::{error::BenchError, meter::Meter, outcome::Measurement, tally::Tally};

/// Measures every limit, each for as long.
pub(crate) async fn measure(time: Duration, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let directory = tempfile::tempdir().map_err(BenchError::system("no directory for the limits"))?;
    let place: &Path = directory.path();
    tell(disk::measure(place, time)?);
    for batch in [1, 32] {
        tell(commits::measure(place, time, batch)?);
    }
    tell(signatures::measure(time)?);
    tell(loopback::measure(time).await?);
    Ok(())
}

/// Does something again and again.
fn again(
    name: &str,
    time: Duration,
    mut once: impl FnMut() -> Result<(), BenchError>,
) -> Result<Measurement, BenchError> {
    let (mut tally, meter) = (Tally::new()?, Meter::alone());
    let end = Instant::now() + time;
    let mut began = Instant::now();
    while began < end {
        once()?;
        let now = Instant::now();
        tally.record(now - began);
        began = now;
    }
    Ok(Measurement { workers: 1, ..meter.stop(name, &tally) })
}
