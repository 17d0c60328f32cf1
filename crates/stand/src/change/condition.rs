//! What can be asked of the kernel about a change: whether it is done, and whether there is something to undo. Pure.

use serde::{Deserialize, Serialize};
use std::slice;
use stend_spec::arm::line;

/// One of the devices below a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LayerDevice {
    /// Name of the layer.
    pub layer: String,
    /// Which, from 0.
    pub index: u32,
    /// Its path.
    pub device: String,
}

/// The device of a mirror of two hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MirrorDevice {
    /// Its number.
    pub minor: u32,
    /// UUID in the metadata of this host's copy.
    pub uuid: String,
}

/// Something that the kernel shows, or does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Condition {
    /// Nothing shows it: it is taken to be there.
    Always,
    /// A file or directory is there.
    Path(String),
    /// A file of so many bytes is there.
    File { path: String, size: u64 },
    /// A device carries a signature with this UUID, which is in the form of the signature.
    Mark { device: String, uuid: String },
    /// It carries such signatures, and at its ends no others, which others would have left on what they put there since.
    OnlyMark { device: String, uuid: String },
    /// The kernel knows at least so many partitions of a device that carries a table with this UUID.
    Parts { device: String, uuid: String, least: u32 },
    /// A device has logical blocks of so many bytes.
    Blocks { device: String, bytes: u32 },
    /// An array with this UUID runs.
    Running(String),
    /// An array with this UUID runs, or no device carries a part of it of those that it is made of.
    NothingToAssemble { uuid: String, members: Vec<String> },
    /// There is an array with this UUID, running or not.
    Array(String),
    /// The device mapper has a mapping of this name and UUID.
    Mapping { name: String, uuid: String },
    /// A device carries the superblock that it was given for the stand, whole, or is cleared for one that its target makes.
    Superblock(LayerDevice),
    /// A device carries a superblock of the stand, whole or half made. Zeroes are none: there is nothing to take off.
    SuperblockBegun(LayerDevice),
    /// A cache of writes of this name keeps what is not written back yet.
    Unwritten(String),
    /// A volume of a group that carries our tag is active.
    Volume(Volume),
    /// A group that carries our tag has a volume of this name, active or not, that is no part of another one.
    LogicalVolume { group: String, tag: String, name: String },
    /// A volume is active, and lies on a mapping whose name begins so.
    VolumeOn { volume: Volume, below: String },
    /// A group that carries our tag has no volume that is not active.
    NothingInactive(Volume),
    /// The device mapper has something of a group of LVM of this name.
    GroupActive(String),
    /// A file is behind a loop device.
    Loop(String),
    /// This host is connected to an NVMe-oF subsystem of this name.
    Connected(String),
    /// One of the ways by which this host is connected to an NVMe-oF subsystem goes over this service, a port of TCP.
    Controller { nqn: String, service: String },
    /// The interface with this address has a card for RDMA.
    Card(String),
    /// A device of this host is the other end of an export of NBD of this name.
    Attached(String),
    /// An `nbd-server` runs with these settings.
    Serves(String),
    /// This host is logged in to an iSCSI target over this port.
    Session { target: String, port: u16 },
    /// This host has a session with an iSCSI target over this port, be it one that failed.
    SessionBegun { target: String, port: u16 },
    /// The initiator of this host has a record of an iSCSI target at this address and port.
    NodeRecord { target: String, portal: String },
    /// All disks with these serial numbers are there, reached over this port.
    ScsiDisks { serials: Vec<String>, port: u16 },
    /// The initiator of iSCSI takes orders.
    Initiator,
    /// A file system is mounted here.
    Mounted(String),
    /// LVM knows a group of this name that carries our tag.
    Group { name: String, tag: String },
    /// A pool of ZFS that carries our tag is imported.
    Pool(Pool),
    /// It is, or none of the devices that it is made of carries a part of one that was not destroyed.
    NothingToImport { pool: Pool, members: Vec<String> },
    /// A pool of ours has this dataset, whose name begins with the pool's.
    Dataset { pool: Pool, name: String },
    /// A device carries a label of a pool of ours, be it inside the first partition of its table. `None`: that of a device that only
    /// caches, which knows no pool.
    PoolLabel { device: String, inside: bool, pool: Option<Pool> },
    /// A device has the table that ZFS makes, and no label in its first partition any more.
    PoolTable(String),
    /// A setting has this value.
    Setting { path: String, value: String },
    /// A file of the kernel has this line.
    Says { path: String, line: String },
    /// A setting is a number above 0.
    Positive(String),
    /// A program of this name runs.
    Process(String),
    /// A program of this name runs that was started with all of these words.
    Runs { program: String, words: Vec<String> },
    /// A command that changes nothing prints this.
    Prints { words: Vec<String>, text: String },
    /// A directory is handed out over NFS to this client, as the file system with this UUID.
    NfsExport { path: String, client: String, fsid: String },
    /// What a setting was before has been noted.
    Noted(String),
    /// The same of the NFS server, which hands nothing out any more, be it to somebody else.
    NotedUnshared(String),
    /// The kernel has the device of a mirror, over a copy with its metadata.
    Mirror(MirrorDevice),
    /// It is there, and is not connected with two copies of which neither has been taken for the one that counts.
    MirrorFilled(MirrorDevice),
    /// This host is primary of it.
    MirrorPrimary(MirrorDevice),
    /// The n-th zram device of a layer exists, and has this size in bytes if one is given.
    Zram { layer: String, index: u32, size: Option<u64> },
}

impl Condition {
    /// It is shown where there is nothing yet, too: its step is for what is there and stopped when the machine was started anew.
    pub(crate) fn is_of_a_restart(&self) -> bool {
        matches!(
            self,
            Condition::NothingToAssemble { .. } | Condition::NothingInactive(_) | Condition::NothingToImport { .. }
        )
    }

    /// What a shell asks for it. `None` where it needs more than a shell.
    pub(crate) fn test(&self) -> Option<String> {
        match self {
            Condition::Path(path) => Some(format!("[ -e {} ]", line(slice::from_ref(path)))),
            // Such a label begins with its name and the UUID, as text. It is the only signature that events erase; with any other one the
            // test fails, and nothing is erased.
            //= ceph 16.2, src/os/bluestore/BlueStore.cc, _write_bdev_label(): "bluestore block device", UUID, in 60 bytes
            Condition::Mark { device, uuid } => {
                let (device, uuid) = (line(slice::from_ref(device)), line(slice::from_ref(uuid)));
                Some(format!("head --bytes=60 {device} | grep --quiet {uuid}"))
            }
            _ => None,
        }
    }
}

/// A logical volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Volume {
    /// Its group.
    pub group: String,
    /// Our tag, which the group carries.
    pub tag: String,
    /// Name of its mapping.
    pub mapping: String,
}

/// A pool of ZFS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pool {
    /// Its name.
    pub name: String,
    /// Our tag, which is its comment.
    pub tag: String,
}
