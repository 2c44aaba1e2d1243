//! Who is reached, how and when; and the bodies of passing a request on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Assignee;
use crate::{
    decision::{limits, terms::Grade},
    duration::ExactDuration,
};

/// Who is reached; what is left out is for the server to choose.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RoutingRequest")]
#[non_exhaustive]
pub struct RoutingSpec {
    /// Whom rungs reach that name nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::ASSIGNEES))]
    pub targets: Vec<Assignee>,
    /// The rungs, by time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::RUNGS))]
    pub ladder: Vec<RungSpec>,
}

/// One rung.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RungRequest")]
pub struct RungSpec {
    /// How long after the raise.
    pub after: ExactDuration,
    /// Through which channels.
    #[schemars(length(min = 1, max = limits::RUNG_CHANNELS), inner(length(min = 1, max = limits::CHANNEL_CHARS)))]
    pub channels: Vec<String>,
    /// Whom it reaches, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Assignee>,
}

/// Which rung fires now.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EscalateRequest")]
pub struct EscalateBody {
    /// Its number, from 0; the next where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rung: Option<u32>,
}

/// Who is asked instead.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReassignRequest")]
pub struct ReassignBody {
    /// Who, and who may answer from now on.
    pub to: Assignee,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::REASON_CHARS))]
    pub reason: Option<String>,
}

/// How far a delivery got, by whoever has the evidence.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GradeRequest")]
pub struct GradeBody {
    /// `delivered` or `seen`.
    pub grade: ReportedGrade,
}

/// The grades that can be reported.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedGrade {
    /// It arrived.
    Delivered,
    /// It was opened by somebody who was authenticated.
    Seen,
}

impl RoutingSpec {
    /// Adds somebody whom rungs reach that name nobody.
    #[must_use]
    pub fn target(mut self, target: Assignee) -> Self {
        self.targets.push(target);
        self
    }

    /// Adds a rung through channels.
    #[must_use]
    pub fn rung<C: Into<String>>(mut self, after: ExactDuration, channels: impl IntoIterator<Item = C>) -> Self {
        let channels = channels.into_iter().map(Into::into).collect();
        self.ladder.push(RungSpec { after, channels, to: None });
        self
    }
}

impl From<ReportedGrade> for Grade {
    fn from(grade: ReportedGrade) -> Self {
        match grade {
            ReportedGrade::Delivered => Self::Delivered,
            ReportedGrade::Seen => Self::Seen,
        }
    }
}
