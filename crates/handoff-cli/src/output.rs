//! What is printed: results to standard output, words about them to standard error.
//!
//! Text that others wrote is made harmless first: a title must not move the cursor, clear the screen or turn the
//! direction of writing.

use std::io::{self, Write as _};

use clap::Args;
use handoff_protocol::json::{Json, to_json};
use serde::Serialize;

use crate::failure::Failure;

/// How results are printed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Output {
    /// Print the result as JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Output {
    /// Prints a result, as JSON on one line or for people.
    ///
    /// # Errors
    ///
    /// If it cannot be written: a result that nobody got must not be acknowledged.
    pub(crate) fn result(self, json: &Json, people: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json { raw(&format!("{}\n", json.to_text())) } else { raw(&people()) }
    }
}

/// A value as JSON.
///
/// # Errors
///
/// If it has no JSON form, which is a defect.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<Json, Failure> {
    to_json(value).map_err(|error| Failure::failed(error.to_string()))
}

/// Writes text to standard output as it is, whole or not at all.
///
/// # Errors
///
/// If it cannot be written.
pub(crate) fn raw(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::failed(format!("the result cannot be written: {error}")))
}

/// Writes a line for people to standard error; when nobody listens there, nothing is lost.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(line));
}

/// Writes what went wrong to standard error, under the program's name, further lines as they are.
pub(crate) fn wrong(message: &str) {
    let _ = writeln!(io::stderr().lock(), "handoff: {}", printable_lines(message));
}

/// A text without what would act on a terminal; line ends and tabs become spaces.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { harmless(c) }).collect()
}

/// The same, with line ends kept.
pub(crate) fn printable_lines(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { harmless(c) }).collect()
}

fn harmless(character: char) -> char {
    let turns_direction = matches!(
        character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    if character.is_control() || turns_direction { char::REPLACEMENT_CHARACTER } else { character }
}

/// A table with a line of headings, its columns as wide as they need to be.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let mut lines = vec![headings.map(str::to_owned)];
    lines.extend(rows.iter().map(|row| row.each_ref().map(|cell| printable(cell))));
    let mut widths = [0; N];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_cannot_act_on_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c\nd\u{7}"), "a\u{fffd}[2Jb\u{fffd}c d\u{fffd}");
        assert_eq!(printable_lines("a\nb\r"), "a\nb\u{fffd}");
        assert_eq!(printable("Refund €240 für Ödön?"), "Refund €240 für Ödön?");
    }

    #[test]
    fn columns_align_and_lines_do_not_trail() {
        let text = table(["ID", "TITLE"], &[["1".into(), "long title".into()], ["200".into(), "b".into()]]);
        assert_eq!(text, "ID   TITLE\n1    long title\n200  b\n");
    }
}
