//! What of a device stays when the machine is started anew and kernel names are given in another order: its identity and the name that udev
//! gives it by that. Reads only.

use crate::devices::Devices;
use crate::identity;
use crate::node::Node;
use crate::roots::{Roots, names};

/// udev's names of devices by what is on them: the next program that writes there takes these away.
const BY_CONTENTS: &str = "lvm-pv-uuid-";

/// A device, to be found again by others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasting {
    /// A path that leads to it as long as its identity does, where udev gives one; else that of the kernel's name.
    pub path: String,
    /// Its identity; `None` where it has none but what is on it.
    pub identity: Option<String>,
}

/// What stays of the device at a path.
pub fn lasting(path: &str) -> Lasting {
    let roots = Roots::host();
    of(&roots, &Devices::read(&roots), path)
}

/// Whether a path leads to the device that has this identity.
pub fn leads_to(path: &str, identity: &str) -> bool {
    let roots = Roots::host();
    of(&roots, &Devices::read(&roots), path).identity.as_deref() == Some(identity)
}

fn of(roots: &Roots, devices: &Devices, path: &str) -> Lasting {
    let node = devices.at(path);
    // A guest writes over what is on it.
    let known = |node| identity::of(roots, devices, node).filter(|known| !known.starts_with("fs-uuid:"));
    let identity = node.and_then(|node| known(node).or_else(|| identity::of_place(roots, node)));
    let path = node.and_then(|node| lasting_path(roots, node)).unwrap_or_else(|| path.to_string());
    Lasting { path, identity }
}

/// The first of udev's names of a device by its identity.
pub(crate) fn lasting_path(roots: &Roots, node: &Node) -> Option<String> {
    let links = roots.dev.join("disk/by-id");
    let leads = |name: &String| {
        let target = std::fs::read_link(links.join(name)).ok();
        target.is_some_and(|target| target.file_name().is_some_and(|file| file.to_string_lossy() == node.name))
    };
    let mut found = names(&links).into_iter().filter(|name| !name.starts_with(BY_CONTENTS));
    found.find(leads).map(|name| links.join(name).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Tree;

    #[test]
    fn a_drive_is_found_again_by_its_name_and_another_one_under_its_old_kernel_name_is_not_it() {
        let tree = Tree::new();
        let [ours, other] = ["naa.5000c500a1b2c3d4", "naa.5000c500ffffffff"].map(|wwn| [("device/wwid", wwn)]);
        tree.disk("sda", "8:0", "pci/0", &ours);
        tree.disk("sdb", "8:16", "pci/1", &other);
        let links = tree.roots.dev.join("disk/by-id");
        std::fs::create_dir_all(&links).unwrap();
        let link = |name: &str, to: &str| {
            drop(std::fs::remove_file(links.join(name)));
            std::os::unix::fs::symlink(format!("../../{to}"), links.join(name)).unwrap();
        };
        link("lvm-pv-uuid-x", "sda");
        link("wwn-0x5000c500a1b2c3d4", "sda");
        let of = |path: &str| of(&tree.roots, &Devices::read(&tree.roots), path);
        let identity = Some("wwn:0x5000c500a1b2c3d4".to_string());
        let by_id = links.join("wwn-0x5000c500a1b2c3d4").display().to_string();
        assert_eq!(of("/dev/sda"), Lasting { path: by_id.clone(), identity: identity.clone() });
        assert_eq!(of("/dev/sdb").path, "/dev/sdb", "udev gives it no name");
        // After a start of the machine the two are found in the other order.
        std::fs::write(tree.roots.sys.join("devices/pci/0/block/sda/device/wwid"), other[0].1).unwrap();
        std::fs::write(tree.roots.sys.join("devices/pci/1/block/sdb/device/wwid"), ours[0].1).unwrap();
        link("wwn-0x5000c500a1b2c3d4", "sdb");
        assert_ne!(of("/dev/sda").identity, identity);
        assert_eq!(of("/dev/disk/by-id/wwn-0x5000c500a1b2c3d4").identity, identity);
        assert_eq!(of("/dev/sdz").identity, None);
    }
}
