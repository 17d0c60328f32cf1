//! A virtual machine of the lab as its file describes it.

use stend_base::{Bytes, Nanos};

/// A machine with its drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Name, shown to people.
    pub name: String,
    /// Virtual CPUs, 1 to 64.
    pub cpus: u32,
    /// Memory, 256 MiB to 1 TiB.
    pub memory: Bytes,
    /// NUMA nodes by their numbers; none: the machine has no such nodes. Their CPUs and memory add up to those of the machine.
    pub numa: Vec<Node>,
    /// Packages of Debian in the guest, beside those that every guest has.
    pub packages: Vec<String>,
    /// Whether the guest has ZFS, whose modules are built for its kernel.
    pub zfs: bool,
    /// Parameters of the guest's kernel.
    pub kernel: Vec<String>,
    /// Networks of this machine and one other each, at most 4, no two to the same machine.
    pub links: Vec<Link>,
    /// Queues that the guest's NVMe driver sets aside for polling, per drive; 0 to 64.
    pub nvme_poll_queues: u32,
    /// Its drives, 1 to 24, no two with one serial number.
    pub drives: Vec<Drive>,
}

/// A network that only this machine and another one are on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Name of the other machine, which has a link to this one.
    pub to: String,
    /// IPv4 address of this machine on it, with the length of the network's prefix: `10.77.0.1/24`.
    pub address: String,
}

/// CPUs and memory that are near each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Virtual CPUs, 1 to 64.
    pub cpus: u32,
    /// Memory, 128 MiB to 1 TiB.
    pub memory: Bytes,
}

/// One emulated drive; empty at every start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drive {
    /// What it is connected by.
    pub kind: DriveKind,
    /// Serial number, 1 to 20 letters and digits.
    pub serial: String,
    /// Number of the NUMA node that it is connected to.
    pub node: Option<u32>,
    /// Size, 1 MiB to 16 TiB.
    pub size: Bytes,
    /// Size of a logical block, 512 or 4096 bytes.
    pub logical_block_size: u32,
    /// Most I/Os per second of all kinds together.
    pub iops: Option<u32>,
    /// Most bytes per second of all kinds together.
    pub bandwidth: Option<Bytes>,
    /// Least time of every I/O but flushes, whole milliseconds, 1 ms to 1 s.
    pub latency: Option<Nanos>,
    /// Revolutions per minute of a SCSI or SAS drive, 401 to 65534.
    pub rotation: Option<u32>,
    /// World-wide name of a SCSI or SAS drive.
    pub wwn: Option<u64>,
    /// Over how many controllers a SCSI or SAS drive is reached, 1 to 4.
    pub paths: u32,
    /// Bits of what an NVMe drive complains about.
    pub warnings: u8,
}

/// What a drive is connected by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveKind {
    /// An NVMe controller with one namespace.
    Nvme,
    /// A virtio block device.
    Virtio,
    /// A SCSI disk of a virtio controller.
    Scsi,
    /// A SAS disk of an LSI controller.
    Sas,
}
