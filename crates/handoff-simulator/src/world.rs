//! The world of one run: its nodes, its store, its clocks, who is in it, and what went wrong.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use handoff_engine::{Engine, store::StoreError};
use tokio::sync::Notify;

use crate::{
    board::Board,
    cast::Cast,
    faults::StoreFault,
    history::History,
    plan::{FaultAt, Plan},
    ports::Ports,
    rng::Rng,
    run::Evidence,
    scheduler::{Scheduler, WORLD, lock},
    store::Disk,
    time::SimClock,
};

/// Everything of one run.
pub struct World {
    /// What was decided before it began.
    pub plan: Plan,
    /// Who decides what happens next.
    pub scheduler: Scheduler,
    /// The one store.
    pub disk: Disk,
    /// The outside world, as the engine's ports show it.
    pub ports: Arc<Ports>,
    /// What clients know.
    pub board: Mutex<Board>,
    /// What clients were told.
    pub history: Mutex<History>,
    nodes: Vec<Node>,
    cast: OnceLock<Cast>,
    phase: AtomicU8,
    store_calls: AtomicU64,
    store_faults: BTreeMap<u64, StoreFault>,
    latency: Mutex<Rng>,
    draws: AtomicU64,
    counted: Mutex<BTreeMap<&'static str, u64>>,
    violations: Mutex<Vec<String>>,
    trace: Option<Mutex<String>>,
    evidence: Mutex<Option<Evidence>>,
}

/// One node.
pub(crate) struct Node {
    pub(crate) clock: SimClock,
    pub(crate) down: Notify,
    engine: Mutex<Option<Engine>>,
    /// How often it crashed.
    crashes: AtomicU64,
}

/// What is going on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// The world is being made.
    Setup,
    /// Whatever is planned goes wrong.
    Chaos,
    /// Nothing goes wrong any more, and everything must come to its end.
    Heal,
}

impl World {
    /// A world that is about to begin. Call it within a runtime whose time is virtual.
    ///
    /// # Errors
    ///
    /// Never, but for a defect of the store in memory.
    pub fn new(plan: Plan, traced: bool) -> Result<Arc<Self>, StoreError> {
        let clock = SimClock::new();
        let scheduler = Scheduler::new(Rng::of(plan.seed, "order"));
        let disk = Disk::new(clock.clone(), plan.seed, scheduler.clone())?;
        let nodes = (0..plan.nodes)
            .map(|_| Node {
                clock: clock.another(),
                down: Notify::new(),
                engine: Mutex::default(),
                crashes: AtomicU64::new(0),
            })
            .collect();
        let store_faults = plan.faults.iter().filter_map(|fault| match fault.what {
            FaultAt::StoreCall(at, fault) => Some((at, fault)),
            FaultAt::After(..) => None,
        });
        let ports = Ports::new(plan.seed, &plan.knobs);
        Ok(Arc::new(Self {
            scheduler,
            disk,
            ports: Arc::new(ports),
            board: Mutex::default(),
            history: Mutex::default(),
            nodes,
            cast: OnceLock::new(),
            phase: AtomicU8::new(0),
            store_calls: AtomicU64::new(0),
            store_faults: store_faults.collect(),
            latency: Mutex::new(Rng::of(plan.seed, "latency")),
            draws: AtomicU64::new(0),
            counted: Mutex::default(),
            violations: Mutex::default(),
            trace: traced.then(Mutex::default),
            evidence: Mutex::default(),
            plan,
        }))
    }

