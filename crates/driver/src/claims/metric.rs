//! What can be measured of runs: a small language of metrics that are data.

use serde::Deserialize;

use super::columns;

/// A value that is computed from runs. Rows are always those of the full scale.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "metric", rename_all = "snake_case", deny_unknown_fields)]
pub enum Metric {
    /// A number that is no result: of an article, or of a setting.
    Number {
        /// The number.
        value: f64,
    },
    /// Rows inserted per second between two row counts.
    Rate(Span),
    /// Time that passes between two row counts.
    Time {
        /// The run.
        run: String,
        /// Rows at the start.
        #[serde(default)]
        from: f64,
        /// Rows at the end; the end of the run if absent.
        to: Option<f64>,
        /// In which unit.
        unit: TimeUnit,
    },
    /// A column of the points between two row counts.
    Column {
        /// The run.
        run: String,
        /// The dotted name, as in the CSV, or `seconds_per_row`: seconds that pass for a row. Several causes of time
        /// are joined with `+`: `time.flush+free_page`.
        column: String,
        /// Rows at the start.
        #[serde(default)]
        from: f64,
        /// Rows at the end; the end of the run if absent.
        to: Option<f64>,
        /// What is taken of it.
        #[serde(default)]
        take: Take,
        /// Rows of the windows of which an extreme or a spread is taken: those of the article's
        /// points.
        #[serde(default = "million")]
        window: f64,
    },
    /// A number of the whole run.
    Total {
        /// The run.
        run: String,
        /// The dotted name in the totals.
        name: String,
    },
    /// Rows at which a column first is above or below a limit.
    Crossing {
        /// The run.
        run: String,
        /// The dotted name.
        column: String,
        /// Rows of the windows that are looked at.
        #[serde(default = "million")]
        window: f64,
        /// The limit.
        limit: Limit,
    },
    /// Rows from wave to wave of a column.
    Period {
        /// The run.
        run: String,
        /// The dotted name.
        column: String,
        /// Rows at the start.
        #[serde(default)]
        from: f64,
        /// Rows of the windows that are looked at.
        #[serde(default = "million")]
        window: f64,
    },
    /// Where in a period the mean wave is highest or lowest: its distance from the start of the
    /// nearest period, as a share of the period from 0 to 0.5.
    Phase {
        /// The run.
        run: String,
        /// The dotted name.
        column: String,
        /// Rows at the start.
        #[serde(default)]
        from: f64,
        /// Rows of a period.
        period: f64,
        /// Rows of the windows that are looked at.
        #[serde(default = "million")]
        window: f64,
        /// Which point of the wave.
        take: Take,
    },
    /// A column in the same part of every period.
    Folded {
        /// The run.
        run: String,
        /// The dotted name.
        column: String,
        /// Rows at the start.
        #[serde(default)]
        from: f64,
        /// Rows of a period.
        period: f64,
        /// The part, as shares of the period.
        part: [f64; 2],
    },
    /// GiB by which the data file has grown.
    Size {
        /// The run.
        run: String,
        /// After so many rows; at the end of the run if absent.
        to: Option<f64>,
    },
    /// One value by another.
    Ratio {
        /// What is divided.
        of: Box<Metric>,
        /// By which it is divided.
        to: Box<Metric>,
    },
    /// One value less another.
    Difference {
        /// From which it is taken.
        of: Box<Metric>,
        /// What is taken away.
        minus: Box<Metric>,
    },
}

/// A run between two row counts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The run.
    pub run: String,
    /// Rows at the start.
    #[serde(default)]
    pub from: f64,
    /// Rows at the end; the end of the run if absent.
    pub to: Option<f64>,
}

/// What is taken of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// Its mean: per row if the column is, else over the time.
    #[default]
    Mean,
    /// The sum of its values by the rows inserted: of a column that counts.
    PerRow,
    /// Its value at the end.
    End,
    /// The highest mean of a window.
    Max,
    /// The lowest mean of a window.
    Min,
    /// The standard deviation of the windows' means by their mean.
    Spread,
}

/// When a column has crossed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Above this value.
    Above(f64),
    /// Above this share of the highest value of the whole run.
    AbovePeak(f64),
    /// Below this share of the highest value before.
    BelowPeak(f64),
}

/// Units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TimeUnit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Hours.
    #[serde(rename = "h")]
    Hours,
    /// Days.
    #[serde(rename = "d")]
    Days,
}

/// Articles that report at all report every million rows.
const fn million() -> f64 {
    1e6
}

impl Metric {
    /// The column or total of a run that does not exist, if the metric names one.
    pub(super) fn unknown_name(&self) -> Option<&str> {
        match self {
            Self::Number { .. } | Self::Rate(_) | Self::Time { .. } | Self::Size { .. } => None,
            Self::Column { column, .. }
            | Self::Crossing { column, .. }
            | Self::Period { column, .. }
            | Self::Phase { column, .. }
            | Self::Folded { column, .. } => (!columns::is_column(column)).then_some(column),
            Self::Total { name, .. } => (!columns::is_total(name)).then_some(name),
            Self::Ratio { of, to: other } | Self::Difference { of, minus: other } => {
                of.unknown_name().or_else(|| other.unknown_name())
            }
        }
    }
}
