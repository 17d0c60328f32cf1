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
