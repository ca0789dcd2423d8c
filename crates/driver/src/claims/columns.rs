//! The columns and totals that a metric can name: a misspelt one is an error, not an absent value.

use cost_model::{Cause, Purpose};
use serde::Serialize;
use serde_json::Value;

use super::series::{COST, SHARE};
use crate::report::{ChangeBuffer, DeviceTotal, IoCount, Latency, Messages, Point, Stalls, Totals};

/// Whether points can have the column; index names are whatever the workload calls them.
pub(super) fn is_column(name: &str) -> bool {
    let (table, rest) = name.split_once('.').unwrap_or((name, ""));
    match table {
        SHARE => rest.split('+').all(is_cause),
        COST => rest.is_empty() || rest.split('+').all(is_cause),
        "pages" => true,
        "io" => is_io(rest),
        _ => is_number_of(point(), name),
    }
}

/// Whether totals can have the number.
pub(super) fn is_total(name: &str) -> bool {
    let (table, rest) = name.split_once('.').unwrap_or((name, ""));
    match table {
        "time" => is_cause(rest),
        "io" => is_io(rest),
        "device" => match rest.split_once('.') {
            Some(("data" | "log", count)) => is_number_of(DeviceTotal::default(), count),
            _ => false,
        },
        _ => is_number_of(totals(), name),
    }
}

fn is_cause(name: &str) -> bool {
    Cause::ALL.iter().any(|cause| cause.name() == name)
}

fn is_io(name: &str) -> bool {
    name.split_once('.').is_some_and(|(purpose, count)| {
        Purpose::ALL.iter().any(|known| known.name() == purpose)
            && is_number_of(IoCount::default(), count)
    })
}

fn is_number_of(template: impl Serialize, path: &str) -> bool {
    let value = serde_json::to_value(template).unwrap_or_default();
    path.split('.').try_fold(&value, |value, key| value.get(key)).is_some_and(Value::is_number)
}

/// A point with everything that may be absent.
fn point() -> Point {
    Point {
        reads_per_query: Some(0.0),
        redo_bytes_per_row: Some(0.0),
        checkpoint_age_bytes: Some(0),
        change_buffer: Some(ChangeBuffer::default()),
        messages: Some(Messages::default()),
        stalls: stalls(),
        delete_latency_us: Some(Latency::default()),
        query_latency_us: Some(Latency::default()),
        ..Point::default()
    }
}

/// Totals with everything that may be absent.
fn totals() -> Totals {
    Totals {
        reads_per_query_mean: Some(0.0),
        stalls: stalls(),
        delete_latency_us: Some(Latency::default()),
        query_latency_us: Some(Latency::default()),
        ..Totals::default()
    }
}

fn stalls() -> Stalls {
    Stalls { spacing_ms: Some(0.0), ..Stalls::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_reports_are_known_and_others_are_not() {
        let known = [
            "rows_per_s",
            "time.read",
            "time.flush+free_page",
            "seconds_per_row",
            "seconds_per_row.log",
            "change_buffer.merges",
            "pages.pdc.leaf",
            "io.leaf_read.pages",
            "latency_us.p999",
            "redo_bytes_per_row",
        ];
        assert_eq!(known.iter().find(|name| !is_column(name)), None);
        let unknown = ["rows_per_sec", "time.waiting", "time", "change_buffer", "io.reads.pages"];
        assert_eq!(unknown.iter().find(|name| is_column(name)), None);
        let totals = ["rows", "time.log", "io.log.requests", "device.data.write_bytes"];
        assert_eq!(totals.iter().find(|name| !is_total(name)), None);
        assert_eq!(["points", "device.tape.reads"].iter().find(|name| is_total(name)), None);
    }
}
