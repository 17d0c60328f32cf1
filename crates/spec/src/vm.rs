//! Virtual machines of a hypervisor as their file describes them: so many alike, with disks of their own.

use stend_base::{Bytes, Nanos};

/// Most characters of the name of machines: libvirt, the kernel and a file get it with more around it.
pub const NAME_MAX: usize = 30;
/// Number of the last machine at most; as many can make load in one run.
pub const NUMBER_MAX: u32 = 64;

/// Machines that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machines {
    /// Name of them all, 1 to 30 letters, digits, `-` and `_`; each has a number behind it.
    pub name: String,
    /// What libvirt is reached by (`virsh --connect`); `None`: what `virsh` takes by itself.
    pub connection: Option<String>,
    /// How many, 1 to 64.
    pub count: u32,
    /// Virtual CPUs of each, 1 to 64.
    pub cpus: u32,
    /// Memory of each, 256 MiB to 1 TiB.
    pub memory: Bytes,
    /// How their instructions are executed; `None`: by KVM where the host has it.
    pub accelerator: Option<Accelerator>,
    /// How long their guests may take until they answer.
    pub boot_limit: Nanos,
    /// Signatures on its devices that may be lost.
    pub overwrite: Vec<String>,
    /// Where they run, one item for each in turn; empty: where the host puts them.
    pub placement: Vec<Place>,
    /// Disks of each, 1 to 16.
    pub disks: Vec<Disk>,
}

/// Where a machine runs; at least one of both is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// CPUs of the host on which its CPUs and everything else of it may run; empty: all.
    pub cpus: Vec<u32>,
    /// NUMA node of the host that all of its memory is on; `None`: any.
    pub memory_node: Option<u32>,
}

impl Machines {
    /// Where the machine of this number, from 1, runs; `None`: where the host puts it.
    pub fn place(&self, number: u32) -> Option<&Place> {
        let turn = (number.max(1) as usize - 1).checked_rem(self.placement.len())?;
        self.placement.get(turn)
    }
}

/// Whether this can be the name of machines: a directory, a domain of libvirt and a file are called by it.
pub fn is_name(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        // It must not look like an option.
        && text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
}

/// The name of the machines and the number of one of them, where this is the name of one: `web-1`.
pub fn numbered(text: &str) -> Option<(&str, u32)> {
    let (name, number) = text.rsplit_once('-')?;
    let parsed = number.parse().ok().filter(|number| (1..=NUMBER_MAX).contains(number))?;
    // Two spellings of one machine would be two hosts.
    (is_name(name) && number == parsed.to_string()).then_some((name, parsed))
}

/// How instructions of a guest are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// By the processor.
    Kvm,
    /// In software.
    Tcg,
}

impl Accelerator {
    /// As files of machines and answers have it.
    pub fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        }
    }
}

/// A disk that every machine has, each its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// What it lies on.
    pub place: DiskPlace,
    /// What the guest sees it as.
    pub bus: Bus,
    /// How the host caches it; `None`: as libvirt does by itself.
    pub cache: Option<Cache>,
    /// How the host reads and writes it; `None`: as libvirt does by itself.
    pub io: Option<DiskIo>,
    /// Whether a thread of its own handles its I/O.
    pub iothread: bool,
    /// Most I/Os per second, reads and writes together.
    pub iops: Option<u32>,
    /// Most bytes per second, reads and writes together.
    pub bandwidth: Option<Bytes>,
}

/// What a disk lies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskPlace {
    /// A new file in this directory.
    File {
        /// The directory, an absolute path.
        directory: String,
        /// Size, 1 MiB to 16 TiB.
        size: Bytes,
        /// Its blocks are allocated when they are written first.
        sparse: bool,
    },
    /// A block device for each machine, in the order of their numbers.
    Devices(Vec<String>),
}

/// What a guest sees a disk as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bus {
    /// A virtio block device.
    #[default]
    Virtio,
    /// A disk behind a virtio SCSI controller of its own.
    Scsi,
}

/// How the host caches a disk, in QEMU's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// Past the page cache, flushes go through.
    None,
    /// Through the page cache, flushes go through.
    Writeback,
    /// Through the page cache, every write is flushed.
    Writethrough,
    /// Past the page cache, every write is flushed.
    Directsync,
    /// Through the page cache, flushes are dropped.
    Unsafe,
}

/// How the host reads and writes a disk, in QEMU's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskIo {
    /// By threads.
    Threads,
    /// By Linux AIO.
    Native,
    /// By io_uring.
    IoUring,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_named_by_its_group_and_its_number_in_one_way() {
        assert_eq!(numbered("web-1"), Some(("web", 1)));
        assert_eq!(numbered("a-b-64"), Some(("a-b", 64)));
        for none in ["web", "web-", "web-0", "web-01", "web-65", "-1", "a b-1", "we/b-1", "web-+1"] {
            assert_eq!(numbered(none), None, "{none}");
        }
    }
}
