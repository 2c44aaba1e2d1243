//! A sorted map that can take back what was done to it since a mark.

use std::collections::BTreeMap;

/// Rows in the order of their keys, with a log of what stood under each changed key, the oldest change first.
#[derive(Debug)]
pub(crate) struct Tracked<K, V> {
    rows: BTreeMap<K, V>,
    undo: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Tracked<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), undo: Vec::new() }
    }
}

impl<K: Clone + Ord, V> Tracked<K, V> {
    /// Sets the row under a key.
    pub(crate) fn put(&mut self, key: K, value: V) {
        let before = self.rows.insert(key.clone(), value);
        self.undo.push((key, before));
    }

    /// The row under a key.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key)
    }

    /// All rows, in order.
    pub(crate) fn rows(&self) -> &BTreeMap<K, V> {
        &self.rows
    }

    /// Forgets how to take the changes back.
    pub(crate) fn keep(&mut self) {
        self.undo.clear();
    }

    /// Takes back every change since the last call of [`keep`](Self::keep), the newest first.
    pub(crate) fn take_back(&mut self) {
        while let Some((key, before)) = self.undo.pop() {
            match before {
                Some(value) => self.rows.insert(key, value),
                None => self.rows.remove(&key),
            };
        }
    }
}
