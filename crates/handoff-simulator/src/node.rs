//! Nodes: an engine with its worker over the one store, started again whenever it crashed.

use std::{sync::Arc, time::Duration};

use handoff_engine::{Engine, store::Store};
use handoff_protocol::{
    callback::CallbackSecret,
    continuation::{ContinuationKey, Keyring},
    decision::{CallbackPolicy, Policy},
    duration::ExactDuration,
    id::{KeyId, Ulid},
    secret::Secret,
    signature::SigningKey,
};

use crate::{
    rng::Rng,
    scheduler::WORLD,
    store::NodeStore,
    world::{Phase, World},
};

/// What callbacks are signed with, the newer one first.
pub const SECRETS: [&str; 2] = ["whsec_of_the_simulator", "whsec_from_before"];

/// Starts a node and sees to it that it runs for as long as the world does.
pub fn keep_running(world: &Arc<World>, node: usize) {
    let world = Arc::clone(world);
    let mut rng = Rng::of(world.plan.seed ^ u64::try_from(node).unwrap_or(0), "restarts");
    let scheduler = world.scheduler.clone();
    scheduler.spawn(WORLD, async move {
        loop {
            start(&world, node);
            let Some(known) = world.node(node) else { return };
            known.down.notified().await;
            world.count("(restart of a node)");
            let wait = if world.phase() == Phase::Chaos { rng.between(0, 3_000) } else { 1 };
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
    });
}

fn start(world: &Arc<World>, node: usize) {
    let task = Arc::clone(world);
    world.scheduler.spawn(node, async move {
        let engine = loop {
            match build(&task, node).await {
                Some(engine) => break engine,
                None => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        };
        task.note(|| format!("node {node} is up"));
        task.set_engine(node, Some(engine.clone()));
        engine.run_timers(Duration::from_millis(task.plan.knobs.sweep)).await;
    });
}

async fn build(world: &Arc<World>, node: usize) -> Option<Engine> {
    let store: Arc<dyn Store> = Arc::new(NodeStore::new(Arc::clone(world), node));
    let clock = world.node(node)?.clock.clone();
    let entropy = handoff_testkit::SeededEntropy::new(world.draw("entropy"));
    let builder = Engine::builder()
        .store(store)
        .clock(Arc::new(clock))
        .entropy(Arc::new(entropy))
        .spawner(world.scheduler.spawner(node))
        .policy(policy()?);
    let mut builder = world.ports.plug_into(builder);
    if world.plan.knobs.signs {
        builder = builder.signer(Arc::new(key()));
    }
    builder.build().await.ok()
}

/// What receipts are signed with.
pub(crate) fn key() -> SigningKey {
    SigningKey::from_seed(KeyId::from_ulid(Ulid::from_u128(7)), &Secret::new([7; 32]))
}

pub(crate) fn policy() -> Option<Policy> {
    let secrets: Vec<CallbackSecret> = SECRETS.iter().filter_map(|text| CallbackSecret::new(*text).ok()).collect();
    let key = ContinuationKey::parse(&format!("a:{}", "a".repeat(64))).ok()?;
    Some(Policy {
        callbacks: CallbackPolicy { secrets, ..CallbackPolicy::default() },
        continuation: Some(Arc::new(Keyring::new([key]).ok()?)),
        escalation_extension: ExactDuration::from_seconds(20),
        ..Policy::default()
    })
}

/// Ends what was off about clocks, and lets every node run.
pub fn heal(world: &Arc<World>) {
    world.disk.clock().catch_up();
    for (place, node) in world.nodes().iter().enumerate() {
        node.clock.follow(world.disk.clock());
        world.scheduler.resume(place.saturating_add(1));
    }
}
