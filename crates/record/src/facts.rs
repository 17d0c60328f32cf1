//! Facts about a host and a target, as inventory found them, and whether the target may be written.

use crate::refusal::Refusal;
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Nanos};
use stend_spec::topology::NumaNode;

/// The machine under the worker.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostFacts {
    /// Host name.
    pub hostname: String,
    /// Kernel release and version.
    pub kernel: String,
    /// Distribution, from os-release.
    pub os: String,
    /// CPU model.
    pub cpu_model: String,
    /// CPUs that are online.
    pub cpus: u32,
    /// NUMA nodes with their CPUs, ascending; one on a machine without NUMA.
    pub numa_nodes: Vec<NumaNode>,
    /// Memory.
    pub memory: Bytes,
    /// What of it is set aside as huge pages, which only programs that ask for them get.
    #[serde(default)]
    pub huge_pages: Bytes,
    /// Hypervisor, if one shows itself.
    pub hypervisor: Option<String>,
    /// Clock source of the kernel.
    pub clock_source: Option<String>,
    /// Frequency governors of all CPUs, each once: `performance`, or `performance, powersave` where they differ.
    pub governor: Option<String>,
    /// Boot id: two facts with the same one are from the same boot.
    pub boot_id: String,
    /// Kernel command line.
    pub kernel_command_line: String,
    /// Version of Stend.
    pub stend_version: String,
    /// Whether the worker is root.
    pub root: bool,
}

/// What kind of thing a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A whole disk, partition or mapped device.
    BlockDevice,
    /// A regular file that Stend did not make.
    File,
    /// A directory in which Stend makes its own file.
    Directory,
    /// `/dev/null` or `/dev/zero`: the way through the kernel without storage behind it.
    NullDevice,
}

/// A path as the user named it, resolved and understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// As the user wrote it.
    pub named: String,
    /// After following links.
    pub path: String,
    /// Kind.
    pub kind: TargetKind,
    /// Stable identity of a block device, e.g. `wwn:…`, `serial:…`, `loop:8:1:1234`; `None` if it has none.
    pub identity: Option<String>,
    /// Size: of the device or file; for a directory the size of its file system.
    pub size: Bytes,
    /// Free space for a directory; equals `size` otherwise.
    pub free: Bytes,
    /// Smallest direct I/O and its alignment, bytes.
    pub logical_block: Bytes,
    /// Physical block, bytes.
    pub physical_block: Bytes,
    /// File system the file or directory lives on, e.g. `ext4`.
    pub file_system: Option<String>,
    /// Mount options of that file system.
    pub mount_options: Option<String>,
    /// Whether ext3 or ext4 keeps a journal; `None` of others, or if the kernel does not tell.
    // Written also where it is none: postcard knows no names of fields.
    #[serde(default)]
    pub journal: Option<bool>,
    /// The device under the target first, then everything below it down to physical drives.
    pub devices: Vec<Device>,
    /// Signatures found on a block device.
    pub signatures: Vec<Signature>,
    /// What a sample of its blocks holds; `None` if no sample was taken: of what is no block device, is never written anyway, or was
    /// only listed.
    pub contents: Option<Sampled>,
    /// May it be written, and if not, why.
    pub access: WriteAccess,
    /// What others did to the busiest device below while it was looked at; `None` if that cannot be seen.
    pub busy: Option<Busy>,
}

impl TargetFacts {
    /// A target of which nothing else is known: no size, blocks of 512 bytes, nothing below it.
    pub fn new(named: impl Into<String>, kind: TargetKind, access: WriteAccess) -> TargetFacts {
        let named = named.into();
        TargetFacts {
            path: named.clone(),
            named,
            kind,
            identity: None,
            size: Bytes(0),
            free: Bytes(0),
            logical_block: Bytes(512),
            physical_block: Bytes(512),
            file_system: None,
            mount_options: None,
            journal: None,
            devices: Vec::new(),
            signatures: Vec::new(),
            contents: None,
            access,
            busy: None,
        }
    }
}

/// I/O of others during a short look at a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    /// Kernel name of the device.
    pub device: String,
    /// How long the look took.
    pub span: Nanos,
    /// Reads and writes that ended in it.
    pub ops: u64,
    /// What they moved.
    pub bytes: Bytes,
}

/// What a sample of the blocks of a device holds: both ends whole, and single blocks spread over what is between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// Blocks of 4 KiB that were read.
    pub blocks: u64,
    /// Sampled blocks that are erased: zeros or ones.
    pub blank: u64,
    /// Sampled blocks that Stend wrote, by their own marks.
    pub ours: u64,
    /// Sampled blocks of anything else.
    pub other: u64,
    /// Byte offset of the first of those that nothing says are ours.
    pub first_other: Option<u64>,
    /// The mark that an earlier run or stand left for what does not say itself whose it is.
    pub mark: Option<OwnMark>,
    /// How long it took.
    pub took: Nanos,
}

