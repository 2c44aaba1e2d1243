//! Claiming timers over all tenants, by the database's time.

use std::time::Duration;

use handoff_engine::store::{Claimed, ClaimedTimer, StoreError, TimerKey};
use handoff_protocol::timestamp::Timestamp;

use crate::{codec, link::Link};

/// Claims at most `limit` due timers for the length of a lease. `now` stands for the database's time.
pub(crate) async fn claim(
    link: &Link,
    limit: usize,
    lease: Duration,
    now: Option<Timestamp>,
) -> Result<Claimed, StoreError> {
    let (limit, lease) = (codec::limit(limit), codec::millis(lease));
    let now = now.map(Timestamp::unix_millis);
    let question = || {
        sqlx::query("SELECT tenant, key, due, action, epoch FROM handoff_claim($1, $2, $3)")
            .bind(limit)
            .bind(lease)
            .bind(now)
    };
    // A claim whose answer is lost holds until its lease lapses; asked again, it brings other timers.
    let rows = link.ask(question).await?;
    let mut claimed = Claimed { now: Timestamp::EPOCH, timers: Vec::new(), next: None };
    for row in &rows {
        let due = codec::time(row, "due")?;
        let Some(tenant) = codec::column::<Option<&str>>(row, "tenant")? else {
            claimed.now = due;
            claimed.next = codec::column::<Option<i64>>(row, "epoch")?.map(Timestamp::from_unix_millis);
            continue;
        };
        claimed.timers.push(ClaimedTimer {
            tenant: codec::tenant(tenant)?,
            key: TimerKey::new(codec::string(row, "key")?),
            due,
            action: codec::shared(row, "action")?,
            epoch: codec::count(row, "epoch")?,
        });
    }
    // The database names the longest overdue, and not in their order.
    claimed.timers.sort_by(|one, other| (one.due, one.tenant, &one.key).cmp(&(other.due, other.tenant, &other.key)));
    Ok(claimed)
}
