//! `kill -9` at random moments under load: what was acknowledged is there afterwards, and nothing is there by half.
//!
//! A normal run kills a few times; `cargo xtask full`, or `cargo test -p handoff-server --test kill -- --ignored`, kills
//! two hundred times, or as often as `HANDOFF_KILLS` says. `HANDOFF_SEED` repeats the moments of an earlier run.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and this one prints its figures"
)]

#[expect(dead_code, reason = "shared with other tests, which use more of it")]
mod support;

use std::{
    env,
    net::SocketAddr,
    sync::mpsc::{Sender, channel},
    thread,
    time::{Duration, Instant},
};

use crate::support::{
    connection::{Answer, Connection},
    deployment::Deployment,
    process::Handoffd,
    tenant::Tenant,
    whole::{check_stored, check_whole},
};

/// How many callers ask and answer at once.
const CALLERS: usize = 8;

/// The latest moment of a kill, counted from the first answer.
const LATEST: Duration = Duration::from_millis(400);

/// What a caller was told before the server died.
#[derive(Default)]
struct Acknowledged {
    raised: Vec<String>,
    answered: Vec<Answered>,
    taken: Vec<Taken>,
    redeemed: Vec<String>,
}

impl Acknowledged {
    fn extend(&mut self, other: Self) {
        self.raised.extend(other.raised);
        self.answered.extend(other.answered);
        self.taken.extend(other.taken);
        self.redeemed.extend(other.redeemed);
    }
}

/// An answer as it was acknowledged.
struct Answered {
    request: String,
    receipt: String,
    digest: String,
    authorization: String,
}

/// A signal whose acknowledgement was acknowledged.
struct Taken {
    waiter: String,
    signal: String,
    token: String,
    acked_at: String,
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_there_by_half() {
    kill_repeatedly(&Deployment::sqlite(), 5);
}

#[test]
fn nothing_acknowledged_is_lost_on_postgres_either() {
    kill_repeatedly(&Deployment::postgres(), 5);
}

#[test]
#[ignore = "takes some minutes; a test above kills five times always"]
fn two_hundred_kills() {
    kill_repeatedly(&Deployment::sqlite(), wanted());
}

#[test]
#[ignore = "takes some minutes; a test above kills five times always"]
fn two_hundred_kills_on_postgres() {
    kill_repeatedly(&Deployment::postgres(), wanted());
}

fn wanted() -> u32 {
    let wanted = env::var("HANDOFF_KILLS").map(|kills| kills.parse().expect("HANDOFF_KILLS is a number"));
    wanted.unwrap_or(200)
}

fn kill_repeatedly(deployment: &Deployment, rounds: u32) {
    let seed = env::var("HANDOFF_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_260_801);
    let mut moments = Moments(seed);
    let mut total = Acknowledged::default();
    let (mut stored, mut unacknowledged) = (0, 0);
    for round in 1..=rounds {
        let tenant = Tenant::create(deployment);
        let server = deployment.serve(&[]);
        let (acknowledged, moment) = load_and_kill(server, &tenant, &mut moments);
        assert!(!acknowledged.raised.is_empty() && !acknowledged.answered.is_empty(), "round {round}: the load ran");

        // A server that is killed while it starts has changed nothing either.
        let mut early = deployment.command(&["serve"], &[]);
        let mut early = early.stderr(std::process::Stdio::null()).spawn().unwrap();
        thread::sleep(moments.next(Duration::from_millis(60)));
        early.kill().unwrap();
        early.wait().unwrap();

        let server = deployment.serve(&[]);
        check_acknowledged(&mut server.connect(), &tenant, &acknowledged);
        let answers = check_whole(deployment, &tenant);
        check_stored(deployment, &["verify-chain", "--tenant", &tenant.id.to_string()]);
        check_stored(deployment, &["fsck", "--tenant", &tenant.id.to_string()]);
        server.terminate();
        assert!(server.wait().0.success());

        stored += answers;
        unacknowledged += answers - acknowledged.answered.len();
        println!(
            "round {round}: killed after {moment:?}; acknowledged {} raises, {} answers, {} acks, {} redemptions; \
             stored {answers} answers",
            acknowledged.raised.len(),
            acknowledged.answered.len(),
            acknowledged.taken.len(),
            acknowledged.redeemed.len()
        );
        total.extend(acknowledged);
    }
    check_stored(deployment, &["verify-chain"]);
    check_stored(deployment, &["fsck"]);
    println!(
        "{rounds} kills with seed {seed}: {} raises, {} answers, {} acks and {} redemptions acknowledged, none lost; \
         {stored} answers stored, {unacknowledged} of them whose acknowledgement died with the server",
        total.raised.len(),
        total.answered.len(),
        total.taken.len(),
        total.redeemed.len()
    );
}

/// Loads a server, kills it at a random moment after the first answer, and gives what was acknowledged until then.
fn load_and_kill(server: Handoffd, tenant: &Tenant, moments: &mut Moments) -> (Acknowledged, Duration) {
    let address = server.address;
    let (sender, answers) = channel();
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let sender = sender.clone();
                scope.spawn(move || call_until_dead(address, tenant, caller, &sender))
            })
            .collect();
        drop(sender);
        answers.recv_timeout(Duration::from_secs(60)).expect("a first answer");
        let began = Instant::now();
        thread::sleep(moments.next(LATEST));
        drop(server);
        let moment = began.elapsed();
        let mut all = Acknowledged::default();
        for caller in callers {
            all.extend(caller.join().unwrap());
        }
        (all, moment)
    })
}

