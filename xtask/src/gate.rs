//! The steps of the gate, in order, and the command behind each.
//!
//! [`verify`] is what `.ci/run` does after its packages, and a test holds the two together. Neither writes to the
//! tree; [`fix`] and [`spec`] do, and check nothing.

use crate::browser::Browser;
use crate::conformance::{self, Store};
use crate::contracts::Contracts;
use crate::coverage;
use crate::deployment;
use crate::failure::Failure;
use crate::instructions;
use crate::interleavings;
use crate::layers;
use crate::postgres::Postgres;
use crate::run::{Run, show};
use crate::simulation;
use crate::specification;
use crate::text;
use crate::tools;

/// A step of the gate.
type Step = fn(&mut Run) -> Result<(), Failure>;

/// The gate: each step's name on the command line, and what it does.
const GATE: [(&str, Step); 8] = [
    ("test", test),
    ("format", format),
    ("lint", lint),
    ("docs", docs),
    ("deny", deny),
    ("deploy", deploy),
    ("rules", rules),
    ("text", text),
];

/// Runs the whole gate and stops at the first step that fails.
pub(crate) fn verify(run: &mut Run) -> Result<(), Failure> {
    GATE.iter().try_for_each(|(_, step)| step(run))
}

/// Checks the layers, then runs the doc tests, every test of the workspace, and the seeds of the simulator.
///
/// The tests come after the examples, so that the summary of their runner is what one sees at the end, and they run when an example
/// in the documentation failed, too.
pub(crate) fn test(run: &mut Run) -> Result<(), Failure> {
    layers(run)?;
    let contracts = Contracts::find(run.root())?;
    println!("    {contracts}");
    let browser = Browser::find(run)?;
    let postgres = Postgres::start(run)?;
    let examples = run.step("doc tests", |run| {
        let mut command = run.cargo(&["test", "--workspace", "--doc", "--no-fail-fast"]);
        show(contracts.hand_to(&mut command))
    });
    run.step("tests", |run| {
        let runner: &[&str] = if tools::nextest_is_present(run) {
            &["nextest", "run", "--workspace", "--all-targets", "--no-fail-fast"]
        } else {
            println!("    cargo-nextest is not installed: cargo's own runner does as well, only slower");
            &["test", "--workspace", "--all-targets", "--no-fail-fast"]
        };
        let mut command = run.cargo(runner);
        show(postgres.hand_to(browser.hand_to(contracts.hand_to(&mut command))))
    })?;
    run.step("simulation", simulation::few)?;
    examples
}

/// Checks that dependencies point downward and that the rules stay pure.
pub(crate) fn layers(run: &mut Run) -> Result<(), Failure> {
    run.step("layers", layers::check)
}

/// Checks the format and changes nothing.
pub(crate) fn format(run: &mut Run) -> Result<(), Failure> {
    run.step("format", |run| show(&mut run.cargo(&["fmt", "--all", "--check"])))
}

