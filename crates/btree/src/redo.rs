//! How many bytes of redo log an operation writes.
//!
//! A log of differences: an inserted record is logged by its place and by the bytes in which it
//! differs from its predecessor on the page. What two records share depends on the data, so each
//! index keeps a running mean of what its inserts cost, learnt from the keys at hand whenever a
//! leaf splits. All other bytes follow from the format.

use cost_model::PageId;
use index::{IndexId, IndexShape, KeySource, RowId};

use crate::format::PageFormat;
use crate::pages::Change;

/// The redo records of an engine: sizes in bytes.
///
/// A record that names its page has its number too, in one to four bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedoFormat {
    /// Type and tablespace of a record.
    pub record_header: u32,
    /// A longer record has one byte more, for its length.
    pub short_record: u32,
    /// Description of an index in each insert, without its columns.
    pub index_description: u32,
    /// Description of each column of an index, hidden ones included.
    pub column_description: u32,
    /// What an insert says of the predecessor and of lengths.
    pub insert: u32,
    /// What an insert adds that takes the place of a deleted or moved record: how far the list of
    /// these moves.
    pub reuse: u32,
    /// Type, predecessor and lengths of a record that is moved to another page.
    pub moved: u32,
    /// Whether a record that a join moves to a page with others is logged as an insert of its own.
    pub joins_insert: bool,
    /// Whether a page of a change buffer that is reorganised, by a join or for an entry, is logged
    /// with all of its records; other pages hardly ever are.
    pub logs_reorganized: bool,
    /// The first change of a secondary leaf, or of a page of a change buffer, by a transaction: its
    /// id goes to the page's header.
    pub first_change: u32,
    /// What else an insert into the clustered index logs with the record.
    pub clustered: u32,
    /// What comes with an undo record: headers, page number, end of its mini-transaction.
    pub undo: u32,
    /// The mark that deletes an entry, without the header.
    pub mark: u32,
    /// What the mark on a row adds: transaction id and roll pointer.
    pub mark_clustered: u32,
    /// The removal of an entry, without the header and the description of the index.
    pub remove: u32,
    /// End of a mini-transaction.
    pub end: u32,
    /// A split, without the records that move: allocation, links, headers, separator.
    pub split: u32,
    /// A transaction: undo header, commit.
    pub transaction: u32,
}

impl RedoFormat {
    /// The built-in `InnoDB` of `MySQL` 5.1 (source: mtr0log.c, page0cur.c, trx0rec.c).
    ///
    /// An insert is a type, the page, 4 + 2n bytes that describe the index, 2 of the
    /// predecessor's offset and 1 of the length. A split logs the moved records as one list with
    /// a byte for each length, a join each as an insert. The transaction id on secondary leaves is
    /// not logged (page0page.c). An undo record comes with type, space, 3 bytes of page number and
    /// 2 of length.
    ///
    /// A mark is a flag and an offset, for a row also a description, flags and 1 + 7 + 6 bytes of
    /// transaction; a removal is an offset behind the description.
    pub const fn mysql_5_1(split: u32, transaction: u32) -> Self {
        Self {
            record_header: 2,
            short_record: u32::MAX,
            index_description: 4,
            column_description: 2,
            insert: 3,
            reuse: 0,
            moved: 1,
            joins_insert: true,
            logs_reorganized: false,
            first_change: 0,
            clustered: 0,
            undo: 7,
            mark: 3,
            mark_clustered: 15,
            remove: 2,
            end: 0,
            split,
            transaction,
        }
    }

    /// The plugin and `MySQL` 5.5: as in 5.1, and the transaction id on secondary leaves is logged.
    ///
    /// Counted in the logs that servers of 5.5.9 and 5.5.34 wrote: type, space, 3 bytes of page
    /// number, 2 of offset, 5 of the id.
    pub const fn mysql_5_5(split: u32, transaction: u32) -> Self {
        Self { first_change: 12, ..Self::mysql_5_1(split, transaction) }
    }

