//! Where the time of the average row goes, with the reasons.

use std::io::{self, Write};

use cost_model::{Cause, Purpose};

use super::at_full_scale;
use crate::report::{Point, text};
use crate::scenario::{DeleteConnection, Scenario};

/// The mean row of an interval.
#[derive(Clone, Debug)]
pub(super) struct Average {
    heading: String,
    causes: Vec<CauseStory>,
    pages: String,
}

#[derive(Clone, Debug)]
struct CauseStory {
    cause: Cause,
    per_row_s: f64,
    share: f64,
    reason: String,
}

/// What the reasons are made from.
struct Facts<'a> {
    scenario: &'a Scenario,
    point: &'a Point,
    /// Rows of the interval.
    rows: u64,
    /// Connections of all kinds.
    clients: u32,
    /// Bytes of the entries in the leaves.
    leaf_bytes: u64,
}

impl Average {
    /// The mean of the last `rows` rows, which `point` describes; the leaves have so many bytes of
    /// entries.
    pub(super) fn new(scenario: &Scenario, point: &Point, rows: u64, leaf_bytes: u64) -> Self {
        let facts = Facts { scenario, point, rows, clients: clients(scenario), leaf_bytes };
        let seconds = match point.rows_per_s {
            0.0 => 0.0,
            rows_per_s => f64::from(facts.clients) / rows_per_s,
        };
        let heading = format!(
            "The mean of the {} rows before it{}: {} of client time per row, {} rows/s",
            text::grouped(rows),
            at_full_scale(scenario, rows),
            text::duration(seconds),
            text::rate(point.rows_per_s),
        );
        let mut causes: Vec<_> = Cause::ALL
            .iter()
            .filter_map(|cause| Some((*cause, *point.time.get(cause.name())?)))
            .map(|(cause, share)| {
                let per_row_s = share * seconds;
                CauseStory { cause, per_row_s, share, reason: facts.reason(cause, per_row_s) }
            })
            .collect();
        causes.sort_by(|a, b| b.share.total_cmp(&a.share));
        Self { heading, causes, pages: facts.pages() }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Where the time of the average row goes")?;
        text::write_hanging("", &self.heading, out)?;
        writeln!(out)?;
        for CauseStory { cause, per_row_s, share, reason } in &self.causes {
            let head = format!(
                "  {:<10}{:>10} ms {:>8}  ",
                cause.name(),
                format!("{:.3}", per_row_s * 1e3),
                text::percent(*share),
            );
            text::write_hanging(&head, reason, out)?;
        }
        writeln!(out)?;
        text::write_hanging("", &self.pages, out)
    }
}

