//! Removes machines: domains that bear their mark, files that were made for them, their directory.

use crate::disks;
use crate::domain;
use crate::group::Group;
use crate::location::{Presence, presences};
use crate::notes::Notes;
use crate::reach;
use crate::virsh::Virsh;
use std::collections::BTreeSet;
use std::path::Path;
use stend_base::{Error, Result, say};

/// Removes the machines of this name, whatever of them is there.
///
/// Errors: as [`Group::find`]; `Preflight` where a run has one of them or libvirt does not answer; `Unsafe` where a domain with the UUID of
/// one does not bear its mark. What could not be removed is found by the next call.
pub fn down(name: &str, place: &Path) -> Result<Group> {
    let group = Group::find(name, place)?;
    reach::free(&group)?;
    undo(&group)?;
    Ok(group)
}

/// The same for machines that were just begun. Files stay while a domain has them.
pub(crate) fn undo(group: &Group) -> Result<()> {
    let virsh = group.virsh();
    let there = virsh.domains()?;
    for number in group.numbers().rev() {
        remove_from(group, number, &virsh, &there)?;
        if let Some(uri) = Notes::of(group, number)?.destination() {
            let other = Virsh::new(Some(&uri));
            // One that has nothing of it need not even answer.
            if presences(group, number, &other)?.1 != Presence::Absent {
                remove_from(group, number, &other, &other.domains()?)?;
            }
        }
    }
    group.numbers().try_for_each(|number| Notes::of(group, number)?.remove_files())?;
    disks::remove(group)?;
    group.forget()
}

/// Removes a machine from a libvirt that has these domains; whether it was there.
pub(crate) fn remove_from(group: &Group, number: u32, virsh: &Virsh, there: &BTreeSet<String>) -> Result<bool> {
    let uuid = group.uuid(number);
    if !there.contains(&uuid) {
        return Ok(false);
    }
    let text = match virsh.run(&["dumpxml", &uuid]) {
        // One that came is removed by its libvirt when the client that had it migrate was killed.
        Err(_) if !virsh.domains()?.contains(&uuid) => return Ok(false),
        text => text?,
    };
    must_be_ours(group, number, &text)?;
    // A domain that does not run cannot be ended; whether it runs is seen afterwards.
    let ended = virsh.run(&["destroy", &uuid]);
    // One that came from another libvirt is not known any more when it has ended.
    if virsh.domains()?.contains(&uuid) {
        let state = virsh.run(&["domstate", &uuid])?;
        if state.trim() != "shut off" {
            ended?;
        }
        virsh.run(&["undefine", &uuid])?;
    }
    Ok(true)
}

/// That a domain bears the mark of this machine.
pub(crate) fn must_be_ours(group: &Group, number: u32, xml: &str) -> Result<()> {
    let found = domain::read(xml).unwrap_or_default().mark;
    if found == Some(group.mark(number)) {
        return Ok(());
    }
    let uuid = group.uuid(number);
    Err(Error::refused(say!(
        "the domain `{uuid}` does not bear the mark of these machines any more; it is left alone",
        "на домене `{uuid}` больше нет метки этих машин; он не тронут"
    ))
    .hint(say!(
        "`virsh dumpxml {uuid}` shows it; remove it by hand if it is of no use",
        "его покажет `virsh dumpxml {uuid}`; если он не нужен, удалите его вручную"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::tests::kept_in;
    use crate::plan::xml;
    use stend_base::Kind;
    use stend_spec::vm::Accelerator;

    #[test]
    fn a_domain_without_the_mark_of_these_machines_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let group = kept_in(place.path());
        let own = xml(&group, 1, Accelerator::Tcg, None);
        assert!(must_be_ours(&group, 1, &own).is_ok());
        for other in
            ["", "<domain/>", &own.replace("number='1'", "number='2'"), &own.replace(&group.id, "0123456789abcdef")]
        {
            let error = must_be_ours(&group, 1, other).unwrap_err();
            assert!(error.kind == Kind::Unsafe && error.message.en.contains("left alone"), "{error}");
        }
    }
}
