//! Layers that hand out what lies below over a protocol, and take it in again on the same host.

/// What NVMe-oF goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// TCP on the loopback.
    Tcp,
    /// Calls inside of the kernel: the layers of NVMe-oF without a network.
    Loop,
}

impl Transport {
    /// Word in the file and for the kernel.
    pub fn word(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Loop => "loop",
        }
    }
}

/// By what one of several paths to a disk is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathPolicy {
    /// The one over which what is under way would be done first.
    ServiceTime,
    /// The one with the fewest I/Os under way.
    QueueLength,
    /// One after the other.
    RoundRobin,
}

impl PathPolicy {
    /// Word in the file and for the device mapper.
    pub fn word(self) -> &'static str {
        match self {
            PathPolicy::ServiceTime => "service-time",
            PathPolicy::QueueLength => "queue-length",
            PathPolicy::RoundRobin => "round-robin",
        }
    }
}

/// Devices handed out over iSCSI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iscsi {
    /// Sessions, each over a port of its own; those of several are one device.
    pub paths: u32,
    /// How one of several is chosen.
    pub policy: PathPolicy,
}

/// A directory handed out over NFS 4.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nfs {
    /// Options of the mount.
    pub options: Vec<String>,
}
