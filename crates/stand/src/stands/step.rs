//! What putting up a stand consists of: steps that can be asked whether they are done, and undone piece by piece. Pure.

use stend_base::Say;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// What it does, for people.
    pub what: Say,
    /// Devices whose contents are lost.
    pub erases: Vec<String>,
    /// How the kernel tells that it is done.
    pub done: Sign,
    /// What does it, in order.
    pub apply: Vec<Deed>,
    /// What undoes it: each where its sign is there, in order. What was half done is undone, too.
    pub undo: Vec<(Sign, Deed)>,
    /// What has to come to an end before the next step.
    pub wait: Option<Wait>,
}

/// One change of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Execute these words, without a shell.
    Run(Vec<String>),
    /// Give a setting of the user a value; what it was before is noted first.
    Set {
        /// The file.
        path: String,
        /// The value.
        value: String,
    },
    /// Tell the kernel something by a file of `/sys` that is no setting.
    Tell {
        /// The file.
        path: String,
        /// What is written.
        value: String,
    },
    /// Write back what was there before [`Deed::Set`].
    PutBack {
        /// The file.
        path: String,
    },
    /// Have the kernel load a module, if it does not have it.
    Module(&'static str),
    /// Have the kernel take a zram device away.
    RemoveZram {
        /// Name of the layer.
        layer: String,
        /// Which of its devices.
        index: u32,
        /// Its number.
        number: String,
    },
    /// Have the kernel make one more zram device, which becomes the n-th of this layer.
    AddZram {
        /// Name of the layer.
        layer: String,
        /// Which of its devices.
        index: u32,
    },
    /// Give a device a superblock that has no UUID, and note what tells it from others.
    Format {
        /// The device.
        of: Spot,
        /// What does it.
        words: Vec<String>,
    },
    /// Take it off again.
    Erase {
        /// The device.
        of: Spot,
        /// What does it.
        words: Vec<String>,
    },
    /// Take a file system off a device, with the copies of its superblock.
    Wipe {
        /// Path of the device.
        device: String,
        /// UUID of the file system, in the form of its signature.
        uuid: String,
    },
    /// Format a namespace to logical blocks of this size; what they were before is noted first.
    Blocks {
        /// The device.
        of: Spot,
        /// Bytes of a block.
        bytes: u32,
    },
    /// Format it to what was noted.
    BlocksBack {
        /// The device.
        of: Spot,
    },
    /// Take in an export of an NBD server as a device of the kernel, and note which.
    Attach {
        /// Its name.
        export: String,
        /// Address of the server.
        host: String,
        /// Its port.
        port: u16,
        /// The device that is handed out; `None`: it is of another host.
        of: Option<String>,
    },
    /// Let that go.
    Detach {
        /// Name of the export.
        export: String,
    },
}

/// What formats a namespace to other logical blocks.
pub(crate) fn format_blocks(device: &str, bytes: &str) -> Vec<String> {
    ["nvme", "format", device, "--force", "--block-size", bytes].map(String::from).to_vec()
}

impl Step {
    /// A step that does nothing yet.
    pub(crate) fn new(what: Say, done: Sign) -> Step {
        Step { what, erases: Vec::new(), done, apply: Vec::new(), undo: Vec::new(), wait: None }
    }
}

impl Deed {
    /// From words with spaces between them, and single words behind.
    pub(crate) fn run<'a>(line: &'a str, more: impl IntoIterator<Item = &'a str>) -> Deed {
        Deed::Run(line.split(' ').chain(more).map(str::to_string).collect())
    }

    /// As a person would type it.
    pub(crate) fn shell(&self) -> String {
        match self {
            Deed::Run(words) | Deed::Format { words, .. } | Deed::Erase { words, .. } => stend_spec::arm::line(words),
            Deed::Set { path, value } | Deed::Tell { path, value } => {
                format!("echo {} > {path}", stend_spec::arm::line(std::slice::from_ref(value)))
            }
            Deed::Wipe { device, .. } => format!("wipefs --all --quiet {device}  # and copies of its superblock"),
            Deed::PutBack { path } => format!("echo … > {path}  # what was there before"),
            Deed::Module(name) => format!("modprobe {name}"),
            Deed::RemoveZram { number, .. } => format!("echo {number} > /sys/class/zram-control/hot_remove"),
            Deed::Attach { export, host, port, .. } => format!("nbd-client {host} {port} NBD[{export}] -name {export}"),
            Deed::Detach { export } => format!("nbd-client -d NBD[{export}]"),
            Deed::Blocks { of, bytes } => stend_spec::arm::line(&format_blocks(&of.device, &bytes.to_string())),
            Deed::BlocksBack { of } => {
                let line = stend_spec::arm::line(&format_blocks(&of.device, "…"));
                format!("{line}  # what was there before")
            }
            Deed::AddZram { .. } => "cat /sys/class/zram-control/hot_add".to_string(),
        }
    }

    /// The program that it needs.
    pub(crate) fn program(&self) -> Option<&str> {
        match self {
            Deed::Run(words) | Deed::Format { words, .. } | Deed::Erase { words, .. } => {
                words.first().map(String::as_str)
            }
            Deed::Wipe { .. } => Some("wipefs"),
            Deed::Attach { .. } | Deed::Detach { .. } => Some("nbd-client"),
            Deed::Blocks { .. } | Deed::BlocksBack { .. } => Some("nvme"),
            _ => None,
        }
    }
}

/// One of the devices below a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Name of the layer.
    pub layer: String,
    /// Which, from 0.
    pub index: u32,
    /// Its path.
    pub device: String,
}

