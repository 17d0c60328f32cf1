//! What the kernel shows of the mirror of a stand: known by the UUID of this host's copy, not by its number alone.

use super::{KernelState, same};
use crate::change::MirrorDevice;
use crate::mirrors;
use crate::node::Node;
use stend_record::mirrors::Mirror;

impl KernelState<'_> {
    /// How a mirror is, as this host sees it; `None`: it is not there.
    pub(crate) fn mirror(&self, of: &MirrorDevice) -> Option<Mirror> {
        self.mirror_device(of).and_then(|_| mirrors::at(self.roots, of.minor))
    }

    pub(super) fn mirror_device(&self, of: &MirrorDevice) -> Option<&Node> {
        let node = self.devices.by_name(&format!("drbd{}", of.minor))?;
        mirrors::uuid(&self.devices, node).is_some_and(|uuid| same(&uuid, &of.uuid)).then_some(node)
    }

    pub(super) fn is_filled(&self, of: &MirrorDevice) -> bool {
        self.mirror(of).is_some_and(|mirror| !mirror.is_new())
    }

    pub(super) fn is_primary(&self, of: &MirrorDevice) -> bool {
        self.mirror(of).is_some_and(|mirror| mirror.is_primary())
    }
}
