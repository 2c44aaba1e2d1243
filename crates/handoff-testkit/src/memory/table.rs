//! A sorted map that can take back what was done to it since the last commit.

use std::{borrow::Borrow, collections::BTreeMap, ops::RangeBounds};

/// Rows in the order of their keys, with a log of what the rows were before the open transaction changed them.
#[derive(Debug)]
pub(super) struct Table<K, V> {
    rows: BTreeMap<K, V>,
    /// What stood under each changed key, oldest change first.
    undo: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), undo: Vec::new() }
    }
}

impl<K: Clone + Ord, V: Clone> Table<K, V> {
    /// Sets the row under a key.
    pub(super) fn put(&mut self, key: K, value: V) {
        let before = self.rows.insert(key.clone(), value);
        self.undo.push((key, before));
    }

    /// Removes the row under a key, and answers it.
    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let before = self.rows.remove(key)?;
        self.undo.push((key.clone(), Some(before.clone())));
        Some(before)
    }

    /// Forgets how to take the changes back.
    pub(super) fn commit(&mut self) {
        self.undo.clear();
    }

    /// Takes back every change since the last commit, the newest first.
    pub(super) fn roll_back(&mut self) {
        while let Some((key, before)) = self.undo.pop() {
            match before {
                Some(value) => self.rows.insert(key, value),
                None => self.rows.remove(&key),
            };
        }
    }

    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.rows.get(key)
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.rows.iter()
    }

    pub(super) fn range(&self, range: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.rows.range(range)
    }
}
