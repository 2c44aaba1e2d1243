//! One transaction of a caller: load, run the step, load more if it asks, apply what it returns.

use handoff_engine::store::{
    BlobWrite, Loaded, Moment, RecordWrite, Step, StoreError, Topic, Transacted, Transaction, WriteSet,
};
use rusqlite::Connection;

use crate::{apply::Target, error::Failure, load, options::SqliteOptions};

/// How often a step runs before it counts as one that never has enough.
const MAX_RUNS: usize = 16;

/// What a transaction came to.
pub(crate) struct Ran {
    pub(crate) transacted: Transacted,
    pub(crate) wakes: Vec<Topic>,
    pub(crate) erases: bool,
}

/// Runs a transaction on a connection that holds the write lock. After a failure the caller takes back all of it.
pub(crate) fn run(connection: &Connection, options: &SqliteOptions, transaction: &Transaction) -> Result<Ran, Failure> {
    let tenant = transaction.tenant.to_string();
    let head = load::head(connection, &tenant)?;
    let mut loaded = Loaded::new(transaction.tenant, head);
    load::load(connection, &tenant, &transaction.reads, &mut loaded)?;
    for _ in 0..MAX_RUNS {
        let moment = moment(options)?;
        match (transaction.step)(&loaded, &moment) {
            Step::Commit(set) => {
                let on_label = options.on_label.as_ref();
                let target = Target { connection, tenant: &tenant, loaded: &loaded, now: moment.now, on_label };
                let sequence = target.write(&set)?;
                let erases = erases(&set);
                return Ok(Ran { transacted: Transacted::Committed { sequence }, wakes: set.wakes, erases });
            }
            Step::Need(reads) => load::load(connection, &tenant, &reads, &mut loaded)?,
            Step::Reject => return Ok(Ran { transacted: Transacted::Rejected, wakes: Vec::new(), erases: false }),
        }
    }
    Err(Failure::Member(StoreError::TooManyReads))
}

/// Whether content is deleted, rather than replaced by a later version of itself.
fn erases(set: &WriteSet) -> bool {
    !set.erasures.is_empty()
        || set.records.iter().any(|write| matches!(write, RecordWrite::Delete { .. }))
        || set.blobs.iter().any(|write| matches!(write, BlobWrite::Drop(_)))
}

fn moment(options: &SqliteOptions) -> Result<Moment, Failure> {
    let seed = options.entropy.seed().map_err(|error| Failure::Member(StoreError::Unavailable(error.to_string())))?;
    Ok(Moment { now: options.clock.now(), seed })
}
