//! The buffer's own B+tree: which of its pages holds the entries of which data page.
//!
//! Its key is the data page's number and then an order within the page, so the entries of a data
//! page are a run of adjacent records. A leaf is known by where its first entry is: the data page,
//! and how many of that page's entries lie on leaves before it. What an entry says is not needed
//! here, only what it weighs.

use btree::Split;
use cost_model::{Draw, HugeVec, PageId};

mod check;
mod join;
mod places;
#[cfg(test)]
mod tests;

use places::{Place, Places};

const NONE: u32 = u32::MAX;

/// What a data page has waiting: entries, and the bytes of each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) entries: u32,
    pub(crate) bytes: u32,
}

/// A leaf of the tree, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeafId(pub(crate) u32);

/// A line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Leaf {
    page: PageId,
    /// The data page of its first entry, and how many entries of it lie before.
    first: u32,
    carry: u32,
    entries: u32,
    used: u32,
    /// Bytes taken up to the end of the last record, garbage included.
    heap: u32,
    /// The places that entries have left last.
    top: Place,
    prev: u32,
    next: u32,
    parent: u32,
    /// The entry that was inserted last, if nothing was moved or deleted since.
    last_insert: Option<Entry>,
    /// The transaction that changed it last.
    changed_by: Option<u32>,
}

const _: () = assert!(size_of::<Leaf>() == 64);

/// An entry: the data page it waits for, and its place among the entries of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) page: PageId,
    pub(crate) place: u32,
}

/// A leaf cut in two: what stays, and the first entry of the rest.
#[derive(Clone, Copy, Debug)]
struct Cut {
    left: Run,
    first: Entry,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    page: PageId,
    level: u32,
    children: u32,
    /// Its first child: a leaf on level 1, a node above.
    first: u32,
    /// The node after it on its level.
    next: u32,
    parent: u32,
}

/// Sizes of the tree's pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) usable: u32,
    pub(crate) directory_halves: u32,
    pub(crate) reorganize_limit: u32,
    /// Bytes of a leaf that inserts which look sequential leave free.
    pub(crate) reserve: u32,
    pub(crate) join_below: u32,
    pub(crate) join_right: bool,
    /// Children of an internal page.
    pub(crate) fan_out: u32,
}

/// What an operation did to the tree's pages, besides the leaf it was for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    /// Entries that went to another leaf, and their bytes.
    pub(crate) entries: u32,
    pub(crate) bytes: u32,
    /// Bytes of the entries of a leaf that was reorganised for them.
    pub(crate) reorganized: u32,
}

/// See the module's documentation.
pub(crate) struct Runs {
    sizes: Sizes,
    leaves: Vec<Leaf>,
    /// Of each leaf, those left before.
    places: Vec<Places>,
    nodes: Vec<Node>,
    free_leaf: u32,
    /// The last leaf with entries of each data page, or where its first would go.
    of_page: HugeVec<u32>,
    last: u32,
    root_level: u32,
    live: Vec<u32>,
    place_in_live: Vec<u32>,
    pages: u32,
}

impl Runs {
    pub(crate) fn new(sizes: Sizes, root: PageId, data_pages: usize) -> Self {
        let leaf = Leaf {
            page: root,
            first: 0,
            carry: 0,
            entries: 0,
            used: 0,
            heap: 0,
            top: Place::default(),
            prev: NONE,
            next: NONE,
            parent: NONE,
            last_insert: None,
            changed_by: None,
        };
        Self {
            sizes,
            leaves: vec![leaf],
            places: vec![Places::default()],
            nodes: Vec::new(),
            free_leaf: NONE,
            of_page: HugeVec::with_capacity(data_pages),
            last: 0,
            root_level: 0,
            live: vec![0],
            place_in_live: vec![0],
            pages: 1,
        }
    }

    /// Pages of the tree, internal ones included.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    /// Whether a page is one of the tree.
    pub(crate) fn has(&self, page: PageId) -> bool {
        let leaves = self.live.iter().map(|leaf| self.leaves[*leaf as usize].page);
        leaves.chain(self.nodes.iter().map(|node| node.page)).any(|known| known == page)
    }

    pub(crate) fn page(&self, leaf: LeafId) -> PageId {
        self.leaves[leaf.0 as usize].page
    }

