//! What layers make, by what it is known again. Pure.

/// What a layer makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Product {
    /// What is under this path.
    Directory(String),
    /// A directory that the stand did not make.
    Existing(String),
    /// A drive that is as a layer wants it, under its own path.
    Drive(String),
    /// The loop device over a file.
    Loop(String),
    /// An array.
    Array {
        /// Its UUID as signatures show it.
        uuid: String,
        /// Its name.
        name: String,
    },
    /// A mapping of the device mapper.
    Mapping(String),
    /// A partition.
    Partition {
        /// Path of the disk.
        disk: String,
        /// Its number.
        number: u32,
    },
    /// The n-th zram device of a layer.
    Zram {
        /// Name of the layer.
        layer: String,
        /// Which.
        index: u32,
    },
    /// A volume of ZFS, by the name of its dataset.
    ZfsVolume(String),
    /// One path to a disk of the kernel's SCSI target.
    ScsiDisk {
        /// Serial number of the disk.
        serial: String,
        /// Port over which it is reached.
        port: u16,
    },
    /// A namespace of NVMe.
    Namespace {
        /// Its UUID.
        uuid: String,
    },
    /// The other end of an export of NBD.
    Attached {
        /// Name of the export.
        export: String,
    },
    /// One way to a subsystem of NVMe.
    Controller {
        /// Name of the subsystem.
        nqn: String,
        /// Its service: a port of TCP.
        service: String,
    },
    /// What the kernel has of a subsystem of NVMe, whatever the ways to it.
    Subsystem {
        /// Its name.
        nqn: String,
    },
    /// The device of a mirror of two hosts.
    Mirror {
        /// Its number.
        minor: u32,
        /// UUID in the metadata of this host's copy.
        uuid: String,
    },
    /// The network interface with this address.
    Interface(String),
}

impl Product {
    /// What stands for it in a plan while it does not exist.
    pub(crate) fn shown(&self) -> String {
        match self {
            Product::Directory(path) | Product::Existing(path) | Product::Drive(path) => path.clone(),
            Product::Loop(file) => format!("LOOP[{file}]"),
            Product::Array { name, .. } => format!("/dev/md/{name}"),
            Product::Mapping(name) => format!("/dev/mapper/{name}"),
            Product::Partition { disk, number } if disk.ends_with(|c: char| c.is_ascii_digit()) => {
                format!("{disk}p{number}")
            }
            Product::Partition { disk, number } => format!("{disk}{number}"),
            Product::Zram { layer, index } => format!("ZRAM[{layer}/{}]", index + 1),
            Product::ZfsVolume(dataset) => format!("/dev/zvol/{dataset}"),
            Product::ScsiDisk { serial, port } => format!("ISCSI[{serial}:{port}]"),
            Product::Namespace { uuid } => format!("NVME[{uuid}]"),
            Product::Attached { export } => format!("NBD[{export}]"),
            Product::Controller { service, .. } => format!("NVME-AT[{service}]"),
            Product::Subsystem { nqn } => format!("NVME-SUBSYSTEM[{nqn}]"),
            Product::Mirror { minor, .. } => format!("/dev/drbd{minor}"),
            Product::Interface(address) => format!("INTERFACE[{address}]"),
        }
    }
}
