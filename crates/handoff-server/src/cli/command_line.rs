//! What is said of a command line that cannot be used. None of its words is repeated: they may be a secret, or words that
//! were meant for a person.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Says what is wrong, and how the command is used.
pub(super) fn words(error: &clap::Error) -> String {
    let reason = reason(error);
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Such an error is the help of what stands on the command line.
        return format!("{reason}\n\n{}", error.to_string().trim_end());
    }
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => format!("\n\n{}", usage.to_string().trim_end()),
        _ => String::new(),
    };
    format!("{reason}{usage}\n\n`--help` behind the command says more")
}

/// One sentence. Where an error says which argument it is about, that is one of ours, except where there is no such one.
fn reason(error: &clap::Error) -> String {
    let argument = || listed(error, ContextKind::InvalidArg).unwrap_or_else(|| "an argument".to_owned());
    match error.kind() {
        ErrorKind::UnknownArgument if is_option(error) => {
            format!("an option is not known here{}", suggestion(error, ContextKind::SuggestedArg))
        }
        ErrorKind::UnknownArgument => {
            "a word stands where none is taken; put a text with blanks in it into quotes".to_owned()
        }
        ErrorKind::InvalidSubcommand => {
            format!("there is no such command{}", suggestion(error, ContextKind::SuggestedSubcommand))
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a command is missing".to_owned()
        }
        ErrorKind::MissingRequiredArgument => format!("{} is missing", argument()),
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::NoEquals => {
            format!("{} needs a value", argument())
        }
        ErrorKind::TooManyValues | ErrorKind::WrongNumberOfValues => {
            format!("{} has a value too many", argument())
        }
        ErrorKind::ValueValidation => format!("{}: {}", argument(), problem(error)),
        ErrorKind::ArgumentConflict => match listed(error, ContextKind::PriorArg) {
            Some(prior) if prior != argument() => format!("{} and {prior} exclude each other", argument()),
            _ => format!("{} is given more than once", argument()),
        },
        ErrorKind::InvalidUtf8 => "an argument is not UTF-8".to_owned(),
        _ => "it cannot be used".to_owned(),
    }
}

/// What the reader of a value says of it, which repeats no value; if it does, nothing.
fn problem(error: &clap::Error) -> String {
    let said = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) if !value.is_empty() && said.contains(value.as_str()) => {
            "its value cannot be used".to_owned()
        }
        _ => said,
    }
}

fn is_option(error: &clap::Error) -> bool {
    matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(word)) if word.starts_with('-'))
}

/// The one of ours that may have been meant.
fn suggestion(error: &clap::Error, kind: ContextKind) -> String {
    listed(error, kind).map_or_else(String::new, |meant| format!("; {meant} may have been meant"))
}

/// The names that an error holds, in a line.
fn listed(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let quoted = |name: &String| format!("`{name}`");
    match error.get(kind)? {
        ContextValue::String(name) => Some(quoted(name)),
        ContextValue::Strings(names) if !names.is_empty() => {
            Some(names.iter().map(quoted).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}
