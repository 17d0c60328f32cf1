//! A mirror of two hosts (DRBD) as a stand file describes it. Pure.

use super::InitialSync;
use stend_base::Bytes;

/// When a write to a mirror is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrbdProtocol {
    /// It is on the drive here, and in the queue of what is sent.
    A,
    /// It is on the drive here, and in the memory of the peer.
    B,
    /// It is on the drives of both hosts.
    C,
}

impl DrbdProtocol {
    /// As DRBD calls it.
    pub fn letter(self) -> &'static str {
        match self {
            DrbdProtocol::A => "A",
            DrbdProtocol::B => "B",
            DrbdProtocol::C => "C",
        }
    }
}

/// A device that two hosts keep a copy of. The one to which the layer goes (`to`) has the device: it is primary. The other one only
/// takes the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drbd {
    /// When a write is done.
    pub protocol: DrbdProtocol,
    /// The metadata lie on a device of their own, the second one of each host.
    pub external: bool,
    /// Bytes per second of a resync; `None`: what DRBD takes.
    pub resync_rate: Option<Bytes>,
    /// The first synchronisation.
    pub initial_sync: InitialSync,
}

impl Drbd {
    /// Devices that it lies on, of both hosts together.
    pub fn devices(self) -> u32 {
        if self.external { 4 } else { 2 }
    }
}
