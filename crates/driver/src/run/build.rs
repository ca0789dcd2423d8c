//! Builds the machine, the engine and the clients that a scenario describes.

use btree::{BTree, PageFormat, RedoFormat, SpaceConfig, SplitPolicy, TreeConfig, UndoConfig};
use change_buffer::{Buffered, ChangeBufferConfig, ChangeBuffered, WhenFull};
use cost_model::{
    Background, Bytes, Draw, LogSync, Machine, MachineConfig, Neighbours, OsWriter, PoolConfig,
    SimDuration, SimThread, SimTime,
};
use fractal_tree::FractalTree;
use index::{IndexEngine, IndexShape, KeySource, Partitioned, Partitions};

use super::background::EngineThread;
use super::deleter::Deleter;
use super::inserter::Inserter;
use super::merger::Merger;
use super::purger::Purger;
use super::querier::Querier;
use super::statement::Statements;
use super::world::{Latencies, StallCounter, World};
use super::{Client, Role, RunError};
use crate::report::{Manifest, ManifestValue, VERSION, scenario_hash, text};
use crate::scenario::{
    BufferedChanges, DeleteConnection, Engine, EngineKind, FullBuffer, Origin, PurgeBy, RedoWord,
    Scenario, Split,
};
use crate::workload::{self, Stream, StreamSpec};

/// Parts of a run draw from streams of their own: the numbers of those that are not the
/// machine's.
const JITTER_STREAM: u64 = 1 << 40;
const QUERY_STREAM: u64 = 1 << 41;

/// The world of a scenario at the start of its run.
pub(super) fn world(scenario: &Scenario) -> Result<World, RunError> {
    let stream = scenario.workload.stream.open()?;
    let purger = purger(scenario);
    let own = [scenario.background.is_some(), purger.is_some() && !purges_in_background(scenario)];
    let threads =
        scenario.workload.connections() as usize + own.map(usize::from).iter().sum::<usize>();
    let mut machine = Machine::new(machine_config(scenario), threads);
    let shapes = shapes(scenario);
    let rows = scenario.workload.rows;
    let partitions = Partitions::new(shapes.len(), scenario.workload.partition_rows, rows);
    let mut profile = None;
    let first_index = scenario.workload.first_index();
    let (engine, source) = match stream {
        Stream::IiBench(source) => {
            profile = Some(source.domain().profile);
            let layout = scenario.workload.widths.layout(source.domain().profile);
            let source = source.with_layout(layout).starting_at(first_index);
            engine(scenario, &shapes, partitions, &mut machine, source)
        }
        Stream::Micro(source) => engine(scenario, &shapes, partitions, &mut machine, source),
        Stream::Recorded(source) => {
            profile = Some(source.domain().profile);
            let layout = scenario.workload.widths.layout(source.domain().profile);
            let source = std::sync::Arc::new(source.with_layout(layout).starting_at(first_index));
            engine(scenario, &shapes, partitions, &mut machine, source)
        }
    };
    if 1 < scenario.workload.connections() {
        machine.use_latches(engine.index_count());
    }
    Ok(World {
        machine,
        engine,
        source,
        partitions,
        checkpoint_rows: scenario.fractal.as_ref().and_then(|fractal| fractal.checkpoint_rows),
        workload: scenario.workload.clone(),
        profile,
        statements: statements(scenario, &shapes),
        inserters: scenario.workload.clients,
        next_row: 0,
        rows_done: 0,
        rows_total: scenario.workload.rows,
        pause_at: 0,
        oldest_row: 0,
        purges: purger.is_some(),
        wakes_purge: scenario.purge.is_some_and(|purge| purge.by == PurgeBy::Woken),
        purge_call: None,
        rows_deleted: 0,
        queries_done: 0,
        query_reads: 0,
        asked: Vec::new(),
        operations: 0,
        last_row_at: SimTime::ZERO,
        stalls: StallCounter::new(SimDuration::ZERO),
        insert_latency: Latencies::new(),
        delete_latency: Latencies::new(),
        query_latency: Latencies::new(),
        draw: Draw::new(scenario.seed, JITTER_STREAM),
    })
}

