//! Commands for arrays of md, and which of them may lose a member.

use crate::arrays::degraded;
use crate::command::words;
use crate::node::Node;
use crate::roots::text;
use stend_base::{Say, say};

pub(crate) fn give_up(array: &str, member: &str) -> Vec<String> {
    words("mdadm --quiet", &[array, "--fail", member])
}

pub(crate) fn erase(member: &str) -> Vec<String> {
    words("mdadm --quiet --zero-superblock", &[member])
}

/// A member is taken out and comes back as a new one.
pub(crate) fn rebuild(array: &str, member: &str) -> [Vec<String>; 4] {
    [give_up(array, member), remove(array, member), erase(member), add(array, member)]
}

pub(crate) fn remove(array: &str, member: &str) -> Vec<String> {
    words("mdadm --quiet", &[array, "--remove", member])
}

pub(crate) fn add(array: &str, member: &str) -> Vec<String> {
    words("mdadm --quiet", &[array, "--add", member])
}

/// Whether an array of this level, as the kernel calls it, has its data without one of its members, too.
pub(super) fn is_redundant(level: &str) -> bool {
    ["raid1", "raid4", "raid5", "raid6", "raid10"].contains(&level)
}

/// An array that would lose data, or that is not whole, is not touched.
pub(super) fn must_stand_a_loss(array: &Node) -> std::result::Result<(), Say> {
    let level = text(array.sysfs.join("md/level")).unwrap_or_default();
    let name = &array.name;
    if !is_redundant(&level) {
        return Err(say!(
            "{name} is {level}: without a member all of its data would be lost",
            "{name} — {level}: без одного накопителя были бы потеряны все данные"
        ));
    }
    match degraded(array) {
        0 => Ok(()),
        missing => {
            Err(say!("{name} lacks {missing} members already", "в {name} уже не хватает накопителей: {missing}"))
        }
    }
}
