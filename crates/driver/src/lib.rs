//! Scenarios, workloads, the run loop, reports and the command line of `iisim`.

pub mod report;
pub mod run;
pub mod scenario;
pub mod workload;
