//! One insert, page by page.

use std::collections::BTreeMap;
use std::io::{self, Write};

use cost_model::{Cause, Event, PageId, SimDuration, SimTime, TimeLedger};
use index::PageUse;

use crate::report::text;
use crate::run::{FollowedIndex, FollowedInsert, Run};

/// What a followed insert did, in words that need the run no more.
#[derive(Clone, Debug)]
pub(super) struct InsertStory {
    row: u64,
    time: TimeLedger,
    indexes: Vec<IndexStory>,
}

#[derive(Clone, Debug)]
struct IndexStory {
    name: String,
    levels: u32,
    began: SimDuration,
    pages: Vec<PageStory>,
    /// Height above the leaves of the last page on the way from the root.
    reached: Option<u32>,
    /// Whether pages of the change buffer were needed.
    is_buffered: bool,
    besides: Vec<Besides>,
}

/// What happened beside the pages that the insert needed.
#[derive(Clone, Debug)]
enum Besides {
    /// Pages were given to the disks at this time after the row began: requests and pages, and
    /// the pages of each index.
    Writes { at: SimDuration, requests: u64, pages: u64, of: BTreeMap<String, u64> },
    /// The client waited for this cause from this time on for so long.
    Wait { at: SimDuration, cause: Cause, took: SimDuration },
}

/// A page that the insert needed.
#[derive(Clone, Debug)]
struct PageStory {
    page: PageId,
    role: String,
    outcome: Outcome,
}

#[derive(Clone, Debug)]
enum Outcome {
    Hit,
    /// It was read, which took so long, and this page lost its frame.
    Miss {
        took: SimDuration,
        evicted: Option<String>,
    },
    /// It came into being by a split, or otherwise.
    Created {
        by_split: bool,
    },
}

impl InsertStory {
    /// The story of an insert; `run` still knows the pages.
    pub(super) fn new(insert: &FollowedInsert, run: &Run) -> Self {
        let index = |index| IndexStory::new(index, insert.began, run);
        Self {
            row: insert.row.0,
            time: insert.time.clone(),
            indexes: insert.indexes.iter().map(index).collect(),
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let cpu = duration(self.indexes.first().map_or(SimDuration::ZERO, |index| index.began));
        let row = text::grouped(self.row + 1);
        writeln!(out, "One insert, page by page: row {row}")?;
        let intro = format!(
            "The client computes for {cpu}, then changes one index after the other. In each it \
             goes down from the root to the leaf where the key belongs. A page that is in the \
             buffer pool (hit) costs no time; one that is not (miss) must be read before the \
             insert goes on. Writes are done behind its back: it waits only where that is said. \
             Times in brackets are since the row began."
        );
        text::write_hanging("", &intro, out)?;
        for index in &self.indexes {
            index.write(out)?;
        }
        let misses = self.indexes.iter().flat_map(|index| &index.pages);
        let misses = misses.filter(|page| matches!(page.outcome, Outcome::Miss { .. })).count();
        let parts = Cause::ALL.iter().map(|cause| (cause, self.time.get(*cause)));
        let parts = parts.filter(|(_, time)| SimDuration::ZERO < *time);
        let parts: Vec<_> =
            parts.map(|(cause, time)| format!("{} {}", cause.name(), duration(time))).collect();
        let pages = match misses {
            0 => "no page was read".to_owned(),
            1 => "1 page was read".to_owned(),
            misses => format!("{misses} pages were read"),
        };
        let total = duration(self.time.total());
        let parts =
            if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        writeln!(out, "\nIn all {total}{parts}: {pages}.")
    }
}

impl IndexStory {
    fn new(index: &FollowedIndex, row_began: SimTime, run: &Run) -> Self {
        let name_of = |page: PageId| match run.locate(page) {
            Some((name, PageUse::Index(index, level))) => {
                let role = role(level, run.levels(index));
                format!("{name} {role} (page {})", text::grouped(page.0.into()))
            }
            Some((name, _)) => format!("{name} (page {})", text::grouped(page.0.into())),
            None => format!("page {}, which is used no more", text::grouped(page.0.into())),
        };
        let mut story = Self {
            name: index.name.clone(),
            levels: index.stats.height,
            began: index.began.since(row_began),
            pages: Vec::new(),
            reached: None,
            is_buffered: false,
            besides: Vec::new(),
        };
        let mut reads: Vec<(PageId, Outcome)> = Vec::new();
        // Events that are no waits tell the time of the client, from which a wait begins.
        let mut now = index.began;
        for (at, event) in &index.events {
            let began = now;
            now = *at;
            match *event {
                Event::Read(page, evicted) => {
                    let evicted = evicted.map(&name_of);
                    reads.push((page, Outcome::Miss { took: SimDuration::ZERO, evicted }));
                }
                Event::Wait(Cause::Read, until) => {
                    if let Some((_, Outcome::Miss { took, .. })) = reads.last_mut() {
                        *took = until.since(began);
                    }
                }
                Event::Hit(page) => {
                    let read = reads.iter().position(|(read, _)| *read == page);
                    let outcome = read.map_or(Outcome::Hit, |read| reads.remove(read).1);
                    story.add(page, outcome, run);
                }
                Event::Create(page) => {
                    let by_split = matches!(run.locate(page), Some((_, PageUse::Index(..))));
                    story.add(page, Outcome::Created { by_split }, run);
                }
                Event::Write(first, pages) => {
                    let index = run.locate(first).map_or("pages used no more", |(name, _)| name);
                    story.add_write(at.since(row_began), index, pages.into());
                }
                Event::Wait(cause, until) => story.besides.push(Besides::Wait {
                    at: began.since(row_began),
                    cause,
                    took: until.since(began),
                }),
            }
        }
        // Read but not used: neighbours whose links a split did not change.
        for (page, outcome) in reads {
            story.add(page, outcome, run);
        }
        story
    }

