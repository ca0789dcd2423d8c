//! Scenario files: what to simulate, in TOML.
//!
//! A scenario names the files it is built on (`use`), and its own keys lie over theirs. Every key
//! is declared once in a registry, from which come parsing, error messages, [`schema()`] and the
//! tables of the documentation. A [`Scenario`] is what remains: typed, checked, at the scale of
//! the run, with the origin of every value.
//!
//! ```
//! use driver::scenario::Scenario;
//!
//! let sets = ["pool.size=8GiB".to_owned()];
//! let scale = Some("1/128".parse()?);
//! let scenario = Scenario::load("s4-insert-buffer-off", &sets, scale)?;
//! assert_eq!(scenario.workload.rows, 7_812_500);
//! assert_eq!(scenario.pool.size, cost_model::Bytes::mib(64));
//! # Ok::<(), driver::scenario::ScenarioError>(())
//! ```

mod base;
mod catalogue;
mod change_buffer;
mod check;
mod commit;
mod document;
mod engine;
mod error;
mod flush;
mod fractal;
mod general;
mod kind;
mod layers;
mod machine;
mod param;
mod pool;
mod purge;
mod quantity;
mod redo;
mod report;
mod scale;
mod schema;
mod statement;
#[cfg(test)]
mod tests;
mod values;
mod workload;

pub use base::{Base, Change};
pub use catalogue::{CatalogueEntry, CatalogueKind, catalogue};
pub(crate) use catalogue::{baseline, claim_files};
pub use change_buffer::{BufferedChanges, ChangeBuffer, FullBuffer};
pub(crate) use document::STUDY;
pub use engine::{Engine, EngineKind, Redo, RedoWord, RowsApart, Split};
pub(crate) use error::nearest;
pub use error::{Place, Problem, ScenarioError};
pub use fractal::Fractal;
pub use kind::{Kind, Value, Word};
pub use machine::Machine;
pub use param::{Basis, Is, Param, Preset, Scaling, When, registry};
pub use pool::{FileIo, Pool};
pub use purge::{Purge, PurgeBy};
pub use report::Reporting;
pub use scale::Scale;
pub use schema::{markdown_table, reference, schema, schema_of};
pub use statement::Statement;
pub use values::{Origin, ScenarioValue, Values};
pub use workload::{
    AfterLoad, ColumnWidths, DeleteConnection, Predicate, Queries, QueryKind, RangeQuery, Window,
    Workload,
};

use cost_model::device::DeviceSpec;
use cost_model::{BackgroundConfig, Bytes, CommitConfig, RedoConfig, SimDuration, WriteBackConfig};

use layers::{Layer, Wanted};

/// A scenario, checked and ready to run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name of its file without folder and `.toml`.
    pub name: String,
    /// What it describes, in one line; its name if the file has no title.
    pub title: String,
    /// What a run of it answers; may be empty.
    pub question: String,
    /// The article whose experiment it repeats.
    pub article: Option<String>,
    /// Start of everything random.
    pub seed: u64,
    /// The scale of the run. Amounts below are at this scale already.
    pub scale: Scale,
    /// Cores, prices, memory, disks.
    pub machine: Machine,
    /// The buffer pool.
    pub pool: Pool,
    /// The redo log, if there is one; its size is at the scale of the run.
    pub redo: Option<RedoConfig>,
    /// What a commit waits for.
    pub commit: CommitConfig,
    /// How dirty pages travel to the device.
    pub write_back: WriteBackConfig,
    /// The thread that writes back while nobody waits.
    pub background: Option<BackgroundConfig>,
    /// Time between two syncs of the redo log, if a thread of its own does them.
    pub log_sync: Option<SimDuration>,
    /// The disks of the redo log and the binary log, if they have some of their own; their caches
    /// are at the scale of the run.
    pub log_disk: Option<DiskProfile>,
    /// The engine.
    pub engine: Engine,
    /// What becomes of entries that deletes only mark, if they do.
    pub purge: Option<Purge>,
    /// The change buffer, if the engine has one.
    pub change_buffer: Option<ChangeBuffer>,
    /// What statements write when they end, and what many rows in one change.
    pub statement: Statement,
    /// The fractal tree, if that is the engine.
    pub fractal: Option<Fractal>,
    /// Keys, clients, deletes, queries.
    pub workload: Workload,
    /// How often the run reports.
    pub report: Reporting,
    /// Every value before scaling, with its origin.
    pub values: Vec<ScenarioValue>,
    /// The files it is built on and its own, lowest first, by their names in results.
    pub layers: Vec<String>,
    /// The text of these files and of the settings of the command line: two runs of the same
    /// text, scale and program are the same run.
    pub text: String,
}

/// The disks of a machine, without the rest of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskProfile {
    /// The name of its file without folder and `.toml`.
    pub name: String,
    /// What the file describes, in one line; its name if the file has no title.
    pub title: String,
    /// The disks.
    pub spec: DeviceSpec,
    /// The size of a page, which is what random requests ask for.
    pub page_size: Bytes,
    /// Start of everything random.
    pub seed: u64,
    /// Every value of the disks, with its origin.
    pub values: Vec<ScenarioValue>,
}

