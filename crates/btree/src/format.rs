//! Record and page arithmetic: how many entries a page takes, and when it must split.

use index::IndexShape;

/// The page format of an engine.
///
/// The rules are those of `InnoDB`'s compact format, whose numbers are [`INNODB`](Self::INNODB).
/// Other formats are other numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFormat {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Bytes of a page that are never available to records.
    pub page_overhead: u32,
    /// Header bytes of a record.
    pub record_header: u32,
    /// Bytes of a clustered record beyond its columns: transaction id and roll pointer.
    pub clustered_extra: u32,
    /// Bytes of a child page number in an internal page.
    pub child_pointer: u32,
    /// Bytes of a slot of the page directory.
    pub directory_slot: u32,
    /// Fewest records that share a slot: what space checks reckon with.
    pub directory_records: u32,
    /// Bytes that sequential inserts leave free in a leaf of the clustered index, or of another tree
    /// of that kind.
    pub clustered_reserve: u32,
    /// A page with garbage is reorganised to make room only if at least this many bytes are free
    /// then; else it is split.
    pub reorganize_limit: u32,
    /// A page whose records take fewer bytes than this after a deletion is joined with a
    /// neighbour if they fit together; 0: only empty pages are freed.
    pub coalesce_below: u32,
    /// A leaf of a secondary index that an insert leaves with less room than this moves to the head
    /// of the pool's list, for nothing could wait for it in a change buffer if it went; 0: none
    /// does.
    pub keep_below: u32,
}

impl PageFormat {
    /// Bytes of a child page number.
    pub const CHILD_POINTER: u32 = 4;

    /// `InnoDB`'s compact format with pages of 16 KiB (`MySQL` 5.1 source, page0page.h, rem0rec.h,
    /// btr0cur.c).
    pub const INNODB: Self = Self {
        page_bytes: 16_384,
        page_overhead: 132,
        record_header: 5,
        clustered_extra: 13,
        child_pointer: Self::CHILD_POINTER,
        directory_slot: 2,
        directory_records: 4,
        clustered_reserve: 1_024,
        reorganize_limit: 512,
        coalesce_below: 8_192,
        keep_below: 512,
    };

    /// `InnoDB`'s records on pages that take `usable` bytes of them and their directory, none of
    /// which a rule keeps free or wants filled: for small trees, whose pages hold a few records.
    pub const fn of_usable(usable: u32) -> Self {
        Self {
            page_bytes: usable + Self::INNODB.page_overhead,
            clustered_reserve: 0,
            reorganize_limit: 0,
            coalesce_below: 0,
            keep_below: 0,
            ..Self::INNODB
        }
    }

    /// Bytes that records and their directory can use on an empty page.
    pub fn usable_bytes(&self) -> u32 {
        self.page_bytes - self.page_overhead
    }

    /// Bytes of an entry of a leaf.
    pub fn leaf_record(&self, shape: &IndexShape) -> u32 {
        let clustered = if shape.clustered { self.clustered_extra } else { 0 };
        self.record_overhead(shape) + shape.variable_columns + clustered + shape.entry_bytes
    }

    /// Bytes of an entry of an internal page. It carries the null bitmap of its index, as
    /// measured on `MariaDB` 10.11 (18, 25, 29 and 31 bytes for iiBench).
    pub fn node_record(&self, shape: &IndexShape) -> u32 {
        self.record_overhead(shape) + shape.key_bytes + self.child_pointer
    }

    fn record_overhead(&self, shape: &IndexShape) -> u32 {
        self.record_header + shape.nullable_columns.div_ceil(8)
    }

    fn directory(&self, records: u32) -> u32 {
        (records * self.directory_slot).div_ceil(self.directory_records)
    }

    /// Bytes an insert could use on a page with `records` records, after reorganising it.
    pub(crate) fn insertable(&self, record: u32, records: u32) -> i64 {
        i64::from(self.usable_bytes())
            - i64::from(records) * i64::from(record)
            - i64::from(self.directory(records + 1))
    }

