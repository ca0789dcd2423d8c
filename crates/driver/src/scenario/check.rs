//! Which values do not go together, and which scales an experiment cannot have?

use cost_model::Bytes;
use cost_model::device::{DeviceSpec, Raid};
use index::{IndexShape, Partitions};

use super::Scenario;
use super::error::{Place, Problem, ScenarioError};
use super::kind::grouped;
use super::pool::FileIo;
use super::scale::Scale;
use super::values::Values;
use super::workload::{DeleteConnection, QueryKind};
use crate::workload::{IiBenchSpec, Profile, StreamSpec, micro_shapes, pointing};

/// Frames that the pages of one path through every index of a table need, with those that a
/// split touches.
const POOL_PAGES_MIN: u64 = 32;

/// Frames for each further connection: pages that it keeps while it waits for another.
const POOL_PAGES_PER_CONNECTION: u64 = 16;

/// Frames for each root of a tree in the instance with most of them.
const FRAMES_PER_ROOT: u64 = 2;

/// How many times longer than the scan of its tail an LRU list is at least in a scaled run: the
/// scan is a fixed number of pages and must stay a small part of the list.
const MARGIN_SCANS_MIN: u64 = 8;

/// Entries that a page must hold for a split to leave two halves and room for a new one.
const ENTRIES_MIN: u64 = 4;

/// Bytes of the number of the page beneath an entry above the leaves.
const PAGE_NUMBER_BYTES: u32 = 4;

/// Rows the exact store can number with 4 bytes.
const ROWS_EXACT_MAX: u64 = 1 << 32;

/// Coarsest price step of a key stream, and so the smallest scale of rounded prices.
const PRICE_STEP_MAX: u64 = 1 << 10;

type Checked = Result<(), ScenarioError>;

pub(super) fn check(scenario: &Scenario, values: &Values) -> Checked {
    engine(scenario, values)?;
    disk(&scenario.machine.disk, Some(scenario.engine.page_size), values)?;
    super::fractal::check(scenario, values)?;
    pool(scenario, values)?;
    workload(scenario, values)?;
    statement(scenario, values)?;
    queries(scenario, values)?;
    scale(scenario, values)?;
    super::flush::check(scenario, values)?;
    super::redo::check(scenario, values)?;
    report(scenario, values)
}

/// The rules of the disks; `page_size` is that of the engine, if there is one.
pub(super) fn disk(disk: &DeviceSpec, page_size: Option<Bytes>, values: &Values) -> Checked {
    let (raid, members, members_key, stripe) = match disk {
        DeviceSpec::Hdd(hdd) => (hdd.raid, hdd.spindles, "machine.disk.spindles", hdd.stripe),
        DeviceSpec::Volumes(vol) => (vol.raid, vol.volumes, "machine.disk.volumes", vol.stripe),
        DeviceSpec::Ssd(_) | DeviceSpec::Null => return Ok(()),
    };
    let fail = |key, reason: &str| Err(values.conflict(key, reason.to_owned()));
    match raid {
        Raid::R1 if members < 2 => {
            return fail(members_key, "RAID 1 mirrors at least 2 of them");
        }
        Raid::R10 if members < 2 || !members.is_multiple_of(2) => {
            return fail(members_key, "RAID 10 stripes over mirrored pairs: an even number");
        }
        Raid::R0 | Raid::R1 | Raid::R10 => {}
    }
    if let Some(page) = page_size
        && !stripe.get().is_multiple_of(page.get())
    {
        let reason = format!(
            "must be a multiple of the page size ({page}): a page lies on one disk or volume"
        );
        return Err(values.conflict("machine.disk.stripe", reason));
    }
    let slow = values.full_scale("machine.disk.slow_volume");
    match (slow, values.get::<Option<f64>>("machine.disk.slow_factor")) {
        (Some(_), None) => {
            return fail("machine.disk.slow_volume", "needs machine.disk.slow_factor");
        }
        (None, Some(_)) => {
            return fail("machine.disk.slow_factor", "needs machine.disk.slow_volume");
        }
        (Some(slow), Some(_)) if u64::from(members) <= slow => {
            let reason = format!("there are {members} volumes, counted from 0");
            return Err(values.conflict("machine.disk.slow_volume", reason));
        }
        _ => {}
    }
    // What the device itself asks for beyond the ranges of the keys.
    disk.check().or_else(|reason| fail("machine.disk.kind", reason))
}

