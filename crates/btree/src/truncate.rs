//! Taking all entries of an index away at once.

use cost_model::{Machine, PageId};
use index::{IndexId, Key, KeySource};

use crate::engine::BTree;

impl<K: KeySource> BTree<K> {
    /// Frees all pages of an index but its root, without looking at any. `freed` is called with
    /// every leaf.
    pub fn clear(
        &mut self,
        machine: &mut Machine,
        index: IndexId,
        mut freed: impl FnMut(&mut Machine, PageId),
    ) {
        let tree = &self.trees[index.index()];
        let (root, clustered) = (tree.root, tree.clustered);
        let (leaves, nodes) = (tree.leaf_segment, tree.node_segment);
        let mut below = vec![root];
        while let Some(page) = below.pop() {
            let segment = if self.pages.get(page).is_leaf() {
                self.pages.replace(page, clustered, [].into_iter());
                freed(machine, page);
                leaves
            } else {
                let number = self.pages.get(page).node();
                let children = std::mem::take(&mut self.nodes[number as usize].children);
                below.extend(children.iter().map(|separator| separator.child));
                self.free_nodes.push(number);
                nodes
            };
            self.pages.clear(page);
            if page != root {
                self.space.free(segment, page);
                machine.discard(page);
            }
        }
        self.pages.make_leaf(root, index, clustered);
        let tree = &mut self.trees[index.index()];
        tree.height = 0;
        tree.version += 1;
        tree.tail = (root, Key::MIN);
        tree.marked.clear();
        tree.stats.deletes += tree.stats.entries;
        tree.stats.entries = 0;
        tree.stats.leaf_pages = 1;
        tree.stats.internal_pages = 0;
    }
}
