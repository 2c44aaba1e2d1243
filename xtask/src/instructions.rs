//! How many instructions a raise, an answer and a verification take, held against what was recorded.
//!
//! Times depend on what else the machine does; instructions do not, so a change that costs is seen on any machine. Each
//! operation is run twice under cachegrind, few times and many times, and the difference is the operation alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use crate::failure::{Failure, Findings};
use crate::run::{Run, show};

/// What is counted: its name, how often in the short run and in the long one, and how many it stands for.
const OPERATIONS: [(&str, u64, u64, u64); 3] = [("raise", 50, 250, 1), ("answer", 50, 250, 1), ("verify", 1, 3, 100)];

/// Where the counts are recorded.
const RECORD: &str = "crates/handoff-bench/instructions.json";

/// How many percent more than recorded is a fault.
const TOLERANCE: u64 = 5;

/// The counts by operation.
type Counts = BTreeMap<String, u64>;

/// Counts, and compares with the record.
pub(crate) fn check(run: &Run) -> Result<(), Failure> {
    let path = run.root().join(RECORD);
    let text = fs::read_to_string(&path).map_err(|source| Failure::Read { path, source })?;
    let recorded: Counts = serde_json::from_str(&text).map_err(Failure::Record)?;
    let counted = count(run)?;
    for (name, instructions) in &counted {
        let before = recorded.get(name).map_or_else(|| "nothing".to_owned(), u64::to_string);
        println!("    {name}: {instructions} instructions, {before} recorded");
    }
    Findings::judge(compare(&recorded, &counted))
}

/// Counts, and writes the record anew.
pub(crate) fn record(run: &Run) -> Result<(), Failure> {
    let counted = count(run)?;
    let path: PathBuf = run.root().join(RECORD);
    let text = serde_json::to_string_pretty(&counted).map_err(Failure::Record)?;
    fs::write(&path, text + "\n").map_err(|source| Failure::Write { path, source })?;
    for (name, instructions) in counted {
        println!("    {name}: {instructions} instructions");
    }
    Ok(())
}

fn count(run: &Run) -> Result<Counts, Failure> {
    show(&mut run.cargo(&["build", "--release", "--package", "handoff-bench", "--example", "instructions"]))?;
    let program = run.target().join("release/examples/instructions");
    OPERATIONS
        .iter()
        .map(|(name, few, many, stands_for)| {
            let short = instructions(run, &program, name, *few)?;
            let long = instructions(run, &program, name, *many)?;
            let times = many.saturating_sub(*few).saturating_mul(*stands_for).max(1);
            Ok(((*name).to_owned(), long.saturating_sub(short) / times))
        })
        .collect()
}

/// How many instructions a whole run executes.
fn instructions(run: &Run, program: &std::path::Path, operation: &str, times: u64) -> Result<u64, Failure> {
    let times = times.to_string();
    let mut command =
        run.program("valgrind", &["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(program).args([operation, &times]);
    let output = command
        .stdout(Stdio::null())
        .output()
        .map_err(|source| Failure::Start { command: "valgrind (of the package of that name)".to_owned(), source })?;
    let said = String::from_utf8_lossy(&output.stderr);
    match read_count(&said) {
        Some(count) if output.status.success() => Ok(count),
        _ => Err(Failure::Ended { command: format!("valgrind instructions {operation}"), status: output.status }),
    }
}

/// Reads `I   refs:      904,506,133`, as older releases write it, or `I refs:`, as newer ones do.
fn read_count(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("refs:") && line.split_whitespace().any(|word| word == "I"))?;
    let (_, number) = line.split_once("refs:")?;
    number.trim().replace(',', "").parse().ok()
}

/// A line for each operation that takes more than it may, or that one of the two does not know.
fn compare(recorded: &Counts, counted: &Counts) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, now) in counted {
        match recorded.get(name) {
            None => findings.push(format!("{name} is not in {RECORD}; run `cargo xtask instructions --record`")),
            Some(before) if now.saturating_mul(100) > before.saturating_mul(100 + TOLERANCE) => {
                findings.push(format!(
                    "{name} takes {now} instructions, {before} are recorded; make it cheaper, or record"
                ));
            }
            Some(_) => {}
        }
    }
    for name in recorded.keys().filter(|name| !counted.contains_key(*name)) {
        findings.push(format!("{name} is recorded and no longer counted"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: &[(&str, u64)]) -> Counts {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn five_percent_more_passes_and_any_more_does_not() {
        let recorded = counts(&[("raise", 1000)]);
        for (now, faults) in [(900, 0), (1050, 0), (1051, 1)] {
            assert_eq!(compare(&recorded, &counts(&[("raise", now)])).len(), faults, "{now}");
        }
    }

    #[test]
    fn what_only_one_side_knows_is_a_fault() {
        assert_eq!(compare(&counts(&[("raise", 1)]), &counts(&[("answer", 1)])).len(), 2);
    }

    #[test]
    fn what_valgrind_says_is_understood() {
        let old = "==1== Cachegrind\n==1== I   refs:      904,506,133\n";
        assert_eq!(read_count(old), Some(904_506_133));
        assert_eq!(read_count("==1== I refs:        12\n"), Some(12));
        assert_eq!(read_count("==1== nothing\n"), None);
    }

    #[test]
    fn every_operation_is_recorded() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(RECORD);
        let recorded: Counts = serde_json::from_str(&fs::read_to_string(path).expect("it is part of the tree"))
            .expect("it is a table of counts");
        assert!(OPERATIONS.iter().all(|(name, ..)| recorded.contains_key(*name)));
        assert_eq!(recorded.len(), OPERATIONS.len());
    }
}
