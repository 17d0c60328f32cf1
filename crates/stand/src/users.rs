//! Processes that have a block device open. Reads only.

use crate::roots::{Roots, names, text};
use std::path::Path;
use stend_sys::block::{self, DevNo};

/// A process that holds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: u32,
    /// As `ps` prints it.
    pub name: String,
}

/// Every process but our own that has one of these devices open.
pub(crate) fn of(roots: &Roots, numbers: &[DevNo]) -> Vec<Process> {
    let ours = std::process::id();
    let pids = names(&roots.proc).into_iter().filter_map(|name| name.parse::<u32>().ok());
    pids.filter(|&pid| pid != ours && holds(roots, pid, numbers) && !is_our_fork(roots, pid))
        .map(|pid| Process { pid, name: text(roots.proc.join(format!("{pid}/comm"))).unwrap_or_default() })
        .collect()
}

fn holds(roots: &Roots, pid: u32, numbers: &[DevNo]) -> bool {
    let fds = roots.proc.join(format!("{pid}/fd"));
    names(&fds).iter().any(|fd| {
        let device = block::block_device_at(&fds.join(fd)).ok().flatten();
        device.is_some_and(|device| numbers.contains(&device))
    })
}

/// A child between fork and exec still has copies of our own descriptors.
fn is_our_fork(roots: &Roots, pid: u32) -> bool {
    let exe = |who: &Path| std::fs::read_link(who.join("exe")).ok();
    let (child, own) = (roots.proc.join(pid.to_string()), roots.proc.join("self"));
    let parent = stat_field(&child, 4);
    parent == Some(u64::from(std::process::id())) && exe(&child).is_some() && exe(&child) == exe(&own)
}

/// Whether a process is gone and only waits for its parent to notice: it has let go of everything. One whose first thread is
/// gone while another hangs in the kernel has not.
pub(crate) fn is_reapable(process: &Path) -> bool {
    let state = text(process.join("stat")).and_then(|stat| stat.rsplit_once(')')?.1.trim_start().chars().next());
    matches!(state, Some('Z' | 'X')) && stat_field(process, 20).is_some_and(|threads| threads <= 1)
}

/// Field of `/proc/PID/stat` by its number in proc(5), from 3 on. The name in field 2 may hold anything, so
/// counting starts behind its last parenthesis.
pub(crate) fn stat_field(process: &Path, field: usize) -> Option<u64> {
    let stat = text(process.join("stat"))?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(field.checked_sub(3)?)?.parse().ok()
}

/// Generations of processes that are looked at.
const ANCESTORS_MAX: usize = 64;

/// What this process comes from, its parent first, as far as can be seen.
pub(crate) fn ancestors(roots: &Roots) -> impl Iterator<Item = u64> {
    let parent = |pid: &u64| stat_field(&roots.proc.join(pid.to_string()), 4).filter(|parent| *parent > 0);
    std::iter::successors(stat_field(&roots.proc.join("self"), 4), parent).take(ANCESTORS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_only_waits_for_its_parent_is_gone_unless_a_thread_of_it_hangs() {
        let dir = tempfile::tempdir().unwrap();
        let reapable = |state: &str, threads: u32| {
            let zeros = "0 ".repeat(16);
            std::fs::write(dir.path().join("stat"), format!("7 (a) {state} {zeros}{threads} 0 5")).unwrap();
            is_reapable(dir.path())
        };
        assert_eq!([reapable("Z", 1), reapable("Z", 2), reapable("S", 1)], [true, false, false]);
    }

    #[test]
    fn fields_are_counted_behind_a_name_with_spaces_and_parentheses() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("stat"), "7 (a) b) S 42 7 7 0").unwrap();
        assert_eq!(stat_field(dir.path(), 4), Some(42));
        assert_eq!(stat_field(dir.path(), 99), None);
        assert!(stat_field(Path::new("/proc/self"), 22).is_some_and(|start| start > 0));
    }
}
