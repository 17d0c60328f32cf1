//! A stand as its file describes it: drives, the layers that are built on them, and what of that is measured. Pure; which
//! commands make a layer is the business of the crate `stand`.

mod ceph;
mod dm;
mod drbd;
mod exports;
mod hosts;
mod lvm;
mod zfs;

pub use ceph::{Ceph, CephPool, least_of};
pub use dm::{Checksums, Cipher, Dm};
pub use drbd::{Drbd, DrbdProtocol};
pub use exports::{Iscsi, IscsiTransport, Multipath, Nfs, NvmeOf, NvmePolicy, PathPolicy, Transport};
pub use hosts::StandHost;
pub use lvm::{Allocation, CacheMode, IntegrityMode, Lvm, LvmType};
pub use zfs::{Zfs, ZfsLayout, ZfsProduct};

use crate::arm::Tunable;
use stend_base::Bytes;

/// Drives, layers, targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    /// Name: part of the names of everything that is made. 1 to 32 small letters, digits and `-`.
    pub name: String,
    /// Machine file of the host that it makes, as it is written in the file; `None`: it is built on a host that is there.
    pub machine: Option<String>,
    /// What may be written over, each with a name of its own.
    pub drives: Vec<DriveRef>,
    /// Signatures on the drives that may be lost.
    pub overwrite: Vec<String>,
    /// From the drives up.
    pub layers: Vec<Layer>,
    /// What is measured.
    pub targets: Vec<Ref>,
    /// Its hosts; empty: there is only one.
    pub hosts: Vec<StandHost>,
    /// Name of the one that is meant; `None`: there is only one, or all of them.
    pub here: Option<String>,
}

/// A drive that the user gives to the stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveRef {
    /// Name in the file: `d1`, `d2`, … in their order, unless another one is given.
    pub name: String,
    /// Identity as `stend inspect` prints it, or a bare serial number or WWN.
    pub id: String,
    /// The host that has it; `None`: there is only one.
    pub host: Option<String>,
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Name, unique in the stand; without one that of its kind.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it is built on.
    pub on: Vec<Ref>,
    /// The host that builds it; `None`: there is only one.
    pub host: Option<String>,
    /// The host that takes in what an export hands out, or that is primary of a mirror; `None`: the one that builds it.
    pub to: Option<String>,
    /// Line of the file.
    pub line: u64,
}

/// A drive, everything that a layer makes, or one of several things that it makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ref {
    /// Name of the drive or layer.
    pub name: String,
    /// Which of the things that the layer makes, from 1; `None`: all of them.
    pub part: Option<u32>,
}

/// What a layer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Files in a directory, as block devices. Built on nothing.
    Loop(LoopFiles),
    /// Compressed memory, as block devices. Built on nothing.
    Zram(Zram),
    /// Equal partitions of every device below (GPT).
    Partition {
        /// How many of each.
        count: u32,
    },
    /// A software RAID of Linux.
    Md(Md),
    /// A logical volume.
    Lvm(Lvm),
    /// A mapping over each device below.
    Dm(Dm),
    /// Equal parts of one device, without a table on it (device mapper, linear).
    Luns {
        /// How many.
        count: u32,
    },
    /// Each device handed out over NVMe-oF and connected to, on the same host or another one.
    NvmeOf(NvmeOf),
    /// Each device handed out over iSCSI and connected to, on the same host.
    Iscsi(Iscsi),
    /// Each device handed out over NBD and taken in, on the same host.
    Nbd,
    /// A directory handed out over NFS and mounted, on the same host.
    Nfs(Nfs),
    /// A directory that is there already. Built on nothing.
    Existing {
        /// Its path.
        directory: String,
    },
    /// A btrfs over one or several devices, mounted.
    Btrfs(Btrfs),
    /// A pool of ZFS with one volume or one dataset.
    Zfs(Zfs),
    /// A file system on one device, mounted.
    Fs(Fs),
    /// A Ceph of this host with a file system, mounted.
    Ceph(Ceph),
    /// Drives that are NVMe namespaces, formatted to another logical block, and back afterwards.
    Sectors {
        /// Bytes of a logical block.
        bytes: u32,
    },
    /// Drives that the host reaches over several paths, each with its paths as one device.
    Multipath(Multipath),
    /// A device of which two hosts keep a copy.
    Drbd(Drbd),
    /// Settings of the kernel, put back afterwards. Makes nothing.
    Settings(Vec<Tunable>),
}

