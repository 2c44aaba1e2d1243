//! Channels in the configuration: programs and receivers that reach people.

use std::{path::PathBuf, time::Duration};

use handoff_protocol::json::{DecodeError, Json, ObjectReader, ValueReader};
use toml::{Spanned, de::DeValue};

use super::{
    ConfigError,
    file::Reading,
    tenants::{REDACTED, shown, twice},
};

/// The section.
pub(super) const SECTION: &str = "channels";

/// Every key of the section.
const KEYS: &[&str] = &["name", "kind", "program", "arguments", "environment", "time_limit_seconds", "secrets"];

/// A channel.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChannelConfig {
    /// The name that ladders call it by.
    pub name: String,
    /// What it is.
    pub kind: ChannelKind,
}

/// What a channel is.
#[derive(Clone, Eq, PartialEq)]
pub enum ChannelKind {
    /// A local program, run once a delivery.
    Command {
        /// Which program.
        program: PathBuf,
        /// What it is called with, the same for every delivery.
        arguments: Vec<String>,
        /// Everything that its environment holds.
        environment: Vec<(String, String)>,
        /// How long it may take.
        time_limit: Duration,
    },
    /// Posts to the receivers of people.
    Webhook {
        /// The set of callback secrets that signs; the unnamed ones if none is named.
        secrets: Option<String>,
    },
}

impl Reading<'_> {
    /// Reads the section.
    pub(super) fn channels(
        &self,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<(ChannelConfig, ConfigError)>, ConfigError> {
        let mut channels = self.tables(SECTION, value, KEYS, read)?;
        if let Some((place, name)) = twice(channels.iter().map(|channel| channel.name.as_str())) {
            let span = value.get_ref().as_array().and_then(|list| list.get(place)).map_or(value.span(), Spanned::span);
            return Err(self.fault(span, format!("`channels`: two channels have one name, {}", shown(name))));
        }
        for channel in &mut channels {
            if let ChannelKind::Command { program, .. } = &mut channel.kind
                && program.components().count() > 1
            {
                *program = self.beside(&program.display().to_string());
            }
        }
        Ok(channels.into_iter().map(|channel| (channel, self.fault(value.span(), ""))).collect())
    }
}

fn read(table: &Json) -> Result<ChannelConfig, DecodeError> {
    #[derive(Clone, Copy)]
    enum Kind {
        Command,
        Webhook,
    }
    let reader = ObjectReader::new(table, "")?;
    let name = reader.text("name", 1, 64)?.to_owned();
    if matches!(name.as_str(), "inapp" | "sandbox") {
        return Err(reader.error("name", "must be another: this channel is there by itself"));
    }
    if name.trim() != name || name.chars().any(char::is_control) {
        return Err(reader.error("name", "must not begin or end with a blank, nor hold control characters"));
    }
    let kind = match reader.choice("kind", &[("command", Kind::Command), ("webhook", Kind::Webhook)])? {
        Kind::Command => ChannelKind::Command {
            program: PathBuf::from(without_nul(&reader, "program", reader.text("program", 1, 4_096)?)?),
            arguments: texts(&reader, "arguments")?,
            environment: environment(&reader)?,
            time_limit: Duration::from_secs(time_limit(&reader)?),
        },
        Kind::Webhook => ChannelKind::Webhook { secrets: reader.optional_text("secrets", 1, 128)?.map(str::to_owned) },
    };
    reader.finish()?;
    Ok(ChannelConfig { name, kind })
}

fn texts(reader: &ObjectReader<'_, '_>, name: &str) -> Result<Vec<String>, DecodeError> {
    let Some(array) = reader.optional_array(name)? else { return Ok(Vec::new()) };
    let text = |item: ValueReader<'_, '_>| {
        let text = item.string()?;
        if text == REDACTED {
            return Err(item.error("stands where an argument was; put the argument itself"));
        }
        without_nul(reader, name, text).map(str::to_owned)
    };
    array.items().map(text).collect()
}

/// No program can be handed what the system ends texts with.
fn without_nul<'t>(reader: &ObjectReader<'_, '_>, name: &str, text: &'t str) -> Result<&'t str, DecodeError> {
    if text.contains('\0') { Err(reader.error(name, "must not hold the character NUL")) } else { Ok(text) }
}

fn time_limit(reader: &ObjectReader<'_, '_>) -> Result<u64, DecodeError> {
    const MOST: u64 = 9;
    let Some(value) = reader.optional_value("time_limit_seconds") else { return Ok(MOST) };
    value.integer_within(1, 9).map(|seconds| u64::try_from(seconds).unwrap_or(MOST))
}

fn environment(reader: &ObjectReader<'_, '_>) -> Result<Vec<(String, String)>, DecodeError> {
    let Some(object) = reader.optional_object("environment")? else { return Ok(Vec::new()) };
    let mut variables = Vec::new();
    for name in object.json().keys() {
        let value = without_nul(reader, "environment", object.string(name)?)?;
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(reader.error("environment", "holds a name that no variable can have: empty, or with `=`"));
        }
        if value == REDACTED {
            return Err(reader.error("environment", "holds what stands where a value was; put the value itself"));
        }
        variables.push((name.to_owned(), value.to_owned()));
    }
    Ok(variables)
}

impl ChannelConfig {
    /// The lines of this channel in a file, arguments and values of variables redacted.
    pub(super) fn written(&self) -> Vec<(&'static str, Json)> {
        let mut lines = vec![("name", Json::from(self.name.as_str()))];
        match &self.kind {
            ChannelKind::Command { program, arguments, environment, time_limit } => {
                // How many there are, and no more: people put tokens there.
                let arguments = vec![Json::from(REDACTED); arguments.len()];
                lines.push(("kind", Json::from("command")));
                lines.push(("program", Json::from(program.display().to_string())));
                lines.push(("arguments", Json::from(arguments)));
                let names = environment.iter().map(|(name, _)| (name.clone(), Json::from(REDACTED)));
                lines.push(("environment", Json::Object(names.collect())));
                lines.push(("time_limit_seconds", Json::from(time_limit.as_secs())));
            }
            ChannelKind::Webhook { secrets } => {
                lines.push(("kind", Json::from("webhook")));
                lines.extend(secrets.as_deref().map(|secrets| ("secrets", Json::from(secrets))));
            }
        }
        lines
    }
}

impl std::fmt::Debug for ChannelKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Command { program, .. } => {
                formatter.debug_struct("Command").field("program", program).finish_non_exhaustive()
            }
            Self::Webhook { secrets } => formatter.debug_struct("Webhook").field("secrets", secrets).finish(),
        }
    }
}