impl Sampled {
    /// Whether there is something on the device that is neither erased nor ours.
    pub fn is_unknown(&self) -> bool {
        self.other > 0 && self.mark.as_ref().is_none_or(|mark| mark.broken_at.is_some())
    }
}

/// What Stend left on a device to know its own data again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnMark {
    /// The run or stand that left it.
    pub by: String,
    /// When, seconds since 1970.
    pub left_unix: u64,
    /// Byte offset of the first block that is not what it was then, so that the mark does not count; `None`: all that it names is.
    pub broken_at: Option<u64>,
}

/// One block device of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Device {
    /// Kernel name, e.g. `nvme0n1p2`.
    pub name: String,
    /// `disk`, `partition`, `loop`, `md`, `dm`, `zram`, …
    pub kind: String,
    /// Depth below the target's own device (0).
    pub depth: u32,
    /// Stable identity.
    pub identity: Option<String>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Size.
    pub size: Bytes,
    /// For a partition: where it begins on its disk.
    pub start: Option<Bytes>,
    /// Spinning disk.
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// It takes writes that are durable of themselves (FUA), which then need no flush.
    pub fua: Option<bool>,
    /// Level of an array of md, as the kernel calls it (`raid5`).
    pub level: Option<String>,
    /// Drives that an array of md should have.
    pub members: Option<u32>,
    /// Bytes on one drive of an array of md before the next one follows; `None` of levels that have none.
    pub chunk: Option<Bytes>,
    /// Drives of a RAID 10 of md that hold a block.
    pub copies: Option<u32>,
    /// Whether an array of md has it in reserve, so that no I/O of the target goes to it: a spare, a drive that failed, a journal, and what
    /// is below nothing else. `None`: nothing like that is known of it.
    pub reserve: Option<bool>,
    /// How it is reached: of NVMe `pcie`, `tcp`, `rdma`, `fc`; `iscsi`, `nbd`; `None` where the kernel does not say.
    pub transport: Option<String>,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// It takes discards (TRIM, UNMAP, deallocate).
    pub discards: Option<bool>,
    /// NUMA node; `None` if unknown or the machine has one.
    pub numa_node: Option<i32>,
    /// Removable medium or USB.
    pub removable: bool,
    /// Below a hypervisor: its own cache and members are not visible.
    pub is_virtual: bool,
}

/// How the UUID of a mapping begins with which a stand joins paths to one drive.
pub const STAND_PATHS: &str = "STEND-mpath-";

/// Whether the UUID of a mapping says that it joins paths to one drive: that of multipath-tools, or that of a stand.
pub fn joins_paths(uuid: &str) -> bool {
    uuid.starts_with("mpath-") || uuid.starts_with(STAND_PATHS)
}

/// Transports of drives that a logout takes away; `loop` is NVMe-oF within a host. Disks of SCSI over Fibre Channel go only when something fails.
const OVER_NETWORK: [&str; 5] = ["iscsi", "fc", "tcp", "rdma", "loop"];

impl Device {
    /// Whether people take it away as a matter of course: a removable drive, or one over a network.
    pub fn is_detachable(&self) -> bool {
        let transport = self.transport.as_deref().unwrap_or_default();
        self.removable || OVER_NETWORK.contains(&transport) && (transport != "fc" || self.name.starts_with("nvme"))
    }

    /// Whether it is a mapping that joins paths to one drive.
    pub fn joins_paths(&self) -> bool {
        let uuid = self.identity.as_deref().and_then(|identity| identity.strip_prefix("dm:"));
        uuid.is_some_and(joins_paths)
    }

    /// Level and drives of an array of md, e.g. `raid5 × 4`; `None` of anything else.
    pub fn array(&self) -> Option<String> {
        let level = self.level.clone()?;
        Some(self.members.map_or(level.clone(), |members| format!("{level} × {members}")))
    }
}

/// A signature found on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// Name as `blkid` prints it: `ext4`, `xfs`, `LVM2_member`, `linux_raid_member`, `gpt`, …
    pub name: String,
    /// Byte offset of its magic; of what only `blkid` sees, where the device or partition begins that carries it.
    pub offset: u64,
    /// Label or UUID, if it has one.
    pub label: Option<String>,
}

/// What `--overwrite-signature` is given for data that carry no signature.
pub const UNKNOWN_DATA: &str = "unknown-data";

/// Whether and how a target may be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteAccess {
    /// Files that Stend makes inside the directory; nothing else.
    OwnDirectory,
    /// After `--confirm=IDENTITY`, and after naming every signature listed.
    Confirm {
        /// What `--confirm` must be given.
        identity: String,
        /// Names that `--overwrite-signature` must be given, [`UNKNOWN_DATA`] among them; empty if the device is blank.
        signatures: Vec<String>,
    },
    /// Always: what is written goes nowhere.
    Nowhere,
    /// Never; no flag helps.
    Refused(Vec<Refusal>),
}
