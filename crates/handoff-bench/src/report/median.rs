//! The middle of several runs: one lucky or unlucky run moves nothing.

use std::collections::BTreeMap;

use crate::outcome::{Measurement, Outcome};

/// The median of each figure of each measurement, in the order of the first run that has it.
pub(super) fn of(runs: &[Outcome]) -> Vec<Measurement> {
    let mut order = Vec::new();
    let mut groups: BTreeMap<_, Vec<&Measurement>> = BTreeMap::new();
    for measurement in runs.iter().flat_map(|run| &run.measurements) {
        let group = groups.entry(measurement.key()).or_default();
        if group.is_empty() {
            order.push(measurement.key());
        }
        group.push(measurement);
    }
    order.iter().filter_map(|key| groups.get(key)).filter_map(|group| merge(group)).collect()
}

fn merge(group: &[&Measurement]) -> Option<Measurement> {
    let first = group.first()?;
    let figure = |of: &dyn Fn(&Measurement) -> Option<f64>| {
        middle(group.iter().filter_map(|measurement| of(measurement)).collect())
    };
    // Operations and seconds come from one run, the one whose rate is the median, so that they fit each other.
    let mut by_rate: Vec<_> = group.to_vec();
    by_rate.sort_by(|a, b| a.per_second().total_cmp(&b.per_second()));
    let typical = by_rate.get(by_rate.len() / 2)?;
    let names = first.figures.keys();
    Some(Measurement {
        name: first.name.clone(),
        workers: first.workers,
        tenants: first.tenants,
        operations: typical.operations,
        seconds: typical.seconds,
        p50_ms: figure(&|one| Some(one.p50_ms))?,
        p99_ms: figure(&|one| Some(one.p99_ms))?,
        max_ms: figure(&|one| Some(one.max_ms))?,
        server_cpu_us: figure(&|one| one.server_cpu_us),
        client_cpu_us: figure(&|one| one.client_cpu_us),
        figures: names
            .filter_map(|name| Some((name.clone(), figure(&|one| one.figures.get(name).copied())?)))
            .collect(),
    })
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Machine;

    fn run(operations: u64, p99_ms: f64) -> Outcome {
        let machine = Machine { processor: String::new(), cores: 2, kernel: String::new(), load: 0.0 };
        let measurement =
            Measurement { name: "raise".to_owned(), operations, seconds: 1.0, p99_ms, ..Measurement::default() };
        let measurement = measurement.with("memory_mb", p99_ms * 2.0);
        Outcome { machine, server: String::new(), measurements: vec![measurement] }
    }

    #[test]
    fn each_figure_is_the_middle_of_its_own() {
        let runs = [run(100, 9.0), run(300, 1.0), run(200, 2.0)];
        let merged = of(&runs);
        let [merged] = merged.as_slice() else { panic!("{merged:?}") };
        assert_eq!((merged.operations, merged.p99_ms), (200, 2.0));
        assert_eq!(merged.figures.get("memory_mb"), Some(&4.0));
    }
}
