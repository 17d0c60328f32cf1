//! A virtual machine of the lab as its file describes it.

use stend_base::Bytes;

/// A machine with its drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Name, shown to people.
    pub name: String,
    /// Virtual CPUs, 1 to 64.
    pub cpus: u32,
    /// Memory, 256 MiB to 1 TiB.
    pub memory: Bytes,
    /// Queues that the guest's NVMe driver sets aside for polling, per drive; 0 to 64.
    pub nvme_poll_queues: u32,
    /// Its drives, 1 to 16, no two with one serial number.
    pub drives: Vec<Drive>,
}

/// One emulated drive; empty at every start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drive {
    /// What it is connected by.
    pub kind: DriveKind,
    /// Serial number, 1 to 20 letters and digits.
    pub serial: String,
    /// Size, 1 MiB to 16 TiB.
    pub size: Bytes,
    /// Size of a logical block, 512 or 4096 bytes.
    pub logical_block_size: u32,
    /// Most I/Os per second of all kinds together.
    pub iops: Option<u32>,
    /// Most bytes per second of all kinds together.
    pub bandwidth: Option<Bytes>,
}

/// What a drive is connected by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveKind {
    /// An NVMe controller with one namespace.
    Nvme,
    /// A virtio block device.
    Virtio,
}
