//! One run: a world is made, things go wrong as planned, all is healed, everything must come to its end, and all of it is
//! checked.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use handoff_engine::{
    clock::Clock as _,
    fsck::{self, Trust},
    store::{Inspect as _, Snapshot},
};
use handoff_protocol::{id::TenantId, json::Json, principal::Role};

use crate::{
    board::Shape,
    cast::{Cast, Tenant},
    checks::{self, Final},
    client::{self, Came, Doing, Who},
    coverage::Coverage,
    faults::WorldFault,
    history::History,
    node, ops,
    plan::{FaultAt, Plan},
    ports::{ADDRESS, CANARY, SENT_TWICE, Taken},
    rng::Rng,
    scheduler::{Ended, WORLD, lock},
    store::Observer,
    world::{Phase, World},
};

/// The most polls that a run may take.
const MOST_STEPS: u64 = 3_000_000;

/// What a run came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What is not as it must be; nothing, if all is well.
    pub violations: Vec<String>,
    /// What went wrong as planned, and what was done, by kind.
    pub counted: BTreeMap<&'static str, u64>,
    /// Which edges were taken.
    pub coverage: Coverage,
    /// How many tasks were polled.
    pub steps: u64,
    /// How many calls of the store there were before it was healed.
    pub store_calls: u64,
    /// Everything that happened, if it was asked for.
    pub trace: String,
    /// What the checks were given, if the trace was asked for.
    pub evidence: Option<Evidence>,
}

/// What is held against each other when all is over.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What clients were told.
    pub history: History,
    /// What is there.
    pub end: Final,
    /// What requests and signals ever were.
    pub observer: Observer,
    /// What the sink took.
    pub taken: Vec<Taken>,
    /// Who was in it.
    pub cast: Cast,
    /// Whether idempotency keys may have lapsed.
    pub keys_lapse: bool,
}

impl Evidence {
    /// What clients were told, held against what is there.
    #[must_use]
    pub fn check(&self) -> Vec<String> {
        let Self { history, end, observer, taken, cast, keys_lapse } = self;
        let mut found = checks::acknowledged::check(history, end, taken, *keys_lapse);
        found.extend(checks::reads::check(history, observer));
        found.extend(checks::polls::check(history, observer, end));
        found.extend(checks::held::check(history, observer));
        found.extend(observer.faults.iter().cloned());
        found.extend(checks::served::check(history, end, cast));
        found
    }
}

/// Plays a plan.
#[must_use]
pub fn play(plan: &Plan, traced: bool) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let Ok(runtime) = runtime else {
        return Outcome { violations: vec!["no runtime".to_owned()], ..Outcome::default() };
    };
    runtime.block_on(async {
        let world = match World::new(plan.clone(), traced) {
            Ok(world) => world,
            Err(error) => return Outcome { violations: vec![error.to_string()], ..Outcome::default() },
        };
        let main = Arc::clone(&world);
        let ended = world.scheduler.run(async move { live(&main).await }, MOST_STEPS).await;
        if ended == Ended::TooManySteps {
            world.violation("it goes on forever");
        }
        for panic in world.scheduler.panics() {
            world.violation(format!("a panic: {panic}"));
        }
        (1..=plan.nodes).for_each(|node| world.set_engine(node, None));
        let coverage = lock(&world.disk.observer).coverage.clone();
        Outcome {
            violations: world.violations(),
            counted: world.counted(),
            coverage,
            steps: world.scheduler.now(),
            store_calls: world.store_calls(),
            trace: world.trace(),
            evidence: world.evidence().filter(|_| traced),
        }
    })
}

