//! Thousands of orders of threads: what hands work to the stores' writers, and wakes to whoever waits, under shuttle.

use crate::failure::Failure;
use crate::run::{Run, show};

/// The crates with tests of this kind, which are modules of the name `shuttled` behind the feature `shuttle`.
const PLAYED: [&str; 3] = ["handoff-engine", "handoff-store-postgres", "handoff-store-sqlite"];

/// Builds each of these crates with shuttle's locks and channels, and plays.
pub(crate) fn play(run: &Run) -> Result<(), Failure> {
    // One after the other: a crate with shuttle's locks is of no use to the tests of another.
    PLAYED.iter().try_for_each(|name| {
        show(&mut run.cargo(&["test", "--lib", "--package", name, "--features", "shuttle", "shuttled"]))
    })
}
