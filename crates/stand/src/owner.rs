//! Who uses a target: the note that a run leaves in its lease or marker, and whether that run still lives.

use crate::roots::{Roots, text};
use crate::users::{is_reapable, stat_field};
use serde::{Deserialize, Serialize};
use std::path::Path;
use stend_record::Refusal;

/// A run that wants to write, as others will see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Id of the run; also the name of its directory `.stend-<id>`.
    pub run_id: String,
    /// Path of its run file.
    pub run_file: String,
    /// Path of the ledger that it keeps for the judgement of a crash, if it keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<String>,
}

/// The note of a live process of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub pid: u32,
    /// Start of the process in clock ticks since boot: a pid may be given again, the pair is not.
    pub started: u64,
    pub boot_id: String,
    /// Id of the machine, which stays over its restarts (machine-id(5)); `None` where it has none, and in notes of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    #[serde(flatten)]
    pub owner: Owner,
}

impl Note {
    /// The note of this process.
    pub(crate) fn own(roots: &Roots, owner: &Owner) -> Note {
        Note {
            pid: std::process::id(),
            started: stat_field(&roots.proc.join("self"), 22).unwrap_or(0),
            boot_id: boot_id(roots),
            machine: machine(roots),
            owner: owner.clone(),
        }
    }

    /// As it is written; one line.
    pub(crate) fn to_text(&self) -> String {
        // Numbers and strings only: there is nothing in it that could fail to serialize.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    pub(crate) fn parse(text: &str) -> Option<Note> {
        serde_json::from_str(text).ok()
    }

    /// Whether a crash of it has still to be judged: its ledger is there.
    pub(crate) fn is_pending(&self) -> bool {
        self.owner.ledger.as_deref().is_some_and(|path| Path::new(path).exists())
    }

    /// Whether the process that wrote it still runs, as far as this host's process table tells.
    pub(crate) fn is_alive(&self, roots: &Roots) -> bool {
        let process = roots.proc.join(self.pid.to_string());
        self.boot_id == boot_id(roots) && stat_field(&process, 22) == Some(self.started) && !is_reapable(&process)
    }
}

impl Note {
    /// Whether the run may live on another machine, whose locks and processes are not seen here; `shared`: other machines see these files.
    pub(crate) fn may_live_elsewhere(&self, roots: &Roots, shared: bool) -> bool {
        self.boot_id != boot_id(roots)
            && match (&self.machine, machine(roots)) {
                (Some(theirs), Some(ours)) => *theirs != ours,
                _ => shared,
            }
    }
}

/// The refusal that a note stands for; a note that cannot be read still means somebody.
pub(crate) fn refusal(note: &str) -> Refusal {
    match Note::parse(note) {
        Some(note) => Refusal::InUseByRun { pid: note.pid, run: note.owner.run_file },
        None => Refusal::InUseByRun { pid: 0, run: "?".to_string() },
    }
}

/// Id of the machine.
fn machine(roots: &Roots) -> Option<String> {
    text(roots.etc.join("machine-id")).filter(|id| !id.is_empty())
}

/// Boot id: differs after every start of the machine.
pub(crate) fn boot_id(roots: &Roots) -> String {
    text(roots.proc.join("sys/kernel/random/boot_id")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> Note {
        let owner = Owner { run_id: "R-1".into(), run_file: "/tmp/R-1.stend".into(), ledger: None };
        Note::own(&Roots::host(), &owner)
    }

    #[test]
    fn a_note_survives_being_written_and_read() {
        assert_eq!(Note::parse(&note().to_text()), Some(note()));
        assert_eq!(Note::parse("half a no"), None);
    }

    #[test]
    fn a_process_is_alive_only_with_its_start_time_in_the_same_boot() {
        let roots = Roots::host();
        assert!(note().is_alive(&roots));
        assert!(!Note { started: 1, ..note() }.is_alive(&roots), "another process got the pid");
        assert!(!Note { boot_id: "other".into(), ..note() }.is_alive(&roots), "the machine was restarted");
    }

    #[test]
    fn a_run_of_another_machine_may_live_and_one_of_before_a_restart_does_not() {
        let place = tempfile::tempdir().unwrap();
        let roots = Roots { etc: place.path().to_path_buf(), ..Roots::host() };
        let of =
            |machine: Option<&str>| Note { boot_id: "other".into(), machine: machine.map(str::to_string), ..note() };
        let lives = |machine, shared| of(machine).may_live_elsewhere(&roots, shared);
        assert_eq!((lives(Some("a"), true), lives(Some("a"), false)), (true, false), "this one has no id");
        std::fs::write(place.path().join("machine-id"), "a\n").unwrap();
        assert_eq!((lives(Some("a"), true), lives(Some("b"), false)), (false, true));
        assert_eq!((lives(None, true), lives(None, false)), (true, false), "a note of an earlier version");
        assert!(!Note { machine: Some("b".into()), ..note() }.may_live_elsewhere(&roots, true), "a container here");
    }
}
