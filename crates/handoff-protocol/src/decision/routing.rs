//! Routing: who is reached, through which channels, and when (rule V-10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{channels, limits, target::Target};
use crate::{
    duration::ExactDuration,
    json::{DecodeError, Json, ObjectReader},
};

/// The ladder of a request, resolved at its raise and kept as it was then.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Routing {
    /// Who is reached unless a rung says otherwise.
    #[schemars(length(max = limits::ASSIGNEES))]
    pub targets: Vec<Target>,
    /// The rungs, by time.
    #[schemars(length(max = limits::RUNGS))]
    pub ladder: Vec<Rung>,
}

/// One rung of a ladder.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Rung {
    /// How long after the raise.
    pub after: ExactDuration,
    /// Through which channels.
    #[schemars(length(min = 1, max = limits::RUNG_CHANNELS), inner(length(max = limits::CHANNEL_CHARS)))]
    pub channels: Vec<String>,
    /// Whom this rung reaches, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Target>,
}

/// What a raise or a policy says of routing; what it leaves out comes from elsewhere.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RoutingAsk {
    /// Who is reached.
    pub targets: Option<Vec<Target>>,
    /// The rungs.
    pub ladder: Option<Vec<Rung>>,
}

impl Routing {
    /// The ladder of a deployment that says nothing else (rule V-10): the page at once, mail after five minutes, a chat
    /// after fifteen, to anybody.
    #[must_use]
    pub fn starter() -> Self {
        let rung = |minutes: u64, channel: &str| Rung {
            after: ExactDuration::from_minutes(minutes),
            channels: vec![channel.to_owned()],
            to: None,
        };
        Self {
            targets: vec![Target::anyone()],
            ladder: vec![rung(0, channels::IN_APP), rung(5, "email"), rung(15, "slack")],
        }
    }

    /// The same ladder for what is raised to try things out: its rungs come when they would, and reach nobody.
    #[must_use]
    pub(super) fn in_sandbox(mut self) -> Self {
        for rung in &mut self.ladder {
            rung.channels = vec![channels::SANDBOX.to_owned()];
        }
        self
    }

    /// How many deliveries a rung makes before places become people: one for each of its channels and targets. None for a
    /// number that has no rung.
    #[must_use]
    pub fn rows(&self, number: u32) -> usize {
        self.rung(number).map_or(0, |rung| self.rows_of(rung))
    }

    /// How many all of its rungs make together.
    #[must_use]
    pub fn all_rows(&self) -> usize {
        self.ladder.iter().map(|rung| self.rows_of(rung)).fold(0, usize::saturating_add)
    }

    fn rows_of(&self, rung: &Rung) -> usize {
        let targets = if rung.to.is_some() { 1 } else { self.targets.len() };
        rung.channels.len().saturating_mul(targets)
    }

    /// Refuses a ladder that makes more deliveries than a request can keep: the last of them would reach nobody. Gives the
    /// problem, for whoever knows which member brought it.
    pub(super) fn check_rows(&self) -> Result<(), String> {
        let rows = self.all_rows();
        if rows <= limits::DELIVERIES {
            return Ok(());
        }
        Err(format!(
            "must come to {} deliveries at the most, over all rungs, channels and targets together, and comes to {rows}; \
             name a group in place of its people, or fewer channels",
            limits::DELIVERIES
        ))
    }

    /// A rung by its number, from 0.
    #[must_use]
    pub fn rung(&self, number: u32) -> Option<&Rung> {
        usize::try_from(number).ok().and_then(|number| self.ladder.get(number))
    }
}

impl RoutingAsk {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_none() && self.ladder.is_none()
    }

    /// Whether a `routing` says anything, before it is read: an empty list says as little as one that is left out.
    pub(super) fn is_said(routing: Option<&Json>) -> bool {
        let says = |name| match routing.and_then(|routing| routing.get(name)) {
            None | Some(Json::Null) => false,
            Some(value) => value.as_array().is_none_or(|items| !items.is_empty()),
        };
        says("targets") || says("ladder")
    }

    /// Reads a `routing`. An empty list says nothing.
    pub(super) fn read(reader: ObjectReader<'_, '_>) -> Result<Self, DecodeError> {
        let routing = Self { targets: read_targets(&reader, "targets")?, ladder: read_ladder(&reader)? };
        reader.finish()?;
        Ok(routing)
    }
}

/// Reads a list of targets; nothing for one that is empty.
pub(super) fn read_targets(reader: &ObjectReader<'_, '_>, name: &str) -> Result<Option<Vec<Target>>, DecodeError> {
    let Some(array) = reader.optional_array(name)? else { return Ok(None) };
    array.count_within(0, limits::ASSIGNEES)?;
    let targets = array.items().map(|item| Target::read(item.object()?)).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(targets).filter(|targets| !targets.is_empty()))
}

fn read_ladder(reader: &ObjectReader<'_, '_>) -> Result<Option<Vec<Rung>>, DecodeError> {
    let Some(array) = reader.optional_array("ladder")? else { return Ok(None) };
    array.count_within(0, limits::RUNGS)?;
    let mut rungs: Vec<Rung> = Vec::with_capacity(array.len());
    for item in array.items() {
        let rung = read_rung(item.object()?)?;
        if rungs.last().is_some_and(|before| before.after > rung.after) {
            return Err(DecodeError::at(item.path().key("after"), "must not be earlier than that of the rung before"));
        }
        rungs.push(rung);
    }
    Ok(Some(rungs).filter(|rungs| !rungs.is_empty()))
}

fn read_rung(reader: ObjectReader<'_, '_>) -> Result<Rung, DecodeError> {
    let after = super::raise::duration(&reader, "after")?.ok_or_else(|| reader.error("after", "is required"))?;
    let channels = read_channels(&reader)?;
    let to = reader.optional_object("to")?.map(Target::read).transpose()?;
    reader.finish()?;
    Ok(Rung { after, channels, to })
}

/// Reads `channels`: names, at least one and not too many, each once.
pub(super) fn read_channels(reader: &ObjectReader<'_, '_>) -> Result<Vec<String>, DecodeError> {
    let array = reader.array("channels")?;
    if array.is_empty() {
        return Err(array.error("must name at least one channel"));
    }
    array.count_within(1, limits::RUNG_CHANNELS)?;
    let mut names: Vec<String> = Vec::with_capacity(array.len());
    for item in array.items() {
        let name = item.text(1, limits::CHANNEL_CHARS)?;
        if name.chars().any(char::is_control) {
            return Err(item.error("must be the name of a channel, without control characters"));
        }
        if names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}
