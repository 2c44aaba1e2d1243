//! Verifying an export of the chain with `handoff verify`, where that program stands beside the server's.

use std::{process::Stdio, time::Instant};

use tokio::process::Command;

use crate::{error::BenchError, outcome::Measurement, spawn::Spawned};

pub(super) async fn measure(
    spawned: &Spawned,
    receipts: u64,
    tell: &mut dyn FnMut(Measurement),
) -> Result<(), BenchError> {
    let program = spawned.beside("handoff");
    if !program.is_file() {
        return Ok(());
    }
    let bundle = spawned.file("bundle.json");
    let url = format!("http://{}:{}", spawned.target.host, spawned.target.port);
    for (name, arguments) in [("export", ["export", "-o"].as_slice()), ("verify", ["verify"].as_slice())] {
        let began = Instant::now();
        let status = Command::new(&program)
            .args(arguments)
            .arg(&bundle)
            .env("HANDOFF_URL", &url)
            .env("HANDOFF_API_KEY", spawned.machine_token().unwrap_or_default())
            .stdout(Stdio::null())
            .status()
            .await
            .map_err(BenchError::system("`handoff` does not run"))?;
        if !status.success() {
            return Err(BenchError::Nonsense(format!("`handoff {name}` failed")));
        }
        let seconds = began.elapsed().as_secs_f64();
        tell(Measurement {
            name: format!("{name} of {receipts} receipts"),
            workers: 1,
            tenants: 1,
            operations: receipts,
            seconds,
            ..Measurement::default()
        });
    }
    Ok(())
}
