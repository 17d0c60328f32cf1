//! Mirrors of two hosts (DRBD) that this host has a copy of. Reads only.

use crate::command::{self, words};
use crate::devices::Devices;
use crate::marks;
use crate::node::Node;
use crate::roots::{Roots, text};
use stend_record::mirrors::{Mirror, minor_of, mirrors};

/// The mirror with this number, as the kernel tells of it.
pub(crate) fn at(roots: &Roots, minor: u32) -> Option<Mirror> {
    let told = text(roots.proc.join("drbd"))?;
    mirrors(&told, |number| number == minor).into_iter().next()
}

/// UUID in the metadata of this host's copy of a mirror; `None` of any other device, and where the copy is gone or carries none.
pub(crate) fn uuid(devices: &Devices, node: &Node) -> Option<String> {
    minor_of(&node.name)?;
    let below = node.slaves.iter().filter_map(|name| devices.by_name(name));
    below.filter_map(|below| marks::on(devices, below).ok()).flatten().find(|mark| mark.name == "drbd")?.uuid
}

/// Version of the module, as it is loaded, else as it would be; `None`: there is none.
pub(crate) fn version(roots: &Roots) -> Option<String> {
    text(roots.sys.join("module/drbd/version")).or_else(|| {
        let told = command::printed(&words("modinfo --field version", &["drbd"])).ok()?;
        Some(told.trim().to_string()).filter(|version| !version.is_empty())
    })
}

/// Whether commands and answers of a version are known: 8.4 is the one of Linux since 3.8.
pub(crate) fn is_known(version: &str) -> bool {
    version.starts_with("8.4.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Tree;

    #[test]
    fn a_mirror_is_known_by_its_number_and_another_version_is_not_known() {
        let tree = Tree::new();
        assert_eq!(at(&tree.roots, 5), None);
        tree.put("proc/drbd", "version: 8.4.11 (api:1/proto:86-101)\n\n 5: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n");
        assert!(at(&tree.roots, 5).is_some_and(|mirror| mirror.is_whole()) && at(&tree.roots, 6).is_none());
        let many: String = (0..99).map(|minor| format!("{minor}: cs:WFConnection ro:a/b ds:c/d\n")).collect();
        tree.put("proc/drbd", many);
        assert!(at(&tree.roots, 98).is_some(), "however many there are before it");
        tree.put("sys/module/drbd/version", "9.2.4\n");
        assert_eq!(version(&tree.roots).as_deref(), Some("9.2.4"));
        assert!(!is_known("9.2.4") && is_known("8.4.11") && !is_known("8.3.16"));
    }
}
