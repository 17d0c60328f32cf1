//! Virtual machines of the lab: their image, made of Debian's packages, their drives, their start. What comes of it is a
//! [`stend_host::Host`] like any other: QEMU's standard streams lead to the worker in the guest.
//!
//! Must not leave anything behind: a machine has no file with a name, and ends with the thread that started it.
#![forbid(unsafe_code)]

mod archive;
mod boot;
mod console;
mod image;
mod packages;
mod payload;
mod qemu;

pub use boot::boot;
pub use image::{Built, Image, build, cache_directory};