impl Kind {
    /// The key in the file.
    pub fn key(&self) -> &'static str {
        match self {
            Kind::Loop(_) => "loop",
            Kind::Zram(_) => "zram",
            Kind::Partition { .. } => "partition",
            Kind::Md(_) => "md",
            Kind::Lvm(_) => "lvm",
            Kind::Dm(_) => "dm",
            Kind::Luns { .. } => "luns",
            Kind::NvmeOf(_) => "nvme_of",
            Kind::Iscsi(_) => "iscsi",
            Kind::Nbd => "nbd",
            Kind::Nfs(_) => "nfs",
            Kind::Existing { .. } => "existing",
            Kind::Btrfs(_) => "btrfs",
            Kind::Zfs(_) => "zfs",
            Kind::Fs(_) => "fs",
            Kind::Ceph(_) => "ceph",
            Kind::Sectors { .. } => "sectors",
            Kind::Multipath(_) => "multipath",
            Kind::Drbd(_) => "drbd",
            Kind::Settings(_) => "settings",
        }
    }

    /// How many things it makes of so many below.
    pub fn makes(&self, below: u32) -> u32 {
        match self {
            Kind::Loop(files) => files.count,
            Kind::Zram(zram) => zram.count,
            Kind::Partition { count } => below.saturating_mul(*count),
            Kind::Dm(dm) if dm.is_over_two() => 1,
            Kind::Dm(_) | Kind::NvmeOf(_) | Kind::Iscsi(_) | Kind::Nbd | Kind::Sectors { .. } | Kind::Multipath(_) => {
                below
            }
            Kind::Luns { count } => *count,
            Kind::Md(_)
            | Kind::Lvm(_)
            | Kind::Btrfs(_)
            | Kind::Zfs(_)
            | Kind::Fs(_)
            | Kind::Ceph(_)
            | Kind::Nfs(_)
            | Kind::Drbd(_)
            | Kind::Existing { .. } => 1,
            Kind::Settings(_) => 0,
        }
    }

    /// Least and most things that it is built on.
    pub fn needs(&self) -> (u32, u32) {
        match self {
            Kind::Loop(_) | Kind::Zram(_) | Kind::Settings(_) | Kind::Existing { .. } => (0, 0),
            Kind::Luns { .. } | Kind::Fs(_) | Kind::Nfs(_) => (1, 1),
            Kind::Dm(dm) if dm.is_over_two() => (2, 2),
            Kind::Md(md) => (md.least(), MEMBERS_MAX),
            Kind::Lvm(lvm) => (lvm.least(), MEMBERS_MAX),
            Kind::Btrfs(btrfs) => (btrfs.data.least().max(btrfs.metadata.least()), MEMBERS_MAX),
            Kind::Zfs(zfs) => (zfs.least(), MEMBERS_MAX),
            Kind::Ceph(ceph) => (ceph.pool.width(), MEMBERS_MAX),
            Kind::Drbd(drbd) => (drbd.devices(), drbd.devices()),
            Kind::Partition { .. }
            | Kind::Dm(_)
            | Kind::NvmeOf(_)
            | Kind::Iscsi(_)
            | Kind::Nbd
            | Kind::Sectors { .. }
            | Kind::Multipath(_) => (1, MEMBERS_MAX),
        }
    }

    /// Whether it configures the drives themselves, and so can only be directly on them.
    pub fn is_of_drives(&self) -> bool {
        matches!(self, Kind::Sectors { .. } | Kind::Multipath(_))
    }

    /// Whether what it makes is a directory, on which no further layer can lie.
    pub fn is_directory(&self) -> bool {
        match self {
            Kind::Btrfs(_) | Kind::Fs(_) | Kind::Ceph(_) | Kind::Nfs(_) | Kind::Existing { .. } => true,
            Kind::Zfs(zfs) => zfs.product == ZfsProduct::Dataset,
            _ => false,
        }
    }
}

/// Most devices below a layer.
pub const MEMBERS_MAX: u32 = 64;

/// Files as block devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopFiles {
    /// An existing directory; the files lie in a directory of their own in it.
    pub directory: String,
    /// Size of each file.
    pub size: Bytes,
    /// How many.
    pub count: u32,
}

/// Compressed memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zram {
    /// Size of each device; memory is used for what is written.
    pub size: Bytes,
    /// How many.
    pub count: u32,
}

/// Level of a software RAID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MdLevel {
    /// Stripes.
    Raid0,
    /// Mirror.
    Raid1,
    /// Stripes of mirrors.
    Raid10,
    /// One parity.
    Raid5,
    /// Two parities.
    Raid6,
}

/// What keeps an array consistent when the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// A whole resync afterwards.
    Resync,
    /// A resync of what a bitmap marks.
    Bitmap,
    /// Partial parity log: closes the write hole of RAID 5.
    Ppl,
}

/// How the first synchronisation of an array is dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialSync {
    /// Waited for.
    Wait,
    /// Left out: the members are taken to agree. What is read before it was written may differ.
    Skip,
    /// Not waited for: measured beside it.
    Beside,
}

