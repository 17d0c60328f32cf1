//! Block devices that this host hands out over NVMe-oF: the kernel's target opens them without a holder, so that nothing else
//! shows that they are used. Reads only.

use crate::devices::Node;
use crate::roots::{Roots, names, number, text};

/// Where the kernel's NVMe-oF target is set up, below `/sys`.
const SUBSYSTEMS: &str = "kernel/config/nvmet/subsystems";

/// A device that is handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    /// Its path, as the target was told.
    pub path: String,
    /// Under which name it is handed out.
    pub name: String,
    /// UUID of the namespace, by which hosts that connect to it know it.
    uuid: String,
}

impl Export {
    /// Whether a device of this host is the other end of it.
    pub(crate) fn ends_in(&self, node: &Node) -> bool {
        is_namespace(node, &self.uuid)
    }
}

/// Whether a device is the NVMe namespace with this UUID.
pub(crate) fn is_namespace(node: &Node, uuid: &str) -> bool {
    let known = text(node.sysfs.join("wwid"));
    known.as_deref().and_then(|id| id.strip_prefix("uuid.")).is_some_and(|own| own.eq_ignore_ascii_case(uuid))
}

/// Everything that is handed out now.
pub(crate) fn all(roots: &Roots) -> Vec<Export> {
    let subsystems = roots.sys.join(SUBSYSTEMS);
    let of = |name: String| {
        let namespaces = subsystems.join(&name).join("namespaces");
        let one = |of: &String| {
            let namespace = namespaces.join(of);
            let enabled = number(namespace.join("enable")) == Some(1);
            let (path, uuid) = (text(namespace.join("device_path"))?, text(namespace.join("device_uuid"))?);
            enabled.then(|| Export { path, name: name.clone(), uuid })
        };
        names(&namespaces).iter().filter_map(one).collect::<Vec<_>>()
    };
    names(&subsystems).into_iter().flat_map(of).collect()
}

/// Whether this host is connected to a subsystem.
pub(crate) fn is_connected(roots: &Roots, subsystem: &str) -> bool {
    let class = roots.sys.join("class/nvme");
    names(&class).iter().any(|name| text(class.join(name).join("subsysnqn")).as_deref() == Some(subsystem))
}
