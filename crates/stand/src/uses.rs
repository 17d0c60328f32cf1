//! What is known of the processes that have something open.

use crate::node::Node;
use crate::roots::{Roots, text};
use std::collections::BTreeMap;
use stend_sys::opened::{FileId, Opened};

/// A process that holds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: u32,
    /// As `ps` prints it.
    pub name: String,
}

impl Process {
    /// The process with this id, without a name if it has ended.
    pub(crate) fn of(roots: &Roots, pid: u32) -> Process {
        Process { pid, name: text(roots.proc.join(format!("{pid}/comm"))).unwrap_or_default() }
    }
}

/// That a process has something open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    pub process: Process,
    pub of: Opened,
    /// It may write through this.
    pub writes: bool,
}

/// Who has which block device open, and which file that is behind one, at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Users {
    /// Files behind loop devices by the kernel names of these, each under every number that it has: an overlay shows it under another.
    pub files: BTreeMap<String, Vec<FileId>>,
    pub uses: Vec<Use>,
}

impl Users {
    /// The file behind a loop device, under each of its numbers; none of anything else.
    pub(crate) fn files_of(&self, node: &Node) -> &[FileId] {
        self.files.get(&node.name).map_or(&[], Vec::as_slice)
    }
}
