//! Looks for commits of which no notification came.
//!
//! A node that dies between its commit and its notification tells nobody. The heads of tenants say when something was last
//! touched, and notifications say it too; a tenant whose head moved later than was ever told had such a commit.

use std::{collections::HashMap, time::Duration};

use handoff_engine::store::StoreError;
use handoff_protocol::id::TenantId;
use tokio::time::sleep;

use super::Wakes;
use crate::{codec, link::Link};

/// How long a notification may be on its way before it counts as one that did not come.
const ON_ITS_WAY: Duration = Duration::from_millis(500);

/// How much of the past is looked at once more: a commit becomes visible later than the moment that its head names.
const OVERLAP: Duration = Duration::from_secs(10);

/// How long it is remembered what was told.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Looks at the heads now and then, and lets every waiter look again where a commit went untold.
pub(crate) async fn catch_up(wakes: Wakes, link: Link, every: Duration) {
    let mut from = None;
    loop {
        sleep(every).await;
        // What cannot be asked is said by whoever hears notifications and by the gate.
        let Ok((moved, now)) = look(&link, from).await else { continue };
        if from.is_some() && wakes.any_unheard(&moved, now) {
            tracing::debug!("a commit was not told; every waiter looks again");
            wakes.missed();
        }
        from = Some(now.saturating_sub(codec::millis(OVERLAP)));
    }
}

/// Tenants whose heads moved, with the moment, and the database's time.
async fn look(link: &Link, from: Option<i64>) -> Result<(Vec<(TenantId, i64)>, i64), StoreError> {
    let age = codec::millis(ON_ITS_WAY);
    let question = || sqlx::query("SELECT tenant, at FROM handoff_moved($1, $2)").bind(from).bind(age);
    let mut moved = Vec::new();
    let mut now = 0;
    for row in link.ask(question).await? {
        let at = codec::column(&row, "at")?;
        match codec::column::<Option<&str>>(&row, "tenant")? {
            Some(tenant) => moved.push((codec::tenant(tenant)?, at)),
            None => now = at,
        }
    }
    Ok((moved, now))
}

impl Wakes {
    /// Whether a tenant moved after what was last told of it. Each such move counts once.
    fn any_unheard(&self, moved: &[(TenantId, i64)], now: i64) -> bool {
        let mut heard = self.heard_of();
        forget(&mut heard, now);
        let mut any = false;
        for (tenant, at) in moved {
            let told = heard.entry(*tenant).or_default();
            if *at > *told {
                *told = *at;
                any = true;
            }
        }
        any
    }
}

fn forget(heard: &mut HashMap<TenantId, i64>, now: i64) {
    let oldest = now.saturating_sub(codec::millis(REMEMBERED));
    heard.retain(|_, moved_at| *moved_at >= oldest);
}
