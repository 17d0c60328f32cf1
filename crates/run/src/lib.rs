//! Walks a plan over a host: one event loop that waits, a pure state that decides, a writer that keeps.
//!
//! Prints nothing and computes no statistic; the caller is shown progress and draws it.
#![forbid(unsafe_code)]

mod control;
mod execute;
mod progress;
mod walk;
mod watch;

pub use control::{ask_to_stop, is_going_on};
pub use execute::{Channel, Done, Setup, Stopper, channel, execute};
pub use progress::Update;
pub use watch::picture;
