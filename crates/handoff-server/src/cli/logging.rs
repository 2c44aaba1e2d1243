//! The log: lines for people, or JSON for machines, on the error stream.

use std::{
    env,
    io::{self, IsTerminal as _},
};

use handoff_server::LIFECYCLE;
use tracing_subscriber::{EnvFilter, filter::Directive};

use super::failure::Failure;

/// Begins to log. Lines about the server's own start and end are written whatever the filter says, so that a log is
/// never empty.
pub(super) fn start(default_filter: &str) -> Result<(), Failure> {
    let filter = match env::var_os("RUST_LOG").filter(|filter| !filter.is_empty()) {
        Some(filter) => filter.into_string().map_err(|_| Failure::LogFilter)?,
        None => default_filter.to_owned(),
    };
    let lifecycle: Directive = format!("{LIFECYCLE}=info").parse().map_err(|_| Failure::LogFilter)?;
    let filter = EnvFilter::builder().parse(filter).map_err(|_| Failure::LogFilter)?.add_directive(lifecycle);
    let json = match env::var_os("HANDOFF_LOG") {
        Some(format) if format == "json" => true,
        Some(format) if !format.is_empty() && format != "text" => return Err(Failure::LogFormat),
        _ => false,
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if json {
        lines.json().init();
    } else {
        lines.with_ansi(io::stderr().is_terminal()).init();
    }
    Ok(())
}
