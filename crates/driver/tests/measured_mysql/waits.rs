//! How long a row took a server whose reads and writes were held up as long as a device of so many
//! channels would have been busy with them.

use std::sync::LazyLock;

use driver::scenario::Scenario;

use crate::run;

/// How far a simulated time may be from the measured one. The server's times are known to a second,
/// in 10 of the shortest intervals.
pub(crate) const TOLERANCE: f64 = 0.12;

/// A device, and a server on it.
#[derive(Debug)]
pub(crate) struct Wait {
    experiment: &'static str,
    /// Threads that read, and as many that write.
    threads: u32,
    channels: u32,
    /// Microseconds that a write keeps its channel; a read keeps it 5,000.
    write_us: u32,
    /// The rows of which the times are the mean.
    rows: (u64, u64),
    /// Milliseconds a row.
    pub(crate) measured: f64,
}

const NONE: &str = "measured-mysql-none-64m";
const INSERTS: &str = "measured-mysql-inserts-64m";

pub(crate) const WAITS: [Wait; 7] = [
    wait(NONE, 4, 8, 5_000, (2_500_000, 2_510_000), 15.3),
    wait(NONE, 4, 8, 200, (2_510_000, 2_520_000), 12.2),
    wait(NONE, 4, 4, 2_500, (2_520_000, 2_530_000), 14.2),
    wait(INSERTS, 1, 6, 5_000, (5_300_000, 5_320_000), 1.20),
    wait(INSERTS, 1, 6, 200, (5_320_000, 5_340_000), 0.50),
    wait(INSERTS, 4, 6, 5_000, (5_300_000, 5_320_000), 0.90),
    wait(INSERTS, 4, 6, 200, (5_320_000, 5_340_000), 0.55),
];

/// Simulated milliseconds a row of each of [`WAITS`].
pub(crate) static SIMULATED: LazyLock<Vec<f64>> =
    LazyLock::new(|| WAITS.iter().map(Wait::simulated).collect());

impl Wait {
    /// Milliseconds a row.
    fn simulated(&self) -> f64 {
        let Self { experiment, threads, channels, write_us, rows: (from, to), .. } = self;
        let text = format!(
            "use = ['experiments/{experiment}', 'machines/measured-device']\n\
             machine.disk.channels = {channels}\n\
             machine.disk.write_latency = '{write_us}us'\n\
             pool.read_threads = {threads}\n\
             flush.write_threads = {threads}\n\
             workload.rows = {to}\n\
             report.every_rows = 10_000\n",
        );
        let points = run(&Scenario::parse("waits", &text, &[], None).unwrap());
        let at = |rows: u64| {
            let point = points.iter().find(|point| point.rows == rows);
            point.expect("a point at the ends of the interval").virtual_s
        };
        (at(*to) - at(*from)) * 1_000.0 / (to - from) as f64
    }
}

pub(crate) fn table() -> String {
    let head = "| buffered | threads that read, and that write | channels | a read, a write | rows | \
                ms a row: measured | simulated | ratio |";
    let lines = WAITS.iter().zip(SIMULATED.iter()).map(|(wait, simulated)| {
        let Wait { experiment, threads, channels, write_us, rows: (from, to), measured } = wait;
        let buffered = if *experiment == NONE { "nothing" } else { "inserts" };
        let write_ms = f64::from(*write_us) / 1_000.0;
        let [from, to] = [from, to].map(|rows| *rows as f64 / 1e6);
        let ratio = simulated / measured;
        format!(
            "| {buffered} | {threads} | {channels} | 5 ms, {write_ms} ms | {from:.2}M to {to:.2}M \
             | {measured:.2} | {simulated:.2} | {ratio:.2} |",
        )
    });
    let head = [head.to_owned(), "| --- ".repeat(8) + "|"];
    head.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

const fn wait(
    experiment: &'static str,
    threads: u32,
    channels: u32,
    write_us: u32,
    rows: (u64, u64),
    measured: f64,
) -> Wait {
    Wait { experiment, threads, channels, write_us, rows, measured }
}
