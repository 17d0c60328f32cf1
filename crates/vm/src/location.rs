//! Which libvirt has a machine: its own, or one that it migrated to. Must not change a machine.
//!
//! Where it goes is noted before it goes. What both libvirts say then tells where it is, whatever was killed meanwhile.

use crate::group::Group;
use crate::notes::Notes;
use crate::placement::processes_of;
use crate::virsh::Virsh;
use std::path::Path;
use stend_base::Result;

/// What a libvirt says of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It has no such domain.
    Absent,
    /// It knows the domain, and no process is behind it.
    Off,
    /// Its guest does not run: one that comes, one that has gone, or one that was stopped.
    Paused,
    /// Its guest runs.
    Runs,
}

/// What this libvirt says of a machine.
pub(crate) fn presence(virsh: &Virsh, uuid: &str) -> Result<Presence> {
    if !virsh.domains()?.contains(uuid) {
        return Ok(Presence::Absent);
    }
    Ok(match virsh.run(&["domstate", uuid])?.trim() {
        "running" => Presence::Runs,
        "shut off" | "crashed" => Presence::Off,
        _ => Presence::Paused,
    })
}

/// Which of two libvirts has a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Its own.
    Own,
    /// The one that it was to migrate to.
    Other,
    /// Both have a copy that does not run: it goes from one to the other at this moment, or something was killed then.
    Unknown,
}

/// Until its guest runs at the other libvirt, a machine is where it was.
pub(crate) fn found(own: Presence, other: Presence) -> Found {
    match (own, other) {
        (_, Presence::Runs) => Found::Other,
        (Presence::Off | Presence::Absent, Presence::Paused) => Found::Other,
        (Presence::Paused, Presence::Paused) => Found::Unknown,
        _ => Found::Own,
    }
}

/// What its own libvirt says of a machine, and the one that it was to migrate to.
///
/// Errors: `Preflight` where one of both does not answer, and an emulator of the machine may be with it.
pub(crate) fn presences(group: &Group, number: u32, other: &Virsh) -> Result<(Presence, Presence)> {
    let uuid = group.uuid(number);
    // Counted first: one that ends meanwhile is not missed.
    let emulators = processes_of(&uuid, Path::new("/proc")).len();
    let own = presence(&group.virsh(), &uuid)?;
    Ok((own, of_destination(presence(other, &uuid), own, emulators)?))
}

/// Both libvirts are on this machine, and so are their emulators: where there is none but that of its own libvirt, another one that does
/// not answer has nothing of the machine.
fn of_destination(told: Result<Presence>, own: Presence, emulators: usize) -> Result<Presence> {
    let of_own = usize::from(matches!(own, Presence::Paused | Presence::Runs));
    match told {
        Err(_) if emulators <= of_own => Ok(Presence::Absent),
        told => told,
    }
}

/// The URI of the libvirt that has a machine which migrated; `None`: its own has it.
///
/// Errors: as [`presences`].
pub(crate) fn away(group: &Group, number: u32) -> Result<Option<String>> {
    let Some(uri) = Notes::of(group, number)?.destination() else { return Ok(None) };
    let (own, other) = presences(group, number, &Virsh::new(Some(&uri)))?;
    Ok((found(own, other) == Found::Other).then_some(uri))
}

/// The libvirt that has a machine.
///
/// Errors: as [`away`].
pub(crate) fn virsh(group: &Group, number: u32) -> Result<Virsh> {
    Ok(away(group, number)?.map_or_else(|| group.virsh(), |uri| Virsh::new(Some(&uri))))
}

#[cfg(test)]
mod tests {
    use super::Presence::{Absent, Off, Paused, Runs};
    use super::*;
    use stend_base::{Error, Say};

    #[test]
    fn a_machine_is_where_its_guest_runs_and_until_then_where_it_was() {
        for (own, other, expected) in [
            (Runs, Absent, Found::Own),
            // Its memory is being copied.
            (Runs, Paused, Found::Own),
            // It has the last of its memory copied.
            (Paused, Paused, Found::Unknown),
            // It runs, and its own libvirt has not heard of that.
            (Paused, Runs, Found::Other),
            (Off, Runs, Found::Other),
            // Stopped there, such as by an error of its disk.
            (Off, Paused, Found::Other),
            (Off, Off, Found::Own),
            (Off, Absent, Found::Own),
            (Paused, Absent, Found::Own),
            (Absent, Runs, Found::Other),
        ] {
            assert_eq!(found(own, other), expected, "{own:?} {other:?}");
        }
    }

    #[test]
    fn a_destination_that_does_not_answer_has_only_what_has_an_emulator() {
        let silent = || Err(Error::preflight(Say::same("no libvirt")));
        for (own, emulators, expected) in [
            (Runs, 1, Some(Absent)),
            (Paused, 1, Some(Absent)),
            (Off, 0, Some(Absent)),
            (Absent, 0, Some(Absent)),
            // Emulators outlive the daemon: the guest may run there.
            (Off, 1, None),
            (Absent, 1, None),
            // One that came, or that waits for its guest.
            (Runs, 2, None),
            (Paused, 2, None),
        ] {
            let told = of_destination(silent(), own, emulators).ok();
            assert_eq!(told, expected, "{own:?} {emulators}");
            assert_eq!(of_destination(Ok(Paused), own, emulators).ok(), Some(Paused), "what it says counts");
        }
    }
}
