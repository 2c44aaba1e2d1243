//! The check that dependencies point downward, and that `handoff-protocol` stays free of input and output.

mod downward;
mod pure;

use crate::failure::{Failure, Findings};
use crate::layers::downward::Metadata;
use crate::run::{Run, capture};

/// The crate that holds the rules and nothing that touches the world.
const PURE: &str = "handoff-protocol";

/// Runs both checks and reports all that they find.
pub(crate) fn check(run: &Run) -> Result<(), Failure> {
    // Every platform: a dependency that only one platform has is a dependency.
    let mut tree = run.cargo(&["tree", "--package", PURE, "--edges", "normal", "--prefix", "none", "--target", "all"]);
    let mut findings = pure::find(PURE, &capture(&mut tree)?);
    let metadata = capture(&mut run.cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    findings.extend(downward::find(&Metadata::read(&metadata)?));
    Findings::judge(findings)
}
