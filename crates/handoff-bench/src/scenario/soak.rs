//! Whole lives of requests for long, with an eye on the server's memory.

use super::{Size, Source, flow, megabytes};
use crate::{
    error::BenchError,
    load::{self, Bound, Names},
    outcome::Measurement,
    process,
};

/// How many callers.
const CALLERS: usize = 32;

/// How often memory is looked at.
const LOOKS: u32 = 10;

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    let (server, names) = (source.server().await?, Names::new()?);
    let target = server.target();
    let mut workers = load::open(target, CALLERS, 8.min(target.tenants.len())).await?;
    let fresh = megabytes(process::memory(target.process).unwrap_or_default());
    for look in 1..=LOOKS {
        let bound = Bound { operations: u64::MAX, time: size.soak / LOOKS };
        let name = format!("soak, part {look} of {LOOKS}");
        let part =
            load::drive(&name, target, &mut workers, bound, async |worker| flow::cycle(worker, &names).await).await?;
        let used = megabytes(process::memory(target.process).unwrap_or_default());
        tell(part.with("memory_mb", used).with("memory_fresh_mb", fresh));
    }
    Ok(())
}
