//! The page of figures, as Markdown.

use std::fmt::Write as _;

use super::{floors, median};
use crate::outcome::{Measurement, Outcome};

const HEAD: &str = "\
# Performance

This page, up to the section on Postgres, is made from runs of `handoff-bench` and not written by hand:

```sh
cargo build --release --bin handoffd --bin handoff --bin handoff-bench
for run in 1 2 3; do target/release/handoff-bench run --spawn --json run$run.json; done
target/release/handoff-bench report run1.json run2.json run3.json > docs/performance.md
```

The same program loads any other server of the contract: `handoff-bench run --url URL --credentials FILE`. Client and
server share the machine, the server commits to SQLite with `synchronous=FULL`, and nothing is acknowledged before it is
on the disk. Each figure is the median of the runs. `run --spawn --postgres` does the same over Postgres.
";

/// The page out of several runs.
pub(crate) fn page(runs: &[Outcome]) -> String {
    let merged = median::of(runs);
    let mut text = HEAD.to_owned();
    if let Some(run) = runs.first() {
        let loads: Vec<_> = runs.iter().map(|run| format!("{:.1}", run.machine.load)).collect();
        let machine = &run.machine;
        let _ = write!(
            text,
            "\nMachine: {} × {}, Linux {}; load average before the runs: {}. Runs: {}.\n",
            machine.cores,
            machine.processor,
            machine.kernel,
            loads.join(", "),
            runs.len()
        );
    }
    text.push_str("\n## Floors\n\n| what | wanted | measured | met |\n|---|---|---|---|\n");
    for floor in floors::judge(&merged) {
        let measured =
            floor.measured.map_or_else(|| "not measured".to_owned(), |value| format!("{value:.1} {}", floor.unit));
        let made_from = floor.made_from.map_or_else(String::new, |figures| format!(" ({figures})"));
        let met = if floor.met { "yes" } else { "**no**" };
        let _ = writeln!(text, "| {} | {} | {measured}{made_from} | {met} |", floor.what, floor.wanted);
    }
    text.push_str(
        "\n## Everything that was measured\n\nProcessor time is for one operation, in microseconds.\n\n\
         | what | callers | tenants | a second | p50 ms | p99 ms | server µs | client µs | more |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for measurement in &merged {
        text.push_str(&row(measurement));
    }
    text
}

fn row(measurement: &Measurement) -> String {
    let Measurement { name, workers, tenants, p50_ms, p99_ms, .. } = measurement;
    let cost = |cost: Option<f64>| cost.map_or_else(String::new, |cost| format!("{cost:.0}"));
    let (server, client) = (cost(measurement.server_cpu_us), cost(measurement.client_cpu_us));
    let more: Vec<_> = measurement.figures.iter().map(|(name, value)| format!("{name} {value:.1}")).collect();
    format!(
        "| {name} | {workers} | {tenants} | {:.1} | {p50_ms:.3} | {p99_ms:.3} | {server} | {client} | {} |\n",
        measurement.per_second(),
        more.join(", ")
    )
}
