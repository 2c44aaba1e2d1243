//! What a process has used, from `/proc`.

use std::{fs, time::Duration};

/// Clock ticks a second in `/proc`: fixed for programs, whatever the kernel counts in.
const TICKS: u64 = 100;

/// Time on a processor, both of the program and of the kernel on its behalf; none where there is no `/proc`.
pub(crate) fn processor_time(process: Option<u32>) -> Option<Duration> {
    ticks(process, 11)
}

/// Time on a processor of all programs that this one started and waited for.
pub(crate) fn processor_time_of_children() -> Option<Duration> {
    ticks(None, 13)
}

/// Time on a processor of a process, of all that it started, and of those among them that have ended: a database with its
/// connections.
pub(crate) fn processor_time_of_family(process: u32) -> Option<Duration> {
    let own = ticks(Some(process), 11)?.saturating_add(ticks(Some(process), 13)?);
    let running = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let children = running.filter(|other| parent(*other) == Some(process));
    Some(children.filter_map(|child| ticks(Some(child), 11)).fold(own, Duration::saturating_add))
}

/// Who started a process.
fn parent(process: u32) -> Option<u32> {
    let text = fs::read_to_string(place(Some(process), "stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// The sum of a field and the next, counted from behind the program's name.
fn ticks(process: Option<u32>, field: usize) -> Option<Duration> {
    let text = fs::read_to_string(place(process, "stat")).ok()?;
    // The name before may hold anything; what follows its bracket is numbers.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(field);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system).saturating_mul(1000 / TICKS)))
}

/// Bytes of memory in use.
pub(crate) fn memory(process: Option<u32>) -> Option<u64> {
    let text = fs::read_to_string(place(process, "status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

fn place(process: Option<u32>, file: &str) -> String {
    process.map_or_else(|| format!("/proc/self/{file}"), |id| format!("/proc/{id}/{file}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_uses_memory_and_time() {
        assert!(memory(None).unwrap() > 100_000);
        let before = processor_time(None).unwrap();
        while processor_time(None).unwrap() == before {}
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_family_has_used_what_its_children_used() {
        let this = std::process::id();
        let before = processor_time_of_family(this).unwrap();
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        assert_eq!(parent(child.id()), Some(this));
        let until = before + Duration::from_millis(50);
        while processor_time_of_family(this).unwrap() < until {}
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(processor_time_of_family(this).unwrap() >= until);
    }
}
