//! Scenarios, workloads, the run loop, reports and explanations: all of `iisim` but its command
//! line.

pub mod baseline;
pub mod claims;
pub mod explain;
pub mod files;
pub mod jobs;
pub mod report;
pub mod run;
pub mod scenario;
pub mod scorecard;
pub mod sweep;
pub mod workload;
