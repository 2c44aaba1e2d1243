//! What must be reached, and whether it was.

use crate::{
    outcome::Measurement,
    scenario::{BASE, PERCENT},
};

/// A floor and how it was met.
pub(super) struct Floor {
    pub(super) what: &'static str,
    pub(super) wanted: String,
    /// What was measured; none when nothing was.
    pub(super) measured: Option<f64>,
    pub(super) unit: &'static str,
    /// The figures that a share was made from.
    pub(super) made_from: Option<String>,
    pub(super) met: bool,
}

/// Which side of the value is good.
#[derive(Clone, Copy, Debug)]
enum Side {
    AtLeast,
    Below,
}

struct Row {
    what: &'static str,
    name: &'static str,
    workers: usize,
    tenants: usize,
    figure: Figure,
    side: Side,
    value: f64,
    unit: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Figure {
    Rate,
    P50,
    P99,
    /// The rate as a share of a base that was measured or given.
    Share,
    Named(&'static str),
}

const fn row(
    what: &'static str,
    (name, workers, tenants): (&'static str, usize, usize),
    figure: Figure,
    (side, value, unit): (Side, f64, &'static str),
) -> Row {
    Row { what, name, workers, tenants, figure, side, value, unit }
}

const ROWS: &[Row] = &[
    row("raises in one tenant, 32 callers", ("raise", 32, 1), Figure::Rate, (Side::AtLeast, 3000.0, "/s")),
    row("answers in one tenant, 32 callers", ("answer", 32, 1), Figure::Rate, (Side::AtLeast, 2500.0, "/s")),
    row("full cycles in one tenant, 32 callers", ("cycle", 32, 1), Figure::Rate, (Side::AtLeast, 800.0, "/s")),
    row(
        "answers with the ladder, of those with the page alone",
        ("answer, with ladder", 32, 1),
        Figure::Share,
        (Side::AtLeast, 70.0, "%"),
    ),
    row(
        "answers with callbacks, of those with the page alone",
        ("answer, with callbacks", 32, 1),
        Figure::Share,
        (Side::AtLeast, 40.0, "%"),
    ),
    // What came due while the lag was measured: below its rate the next floor says nothing.
    row(
        "deadlines a second, of 500 wanted",
        ("expire 5000, 500/s", 32, 1),
        Figure::Named("raised_a_second"),
        (Side::AtLeast, 490.0, "/s"),
    ),
    row("lag at 500 deadlines a second, p99", ("expire 5000, 500/s", 32, 1), Figure::P99, (Side::Below, 1000.0, "ms")),
    row(
        "answer to push, 200 of 1,000 receivers fail, p99",
        ("push, 200 of 1000 receivers fail", 16, 1),
        Figure::P99,
        (Side::Below, 1000.0, "ms"),
    ),
    row("answer to wake, 200 answers/s, p99", ("wake, 200 answers/s", 64, 1), Figure::P99, (Side::Below, 50.0, "ms")),
    row("answer to wake, idle, p99", ("wake, 5 answers/s", 64, 1), Figure::P99, (Side::Below, 10.0, "ms")),
    row(
        "a raise beside 10,000 held polls is slower by",
        ("raise beside 10000 polls", 32, 1),
        Figure::Named("slower_percent"),
        (Side::Below, 10.0, "%"),
    ),
    row(
        "memory of a held poll",
        ("raise beside 10000 polls", 32, 1),
        Figure::Named("kb_a_poll"),
        (Side::Below, 40.0, "KB"),
    ),
    row("list 50 of 100,000 pending", ("first page of 100000 pending", 1, 1), Figure::P50, (Side::Below, 5.0, "ms")),
    row("any page of 100,000 pending", ("any page of 100000 pending", 1, 1), Figure::P50, (Side::Below, 5.0, "ms")),
    row(
        "any page of receipts at 200,000",
        ("any page at 200000 receipts", 1, 1),
        Figure::P50,
        (Side::Below, 5.0, "ms"),
    ),
    row(
        "chain head at 200,000 receipts",
        ("chain head at 200000 receipts", 1, 1),
        Figure::P50,
        (Side::Below, 5.0, "ms"),
    ),
    row("start with 100,000 pending", ("start with 100000 pending", 1, 1), Figure::P50, (Side::Below, 3000.0, "ms")),
    row(
        "memory after a start with 100,000 pending",
        ("start with 100000 pending", 1, 1),
        Figure::Named("memory_mb"),
        (Side::Below, 60.0, "MB"),
    ),
    row(
        "`handoff verify`, receipts a second and core",
        ("verify of 200000 receipts", 1, 1),
        Figure::Named("receipts_a_core_second"),
        (Side::AtLeast, 15_000.0, "/s"),
    ),
];

/// Every floor against what was measured.
pub(super) fn judge(measurements: &[Measurement]) -> Vec<Floor> {
    ROWS.iter().map(|row| row.judge(measurements)).collect()
}

impl Row {
    fn judge(&self, measurements: &[Measurement]) -> Floor {
        let found = measurements.iter().find(|measurement| {
            measurement.name == self.name && measurement.workers == self.workers && measurement.tenants == self.tenants
        });
        let measured = found.and_then(|found| match self.figure {
            Figure::Rate => Some(found.per_second()),
            Figure::P50 => Some(found.p50_ms),
            Figure::P99 => Some(found.p99_ms),
            Figure::Share => found.figures.get(PERCENT).copied(),
            Figure::Named(name) => found.figures.get(name).copied(),
        });
        let made_from = match (self.figure, found) {
            (Figure::Share, Some(found)) => {
                found.figures.get(BASE).map(|base| format!("{:.1} of {base:.1} /s", found.per_second()))
            }
            _ => None,
        };
        let (word, met) = match self.side {
            Side::AtLeast => ("at least", measured.is_some_and(|measured| measured >= self.value)),
            Side::Below => ("below", measured.is_some_and(|measured| measured < self.value)),
        };
        let wanted = format!("{word} {} {}", self.value, self.unit);
        Floor { what: self.what, wanted, measured, unit: self.unit, made_from, met }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_met_only_by_what_was_measured() {
        let raise = |operations| Measurement {
            name: "raise".to_owned(),
            workers: 32,
            tenants: 1,
            operations,
            seconds: 1.0,
            ..Measurement::default()
        };
        let met = |measurements: &[Measurement]| judge(measurements).first().map(|floor| floor.met);
        assert_eq!(met(&[raise(3000)]), Some(true));
        assert_eq!(met(&[raise(2999)]), Some(false));
        assert_eq!(met(&[]), Some(false));
    }

    #[test]
    fn a_share_is_told_with_the_figures_that_it_was_made_from() {
        let answers = Measurement {
            name: "answer, with ladder".to_owned(),
            workers: 32,
            tenants: 1,
            operations: 2_100,
            seconds: 1.0,
            ..Measurement::default()
        };
        let floors = judge(&[answers.with(PERCENT, 70.0).with(BASE, 3_000.0)]);
        let floor = floors.iter().find(|floor| floor.measured.is_some()).unwrap();
        assert_eq!((floor.measured, floor.met), (Some(70.0), true));
        assert_eq!(floor.made_from.as_deref(), Some("2100.0 of 3000.0 /s"));
    }
}
