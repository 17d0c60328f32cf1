//! Block devices that machines have for disks, as they are kept between commands. Must not open one.

use stend_spec::vm::{DiskPlace, Machines};

/// A block device that a machine has for a disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiskDevice {
    /// Its path: one that stays when kernel names are given in another order, where there is such.
    pub path: String,
    /// What the device at that path must be; `None` where nothing tells it from others.
    pub identity: Option<String>,
}

impl DiskDevice {
    /// A line: path and identity, with a tab between them, which neither has.
    pub(crate) fn line(&self) -> String {
        match &self.identity {
            Some(identity) => format!("{}\t{identity}\n", self.path),
            None => format!("{}\n", self.path),
        }
    }

    fn of_line(line: &str) -> DiskDevice {
        match line.split_once('\t') {
            Some((path, identity)) => DiskDevice { path: path.to_string(), identity: Some(identity.to_string()) },
            None => DiskDevice { path: line.to_string(), identity: None },
        }
    }
}

/// Those of all machines: of each disk one for each machine, or none.
pub(crate) fn of_lines(lines: &str, machines: &Machines) -> Vec<Vec<DiskDevice>> {
    let (mut lines, count) = (lines.lines().map(DiskDevice::of_line), machines.count as usize);
    let mut of = |place: &DiskPlace| match place {
        DiskPlace::File { .. } => Vec::new(),
        DiskPlace::Devices(_) => lines.by_ref().take(count).collect(),
    };
    machines.disks.iter().map(|disk| of(&disk.place)).collect()
}
