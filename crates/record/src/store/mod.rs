//! The run file: one SQLite database per run, written by a thread of its own and opened by anyone.
//!
//! Holds what was observed and decided, never a statistic of ours. This module and its children are
//! the only code that opens a run file for writing; they must not know how a run is made or judged.

mod ballast;
mod crc;
mod failure;
mod glance;
mod io_log;
mod locate;
mod lock;
mod owner;
mod queue;
mod reader;
mod recorder;
mod schema;
mod spool;
mod writer;

pub use glance::{Glance, glance};
pub use io_log::{IoLogs, io_logs};
pub use locate::{directory, locate, make_directory, may_create, new_run_id};
pub use owner::Owner;
pub use reader::read;
pub use spool::frames as spooled;
pub use writer::{Options, Writer, create, create_whole, resume};

/// Extension of a run file, without the dot.
pub const EXTENSION: &str = "stend";

/// Version of the layout described in `docs/ARCHITECTURE.md`, kept as SQLite's `user_version`. Raised
/// by any change of the tables or of a recorded type; older versions stay readable.
pub const FORMAT_VERSION: u32 = 1;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
