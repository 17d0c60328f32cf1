//! A logical volume as a stand file describes it. Pure.

use super::InitialSync;
use stend_base::Bytes;

/// How a logical volume lies on its drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LvmType {
    /// One behind the other.
    Linear,
    /// Stripes without redundancy (device mapper, `striped`).
    Striped,
    /// Stripes without redundancy (md inside of device mapper).
    Raid0,
    /// Mirror.
    Raid1,
    /// Stripes of mirrors.
    Raid10,
    /// One parity.
    Raid5,
    /// Two parities.
    Raid6,
    /// A thin pool with one thin volume.
    Thin,
    /// A VDO pool (compression, deduplication) with one volume.
    Vdo,
    /// One behind the other, and the last device keeps what is used much (dm-cache).
    Cache,
    /// One behind the other, and the last device takes all writes first (dm-writecache).
    Writecache,
}

impl LvmType {
    /// Word in the file and for LVM.
    pub fn word(self) -> &'static str {
        match self {
            LvmType::Linear => "linear",
            LvmType::Striped => "striped",
            LvmType::Raid0 => "raid0",
            LvmType::Raid1 => "raid1",
            LvmType::Raid10 => "raid10",
            LvmType::Raid5 => "raid5",
            LvmType::Raid6 => "raid6",
            LvmType::Thin => "thin",
            LvmType::Vdo => "vdo",
            LvmType::Cache => "cache",
            LvmType::Writecache => "writecache",
        }
    }

    /// Whether data go in turn to several devices.
    pub fn is_striped(self) -> bool {
        matches!(self, LvmType::Striped | LvmType::Raid0 | LvmType::Raid10 | LvmType::Raid5 | LvmType::Raid6)
    }

    /// Whether there is redundancy, which has to be made first.
    pub fn is_redundant(self) -> bool {
        matches!(self, LvmType::Raid1 | LvmType::Raid10 | LvmType::Raid5 | LvmType::Raid6)
    }

    /// Whether the volume is in a pool and shows a size of its own.
    pub fn is_in_pool(self) -> bool {
        matches!(self, LvmType::Thin | LvmType::Vdo)
    }

    /// Whether the last device below is a fast one for the others.
    pub fn is_cached(self) -> bool {
        matches!(self, LvmType::Cache | LvmType::Writecache)
    }
}

/// Where LVM takes room (`--alloc`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// `contiguous`.
    Contiguous,
    /// `cling`.
    Cling,
    /// `normal`.
    Normal,
    /// `anywhere`.
    Anywhere,
}

/// When a write to a cached volume is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMode {
    /// On the cache and behind it.
    Writethrough,
    /// On the cache.
    Writeback,
}

impl CacheMode {
    /// Word in the file and for LVM.
    pub fn word(self) -> &'static str {
        match self {
            CacheMode::Writethrough => "writethrough",
            CacheMode::Writeback => "writeback",
        }
    }
}

/// How checksums stay in step with data when the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegrityMode {
    /// Both go through a journal.
    Journal,
    /// What a bitmap marks is computed anew.
    Bitmap,
}

impl IntegrityMode {
    /// Word in the file and for LVM.
    pub fn word(self) -> &'static str {
        match self {
            IntegrityMode::Journal => "journal",
            IntegrityMode::Bitmap => "bitmap",
        }
    }
}

/// A logical volume, alone in a group of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lvm {
    /// Type.
    pub kind: LvmType,
    /// For VDO: how its pool lies on the devices.
    pub pool: LvmType,
    /// Stripes that carry data; `None`: as many as there are devices for.
    pub stripes: Option<u32>,
    /// Size of a stripe; `None`: what LVM takes.
    pub stripe_size: Option<Bytes>,
    /// Size of the volume, or of the pool; `None`: all there is.
    pub size: Option<Bytes>,
    /// Size that a thin or VDO volume shows.
    pub virtual_size: Option<Bytes>,
    /// Where room is taken; `None`: LVM's default.
    pub allocation: Option<Allocation>,
    /// For VDO: compress.
    pub compression: bool,
    /// For VDO: deduplicate.
    pub deduplication: bool,
    /// For raid types: the first synchronisation.
    pub initial_sync: InitialSync,
    /// For raid types: checksums of all data on each device.
    pub integrity: Option<IntegrityMode>,
    /// For `cache`.
    pub mode: CacheMode,
    /// Used of the fast device; `None`: all.
    pub cache_size: Option<Bytes>,
    /// What a cache holds, or a snapshot copies, at once; `None`: what LVM takes.
    pub chunk: Option<Bytes>,
    /// Snapshots of the volume that are there while it is used.
    pub snapshots: u32,
}

impl Lvm {
    /// How data lie on the devices, whatever is made of that.
    pub fn layout(&self) -> LvmType {
        if self.kind == LvmType::Vdo { self.pool } else { self.kind }
    }

    /// Least devices below.
    pub(super) fn least(&self) -> u32 {
        match self.layout() {
            LvmType::Linear | LvmType::Thin | LvmType::Vdo => 1,
            LvmType::Striped | LvmType::Raid0 | LvmType::Raid1 | LvmType::Cache | LvmType::Writecache => 2,
            LvmType::Raid5 => 3,
            LvmType::Raid10 => 4,
            LvmType::Raid6 => 5,
        }
    }
}
