//! Walks a plan over a host: one event loop that waits, a pure state that decides, a writer that keeps.
//!
//! Prints nothing and computes no statistic; the caller is shown progress and draws it.
#![forbid(unsafe_code)]

mod ahead;
mod arms;
mod channel;
mod control;
mod ending;
mod execute;
#[cfg(test)]
mod fixture;
mod fleet;
mod learned;
mod look;
mod observed;
mod pause;
mod preview;
mod progress;
mod resume;
mod same_hosts;
mod setup;
#[cfg(test)]
mod simulation;
mod sources;
mod stand_order;
mod step;
mod upload;
mod walk;
mod watch;

pub use channel::{Channel, Stopper, channel};
pub use control::{ControlSocket, ask_to_stop, is_going_on, may_go_on};
pub use execute::execute;
pub use fleet::LoadHost;
pub use learned::Learned;
pub use look::look;
pub use observed::{ObservedHost, unwatched};
pub use preview::preview;
pub use progress::Update;
pub use resume::{EarlierHost, Progressed, progressed};
pub use setup::{Done, Hypervisor, Power, Resume, Setup, may_cut, may_hypervise};
pub use sources::{SourceHeard, Sources};
pub use stand_order::order;
pub use step::{Hypervised, Returned};
pub use watch::picture;
