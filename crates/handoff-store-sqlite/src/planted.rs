//! What the planted faults of this crate do (see [`handoff_protocol::planted`]), where a line at their place does not say it.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use handoff_engine::store::{ChainHead, ChainName};
use handoff_protocol::planted::Fault;
use rusqlite::Connection;

/// For how long a head is taken for the head.
const STALE: Duration = Duration::from_millis(250);

/// The heads that steps saw, by tenant and chain, and when.
type Heads = HashMap<(String, String), (ChainHead, Instant)>;

static HEADS: LazyLock<Mutex<Heads>> = LazyLock::new(Mutex::default);

/// A store whose receipts can be changed through the view.
pub(crate) fn unseal(connection: &Connection) -> rusqlite::Result<()> {
    if !Fault::ReceiptsMayBeChanged.is_planted() {
        return Ok(());
    }
    connection.execute_batch(
        "DROP TRIGGER IF EXISTS receipts_no_update;
         DROP TRIGGER IF EXISTS receipts_no_delete;
         DROP TRIGGER IF EXISTS chain_bodies_no_update;
         DROP TRIGGER IF EXISTS chain_bodies_no_delete;
         CREATE TRIGGER receipts_no_update INSTEAD OF UPDATE ON receipts BEGIN
             UPDATE chain_bodies SET body = NEW.body
             WHERE tenant = OLD.tenant AND chain = 'receipts' AND height = OLD.height;
         END;
         CREATE TRIGGER receipts_no_delete INSTEAD OF DELETE ON receipts BEGIN
             DELETE FROM chain_bodies WHERE tenant = OLD.tenant AND chain = 'receipts' AND height = OLD.height;
         END;",
    )
}

/// The head of a chain with the digest that another step saw just before.
pub(crate) fn stale(tenant: &str, chain: &ChainName, head: Option<ChainHead>) -> Option<ChainHead> {
    if !Fault::ChainForks.is_planted() {
        return head;
    }
    let head = head?;
    let mut heads = HEADS.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = heads.entry((tenant.to_owned(), chain.as_str().to_owned())).or_insert((head, Instant::now()));
    if seen.1.elapsed() > STALE {
        *seen = (head, Instant::now());
    }
    Some(ChainHead { digest: seen.0.digest, ..head })
}

/// Commits what was written so far, before its events are. It is asked for where a crash would show it, and so costs what
/// shares the commit nothing.
pub(crate) fn commit_early(connection: &Connection) -> rusqlite::Result<()> {
    if !Fault::EventAfterCommit.is_planted() {
        return Ok(());
    }
    connection.execute_batch("COMMIT; BEGIN IMMEDIATE")
}