/// Asks, answers, takes the signal and redeems, one after another until the connection dies.
fn call_until_dead(address: SocketAddr, tenant: &Tenant, caller: usize, answers: &Sender<()>) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    let Ok(mut connection) = Connection::open(address) else { return acknowledged };
    for n in 0_u64.. {
        let Ok(raised) = tenant.raise(&mut connection, &waiter(caller, n)) else { break };
        assert_eq!(raised.status, 201, "{raised:?}");
        let request = raised.text("id");
        acknowledged.raised.push(request.clone());
        // Some stay pending.
        if n % 4 == 3 {
            continue;
        }
        let Ok(answered) = tenant.answer(&mut connection, &request) else { break };
        assert_eq!(answered.status, 200, "{answered:?}");
        let authorization = answered.text("authorization.id");
        acknowledged.answered.push(Answered {
            request: request.clone(),
            receipt: answered.text("receipt.id"),
            digest: answered.text("receipt.digest"),
            authorization: authorization.clone(),
        });
        // The other end is gone when the kill has come.
        let _ = answers.send(());
        // Some signals stay in their queue.
        if n % 4 != 1 {
            let Ok(taken) = take(&mut connection, tenant, &waiter(caller, n)) else { break };
            acknowledged.taken.push(taken);
        }
        if n % 2 == 0 {
            let path = format!("/v1/authorizations/{authorization}/redeem");
            let body = format!(r#"{{"effect_key":"{request}"}}"#);
            let Ok(redeemed) = connection.call("POST", &path, &tenant.machine, &body) else { break };
            assert_eq!((redeemed.status, redeemed.text("first_redemption")), (200, "true".to_owned()), "{redeemed:?}");
            acknowledged.redeemed.push(authorization);
        }
    }
    acknowledged
}

/// Polls a waiter that has one signal, and acknowledges it.
fn take(connection: &mut Connection, tenant: &Tenant, waiter: &str) -> std::io::Result<Taken> {
    let polled = connection.call("GET", &format!("/v1/waiters/{waiter}/signals"), &tenant.machine, "")?;
    let (signal, token) = (polled.text("data.0.id"), polled.text("data.0.resume_token"));
    let acked = acknowledge(connection, tenant, &signal, &token)?;
    assert_eq!((acked.status, acked.text("first_ack")), (200, "true".to_owned()), "{acked:?}");
    Ok(Taken { waiter: waiter.to_owned(), signal, token, acked_at: acked.text("acked_at") })
}

fn acknowledge(connection: &mut Connection, tenant: &Tenant, signal: &str, token: &str) -> std::io::Result<Answer> {
    let body = format!(r#"{{"resume_token":"{token}","applied":true}}"#);
    connection.call("POST", &format!("/v1/signals/{signal}/ack"), &tenant.machine, &body)
}

fn waiter(caller: usize, n: u64) -> String {
    format!("caller:{caller}:{n}")
}

/// Everything that was acknowledged is there, as it was acknowledged.
fn check_acknowledged(connection: &mut Connection, tenant: &Tenant, acknowledged: &Acknowledged) {
    let mut get = |path: String| {
        let answer = connection.call("GET", &path, &tenant.machine, "").unwrap();
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer
    };
    for request in &acknowledged.raised {
        get(format!("/v1/requests/{request}"));
    }
    for answered in &acknowledged.answered {
        let request = get(format!("/v1/requests/{}", answered.request));
        assert_eq!(request.text("state"), "answered");
        assert_eq!(request.text("receipt.id"), answered.receipt);
        assert_eq!(request.text("receipt.chain.digest"), answered.digest);
        assert_eq!(request.text("authorization.id"), answered.authorization);
        let receipt = get(format!("/v1/receipts/{}", answered.receipt));
        assert_eq!(receipt.text("chain.digest"), answered.digest);
        let waiter = request.text("waiter_ref");
        // An acknowledgement whose own answer died with the server may have emptied the queue all the same.
        let signals = get(format!("/v1/waiters/{waiter}/signals"));
        if signals.text("data") == "[]" {
            assert_ne!(request.text("waiter.state"), "signalled");
        } else {
            assert_eq!(signals.text("data.0.decision.receipt_id"), answered.receipt);
        }
    }
    for taken in &acknowledged.taken {
        let signals = get(format!("/v1/waiters/{}/signals", taken.waiter));
        assert_eq!(signals.text("data"), "[]");
    }
    for authorization in &acknowledged.redeemed {
        let found = get(format!("/v1/authorizations/{authorization}"));
        assert_eq!(found.text("state"), "spent", "{found:?}");
        assert_ne!(found.text("redemptions.0.redeemed_at"), "null");
    }
    // Repeating an acknowledgement tells when the first one was.
    for taken in &acknowledged.taken {
        let again = acknowledge(connection, tenant, &taken.signal, &taken.token).unwrap();
        assert_eq!((again.status, again.text("first_ack")), (200, "false".to_owned()), "{again:?}");
        assert_eq!(again.text("acked_at"), taken.acked_at);
    }
}

/// Random moments from a seed (`SplitMix64`).
struct Moments(u64);

impl Moments {
    fn next(&mut self, latest: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let micros = u64::try_from(latest.as_micros()).unwrap();
        Duration::from_micros(mixed % micros)
    }
}
