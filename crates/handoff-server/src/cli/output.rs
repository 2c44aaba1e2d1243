//! What goes to the terminal besides the log.

use std::{
    fmt::Display,
    io::{self, Write as _},
};

/// Prints a line as the command's result.
pub(super) fn say(line: impl Display) -> io::Result<()> {
    write(format_args!("{line}\n"))
}

/// Prints exactly this as the command's result.
pub(super) fn write(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}

/// Prints what a reader of the result should know, apart from it.
pub(super) fn note(words: impl Display) {
    // With a terminal that went away there is nobody left to tell.
    let _ = writeln!(io::stderr(), "note: {words}");
}

/// Prints why the command failed.
pub(super) fn fail(reason: impl Display) {
    // With a terminal that went away there is nobody left to tell.
    let _ = writeln!(io::stderr(), "handoffd: {reason}");
}
