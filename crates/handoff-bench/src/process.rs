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
}
