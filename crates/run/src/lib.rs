//! Walks a plan over a host: one event loop that waits, a pure state that decides, a writer that keeps.
//!
//! Prints nothing and computes no statistic; the caller is shown progress and draws it.
#![forbid(unsafe_code)]

mod execute;
mod progress;
mod walk;

pub use execute::{Channel, Done, Setup, Stopper, channel, execute};
pub use progress::Update;
