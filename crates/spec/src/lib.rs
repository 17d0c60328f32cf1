//! Everything asked for: suites as users write them, and workloads as the engine runs them. Pure: reads text, never files, clocks or
//! devices.
#![forbid(unsafe_code)]

pub mod app;
pub mod arm;
pub mod as_fio;
pub mod calibration;
pub mod case;
pub mod ceilings;
pub mod confirm;
pub mod external;
pub mod fault;
pub mod files;
pub mod gate;
pub mod hosts;
pub mod io_log;
pub mod keys;
mod limits;
pub mod load_hosts;
pub mod machine;
pub mod mixture;
pub mod notify;
mod op;
pub mod order;
pub mod parse;
pub mod pattern;
pub mod permission;
pub mod precondition;
pub mod prober;
pub mod rate;
pub mod region;
pub mod search;
mod shared_load;
pub mod sources;
pub mod stand;
pub mod steady;
pub mod suite;
pub mod topology;
pub mod trace;
pub mod until;
pub mod vm;
pub mod workload;
mod yaml;

pub use suite::Suite;