fn engine(scenario: &Scenario, values: &Values) -> Checked {
    let page = scenario.engine.page_size;
    if !page.get().is_power_of_two() {
        let reason = "must be a power of two from 1KiB to 64KiB: extents, areas and stripes are \
                      aligned to whole pages";
        return Err(values.conflict("engine.page_size", reason.to_owned()));
    }
    let buffer = scenario.change_buffer.as_ref();
    for (key, overhead) in [
        ("engine.page.overhead", scenario.engine.page_overhead),
        ("change_buffer.page_overhead", buffer.map_or(Bytes::ZERO, |buffer| buffer.page_overhead)),
    ] {
        if page.get() < 2 * overhead.get() {
            let reason = format!("at least half of a page of {page} must be left for records");
            return Err(values.conflict(key, reason));
        }
    }
    let usable = scenario.engine.page_usable().get();
    let entries = usable / record_bytes_max(scenario);
    if entries < ENTRIES_MIN {
        let reason = format!(
            "a page has room for {entries} of the largest records; a tree needs {ENTRIES_MIN}"
        );
        return Err(values.conflict("engine.page_size", reason));
    }
    Ok(())
}

/// The indexes of the scenario's table.
pub(super) fn table_shapes(scenario: &Scenario) -> Vec<IndexShape> {
    let workload = &scenario.workload;
    let shapes = match &workload.stream {
        StreamSpec::IiBench(IiBenchSpec { profile, .. }) => workload.shapes(*profile),
        StreamSpec::Micro(_) => {
            micro_shapes(0 < workload.secondary_indexes, workload.widths.micro_row())
        }
        // The widest there is: what the recording holds is known when it is opened.
        StreamSpec::Recorded { .. } => workload.shapes(Profile::Layout2023),
    };
    match scenario.engine.rows_apart {
        Some(rows) => pointing(shapes, rows.pointer.get() as u32),
        None => shapes,
    }
}

/// Bytes of the largest record of any index, in a leaf or above, with its share of the directory.
fn record_bytes_max(scenario: &Scenario) -> u64 {
    let engine = &scenario.engine;
    let bytes = |shape: &IndexShape| {
        let columns = u64::from(shape.entry_bytes.max(shape.key_bytes + PAGE_NUMBER_BYTES));
        let lengths = shape.nullable_columns.div_ceil(8) + shape.variable_columns;
        let clustered = if shape.clustered { engine.record_clustered_extra.get() } else { 0 };
        engine.record_header.get()
            + clustered
            + columns
            + u64::from(lengths)
            + engine.directory_slot.get().div_ceil(u64::from(engine.directory_records))
    };
    table_shapes(scenario).iter().map(bytes).max().unwrap_or(1)
}

