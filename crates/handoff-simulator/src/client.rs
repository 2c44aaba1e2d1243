//! Clients: each does what is planned for it, one thing after another, and repeats what it got no answer to.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{
    FutureExt as _,
    future::{BoxFuture, abortable},
};
use handoff_engine::Engine;
use handoff_protocol::{
    decision::{DecisionError, ErrorCode, idempotency::IdempotencyKey},
    principal::Principal,
};

use crate::{
    cast::Tenant,
    history::Span,
    ops,
    plan::PlannedOp,
    rng::Rng,
    scheduler::lock,
    world::{Phase, World},
};

/// How long a client waits for an answer: longer than the longest poll.
const PATIENCE: Duration = Duration::from_secs(45);

/// How often it repeats what may be repeated.
const TRIES: u32 = 7;

/// One operation being done.
pub struct Doing<'a> {
    /// Where.
    pub world: &'a Arc<World>,
    /// For whom: the place of the tenant in the cast.
    pub tenant: usize,
    /// What details are drawn from.
    pub rng: Rng,
    /// What makes its keys unlike those of others.
    pub name: String,
    home: usize,
}

/// Whose credential a call carries.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Who(pub String);

/// How a call may be repeated.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Again {
    /// Under its key.
    Key(IdempotencyKey),
    /// As it is: repeating it is harmless.
    Freely,
    /// Not at all.
    Never,
}

impl Again {
    /// The key, if there is one.
    #[must_use]
    pub fn key(&self) -> Option<IdempotencyKey> {
        match self {
            Self::Key(key) => Some(key.clone()),
            Self::Freely | Self::Never => None,
        }
    }
}

/// What became of a call.
#[derive(Debug)]
pub enum Came<R> {
    /// It was done.
    Done(R),
    /// It was refused for good.
    Refused(DecisionError),
    /// Nobody knows.
    Unknown,
}

/// What became of a call, and when.
#[derive(Debug)]
pub struct Reply<R> {
    /// What.
    pub came: Came<R>,
    /// From when to when.
    pub span: Span,
    /// When the attempt began that was answered.
    pub attempt_from: u64,
    /// How often it was tried.
    pub tries: u32,
}

/// Does everything that is planned for a client.
pub async fn run(world: Arc<World>, number: usize, planned: Vec<PlannedOp>) {
    for op in planned {
        if world.phase() != Phase::Chaos {
            return;
        }
        tokio::time::sleep(Duration::from_millis(op.pause)).await;
        let mut rng = Rng::new(op.seed);
        let tenant = usize::from(rng.chance(150));
        let home = usize::try_from(rng.below(3)).unwrap_or(0).saturating_add(number);
        let mut doing = Doing { world: &world, tenant, rng, name: format!("op{}", op.number), home };
        ops::perform(&mut doing, op.op).await;
    }
}

impl<'a> Doing<'a> {
    /// One thing to be done outside of any client's plan.
    #[must_use]
    pub fn once(world: &'a Arc<World>, tenant: usize, name: impl Into<String>) -> Self {
        let name = name.into();
        let rng = Rng::of(world.plan.seed, &name);
        Self { world, tenant, rng, name, home: 0 }
    }

    /// The same from a client that calls this node first, as far as there are so many.
    #[must_use]
    pub fn from(mut self, home: usize) -> Self {
        self.home = home;
        self
    }

