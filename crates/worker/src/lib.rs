//! The worker: the only part of the tool that may run as root. It makes, loads and watches targets on request (`stend_wire`), and
//! decides nothing: plans are walked by `run`.
#![forbid(unsafe_code)]

mod calibrate;
mod faults;
mod inventory;
mod ledgers;
mod look;
mod outbox;
mod ready;
mod replay;
mod stand_orders;
mod telemetry;
mod worker;

pub use inventory::inventory;
pub use worker::serve;
