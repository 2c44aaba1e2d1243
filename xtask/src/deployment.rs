//! The files that a deployment is made from, read by the programs that know them: the Dockerfile and the unit of systemd.

use std::fs;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::run::{Run, show};
use crate::tools;

/// The unit, and the program that it starts, which the machine of a check does not have.
const UNIT: &str = "deploy/handoffd.service";
const PROGRAM: &str = "/usr/local/bin/handoffd";
const STAND_IN: &str = "/bin/true";

/// How exposed the unit may be at the most, in tenths of what `systemd-analyze security` says.
const EXPOSURE: &str = "20";

/// Lints both. What there is no program for is said in a line, and passes.
pub(crate) fn check(run: &Run) -> Result<(), Failure> {
    match tools::hadolint(run) {
        Some(hadolint) => show(&mut run.program(hadolint, &["--failure-threshold", "style", "Dockerfile"]))?,
        None => {
            println!("    hadolint is not on this machine and cannot be had from PyPI: the Dockerfile is not linted");
        }
    }
    if !tools::systemd_is_present(run) {
        println!("    systemd-analyze is not on this machine: the unit is not verified");
        return Ok(());
    }
    let copy = copy_of_unit(run)?;
    show(run.program("systemd-analyze", &["verify", "--man=no"]).arg(&copy))?;
    let security = ["security", "--offline=true", "--no-pager", "--threshold", EXPOSURE];
    crate::run::capture(run.program("systemd-analyze", &security).arg(&copy)).map(|said| {
        println!("    {}", said.lines().last().unwrap_or_default().trim_start_matches("→ "));
    })
}

/// The unit as it stands, with a program that is there in the place of ours.
fn copy_of_unit(run: &Run) -> Result<PathBuf, Failure> {
    let unit = run.root().join(UNIT);
    let text = fs::read_to_string(&unit).map_err(|source| Failure::Read { path: unit, source })?;
    let directory = run.target().join("deploy");
    let copy = directory.join("handoffd.service");
    let written = fs::create_dir_all(&directory).and_then(|()| fs::write(&copy, text.replace(PROGRAM, STAND_IN)));
    written.map_err(|source| Failure::Write { path: copy.clone(), source })?;
    Ok(copy)
}
