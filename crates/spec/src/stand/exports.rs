//! Layers that hand out what lies below over a protocol, and take it in again on the same host; and drives that come over several paths.

/// What NVMe-oF goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// TCP on the loopback.
    Tcp,
    /// RDMA over a network card that the kernel imitates on an interface of the stand.
    Rdma,
    /// Calls inside of the kernel: the layers of NVMe-oF without a network.
    Loop,
}

impl Transport {
    /// Word in the file and for the kernel.
    pub fn word(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Rdma => "rdma",
            Transport::Loop => "loop",
        }
    }
}

/// Devices handed out over NVMe-oF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NvmeOf {
    /// What it goes over.
    pub transport: Transport,
    /// Controllers, each over a port of its own; the kernel makes one device of what several reach.
    pub paths: u32,
    /// Number of optimised paths, the first ones; I/Os use the others only when these are gone.
    pub active: u32,
    /// How one of several is chosen.
    pub policy: NvmePolicy,
    /// Between two hosts: where an interface has no card for RDMA, the kernel imitates one (soft RoCE).
    pub soft_roce: bool,
}

/// By what the kernel chooses one of several paths to a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NvmePolicy {
    /// The path nearest to the NUMA node of the caller; among equal ones always the same.
    Numa,
    /// One after the other.
    RoundRobin,
    /// The one with the fewest I/Os under way.
    QueueDepth,
}

impl NvmePolicy {
    /// Word in the file and for the kernel.
    pub fn word(self) -> &'static str {
        match self {
            NvmePolicy::Numa => "numa",
            NvmePolicy::RoundRobin => "round-robin",
            NvmePolicy::QueueDepth => "queue-depth",
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

/// What iSCSI goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IscsiTransport {
    /// TCP on the loopback.
    Tcp,
    /// RDMA over a network card that the kernel imitates on an interface of the stand.
    Iser,
}

/// Devices handed out over iSCSI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iscsi {
    /// What it goes over.
    pub transport: IscsiTransport,
    /// Sessions, each over a port of its own; those of several are one device.
    pub paths: u32,
    /// Number of optimised paths, the first ones; I/Os use the others only when these are gone.
    pub active: u32,
    /// How one of several is chosen.
    pub policy: PathPolicy,
    /// Between two hosts: where an interface has no card for RDMA, the kernel imitates one (soft RoCE).
    pub soft_roce: bool,
}

/// Drives that the host reaches over several paths: a SAS drive with two ports, a unit of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multipath {
    /// Paths to each drive, 2 to 32.
    pub paths: u32,
    /// How one of them is chosen, among those that the drive says are near.
    pub policy: PathPolicy,
}

/// A directory handed out over NFS 4.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nfs {
    /// Options of the mount.
    pub options: Vec<String>,
}
