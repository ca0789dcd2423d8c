//! The tree alone: entries of 60 bytes that come and leave.

use cost_model::{Draw, PageId};

use super::{Entry, LeafId, Run, Runs, Sizes};
use crate::buffer::run;
use crate::pending::{Op, Pending};

const ENTRY: u32 = 60;

/// Leaves of 26 entries, or 25 of inserts that look sequential.
const SMALL: Sizes = Sizes {
    usable: 26 * ENTRY,
    directory_halves: 0,
    reorganize_limit: 0,
    reserve: ENTRY,
    join_below: 13 * ENTRY,
    join_right: true,
    fan_out: 10,
};

/// A tree and what its entries wait for.
struct Tree {
    pending: Pending,
    runs: Runs,
    /// Pages that the tree got.
    pages: u32,
}

impl Tree {
    fn new(sizes: Sizes, data_pages: u32) -> Self {
        let pages = data_pages as usize;
        let (pending, runs) = (Pending::new(pages), Runs::new(sizes, PageId(0), pages));
        Self { pending, runs, pages: 0 }
    }

    /// With an entry for each of these data pages, in this order.
    fn of(data_pages: impl IntoIterator<Item = u32>) -> Self {
        let mut tree = Self::new(SMALL, 1_000);
        data_pages.into_iter().for_each(|page| tree.insert(page));
        tree.verify();
        tree
    }

    /// The entry that comes next for a data page.
    fn next(&self, page: u32) -> Entry {
        Entry { page: PageId(page), place: u32::from(self.pending.count(PageId(page))) }
    }

    fn insert(&mut self, page: u32) {
        self.insert_at(self.next(page));
    }

    fn insert_at(&mut self, entry: Entry) {
        let run = |page| run(&self.pending, &[ENTRY], page);
        let mut leaf = self.runs.leaf_for(entry);
        if !self.runs.fits(leaf, entry, ENTRY, run) {
            let mut allocate = || {
                self.pages += 1;
                PageId(self.pages)
            };
            let new = allocate();
            self.runs.split(leaf, (entry, ENTRY), new, run, &mut allocate);
            leaf = self.runs.leaf_for(entry);
        }
        self.runs.add(leaf, entry, ENTRY);
        self.pending.push(entry.page, 0, Op::Insert, 0);
    }

    /// All that waits for a data page leaves.
    fn merge(&mut self, page: u32) {
        self.runs.remove_all(PageId(page), self.run(page));
        self.pending.clear(PageId(page));
        self.verify();
    }

    fn run(&self, page: u32) -> Run {
        run(&self.pending, &[ENTRY], page)
    }

    /// The leaves from the first on: entries of each.
    fn entries(&self) -> Vec<u32> {
        let mut leaf = Some(LeafId(0));
        let next = || {
            let at = leaf?;
            leaf = self.runs.after(at);
            Some(self.runs.leaves[at.0 as usize].entries)
        };
        std::iter::from_fn(next).collect()
    }

    /// Bytes of a leaf up to the end of its last record.
    fn heap(&self, leaf: usize) -> u32 {
        self.runs.leaves[leaf].heap
    }

    fn is_refused(&self, page: u32) -> bool {
        let entry = self.next(page);
        self.runs.is_uncountable(self.runs.leaf_for(entry), entry, |page| self.run(page))
    }

    fn verify(&self) {
        self.runs.verify(|page| self.run(page), self.pending.total());
    }
}

/// A tree with so many entries, each for a data page drawn uniformly.
fn filled(entries: u32) -> (Tree, Draw) {
    let sizes = Sizes {
        usable: 16_247,
        directory_halves: 1,
        reorganize_limit: 512,
        reserve: 1_024,
        join_below: 8_192,
        join_right: false,
        fan_out: 230,
    };
    let mut tree = Tree::new(sizes, DATA_PAGES);
    let mut draw = Draw::new(7, 0);
    for _ in 0..entries {
        tree.insert(draw.below(u64::from(DATA_PAGES)) as u32);
    }
    tree.verify();
    (tree, draw)
}

const DATA_PAGES: u32 = 3_000;

/// A page found through an entry drawn at random has one entry more than the average page: pages
/// with many are found more often (1 + K/n for K entries of n pages).
#[test]
fn a_page_found_through_an_entry_has_one_more_than_the_average() {
    for mean in [1, 5, 20] {
        let (tree, mut draw) = filled(mean * DATA_PAGES);
        let draws = 20_000;
        let mut found = 0;
        for _ in 0..draws {
            let (_, page) =
                tree.runs.random(&mut draw, |page| tree.run(page)).expect("there are entries");
            found += tree.run(page).entries;
        }
        let found = f64::from(found) / f64::from(draws);
        let expected = 1.0 + f64::from(mean);
        assert!((found / expected - 1.0).abs() < 0.03, "{found:.2} against {expected}");
    }
}

/// Pages of a tree that grows at random are between half full and full, as any B+tree's.
#[test]
fn its_pages_are_filled_like_those_of_any_tree() {
    let (tree, _) = filled(60_000);
    let fill = f64::from(60_000 * ENTRY) / f64::from(tree.runs.pages() * 16_247);
    assert!((0.55..0.85).contains(&fill), "{fill:.3}");
}