fn pool(scenario: &Scenario, values: &Values) -> Checked {
    let (pool, page) = (&scenario.pool, scenario.engine.page_size);
    let full = Bytes::new(values.full_scale("pool.size").unwrap_or_default());
    if let Some(memory) = values.full_scale("machine.memory").map(Bytes::new)
        && memory < full
    {
        let reason = format!("is larger than machine.memory ({memory})");
        return Err(values.conflict("pool.size", reason));
    }
    if pool.io == FileIo::Buffered && scenario.machine.memory.is_none() {
        let reason = "needs machine.memory: what the pool leaves of it caches the files";
        return Err(values.conflict("pool.io", reason.to_owned()));
    }
    if pool.margin.high < pool.margin.low {
        let reason = format!("is below margin_low ({})", pool.margin.low);
        return Err(values.conflict("pool.margin_high", reason));
    }
    let pages = full.whole(page) / u64::from(pool.instances);
    let connections = u64::from(scenario.workload.connections());
    let least = POOL_PAGES_MIN + POOL_PAGES_PER_CONNECTION * (connections - 1);
    if pages < least {
        let reason = format!(
            "is {pages} pages of {page} in each pool instance ({} of them); at least {least} must \
             hold one path through every index and the pages of a split, for each connection",
            pool.instances
        );
        return Err(values.conflict("pool.size", reason));
    }
    let (roots, instances) = (roots(scenario), u64::from(pool.instances));
    // Areas of pages go to the instances in turn, and roots come one after the other.
    let area = u64::from(pool.area_pages);
    let in_first = roots.min(roots.div_ceil(area * instances) * area);
    let fits = |scale: &Scale| {
        in_first * FRAMES_PER_ROOT <= Bytes::new(scale.apply(full.get())).whole(page) / instances
    };
    let reason = format!(
        "the roots of {} indexes of partitions are made in the pool before the first row, and an \
         instance must hold {FRAMES_PER_ROOT} times as many pages as it has of them ({})",
        grouped(roots),
        grouped(in_first)
    );
    if !fits(&Scale::FULL) {
        return Err(values.conflict("pool.size", reason));
    }
    if !fits(&scenario.scale) {
        return Err(refused(scenario.scale, with_smallest(scenario.scale, &reason, fits)));
    }
    Ok(())
}

/// Trees whose roots are made in the pool before the first row; those of a fractal tree are not.
fn roots(scenario: &Scenario) -> u64 {
    match scenario.fractal {
        Some(_) => 0,
        None => scenario.workload.partitions() * table_shapes(scenario).len() as u64,
    }
}

fn workload(scenario: &Scenario, values: &Values) -> Checked {
    let workload = &scenario.workload;
    if ROWS_EXACT_MAX < workload.rows {
        let smallest = (0..=20).map(Scale::new).find(|scale| {
            scale.apply(values.full_scale("workload.rows").unwrap_or_default()) <= ROWS_EXACT_MAX
        });
        let reason = format!(
            "the exact store numbers 2^32 rows at most; run it with --scale {} or smaller",
            smallest.unwrap_or_default()
        );
        return Err(values.conflict("workload.rows", reason));
    }
    if !workload.rows_per_commit.is_multiple_of(workload.rows_per_statement) {
        let reason = format!(
            "must be a multiple of rows_per_statement ({}): a commit ends a statement",
            grouped(workload.rows_per_statement)
        );
        return Err(values.conflict("workload.rows_per_commit", reason));
    }
    let round = u64::from(workload.clients) * workload.rows_per_commit;
    if workload.rows < round {
        let reason = format!(
            "{}is less than one commit of each client ({} x {} rows)",
            at_scale(workload.rows, scenario.scale),
            workload.clients,
            grouped(workload.rows_per_commit)
        );
        return Err(values.conflict("workload.rows", reason));
    }
    if Partitions::MAX < workload.partitions() {
        let reason = format!(
            "would be {} partitions; a table has at most {}",
            grouped(workload.partitions()),
            grouped(Partitions::MAX)
        );
        return Err(values.conflict("workload.partition_rows", reason));
    }
    if let Some(window) = workload.window {
        if workload.rows <= window.rows {
            let reason = format!(
                "nothing would ever be deleted: workload.rows is {}",
                grouped(values.full_scale("workload.rows").unwrap_or_default())
            );
            return Err(values.conflict("workload.window", reason));
        }
        if window.drops_partitions
            && workload.partition_rows.is_none_or(|rows| workload.rows < window.rows + rows)
        {
            let reason = "no partition would be dropped: workload.partition_rows must be positive, \
                          and workload.rows exceed workload.window by as many";
            return Err(values.conflict("workload.drop_partitions", reason.to_owned()));
        }
        if window.rows < round {
            let reason = format!(
                "{}is less than the rows of one commit of each client ({})",
                at_scale(window.rows, scenario.scale),
                grouped(round)
            );
            return Err(values.conflict("workload.window", reason));
        }
    }
    if matches!(workload.stream, StreamSpec::Micro(_)) && 1 < workload.secondary_indexes {
        let reason = "the table of a micro workload has one secondary index";
        return Err(values.conflict("workload.secondary_indexes", reason.to_owned()));
    }
    Ok(())
}

