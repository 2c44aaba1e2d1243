//! The machine that a run takes place on.

use std::{fs, thread};

use crate::outcome::Machine;

/// Describes this machine by what its system tells everyone.
pub(crate) fn describe() -> Machine {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Machine {
        processor: model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned()),
        cores: thread::available_parallelism().map_or(1, usize::from),
        kernel: kernel.split('-').next().unwrap_or_default().trim().to_owned(),
        load: load.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or_default(),
    }
}
