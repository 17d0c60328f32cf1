//! What machines are there and what they do, as libvirt says. Changes nothing.

use crate::group::{self, Group};
use crate::location;
use crate::notes::Notes;
use crate::virsh::Virsh;
use std::path::Path;
use stend_base::{Error, Result, Say, say};
use stend_spec::vm::Accelerator;

/// Machines of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Their name.
    pub name: String,
    /// How their guests are executed, if it was noted.
    pub how: Option<Accelerator>,
    /// Each, by its number.
    pub machines: Vec<Machine>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// What a user calls it.
    pub name: String,
    /// What it does.
    pub state: State,
    /// The libvirt that it has migrated to; `None`: it is with its own.
    pub away: Option<String>,
    /// Serial numbers of its disks.
    pub serials: Vec<String>,
    /// Files or devices of its disks.
    pub disks: Vec<String>,
    /// A run is using it.
    pub in_use: bool,
    /// Disks or limits of it are other than its file says: a run is changing it, or was killed meanwhile.
    pub changed: bool,
}

/// What a machine does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// libvirt has no such domain.
    Missing,
    /// In libvirt's words: `running`, `paused`, `shut off`, …
    Is(String),
}

impl State {
    /// For people.
    pub fn shown(&self) -> Say {
        match self {
            State::Missing => say!("missing", "нет"),
            State::Is(state) => match state.as_str() {
                "running" => say!("running", "работает"),
                "paused" => say!("paused", "приостановлена"),
                "shut off" => say!("shut off", "выключена"),
                other => Say::same(other),
            },
        }
    }
}

/// The machines of this name.
///
/// Errors: as [`Group::find`], and `Preflight` where libvirt does not answer.
pub fn status(name: &str, place: &Path) -> Result<Status> {
    let group = Group::find(name, place)?;
    let virsh = group.virsh();
    let there = virsh.domains()?;
    let one = |number: u32| {
        let uuid = group.uuid(number);
        let away = location::away(&group, number)?;
        let state = match (&away, there.contains(&uuid)) {
            (Some(uri), _) => State::Is(Virsh::new(Some(uri)).run(&["domstate", &uuid])?.trim().to_string()),
            (None, true) => State::Is(virsh.run(&["domstate", &uuid])?.trim().to_string()),
            (None, false) => State::Missing,
        };
        let (name, in_use) = (group.name_of(number), group.is_in_use(number));
        let changed = !Notes::of(&group, number)?.is_empty();
        let (serials, disks) = (group.serials(number), group.paths(number).disks);
        Ok(Machine { name, state, away, serials, disks, in_use, changed })
    };
    let how = group.accelerator();
    Ok(Status { name: name.to_string(), how, machines: group.numbers().map(one).collect::<Result<_>>()? })
}

/// All machines that are kept, and why nothing can be said of others: their libvirt does not answer, or what is kept of them is damaged.
pub fn all(place: &Path) -> (Vec<Status>, Vec<Box<Error>>) {
    let (mut found, mut failures) = (Vec::new(), Vec::new());
    for name in group::names(place) {
        match status(&name, place) {
            Ok(status) => found.push(status),
            Err(error) => failures.push(error),
        }
    }
    (found, failures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::tests::kept_in;

    #[test]
    fn machines_of_which_nothing_can_be_said_hide_no_others() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(all(place.path()), (Vec::new(), Vec::new()));
        std::fs::create_dir(place.path().join("damaged")).unwrap();
        let (found, failures) = all(place.path());
        assert!(found.is_empty() && failures.len() == 1, "{failures:?}");
        assert!(failures[0].message.en.contains("damaged"), "{}", failures[0]);
        kept_in(place.path());
        let (found, failures) = all(place.path());
        assert_eq!(found.len() + failures.len(), 2, "{failures:?}");
    }
}
