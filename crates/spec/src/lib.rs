//! Everything asked for: suites as users write them, workloads as the engine runs them, and the plan
//! that decides what comes next. Pure: reads text, never files, clocks or devices.
#![forbid(unsafe_code)]

pub mod app;
pub mod arm;
pub mod as_fio;
mod budget;
pub mod calibration;
pub mod ceilings;
pub mod confirm;
mod course;
pub mod external;
pub mod fault;
pub mod files;
pub mod fit;
#[cfg(test)]
mod fixture;
pub mod gate;
pub mod io_log;
pub mod jobs;
pub mod keys;
mod label;
pub mod ladder;
pub mod machine;
pub mod mixture;
pub mod order;
pub mod parse;
pub mod pattern;
mod per_target;
pub mod plan;
mod plan_target;
pub mod precondition;
pub mod prober;
mod range;
pub mod rate;
pub mod region;
pub mod search;
pub mod stand;
pub mod steady;
pub mod suite;
pub mod topology;
pub mod trace;
pub mod until;
pub mod workload;
pub mod xml;
mod yaml;

pub use plan::{Decision, Plan, PlanInputs};
pub use suite::Suite;
