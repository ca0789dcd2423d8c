//! What the server counted.

use std::sync::LazyLock;

/// Pages of an index of the purchases table.
#[derive(Debug)]
pub(crate) struct MeasuredPages {
    pub(crate) rows: u64,
    pub(crate) index: &'static str,
    pub(crate) leaf: u64,
    pub(crate) internal: u64,
}

/// Pages of an index of the table micro after all its rows.
#[derive(Debug)]
pub(crate) struct MeasuredMicro {
    pub(crate) order: &'static str,
    pub(crate) index: &'static str,
    pub(crate) leaf: u64,
    pub(crate) internal: u64,
}

/// Pages read within the [`INTERVAL_ROWS`] rows up to `rows`.
#[derive(Debug)]
pub(crate) struct MeasuredReads {
    /// The scenario that repeats the run.
    pub(crate) run: &'static str,
    pub(crate) pool_pages: u64,
    pub(crate) rows: u64,
    pub(crate) leaf: u64,
    pub(crate) internal: u64,
}

/// Redo bytes written while the last of `rows` rows were inserted.
#[derive(Debug)]
pub(crate) struct MeasuredRedo {
    /// The scenario that repeats the run, or the order of the table micro.
    pub(crate) run: &'static str,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// Rows between two samples of a run, but for those of the table micro.
pub(crate) const SAMPLE_ROWS: u64 = 100_000;

/// Rows of an interval of [`READS`].
pub(crate) const INTERVAL_ROWS: u64 = 500_000;

/// Rows between two counts of [`PAGES`].
pub(crate) const PAGES_EVERY_ROWS: u64 = 250_000;

/// Every index every 250,000 rows.
pub(crate) static PAGES: LazyLock<Vec<MeasuredPages>> = LazyLock::new(|| {
    let line = |[rows, index, leaf, internal]: [&'static str; 4]| MeasuredPages {
        rows: number(rows),
        index,
        leaf: number(leaf),
        internal: number(internal),
    };
    lines(include_str!("pages.csv")).map(line).collect()
});

/// Four orders of the table micro.
pub(crate) static MICRO: LazyLock<Vec<MeasuredMicro>> = LazyLock::new(|| {
    let line = |[order, index, leaf, internal]: [&'static str; 4]| MeasuredMicro {
        order,
        index,
        leaf: number(leaf),
        internal: number(internal),
    };
    lines(include_str!("micro_pages.csv")).map(line).collect()
});

/// Two runs in intervals of 500,000 rows.
pub(crate) static READS: LazyLock<Vec<MeasuredReads>> = LazyLock::new(|| {
    let line = |[run, pool_pages, rows, leaf, internal]: [&'static str; 5]| MeasuredReads {
        run,
        pool_pages: number(pool_pages),
        rows: number(rows),
        leaf: number(leaf),
        internal: number(internal),
    };
    lines(include_str!("reads.csv")).map(line).collect()
});

/// Two runs in intervals of 100,000 rows, and four orders of the table micro as a whole.
pub(crate) static REDO: LazyLock<Vec<MeasuredRedo>> = LazyLock::new(|| {
    let line = |[run, rows, bytes]: [&'static str; 3]| MeasuredRedo {
        run,
        rows: number(rows),
        bytes: number(bytes),
    };
    lines(include_str!("redo.csv")).map(line).collect()
});

impl MeasuredRedo {
    /// Whether the interval lies beyond the first fifth of its run.
    pub(crate) fn is_beyond_fifth(&self) -> bool {
        let end = REDO.iter().filter(|redo| redo.run == self.run).map(|redo| redo.rows).max();
        end.is_some_and(|end| end < 5 * self.rows)
    }
}

impl MeasuredReads {
    /// Whether the secondary leaves were a quarter more than the pool holds during the whole
    /// interval; near the size of the pool a page more or less decides much. The clustered index
    /// does not count: only its end is in use.
    pub(crate) fn is_beyond_pool(&self) -> bool {
        5 * self.pool_pages <= 4 * self.leaves_least()
    }

    /// The fewest leaves that all secondary indexes had during the interval: those at its start,
    /// as nothing is deleted.
    pub(crate) fn leaves_least(&self) -> u64 {
        leaves_at(self.rows - INTERVAL_ROWS)
    }
}

fn leaves_at(rows: u64) -> u64 {
    let secondary = PAGES.iter().filter(|pages| pages.rows == rows && pages.index != "PRIMARY");
    secondary.map(|pages| pages.leaf).sum()
}

/// The fields of every line but comments and the names of the columns.
pub(crate) fn lines<const FIELDS: usize>(
    text: &'static str,
) -> impl Iterator<Item = [&'static str; FIELDS]> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split(',').collect::<Vec<_>>().try_into().expect("as many fields"))
}

pub(crate) fn number(text: &str) -> u64 {
    text.parse().expect("a whole number")
}
