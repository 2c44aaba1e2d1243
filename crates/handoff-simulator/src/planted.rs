//! Faults that are planted on purpose (`handoff_protocol::planted`): what the simulator is worth is which of them it finds, and
//! how many seeds that takes.
//!
//! A process has one fault, so each is tried in a process of its own.

use std::{
    collections::BTreeMap,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use handoff_protocol::planted::{Fault, plant};

use crate::{plan::Plan, run::play, scheduler::lock};

/// How long a text of a violation may be in a table.
const SHOWN: usize = 110;

/// Which faults are tried, and how hard.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Faults that only the simulator can see: so many seeds each at the most.
    pub most: u64,
    /// Faults that show from outside as well: so many.
    pub most_shown: u64,
    /// About how many operations a seed has.
    pub operations: u64,
    /// How many are tried at once.
    pub jobs: usize,
    /// Only these, by name; all, if there are none.
    pub only: Vec<String>,
}

/// What came of a fault.
#[derive(Clone, Debug)]
pub struct Found {
    /// The fault.
    pub fault: Fault,
    /// After how many seeds something was wrong, and what; nothing, if nothing was.
    pub caught: Option<(u64, String)>,
    /// How many seeds were played.
    pub played: u64,
}

/// Plants a fault in this process and plays seeds until one finds it.
#[must_use]
pub fn until_caught(name: &str, most: u64, operations: u64) -> Option<(u64, String)> {
    plant(Fault::parse(name)?);
    (0..most).find_map(|seed| {
        let first = play(&Plan::new(seed, operations), false).violations.into_iter().next()?;
        Some((seed.saturating_add(1), first))
    })
}

/// Tries every fault; `tell` is told of each as it is known.
///
/// # Errors
///
/// There is no fault of a name, or this program cannot start itself.
pub fn every_fault(trial: &Trial, tell: impl Fn(&Found) + Sync) -> Result<Vec<Found>, String> {
    if let Some(name) = trial.only.iter().find(|name| Fault::parse(name).is_none()) {
        return Err(format!("there is no fault `{name}`"));
    }
    let wanted = |fault: &&Fault| trial.only.is_empty() || trial.only.iter().any(|name| name == fault.name());
    let faults: Vec<Fault> = Fault::PLAYED.iter().chain(Fault::ALL).filter(wanted).copied().collect();
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let (found, next) = (Mutex::new(BTreeMap::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..trial.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::SeqCst);
                    let Some(fault) = faults.get(place) else { return };
                    let most = if Fault::PLAYED.contains(fault) { trial.most } else { trial.most_shown };
                    let tried = Command::new(&program)
                        .args(["fault", fault.name(), "--most", &most.to_string()])
                        .args(["--operations", &trial.operations.to_string()])
                        .output();
                    let one = tried.map_err(|error| error.to_string()).and_then(|tried| {
                        let said = String::from_utf8_lossy(&tried.stdout).into_owned();
                        read(*fault, most, &said).ok_or(format!("`{}` came to no end: {said}", fault.name()))
                    });
                    if let Ok(one) = &one {
                        tell(one);
                    }
                    lock(&found).insert(place, one);
                }
            });
        }
    });
    found.into_inner().unwrap_or_default().into_values().collect()
}

/// What a process that tried one fault says of it.
#[must_use]
pub fn said(caught: Option<&(u64, String)>) -> String {
    match caught {
        Some((seeds, violation)) => format!("caught {seeds} {violation}"),
        None => "survived".to_owned(),
    }
}

fn read(fault: Fault, played: u64, said: &str) -> Option<Found> {
    let line = said.lines().last()?;
    if line == "survived" {
        return Some(Found { fault, caught: None, played });
    }
    let (seeds, violation) = line.strip_prefix("caught ")?.split_once(' ')?;
    let seeds = seeds.parse().ok()?;
    Some(Found { fault, caught: Some((seeds, violation.to_owned())), played: seeds })
}

/// The tables that the tree keeps: faults that only the simulator can see, and those that it sees as well as others.
#[must_use]
pub fn tables(found: &[Found]) -> String {
    let (played, shown): (Vec<&Found>, Vec<&Found>) = found.iter().partition(|one| Fault::PLAYED.contains(&one.fault));
    let (seen, unseen): (Vec<&Found>, Vec<&Found>) = shown.into_iter().partition(|one| one.caught.is_some());
    let names: Vec<String> = unseen.iter().map(|one| format!("`{}`", one.fault.name())).collect();
    let others = format!("\nLeft to conformance alone, {}: {}.\n", names.len(), names.join(", "));
    format!("{}\n{}{}", table(&played), table(&seen), if names.is_empty() { "" } else { &others })
}

fn table(found: &[&Found]) -> String {
    let mut text =
        String::from("| fault | rule | what it breaks | seeds | what was wrong first |\n|---|---|---|---|---|\n");
    for one in found {
        let (name, rule, breaks) = (one.fault.name(), one.fault.rule(), one.fault.breaks());
        let (seeds, wrong) = match &one.caught {
            Some((seeds, violation)) => (seeds.to_string(), shown(violation)),
            None => (format!("more than {}", one.played), "nothing".to_owned()),
        };
        text.push_str(&format!("| `{name}` | {rule} | {breaks} | {seeds} | {wrong} |\n"));
    }
    text
}

/// A violation without its ids and numbers, which are the seed's.
fn shown(violation: &str) -> String {
    let plain = |word: &str| {
        let is_id = word.len() > 20 && word.bytes().any(|byte| byte.is_ascii_digit());
        if is_id { "…".to_owned() } else { word.replace('|', "\\|") }
    };
    let words: Vec<String> = violation.split_whitespace().map(plain).collect();
    let text = words.join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
