//! What the kernel tells of an array of md. Reads only.

use crate::node::Node;
use crate::roots::{number, text};

/// How far the synchronisation of an array is: its action, and done of all sectors. `None` when there is none.
pub(crate) fn syncing(array: &Node) -> Option<(String, u64, u64)> {
    let action = text(array.sysfs.join("md/sync_action")).filter(|action| action != "idle" && action != "frozen")?;
    let told = text(array.sysfs.join("md/sync_completed")).unwrap_or_default();
    let mut numbers = told.split('/').map(|part| part.trim().parse().unwrap_or(0));
    Some((action, numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)))
}

/// Members that an array lacks.
pub(crate) fn degraded(array: &Node) -> u64 {
    number(array.sysfs.join("md/degraded")).unwrap_or(0)
}

/// What an array has of its redundancy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Redundancy {
    /// All of it.
    Whole,
    /// It is being made: the action, and done of all sectors.
    Syncs(String, u64, u64),
    /// Nothing was written since it was assembled, and until then nothing is synchronised.
    AutoReadOnly,
    /// It is to be made, and nothing is done about it yet.
    Pending,
    /// So many members are lacking, and nothing is done about it.
    Lacks(u64),
}

/// What an array has of its redundancy now.
//= linux, Documentation/admin-guide/md.rst, "array_state": "read-auto: like readonly, but behaves like clean on a write request."
//= linux, Documentation/admin-guide/md.rst, "resync_start": "none" where no resync is needed
pub(crate) fn redundancy(array: &Node) -> Redundancy {
    let has = |file: &str| text(array.sysfs.join("md").join(file));
    match (syncing(array), degraded(array)) {
        (Some((action, done, all)), _) => Redundancy::Syncs(action, done, all),
        _ if has("array_state").as_deref() == Some("read-auto") => Redundancy::AutoReadOnly,
        (None, lacking @ 1..) => Redundancy::Lacks(lacking),
        (None, 0) if has("resync_start").is_some_and(|from| from != "none") => Redundancy::Pending,
        (None, 0) => Redundancy::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Devices;
    use crate::recorded::Tree;

    #[test]
    fn an_array_is_whole_only_where_nothing_is_left_to_be_synchronised() {
        let of = |files: &[(&str, &str)]| {
            let tree = Tree::new();
            let files: Vec<(String, &str)> = files.iter().map(|(file, text)| (format!("md/{file}"), *text)).collect();
            let files: Vec<(&str, &str)> = files.iter().map(|(file, text)| (file.as_str(), *text)).collect();
            tree.over("md0", "9:0", &[], &files);
            redundancy(Devices::read(&tree.roots).by_name("md0").unwrap())
        };
        let idle = ("sync_action", "idle\n");
        let whole = [idle, ("degraded", "0\n"), ("array_state", "clean\n"), ("resync_start", "none\n")];
        assert_eq!(of(&whole), Redundancy::Whole);
        // Assembled with start_ro, as Debian has it: `cat /proc/mdstat` shows "auto-read-only" and "resync=PENDING".
        let pending = [idle, ("degraded", "0\n"), ("array_state", "read-auto\n"), ("resync_start", "0\n")];
        assert_eq!(of(&pending), Redundancy::AutoReadOnly);
        let spare = [idle, ("degraded", "1\n"), ("array_state", "read-auto\n"), ("resync_start", "none\n")];
        assert_eq!(of(&spare), Redundancy::AutoReadOnly);
        let begins = [idle, ("degraded", "0\n"), ("array_state", "clean\n"), ("resync_start", "0\n")];
        assert_eq!(of(&begins), Redundancy::Pending);
        let lacks = [idle, ("degraded", "1\n"), ("array_state", "clean\n"), ("resync_start", "none\n")];
        assert_eq!(of(&lacks), Redundancy::Lacks(1));
        let recovers = [("sync_action", "recover\n"), ("sync_completed", "8 / 64\n"), ("degraded", "1\n")];
        assert_eq!(of(&recovers), Redundancy::Syncs("recover".into(), 8, 64));
    }
}