    pub(crate) fn before(&self, leaf: LeafId) -> Option<LeafId> {
        Some(LeafId(self.leaves[leaf.0 as usize].prev)).filter(|leaf| leaf.0 != NONE)
    }

    pub(crate) fn after(&self, leaf: LeafId) -> Option<LeafId> {
        Some(LeafId(self.leaves[leaf.0 as usize].next)).filter(|leaf| leaf.0 != NONE)
    }

    /// The last leaf with entries of a data page, or where its first would go.
    #[inline]
    pub(crate) fn last_of(&self, page: PageId) -> LeafId {
        LeafId((*self.of_page).get(page.index()).copied().unwrap_or(self.last))
    }

    /// Loads the processor's caches with what a new entry of a data page needs, in two rounds.
    pub(crate) fn prefetch(&self, page: PageId, round: u32) {
        match round {
            0 => self.of_page.prefetch(page.index()),
            _ => self.prefetch_leaf(self.last_of(page)),
        }
    }

    pub(crate) fn prefetch_leaf(&self, leaf: LeafId) {
        cost_model::prefetch(&raw const self.leaves[leaf.0 as usize]);
    }

    /// The leaf for a new entry.
    pub(crate) fn leaf_for(&self, Entry { page, place }: Entry) -> LeafId {
        let mut leaf = self.last_of(page);
        while let Leaf { first, carry, prev, .. } = self.leaves[leaf.0 as usize]
            && first == page.0
            && place < carry
        {
            leaf = LeafId(prev);
        }
        leaf
    }

    /// On how many leaves the entries of a data page lie.
    pub(crate) fn spread(&self, page: PageId) -> u32 {
        let mut leaf = self.last_of(page);
        let mut leaves = 1;
        while let Leaf { first, carry, prev, .. } = self.leaves[leaf.0 as usize]
            && first == page.0
            && 0 < carry
        {
            leaf = LeafId(prev);
            leaves += 1;
        }
        leaves
    }