/// How many times its entry's bytes an entry takes in the tree in which entries are sorted (`MySQL`
/// 5.1 source, `mi_write.c`: `mi_init_bulk_insert`).
const SORTED_ENTRY_FACTOR: u64 = 16;

fn statements(scenario: &Scenario, shapes: &[IndexShape]) -> Statements {
    let Scenario { statement, workload, engine, .. } = scenario;
    let row = engine.rows_apart.map(|rows| {
        let columns = clustered_shapes(scenario).first().map_or(0, |primary| primary.entry_bytes);
        rows.header + Bytes::new(columns.into())
    });
    let entries: u64 = shapes.iter().skip(1).map(|shape| u64::from(shape.entry_bytes)).sum();
    let is_bulk = 0 < statement.bulk_rows && statement.bulk_rows <= workload.rows_per_statement;
    let rows_sorted = statement.bulk_buffer.get() / (entries * SORTED_ENTRY_FACTOR).max(1);
    Statements {
        row,
        row_cache_above: statement.row_cache_above,
        row_cache: statement.row_cache,
        bulk_capacity: if is_bulk && 0 < entries { rows_sorted.max(1) as usize } else { 0 },
    }
}

/// The clients of a scenario, those that insert first, and its background thread.
pub(super) fn clients(scenario: &Scenario, world: &World) -> Vec<Client> {
    let workload = &scenario.workload;
    let inserter = || {
        let (limit, rows) = (workload.insert_rate_limit, workload.rows_per_statement);
        Role::Insert(Inserter::new(limit, rows, world.inserters))
    };
    let mut roles: Vec<Role> = (0..workload.clients).map(|_| inserter()).collect();
    if workload.window.is_some_and(|window| window.connection == DeleteConnection::Separate) {
        roles.push(Role::Delete(Deleter::default()));
    }
    if let Some(queries) = &workload.queries
        && queries.after_load.is_none()
    {
        for number in 0..queries.clients {
            let draw = Draw::new(scenario.seed, QUERY_STREAM + u64::from(number));
            roles.push(Role::Query(Box::new(Querier::new(*queries, draw))));
        }
    }
    let mut purger = purger(scenario);
    if let Some(config) = &scenario.background {
        let buffer = scenario.change_buffer.as_ref();
        let merger = buffer.map(|buffer| Merger::new(buffer, buffer_pages_max(scenario)));
        let purger = purger.take_if(|_| purges_in_background(scenario));
        let background = Background::new(config.clone());
        roles.push(Role::Background(Box::new(EngineThread::new(background, merger, purger))));
    }
    roles.extend(purger.map(Role::Purge));
    let log = scenario.log_sync.filter(|_| scenario.redo.is_some());
    roles.extend(log.map(|interval| Role::Log(LogSync::new(interval))));
    if scenario.os_cache().is_some() {
        roles.push(Role::System(OsWriter::new(scenario.machine.os_write.period)));
    }
    let client = |role| Client { thread: SimThread::new(SimTime::ZERO), role };
    roles.into_iter().map(client).collect()
}

/// Who removes what deletes leave, if they leave anything.
fn purger(scenario: &Scenario) -> Option<Purger> {
    let purge = scenario.purge.filter(|purge| purge.by != PurgeBy::Nobody)?;
    let leaves = purge.keeps_inserts || scenario.workload.window.is_some();
    leaves.then(|| Purger::new(&purge))
}

/// Whether that is the background thread: without one, even the master's purge is a thread.
fn purges_in_background(scenario: &Scenario) -> bool {
    let by_master = scenario.purge.is_some_and(|purge| purge.by == PurgeBy::Master);
    by_master && scenario.background.is_some()
}

/// The client that queries after the load, if one does.
pub(super) fn querier_after_load(scenario: &Scenario) -> Option<Querier> {
    let queries = scenario.workload.queries.filter(|queries| queries.after_load.is_some())?;
    Some(Querier::new(queries, Draw::new(scenario.seed, QUERY_STREAM)))
}