/// Runs clippy over every target, and over the builds that faults can be planted in.
pub(crate) fn lint(run: &mut Run) -> Result<(), Failure> {
    run.step("lint", |run| {
        show(&mut run.cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
        let planted = ["clippy", "--package", "handoff-server", "--package", "handoff-simulator", "--all-targets"];
        let features = ["--features", "handoff-server/planted-faults,handoff-simulator/planted-faults"];
        show(run.cargo(&planted).args(features).args(["--", "--deny", "warnings"]))
    })
}

/// Builds the documentation.
pub(crate) fn docs(run: &mut Run) -> Result<(), Failure> {
    run.step("docs", |run| {
        let mut command = run.cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
        show(command.env("RUSTDOCFLAGS", "-D warnings"))
    })
}

/// Checks licences, banned crates and sources.
pub(crate) fn deny(run: &mut Run) -> Result<(), Failure> {
    run.step("deny", |run| {
        tools::provide_cargo_deny(run)?;
        show(&mut run.cargo(&["deny", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]))
    })
}

/// Lints the files that a deployment is made from.
pub(crate) fn deploy(run: &mut Run) -> Result<(), Failure> {
    run.step("deploy", deployment::check)
}

/// Checks that each rule of the specification is implemented and tested where it says.
pub(crate) fn rules(run: &mut Run) -> Result<(), Failure> {
    run.step("rules", specification::check)
}

/// Checks the text of the tree.
pub(crate) fn text(run: &mut Run) -> Result<(), Failure> {
    run.step("text", text::check)
}

/// Rewrites what can be rewritten; the format comes last, because clippy's suggestions leave it crooked.
pub(crate) fn fix(run: &mut Run) -> Result<(), Failure> {
    run.step("clippy's suggestions", |run| {
        show(&mut run.cargo(&["clippy", "--workspace", "--all-targets", "--fix", "--allow-dirty", "--allow-staged"]))
    })?;
    run.step("format", |run| show(&mut run.cargo(&["fmt", "--all"])))
}

/// Writes what is made in `spec/` anew; a test and the step `rules` fail while the tree's is another.
pub(crate) fn spec(run: &mut Run) -> Result<(), Failure> {
    run.step("spec", |run| {
        show(&mut run.cargo(&["run", "--quiet", "--package", "handoff-http", "--example", "spec", "--", "spec"]))?;
        specification::write_map(run)
    })
}

/// Runs the long tests: the ignored ones, in release mode, told by `HANDOFF_FULL` to take their full length. Then plays
/// many seeds and every crash point, runs the conformance suite, without faults and with each, and counts instructions,
/// which needs valgrind.
///
/// Doc tests are not among them: an ignored doc test is an example that cannot run.
pub(crate) fn full(run: &mut Run) -> Result<(), Failure> {
    let contracts = Contracts::find(run.root())?;
    println!("    {contracts}");
    let browser = Browser::find(run)?;
    let postgres = Postgres::start(run)?;
    println!("    the long tests are those marked as ignored; together they may take hours");
    run.step("long tests", |run| {
        let long =
            ["test", "--release", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast", "--", "--ignored"];
        let mut command = run.cargo(&long);
        show(postgres.hand_to(browser.hand_to(contracts.hand_to(command.env("HANDOFF_FULL", "1")))))
    })?;
    run.step("many seeds", simulation::many)?;
    run.step("crash points", simulation::crash)?;
    run.step("interleavings", interleavings::play)?;
    run.step("coverage", coverage::measure)?;
    conformance(run, Store::Both)?;
    planted(run, false)?;
    instructions(run)
}

/// Runs the conformance suite against a disposable server, at both levels.
pub(crate) fn conformance(run: &mut Run, store: Store) -> Result<(), Failure> {
    run.step("conformance", |run| conformance::check(run, store))
}

/// Plants one fault after the other, and sees that each turns a case of the suite red.
pub(crate) fn planted(run: &mut Run, write: bool) -> Result<(), Failure> {
    run.step("planted faults", |run| conformance::planted(run, write))
}

/// Counts the instructions of what is done most, and holds them against the record.
pub(crate) fn instructions(run: &mut Run) -> Result<(), Failure> {
    run.step("instructions", instructions::check)
}

/// Takes pictures of every page.
pub(crate) fn screenshots(run: &mut Run) -> Result<(), Failure> {
    let browser = Browser::find(run)?;
    browser.chromium()?;
    run.step("screenshots", |run| {
        let mut command = run.cargo(&["run", "--quiet", "--package", "handoff-web", "--example", "screenshots"]);
        show(browser.hand_to(&mut command))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::GATE;

    #[test]
    fn continuous_integration_runs_the_gate_step_by_step() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/run");
        let script = fs::read_to_string(script).expect("the script is part of the tree");
        let steps: Vec<&str> = script
            .lines()
            .filter_map(|line| line.strip_prefix("step ")?.split_once(" cargo xtask ")?.1.split_whitespace().next())
            .collect();
        assert_eq!(steps, GATE.map(|(name, _)| name));
    }
}
