//! What the pages are looked at with: Chromium, and the rules of axe.
//!
//! Chromium is the system's. The rules are another project's under another licence, so they are never committed: npm
//! fetches the release that is pinned here into the target directory, and holds it to the digest that is pinned beside it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::run::{Run, show};

/// The release of the rules.
const AXE: &str = "4.14.1";

/// The digest of that release, as npm's registry published it.
const AXE_INTEGRITY: &str =
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==";

/// The variable that names Chromium.
const CHROMIUM_VARIABLE: &str = "HANDOFF_CHROMIUM";

/// The variable that tells the tests where the rules are.
const AXE_VARIABLE: &str = "HANDOFF_AXE";

/// What Chromium is called where it is installed.
const CHROMIUM_NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// What there is to look with on this machine.
#[derive(Debug)]
pub(crate) struct Browser {
    chromium: Option<PathBuf>,
    axe: Option<PathBuf>,
}

impl Browser {
    /// Finds Chromium, and the rules of axe, which are fetched when they are missing. What is not to be had is said in a
    /// line, and is no fault but in continuous integration.
    ///
    /// # Errors
    ///
    /// [`Failure::NoBrowser`] in continuous integration, and whatever npm says.
    pub(crate) fn find(run: &Run) -> Result<Self, Failure> {
        let must_be_there = env::var_os("CI").is_some();
        let named = env::var_os(CHROMIUM_VARIABLE).filter(|named| !named.is_empty());
        let chromium = named.map(PathBuf::from).or_else(|| on_path(&CHROMIUM_NAMES));
        if chromium.is_none() {
            if must_be_there {
                return Err(Failure::NoBrowser("Chromium"));
            }
            println!("    there is no Chromium, so no test looks at the pages; install Debian's package `chromium`");
        }
        let axe = if chromium.is_some() { Self::axe(run, must_be_there)? } else { None };
        Ok(Self { chromium, axe })
    }

    fn axe(run: &Run, must_be_there: bool) -> Result<Option<PathBuf>, Failure> {
        let home = target(run).join(format!("axe-core-{AXE}"));
        let rules = home.join("node_modules/axe-core/axe.min.js");
        if rules.is_file() {
            return Ok(Some(rules));
        }
        if on_path(&["npm"]).is_none() {
            if must_be_there {
                return Err(Failure::NoBrowser("npm, which fetches the rules of axe,"));
            }
            println!("    there is no npm to fetch axe-core with, so no page is held to its rules");
            return Ok(None);
        }
        write(&home, "package.json", &manifest())?;
        write(&home, "package-lock.json", &lock())?;
        let mut npm = run.program("npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        show(npm.current_dir(&home).stdin(Stdio::null()))?;
        Ok(Some(rules))
    }

    /// The program, for a command that cannot do without.
    ///
    /// # Errors
    ///
    /// [`Failure::NoBrowser`].
    pub(crate) fn chromium(&self) -> Result<&Path, Failure> {
        self.chromium.as_deref().ok_or(Failure::NoBrowser("Chromium"))
    }

    /// Tells a command where they are.
    pub(crate) fn hand_to<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        for (variable, place) in [(CHROMIUM_VARIABLE, &self.chromium), (AXE_VARIABLE, &self.axe)] {
            if let Some(place) = place {
                command.env(variable, place);
            }
        }
        command
    }
}

/// The directory that builds go to, absolute, since each test runs in the directory of its own package.
fn target(run: &Run) -> PathBuf {
    run.root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target")))
}

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let places = env::split_paths(&path).flat_map(|place| names.iter().map(move |name| place.join(name)));
    places.into_iter().find(|program| program.is_file())
}

fn write(home: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = home.join(name);
    let written = fs::create_dir_all(home).and_then(|()| fs::write(&path, text));
    written.map_err(|source| Failure::Write { path, source })
}

fn manifest() -> String {
    format!(r#"{{"private":true,"dependencies":{{"axe-core":"{AXE}"}}}}"#)
}

/// With a lock file npm takes what has this digest and nothing else.
fn lock() -> String {
    format!(
        r#"{{"lockfileVersion":3,"requires":true,"packages":{{"":{{"dependencies":{{"axe-core":"{AXE}"}}}},
"node_modules/axe-core":{{"version":"{AXE}","resolved":"https://registry.npmjs.org/axe-core/-/axe-core-{AXE}.tgz","integrity":"{AXE_INTEGRITY}","dev":false}}}}}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_npm_is_given_is_json_and_pins_the_release_with_its_digest() {
        for text in [manifest(), lock()] {
            let read: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
            assert!(read.to_string().contains(AXE));
        }
        assert!(lock().contains(AXE_INTEGRITY));
    }

    #[test]
    fn the_gate_installs_what_the_pages_are_looked_at_with() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/run");
        let script = fs::read_to_string(script).expect("the script is part of the tree");
        assert!(script.contains(" chromium npm;"));
    }
}
