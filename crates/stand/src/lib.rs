//! Inventory of a host, and the steps that make a target ready, each with its undo. The only crate that
//! changes a machine; it never makes a target disappear that it did not create, and generates no I/O.
#![forbid(unsafe_code)]

mod access;
mod arm;
mod arrays;
mod blkid;
mod busy;
mod change;
mod claims;
mod clusters;
mod command;
mod contents;
mod devices;
mod doctor;
mod drives;
mod escapes;
mod exports;
mod faults;
mod host;
mod identity;
mod inspect;
mod inventory;
mod io_errors;
mod lasting;
mod lvm;
mod marks;
mod members;
mod mirrors;
mod mounts;
mod node;
mod owner;
mod permission;
mod pools;
mod prepare;
mod roots;
mod settings;
mod several;
mod shared_drives;
mod stands;
mod testfile;
mod together;
pub mod untrusted;
mod users;
mod uses;

#[cfg(test)]
mod recorded;

pub use arm::{Entered, enter, may_execute, observe};
pub use blkid::blkid_is_missing;
pub use change::Watch;
pub use command::{Answer, ask_within};
pub use contents::sample_contents;
pub use doctor::doctor;
pub use faults::{FaultContext, Faults, foresee_faults};
pub use host::{host_facts, ports};
pub use inspect::{inspect, shares_drive};
pub use inventory::{HealthTools, describe_drives, drive_health, health_tools, inventory};
pub use lasting::{Lasting, lasting, leads_to};
pub use members::{join_drives, open_drive};
pub use owner::Owner;
pub use permission::may_write;
pub use prepare::{Need, Prepared, dry_run, open_left, open_replayed, prepare, was_left};
pub use several::{PreparedAll, Used, dry_run_all, may_write_all, prepare_all};
pub use shared_drives::{DriveNote, must_be_alone};
pub use stands::{Rewind, known_stands, plan_stand, put_up, stand_owner, stand_status, take_down};
pub use testfile::Left;
pub use together::inspect_all;
