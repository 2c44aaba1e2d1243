//! The scheduler: one task is polled at a time, and a seed decides which of those that are ready.
//!
//! Tasks belong to an owner, the world or a node. A node that crashes loses its tasks, each at the point where it waits; one
//! that is paused keeps them, and none of them moves. The order in which wakes come says nothing: what is ready is a set.
//!
//! It runs inside a single-threaded Tokio runtime whose clock is paused, so that time passes only when nothing is ready.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use handoff_engine::spawn::{Spawn, Task};

use crate::rng::Rng;

/// Whose a task is: 0 is the world's, and each node has a number.
pub type Owner = usize;

/// What belongs to no node.
pub const WORLD: Owner = 0;

/// Runs tasks one at a time. Clones share the tasks.
#[derive(Clone)]
pub struct Scheduler {
    state: Arc<Mutex<State>>,
    ready: Arc<Ready>,
    steps: Arc<AtomicU64>,
}

struct State {
    rng: Rng,
    next: u64,
    tasks: BTreeMap<u64, Entry>,
    paused: BTreeSet<Owner>,
    doomed: BTreeSet<Owner>,
    panics: Vec<String>,
    order: u64,
}

struct Entry {
    owner: Owner,
    /// Away while it is polled.
    task: Option<Task>,
    waker: Waker,
}

#[derive(Default)]
struct Ready {
    set: Mutex<BTreeSet<u64>>,
    runtime: Mutex<Option<Waker>>,
}

struct TaskWaker {
    id: u64,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        lock(&self.ready.set).insert(self.id);
        if let Some(runtime) = lock(&self.ready.runtime).as_ref() {
            runtime.wake_by_ref();
        }
    }
}

/// How a run of the scheduler ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    /// What it was to run came to its end.
    Done,
    /// It took more steps than it may.
    TooManySteps,
}

impl Scheduler {
    /// Nothing to run yet; `rng` decides the order.
    #[must_use]
    pub fn new(rng: Rng) -> Self {
        let state = State {
            rng,
            next: 0,
            tasks: BTreeMap::new(),
            paused: BTreeSet::new(),
            doomed: BTreeSet::new(),
            panics: Vec::new(),
            order: 0,
        };
        Self { state: Arc::new(Mutex::new(state)), ready: Arc::default(), steps: Arc::default() }
    }

    /// Adds a task of an owner.
    pub fn spawn(&self, owner: Owner, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_boxed(owner, Box::pin(task));
    }

    fn spawn_boxed(&self, owner: Owner, task: Task) {
        let mut state = lock(&self.state);
        let id = state.next;
        state.next = id.saturating_add(1);
        let waker = Waker::from(Arc::new(TaskWaker { id, ready: Arc::clone(&self.ready) }));
        state.tasks.insert(id, Entry { owner, task: Some(task), waker: waker.clone() });
        drop(state);
        waker.wake();
    }

    /// Whatever a node spawns.
    #[must_use]
    pub fn spawner(&self, owner: Owner) -> Arc<dyn Spawn> {
        Arc::new(OwnedSpawn { scheduler: self.clone(), owner })
    }

    /// How many tasks were polled so far: a clock that orders everything that happens.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// What the order of polls came to so far, in one number.
    #[must_use]
    pub fn order(&self) -> u64 {
        lock(&self.state).order
    }

    /// Drops every task of an owner, before anything else is polled.
    pub fn kill(&self, owner: Owner) {
        lock(&self.state).doomed.insert(owner);
    }

    /// Polls no task of an owner until it is [resumed](Self::resume).
    pub fn pause(&self, owner: Owner) {
        lock(&self.state).paused.insert(owner);
    }

    /// Polls the tasks of an owner again.
    pub fn resume(&self, owner: Owner) {
        lock(&self.state).paused.remove(&owner);
        if let Some(runtime) = lock(&self.ready.runtime).as_ref() {
            runtime.wake_by_ref();
        }
    }

    /// What panicked, and what it said.
    #[must_use]
    pub fn panics(&self) -> Vec<String> {
        lock(&self.state).panics.clone()
    }

    /// Runs until a future ends, or until it took too many steps. Whatever else is there by then is dropped.
    pub async fn run(&self, main: impl Future<Output = ()> + Send + 'static, most_steps: u64) -> Ended {
        let done = Arc::new(Mutex::new(false));
        let told = Arc::clone(&done);
        self.spawn(WORLD, async move {
            main.await;
            *lock(&told) = true;
        });
        let ended = tokio::task::unconstrained(poll_fn(|context| self.poll(context, &done, most_steps))).await;
        let left = std::mem::take(&mut lock(&self.state).tasks);
        drop(left);
        ended
    }

