//! What is said of a command line that cannot be meant: the same voice as every other failure, and the way out.
//!
//! A value is never repeated: it may be a secret that was put in the wrong place.

use std::{env, error::Error as _};

use clap::{
    Command, CommandFactory as _, Error, Parser as _,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{cli::Cli, exit::Exit, output};

/// Reads the command line.
///
/// # Errors
///
/// What to exit with, after everything has been said: help was wanted, or the command line is wrong.
pub(crate) fn read() -> Result<Cli, Exit> {
    let error = match Cli::try_parse() {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let typed: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        output::wrong(&told(&error, &typed));
        return Err(Exit::Usage);
    }
    // When nobody reads it, nothing is lost.
    let _ = error.print();
    Err(if error.use_stderr() { Exit::Usage } else { Exit::Done })
}

/// What is wrong, how the command is used, and where there is more.
fn told(error: &Error, typed: &[String]) -> String {
    let mut command = Cli::command();
    command.build();
    let mut path = vec![command.get_name().to_owned()];
    for word in typed {
        if let Some(found) = command.find_subcommand(word).cloned() {
            path.push(word.clone());
            command = found;
        }
    }
    format!("{}\n{}\nmore: {} --help", fault(error), usage(&mut command), path.join(" "))
}

fn usage(command: &mut Command) -> String {
    let usage = command.render_usage().to_string();
    usage.strip_prefix("Usage: ").map_or_else(|| usage.clone(), |rest| format!("usage: {rest}"))
}

fn fault(error: &Error) -> String {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        _ => "",
    };
    match (error.kind(), error.source(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::ValueValidation, Some(cause), _) => return format!("{argument}: {cause}"),
        (ErrorKind::InvalidValue, _, Some(ContextValue::Strings(known))) if !known.is_empty() => {
            return format!("{argument}: must be one of {}", known.join(", "));
        }
        (ErrorKind::UnknownArgument, ..) if !argument.starts_with('-') => {
            return "there are more arguments than this command takes; quote words that belong together".to_owned();
        }
        _ => {}
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end = ["\nUsage: ", "\nFor more information"].iter().filter_map(|mark| text.find(mark)).min();
    let said = end.and_then(|end| text.get(..end)).unwrap_or(text);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(typed: &[&str]) -> String {
        let words: Vec<String> = typed.iter().map(|word| (*word).to_owned()).collect();
        let Err(error) = Cli::try_parse_from([&["handoff"], typed].concat()) else {
            panic!("{typed:?} can be meant");
        };
        told(&error, &words)
    }

    #[test]
    fn each_mistake_gets_its_words_its_usage_and_its_help() {
        let id = said(&["show", "req_nope"]);
        assert_eq!(
            id,
            "<REQUEST>: an id looks like req_01M8…; `handoff list` shows them\n\
             usage: handoff show [OPTIONS] <REQUEST>\nmore: handoff show --help"
        );
        assert!(said(&["list", "--limit", "0"]).starts_with("--limit <N>: "));
        assert!(said(&["person", "add", " "]).contains("usage: handoff person add [OPTIONS] <NAME>\n"));
        assert!(said(&["person", "ad"]).contains("more: handoff person --help"));
        assert!(said(&["ask", "x", "--tll", "PT1H"]).contains("'--ttl'"), "a slip is mended");
        assert!(said(&["ask", "Ship", "it?"]).contains("quote words that belong together"));
        let policy = said(&["ask", "x", "--ttl", "PT1H", "--on-expiry", "hunter2"]);
        assert!(policy.contains("must be one of escalate, ") && !policy.contains("hunter2"), "{policy}");
        assert!(!said(&["answer", "req_01K3M7QW8ZC4YRXB2N6VD9FTHE", "--value", "hunter2"]).contains("hunter2"));
    }

    #[test]
    fn options_stand_only_where_they_act() {
        for typed in [&["verify", "x", "--url", "http://x"][..], &["demo", "--json"], &["export", "--json"]] {
            assert!(said(typed).contains("unexpected argument"), "{typed:?}");
        }
    }
}
