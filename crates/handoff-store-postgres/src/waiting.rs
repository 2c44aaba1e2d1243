//! Who waits, by tenant, and whether somebody works for them: at most one worker a tenant, and none for a tenant where
//! nobody waits.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    hash::Hash,
    sync::PoisonError,
};

use crate::sync::{Mutex, MutexGuard};

/// Tenants that somebody works for, with what waits in each.
#[derive(Debug)]
pub(crate) struct Waiting<T, M>(Mutex<HashMap<T, VecDeque<M>>>);

impl<T, M> Default for Waiting<T, M> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<T: Eq + Hash, M> Waiting<T, M> {
    /// Hands in a member. If this says so, nobody works for the tenant yet, and whoever calls begins to.
    #[must_use]
    pub(crate) fn push(&self, tenant: T, member: M) -> bool {
        match self.lock().entry(tenant) {
            Entry::Occupied(mut queue) => {
                queue.get_mut().push_back(member);
                false
            }
            Entry::Vacant(place) => {
                place.insert(VecDeque::from([member]));
                true
            }
        }
    }

    /// What waits now, so many at most; nothing, and the tenant has no worker any more.
    pub(crate) fn take(&self, tenant: &T, most: usize) -> Option<Vec<M>> {
        let mut waiting = self.lock();
        let queue = waiting.get_mut(tenant)?;
        if queue.is_empty() {
            waiting.remove(tenant);
            return None;
        }
        let many = queue.len().min(most.max(1));
        Some(queue.drain(..many).collect())
    }

    /// Whether anything waits in this tenant.
    pub(crate) fn has_more(&self, tenant: &T) -> bool {
        self.lock().get(tenant).is_some_and(|queue| !queue.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<T, VecDeque<M>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worker_takes_everything_in_order_and_leaves_nothing_behind() {
        let waiting = Waiting::default();
        assert!(waiting.push("a", 1), "the first of a tenant needs a worker");
        assert!(!waiting.push("a", 2) && !waiting.push("a", 3) && waiting.push("b", 4));
        assert_eq!(waiting.take(&"a", 2), Some(vec![1, 2]));
        assert!(!waiting.push("a", 5), "somebody works for it still");
        assert_eq!(waiting.take(&"a", 0), Some(vec![3]), "at least one is taken");
        assert!(waiting.has_more(&"a") && !waiting.has_more(&"c"));
        assert_eq!(waiting.take(&"a", 9), Some(vec![5]));
        assert!(!waiting.has_more(&"a"));
        assert_eq!(waiting.take(&"a", 9), None);
        assert!(waiting.push("a", 6), "nobody does any more");
    }
}

/// Every order of threads that hand in and threads that work.
#[cfg(all(test, feature = "shuttle"))]
mod shuttled {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use shuttle::{check_pct, check_random, thread};

    use super::*;

    #[derive(Default)]
    struct Desk {
        waiting: Waiting<u8, (u8, u8)>,
        working: AtomicUsize,
        done: Mutex<Vec<(u8, u8)>>,
    }

    fn work(desk: &Desk) {
        loop {
            let Some(members) = desk.waiting.take(&0, 2) else { return };
            assert_eq!(desk.working.fetch_add(1, Ordering::SeqCst), 0, "two workers of one tenant");
            thread::yield_now();
            desk.done.lock().unwrap().extend(members);
            desk.working.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn hand_in_from_three_threads() {
        let desk = Arc::new(Desk::default());
        let callers: Vec<_> = (0..3)
            .map(|caller| {
                let desk = Arc::clone(&desk);
                thread::spawn(move || {
                    let push = |number| {
                        let worker = Arc::clone(&desk);
                        desk.waiting.push(0, (caller, number)).then(|| thread::spawn(move || work(&worker)))
                    };
                    [push(0), push(1)]
                })
            })
            .collect();
        let workers: Vec<_> = callers.into_iter().flat_map(|caller| caller.join().unwrap()).flatten().collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        let done = desk.done.lock().unwrap().clone();
        assert_eq!(done.len(), 6, "each is worked on, and once: {done:?}");
        for caller in 0..3 {
            let of_one: Vec<u8> = done.iter().filter(|(by, _)| *by == caller).map(|(_, number)| *number).collect();
            assert_eq!(of_one, [0, 1], "in the order in which they were handed in");
        }
        assert!(desk.waiting.lock().is_empty(), "nobody works where nobody waits");
    }

    #[test]
    fn each_member_is_worked_on_once_and_in_order_by_one_worker_a_tenant() {
        check_random(hand_in_from_three_threads, 5_000);
        check_pct(hand_in_from_three_threads, 5_000, 3);
    }
}