async fn live(world: &Arc<World>) {
    for number in 1..=world.plan.nodes {
        node::keep_running(world, number);
    }
    let Some(engine) = up(world, 1).await else { return };
    match Cast::make(&engine).await {
        Ok((cast, directories)) => {
            directories.into_iter().for_each(|(tenant, people)| world.ports.directory.set(tenant, people));
            world.set_cast(cast);
        }
        Err(error) => {
            world.violation(format!("no tenant can be made: {error}"));
            return;
        }
    }
    drop(engine);
    world.enter(Phase::Chaos);
    plan_faults(world);
    client::run_all(world).await;
    check_store(world, "at the end of chaos", false).await;
    world.enter(Phase::Heal);
    node::heal(world);
    world.ports.receivers.set_down(false);
    for number in 1..=world.plan.nodes {
        if up(world, number).await.is_none() {
            world.violation(format!("node {number} does not come up"));
            return;
        }
    }
    // Claims of those that crashed lapse.
    tokio::time::sleep(Duration::from_secs(70)).await;
    for tenant in 0..2 {
        end_everything(world, tenant).await;
    }
    tokio::time::sleep(Duration::from_secs(130)).await;
    ops::hear_of_an_end(world, 0).await;
    for tenant in 0..2 {
        take_everything(world, tenant).await;
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    check_everything(world).await;
}

/// The engine of a node, as soon as it is up.
async fn up(world: &Arc<World>, number: usize) -> Option<handoff_engine::Engine> {
    for _ in 0..600 {
        if let Some(engine) = world.engine(number) {
            return Some(engine);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    None
}

fn plan_faults(world: &Arc<World>) {
    for fault in &world.plan.faults {
        let FaultAt::After(millis, fault) = fault.what else { continue };
        let task = Arc::clone(world);
        world.scheduler.spawn(WORLD, async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            if task.phase() == Phase::Chaos {
                happen(&task, fault).await;
            }
        });
    }
}

async fn happen(world: &Arc<World>, fault: WorldFault) {
    world.note(|| format!("{fault:?}"));
    world.count(fault.name());
    match fault {
        WorldFault::Crash(node) => world.crash(node),
        WorldFault::Pause(node, millis) => world.pause(node, millis),
        WorldFault::StoreClock(by) => world.disk.clock().shift(by),
        WorldFault::NodeClock(node, by) => {
            if let Some(node) = world.node(node) {
                node.clock.shift(by);
            }
        }
        WorldFault::Skip(by) => skip(world, by),
        WorldFault::ReceiversDown(millis) => {
            world.ports.receivers.set_down(true);
            tokio::time::sleep(Duration::from_millis(millis)).await;
            world.ports.receivers.set_down(false);
        }
        WorldFault::LongNight => {
            world.ports.receivers.set_down(true);
            // What lies more than an hour before a failure is not held against an endpoint, so every step is shorter.
            for _ in 0..30 {
                if world.phase() != Phase::Chaos {
                    return;
                }
                skip(world, 52 * 60 * 1_000);
                tokio::time::sleep(Duration::from_millis(world.plan.knobs.sweep.saturating_add(400))).await;
            }
            world.ports.receivers.set_down(false);
        }
        WorldFault::Role(draw) => change_role(world, draw),
    }
}

fn skip(world: &Arc<World>, by: i64) {
    world.disk.clock().shift(by);
    world.nodes().iter().for_each(|node| node.clock.shift(by));
}

fn change_role(world: &Arc<World>, draw: u64) {
    let mut rng = Rng::new(draw);
    let Some(tenant) = world.cast().and_then(|cast| cast.tenants.first()) else { return };
    let Some(member) = rng.pick(&tenant.people) else { return };
    let role = rng.pick(&[Role::Viewer, Role::Editor, Role::Admin]).copied().unwrap_or(Role::Editor);
    let (org, id) = (tenant.id, member.id);
    if let Some(engine) = world.engine(1) {
        world.scheduler.spawn(1, async move {
            // If it fails, the role stays what it was.
            let _ = engine.set_role(org, id, role).await;
        });
    }
}

/// Everything of every tenant, as the store has it.
async fn snapshots(world: &Arc<World>) -> Vec<Snapshot> {
    let store = world.disk.store();
    let mut found = Vec::new();
    for tenant in store.tenants().await.unwrap_or_default() {
        if let Ok(snapshot) = store.snapshot(&tenant).await {
            found.push(snapshot);
        }
    }
    found
}

/// Checks the store. What a signature says does not change, so they are judged once, when all is over.
async fn check_store(world: &Arc<World>, when: &str, judges_signatures: bool) -> Vec<Snapshot> {
    let snapshots = snapshots(world).await;
    let mut trust =
        Trust { canaries: vec![CANARY.to_owned(), ADDRESS.to_owned(), "cGF5bG9hZA==".to_owned()], keys: None };
    if judges_signatures
        && world.plan.knobs.signs
        && let Some(system) = snapshots.iter().find(|snapshot| snapshot.tenant == TenantId::System)
    {
        trust = trust.with_keys(&fsck::published_keys(system));
    }
    for snapshot in &snapshots {
        for finding in fsck::check(snapshot, &trust) {
            world.violation(format!("{when}: {finding}"));
        }
    }
    snapshots
}

/// Ends what is pending, as the people and machines of a healed world would.
async fn end_everything(world: &Arc<World>, tenant: usize) {
    let Some(cast) = world.cast().and_then(|cast| cast.tenants.get(tenant)) else { return };
    let end = Final::of(snapshots(world).await);
    let mut doing = Doing::once(world, tenant, format!("heal {tenant}"));
    let pending = end.requests.values().filter(|request| !request.state.is_final() && request.org_id == cast.id);
    for (place, request) in pending.enumerate() {
        let shape = doing.shape_of(request.id).unwrap_or(Shape::Choice);
        if place % 2 == 0 {
            let rendered = request.rendered_digest().map(|digest| digest.to_string()).unwrap_or_default();
            for member in [0, 3] {
                let Some(person) = cast.people.get(member) else { continue };
                doing.name = format!("heal {} {member}", request.id);
                let again = ops::key(&doing.name);
                let body = ops::ending(shape, &rendered);
                ops::answer_as(&mut doing, &Who(person.token.clone()), request.id, body, &again).await;
            }
        }
        withdraw(&mut doing, cast, request).await;
    }
}

/// Withdraws a request unless it ended already.
async fn withdraw(doing: &mut Doing<'_>, cast: &Tenant, request: &handoff_protocol::decision::Request) {
    let id = request.id;
    let mut refusal = None;
    for token in &cast.machines {
        doing.name = format!("heal {id} withdrawn");
        let again = ops::key(&doing.name);
        let key = again.key();
        let reply = doing
            .call(&Who(token.clone()), &again, move |engine, principal| {
                let (body, key) = (Json::object([("reason", Json::from("the run is over"))]), key.clone());
                Box::pin(async move { engine.cancel(&principal, id, body, key.as_ref()).await })
            })
            .await;
        doing.refused(&reply.came);
        match reply.came {
            Came::Done(_) => return,
            Came::Refused(error) => {
                use handoff_protocol::decision::ErrorCode as Code;
                let ended =
                    [Code::AlreadyAnswered, Code::RequestExpired, Code::RequestCancelled, Code::RequestSuperseded];
                if ended.contains(&error.code()) {
                    return;
                }
                refusal = Some(error.to_string());
            }
            Came::Unknown => refusal = Some("no answer".to_owned()),
        }
    }
    doing.world.violation(format!("R7: {id} cannot be withdrawn by any machine: {refusal:?}"));
}

/// Polls and acknowledges until nothing waits any more.
async fn take_everything(world: &Arc<World>, tenant: usize) {
    let Some(cast) = world.cast().and_then(|cast| cast.tenants.get(tenant)) else { return };
    let Some(machine) = cast.machines.first() else { return };
    let end = Final::of(snapshots(world).await);
    let mut doing = Doing::once(world, tenant, format!("take {tenant}"));
    let mut waiters: Vec<String> = end
        .signals
        .values()
        .filter(|signal| signal.acked_at.is_none())
        .filter(|signal| {
            let request = end.requests.get(&signal.request_id);
            request.is_some_and(|request| doing.tenant_id() == Some(TenantId::Org(request.org_id)))
        })
        .map(|signal| signal.waiter_ref.as_str().to_owned())
        .collect();
    waiters.sort();
    waiters.dedup();
    for waiter in waiters {
        for _ in 0..20 {
            if ops::acknowledge_all(&mut doing, &Who(machine.clone()), &waiter).await == 0 {
                break;
            }
        }
    }
}

async fn check_everything(world: &Arc<World>) {
    let end = Final::of(check_store(world, "at the end", true).await);
    for event in end.snapshots.iter().flat_map(|snapshot| &snapshot.events) {
        let (number, at) = (event.sequence, event.at);
        world.note(|| format!("event {number} {at} {} {} {}", event.event_type, event.subject, event.data));
    }
    let Some(cast) = world.cast().cloned() else { return };
    let evidence = Evidence {
        history: lock(&world.history).clone(),
        end,
        observer: lock(&world.disk.observer).clone(),
        taken: world.ports.sink.taken(),
        cast,
        keys_lapse: world.plan.keys_lapse(),
    };
    let mut found = evidence.check();
    found.extend(checks::progress::check(&evidence.end, &world.ports, world.disk.clock().now()));
    let twice = world.counted().get(SENT_TWICE).copied().unwrap_or(0);
    if world.plan.is_calm() && twice > 0 {
        found.push(format!("V-7: nothing went wrong, and {twice} attempts were sent twice"));
    }
    found.into_iter().for_each(|finding| world.violation(finding));
    world.set_evidence(evidence);
}