/// Something that the kernel shows, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A file or directory is there.
    Path(String),
    /// A file of this size is there.
    File {
        /// Its path.
        path: String,
        /// Bytes.
        size: u64,
    },
    /// A device carries a signature with this UUID.
    Mark {
        /// Path of the device.
        device: String,
        /// UUID in the form of the signature.
        uuid: String,
    },
    /// The kernel knows partitions of a device that carries a table with this UUID.
    Parts {
        /// Path of the device.
        device: String,
        /// UUID of its table.
        uuid: String,
        /// How many at least.
        least: u32,
    },
    /// A device has logical blocks of this size.
    Blocks {
        /// Its path.
        device: String,
        /// Bytes of a block.
        bytes: u32,
    },
    /// An array with this UUID runs.
    Running(String),
    /// An array with this UUID runs, or no device carries a part of it.
    NothingToAssemble {
        /// Its UUID.
        uuid: String,
        /// Paths of the devices that it is made of.
        members: Vec<String>,
    },
    /// There is an array with this UUID, running or not.
    Array(String),
    /// The device mapper has a mapping of this name and UUID.
    Mapping {
        /// Its name.
        name: String,
        /// Its UUID.
        uuid: String,
    },
    /// A device carries the superblock that it was given for the stand, whole.
    Superblock(Spot),
    /// It does, or was being given one.
    SuperblockBegun(Spot),
    /// A cache of writes of this name keeps what is not written back yet.
    Unwritten(String),
    /// A volume of a group that carries our tag is active.
    Volume(Volume),
    /// A group that carries our tag has a volume of this name, active or not, that is no part of another one.
    LogicalVolume {
        /// The group.
        group: String,
        /// Our tag.
        tag: String,
        /// Name of the volume.
        name: String,
    },
    /// A volume is active, and lies on a mapping whose name begins so.
    VolumeOn {
        /// The volume.
        volume: Volume,
        /// Name of what is below it, or its beginning.
        below: String,
    },
    /// A group that carries our tag has no volume that is not active.
    NothingInactive(Volume),
    /// The device mapper has something of a group of LVM of this name.
    GroupActive(String),
    /// A file is behind a loop device.
    Loop(String),
    /// This host is connected to an NVMe-oF subsystem of this name.
    Connected(String),
    /// One of the ways by which this host is connected to an NVMe-oF subsystem goes over this service.
    Controller {
        /// Name of the subsystem.
        nqn: String,
        /// Its service: a port of TCP.
        service: String,
    },
    /// The interface with this address has a card for RDMA.
    Card(String),
    /// A device of this host is the other end of an export of NBD of this name.
    Attached(String),
    /// An `nbd-server` runs with these settings.
    Serves(String),
    /// This host is logged in to an iSCSI target over this port.
    Session {
        /// Name of the target.
        target: String,
        /// Its port.
        port: u16,
    },
    /// The initiator of this host has a record of an iSCSI target.
    NodeRecord {
        /// Name of the target.
        target: String,
        /// Address and port.
        portal: String,
    },
    /// All these disks are there, reached over this port.
    ScsiDisks {
        /// Their serial numbers.
        serials: Vec<String>,
        /// The port.
        port: u16,
    },
    /// The initiator of iSCSI takes orders.
    Initiator,
    /// A file system is mounted here.
    Mounted(String),
    /// LVM knows a group of this name that carries our tag.
    Group {
        /// Its name.
        name: String,
        /// Our tag.
        tag: String,
    },
    /// A pool of ZFS that carries our tag is imported.
    Pool(Pool),
    /// It is, or no device carries a part of one that was not destroyed.
    NothingToImport {
        /// The pool.
        pool: Pool,
        /// Paths of the devices that it is made of.
        members: Vec<String>,
    },
    /// A pool of ours has this dataset.
    Dataset {
        /// The pool.
        pool: Pool,
        /// Name of the dataset, the pool's first.
        name: String,
    },
    /// A device carries a label of a pool of ours.
    PoolLabel {
        /// Path of the device.
        device: String,
        /// In the first partition of its table.
        inside: bool,
        /// The pool; `None`: that of a device that only caches, which knows no pool.
        pool: Option<Pool>,
    },
    /// A device has the table that ZFS makes, and no label in its first partition any more.
    PoolTable(String),
    /// A setting has this value.
    Setting {
        /// Its file.
        path: String,
        /// The value.
        value: String,
    },
    /// A file of the kernel has this line.
    Says {
        /// The file.
        path: String,
        /// The line.
        line: String,
    },
    /// A setting is a number above 0.
    Positive(String),
    /// A program of this name runs.
    Process(&'static str),
    /// A directory is handed out over NFS.
    NfsExport(String),
    /// What a setting was before has been noted.
    Noted(String),
    /// The n-th zram device of a layer exists, and has this size in bytes if one is given.
    Zram {
        /// Name of the layer.
        layer: String,
        /// Which.
        index: u32,
        /// Its size.
        size: Option<u64>,
    },
}

impl Sign {
    /// It is shown where there is nothing yet, too: its step is for what is there and stopped when the machine was started anew.
    pub(crate) fn is_of_a_restart(&self) -> bool {
        matches!(self, Sign::NothingToAssemble { .. } | Sign::NothingInactive(_) | Sign::NothingToImport { .. })
    }
}

/// A logical volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Volume {
    /// Its group.
    pub group: String,
    /// Our tag, which the group carries.
    pub tag: String,
    /// Name of its mapping.
    pub mapping: String,
}

/// A pool of ZFS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pool {
    /// Its name.
    pub name: String,
    /// Our tag, which is its comment.
    pub tag: String,
}

/// What has to come to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The synchronisation of an array with this UUID.
    Array(String),
    /// That of what is in a volume group of this name.
    Volume(String),
    /// That of a pool of ZFS of this name with a device that was away.
    Pool(String),
    /// That of the checksums of a mapping of this name with its data.
    Checksums(String),
}