    /// `MariaDB` 10.11 (formats of MDEV-12353 and, for the end, MDEV-14425).
    ///
    /// An insert is type with length, the page, subtype, 2 bytes of the predecessor's offset, and
    /// three lengths of 1: header bytes written, header bytes shared, data bytes shared; on a page with garbage, 2 bytes
    /// more, as the next piece of garbage in key order is far. A split
    /// logs each moved record as an insert without the page. The transaction id on a secondary
    /// leaf takes type, offset and the byte that changes. With a row goes the persistent
    /// auto-increment counter (MDEV-6076): type, space, page, offset, the byte that changes. An
    /// undo record comes with type, length, space, 2 bytes of page number and subtype. A
    /// mini-transaction ends in a marker and a CRC of 4 bytes.
    ///
    /// A mark is an offset and the byte that changes, for a row also 13 bytes of transaction with
    /// type, length and offset; a removal is subtype, offset and two sizes. A page that is
    /// reorganised is logged as it is then (btr0btr.cc, `btr_page_reorganize_low`).
    pub const fn mariadb_10_11(split: u32, transaction: u32) -> Self {
        Self {
            record_header: 2,
            short_record: 16,
            index_description: 0,
            column_description: 0,
            insert: 6,
            reuse: 2,
            moved: 7,
            joins_insert: false,
            logs_reorganized: true,
            first_change: 3,
            clustered: 5,
            undo: 11,
            mark: 3,
            mark_clustered: 16,
            remove: 5,
            end: 5,
            split,
            transaction,
        }
    }
}

/// Samples over which a running mean forgets: a share of 1/32 is new with each.
const WINDOW: i64 = 32;

/// Parts of a byte that means are kept in.
const PARTS: u32 = 256;

/// A running mean of bytes.
#[derive(Clone, Copy, Debug)]
struct Mean {
    parts: u32,
    samples: i64,
}

impl Mean {
    /// The mean until the first sample.
    const fn from(bytes: u32) -> Self {
        Self { parts: bytes * PARTS, samples: 0 }
    }

    fn add(&mut self, bytes: u32) {
        self.samples = WINDOW.min(self.samples + 1);
        let (mean, new) = (i64::from(self.parts), i64::from(bytes * PARTS));
        self.parts = (mean + (new - mean) / self.samples) as u32;
    }
}

/// What the operations on one index log.
#[derive(Clone, Debug)]
pub(crate) struct IndexRedo {
    /// Of records that name their page: 1, or 0 without a log.
    page_numbers: u32,
    /// Bytes of a leaf record that may differ from those of its predecessor.
    data: u32,
    /// The same of the records of internal pages.
    node_data: u32,
    /// Of an insert: header, description and lengths, without the page number.
    insert_header: u32,
    /// Of an insert: what does not depend on the predecessor and is no part of its record.
    insert_rest: u32,
    first_change: u32,
    reuse: u32,
    /// Of a mark and of a removal, without the page number.
    mark: u32,
    remove: u32,
    /// Of what comes with an undo record.
    undo: u32,
    moved: u32,
    joins_insert: bool,
    short_record: u32,
    split: u32,
    /// Mean bytes of an insert, without the page number.
    mean_insert: Mean,
    /// Mean bytes of a leaf record that is moved.
    mean_moved: Mean,
    /// Parts of a byte that inserts have not logged yet.
    owed: u32,
    /// Leaf splits so far.
    splits: i64,
}

