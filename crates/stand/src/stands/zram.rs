//! Which zram device is of which stand: the kernel gives such a device a number and no name. Reads only.

use super::journal;
use super::names::Names;
use crate::node::Node;
use crate::owner::boot_id;
use crate::roots::Roots;

/// What names a zram device that a stand has made and not taken away; `None` of any other device.
///
/// A number may be given to another device, so it counts only together with the sequence number that was noted when the device was
/// made. Without one (Linux before 5.15) no device is known again.
pub(crate) fn uuid(roots: &Roots, node: &Node) -> Option<String> {
    let number = node.name.strip_prefix("zram")?.parse().ok()?;
    let (sequence, boot) = (node.sequence()?, boot_id(roots));
    journal::known(roots).iter().find_map(|name| {
        let journal = journal::look(roots, name).ok()??;
        let (layer, index) = journal.zram_at(number, sequence, &boot)?;
        Some(Names { stand: name, nonce: journal.stand()?.nonce }.uuid(layer, index))
    })
}
