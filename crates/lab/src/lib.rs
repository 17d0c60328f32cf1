//! Virtual machines of the lab: their image, made of Debian's packages, their drives, their start, their faults. What comes of
//! it is a [`stend_wire::Host`] like any other: QEMU's standard streams, or those of a process of ours that is connected to
//! it, lead to the worker in the guest.
//!
//! Must not leave anything behind: what a machine keeps has no name. One that is started for a run ends with the thread that
//! started it; one that stays up has a directory with sockets, which goes with it.
#![forbid(unsafe_code)]

mod archive;
mod boot;
mod command;
mod console;
mod digest;
mod drives;
mod emulator;
mod faults;
mod files;
mod greeting;
mod guest;
mod hypervisor;
mod image;
mod like;
mod packages;
mod passage;
mod payload;
mod port;
mod qemu;
mod qmp;
mod service_time;
mod socket;
mod standing;
mod start;
mod tool;
mod tree;
mod zfs;

pub use boot::{Started, boot, counter_khz};
pub use console::last_lines;
pub use faults::{Failing, Faults};
pub use guest::{KEEP, serve_guest};
pub use hypervisor::{guest_archive, guest_parameters};
pub use image::{Built, Contents, Image, build, cache_directory};
pub use like::{Like, like};
pub use passage::Passage;
pub use port::{COMMAND, Ended, WORKER, answers, join};
pub use standing::{Standing, find, list, runtime_directory, startable};
pub use start::{Order, up};