    /// The limits of pages with records of this size.
    pub(crate) fn limits(&self, record: u32, clustered_leaf: bool) -> Limits {
        let first = |blocked: &dyn Fn(u32) -> bool| {
            (0..=self.usable_bytes() / record.max(1) + 1)
                .find(|records| blocked(*records))
                .expect("a page is finite") as u16
        };
        let (size, limit) = (i64::from(record), i64::from(self.reorganize_limit));
        let reserve = i64::from(self.clustered_reserve);
        let full = first(&|n| self.insertable(record, n) < size);
        Limits {
            record,
            full,
            tight: first(&|n| 1 < n && self.insertable(record, n) < limit.max(size)),
            reserved: if clustered_leaf {
                first(&|n| 1 < n && self.insertable(record, n) < reserve + size)
            } else {
                u16::MAX
            },
            coalesce_below: (self.coalesce_below.div_ceil(record)).max(1) as u16,
            // The server subtracts a whole slot for the new record: 2 bytes less at most.
            kept: if clustered_leaf || self.keep_below == 0 {
                u16::MAX
            } else {
                first(&|n| self.insertable(record, n) < i64::from(self.keep_below))
            },
        }
    }
}

/// When a page with records of one size is full, in records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Bytes of a record.
    pub(crate) record: u32,
    /// Records a page holds at most.
    pub(crate) full: u16,
    /// Records from which on a page with garbage and without contiguous space is split.
    pub(crate) tight: u16,
    /// Records from which on a sequential insert splits a clustered leaf.
    pub(crate) reserved: u16,
    /// A page with fewer records is joined with a neighbour if possible.
    pub(crate) coalesce_below: u16,
    /// Records with which a leaf of a secondary index moves to the head of the pool's list.
    pub(crate) kept: u16,
}

impl Limits {
    /// Whether one more record goes on a page with `records` records that has held up to
    /// `slots` at one time (the space of deleted and moved records is garbage until the page is
    /// reorganised or the slots are used again).
    #[inline]
    pub(crate) fn fits(&self, records: u16, slots: u16) -> bool {
        records < self.full && (records < self.tight || slots == records || slots < self.full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Most entries ever on one leaf", measured on `MariaDB` 10.11, and the sequential fill of
    /// clustered leaves there (48-byte rows) and in `MySQL` 5.1 (47).
    #[test]
    fn capacities_are_the_measured_ones() {
        for (record, most) in [(21, 755), (25, 637), (27, 590), (17, 928), (26, 613)] {
            assert_eq!(
                PageFormat::INNODB.limits(record, false).full,
                most,
                "{record}-byte records"
            );
        }
        assert_eq!(PageFormat::INNODB.limits(48, true).reserved, 313);
        assert_eq!(PageFormat::INNODB.limits(47, true).reserved, 320);
    }

    /// Of 16,252 bytes 513 are free with 732 records and their directory, 492 with 733.
    #[test]
    fn a_secondary_leaf_is_kept_when_less_than_a_thirty_second_is_free() {
        assert_eq!(PageFormat::INNODB.limits(21, false).kept, 733);
        assert_eq!(PageFormat::INNODB.limits(48, true).kept, u16::MAX, "a clustered leaf");
        assert_eq!(PageFormat::of_usable(400).limits(21, false).kept, u16::MAX, "no such rule");
    }

    #[test]
    fn a_page_with_garbage_is_split_when_less_than_a_thirty_second_is_free() {
        let limits = PageFormat::INNODB.limits(21, false);
        assert!(limits.fits(731, 731) && limits.fits(754, 754), "no garbage");
        assert!(limits.fits(700, 755) && !limits.fits(740, 755), "garbage, heap full");
        assert!(limits.fits(740, 754), "garbage, one contiguous slot left");
    }
}
