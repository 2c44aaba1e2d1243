//! The database's time rules: a node's own clock is not asked.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use handoff_engine::store::{Reads, Step, Store as _, TimerKey, TimerWrite, Transaction, WriteSet};
use handoff_protocol::timestamp::Timestamp;

use super::bench::{commit, database, open, tenant};

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_clock_is_ten_minutes_off_steals_no_lease() {
    const OFF: i64 = 600_000;
    let database = database();
    let (here, there) = (open(database.owner_url()).await, open(database.owner_url()).await);
    // The database's clock goes ten minutes ahead of the nodes', and then ten minutes behind them.
    for off in [OFF, -OFF] {
        database
            .run(&format!(
                "CREATE OR REPLACE FUNCTION handoff_now() RETURNS bigint LANGUAGE sql VOLATILE AS
                 $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + {off} $$"
            ))
            .unwrap();
        let node = || i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
        let told = |now: Timestamp| (now.unix_millis() - node() - off).abs() < 5_000;
        let due = Timestamp::from_unix_millis(node() + off);
        let put = TimerWrite::Put { key: TimerKey::from_static("one"), due, action: "{}".into() };
        commit(&here, WriteSet { timers: vec![put], ..WriteSet::default() }).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        let mine = here.claim_timers(5, Duration::from_secs(60)).await.unwrap();
        assert!(mine.timers.len() == 1 && told(mine.now), "{mine:?}");
        for _ in 0..5 {
            let theirs = there.claim_timers(5, Duration::from_secs(60)).await.unwrap();
            assert!(theirs.timers.is_empty() && theirs.next > Some(mine.now), "{theirs:?}");
        }

        let seen = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&seen);
        let step = move |_: &handoff_engine::store::Loaded, moment: &handoff_engine::store::Moment| {
            *noted.lock().unwrap() = Some(moment.now);
            Step::Reject
        };
        let asked = Transaction { tenant: tenant(), reads: Reads::none(), step: Arc::new(step) };
        let _ = there.transact(asked).await.unwrap();
        assert!(seen.lock().unwrap().is_some_and(told), "a step's time is the database's");
    }
}
