//! How much of the rules and of the use cases the tests run: lines, counted by the compiler's own instrumentation.
//!
//! Only our own crates are instrumented: xtask stands before the compiler for them, and what they depend on is shared with
//! the tests. A profile can only be read by tools of the compiler's own LLVM or a newer one.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use serde::Deserialize;

use crate::contracts::Contracts;
use crate::failure::{Failure, Findings};
use crate::run::{Run, capture, show};

/// The crates whose lines are counted, and how many of a hundred their own tests must run. What only tests of other crates run is
/// not counted: a rule that nobody tests but a browser is not tested here.
const WANTED: [(&str, f64); 2] = [("handoff-protocol", 95.0), ("handoff-engine", 90.0)];

/// Says that xtask was called in place of the compiler.
const WRAPS: &str = "HANDOFF_XTASK_INSTRUMENTS";

/// Calls the compiler, instrumenting, if that is what xtask was called for.
pub(crate) fn instrument() -> Option<ExitCode> {
    env::var_os(WRAPS)?;
    let mut arguments = env::args_os().skip(1);
    let mut command = Command::new(arguments.next()?);
    command.args(arguments).args(["-C", "instrument-coverage"]);
    let ended_well = command.status().is_ok_and(|status| status.success());
    Some(if ended_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the tests, instrumented, and counts.
pub(crate) fn measure(run: &Run) -> Result<(), Failure> {
    let tools = Tools::find(run)?;
    let target = run.target().join("coverage");
    let profiles = target.join("profiles");
    if profiles.exists() {
        fs::remove_dir_all(&profiles).map_err(|source| Failure::Write { path: profiles.clone(), source })?;
    }
    let contracts = Contracts::find(run.root())?;
    let wrapper = env::current_exe().map_err(|source| Failure::Read { path: "xtask".into(), source })?;
    let cargo = |more: &[&str]| {
        let mut command = run.cargo(&["test", "--lib", "--bins", "--tests"]);
        WANTED.iter().for_each(|(name, _)| {
            command.args(["--package", name]);
        });
        command.args(more);
        command
            .env("RUSTC_WORKSPACE_WRAPPER", &wrapper)
            .env(WRAPS, "1")
            .env("CARGO_INCREMENTAL", "0")
            // One file a program, into which each of its processes adds what it ran.
            .env("LLVM_PROFILE_FILE", profiles.join("%m.profraw"));
        contracts.hand_to(&mut command);
        command
    };
    show(&mut cargo(&[]))?;
    let programs = programs(&capture(&mut cargo(&["--no-run", "--quiet", "--message-format=json"]))?)?;
    let merged = target.join("all.profdata");
    show(tools.command("llvm-profdata").args(["merge", "--sparse", "--output"]).arg(&merged).arg(&profiles))?;
    let mut export = tools.command("llvm-cov");
    export.args(["export", "--format=lcov", "--instr-profile"]).arg(&merged);
    for (place, program) in programs.iter().enumerate() {
        if place > 0 {
            export.arg("--object");
        }
        export.arg(program);
    }
    let lines = Lines::read(&capture(&mut export)?, run.root());
    judge(run.root(), &lines)
}

/// The tools that read profiles.
struct Tools {
    directory: PathBuf,
}

impl Tools {
    /// Those of the toolchain, if it has them, or of Debian's package of the compiler's LLVM.
    fn find(run: &Run) -> Result<Self, Failure> {
        let about = capture(&mut run.program("rustc", &["-vV"]))?;
        let of = |name: &str| about.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let major = of("LLVM version:").and_then(|version| version.split('.').next()).unwrap_or_default().to_owned();
        let sysroot = capture(&mut run.program("rustc", &["--print", "sysroot"]))?;
        let own = Path::new(sysroot.trim()).join("lib/rustlib").join(of("host:").unwrap_or_default()).join("bin");
        let places = [own, PathBuf::from(format!("/usr/lib/llvm-{major}/bin"))];
        let found = places
            .into_iter()
            .find(|place| ["llvm-profdata", "llvm-cov"].iter().all(|tool| place.join(tool).is_file()));
        found.map(|directory| Self { directory }).ok_or(Failure::NoLlvm(major))
    }

    fn command(&self, name: &str) -> Command {
        Command::new(self.directory.join(name))
    }
}

#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

/// The programs that cargo built, from its messages.
fn programs(messages: &str) -> Result<BTreeSet<PathBuf>, Failure> {
    let messages = messages.lines().filter(|line| line.starts_with('{')).map(serde_json::from_str::<Message>);
    let found: Result<Vec<Message>, _> = messages.collect();
    Ok(found.map_err(Failure::Metadata)?.into_iter().filter_map(|message| message.executable).collect())
}

/// How often each line was run, a file.
#[derive(Debug, Default, PartialEq)]
struct Lines(BTreeMap<String, BTreeMap<u32, u64>>);

impl Lines {
    /// Reads the lines of lcov's records; one that several programs have was run as often as in all of them.
    fn read(lcov: &str, root: &Path) -> Self {
        let mut lines = Self::default();
        let mut file = None;
        for record in lcov.lines() {
            if let Some(path) = record.strip_prefix("SF:") {
                file = Path::new(path).strip_prefix(root).ok().map(|path| path.to_string_lossy().into_owned());
            } else if let Some((number, times)) = record.strip_prefix("DA:").and_then(|rest| rest.split_once(','))
                && let Some(file) = &file
                && let (Ok(number), Ok(times)) = (number.parse::<u32>(), times.parse::<u64>())
            {
                let known = lines.0.entry(file.clone()).or_default().entry(number).or_default();
                *known = known.saturating_add(times);
            }
        }
        lines
    }
}

/// Says how much of each crate was run, names what was not, and fails where that is too much.
fn judge(root: &Path, lines: &Lines) -> Result<(), Failure> {
    let mut findings = Vec::new();
    for (name, wanted) in WANTED {
        let (mut all, mut run) = (0_usize, 0_usize);
        let mut files = Vec::new();
        for (file, numbers) in lines.0.iter().filter(|(file, _)| file.starts_with(&format!("crates/{name}/src/"))) {
            let Some(end) = end_of_code(root, file)? else { continue };
            let counted: Vec<(u32, u64)> =
                numbers.iter().filter(|(number, _)| **number < end).map(|(number, times)| (*number, *times)).collect();
            let missed: Vec<u32> = counted.iter().filter(|(_, times)| *times == 0).map(|(number, _)| *number).collect();
            all += counted.len();
            run += counted.len() - missed.len();
            if !missed.is_empty() {
                files.push((percent(counted.len() - missed.len(), counted.len()), file.clone(), missed));
            }
        }
        files.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
        let share = percent(run, all);
        for (share, file, missed) in &files {
            println!("    {share:5.1} %  {file}: {}", ranges(missed));
        }
        println!("    {name}: {run} of {all} lines, {share:.2} % (wanted: {wanted:.0} %)");
        if share < wanted {
            findings.push(format!("{name}: the tests run {share:.2} % of the lines, and {wanted:.0} % are wanted"));
        }
    }
    Findings::judge(findings)
}

#[expect(clippy::cast_precision_loss, reason = "no crate has so many lines that it would show")]
fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// The line at which the tests within a file begin; nothing for a file that is a test as a whole.
fn end_of_code(root: &Path, file: &str) -> Result<Option<u32>, Failure> {
    if file.contains("/tests/") || file.ends_with("/tests.rs") {
        return Ok(None);
    }
    let path = root.join(file);
    let text = fs::read_to_string(&path).map_err(|source| Failure::Read { path, source })?;
    let mut rest = text.lines().zip(1_u32..).peekable();
    while let Some((line, number)) = rest.next() {
        if line == "#[cfg(test)]"
            && rest.peek().is_some_and(|(next, _)| next.starts_with("mod ") && next.ends_with('{'))
        {
            return Ok(Some(number));
        }
    }
    Ok(Some(u32::MAX))
}

/// Numbers as people write them: `3, 5–8`.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let written =
        parts.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") });
    written.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_several_programs_have_are_counted_together() {
        let lcov = "SF:/r/a.rs\nDA:1,0\nDA:2,3\nend_of_record\nSF:/elsewhere/b.rs\nDA:1,1\nend_of_record\nSF:/r/a.rs\nDA:1,2\n";
        let lines = Lines::read(lcov, Path::new("/r"));
        assert_eq!(lines.0, BTreeMap::from([("a.rs".to_owned(), BTreeMap::from([(1, 2), (2, 3)]))]));
    }

    #[test]
    fn tests_within_a_file_are_no_code() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let end = end_of_code(root, "src/coverage.rs").expect("this file can be read").expect("it is code");
        let text = fs::read_to_string(root.join("src/coverage.rs")).expect("this file can be read");
        assert_eq!(text.lines().nth(end as usize), Some("mod tests {"));
        assert_eq!(end_of_code(root, "src/tests/a.rs").expect("nothing is read"), None);
    }

    #[test]
    fn numbers_that_follow_each_other_are_written_as_one() {
        assert_eq!(ranges(&[3, 5, 6, 7, 9]), "3, 5-7, 9");
    }
}
