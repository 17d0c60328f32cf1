//! What makes a target ours, kept by its claim and by every writable file that the claim gave: it is let go when the last of them is
//! gone.

use crate::claim::lease::Lease;
use std::os::fd::OwnedFd;

/// What makes a target ours.
#[derive(Debug)]
pub(crate) struct Ownership {
    /// Keeps the device exclusive, or is the created file.
    pub(crate) held: OwnedFd,
    /// Keeps the disk locked on which the device is. Dropped with the rest, never read.
    pub(crate) _whole_disk: Option<OwnedFd>,
    /// The lease of a device.
    pub(crate) lease: Option<Lease>,
}