    /// The internal pages above a leaf, from the lowest up.
    pub(crate) fn above(&self, leaf: LeafId) -> impl Iterator<Item = PageId> + '_ {
        let mut parent = self.leaves[leaf.0 as usize].parent;
        std::iter::from_fn(move || {
            let node = self.nodes.get(parent as usize)?;
            parent = node.parent;
            Some(node.page)
        })
    }

    /// A leaf drawn at random, and of its entries one: the data page it waits for.
    pub(crate) fn random(
        &self,
        draw: &mut Draw,
        run: impl Fn(u32) -> Run,
    ) -> Option<(LeafId, u32)> {
        let leaf = self.live[draw.below(self.live.len() as u64) as usize];
        let entries = self.leaves[leaf as usize].entries;
        if entries == 0 {
            return None;
        }
        let mut place = draw.below(u64::from(entries)) as u32;
        for (page, share) in self.shares(LeafId(leaf), run) {
            if place < share.entries {
                return Some((LeafId(leaf), page));
            }
            place -= share.entries;
        }
        None
    }

    /// The data pages with entries on a leaf, and how many of them and of their bytes lie there.
    pub(crate) fn shares(
        &self,
        leaf: LeafId,
        run: impl Fn(u32) -> Run,
    ) -> impl Iterator<Item = (u32, Run)> {
        let Leaf { first, carry, next, entries, .. } = self.leaves[leaf.0 as usize];
        let (end, end_carry) = match self.leaves.get(next as usize) {
            Some(next) => (next.first, next.carry),
            None => (NONE, 0),
        };
        let (mut page, mut left) = (first, entries);
        std::iter::from_fn(move || {
            while 0 < left {
                let Run { entries, bytes } = run(page);
                let before = if page == first { carry } else { 0 };
                let upto = if page == end { end_carry } else { entries };
                let share = Run { entries: upto - before, bytes };
                page += 1;
                if 0 < share.entries {
                    left -= share.entries;
                    return Some((page - 1, share));
                }
            }
            None
        })
    }

    /// Whether an entry of so many bytes goes on a leaf; else the leaf must be split.
    pub(crate) fn fits(
        &self,
        id: LeafId,
        entry: Entry,
        bytes: u32,
        run: impl Fn(u32) -> Run,
    ) -> bool {
        let leaf = &self.leaves[id.0 as usize];
        let directory = self.directory(leaf.entries + 1);
        let used = leaf.used + bytes + directory;
        let contiguous = leaf.heap + bytes + directory <= self.sizes.usable;
        let free = self.sizes.usable.saturating_sub(leaf.used + directory);
        used <= self.sizes.usable
            && (contiguous || self.sizes.reorganize_limit <= free)
            && (self.sizes.reserve + bytes <= free || !self.is_sequential(id, entry, run))
    }

    fn is_sequential(&self, leaf: LeafId, entry: Entry, run: impl Fn(u32) -> Run) -> bool {
        let (position, last) = self.positions(leaf, entry, run);
        2 <= self.leaves[leaf.0 as usize].entries && btree::is_sequential(position, last)
    }

    fn directory(&self, entries: u32) -> u32 {
        (entries * self.sizes.directory_halves).div_ceil(2)
    }

    /// Notes that a transaction changes a leaf; tells whether another one did last.
    pub(crate) fn note_change(&mut self, leaf: LeafId, transaction: Option<u32>) -> bool {
        let record = &mut self.leaves[leaf.0 as usize];
        std::mem::replace(&mut record.changed_by, transaction) != transaction
    }

    /// An entry enters a leaf that has room; bytes of those that were reorganised for it.
    pub(crate) fn add(&mut self, leaf: LeafId, entry: Entry, bytes: u32) -> u32 {
        let Entry { page, place } = entry;
        let directory = self.directory(self.leaves[leaf.0 as usize].entries + 1);
        let record = &mut self.leaves[leaf.0 as usize];
        if !self.places[leaf.0 as usize].take(&mut record.top, bytes) {
            record.heap += bytes;
        }
        record.entries += 1;
        record.used += bytes;
        record.last_insert = Some(entry);
        let is_full = self.sizes.usable < record.heap + directory;
        let reorganized = if is_full { record.used - bytes } else { 0 };
        if is_full {
            record.heap = record.used;
            self.places[leaf.0 as usize].clear(&mut record.top);
        }
        // Entries of this page on later leaves have one more before them.
        let mut later = self.last_of(page);
        while later != leaf {
            let record = &mut self.leaves[later.0 as usize];
            debug_assert!(record.first == page.0 && place < record.carry);
            record.carry += 1;
            if let Some(last) = record.last_insert.as_mut().filter(|last| last.page == page) {
                last.place += 1;
            }
            later = LeafId(record.prev);
        }
        self.know(page);
        reorganized
    }

    /// Data pages up to this one have a leaf where their entries go: the last one if none was said.
    fn know(&mut self, page: PageId) {
        if self.of_page.len() <= page.index() {
            self.of_page.extend_to(page.index() + 64, self.last);
        }
    }

    /// Whether a new entry would come first on a leaf that its parent knows by an entry of the same
    /// data page: how many of these there are is not known without the leaf before it.
    pub(crate) fn is_uncountable(
        &self,
        leaf: LeafId,
        entry: Entry,
        run: impl Fn(u32) -> Run,
    ) -> bool {
        let Leaf { first, prev, .. } = self.leaves[leaf.0 as usize];
        first == entry.page.0 && prev != NONE && self.position(leaf, entry, run) == 0
    }

    /// Entries of a leaf before a new one, or before one that is there.
    fn position(&self, leaf: LeafId, entry: Entry, run: impl Fn(u32) -> Run) -> u32 {
        let Leaf { first, carry, .. } = self.leaves[leaf.0 as usize];
        let pages = self.shares(leaf, run).take_while(|(page, _)| *page < entry.page.0);
        let before: u32 = pages.map(|(_, share)| share.entries).sum();
        before + entry.place - if first == entry.page.0 { carry } else { 0 }
    }

    /// Where a new entry belongs on a leaf, and where the leaf's last insert is.
    fn positions(
        &self,
        leaf: LeafId,
        entry: Entry,
        run: impl Fn(u32) -> Run,
    ) -> (usize, Option<usize>) {
        let position = |entry| self.position(leaf, entry, &run) as usize;
        (position(entry), self.leaves[leaf.0 as usize].last_insert.map(position))
    }

    /// Where a leaf is split for a new entry: what stays, and the first entry of the other half.
    fn cut(&self, leaf: LeafId, entry: Entry, split: Split, run: impl Fn(u32) -> Run) -> Cut {
        let Leaf { first, carry, .. } = self.leaves[leaf.0 as usize];
        let at = split.at as u32;
        let mut left = Run::default();
        for (page, share) in self.shares(leaf, run) {
            let taken = share.entries.min(at - left.entries);
            left.entries += taken;
            left.bytes += taken * share.bytes;
            if taken < share.entries {
                let before = if page == first { carry } else { 0 };
                let first = Entry { page: PageId(page), place: before + taken };
                return Cut { left, first };
            }
        }
        Cut { left, first: entry }
    }

    /// Splits a leaf for a new entry of so many bytes; the new leaf lies on `new_page`. Pages for
    /// internal levels come from `allocate`.
    pub(crate) fn split(
        &mut self,
        leaf: LeafId,
        (entry, bytes): (Entry, u32),
        new_page: PageId,
        run: impl Fn(u32) -> Run,
        mut allocate: impl FnMut() -> PageId,
    ) -> Moved {
        // The new leaf may begin with a page of which nothing was known: those before it stay.
        self.know(entry.page);
        let old = self.leaves[leaf.0 as usize];
        let (position, last) = self.positions(leaf, entry, &run);
        let records = old.entries as usize;
        let split = Split::innodb(records, position, last);
        let mut cut = self.cut(leaf, entry, split, &run);
        if split.new_goes_right && split.at == position {
            cut.first = entry;
        }
        let (own, count) = if entry < cut.first {
            (cut.left.bytes, cut.left.entries)
        } else {
            (old.used - cut.left.bytes, old.entries - cut.left.entries)
        };
        if self.sizes.usable < own + bytes + self.directory(count + 1) {
            cut = self.cut(leaf, entry, Split::innodb(records, position, None), &run);
        }
        let Cut { left, first } = cut;
        let moved = Moved {
            entries: old.entries - left.entries,
            bytes: old.used - left.bytes,
            ..Moved::default()
        };
        let new = self.new_leaf(Leaf {
            page: new_page,
            first: first.page.0,
            carry: first.place,
            entries: moved.entries,
            used: moved.bytes,
            heap: moved.bytes,
            top: Place::default(),
            prev: leaf.0,
            next: old.next,
            parent: old.parent,
            last_insert: None,
            changed_by: None,
        });
        let record = &mut self.leaves[leaf.0 as usize];
        (record.entries, record.used, record.next) = (left.entries, left.bytes, new);
        record.last_insert = None;
        // Of one length, though they may have several.
        let bytes = moved.bytes / moved.entries.max(1);
        self.places[leaf.0 as usize].leave(&mut record.top, bytes, moved.entries);
        match self.leaves.get_mut(old.next as usize) {
            Some(next) => next.prev = new,
            None => self.last = new,
        }
        self.claim(new, first.page.0);
        self.add_child(leaf.0, new, &mut allocate);
        moved
    }

    /// All data pages from `from` on whose last entries lie on `leaf`, or would, are told so.
    fn claim(&mut self, leaf: u32, from: u32) {
        let next = self.leaves[leaf as usize].next;
        let known = self.of_page.len() as u32;
        let end = self.leaves.get(next as usize).map_or(known, |next| next.first.min(known));
        for page in from..end {
            self.of_page[page as usize] = leaf;
        }
    }

    fn new_leaf(&mut self, leaf: Leaf) -> u32 {
        let number = match self.free_leaf {
            NONE => {
                self.leaves.push(leaf);
                self.places.push(Places::default());
                self.place_in_live.push(0);
                self.leaves.len() as u32 - 1
            }
            free => {
                self.free_leaf = self.leaves[free as usize].next;
                self.leaves[free as usize] = leaf;
                self.places[free as usize] = Places::default();
                free
            }
        };
        self.place_in_live[number as usize] = self.live.len() as u32;
        self.live.push(number);
        self.pages += 1;
        number
    }

    fn add_child(&mut self, old: u32, new: u32, allocate: &mut impl FnMut() -> PageId) {
        let parent = self.leaves[old as usize].parent;
        let parent = if parent == NONE {
            let page = allocate();
            let node = self.new_node(Node {
                page,
                level: 1,
                children: 1,
                first: old,
                next: NONE,
                parent: NONE,
            });
            self.root_level = 1;
            self.leaves[old as usize].parent = node;
            node
        } else {
            parent
        };
        self.leaves[new as usize].parent = parent;
        self.grow(parent, allocate);
    }

    /// A node has one more child; one that has too many is split.
    fn grow(&mut self, number: u32, allocate: &mut impl FnMut() -> PageId) {
        self.nodes[number as usize].children += 1;
        let Node { level, children, first, next, parent, .. } = self.nodes[number as usize];
        if children <= self.sizes.fan_out {
            return;
        }
        let keep = children / 2;
        let mut child = first;
        for _ in 0..keep {
            child = self.sibling(level, child);
        }
        let page = allocate();
        let right = self.new_node(Node {
            page,
            level,
            children: children - keep,
            first: child,
            next,
            parent,
        });
        let node = &mut self.nodes[number as usize];
        (node.children, node.next) = (keep, right);
        for _ in 0..children - keep {
            self.set_parent(level, child, right);
            child = self.sibling(level, child);
        }
        if parent == NONE {
            let page = allocate();
            let level = level + 1;
            let root = self.new_node(Node {
                page,
                level,
                children: 1,
                first: number,
                next: NONE,
                parent: NONE,
            });
            self.root_level = level;
            self.nodes[number as usize].parent = root;
            self.nodes[right as usize].parent = root;
            self.grow(root, allocate);
        } else {
            self.grow(parent, allocate);
        }
    }

    fn sibling(&self, level: u32, child: u32) -> u32 {
        if level == 1 { self.leaves[child as usize].next } else { self.nodes[child as usize].next }
    }

    fn set_parent(&mut self, level: u32, child: u32, parent: u32) {
        if level == 1 {
            self.leaves[child as usize].parent = parent;
        } else {
            self.nodes[child as usize].parent = parent;
        }
    }

    fn new_node(&mut self, node: Node) -> u32 {
        self.pages += 1;
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// The leaves with entries of a data page, the last one first.
    pub(crate) fn leaves_of(&self, page: PageId) -> impl Iterator<Item = LeafId> + '_ {
        let mut next = Some(self.last_of(page));
        std::iter::from_fn(move || {
            let leaf = next?;
            let Leaf { first, carry, prev, .. } = self.leaves[leaf.0 as usize];
            next = (first == page.0 && 0 < carry).then_some(LeafId(prev));
            Some(leaf)
        })
    }

    /// The first leaf with entries of a data page.
    fn first_of(&self, page: PageId) -> LeafId {
        self.leaves_of(page).last().expect("one leaf at least")
    }

    /// Entries of a data page leave one by one, until a leaf should be joined with a neighbour or
    /// all have left: that leaf, and how many have left.
    pub(crate) fn remove(&mut self, page: PageId, run: Run) -> (LeafId, u32) {
        let leaf = self.first_of(page);
        // Entries of this page on later leaves have fewer before them.
        let later: Vec<LeafId> = self.leaves_of(page).take_while(|other| *other != leaf).collect();
        let share = later.last().map_or(run.entries, |next| self.leaves[next.0 as usize].carry);
        let record = &mut self.leaves[leaf.0 as usize];
        let above = record.used.saturating_sub(self.sizes.join_below);
        let leaving = (above / run.bytes + 1).min(share);
        record.entries -= leaving;
        record.used -= leaving * run.bytes;
        record.last_insert = None;
        self.places[leaf.0 as usize].leave(&mut record.top, run.bytes, leaving);
        for other in later {
            self.leaves[other.0 as usize].carry -= leaving;
        }
        (leaf, leaving)
    }

    /// All entries of a data page leave, and no leaf is joined.
    pub(crate) fn remove_all(&mut self, page: PageId, mut run: Run) {
        while 0 < run.entries {
            run.entries -= self.remove(page, run).1;
        }
    }

    /// Levels above the leaves.
    pub(crate) fn height(&self) -> u32 {
        self.root_level
    }
}
