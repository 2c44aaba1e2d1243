//! Where the contract files are found.
//!
//! They belong to other projects and are never committed here. Tests that replay them look at `HANDOFF_CONTRACTS`
//! and then beside the workspace. We look first, so that a whole run says once what it will find, and hand the
//! answer on: a test that sees `HANDOFF_CONTRACTS` may rely on it.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// The variable that names the directory of the contracts.
const VARIABLE: &str = "HANDOFF_CONTRACTS";

/// Where they stand, seen from the workspace root, when nobody says otherwise.
const BESIDE: &str = "../shared/contracts";

/// The directory of the contracts, if they are on this machine.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Contracts(Option<PathBuf>);

impl Contracts {
    /// Finds the contracts. That they are not here is no fault.
    ///
    /// # Errors
    ///
    /// [`Failure::NoContracts`] when `HANDOFF_CONTRACTS` names no directory: who names them wants them used.
    pub(crate) fn find(root: &Path) -> Result<Self, Failure> {
        Self::find_named(root, env::var_os(VARIABLE).as_deref())
    }

    fn find_named(root: &Path, named: Option<&OsStr>) -> Result<Self, Failure> {
        let place = root.join(named.unwrap_or(OsStr::new(BESIDE)));
        // Absolute, because each test runs in the directory of its own package.
        match place.canonicalize() {
            Ok(place) if place.is_dir() => Ok(Self(Some(place))),
            _ if named.is_some() => Err(Failure::NoContracts(place)),
            _ => Ok(Self(None)),
        }
    }

    /// Tells a command where they are.
    pub(crate) fn hand_to<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        if let Some(place) = &self.0 {
            command.env(VARIABLE, place);
        }
        command
    }
}

impl fmt::Display for Contracts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(place) => write!(formatter, "contracts: found at {}", place.display()),
            None => write!(formatter, "contracts: not at {BESIDE} and {VARIABLE} is unset, so no test replays them"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn a_named_directory_is_made_absolute_and_handed_on() {
        let contracts = Contracts::find_named(here(), Some(OsStr::new("src/../src"))).expect("it is there");
        let source = here().canonicalize().expect("it is there").join("src");
        let mut command = Command::new("cargo");
        contracts.hand_to(&mut command);
        assert_eq!(command.get_envs().next(), Some((OsStr::new(VARIABLE), Some(source.as_os_str()))));
    }

    #[test]
    fn a_named_directory_that_is_missing_is_a_fault() {
        for named in ["nowhere", "Cargo.toml"] {
            let outcome = Contracts::find_named(here(), Some(OsStr::new(named)));
            assert!(matches!(outcome, Err(Failure::NoContracts(_))), "{named}");
        }
    }

    #[test]
    fn their_absence_is_one_line_and_no_fault() {
        let contracts = Contracts::find_named(&here().join("src"), None).expect("absence is no fault");
        assert_eq!(contracts, Contracts(None));
        assert_eq!(contracts.to_string().lines().count(), 1);
    }
}
