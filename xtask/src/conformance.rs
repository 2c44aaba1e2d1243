//! The conformance suite against the server as it stands, and against one that gets things wrong on purpose.

use std::path::PathBuf;

use crate::failure::Failure;
use crate::run::{Run, show};

/// The deployments that the suite is run against: the arguments of each.
const DEPLOYMENTS: [&[&str]; 2] = [&["--level", "1"], &["--level", "2", "--link-only"]];

/// Where the case that each planted fault turned red is listed.
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

/// Builds a server that can have faults planted, beside the ordinary one, and plants each, until a case turns red. May
/// write the page that names them.
pub(crate) fn planted(run: &Run, write: bool) -> Result<(), Failure> {
    show(&mut run.cargo(&["build", "--package", "handoff-conformance"]))?;
    let directory = run.target().join("planted");
    let mut build = run.cargo(&["build"]);
    show(build.args(PLANTED).arg("--target-dir").arg(&directory))?;
    let mut command = runner(run, &["planted", "--until-red", "--server"]);
    command.arg(directory.join("debug/handoffd"));
    if write {
        command.args(["--write", PAGE]);
    }
    show(&mut command)
}

fn runner(run: &Run, arguments: &[&str]) -> std::process::Command {
    let program: PathBuf = run.target().join("debug/handoff-conformance");
    run.program(program, arguments)
}
