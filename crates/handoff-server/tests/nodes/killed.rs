//! Three nodes under a mixed load, one after another killed: nothing acknowledged is lost.

use std::{
    collections::{HashMap, HashSet},
    env,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::Receiver,
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    fleet::Fleet,
    load::{Acknowledged, Caller},
    receiver::{Push, receive},
    support::{
        deployment::Deployment,
        tenant::Tenant,
        whole::{check_stored, check_whole},
    },
    wakes::{back_after, probe},
};

/// How many callers ask and answer at once.
const CALLERS: usize = 6;

/// Within which wakes must be back after a kill.
const BACK: Duration = Duration::from_millis(500);

/// How late a poll may be in the worst case: its node was told nothing, since the one that committed died before it did.
const LATEST: Duration = Duration::from_secs(3);

/// What a machine that does something else beside may add to that.
const BUSY: Duration = Duration::from_millis(2000);

/// How long a signal may take to be pushed, with the pauses between attempts, after a node died that was pushing it.
const PUSHED: Duration = Duration::from_secs(120);

#[test]
fn nodes_are_killed_and_nothing_acknowledged_is_lost() {
    kill_nodes(Duration::from_secs(24), Duration::from_secs(7), BACK + BUSY);
}

#[test]
#[ignore = "takes ten minutes; the test above kills three times always"]
fn ten_minutes_of_load_and_a_node_killed_every_twenty_seconds() {
    let seconds = env::var("HANDOFF_SECONDS").map(|seconds| seconds.parse().expect("HANDOFF_SECONDS is a number"));
    kill_nodes(Duration::from_secs(seconds.unwrap_or(600)), Duration::from_secs(20), BACK);
}

fn kill_nodes(lasting: Duration, every: Duration, back: Duration) {
    let deployment = Deployment::postgres();
    let (tenant, probed) = (Tenant::create(&deployment), Tenant::create(&deployment));
    let fleet = Fleet::start(&deployment, 3);
    let (port, pushes) = receive(Duration::ZERO);
    let (stop, pushed) = (AtomicBool::new(false), AtomicUsize::new(0));
    let began = Instant::now();
    let (told, wakes, kills, got) = thread::scope(|scope| {
        let caller = |number| Caller { fleet: &fleet, tenant: &tenant, number, callbacks: port };
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| {
                let caller = caller(number);
                scope.spawn({
                    let stop = &stop;
                    move || caller.work(stop)
                })
            })
            .collect();
        let taker = caller(CALLERS);
        let (expected, stop) = (&pushed, &stop);
        let taking = scope.spawn(move || take(&taker, &pushes, expected));
        let probing = scope.spawn(|| probe(&fleet, &probed, stop));
        let mut kills = Vec::new();
        while began.elapsed() + every < lasting {
            thread::sleep(every.mul_f32(0.75));
            let node = kills.len() % fleet.len();
            kills.push(fleet.kill(node));
            thread::sleep(every.mul_f32(0.25));
            fleet.start_node(node);
        }
        thread::sleep(lasting.saturating_sub(began.elapsed()));
        stop.store(true, Ordering::SeqCst);
        let mut told = Acknowledged::default();
        callers.into_iter().for_each(|caller| told.extend(caller.join().unwrap()));
        let wakes = probing.join().unwrap();
        pushed.store(told.pushed.len().max(1), Ordering::SeqCst);
        (told, wakes, kills, taking.join().unwrap())
    });
    let lasted = began.elapsed();
    let missing: Vec<_> = told.pushed.iter().filter(|request| !got.contains(*request)).collect();
    assert!(missing.is_empty(), "{} of {} signals were never pushed", missing.len(), told.pushed.len());
    check_told(&deployment, &tenant, &told);
    let stored = check_whole(&deployment, &tenant) + check_whole(&deployment, &probed);
    check_stored(&deployment, &["verify-chain"]);
    check_stored(&deployment, &["fsck"]);

    let wakes: Vec<_> = wakes.iter().chain(&told.wakes).copied().collect();
    let late: Vec<_> = kills.iter().map(|kill| back_after(&wakes, *kill).expect("wakes come back")).collect();
    let mut waits: Vec<_> = told.wakes.iter().map(|wake| wake.woken - wake.answered).collect();
    waits.sort();
    let percentile = |part: usize| waits.get((waits.len() - 1) * part / 100).unwrap();
    println!(
        "{} kills in {} s: {} raises, {} answers, {} acks, {} redemptions acknowledged, none lost; {} signals by poll, {} by \
         callback; {stored} answers stored, chains sound",
        kills.len(),
        lasted.as_secs(),
        told.raised.len(),
        told.answered.len(),
        told.acked.len(),
        told.redeemed.len(),
        waits.len(),
        told.pushed.len()
    );
    println!(
        "polls at another node came back after p50 {:?}, p99 {:?}, at the most {:?}; {} were held at a node that died; the \
         first one held after a kill was back after {:?} at the most",
        percentile(50),
        percentile(99),
        percentile(100),
        told.polls_again,
        late.iter().max().unwrap()
    );
    assert!(kills.len() >= 3 && told.answered.len() > 100);
    assert!(late.iter().all(|late| *late <= back), "{late:?}");
    assert!(waits.iter().all(|wait| *wait <= LATEST + BUSY), "every poll comes back within the bound");
}