/// A software RAID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Md {
    /// Level.
    pub level: MdLevel,
    /// Size of a chunk; `None`: what `mdadm` takes.
    pub chunk: Option<Bytes>,
    /// `None`: what `mdadm` takes.
    pub consistency: Option<Consistency>,
    /// The last device below is the write journal.
    pub journal: bool,
    /// So many of the last devices below (before a journal) are spares.
    pub spares: u32,
    /// Used of each member; `None`: all.
    pub member_size: Option<Bytes>,
    /// The first synchronisation.
    pub initial_sync: InitialSync,
}

impl Md {
    fn least(&self) -> u32 {
        let members = match self.level {
            MdLevel::Raid0 | MdLevel::Raid1 | MdLevel::Raid10 => 2,
            MdLevel::Raid5 => 3,
            MdLevel::Raid6 => 4,
        };
        members + self.spares + u32::from(self.journal)
    }
}

/// How btrfs keeps copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// One copy on one device.
    Single,
    /// Two copies, perhaps on one device.
    Dup,
    /// Stripes.
    Raid0,
    /// Two copies on two devices.
    Raid1,
    /// Stripes of mirrors.
    Raid10,
    /// One parity.
    Raid5,
    /// Two parities.
    Raid6,
}

impl Profile {
    /// Word in the file and for `mkfs.btrfs`.
    pub fn word(self) -> &'static str {
        match self {
            Profile::Single => "single",
            Profile::Dup => "dup",
            Profile::Raid0 => "raid0",
            Profile::Raid1 => "raid1",
            Profile::Raid10 => "raid10",
            Profile::Raid5 => "raid5",
            Profile::Raid6 => "raid6",
        }
    }

    fn least(self) -> u32 {
        match self {
            Profile::Single | Profile::Dup => 1,
            Profile::Raid0 | Profile::Raid1 | Profile::Raid5 => 2,
            Profile::Raid6 => 3,
            Profile::Raid10 => 2,
        }
    }
}

/// A btrfs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Btrfs {
    /// Profile of data.
    pub data: Profile,
    /// Profile of metadata.
    pub metadata: Profile,
    /// Options of the mount.
    pub options: Vec<String>,
}

/// Kinds of file systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsKind {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// F2FS.
    F2fs,
}

impl FsKind {
    /// As the kernel calls it.
    pub fn word(self) -> &'static str {
        match self {
            FsKind::Ext4 => "ext4",
            FsKind::Xfs => "xfs",
            FsKind::F2fs => "f2fs",
        }
    }
}

/// A file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fs {
    /// Which.
    pub kind: FsKind,
    /// Words for its `mkfs`.
    pub make: Vec<String>,
    /// Options of the mount.
    pub options: Vec<String>,
}

impl Stand {
    /// A layer by its name.
    pub fn layer(&self, name: &str) -> Option<&Layer> {
        self.layers.iter().find(|layer| layer.name == name)
    }

    /// Over how many paths a drive is reached: one, unless a layer joins several.
    pub fn paths_to(&self, drive: &str) -> u32 {
        let paths = self.layers.iter().find_map(|layer| match layer.kind {
            Kind::Multipath(multipath) if layer.on.iter().any(|of| of.name == drive) => Some(multipath.paths),
            _ => None,
        });
        paths.unwrap_or(1)
    }

    /// Whether what a layer lies on is somewhere reached over several paths, each of which is a device of the host, too.
    pub fn is_over_paths(&self, layer: &Layer) -> bool {
        let joins = |kind: &Kind| match kind {
            Kind::Multipath(_) => true,
            Kind::Iscsi(iscsi) => iscsi.paths > 1,
            _ => false,
        };
        // Layers lie on earlier ones only, so this comes to its end.
        let below = layer.on.iter().filter_map(|of| self.layer(&of.name));
        below.into_iter().any(|below| joins(&below.kind) || self.is_over_paths(below))
    }

    /// The layer that keeps a log of every write, with the most states of it that are examined.
    pub fn log_writes(&self) -> Option<(&Layer, u32)> {
        self.layers.iter().find_map(|layer| match layer.kind {
            Kind::Dm(Dm::LogWrites { points }) => Some((layer, points)),
            _ => None,
        })
    }

    /// The layers that lie on another one, on what lies on it, and so on, from below.
    pub fn above(&self, name: &str) -> Vec<&Layer> {
        let mut found: Vec<&Layer> = Vec::new();
        for layer in &self.layers {
            if layer.on.iter().any(|of| of.name == name || found.iter().any(|other| other.name == of.name)) {
                found.push(layer);
            }
        }
        found
    }

    /// How many things a layer makes.
    pub fn makes(&self, layer: &Layer) -> u32 {
        layer.kind.makes(layer.on.iter().map(|of| self.stands_for(of)).fold(0, u32::saturating_add))
    }

    /// How many things a reference stands for.
    pub fn stands_for(&self, of: &Ref) -> u32 {
        match (self.layer(&of.name), of.part) {
            (Some(layer), None) => self.makes(layer),
            _ => 1,
        }
    }
}