impl IndexRedo {
    /// The arithmetic for an index with so many stored columns.
    pub(crate) fn new(
        redo: Option<&RedoFormat>,
        format: &PageFormat,
        shape: &IndexShape,
        columns: u32,
    ) -> Self {
        const HIDDEN_COLUMNS: u32 = 2;
        let Some(redo) = redo else { return Self::none() };
        let hidden = if shape.clustered { HIDDEN_COLUMNS } else { 0 };
        let description = redo.index_description + redo.column_description * (columns + hidden);
        let (clustered, marked_row) = if shape.clustered {
            (redo.clustered, description + redo.mark_clustered)
        } else {
            (0, 0)
        };
        let headers = shape.nullable_columns.div_ceil(8) + format.record_header;
        let mut index = Self {
            page_numbers: 1,
            data: format.leaf_record(shape) - headers,
            node_data: format.node_record(shape) - headers,
            insert_header: redo.record_header + description + redo.insert,
            insert_rest: redo.end + clustered,
            first_change: if shape.clustered { 0 } else { redo.first_change },
            reuse: redo.reuse,
            mark: redo.record_header + redo.mark + marked_row + redo.end,
            remove: redo.record_header + description + redo.remove + redo.end,
            undo: redo.undo,
            moved: redo.moved,
            joins_insert: redo.joins_insert,
            short_record: redo.short_record,
            split: redo.split,
            mean_insert: Mean::from(0),
            mean_moved: Mean::from(0),
            owed: 0,
            splits: 0,
        };
        index.mean_insert = Mean::from(index.insert_after(0));
        index.mean_moved = Mean::from(index.moved_after(0));
        index
    }

    /// Nothing is logged.
    fn none() -> Self {
        Self {
            page_numbers: 0,
            data: 0,
            node_data: 0,
            insert_header: 0,
            insert_rest: 0,
            first_change: 0,
            reuse: 0,
            mark: 0,
            remove: 0,
            undo: 0,
            moved: 0,
            joins_insert: false,
            short_record: u32::MAX,
            split: 0,
            mean_insert: Mean::from(0),
            mean_moved: Mean::from(0),
            owed: 0,
            splits: 0,
        }
    }

    /// Bytes of an insert into `leaf`.
    #[inline]
    pub(crate) fn insert(&mut self, leaf: PageId, change: Change) -> u64 {
        let parts = self.owed + self.mean_insert.parts;
        self.owed = parts % PARTS;
        let first_change = self.first_change * u32::from(change.is_first);
        let reuse = self.reuse * u32::from(change.has_garbage);
        let page_number = self.page_numbers * page_number_bytes(leaf);
        u64::from(parts / PARTS + first_change + reuse + page_number)
    }

    /// Bytes of the mark on an entry of `leaf`.
    pub(crate) fn mark(&self, leaf: PageId, change: Change) -> u64 {
        let first_change = self.first_change * u32::from(change.is_first);
        u64::from(self.mark + first_change + self.page_numbers * page_number_bytes(leaf))
    }

    /// Bytes of the removal of an entry of `leaf`.
    pub(crate) fn remove(&self, leaf: PageId) -> u64 {
        u64::from(self.remove + self.page_numbers * page_number_bytes(leaf))
    }

    /// Bytes of an undo record of so many.
    #[inline]
    pub(crate) fn undo(&self, record: u32) -> u64 {
        u64::from(self.undo + self.page_numbers * record)
    }

    /// Bytes of a join that moves so many records to `leaf`.
    pub(crate) fn join_entries(&self, leaf: PageId, records: usize) -> u64 {
        let header = || self.insert_header - self.moved + page_number_bytes(leaf);
        let each = if self.joins_insert { header() } else { 0 };
        self.move_entries(records) + u64::from(each) * records as u64
    }

    /// Bytes of a split that moves so many records of leaves.
    pub(crate) fn move_entries(&self, records: usize) -> u64 {
        let parts = u64::from(self.mean_moved.parts) * records as u64;
        parts / u64::from(PARTS) + u64::from(self.split)
    }

    /// Bytes of a split or a join that moves so many records of internal pages. What these share
    /// is not looked at: there is one for hundreds of leaves.
    pub(crate) fn move_separators(&self, records: usize) -> u64 {
        u64::from(self.record(self.moved, self.node_data)) * records as u64 + u64::from(self.split)
    }

