//! The run file: one SQLite database per run, written by a thread of its own and opened by anyone.
//!
//! Holds what was observed and decided, never a statistic of ours. This module and its children are
//! the only code that opens a run file for writing; they must not know how a run is made or judged.

mod copy;
mod crc;
mod directory;
mod failure;
mod glance;
mod id;
mod identity;
mod io_log;
mod links;
mod locate;
mod lock;
mod newest;
mod owner;
mod queue;
mod reader;
mod reading;
mod recorder;
mod removal;
mod reserve;
mod retention;
mod rows;
mod runs;
mod schema;
mod slice_rows;
mod spool;
mod writer;

pub use copy::copy;
pub use directory::{directory, make_directory, make_server_directory, may_create, private_file};
pub use glance::{Glance, glance};
pub use id::new_run_id;
pub use io_log::{IoLogs, io_logs};
pub use links::make_known;
pub use locate::{Found, Located, find, locate};
pub use newest::{Newest, newest};
pub use owner::Owner;
pub use reader::{Reader, read, read_events, read_outcomes};
pub use recorder::Options;
pub use removal::{forget, may_remove, remove};
pub use rows::SampleRows;
pub use runs::{KnownRun, known_runs};
pub use slice_rows::SliceRows;
pub use spool::frames as spooled;
pub use writer::{Writer, create, create_whole, resume};

/// Extension of a run file, without the dot.
pub const EXTENSION: &str = "stend";

/// Version of the layout described in `docs/ARCHITECTURE.md`, kept as SQLite's `user_version`. Raised
/// by any change of the tables or of a recorded type; older versions stay readable.
pub const FORMAT_VERSION: u32 = 4;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
