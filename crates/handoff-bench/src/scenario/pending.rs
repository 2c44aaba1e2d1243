//! Listing and paging with many requests pending in one tenant, and starting over them.

use std::time::{Duration, Instant};

use super::{Size, Source, flow, flow::UNTIL_DONE, megabytes};
use crate::{
    error::BenchError,
    load::{self, Bound, Names, Worker},
    meter::Meter,
    outcome::Measurement,
    process,
    tally::Tally,
    target::Target,
};

/// The page that clients get when they do not say how large.
const PAGE: usize = 50;

/// How often the first page is read.
const TIMES: usize = 200;

/// The most pages that a walk takes; it strides, so that all of a listing is visited.
const WALK: u32 = 400;

pub(super) async fn measure(source: &Source, size: &Size, tell: &mut dyn FnMut(Measurement)) -> Result<(), BenchError> {
    for count in &size.pending {
        let (mut server, names) = (source.server().await?, Names::new()?);
        let began = Instant::now();
        let bound = Bound { operations: *count, time: UNTIL_DONE };
        flow::fill_pending(server.target(), 1, bound, &names).await?;
        let filled = began.elapsed();
        let mut workers = load::open(server.target(), 1, 1).await?;
        let [worker] = workers.as_mut_slice() else { return Ok(()) };
        let name = |what: &str| format!("{what} of {count} pending");
        tell(repeat(&name("first page"), server.target(), worker, List::Pending).await?);
        tell(walk(&name("any page"), server.target(), worker, List::Pending).await?);
        if let Some(spawned) = &mut server.spawned {
            spawned.restart().await?;
            let mut workers = load::open(&spawned.target, 1, 1).await?;
            let [worker] = workers.as_mut_slice() else { return Ok(()) };
            worker.client.pending(PAGE, None).await?;
            let used = process::memory(spawned.target.process).unwrap_or_default();
            let took = spawned.took.as_secs_f64();
            let started = Measurement {
                name: format!("start with {count} pending"),
                workers: 1,
                tenants: 1,
                operations: 1,
                seconds: took,
                p50_ms: took * 1000.0,
                p99_ms: took * 1000.0,
                max_ms: took * 1000.0,
                ..Measurement::default()
            };
            let stored = megabytes(spawned.stored());
            tell(
                started
                    .with("memory_mb", megabytes(used))
                    .with("stored_mb", stored)
                    .with("fill_seconds", filled.as_secs_f64()),
            );
        }
    }
    Ok(())
}

/// What is listed.
#[derive(Clone, Copy, Debug)]
pub(super) enum List {
    Pending,
    Receipts,
}

impl List {
    async fn page(self, worker: &mut Worker, cursor: Option<&str>) -> Result<crate::wire::Page, BenchError> {
        match self {
            Self::Pending => worker.client.pending(PAGE, cursor).await,
            Self::Receipts => worker.client.receipts(PAGE, cursor).await,
        }
    }
}

/// The first page, again and again.
pub(super) async fn repeat(
    name: &str,
    target: &Target,
    worker: &mut Worker,
    list: List,
) -> Result<Measurement, BenchError> {
    let (mut tally, mut bytes) = (Tally::new()?, 0_u32);
    let meter = Meter::start(target);
    for _ in 0..TIMES {
        let began = Instant::now();
        let page = list.page(worker, None).await?;
        tally.record(began.elapsed());
        if page.items != PAGE {
            return Err(BenchError::Nonsense(format!("a page of {PAGE} had {} items", page.items)));
        }
        bytes = u32::try_from(page.bytes).unwrap_or(u32::MAX);
    }
    let measurement = Measurement { workers: 1, tenants: 1, ..meter.stop(name, &tally) };
    Ok(measurement.with("page_bytes", f64::from(bytes)))
}

/// Pages all through a listing; every so many is measured, with pages of 200 in between to get on.
pub(super) async fn walk(
    name: &str,
    target: &Target,
    worker: &mut Worker,
    list: List,
) -> Result<Measurement, BenchError> {
    let mut tally = Tally::new()?;
    let meter = Meter::start(target);
    let (mut cursor, mut longest_at) = (None::<String>, (Duration::ZERO, 0_u32));
    for place in 0..WALK {
        let began = Instant::now();
        let page = list.page(worker, cursor.as_deref()).await?;
        let took = began.elapsed();
        tally.record(took);
        if took > longest_at.0 {
            longest_at = (took, place);
        }
        let Some(next) = page.next_cursor else { break };
        cursor = Some(next);
        // Gets on without measuring, so that the walk reaches the end of a long listing.
        for _ in 0..2 {
            let Some(at) = cursor.as_deref() else { break };
            let skipped = match list {
                List::Pending => worker.client.pending(200, Some(at)).await?,
                List::Receipts => worker.client.receipts(200, Some(at)).await?,
            };
            if skipped.next_cursor.is_none() {
                break;
            }
            cursor = skipped.next_cursor;
        }
    }
    // The pages between were paid for as well, so what it cost belongs to no single page.
    let measurement =
        Measurement { workers: 1, tenants: 1, server_cpu_us: None, client_cpu_us: None, ..meter.stop(name, &tally) };
    Ok(measurement.with("slowest_was_step", f64::from(longest_at.1)))
}