/// Rules of engines that have no log: statements one at a time, files through the page cache.
fn statement(scenario: &Scenario, values: &Values) -> Checked {
    let fail = |key, reason: &str| Err(values.conflict(key, reason.to_owned()));
    let (workload, engine) = (&scenario.workload, &scenario.engine);
    if engine.rows_apart.is_some() && scenario.statement.header.is_none() {
        return fail("engine.rows", "needs statement.end = \"write-pages\", which writes the rows");
    }
    if engine.rows_apart.is_some() && workload.window.is_some() {
        return fail("workload.window", "the chain of deleted rows of engine.rows is not modelled");
    }
    if scenario.statement.header.is_none() {
        return Ok(());
    }
    if scenario.pool.io == FileIo::Direct {
        return fail("pool.io", "statement.end writes to the page cache: must be buffered");
    }
    if scenario.redo.is_some() {
        return fail(
            "statement.end",
            "pages must not be written before their log (redo.files = 0)",
        );
    }
    if 1 < workload.clients {
        return fail("workload.clients", "statement.end: one statement at a time has the table");
    }
    match workload.window {
        Some(window) if window.connection == DeleteConnection::Separate => {
            fail("workload.delete_connection", "statement.end: one connection has the table")
        }
        _ => Ok(()),
    }
}

fn queries(scenario: &Scenario, values: &Values) -> Checked {
    let Some(queries) = &scenario.workload.queries else { return Ok(()) };
    let workload = &scenario.workload;
    match (queries.kind.index(), workload.only_index) {
        (Some(asked), Some(only)) if asked != only => {
            let reason = "is not workload.only_index, and there is no other index";
            return Err(values.conflict("workload.queries.kind", reason.to_owned()));
        }
        (Some(asked), None) if workload.secondary_indexes < u32::from(asked) => {
            let reason = format!(
                "is secondary index {asked}, but workload.secondary_indexes is {}",
                workload.secondary_indexes
            );
            return Err(values.conflict("workload.queries.kind", reason));
        }
        _ => {}
    }
    if queries.kind == QueryKind::Each && queries.after_load.is_none() {
        let reason = "each kind in turn is asked after the load: needs workload.queries.after_load";
        return Err(values.conflict("workload.queries.kind", reason.to_owned()));
    }
    if queries.after_load.is_some() && queries.clients != 1 {
        let reason = "one client sends the queries of workload.queries.after_load";
        return Err(values.conflict("workload.queries.clients", reason.to_owned()));
    }
    if queries.after_load.is_some() {
        let reason = "has no effect on queries after the load, which follow each other";
        for (key, is_set) in [
            ("workload.queries.start_after_rows", 0 < queries.start_after_rows),
            ("workload.queries.rate_limit", queries.rate_limit.is_some()),
        ] {
            if is_set {
                return Err(values.conflict(key, reason.to_owned()));
            }
        }
    }
    if scenario.fractal.is_some() && 0 < queries.estimate_leaves {
        let reason = "has no effect: a fractal tree reads nothing to estimate a range";
        return Err(values.conflict("workload.queries.estimate_leaves", reason.to_owned()));
    }
    if scenario.workload.rows <= queries.start_after_rows {
        let reason = "no query would start: it is not below workload.rows";
        return Err(values.conflict("workload.queries.start_after_rows", reason.to_owned()));
    }
    Ok(())
}

