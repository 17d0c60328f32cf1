//! One block device of a host, as sysfs shows it.

use crate::roots::{number, text};
use std::path::PathBuf;
use stend_sys::block::{DevNo, LoopBacking};

/// One block device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Kernel name.
    pub name: String,
    pub number: DevNo,
    /// Bytes.
    pub size: u64,
    /// Its directory in sysfs.
    pub sysfs: PathBuf,
    /// For a partition: the disk, and where on it.
    pub partition: Option<Slot>,
    pub holders: Vec<String>,
    pub slaves: Vec<String>,
    /// An array of md: those of its `slaves` that it has in reserve.
    pub reserve: Vec<String>,
    pub read_only: bool,
    /// For a loop device: what is behind it.
    pub backing: Option<LoopBacking>,
    /// For a volume of ZFS: the name of its dataset.
    pub dataset: Option<String>,
}

/// Place of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Kernel name of the disk.
    pub disk: String,
    pub number: u32,
    /// First byte.
    pub start: u64,
}

impl Node {
    /// A number that no other device gets until the machine is started anew; `None` before Linux 5.15.
    //= linux, Documentation/ABI/stable/sysfs-block, /sys/block/<disk>/diskseq: "a monotonically increasing number assigned to every disk"
    pub(crate) fn sequence(&self) -> Option<u64> {
        number(self.sysfs.join("diskseq"))
    }

    /// The serial number on the label of a drive, whatever else it is known by.
    pub(crate) fn serial(&self) -> Option<String> {
        let plain = ["serial", "device/serial"].iter().find_map(|file| text(self.sysfs.join(file)));
        plain.or_else(|| {
            // SCSI page 80h: four bytes of header, then the serial number.
            let page = std::fs::read(self.sysfs.join("device/vpd_pg80")).ok()?;
            let serial = String::from_utf8_lossy(page.get(4..)?).trim_matches(['\0', ' ']).to_string();
            (!serial.is_empty()).then_some(serial)
        })
    }
}