/// Its index is of the clustered kind.
#[test]
fn sequential_inserts_split_at_themselves_and_leave_the_reserve() {
    assert_eq!(Tree::of(0..100).entries(), [25; 4], "ascending");
    assert_eq!(Tree::of((0..100).rev()).entries(), [25; 4], "descending");
    // Those of one data page come at the end of what waits for it.
    assert_eq!(Tree::of([5; 100]).entries(), [25; 4], "for one data page");
}

#[test]
fn other_inserts_fill_a_leaf_and_split_it_in_the_middle() {
    // 0, 25, 2, 23, ...: none is beside the one before it.
    let apart = |page: u32| if page.is_multiple_of(2) { page } else { 26 - page };
    let mut tree = Tree::of((0..26).map(apart));
    assert_eq!(tree.entries(), [26], "no reserve");
    tree.insert(100);
    assert_eq!(tree.entries(), [13, 14]);
}

/// A leaf is known by its first entry, also when that has left: how many entries its data page has
/// is then not known without the leaf before.
#[test]
fn an_entry_that_would_be_the_first_of_the_page_a_leaf_is_known_by_is_refused() {
    let mut tree = Tree::of(0..50);
    assert_eq!(tree.entries(), [25, 25]);
    assert!(!tree.is_refused(25), "it comes after the entry that the leaf is known by");
    tree.merge(25);
    assert!(tree.is_refused(25));
    assert!(tree.is_refused(25), "again and again");
    tree.merge(26);
    assert!(!tree.is_refused(26), "the leaf is not known by that page");
    tree.merge(0);
    assert!(!tree.is_refused(0), "no leaf is before the first");
}

#[test]
fn a_leaf_that_begins_with_a_page_not_known_before_leaves_those_before_it_where_they_are() {
    let mut tree = Tree::of((0..25).chain([200]));
    assert_eq!(tree.entries(), [25, 1]);
    tree.insert(100);
    tree.verify();
    assert_eq!(tree.entries(), [26, 1]);
}

/// What a leaf has got last is the same entry when one of the same data page goes in before it on
/// another leaf.
#[test]
fn an_insert_on_an_earlier_leaf_is_not_the_last_of_a_later_one() {
    let mut tree = Tree::of([5; 30]);
    assert_eq!(tree.entries(), [25, 5]);
    let next = tree.next(5);
    let later = tree.runs.leaf_for(next);
    tree.insert_at(Entry { page: PageId(5), place: 3 });
    assert_eq!(tree.entries(), [26, 5]);
    let moved = Entry { place: next.place + 1, ..next };
    let is_sequential = |entry| tree.runs.is_sequential(later, entry, |page| tree.run(page));
    assert!(is_sequential(moved), "it follows the last one of this leaf");
    assert!(!is_sequential(Entry { place: moved.place - 3, ..moved }), "this one does not");
    let mut tree = Tree::of([5; 30].into_iter().chain([6]));
    tree.insert_at(Entry { page: PageId(5), place: 3 });
    let last = Entry { page: PageId(6), place: 0 };
    assert!(tree.runs.is_sequential(later, last, |page| tree.run(page)), "of another data page");
}

/// A leaf is joined as soon as it is less than half full, with what has not left yet.
#[test]
fn entries_leave_one_by_one_until_their_leaf_is_to_be_joined() {
    let mut tree = Tree::of((0..10).chain([10; 8]));
    let (leaf, left) = tree.runs.remove(PageId(10), tree.run(10));
    assert_eq!(left, 6, "12 of 18 stay, the most that are less than 13");
    assert!(tree.runs.partner(leaf).is_none(), "it is alone");
}

/// The heap of a leaf grows only when no place is free that an entry has left.
#[test]
fn an_entry_takes_the_place_of_one_that_has_left() {
    let mut tree = Tree::of(0..20);
    (0..5).for_each(|page| tree.merge(page));
    (50..55).for_each(|page| tree.insert(page));
    assert_eq!(tree.heap(0), 20 * ENTRY);
    tree.insert(55);
    assert_eq!(tree.heap(0), 21 * ENTRY);
}

#[test]
fn a_join_reorganizes_a_leaf_that_has_no_room_behind_its_entries() {
    let mut tree = Tree::of(0..40);
    let leaves = tree.entries();
    assert_eq!(leaves, [25, 15]);
    (0..15).chain(30..40).for_each(|page| tree.merge(page));
    let [left, right] = [LeafId(0), tree.runs.after(LeafId(0)).unwrap()];
    let (moved, _) = tree.runs.join(right, left);
    assert_eq!((moved.entries, moved.reorganized), (5, 10 * ENTRY), "25 and 5 are more than 26");
    assert_eq!(tree.heap(0), 15 * ENTRY);

    let mut tree = Tree::of(0..40);
    (25..40).chain(5..25).for_each(|page| tree.merge(page));
    let [left, right] = [LeafId(0), tree.runs.after(LeafId(0)).unwrap()];
    let (moved, _) = tree.runs.join(right, left);
    assert_eq!((moved.entries, moved.reorganized), (0, 0), "nothing moves");
    assert_eq!(tree.heap(0), 25 * ENTRY);
}

#[test]
fn the_first_change_by_a_transaction_is_told() {
    let mut tree = Tree::of(0..3);
    let told = [Some(1), Some(1), Some(2), None].map(|t| tree.runs.note_change(LeafId(0), t));
    assert_eq!(told, [true, false, true, true]);
}