impl Scenario {
    /// The scenario in a file, or a built-in one by its name, with the settings `sets`
    /// (`key=value`) over it. Without a scale it is as large as it says.
    ///
    /// # Errors
    /// A file that cannot be read, a value that is not allowed, values that do not go together, a
    /// scale that the experiment does not bear.
    pub fn load(
        path_or_name: &str,
        sets: &[String],
        scale: Option<Scale>,
    ) -> Result<Self, ScenarioError> {
        Self::build(&layers::load(path_or_name, &Wanted::SCENARIO)?, sets, scale)
    }

    /// The scenario in a text that lies in no file; `name` stands for the file in messages.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(
        name: &str,
        text: &str,
        sets: &[String],
        scale: Option<Scale>,
    ) -> Result<Self, ScenarioError> {
        Self::build(&layers::of_text(name, text)?, sets, scale)
    }

    /// Memory that caches files beneath the buffer pool, at the scale of the run: what the pool
    /// leaves of the machine's under buffered I/O, `None` under direct I/O.
    pub fn os_cache(&self) -> Option<Bytes> {
        let memory = self.machine.memory.filter(|_| self.pool.io == FileIo::Buffered)?;
        Some(Bytes::new(memory.get().saturating_sub(self.pool.size.get())))
    }

    fn build(
        layers: &[Layer],
        sets: &[String],
        scale: Option<Scale>,
    ) -> Result<Self, ScenarioError> {
        let values = Values::settle(layers, sets, scale.unwrap_or_default(), |_| true)?;
        let (name, title) = names(layers, &values);
        let log_disk = log_disk(&values)?;
        let log_layers = log_disk.iter().flat_map(|disk| &disk.layers);
        let scenario = Self {
            name,
            title,
            question: values.get::<Option<String>>("question").unwrap_or_default(),
            article: values.get("article"),
            seed: values.get("seed"),
            scale: values.scale(),
            machine: Machine::from_values(&values),
            pool: Pool::from_values(&values),
            redo: redo::redo(&values),
            commit: commit::commit(&values),
            write_back: flush::write_back(&values),
            background: flush::background(&values),
            log_sync: flush::log_sync(&values),
            fractal: (values.get::<EngineKind>("engine.kind") == EngineKind::Fractal)
                .then(|| Fractal::from_values(&values)),
            engine: Engine::from_values(&values),
            purge: purge::purge(&values),
            change_buffer: change_buffer::change_buffer(&values),
            statement: Statement::from_values(&values),
            workload: Workload::from_values(&values),
            report: Reporting::from_values(&values),
            values: values.list(),
            layers: layers.iter().map(|layer| layer.source.name.clone()).collect(),
            text: values::text_of(log_layers.chain(layers), sets),
            log_disk: log_disk.map(|disk| disk.profile),
        };
        check::check(&scenario, &values)?;
        Ok(scenario)
    }
}

impl DiskProfile {
    /// The disks of a machine file or of a whole scenario, in a file or built in, with the
    /// settings `sets` over it.
    ///
    /// # Errors
    /// As [`Scenario::load`]; of the scenario only the disks must be complete.
    pub fn load(path_or_name: &str, sets: &[String]) -> Result<Self, ScenarioError> {
        Self::of_layers(&layers::load(path_or_name, &Wanted::DISKS)?, sets, Scale::FULL)
    }

    fn of_layers(layers: &[Layer], sets: &[String], scale: Scale) -> Result<Self, ScenarioError> {
        let of_disk = |param: &Param| param.table() == "machine.disk";
        let values = Values::settle(layers, sets, scale, of_disk)?;
        let (name, title) = names(layers, &values);
        let spec = machine::disk(&values);
        let page_size = values.get("engine.page_size");
        check::disk(&spec, Some(page_size), &values)?;
        let mut shown = values.list();
        shown.retain(|value| value.key.starts_with("machine.disk."));
        Ok(Self { name, title, spec, page_size, seed: values.get("seed"), values: shown })
    }
}

/// The disks of the logs, and the files that describe them.
struct LogDisk {
    profile: DiskProfile,
    layers: Vec<Layer>,
}

fn log_disk(values: &Values) -> Result<Option<LogDisk>, ScenarioError> {
    const KEY: &str = "redo.disk";
    let Some(name) = values.get::<Option<String>>(KEY) else { return Ok(None) };
    let load = || {
        let layers = layers::load_used(&name, values.location(KEY))?;
        let profile = DiskProfile::of_layers(&layers, &[], values.scale())?;
        Ok(LogDisk { profile, layers })
    };
    load().map(Some).map_err(|error: ScenarioError| values.conflict(KEY, error.to_string()))
}

/// The name and the title of the file itself.
fn names(layers: &[Layer], values: &Values) -> (String, String) {
    let file = layers.last().map_or("", |layer| layer.source.name.as_str());
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let name = name.strip_suffix(".toml").unwrap_or(name).to_owned();
    let title = values.get::<Option<String>>("title").unwrap_or_else(|| name.clone());
    (name, title)
}
