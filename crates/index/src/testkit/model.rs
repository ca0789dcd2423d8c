//! What an engine must look like from outside.

use std::collections::BTreeMap;

use crate::{IndexId, Key, RowId};

/// The contents of every index, in the plainest way.
#[derive(Clone, Debug)]
pub struct Model {
    indexes: Vec<BTreeMap<Key, RowId>>,
}

impl Model {
    /// So many empty indexes.
    pub fn new(indexes: usize) -> Self {
        Self { indexes: vec![BTreeMap::new(); indexes] }
    }

    /// Adds an entry.
    pub fn insert(&mut self, index: IndexId, key: Key, row: RowId) {
        let old = self.indexes[index.index()].insert(key, row);
        assert_eq!(old, None, "a script inserts no row twice");
    }

    /// Removes an entry, if it is there.
    pub fn remove(&mut self, index: IndexId, key: Key) {
        self.indexes[index.index()].remove(&key);
    }

    /// Removes all entries of an index.
    pub fn clear(&mut self, index: IndexId) {
        self.indexes[index.index()].clear();
    }

    /// The row with this key.
    pub fn get(&self, index: IndexId, key: Key) -> Option<RowId> {
        self.indexes[index.index()].get(&key).copied()
    }

    /// The entries from a key on, in key order.
    pub fn range(&self, index: IndexId, from: Key) -> impl Iterator<Item = (Key, RowId)> {
        self.indexes[index.index()].range(from..).map(|(key, row)| (*key, *row))
    }

    /// Entries of an index.
    pub fn len(&self, index: IndexId) -> u64 {
        self.indexes[index.index()].len() as u64
    }

    /// Whether an index has no entries.
    pub fn is_empty(&self, index: IndexId) -> bool {
        self.indexes[index.index()].is_empty()
    }
}
