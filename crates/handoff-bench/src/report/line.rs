//! One measurement as one line of a table.

use crate::outcome::Measurement;

/// The head of the table.
pub(crate) const HEAD: &str = concat!(
    "                                name  workers tenants       ops/s     p50 ms     p99 ms     max ms",
    "  server µs  client µs"
);

/// A measurement as a line, for a terminal.
pub(crate) fn line(measurement: &Measurement) -> String {
    let Measurement { name, workers, tenants, p50_ms, p99_ms, max_ms, .. } = measurement;
    let cost = |cost: Option<f64>| cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.0}"));
    let (server, client) = (cost(measurement.server_cpu_us), cost(measurement.client_cpu_us));
    let mut text = format!(
        "{name:>36} {workers:>8} {tenants:>7} {:>11.1} {p50_ms:>10.3} {p99_ms:>10.3} {max_ms:>10.3} {server:>10} \
         {client:>10}",
        measurement.per_second()
    );
    for (name, value) in &measurement.figures {
        text.push_str(&format!("  {name}={value:.1}"));
    }
    text
}