    /// Adds a request to those of the same moment.
    fn add_write(&mut self, now: SimDuration, index: &str, count: u64) {
        if !matches!(self.besides.last(), Some(Besides::Writes { at, .. }) if *at == now) {
            let of = BTreeMap::new();
            self.besides.push(Besides::Writes { at: now, requests: 0, pages: 0, of });
        }
        if let Some(Besides::Writes { requests, pages, of, .. }) = self.besides.last_mut() {
            *requests += 1;
            *pages += count;
            *of.entry(index.to_owned()).or_default() += count;
        }
    }

    /// Adds a page unless it is there already.
    fn add(&mut self, page: PageId, outcome: Outcome, run: &Run) {
        if self.pages.iter().any(|known| known.page == page) {
            return;
        }
        let role = match run.locate(page) {
            Some((name, PageUse::Index(_, level))) if name == self.name => {
                self.role(level, &outcome)
            }
            Some((name, PageUse::Index(index, level))) => {
                format!("{name} {}", role(level, run.levels(index)))
            }
            Some((name, used)) => {
                self.is_buffered |= used == PageUse::ChangeBuffer;
                name.to_owned()
            }
            None => "not used now".to_owned(),
        };
        self.pages.push(PageStory { page, role, outcome });
    }

    /// What a page of this index is, which is the next on the way if it lies below the last.
    fn role(&mut self, level: u32, outcome: &Outcome) -> String {
        let role = role(level, self.levels);
        if matches!(outcome, Outcome::Created { .. }) {
            return format!("new {role}");
        }
        let on_the_way = self.reached.map_or(level + 1 == self.levels, |above| level < above);
        if on_the_way {
            self.reached = Some(level);
            role
        } else {
            format!("sibling {role}")
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let levels = if self.levels == 1 { "1 level" } else { &format!("{} levels", self.levels) };
        writeln!(out, "\n[{}] {}, {levels}", duration(self.began), self.name)?;
        for PageStory { page, role, outcome } in &self.pages {
            let head = format!("  {role:<13} page {:<12}", text::grouped(page.0.into()));
            match outcome {
                Outcome::Hit => writeln!(out, "{head}hit")?,
                Outcome::Created { by_split: true } => writeln!(out, "{head}created by a split")?,
                Outcome::Created { by_split: false } => writeln!(out, "{head}created")?,
                Outcome::Miss { took, evicted } => {
                    let place = match evicted {
                        Some(evicted) => format!("in the place of {evicted}"),
                        None => "into a free frame".to_owned(),
                    };
                    let text = format!("read in {} {place}", duration(*took));
                    text::write_hanging(&format!("{head}miss  "), &text, out)?;
                }
            }
        }
        if self.is_buffered && self.reached.is_some_and(|level| 0 < level) {
            let text = "The leaf is not in the pool: the entry waits for it in the change buffer.";
            text::write_hanging("  ", text, out)?;
        }
        for besides in &self.besides {
            text::write_hanging(&format!("  [{}] ", duration(besides.at())), &besides.text(), out)?;
        }
        Ok(())
    }
}

impl Besides {
    fn at(&self) -> SimDuration {
        match self {
            Self::Writes { at, .. } | Self::Wait { at, .. } => *at,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Writes { requests, pages, of, .. } => {
                let of: Vec<_> = of.iter().map(|(name, pages)| format!("{name} {pages}")).collect();
                format!(
                    "Too few pages at the tail of the LRU list could be replaced: {pages} dirty \
                     pages are given to the disks to write, in {requests} requests of adjacent \
                     pages ({}).",
                    of.join(", ")
                )
            }
            Self::Wait { cause, took, .. } => {
                format!("The client waits {}: {}.", duration(*took), waiting_for(*cause))
            }
        }
    }
}

/// What a page at this height above the leaves is in a tree of so many levels.
fn role(level: u32, levels: u32) -> String {
    match level {
        _ if level + 1 == levels => "root".to_owned(),
        0 => "leaf".to_owned(),
        level => format!("level {level}"),
    }
}

fn waiting_for(cause: Cause) -> &'static str {
    match cause {
        Cause::Merge => "leaves are read so that buffered changes are merged into them",
        Cause::Log => "the redo log is being made durable",
        Cause::Doublewrite => "dirty pages go to the doublewrite buffer before their places",
        Cause::CheckpointStall => "the redo log is full until old changes are written back",
        Cause::FreePage => "no frame is free before a dirty page is written",
        Cause::Flush => "dirty pages are being written back",
        Cause::Lock => "another thread holds what it needs",
        Cause::Read => "a page is being read",
        Cause::Cpu | Cause::Think => "not for the disks",
    }
}

fn duration(time: SimDuration) -> String {
    text::duration(time.as_secs_f64())
}
