//! Counts of components that were met before, under keys that determine them.

use super::clauses::Weight;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// No entry.
const NONE: u32 = u32::MAX;

/// Bytes of an entry besides its key: the entry and its place in the index, half empty.
const ENTRY_BYTES: usize = 96;

struct Entry {
    hash: u64,
    /// Where its key ends; it begins where the one before ends.
    end: usize,
    /// The entry before with the same hash.
    next: u32,
    weight: Weight,
}

/// A point in the life of the cache.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    generation: u32,
    entries: usize,
}

/// A stack of counts: the latest can be dropped, and all can be looked up.
pub(super) struct Cache {
    keys: Vec<u8>,
    entries: Vec<Entry>,
    index: HashMap<u64, u32>,
    hasher: RandomState,
    generation: u32,
    most_bytes: usize,
}

impl Cache {
    pub(super) fn new(most_bytes: usize) -> Self {
        let (keys, entries, index) = (Vec::new(), Vec::new(), HashMap::new());
        Cache { keys, entries, index, hasher: RandomState::new(), generation: 0, most_bytes }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { generation: self.generation, entries: self.entries.len() }
    }

    fn key(&self, k: usize) -> &[u8] {
        let start = if k == 0 { 0 } else { self.entries[k - 1].end };
        &self.keys[start..self.entries[k].end]
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<Weight> {
        let mut at = *self.index.get(&self.hasher.hash_one(key))?;
        while at != NONE {
            if self.key(at as usize) == key {
                return Some(self.entries[at as usize].weight);
            }
            at = self.entries[at as usize].next;
        }
        None
    }

    /// Everything is forgotten when the memory is used up.
    pub(super) fn insert(&mut self, key: &[u8], weight: Weight) {
        if self.keys.len() + key.len() + (self.entries.len() + 1) * ENTRY_BYTES > self.most_bytes
            || self.entries.len() as u32 >= NONE - 1
        {
            self.keys.clear();
            self.entries.clear();
            self.index.clear();
            self.generation += 1;
        }
        let hash = self.hasher.hash_one(key);
        self.keys.extend_from_slice(key);
        let next = self.index.insert(hash, self.entries.len() as u32).unwrap_or(NONE);
        self.entries.push(Entry { hash, end: self.keys.len(), next, weight });
    }

    /// Drops what was inserted since.
    pub(super) fn truncate(&mut self, mark: Mark) {
        let count = if mark.generation == self.generation { mark.entries } else { 0 };
        while self.entries.len() > count {
            // The latest entry is the first of its list.
            if let Some(Entry { hash, next, .. }) = self.entries.pop() {
                if next == NONE {
                    self.index.remove(&hash);
                } else {
                    self.index.insert(hash, next);
                }
            }
        }
        self.keys.truncate(self.entries.last().map_or(0, |e| e.end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_since_a_mark_is_forgotten_and_nothing_else() {
        let weight = |k: u8| Weight { roundings: f64::from(k), ..Weight::ONE };
        let mut cache = Cache::new(usize::MAX);
        (0..100).for_each(|k: u8| cache.insert(&[k, 1], weight(k)));
        let mark = cache.mark();
        (0..100).for_each(|k: u8| cache.insert(&[k, 2], weight(k)));
        assert_eq!(cache.get(&[7, 2]), Some(weight(7)));
        cache.truncate(mark);
        assert_eq!((cache.get(&[7, 2]), cache.get(&[7, 1])), (None, Some(weight(7))));
        // A full cache forgets everything, and marks from before stand for nothing.
        let mut small = Cache::new(3 * (ENTRY_BYTES + 2));
        (0..3).for_each(|k: u8| small.insert(&[k, 1], weight(k)));
        let old = small.mark();
        small.insert(&[9, 9], weight(9));
        assert_eq!((small.get(&[1, 1]), small.get(&[9, 9])), (None, Some(weight(9))));
        small.truncate(old);
        assert_eq!(small.get(&[9, 9]), None);
    }
}
