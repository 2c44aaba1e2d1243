//! The conformance suite against the server as it stands, and against one that gets things wrong on purpose.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::run::{Run, show};

/// The deployments that the suite is run against: the arguments of each.
const DEPLOYMENTS: [&[&str]; 2] = [&["--level", "1"], &["--level", "2", "--link-only"]];

/// Where the cases that each planted fault turns red are listed.
const PAGE: &str = "conformance/planted-faults.md";

/// The package and the feature of a server that can have faults planted.
const PLANTED: [&str; 4] = ["--package", "handoff-server", "--features", "planted-faults"];

/// Builds the server and the runner, and runs the whole suite at both levels, each in a deployment that vanishes.
pub(crate) fn check(run: &Run) -> Result<(), Failure> {
    show(&mut run.cargo(&["build", "--package", "handoff-server", "--package", "handoff-conformance"]))?;
    let server = run.target().join("debug/handoffd");
    DEPLOYMENTS.iter().try_for_each(|deployment| {
        let mut command = runner(run, &["local"]);
        show(command.args(*deployment).arg("--server").arg(&server))
    })
}

/// Builds a server that can have faults planted, beside the ordinary one, and plants each. The long way notes every case
/// that turns red and writes the page; the short way ends with the first of each fault.
pub(crate) fn planted(run: &Run, write: bool) -> Result<(), Failure> {
    show(&mut run.cargo(&["build", "--package", "handoff-conformance"]))?;
    let directory = run.target().join("planted");
    let mut build = run.cargo(&["build"]);
    show(build.args(PLANTED).arg("--target-dir").arg(&directory))?;
    let mut command = runner(run, &["planted", "--server"]);
    command.arg(directory.join("debug/handoffd"));
    let how: &[&str] = if write { &["--write", PAGE] } else { &["--until-red"] };
    show(command.args(how))
}

fn runner(run: &Run, arguments: &[&str]) -> std::process::Command {
    let program: PathBuf = run.target().join("debug/handoff-conformance");
    run.program(program, arguments)
}
