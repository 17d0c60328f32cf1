//! Virtual machines of libvirt: made of a file, started, reached, removed. Their guests are those of the lab, and give a worker to each who
//! comes.
//!
//! Must not touch a domain that does not bear the mark of its machines, nor a disk that it did not make. Drives libvirt by `virsh` alone.
#![forbid(unsafe_code)]

mod arrival;
mod change;
mod devices;
mod disks;
mod domain;
mod down;
mod group;
mod link;
mod location;
mod migrate;
mod modes;
mod notes;
mod placement;
mod plan;
mod reach;
mod status;
mod up;
mod virsh;

pub use change::{Member, change, foresee, restore};
pub use devices::DiskDevice;
pub use down::down;
pub use group::{Group, state_directory};
pub use plan::{Step, plan};
pub use reach::{connect, free};
pub use status::{Machine, State, Status, all, status};
pub use up::{Order, Started, up};