    /// Whether the leaf that splits now is one to learn from: each at first, every eighth later,
    /// since looking for neighbours takes time.
    pub(crate) fn wants_sample(&mut self) -> bool {
        self.splits += 1;
        self.splits <= WINDOW || self.splits % 8 == 0
    }

    /// Learns what an insert costs from a new entry and its predecessor on the page.
    pub(crate) fn learn_insert<K: KeySource>(
        &mut self,
        source: &K,
        index: IndexId,
        predecessor: Option<u32>,
        row: u32,
    ) {
        self.mean_insert.add(self.insert_after(shared(source, index, predecessor, row)));
    }

    /// Learns what moving a record costs from two neighbours on the page.
    pub(crate) fn learn_moved<K: KeySource>(
        &mut self,
        source: &K,
        index: IndexId,
        left: u32,
        right: u32,
    ) {
        self.mean_moved.add(self.moved_after(shared(source, index, Some(left), right)));
    }

    fn insert_after(&self, shared: u32) -> u32 {
        self.record(self.insert_header, self.data - shared.min(self.data)) + self.insert_rest
    }

    fn moved_after(&self, shared: u32) -> u32 {
        self.record(self.moved, self.data - shared.min(self.data))
    }

    fn record(&self, header: u32, data: u32) -> u32 {
        let length = header + data;
        length + u32::from(self.short_record < length)
    }
}

fn shared<K: KeySource>(source: &K, index: IndexId, predecessor: Option<u32>, row: u32) -> u32 {
    let row_id = |row: u32| RowId(u64::from(row));
    predecessor.map_or(0, |other| source.shared_bytes(index, row_id(other), row_id(row)))
}

