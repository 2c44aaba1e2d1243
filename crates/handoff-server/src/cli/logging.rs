//! The log: lines for people, or JSON for machines, on the error stream.

use std::io::{self, IsTerminal as _};

use handoff_server::{LIFECYCLE, LogFormat};
use tracing_subscriber::{EnvFilter, filter::Directive};

use super::failure::Failure;

/// What calls it an error of ours that a receiver's certificate is not valid; the attempts of a push tell that already.
const NOISE: &str = "rustls_platform_verifier";

/// Begins to log. Lines about the server's own start and end are written whatever the filter says, so that a log is
/// never empty.
pub(super) fn start(filter: &str, format: LogFormat) -> Result<(), Failure> {
    let lifecycle: Directive = format!("{LIFECYCLE}=info").parse().map_err(|_| Failure::LogFilter)?;
    let quiet: Directive = format!("{NOISE}=off").parse().map_err(|_| Failure::LogFilter)?;
    let is_asked_for = filter.contains(NOISE);
    let mut filter = EnvFilter::builder().parse(filter).map_err(|_| Failure::LogFilter)?.add_directive(lifecycle);
    if !is_asked_for {
        filter = filter.add_directive(quiet);
    }
    // A log that cannot be written is no reason to fail a call: without this, the complaint about it would panic.
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
    match format {
        // The innermost span is the call; a list of one would say it twice.
        LogFormat::Json => lines.json().with_span_list(false).init(),
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).init(),
    }
    Ok(())
}
