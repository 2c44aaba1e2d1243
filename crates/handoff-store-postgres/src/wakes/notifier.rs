//! Tells other nodes what this node's commits touched.

use std::{mem, time::Duration};

use sqlx::{ConnectOptions as _, PgConnection, postgres::PgConnectOptions};

use super::{CHANNEL, Wakes, notice};
use crate::link;

/// How long one notification may take before its connection counts as lost.
const WITHIN: Duration = Duration::from_secs(5);

/// How long to wait before a connection that was lost is made again.
const RETRY: Duration = Duration::from_millis(500);

/// Tells other nodes for as long as the store is there. Whatever comes while one telling is under way goes with the next.
///
/// When a telling fails nobody knows who heard it, so that all are told to look again as soon as they can be told.
pub(crate) async fn notify(wakes: Wakes, address: PgConnectOptions) {
    let mut connection = None;
    loop {
        wakes.0.something.notified().await;
        let pending = mem::take(&mut *wakes.pending());
        let texts = notice::write(&wakes.0.node, &pending.moved, pending.touched, pending.missed);
        if !texts.is_empty() && !tell(&mut connection, &address, &texts).await {
            connection = None;
            tokio::time::sleep(RETRY).await;
            wakes.owe_a_look();
        }
    }
}

async fn tell(connection: &mut Option<PgConnection>, address: &PgConnectOptions, texts: &[String]) -> bool {
    let telling = async {
        let open = match connection {
            Some(open) => open,
            closed => closed.insert(address.connect().await?),
        };
        // A notification need not survive a crash of the server, so nobody waits for the disk.
        sqlx::query(
            "WITH hasty AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
             SELECT pg_notify($1, told) FROM hasty CROSS JOIN unnest($2::text[]) AS told",
        )
        .bind(CHANNEL)
        .bind(texts)
        .execute(open)
        .await
    };
    // Why it failed is told by whoever needs the database itself.
    link::within(WITHIN, telling).await.is_ok()
}