/// Bytes of a page number: 7 bits in one byte, 14 in two, 21 in three, like the compressed
/// integers of `MySQL` 5.1 (mach0data.ic); those of `MariaDB` differ by a few pages at the limits.
#[inline]
fn page_number_bytes(page: PageId) -> u32 {
    1 + u32::from(1 << 7 <= page.0) + u32::from(1 << 14 <= page.0) + u32::from(1 << 21 <= page.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use index::Key;

    /// Every two rows share this many bytes.
    struct Sharing(u32);

    impl KeySource for Sharing {
        fn key(&self, _: IndexId, row: RowId) -> Key {
            Key(u128::from(row.0))
        }

        fn lower_bound(&self, _: IndexId, _: RowId, _: u32) -> Key {
            Key::MIN
        }

        fn shared_bytes(&self, _: IndexId, _: RowId, _: RowId) -> u32 {
            self.0
        }
    }

    const LEAF: PageId = PageId(1_000);
    const SEEN: Change = Change { is_first: false, has_garbage: false };

    fn shape(clustered: bool, entry_bytes: u32, nullable_columns: u32) -> IndexShape {
        let name = String::new();
        let (key_bytes, variable_columns) = (8, 0);
        IndexShape { name, clustered, entry_bytes, key_bytes, nullable_columns, variable_columns }
    }

    fn redo(format: &RedoFormat, shape: &IndexShape, columns: u32, shared: u32) -> IndexRedo {
        let mut redo = IndexRedo::new(Some(format), &PageFormat::INNODB, shape, columns);
        redo.learn_insert(&Sharing(shared), IndexId(1), Some(0), 1);
        redo.learn_moved(&Sharing(shared), IndexId(1), 0, 1);
        redo
    }

    /// Two BIGINT columns, as in the measured micro orders: ascending keys were measured to log
    /// 92.2 to 92.9 bytes a row with the splits and transactions, which take less than one.
    #[test]
    fn mariadb_logs_differences_and_a_checksum() {
        let format = RedoFormat::mariadb_10_11(0, 0);
        let mut row = redo(&format, &shape(true, 16, 0), 2, 7);
        let record = 1 + 1 + 1 + 2 + (1 + 2 + 3) + (16 + 13 - 7) + 5;
        assert_eq!(row.insert(LEAF, SEEN), record + 5);
        let undo = 1 + 1 + 1 + 2 + 1 + (1 + 2 + 1 + 1 + 8) + 5;
        assert_eq!(row.undo(crate::undo::INSERT + 8), undo);
        assert_eq!(row.mark(LEAF, SEEN), (1 + 1 + 2 + 3) + (1 + 2 + 13) + 5);
        assert_eq!(row.remove(LEAF), 1 + 1 + 2 + 5 + 5);
        let mut entry = redo(&format, &shape(false, 16, 0), 2, 7);
        let record = 1 + 1 + 1 + 2 + (1 + 2 + 3) + (16 - 7) + 5;
        assert_eq!(entry.insert(LEAF, SEEN), record);
        assert_eq!(entry.insert(LEAF, Change { is_first: true, ..SEEN }), record + 3);
        assert_eq!(entry.insert(LEAF, Change { has_garbage: true, ..SEEN }), record + 2);
        assert_eq!(entry.mark(LEAF, Change { is_first: true, ..SEEN }), 1 + 1 + 2 + 3 + 5 + 3);
        assert_eq!(entry.insert(PageId(20_000), SEEN), record + 1);
        assert_eq!(entry.move_entries(377), 377 * (1 + 6 + 9), "16 bytes: no further length");
        let entry = redo(&format, &shape(false, 16, 0), 2, 2);
        assert_eq!(entry.move_entries(377), 377 * (1 + 1 + 6 + 14));
        assert_eq!(entry.join_entries(LEAF, 377), entry.move_entries(377));
    }

    /// The table of iiBench in `MySQL` 5.1: 65 to 70 bytes for the row's record.
    #[test]
    fn mysql_describes_the_index_in_each_insert() {
        let format = RedoFormat::mysql_5_1(0, 0);
        let mut row = redo(&format, &shape(true, 28, 1), 6, 3);
        let record = 2 + 2 + (4 + 2 * 8) + 3 + (28 + 13 - 3);
        assert_eq!(record, 65);
        assert_eq!(row.insert(LEAF, SEEN), record);
        assert_eq!(row.undo(crate::undo::INSERT + 8), 7 + (1 + 2 + 1 + 1 + 8));
        let entry = redo(&format, &shape(false, 12, 0), 3, 2);
        assert_eq!(entry.move_entries(464), 464 * (1 + 10));
        let insert = 2 + 2 + (4 + 2 * 3) + 3 + 10;
        assert_eq!(entry.join_entries(LEAF, 464), 464 * insert, "each an insert of its own");
        let mut entry = redo(&RedoFormat::mysql_5_5(0, 0), &shape(false, 12, 0), 3, 2);
        assert_eq!(entry.insert(LEAF, SEEN), insert);
        assert_eq!(entry.insert(LEAF, Change { is_first: true, ..SEEN }), insert + 12);
    }

    #[test]
    fn parts_of_bytes_are_owed_and_not_lost() {
        let mut redo = redo(&RedoFormat::mariadb_10_11(0, 0), &shape(false, 16, 0), 2, 7);
        redo.learn_insert(&Sharing(4), IndexId(1), Some(0), 1);
        let total: u64 = (0..1_000).map(|_| redo.insert(LEAF, SEEN)).sum();
        assert_eq!(total, 1_000 * 25 + 1_500, "the mean of 25 and 28 bytes");
    }

    #[test]
    fn without_a_log_nothing_is_logged() {
        let mut redo = IndexRedo::new(None, &PageFormat::INNODB, &shape(true, 16, 0), 2);
        redo.learn_insert(&Sharing(4), IndexId(0), Some(0), 1);
        redo.learn_moved(&Sharing(4), IndexId(0), 0, 1);
        let change = Change { is_first: true, has_garbage: true };
        let logged = [redo.insert(LEAF, change), redo.mark(LEAF, change), redo.remove(LEAF)];
        assert_eq!(logged, [0; 3]);
        assert_eq!([redo.undo(60), redo.move_entries(9), redo.move_separators(9)], [0; 3]);
    }
}
