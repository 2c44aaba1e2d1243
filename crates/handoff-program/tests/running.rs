//! Real programs: what they read, how they end, and that nothing of them is left behind.
#![cfg(unix)]

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use tokio::process::Command;

/// More than a pipe holds: a writer waits until somebody reads.
const MUCH: usize = 1 << 20;

/// Long enough for any machine; no test waits for it unless it fails.
const LONG: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

/// The number that a script wrote into a file, once it is there whole.
fn number_in(file: &Path) -> u32 {
    let began = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if let Some(number) = text.strip_suffix('\n').and_then(|line| line.parse().ok()) {
            return number;
        }
        assert!(began.elapsed() < LONG, "no number in {}", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process runs. One that ended and that nobody waited for yet does not.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn ends(pid: u32) -> bool {
    let began = Instant::now();
    while runs(pid) {
        if began.elapsed() > LONG {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[tokio::test]
async fn a_program_reads_the_whole_input_and_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("read");
    let text = "x".repeat(MUCH);
    let exit = handoff_program::run(&mut shell(&format!("cat > '{}'", file.display())), text.as_bytes()).await.unwrap();
    assert!(exit.success());
    assert_eq!(fs::read_to_string(file).unwrap(), text);
}

#[tokio::test]
async fn an_exit_counts_although_nobody_read_the_input_and_somebody_holds_it_open() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    // A shell gives what it puts into the background an empty input; this one keeps the pipe.
    let script = format!("exec 3<&0; sleep 600 <&3 & echo $! > '{}'; exit 0", file.display());
    let run = async { handoff_program::run(&mut shell(&script), &vec![b'x'; MUCH]).await };
    let exit = tokio::time::timeout(LONG, run).await.expect("the exit is seen").unwrap();
    assert!(exit.success());
    let helper = number_in(&file);
    assert!(runs(helper), "what a program that succeeded left at work stays at work");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(helper.cast_signed()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
}

#[tokio::test]
async fn what_is_given_up_ends_with_everything_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let (leader, helper) = (folder.path().join("leader"), folder.path().join("helper"));
    let script = format!("sleep 600 & echo $! > '{}'; echo $$ > '{}'; sleep 600", helper.display(), leader.display());
    let running = handoff_program::start(&mut shell(&script)).unwrap();
    let (leader, helper) = (number_in(&leader), number_in(&helper));
    assert!(runs(leader) && runs(helper));
    drop(running);
    assert!(ends(leader), "the program ends");
    assert!(ends(helper), "what it started ends");
}

#[tokio::test]
async fn what_a_program_that_failed_started_ends_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > '{}'; exit 3", file.display());
    assert_eq!(handoff_program::run(&mut shell(&script), b"").await.unwrap().code(), Some(3));
    assert!(ends(number_in(&file)));
}

#[tokio::test]
async fn a_program_that_prints_without_end_can_be_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("echo $$ > '{}'; exec yes", file.display());
    let running = handoff_program::start(&mut shell(&script)).unwrap();
    let pid = number_in(&file);
    drop(running);
    assert!(ends(pid));
}
