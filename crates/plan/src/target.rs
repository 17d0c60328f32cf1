//! What a plan must know of its target. Data only.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Say};
use stend_spec::topology::Topology;

/// What a plan must know of its targets. Where they are several and differ, what holds for each of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTarget {
    /// How many there are; at least 1.
    pub count: u32,
    /// Load hosts, each with so many targets; at least 1.
    #[serde(default = "one")]
    pub hosts: u32,
    /// Range that exists now on each: device or file size; 0 for a directory.
    pub size: Bytes,
    /// Room for a test file of our own in each; `None` for devices and foreign files.
    pub room: Option<Room>,
    /// Smallest direct I/O.
    pub logical_block: Bytes,
    /// It may take discards; a block device can say that it does not.
    pub discards: bool,
    /// It is one of the devices that keep nothing.
    pub null: Option<NullDevice>,
    /// CPUs and NUMA nodes of the host.
    pub topology: Topology,
    /// Writes are allowed and confirmed; otherwise the reason why write cases do not run.
    pub writes: std::result::Result<(), Say>,
}

fn one() -> u32 {
    1
}

impl PlanTarget {
    /// A directory on a file system with this room, of which nothing else is known: blocks of 512 bytes, and it may be written.
    pub fn directory(room: Room) -> PlanTarget {
        PlanTarget { room: Some(room), ..PlanTarget::device(Bytes(0)) }
    }

    /// A device of this size, of which nothing else is known: blocks of 512 bytes, and it may be written.
    pub fn device(size: Bytes) -> PlanTarget {
        PlanTarget {
            count: 1,
            hosts: 1,
            size,
            room: None,
            logical_block: Bytes(512),
            discards: true,
            null: None,
            topology: Default::default(),
            writes: Ok(()),
        }
    }

    /// Whether it may be written and keeps what is written.
    pub(crate) fn is_fillable(&self) -> bool {
        self.writes.is_ok() && self.null.is_none()
    }
}

/// Space of the file system in which a test file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Total size.
    pub total: Bytes,
    /// Free for us.
    pub free: Bytes,
}

/// A device of the kernel that keeps nothing: what is written to it is gone, and it takes no direct I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NullDevice {
    /// `/dev/null`: there is nothing to read either.
    Null,
    /// `/dev/zero`: reads give zeroes.
    Zero,
}