    /// The tenant's people and machines.
    #[must_use]
    pub fn cast(&self) -> Option<&'a Tenant> {
        self.world.cast()?.tenants.get(self.tenant)
    }

    /// One of the tenant's machines.
    pub fn machine(&mut self) -> Option<Who> {
        let cast = self.cast()?;
        // Mostly the first, so that owners meet their own.
        let place = usize::from(self.rng.chance(200));
        cast.machines.get(place).map(|token| Who(token.clone()))
    }

    /// One of the tenant's people, with their place.
    pub fn person(&mut self) -> Option<(usize, Who)> {
        let cast = self.cast()?;
        let place = self.rng.weigh(&[(50, 0), (30, 1), (20, 2), (20, 3), (4, 4)])?;
        cast.people.get(place).map(|member| (place, Who(member.token.clone())))
    }

    /// How this operation may be repeated: under a key, mostly.
    pub fn keyed(&mut self) -> Again {
        if self.rng.chance(800) {
            IdempotencyKey::parse(&self.name).map_or(Again::Never, Again::Key)
        } else {
            Again::Never
        }
    }

    /// Calls a node, again and again where that is allowed, until there is an answer.
    pub async fn call<R, F>(&mut self, who: &Who, again: &Again, op: F) -> Reply<R>
    where
        R: Send + 'static,
        F: Fn(Engine, Principal) -> BoxFuture<'static, Result<R, DecisionError>> + Send + Sync + 'static,
    {
        let op = Arc::new(op);
        let from = self.world.scheduler.now();
        let mut tries = 0_u32;
        loop {
            let attempt_from = self.world.scheduler.now();
            let node = self.home.wrapping_add(usize::try_from(tries).unwrap_or(0)).checked_rem(self.world.plan.nodes);
            let came = self.attempt(node.unwrap_or(0).saturating_add(1), who, Arc::clone(&op)).await;
            tries = tries.saturating_add(1);
            let span = Span { from, to: self.world.scheduler.now() };
            let reply = |came| Reply { came, span, attempt_from, tries };
            match came {
                Some(Ok(done)) => return reply(Came::Done(done)),
                Some(Err(error)) if is_final(&error) => {
                    self.world.note(|| format!("{} refused {:?}: {error}", self.name, error.code()));
                    return reply(Came::Refused(error));
                }
                Some(Err(error)) if self.world.phase() == Phase::Heal && tries >= TRIES => {
                    self.world.violation(format!("{} fails in a healed world: {error}", self.name));
                    return reply(Came::Unknown);
                }
                None if self.world.phase() == Phase::Heal && tries >= TRIES => {
                    self.world.violation(format!("{} gets no answer in a healed world", self.name));
                    return reply(Came::Unknown);
                }
                Some(Err(_)) | None => {}
            }
            if tries >= TRIES || *again == Again::Never {
                return reply(Came::Unknown);
            }
            let wait = self.rng.between(1, 2_000);
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
    }

    /// One attempt at one node; nothing if no answer came.
    async fn attempt<R, F>(&mut self, node: usize, who: &Who, op: Arc<F>) -> Option<Result<R, DecisionError>>
    where
        R: Send + 'static,
        F: Fn(Engine, Principal) -> BoxFuture<'static, Result<R, DecisionError>> + Send + Sync + 'static,
    {
        let world = Arc::clone(self.world);
        let often = world.plan.knobs.network;
        let way = if world.goes_wrong(&mut self.rng, often, "call lost, reply lost or client gone") {
            self.rng.below(3)
        } else {
            3
        };
        let Some(engine) = world.engine(node) else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            return None;
        };
        if way == 0 {
            return None;
        }
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let token = who.0.clone();
        let (serving, hangs_up) = abortable(async move {
            let done = match engine.authenticate(Some(&token)).await {
                Ok(principal) => op(engine, principal).await,
                Err(error) => Err(error),
            };
            if way != 1 {
                // Whoever asked may be gone.
                let _ = sender.send(done);
            }
        });
        world.scheduler.spawn(node, async move {
            let _ = serving.await;
        });
        if way == 2 {
            // The connection breaks off, and the server drops what it was doing.
            tokio::time::sleep(Duration::from_millis(self.rng.below(30))).await;
            hangs_up.abort();
            return None;
        }
        tokio::time::timeout(PATIENCE, receiver).await.ok()?.ok()
    }
}

/// Whether trying again would come to the same.
fn is_final(error: &DecisionError) -> bool {
    !matches!(error.code(), ErrorCode::InternalError | ErrorCode::DeliveryUnavailable | ErrorCode::RateLimited)
}

/// Runs every client of the plan beside the others, and answers when all are done.
pub async fn run_all(world: &Arc<World>) {
    let left = Arc::new(Mutex::new(BTreeSet::new()));
    let done = Arc::new(tokio::sync::Notify::new());
    for (number, planned) in world.plan.clients.iter().cloned().enumerate() {
        lock(&left).insert(number);
        let (left, done, world) = (Arc::clone(&left), Arc::clone(&done), Arc::clone(world));
        let scheduler = world.scheduler.clone();
        scheduler.spawn(
            crate::scheduler::WORLD,
            run(world, number, planned).map(move |()| {
                lock(&left).remove(&number);
                done.notify_one();
            }),
        );
    }
    while !lock(&left).is_empty() {
        done.notified().await;
    }
}
