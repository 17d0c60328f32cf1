//! The worker, and what the coordinator holds of it: two byte streams and nothing else.
//!
//! The worker is the only part of the tool that may run as root; it makes, loads and watches targets
//! on request. It decides nothing: plans are walked by `run`.
#![forbid(unsafe_code)]

mod books;
mod calibrate;
mod faults;
mod inventory;
pub mod link;
mod outbox;
pub mod protocol;
mod ready;
mod remote;
mod replay;
mod stands;
mod telemetry;
pub mod worker;

pub use inventory::inventory;
pub use link::{Clock, FromHost, Host, SILENCE};
pub use protocol::{
    Facts, Foreseen, Inspect, Judge, Prepare, Reply, Request, StandAnswer, StandFile, StandOrder, SwitchTo, Watch,
};
pub use remote::Remote;
pub use stend_stand::{Permission, Rehearsal};
pub use stend_sys::clock::{now, stamps};