    fn poll(&self, context: &mut Context<'_>, done: &Mutex<bool>, most_steps: u64) -> Poll<Ended> {
        *lock(&self.ready.runtime) = Some(context.waker().clone());
        loop {
            self.bury();
            if *lock(done) {
                return Poll::Ready(Ended::Done);
            }
            if self.now() >= most_steps {
                return Poll::Ready(Ended::TooManySteps);
            }
            let Some((id, mut task, waker)) = self.next() else { return Poll::Pending };
            self.steps.fetch_add(1, Ordering::Relaxed);
            let mut context = Context::from_waker(&waker);
            let polled = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(&mut context)));
            match polled {
                Ok(Poll::Pending) => self.keep(id, task),
                Ok(Poll::Ready(())) => self.forget(id, task),
                Err(panic) => {
                    let said = panic.downcast_ref::<String>().cloned();
                    let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                    lock(&self.state).panics.push(said.unwrap_or_else(|| "without a word".to_owned()));
                    self.forget(id, task);
                }
            }
        }
    }

    /// The next task, by lot among those that are ready and may move.
    fn next(&self) -> Option<(u64, Task, Waker)> {
        let mut state = lock(&self.state);
        let mut ready = lock(&self.ready.set);
        let may_move = |id: &u64| state.tasks.get(id).is_some_and(|entry| !state.paused.contains(&entry.owner));
        let movable: Vec<u64> = ready.iter().copied().filter(may_move).collect();
        ready.retain(|id| state.tasks.contains_key(id));
        let id = *state.rng.pick(&movable)?;
        ready.remove(&id);
        drop(ready);
        state.order = state.order.rotate_left(5).wrapping_mul(0x0100_0000_01b3) ^ id;
        let entry = state.tasks.get_mut(&id)?;
        let task = entry.task.take()?;
        Some((id, task, entry.waker.clone()))
    }

    fn keep(&self, id: u64, task: Task) {
        let mut state = lock(&self.state);
        let left = match state.tasks.get_mut(&id) {
            Some(entry) => {
                entry.task = Some(task);
                None
            }
            None => Some(task),
        };
        drop(state);
        // Dropped without the lock: what it holds may wake others, or spawn.
        drop(left);
    }

    fn forget(&self, id: u64, task: Task) {
        let entry = lock(&self.state).tasks.remove(&id);
        drop(entry);
        drop(task);
    }

    /// Drops the tasks of owners that are to die.
    fn bury(&self) {
        loop {
            let mut state = lock(&self.state);
            let doomed = std::mem::take(&mut state.doomed);
            if doomed.is_empty() {
                return;
            }
            let ids: Vec<u64> =
                state.tasks.iter().filter(|(_, entry)| doomed.contains(&entry.owner)).map(|(id, _)| *id).collect();
            let dead: Vec<Entry> = ids.iter().filter_map(|id| state.tasks.remove(id)).collect();
            doomed.iter().for_each(|owner| {
                state.paused.remove(owner);
            });
            drop(state);
            drop(dead);
        }
    }
}

struct OwnedSpawn {
    scheduler: Scheduler,
    owner: Owner,
}

impl Spawn for OwnedSpawn {
    fn spawn(&self, task: Task) {
        self.scheduler.spawn_boxed(self.owner, task);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn play(seed: u64, play: impl AsyncFnOnce(Scheduler) -> Vec<usize>) -> (Vec<usize>, u64) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let scheduler = Scheduler::new(Rng::new(seed));
        let played = runtime.block_on(play(scheduler.clone()));
        (played, scheduler.order())
    }

    async fn ten_tasks(scheduler: Scheduler) -> Vec<usize> {
        let order = Arc::new(Mutex::new(Vec::new()));
        for task in 0..10 {
            let order = Arc::clone(&order);
            scheduler.spawn(task % 3, async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                lock(&order).push(task);
            });
        }
        assert_eq!(scheduler.run(tokio::time::sleep(Duration::from_secs(1)), 10_000).await, Ended::Done);
        lock(&order).clone()
    }

    #[test]
    fn the_seed_alone_decides_the_order() {
        assert_eq!(play(1, ten_tasks), play(1, ten_tasks));
        assert_ne!(play(1, ten_tasks), play(2, ten_tasks));
    }

    #[test]
    fn a_node_that_is_killed_loses_its_tasks_where_they_wait_and_one_that_is_paused_keeps_them() {
        let (done, _) = play(3, async |scheduler: Scheduler| {
            let done = Arc::new(Mutex::new(Vec::new()));
            for owner in 1..=3 {
                let done = Arc::clone(&done);
                scheduler.spawn(owner, async move {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    lock(&done).push(owner);
                });
            }
            let (other, seen) = (scheduler.clone(), Arc::clone(&done));
            let main = async move {
                tokio::time::sleep(Duration::from_millis(500)).await;
                other.kill(1);
                other.pause(2);
                tokio::time::sleep(Duration::from_secs(5)).await;
                assert_eq!(*lock(&seen), [3]);
                other.resume(2);
                tokio::time::sleep(Duration::from_secs(1)).await;
            };
            assert_eq!(scheduler.run(main, 10_000).await, Ended::Done);
            lock(&done).clone()
        });
        assert_eq!(done, [3, 2]);
    }

    #[test]
    fn what_never_ends_is_stopped_and_what_panics_is_told() {
        let (_, _) = play(4, async |scheduler: Scheduler| {
            scheduler.spawn(1, async { panic!("on purpose") });
            let forever = async {
                loop {
                    tokio::task::yield_now().await;
                }
            };
            assert_eq!(scheduler.run(forever, 100).await, Ended::TooManySteps);
            assert_eq!(scheduler.panics(), ["on purpose"]);
            Vec::new()
        });
    }
}
