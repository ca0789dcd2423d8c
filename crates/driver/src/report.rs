//! The result of a run, and the forms in which it leaves the program.
//!
//! A [`RunResult`] is plain data without anything that depends on wall time or on the machine
//! that computed it. Every exporter is a function of one or more results and a writer: [`json`]
//! and [`csv`] for programs, with fixed units in the names; [`table`] and [`svg`] for people, with
//! units chosen to be read, and [`scorecard_table`] for claims. `docs/reports.md` says what every key means.
//!
//! [`ProgressBars`] is the one part that looks at the wall clock, and it only writes to a terminal.

pub mod csv;
pub mod html;
pub mod json;
mod manifest;
mod progress;
mod result;
pub mod scorecard_table;
pub mod svg;
pub mod table;
pub mod text;

pub use manifest::{Manifest, ManifestValue, VERSION, fingerprint, scenario_hash};
pub use progress::{Overall, Progress, ProgressBars};
pub use result::{
    ChangeBuffer, DeviceTotal, History, IoCount, Latency, Messages, NodesPerQuery, PageCounts,
    Point, QueriesAfterLoad, RunResult, SCHEMA, Stalls, Totals,
};
