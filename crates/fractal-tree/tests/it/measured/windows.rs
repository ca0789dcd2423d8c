//! What the library counted.

use std::sync::LazyLock;

/// What is compared, and its unit.
pub(crate) const METRICS: [(&str, &str); 14] = [
    ("evicted leaves", "B/row"),
    ("evicted nodes", "B/row"),
    ("checkpointed leaves", "B/row"),
    ("checkpointed nodes", "B/row"),
    ("leaves read", "B/row"),
    ("nodes read", "B/row"),
    ("log", "B/row"),
    ("flushes into leaves", "per 1,000 rows"),
    ("messages a flush", ""),
    ("flushes above", "per 1,000 rows"),
    ("messages a flush above", ""),
    ("injected at leaves", "per row"),
    ("injected at height 1", "per row"),
    ("injected at height 2", "per row"),
];

/// One window of a run.
pub(crate) struct Window {
    pub(crate) run: &'static str,
    /// `load`, `fifo`, or `load_all` for the whole of a load.
    pub(crate) phase: &'static str,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) measured: [f64; METRICS.len()],
    /// Nodes at the end, by height.
    pub(crate) nodes: [u64; 4],
}

impl Window {
    pub(crate) fn rows(&self) -> f64 {
        (self.to - self.from) as f64
    }
}

pub(crate) static WINDOWS: LazyLock<Vec<Window>> = LazyLock::new(|| {
    let lines = include_str!("windows.csv").lines().filter(|line| !line.starts_with('#'));
    lines.skip(1).map(parse).collect()
});

fn parse(line: &'static str) -> Window {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |at: usize| -> f64 { fields[at].parse().expect("a number") };
    Window {
        run: fields[0],
        phase: fields[1],
        from: number(2) as u64,
        to: number(3) as u64,
        measured: std::array::from_fn(|metric| number(4 + metric)),
        nodes: std::array::from_fn(|height| number(4 + METRICS.len() + height) as u64),
    }
}