/// The indexes of the scenario's table.
pub(super) fn shapes(scenario: &Scenario) -> Vec<IndexShape> {
    let shapes = clustered_shapes(scenario);
    match scenario.engine.rows_apart {
        Some(rows) => workload::pointing(shapes, rows.pointer.get() as u32),
        None => shapes,
    }
}

/// The same with the rows in the first of them.
fn clustered_shapes(scenario: &Scenario) -> Vec<IndexShape> {
    let workload = &scenario.workload;
    match &workload.stream {
        StreamSpec::IiBench(spec) => workload.shapes(spec.profile),
        StreamSpec::Micro(_) => {
            workload::micro_shapes(0 < workload.secondary_indexes, workload.widths.micro_row())
        }
        StreamSpec::Recorded { .. } => workload.shapes(workload::Profile::Python2009),
    }
}

/// Memory of the machine that runs the simulation, for the exact store: the row numbers in the
/// leaves, what is known of every page, and the frames of the pool. An estimate from above.
pub fn memory_needed(scenario: &Scenario) -> Bytes {
    let rows = scenario
        .workload
        .window
        .map_or(scenario.workload.rows, |window| scenario.workload.rows.min(window.rows * 2));
    let secondary = u64::from(scenario.workload.secondary_indexes);
    // 4 bytes a row, chunk links, and the last chunk of a leaf half empty at a poor fill.
    let entries = rows * secondary * 5;
    // Pages: 68 bytes each here and in the page table, separators 32, at half-full leaves.
    let format = page_format(&scenario.engine);
    let pages: u64 = shapes(scenario)
        .iter()
        .map(|shape| {
            let per_page = format.usable_bytes() / (format.leaf_record(shape) + 1);
            scenario.workload.rows * 2 / u64::from(per_page.max(1)) + 1
        })
        .sum();
    let frames = scenario.pool.pages(scenario.engine.page_size);
    Bytes::new(entries + pages * 112 + frames * 48) + Bytes::mib(64)
}

/// The identity of the run, for its result.
pub(super) fn manifest(scenario: &Scenario) -> Manifest {
    let values = scenario.values.iter().map(|value| ManifestValue {
        key: value.key.to_owned(),
        value: value.value.clone(),
        origin: origin(&value.origin),
        source: value.source.clone(),
        assumed: value.assumed.clone(),
    });
    let workload = &scenario.workload;
    let clients = if workload.clients == 1 { "client" } else { "clients" };
    Manifest {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        question: scenario.question.clone(),
        machine: format!(
            "{}{}, buffer pool {} ({} pages at this scale), {} {clients}",
            scenario.layers.join(" + "),
            scenario
                .log_disk
                .as_ref()
                .map_or(String::new(), |disk| format!(", logs on {}", disk.name)),
            scenario.pool.size * scenario.scale.divisor(),
            text::grouped(scenario.pool.pages(scenario.engine.page_size)),
            workload.clients,
        ),
        scenario: scenario.text.clone(),
        scenario_hash: scenario_hash(&scenario.text),
        seed: scenario.seed,
        scale: scenario.scale.to_string(),
        iisim_version: VERSION.to_owned(),
        values: values.collect(),
        notes: Vec::new(),
    }
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::File { file, line } => format!("{file}:{line}"),
        Origin::Default => "default".to_owned(),
        Origin::Set => "--set".to_owned(),
    }
}

