//! Checks of a whole engine: for tests.

use cost_model::PageId;
use index::{IndexId, Key, KeySource, RowId};

use crate::directory::top;
use crate::engine::BTree;
use crate::tree::Tree;

impl<K: KeySource> BTree<K> {
    /// Panics if a tree contradicts itself: order, ranges, levels, limits, links, counts. So many
    /// entries of each index (`waiting`) are counted and not in their leaves yet, or in them and
    /// not counted any more.
    pub fn check(&self, waiting: impl Fn(IndexId) -> i64) {
        if let Some(undo) = &self.undo {
            undo.verify(&self.space);
        }
        for tree in &self.trees {
            let mut leaves = Vec::new();
            let mut internal = 0;
            let root = (tree.root, None, tree.height);
            let bounds = (Key::MIN, Key::MAX);
            self.check_page(tree, root, bounds, &mut leaves, &mut internal);
            for (leaf, next) in leaves.iter().zip(leaves[1..].iter().chain([&PageId::NONE])) {
                assert_eq!(self.pages.get(*leaf).next(), *next, "right neighbour of {leaf:?}");
            }
            assert_eq!(tree.tail.0, leaves[leaves.len() - 1], "the tail is the last leaf");
            let linked: u64 = leaves.iter().map(|l| u64::from(self.pages.get(*l).records())).sum();
            let counted = (tree.stats.entries + tree.marked.len()).cast_signed();
            assert_eq!(linked.cast_signed() + waiting(tree.index), counted, "entries");
            assert_eq!(leaves.len() as u64, tree.stats.leaf_pages, "leaf pages");
            assert_eq!(internal, tree.stats.internal_pages, "internal pages");
        }
    }

    fn check_page(
        &self,
        tree: &Tree,
        (page, parent, level): (PageId, Option<u32>, u8),
        (low, high): (Key, Key),
        leaves: &mut Vec<PageId>,
        internal: &mut u64,
    ) {
        assert!(self.space.is_used(page), "{page:?} is allocated");
        let entry = self.pages.get(page);
        assert_eq!(entry.index(), tree.index, "index of {page:?}");
        assert_eq!(entry.is_leaf(), level == 0, "level of {page:?}");
        if level == 0 {
            assert_eq!(entry.parent(), parent, "parent of {page:?}");
            let bounds = (entry.lower_bound(), entry.upper_bound());
            assert_eq!(bounds, (top(low), top(high)), "bounds of {page:?}");
            assert!(entry.records() <= tree.leaf_limits.full, "{page:?} is overfull");
            assert!(entry.records() <= entry.slots(), "slots of {page:?}");
            assert!(0 < entry.records() || tree.height == 0, "{page:?} is empty");
            self.pages.for_each(page, |row| {
                let key = self.source.key(tree.index, RowId(u64::from(row)));
                assert!((low..high).contains(&key), "row {row} is on the wrong page");
            });
            leaves.push(page);
            return;
        }
        *internal += 1;
        let node = &self.nodes[entry.node() as usize];
        let expected = (page, level, parent);
        assert_eq!((node.page, node.level, node.parent), expected, "node of {page:?}");
        assert!(!node.children.is_empty(), "{page:?} has children");
        assert!(node.children.len() <= usize::from(tree.node_limits.full), "{page:?} is overfull");
        for (slot, child) in node.children.iter().enumerate() {
            let from = if slot == 0 { low } else { child.key(&self.source, tree.index) };
            let to = match node.children.get(slot + 1) {
                Some(next) => next.key(&self.source, tree.index),
                None => high,
            };
            assert!(from <= to, "separators of {page:?} ascend");
            let below = (child.child, Some(entry.node()), level - 1);
            self.check_page(tree, below, (from, to), leaves, internal);
        }
    }
}