fn scale(scenario: &Scenario, values: &Values) -> Checked {
    let scale = scenario.scale;
    if scale == Scale::FULL {
        return Ok(());
    }
    let refuse = |reason| Err(refused(scale, reason));
    match &scenario.workload.stream {
        StreamSpec::Recorded { .. } => {
            return refuse(
                "a recorded stream has the keys of its own size; run it at --scale 1".to_owned(),
            );
        }
        StreamSpec::IiBench(spec)
            if spec.profile != Profile::Unrounded && PRICE_STEP_MAX < scale.divisor() =>
        {
            return refuse(format!(
                "rounded prices would be too few; the smallest scale is 1/{PRICE_STEP_MAX}"
            ));
        }
        StreamSpec::IiBench(_) | StreamSpec::Micro(_) => {}
    }
    let (pool, page) = (&scenario.pool, scenario.engine.page_size);
    let pages_at = |scale: Scale| {
        let size = scale.apply(values.full_scale("pool.size").unwrap_or_default());
        Bytes::new(size).whole(page) / u64::from(pool.instances)
    };
    // A scan of the whole list at full size is one at every scale: what stays is what it is for.
    let (fixed, key) = match u64::from(pool.margin.scan) {
        scan if scan < pages_at(Scale::FULL) => (scan, "pool.margin_scan"),
        _ => (u64::from(pool.margin.high), "pool.margin_high"),
    };
    let pages_min = (MARGIN_SCANS_MIN * fixed).max(POOL_PAGES_MIN);
    let fits = |scale: &Scale| pages_min <= pages_at(*scale);
    if !fits(&scale) {
        let reason = format!(
            "leaves {} pages in each pool instance; {} are needed ({MARGIN_SCANS_MIN} times the \
             {fixed} pages of {key}, which do not shrink)",
            grouped(pages_at(scale)),
            grouped(pages_min),
        );
        return refuse(with_smallest(scale, &reason, fits));
    }
    Ok(())
}

fn report(scenario: &Scenario, values: &Values) -> Checked {
    let (report, workload) = (&scenario.report, &scenario.workload);
    if workload.rows < report.every_rows {
        let reason = format!("is more than workload.rows ({})", grouped(workload.rows));
        return Err(values.conflict("report.every_rows", reason));
    }
    if report.every_rows < workload.rows_per_statement {
        let reason = format!(
            "{}is less than the {} rows of a statement, which a point covers whole",
            at_scale(report.every_rows, scenario.scale),
            grouped(workload.rows_per_statement)
        );
        return Err(values.conflict("report.every_rows", reason));
    }
    if report.window < report.every_rows {
        let reason = format!("is less than report.every_rows ({})", grouped(report.every_rows));
        return Err(values.conflict("report.window", reason));
    }
    Ok(())
}

/// A scale that this experiment cannot have.
pub(super) fn refused(scale: Scale, reason: String) -> ScenarioError {
    let problem = Problem::ScaleRefused { scale: scale.to_string(), reason };
    ScenarioError::new(Place::Scale, problem)
}

/// Why a scale is refused, and the smallest that fits.
pub(super) fn with_smallest(
    scale: Scale,
    reason: &str,
    fits: impl FnMut(&Scale) -> bool,
) -> String {
    match (1..scale.halvings()).rev().map(Scale::new).find(fits) {
        Some(smallest) => format!("{reason}; the smallest scale of this scenario is {smallest}"),
        None => format!("{reason}; this scenario cannot be scaled"),
    }
}

/// A scaled number in front of a reason, where a scale made it.
fn at_scale(number: u64, scale: Scale) -> String {
    match scale {
        Scale::FULL => String::new(),
        _ => format!("at scale {scale} this is {}, which ", grouped(number)),
    }
}