    /// What is going on.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::SeqCst) {
            0 => Phase::Setup,
            1 => Phase::Chaos,
            _ => Phase::Heal,
        }
    }

    /// Whether nothing goes wrong now, and nothing that did so before matters any more.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.phase() == Phase::Heal || self.plan.is_calm()
    }

    /// Goes on to another phase.
    pub fn enter(&self, phase: Phase) {
        let number = match phase {
            Phase::Setup => 0,
            Phase::Chaos => 1,
            Phase::Heal => 2,
        };
        self.phase.store(number, Ordering::SeqCst);
        self.ports.set_troubled(phase == Phase::Chaos);
        self.note(|| format!("{phase:?}"));
    }

    /// Who is in it.
    #[must_use]
    pub fn cast(&self) -> Option<&Cast> {
        self.cast.get()
    }

    /// Says who is in it, once.
    pub fn set_cast(&self, cast: Cast) {
        // A second cast would be a defect of the simulator, and everything would fail that needs it.
        let _ = self.cast.set(cast);
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn node(&self, node: usize) -> Option<&Node> {
        self.nodes.get(node.checked_sub(1)?)
    }

    /// The engine of a node, if it is up.
    #[must_use]
    pub fn engine(&self, node: usize) -> Option<Engine> {
        lock(&self.node(node)?.engine).clone()
    }

    pub(crate) fn set_engine(&self, node: usize, engine: Option<Engine>) {
        let Some(known) = self.node(node) else { return };
        let before = std::mem::replace(&mut *lock(&known.engine), engine);
        drop(before);
    }

    /// A node loses everything but the disk, and is started again after a while.
    pub fn crash(&self, node: usize) {
        self.note(|| format!("node {node} crashes"));
        self.scheduler.kill(node);
        self.set_engine(node, None);
        if let Some(node) = self.node(node) {
            node.crashes.fetch_add(1, Ordering::SeqCst);
            node.down.notify_one();
        }
    }

    /// How often a node crashed.
    pub(crate) fn crashes(&self, node: usize) -> u64 {
        self.node(node).map_or(0, |node| node.crashes.load(Ordering::SeqCst))
    }

    /// Power fails for everything.
    pub fn power_cut(&self, thousandths: u64) {
        for node in 1..=self.nodes.len() {
            self.crash(node);
        }
        match self.disk.power_cut(thousandths) {
            Ok(lost) => self.note(|| format!("power cut, {lost} changes lost")),
            Err(error) => self.violation(format!("the disk does not start again: {error}")),
        }
    }

    /// A node stands still for a while.
    pub fn pause(self: &Arc<Self>, node: usize, millis: u64) {
        self.note(|| format!("node {node} pauses for {millis}"));
        self.scheduler.pause(node);
        let world = Arc::clone(self);
        self.scheduler.spawn(WORLD, async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            world.scheduler.resume(node);
        });
    }

    /// Counts a call of the store and says what goes wrong at it.
    pub(crate) fn store_call(&self, node: usize, what: &'static str) -> Option<StoreFault> {
        if self.phase() != Phase::Chaos {
            self.note(|| format!("node {node} {what}"));
            return None;
        }
        let call = self.store_calls.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        let fault = self.store_faults.get(&call).copied();
        self.note(|| format!("node {node} {what} {call} {fault:?}"));
        if let Some(fault) = fault {
            self.count(fault.name());
        }
        fault
    }

    /// How many calls of the store there were while things could go wrong.
    #[must_use]
    pub fn store_calls(&self) -> u64 {
        self.store_calls.load(Ordering::SeqCst)
    }

    /// How long a call of the store takes, in milliseconds.
    pub(crate) fn store_latency(&self) -> u64 {
        let mut rng = lock(&self.latency);
        if rng.chance(500) { 0 } else { rng.between(0, self.plan.knobs.store_latency) }
    }

    /// What the store itself refused: some refusals say that the engine is wrong.
    pub(crate) fn store_said(&self, what: &str, error: &StoreError) {
        match error {
            StoreError::Conflict(_)
            | StoreError::StepPanicked(_)
            | StoreError::TooManyReads
            | StoreError::Corrupt(_) => {
                self.violation(format!("store: {what}: {error}"));
            }
            StoreError::StaleTimer { .. } => self.count("(a timer that somebody else held)"),
            _ => {}
        }
    }

    /// Whether something goes wrong now that does so `times` of a thousand times.
    pub(crate) fn goes_wrong(&self, rng: &mut Rng, times: u64, name: &'static str) -> bool {
        let wrong = self.phase() == Phase::Chaos && rng.chance(times);
        if wrong {
            self.count(name);
        }
        wrong
    }

    /// A seed for something that begins as the run goes on.
    pub(crate) fn draw(&self, purpose: &str) -> u64 {
        let draw = self.draws.fetch_add(1, Ordering::SeqCst);
        Rng::of(self.plan.seed ^ draw.rotate_left(40), purpose).draw()
    }

    /// Counts something that went wrong as planned.
    pub fn count(&self, name: &'static str) {
        let mut counted = lock(&self.counted);
        let times = counted.entry(name).or_default();
        *times = times.saturating_add(1);
    }

    /// What went wrong as planned, by kind.
    #[must_use]
    pub fn counted(&self) -> BTreeMap<&'static str, u64> {
        let mut all = lock(&self.counted).clone();
        for (name, times) in self.ports.counted() {
            let kept = all.entry(name).or_default();
            *kept = kept.saturating_add(times);
        }
        all
    }

    /// Says that something is not as it must be.
    pub fn violation(&self, what: impl Into<String>) {
        let what = what.into();
        self.note(|| format!("VIOLATION {what}"));
        let mut violations = lock(&self.violations);
        if violations.len() < 50 {
            violations.push(what);
        }
    }

    /// What is not as it must be.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        lock(&self.violations).clone()
    }

    /// Writes a line of the trace, if there is one.
    pub fn note(&self, line: impl FnOnce() -> String) {
        if let Some(trace) = &self.trace {
            let mut trace = lock(trace);
            // Writing to a text cannot fail.
            let _ = writeln!(
                trace,
                "{} {} {:016x} {}",
                self.disk.clock().passed().as_millis(),
                self.scheduler.now(),
                self.scheduler.order(),
                line()
            );
        }
    }

    pub(crate) fn set_evidence(&self, evidence: Evidence) {
        *lock(&self.evidence) = Some(evidence);
    }

    /// What was held against each other when all was over.
    #[must_use]
    pub fn evidence(&self) -> Option<Evidence> {
        lock(&self.evidence).take()
    }

    /// The trace so far.
    #[must_use]
    pub fn trace(&self) -> String {
        self.trace.as_ref().map(|trace| lock(trace).clone()).unwrap_or_default()
    }
}

/// Lets others have their turn.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if yielded {
            return std::task::Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
