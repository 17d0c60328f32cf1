//! A Ceph of one host as a stand file describes it. Pure.

use stend_base::Bytes;

/// A cluster with one monitor, one manager, an OSD on each device, and one file system, mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceph {
    /// How data lie on the OSDs.
    pub pool: CephPool,
    /// Memory that each OSD aims at.
    pub osd_memory: Bytes,
}

/// How a pool keeps its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CephPool {
    /// Whole copies.
    Replicated {
        /// How many.
        size: u32,
        /// With fewer copies available, I/Os wait.
        min_size: u32,
    },
    /// Parts of an object, and parity (erasure coding).
    Erasure {
        /// Parts with data.
        k: u32,
        /// Parts with parity.
        m: u32,
    },
}

impl CephPool {
    /// OSDs that keep a part or a copy of an object.
    pub fn width(self) -> u32 {
        match self {
            CephPool::Replicated { size, .. } => size,
            CephPool::Erasure { k, m } => k + m,
        }
    }

    /// Copies of metadata, which are always whole ones, and below how many I/Os wait: they survive as many losses as data do.
    pub fn metadata(self) -> (u32, u32) {
        match self {
            CephPool::Replicated { size, min_size } => (size, min_size),
            CephPool::Erasure { m, .. } => (m + 1, least_of(m + 1)),
        }
    }

    /// Bytes at the drives for a byte that a client writes, without metadata and journals: copies, or (k + m) / k.
    pub fn amplification(self) -> f64 {
        match self {
            CephPool::Replicated { size, .. } => f64::from(size),
            CephPool::Erasure { k, m } => f64::from(k + m) / f64::from(k),
        }
    }
}

/// `min_size` of so many copies, as Ceph takes it: more than half are left.
//= ceph 16.2, src/mon/OSDMonitor.cc: osd_pool_default_min_size 0 is size - size / 2
pub fn least_of(size: u32) -> u32 {
    size - size / 2
}
