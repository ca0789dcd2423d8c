//! Checks of everything the engine keeps twice: for tests.

use std::collections::BTreeMap;

use index::{IndexId, Key, KeySource, RowId};

use crate::engine::FractalTree;
use crate::lists::Chunks;
use crate::message::Kind;
use crate::node::{Body, Edge};

/// Counts of one tree that must be found again.
#[derive(Default)]
struct Found {
    nodes: [u64; crate::node::HEIGHT_MAX],
    /// Entries of the leaves and messages above, oldest first within a key: leaves come last in
    /// a walk, so they are put before.
    last_word: BTreeMap<Key, bool>,
    chunks: u64,
}

impl<K: KeySource> FractalTree<K> {
    /// Panics if the engine contradicts itself.
    pub(crate) fn verify_all(&self) {
        self.store.cache.verify();
        let mut chunks = 0;
        for (index, tree) in self.trees.iter().enumerate() {
            let mut found = Found::default();
            self.verify_node(index, tree.root, (None, None), &mut found);
            assert_eq!(found.nodes, tree.nodes, "nodes by height of index {index}");
            let entries = found.last_word.values().filter(|there| **there).count() as u64;
            assert_eq!(entries, tree.rows.len(), "entries of index {index}");
            chunks += found.chunks;
        }
        assert_eq!(chunks, self.chunks.used(), "chunks in use");
    }

    /// Checks a node whose keys must be above the first bound and not above the second.
    fn verify_node(
        &self,
        index: usize,
        number: u32,
        (above, to): (Option<Key>, Option<Key>),
        found: &mut Found,
    ) {
        let node = &self.nodes[number as usize];
        let sizes = &self.trees[index].sizes;
        found.nodes[usize::from(node.height)] += 1;
        let resident = self.store.cache.is_resident(number);
        assert!(resident || node.image.is_some(), "node {number} is nowhere");
        let key_of = |row: u32| self.source.key(IndexId(index as u16), RowId(u64::from(row)));
        let check = |key: Key| {
            let inside = above.is_none_or(|above| above < key) && to.is_none_or(|to| key <= to);
            assert!(inside, "{key:?} in node {number} is not between {above:?} and {to:?}");
        };
        match &node.body {
            Body::Leaf(leaf) => {
                assert_eq!(node.height, 0);
                found.chunks += leaf.chunks();
                let mut entries = 0;
                leaf.for_each(&self.chunks, |row| {
                    check(key_of(row));
                    entries += 1;
                    let old = found.last_word.insert(key_of(row), true);
                    assert_eq!(old, None, "row {row} is in index {index} twice");
                });
                assert_eq!(entries, leaf.len());
                assert!(leaf.collected() <= leaf.len());
            }
            Body::Internal(internal) => {
                assert!(internal.pivots.keys().is_sorted(), "pivots of node {number}");
                assert_eq!(internal.pivots.keys().len() + 1, internal.edges.len());
                let mut bytes = internal.edges.len() as u64 * sizes.child;
                for (slot, edge) in internal.edges.iter().enumerate() {
                    let height = self.nodes[edge.child as usize].height;
                    assert_eq!(height + 1, node.height, "height of a child of node {number}");
                    let low =
                        slot.checked_sub(1).map(|slot| internal.pivots.keys()[slot]).or(above);
                    let high = internal.pivots.keys().get(slot).copied().or(to);
                    self.verify_node(index, edge.child, (low, high), found);
                    found.chunks += Chunks::chunks_of(&edge.messages);
                    let mut buffered = 0;
                    self.chunks.for_each(&edge.messages, |message| {
                        let key = key_of(message.row());
                        check(key);
                        assert_eq!(internal.slot(key), slot, "{message:?} waits for another child");
                        buffered += sizes.message(message.kind());
                        match message.kind() {
                            Kind::Insert => drop(found.last_word.insert(key, true)),
                            Kind::Delete => {
                                let there = found.last_word.insert(key, false);
                                assert_eq!(there, Some(true), "{message:?} finds nothing");
                            }
                            Kind::Commit | Kind::Void => {}
                        }
                    });
                    assert_eq!(buffered, edge.bytes, "bytes of buffer {slot} of node {number}");
                    bytes += buffered + u64::from(edge.messages.len()) * sizes.message_offset;
                }
                assert_eq!(bytes, internal.bytes, "bytes of node {number}");
                let allocated: u64 = internal.edges.iter().map(Edge::allocated).sum();
                assert_eq!(allocated, internal.allocated, "memory of the buffers of node {number}");
                let work: u64 = internal.edges.iter().map(|edge| edge.work).sum();
                assert_eq!(work, internal.work, "work of node {number}");
            }
            Body::Gone => panic!("node {number} of index {index} is gone"),
        }
    }
}
