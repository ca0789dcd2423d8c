//! What a run reports.

use super::kind::{Kind, Value};
use super::param::Param;
use super::values::Values;

/// How often a run reports; in rows at the scale of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reporting {
    /// Rows of a reporting interval.
    pub every_rows: u64,
    /// Rows over which a value "at N rows" is the mean.
    pub window: u64,
}

pub(super) const PARAMS: &[Param] = &[
    Param::new(
        "report.every_rows",
        Kind::Count("rows", 1, 1_000_000_000_000),
        "Rows of a reporting interval.",
    )
    .from("a hundredth of workload.rows, a statement at least", |values| {
        let rows = values.full_scale("workload.rows")?;
        let statement = values.full_scale("workload.rows_per_statement")?;
        Some(Value::Whole((rows / 100).max(values.scale().full(statement)).min(rows)))
    })
    .shrinks(),
    Param::new(
        "report.window",
        Kind::Count("rows", 1, 1_000_000_000_000),
        "Rows up to N over which a value at N rows is the mean.",
    )
    .from("report.every_rows", |values| values.full_scale("report.every_rows").map(Value::Whole))
    .shrinks(),
];

impl Reporting {
    pub(super) fn from_values(values: &Values) -> Self {
        Self { every_rows: values.get("report.every_rows"), window: values.get("report.window") }
    }
}
