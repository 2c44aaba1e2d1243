//! Looks for commits of which no notification came.
//!
//! A node that dies between its commit and its notification tells nobody. The heads of tenants say when something was last
//! touched; a tenant whose head moved, and of which nothing was heard since, had such a commit.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use handoff_engine::store::StoreError;
use handoff_protocol::id::TenantId;
use tokio::time::sleep;

use super::Wakes;
use crate::{codec, link::Link};

/// How long a notification may be on its way before it counts as one that did not come.
const ON_ITS_WAY: Duration = Duration::from_millis(500);

/// How much of the past is looked at once more: a commit becomes visible later than the moment that its head names.
const OVERLAP: Duration = Duration::from_secs(10);

/// How long it is remembered of whom something was heard.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Looks at the heads now and then, and lets every waiter look again where a commit went untold.
pub(crate) async fn catch_up(wakes: Wakes, link: Link, every: Duration) {
    let mut from = None;
    loop {
        sleep(every).await;
        // What cannot be asked is said by whoever hears notifications and by the gate.
        let Ok((moved, now)) = look(&link, from).await else { continue };
        let asked = Instant::now();
        if from.is_some() && wakes.any_unheard(&moved, now, asked) {
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
    /// Whether a tenant moved after something was last heard of it. Each such move counts once.
    fn any_unheard(&self, moved: &[(TenantId, i64)], now: i64, asked: Instant) -> bool {
        let mut heard = self.heard_of();
        forget(&mut heard, asked);
        let mut any = false;
        for (tenant, at) in moved {
            let ago = Duration::from_millis(u64::try_from(now.saturating_sub(*at)).unwrap_or_default());
            let known = heard.get(tenant).is_some_and(|heard| asked.saturating_duration_since(*heard) <= ago);
            if !known {
                heard.insert(*tenant, asked);
                any = true;
            }
        }
        any
    }
}

fn forget(heard: &mut HashMap<TenantId, Instant>, now: Instant) {
    heard.retain(|_, heard| now.saturating_duration_since(*heard) < REMEMBERED);
}
