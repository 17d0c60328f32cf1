//! Turns one trial into I/O and yields intervals: the load engine, the fill, and the look for unwritten
//! blocks. Must not judge what it measures, and must not open anything but what it was given.
//!
//! One thread per job with a queue of the kernel's own (`queue_lane`: io_uring or Linux AIO), or one
//! per I/O in flight (`sync_lane`). Each accumulates into a [`part::Part`] and hands it over at the
//! common interval edges (`recorder`); the calling thread merges parts into slices (`collector`).

#![forbid(unsafe_code)]

mod app;
mod append;
mod area;
mod arrivals;
mod backend;
mod child;
mod collector;
mod control;
mod course;
mod engine;
mod fill;
mod fio;
mod io_log;
mod layout;
mod log_writes;
mod message;
mod offered;
mod order;
mod part;
mod payload;
mod placement;
mod places;
mod precondition;
mod prober;
mod queue_lane;
mod recorder;
mod replay;
mod replaying;
mod sequence;
mod shared;
mod step;
mod submission;
mod sync_lane;
mod target;
mod task;
#[cfg(test)]
mod tests;
mod think;
mod threads;
mod trial;
mod verify;
mod zeros;

pub use app::{Applications, Programs, foresee_app};
pub use backend::{Choice, Lane, choose_backend};
pub use control::Control;
pub use fill::{BLOCK as FILL_BLOCK, fill, fill_parts};
pub use fio::{Fio, probe_fio, remove_dead_scratches, run_trial_by_fio};
pub use log_writes::{LogFile, WriteLog, restore as restore_from_log};
pub use precondition::precondition;
pub use replay::Traces;
pub use task::Sinks;
pub use trial::{foresee, run_trial, run_trial_of};
pub use verify::ledger::crash::{Pending, Reading, pending};
pub use verify::ledger::recorder::{Recorded, Recorder};
pub use verify::ledger::{LedgerIn, LedgerPlace, remove_ledger};
pub use verify::marks::Marks;
pub use zeros::sample_zeros;

/// Length of an interval. Every thread cuts at the same edges, counted from the start of load.
pub const INTERVAL: stend_base::Nanos = stend_base::Nanos::millis(100);