fn engine<K: KeySource + Clone + 'static>(
    scenario: &Scenario,
    shapes: &[IndexShape],
    partitions: Partitions,
    machine: &mut Machine,
    source: K,
) -> (Box<dyn IndexEngine>, Box<dyn KeySource>) {
    // What exists before the first row costs nothing.
    let mut nobody = SimThread::new(SimTime::ZERO);
    let rows = scenario.workload.rows.min(partitions.rows());
    let source = Partitioned::new(source, partitions.indexes());
    let keys = Box::new(source.clone());
    let shapes = &vec![shapes; usize::from(partitions.count())].concat();
    let engine: Box<dyn IndexEngine> = match scenario.engine.kind {
        EngineKind::BTree => {
            let config = tree_config(scenario);
            Box::new(BTree::new(config, shapes, source, rows, machine, &mut nobody))
        }
        EngineKind::ChangeBuffer => {
            let tree = tree_config(scenario);
            let buffer = buffer_config(scenario, &tree);
            Box::new(ChangeBuffered::new(tree, buffer, shapes, source, rows, machine, &mut nobody))
        }
        EngineKind::Fractal => {
            let rules = scenario.fractal.as_ref().expect("the rules of the engine");
            let config = rules.config(scenario.os_cache());
            Box::new(FractalTree::new(config, shapes, source, rows))
        }
    };
    (engine, keys)
}

fn machine_config(scenario: &Scenario) -> MachineConfig {
    let Scenario { machine, pool, engine, .. } = scenario;
    let frames = pool.pages(engine.page_size) as u32;
    MachineConfig {
        cores: machine.cores,
        prices: machine.cpu.clone(),
        disks: machine.disk.clone(),
        pool: PoolConfig {
            frames,
            instances: pool.instances,
            old_fraction: pool.old_fraction,
            old_len_min: pool.old_len_min,
            old_blocks_ms: whole_milliseconds(pool.old_blocks_time),
            young_distance: pool.young_distance,
            make_young: pool.make_young,
            reads_check_bitmap: pool.reads_check_bitmap,
            margin: pool.margin.clone(),
            neighbours: if pool.neighbours_on_flash || machine.disk.turns() {
                pool.neighbours
            } else {
                Neighbours::None
            },
            area_pages: pool.area_pages,
        },
        log_disks: scenario.log_disk.as_ref().map(|disk| disk.spec.clone()),
        read_ahead: scenario.pool.read_ahead,
        write_back: scenario.write_back.clone(),
        redo: scenario.redo.clone(),
        commit: scenario.commit,
        page_size: engine.page_size,
        os_cache: scenario.os_cache(),
        os_copy: machine.os_copy,
        os_write: machine.os_write,
        statement_header: scenario.statement.header,
        seed: scenario.seed,
        pages_expected: memory_needed(scenario).get() / 80,
    }
}

/// The nearest whole number, and never none of what is there: a small scale must not switch the
/// rule off.
fn whole_milliseconds(time: SimDuration) -> u32 {
    let nearest = (time.as_ns() + 500_000) / 1_000_000;
    nearest.max(u64::from(SimDuration::ZERO < time)) as u32
}

fn tree_config(scenario: &Scenario) -> TreeConfig {
    let engine = &scenario.engine;
    TreeConfig {
        format: page_format(engine),
        space: SpaceConfig {
            extent_pages: engine.extent_pages,
            fragment_pages: engine.fragment_pages,
            reserve_share: (1.0 / engine.segment_reserve).round() as u32,
            ..SpaceConfig::INNODB
        },
        split: match engine.split {
            Split::InnoDb => SplitPolicy::InnoDb,
            Split::Middle => SplitPolicy::Middle,
            Split::Random { spread } => SplitPolicy::Random { spread },
        },
        sibling_reads: engine.sibling_reads,
        join_right: engine.join_right,
        redo: redo_format(engine),
        undo: scenario.purge.map(|purge| UndoConfig {
            page_usable: engine.page_size.get() as u32 - UNDO_PAGE_OVERHEAD,
            delete: purge.undo_delete.get() as u32,
            reuse_below: engine.page_size.get() as u32 / 4 * 3,
            keeps_inserts: purge.keeps_inserts,
        }),
        seed: scenario.seed,
    }
}

/// Bytes of a page of the undo log that hold no records: file header 38, page header 18, trailer 8
/// (`MySQL` 5.1 source, trx0undo.h); the first one also has a log header.
const UNDO_PAGE_OVERHEAD: u32 = 64;