/// Takes pushes and acknowledges each, until as many requests as are expected had theirs. Expecting none is not knowing yet.
fn take(caller: &Caller<'_>, pushes: &Receiver<Push>, expected: &AtomicUsize) -> HashSet<String> {
    let mut got = HashSet::new();
    let mut waiting = None;
    loop {
        let due = expected.load(Ordering::SeqCst);
        let since = *waiting.get_or_insert_with(Instant::now);
        if due > 0 && (got.len() >= due || since.elapsed() > PUSHED) {
            return got;
        }
        if due == 0 {
            waiting = None;
        }
        if let Ok(push) = pushes.recv_timeout(Duration::from_millis(100)) {
            caller.acknowledge(got.len(), &push.signal, &push.token);
            got.insert(push.request);
        }
    }
}

/// Everything that was acknowledged is there, as it was acknowledged.
fn check_told(deployment: &Deployment, tenant: &Tenant, told: &Acknowledged) {
    let shell = deployment.shell();
    let pairs = |columns: &str, from: &str| -> HashMap<String, String> {
        let query = format!("SELECT {columns} FROM {from} AND tenant = '{}'", tenant.id);
        shell.pairs(&query).into_iter().collect()
    };
    let requests = pairs("id, state", "requests WHERE true");
    assert!(told.raised.iter().all(|request| requests.contains_key(request)), "every raise is there");
    let receipts = pairs("request_id, digest", "receipts WHERE true");
    for (request, digest) in &told.answered {
        assert_eq!(receipts.get(request), Some(digest), "{request} has the receipt that was acknowledged");
        assert_eq!(requests.get(request).map(String::as_str), Some("answered"));
    }
    let signals = pairs("id, document::jsonb ->> 'acked_at'", "records WHERE kind = 'signal'");
    for signal in &told.acked {
        assert!(signals.get(signal).is_some_and(|at| !at.is_empty()), "{signal} is acknowledged");
    }
    let authorizations = pairs("id, document::jsonb ->> 'state'", "records WHERE kind = 'authorization'");
    for authorization in &told.redeemed {
        assert!(authorizations.contains_key(authorization), "{authorization} is there");
    }
    let path = |authorization: &String| format!("/v1/authorizations/{authorization}");
    let node = deployment.serve(&[("HANDOFF_RATE_LIMIT_PER_MINUTE", "0")]);
    let mut connection = node.connect();
    for authorization in told.redeemed.iter().step_by(told.redeemed.len().div_ceil(500).max(1)) {
        let found = connection.call("GET", &path(authorization), &tenant.machine, "").unwrap();
        assert_eq!(found.text("state"), "spent", "{found:?}");
    }
}