impl Facts<'_> {
    /// Why a row costs `per_row_s` seconds of this.
    fn reason(&self, cause: Cause, per_row_s: f64) -> String {
        let writes = self.point.writes_per_row;
        match cause {
            Cause::Cpu => self.computing(per_row_s),
            Cause::Read if self.has_nodes() => self.node_reads(),
            Cause::FreePage if self.has_nodes() => format!(
                "the cache of nodes is too full: dirty ones are written, {} per row",
                text::bytes(self.point.write_bytes_per_row as u64)
            ),
            Cause::Lock if self.has_nodes() => {
                "a node is unpacked, or another thread works on it".to_owned()
            }
            Cause::Read => self.reads(per_row_s),
            Cause::Merge => {
                "the change buffer is full: a batch of leaves is read and merged".to_owned()
            }
            Cause::Log => "commits and flush batches wait until the redo log is durable".to_owned(),
            Cause::Doublewrite => format!(
                "{writes:.2} pages are written per row, each to the doublewrite buffer first, one \
                 batch at a time"
            ),
            Cause::CheckpointStall => format!(
                "the redo log is full until the pages with the oldest changes are written; \
                 {writes:.2} pages are written per row"
            ),
            Cause::FreePage => format!(
                "no page of the pool could be replaced until a dirty one was written; \
                 {writes:.2} pages are written per row"
            ),
            Cause::Flush => self.flushes(),
            Cause::Lock => format!(
                "{} clients share {} cores and the pages they wait for",
                self.clients, self.scenario.machine.cores
            ),
            Cause::Think => "a rate limit, or nothing to do yet".to_owned(),
        }
    }

    fn computing(&self, per_row_s: f64) -> String {
        let row_s = self.scenario.machine.cpu.row.as_secs_f64();
        let row = text::duration(row_s);
        let rest = per_row_s - row_s;
        // A part in a thousand is rounding and jitter.
        if rest.abs() <= per_row_s / 1e3 {
            return format!("computing: {row} per row (machine.cpu.row)");
        }
        let rest = text::duration(rest.max(0.0));
        let what = if self.has_nodes() {
            "statements, messages and the nodes they go through"
        } else {
            "deletes, queries, statements, entries and pages"
        };
        format!("computing: {row} per row (machine.cpu.row), {rest} for {what}")
    }

    /// Whether the engine keeps nodes of any size in a cache of its own, instead of pages.
    fn has_nodes(&self) -> bool {
        self.scenario.fractal.is_some()
    }

    fn node_reads(&self) -> String {
        let of_which: Vec<_> = [
            (Purpose::LeafRead, "of leaf nodes"),
            (Purpose::NodeRead, "of internal nodes"),
            (Purpose::BasementRead, "of parts of leaf nodes for queries"),
        ]
        .into_iter()
        .filter_map(|(purpose, what)| {
            let requests = self.point.io.get(purpose.name())?.requests as f64;
            Some(format!("{:.5} {what}", requests / self.rows as f64))
        })
        .collect();
        let bytes = text::bytes(self.point.read_bytes_per_row as u64);
        format!("reads per row: {}, together {bytes}", of_which.join(", "))
    }

    fn reads(&self, per_row_s: f64) -> String {
        let reads = self.point.reads_per_row;
        if reads == 0.0 {
            return "pages copied from the page cache of the operating system: no disk is asked"
                .to_owned();
        }
        let parallel = match self.clients {
            1 => "one at a time, because one client has one read outstanding".to_owned(),
            clients => format!(
                "at most {clients} at a time, because each of {clients} clients has one read \
                 outstanding"
            ),
        };
        let each = text::duration(per_row_s / reads);
        let of_which = self.pages_by_purpose(&[
            (Purpose::LeafRead, "of the leaf itself"),
            (Purpose::SiblingRead, "of neighbours at splits"),
            (Purpose::NodeRead, "of internal pages"),
            (Purpose::MergeRead, "of leaves that buffered changes are merged into"),
            (Purpose::BufferRead, "of the change buffer and its bitmaps"),
            (Purpose::UndoRead, "of the undo log"),
            (Purpose::FillRead, "of pages that a write replaces in part"),
        ]);
        format!("reads: {reads:.3} per row x {each}, {parallel}; {of_which}")
    }

    /// What is written while somebody waits for it.
    fn flushes(&self) -> String {
        let of_which = self.pages_by_purpose(&[
            (Purpose::WriteBack, "dirty ones at the tail of the LRU list"),
            (Purpose::Checkpoint, "dirty ones with the oldest changes"),
            (Purpose::OsWriteBack, "from the cache of the operating system"),
            (Purpose::Growth, "zeros at the end of the file, which grows"),
        ]);
        if of_which.is_empty() {
            return "pages that were given to the disks before are still being written".to_owned();
        }
        let writes = |purpose: Purpose| self.point.io.contains_key(purpose.name());
        let latched = if writes(Purpose::WriteBack) || writes(Purpose::Checkpoint) {
            "; no page is changed while it is written"
        } else {
            ""
        };
        format!("pages written per row: {of_which}{latched}")
    }

    /// Pages that are moved per row for each of these purposes for which any are.
    fn pages_by_purpose(&self, purposes: &[(Purpose, &str)]) -> String {
        let moved = |(purpose, what): &(Purpose, &str)| {
            let pages = self.point.io.get(purpose.name())?.pages as f64;
            Some(format!("{:.3} {what}", pages / self.rows as f64))
        };
        purposes.iter().filter_map(moved).collect::<Vec<_>>().join(", ")
    }

    /// How much of the indexes fits into memory.
    fn pages(&self) -> String {
        let leaves: u64 = self.point.pages.values().map(|pages| pages.leaf).sum();
        let by_index: Vec<_> = self
            .point
            .pages
            .iter()
            .map(|(name, pages)| format!("{name} {}", text::grouped(pages.leaf)))
            .collect();
        let pool = &self.scenario.pool;
        let pool_pages = pool.pages(self.scenario.engine.page_size);
        let share = if self.has_nodes() {
            pool.size.get() as f64 / self.leaf_bytes as f64
        } else {
            pool_pages as f64 / leaves as f64
        };
        let share = match share {
            share if share < 1.0 => format!("{} of them", text::percent(share)),
            _ => "so that all of them fit".to_owned(),
        };
        if self.has_nodes() {
            return format!(
                "The indexes have {} leaf nodes ({}) with {} of entries; the cache of nodes holds \
                 {}, {share}.",
                text::grouped(leaves),
                by_index.join(", "),
                text::bytes(self.leaf_bytes),
                text::bytes(pool.size.get()),
            );
        }
        format!(
            "The indexes have {} leaves ({}); the buffer pool holds {} pages, {share}. {} of all \
             page requests were hits.",
            text::grouped(leaves),
            by_index.join(", "),
            text::grouped(pool_pages),
            text::percent(self.point.hit_ratio),
        )
    }
}

/// Connections that insert, delete or query.
fn clients(scenario: &Scenario) -> u32 {
    let workload = &scenario.workload;
    let separate =
        |window: &crate::scenario::Window| window.connection == DeleteConnection::Separate;
    let deleters = u32::from(workload.window.as_ref().is_some_and(separate));
    workload.clients + deleters + workload.queries.map_or(0, |queries| queries.clients)
}