/// Pages of the change buffer at most; 0 without one.
fn buffer_pages_max(scenario: &Scenario) -> u32 {
    let pages = scenario.pool.pages(scenario.engine.page_size) as f64;
    let buffer = scenario.change_buffer.as_ref();
    let buffer = buffer.filter(|buffer| buffer.buffers != BufferedChanges::None);
    buffer.map_or(0, |buffer| (pages * buffer.max_size) as u32)
}

fn buffered(changes: BufferedChanges) -> Buffered {
    use BufferedChanges::{All, Changes, Deletes, Inserts, Purges};
    Buffered {
        inserts: matches!(changes, Inserts | Changes | All),
        delete_marks: matches!(changes, Deletes | Changes | All),
        deletes: matches!(changes, Purges | All),
    }
}

/// What no scenario sets is the same in all versions.
fn buffer_config(scenario: &Scenario, tree: &TreeConfig) -> ChangeBufferConfig {
    let buffer = scenario.change_buffer.as_ref().expect("the engine has one");
    let bytes = |bytes: Bytes| bytes.get() as u32;
    ChangeBufferConfig {
        buffers: buffered(buffer.buffers),
        when_full: match buffer.when_full {
            FullBuffer::Contract => WhenFull::Contract,
            FullBuffer::Refuse => WhenFull::Refuse,
        },
        active_contract: buffer.active_contract,
        check_extra: bytes(buffer.check_extra),
        entry_header: bytes(buffer.entry_header),
        entry_column: bytes(buffer.entry_column),
        by_arrival: buffer.by_arrival,
        latches_after: buffer.latches_after,
        page_usable: tree.format.page_bytes - bytes(buffer.page_overhead),
        free_flushed_every: buffer.free_flushed_every,
        ..ChangeBufferConfig::mysql_5_1(tree, buffer_pages_max(scenario))
    }
}

fn redo_format(engine: &Engine) -> Option<RedoFormat> {
    let redo = engine.redo?;
    let (split, transaction) = (redo.split.get() as u32, redo.transaction.get() as u32);
    Some(match redo.format {
        RedoWord::MySql51 => RedoFormat::mysql_5_1(split, transaction),
        RedoWord::MySql55 => RedoFormat::mysql_5_5(split, transaction),
        RedoWord::MariaDb1011 => RedoFormat::mariadb_10_11(split, transaction),
    })
}

fn page_format(engine: &Engine) -> PageFormat {
    let share = |share: f64| (share * engine.page_size.get() as f64).round() as u32;
    PageFormat {
        page_bytes: engine.page_size.get() as u32,
        page_overhead: engine.page_overhead.get() as u32,
        record_header: engine.record_header.get() as u32,
        clustered_extra: engine.record_clustered_extra.get() as u32,
        child_pointer: PageFormat::CHILD_POINTER,
        directory_slot: engine.directory_slot.get() as u32,
        directory_records: engine.directory_records,
        clustered_reserve: share(engine.clustered_reserve),
        reorganize_limit: share(engine.reorganize_limit),
        coalesce_below: share(engine.coalesce_below),
        keep_below: share(engine.keep_below),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_of_a_page_are_those_of_innodb() {
        let scenario = Scenario::load("s4-insert-buffer-off", &[], None).unwrap();
        assert_eq!(page_format(&scenario.engine), PageFormat::INNODB);
    }

    #[test]
    fn the_presets_of_a_change_buffer_are_those_of_mysql_5_1() {
        for page in ["4KiB", "16KiB"] {
            let page = format!("engine.page_size={page}");
            let sets = [page, "change_buffer.free_flushed_every=8".to_owned()];
            let scenario = Scenario::load("s4-insert-buffer-on", &sets, None).unwrap();
            let tree = tree_config(&scenario);
            let expected = ChangeBufferConfig::mysql_5_1(&tree, buffer_pages_max(&scenario));
            assert_eq!(buffer_config(&scenario, &tree), expected);
        }
    }
}
