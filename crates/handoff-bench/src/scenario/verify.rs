//! Exporting a chain and verifying the export with `handoff verify`, where that program stands beside the server's.

use std::{fs, process::Stdio, time::Instant};

use tokio::process::Command;

use super::megabytes;
use crate::{error::BenchError, load::Worker, outcome::Measurement, process, spawn::Spawned};

pub(super) async fn measure(
    spawned: &Spawned,
    worker: &mut Worker,
    receipts: u64,
    tell: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    let program = spawned.beside("handoff");
    if !program.is_file() {
        return Ok(());
    }
    let began = Instant::now();
    let text = worker.client.export().await?;
    let exported = once(format!("export of {receipts} receipts"), receipts, began);
    let used = process::memory(spawned.target.process).unwrap_or_default();
    tell(exported.with("memory_mb", megabytes(used)).with("export_mb", megabytes(text.len().try_into().unwrap_or(0))));

    let bundle = spawned.file("bundle.json");
    fs::write(&bundle, &text).map_err(BenchError::system("the export cannot be written"))?;
    drop(text);
    let (began, before) = (Instant::now(), process::processor_time_of_children());
    let status = Command::new(&program).arg("verify").arg(&bundle).stdout(Stdio::null()).status().await;
    let status = status.map_err(BenchError::system("`handoff` does not run"))?;
    if !status.success() {
        return Err(BenchError::Nonsense("`handoff verify` found the export wanting".to_owned()));
    }
    let verified = once(format!("verify of {receipts} receipts"), receipts, began);
    let spent = process::processor_time_of_children().zip(before).map(|(after, before)| after.saturating_sub(before));
    // By its own time on a processor, so that other programs beside it do not count.
    let spent = spent.unwrap_or_default().as_secs_f64();
    let count = u32::try_from(receipts).map_or(f64::MAX, f64::from);
    tell(if spent > 0.0 { verified.with("receipts_a_core_second", count / spent) } else { verified });
    Ok(())
}

fn once(name: String, operations: u64, began: Instant) -> Measurement {
    let seconds = began.elapsed().as_secs_f64();
    Measurement { name, workers: 1, tenants: 1, operations, seconds, ..Measurement::default() }
}
