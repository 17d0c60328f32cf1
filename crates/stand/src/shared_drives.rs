//! Which other runs load the same drives, through whatever directory, partition or volume. Each run keeps a note of its drives where
//! all users of the machine can read it, locked for as long as it lives. Must not decide what is done about it but for [`must_be_alone`].

use crate::owner::{Note, Owner};
use crate::roots::Roots;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};
use stend_record::{EventKind, TargetFacts, targets};
use stend_spec::permission::Permission;
use stend_sys::claim::{Lease, OwnDirectory, Seen};

/// Names of the notes.
const PREFIX: &str = "stend-";
const SUFFIX: &str = ".drives";

/// Another run on drives of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OtherRun {
    /// Its id.
    run_id: String,
    /// Process id of its worker.
    pid: u32,
    /// Path of its run file.
    run_file: String,
    /// Names of the drives that both use, as the kernel has them.
    drives: Vec<String>,
}

/// The note of this run. Dropping it ends what it says; the file stays for a run beside it, which may not have looked yet.
#[derive(Debug)]
pub struct DriveNote {
    place: PathBuf,
    /// `None`: no drives are known below the targets, or no note could be left.
    lease: Option<Lease>,
    drives: Vec<String>,
    /// Names of notes that are of earlier runs, or told already.
    known: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Used {
    drives: Vec<String>,
    #[serde(flatten)]
    by: Note,
}

/// A note that was found.
struct Found {
    name: String,
    /// Its run lives.
    live: bool,
    run: OtherRun,
}

/// Refuses targets with drives that another run uses now, unless `--beside` allows it.
pub fn must_be_alone(targets: &[TargetFacts], permission: &Permission) -> Result<()> {
    let roots = Roots::host();
    let live = notes(&roots, &roots.memory, &names(targets)).into_iter().find(|found| found.live);
    match live {
        Some(found) if !permission.beside => Err(refused(&found.run)),
        _ => Ok(()),
    }
}

impl DriveNote {
    /// Leaves the note of a run, and tells of every other run that uses these drives now. A note that cannot be left is reported,
    /// too.
    ///
    /// Errors: `Unsafe` if there is another one and `--beside` is not given. If two begin at once, neither may get through.
    pub fn leave(
        targets: &[TargetFacts],
        owner: &Owner,
        permission: &Permission,
        log: &mut dyn FnMut(EventKind),
    ) -> Result<DriveNote> {
        let roots = Roots::host();
        let drives = names(targets);
        let mut note = DriveNote { place: roots.memory.clone(), lease: None, drives, known: Vec::new() };
        if note.drives.is_empty() {
            return Ok(note);
        }
        // Before looking: a later run sees it.
        match note.write(&roots, owner) {
            Ok(lease) => note.lease = Some(lease),
            Err(error) => {
                let place = note.place.display();
                let text = format!("other runs on these drives will not see this one: no note in {place}: {error}");
                log(EventKind::Note { text });
            }
        }
        let found = notes(&roots, &note.place, &note.drives);
        match found.iter().find(|found| found.live) {
            Some(other) if !permission.beside => return Err(refused(&other.run)),
            Some(_) => {}
            // Nobody is left who has to be told of them.
            None => note.remove(&found),
        }
        note.known = found.iter().filter(|found| !found.live).map(|found| found.name.clone()).collect();
        note.tell(log);
        Ok(note)
    }

    /// Tells of every run that has used these drives since this note was left, each once.
    pub fn tell(&mut self, log: &mut dyn FnMut(EventKind)) {
        for found in self.others() {
            let OtherRun { run_id, run_file, drives, pid } = found.run;
            log(EventKind::Beside { run_id, run_file, pid, drives });
            self.known.push(found.name);
        }
    }

    fn others(&self) -> Vec<Found> {
        let mut found = notes(&Roots::host(), &self.place, &self.drives);
        found.retain(|found| !self.known.contains(&found.name));
        found
    }

    fn write(&self, roots: &Roots, owner: &Owner) -> std::io::Result<Lease> {
        let directory = OwnDirectory::open(&self.place)?;
        let name = format!("{PREFIX}{}{SUFFIX}", owner.run_id);
        let used = Used { drives: self.drives.clone(), by: Note::own(roots, owner) };
        // Strings and numbers: there is nothing in it that could fail to serialize.
        let text = serde_json::to_string(&used).unwrap_or_default();
        let lease = Lease::take(&directory, &name, &text).map_err(|error| match error {
            stend_sys::claim::NotLeased::Io(error) => error,
            stend_sys::claim::NotLeased::Held(_) => std::io::Error::other("a run of the same id has left one"),
        })?;
        lease.show_to_all()?;
        Ok(lease)
    }

    /// Removes notes of runs that are gone, those of other users aside.
    fn remove(&self, found: &[Found]) {
        let Ok(directory) = OwnDirectory::open(&self.place) else { return };
        for gone in found.iter().filter(|found| !found.live) {
            // Taking it makes sure that it has no owner; letting go of it removes it.
            drop(Lease::take(&directory, &gone.name, ""));
        }
    }
}

impl Drop for DriveNote {
    fn drop(&mut self) {
        let Some(lease) = self.lease.take() else { return };
        let found = notes(&Roots::host(), &self.place, &self.drives);
        if found.iter().any(|found| found.live) {
            return lease.leave();
        }
        self.remove(&found);
    }
}

/// The drives below all targets together, as the kernel names them.
fn names(targets: &[TargetFacts]) -> Vec<String> {
    let each = targets.iter().flat_map(|target| targets::drives(std::slice::from_ref(target)));
    let mut names: Vec<String> = each.map(|drive| drive.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// Notes of other processes, of this boot, about any of these drives.
fn notes(roots: &Roots, place: &Path, drives: &[String]) -> Vec<Found> {
    let (Ok(directory), false) = (OwnDirectory::open(place), drives.is_empty()) else { return Vec::new() };
    let own = Note::own(roots, &Owner { run_id: String::new(), run_file: String::new(), ledger: None });
    let ours = |name: &String| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
    let read = |name: String| {
        let seen = settled(&directory, &name)?;
        let used: Used = serde_json::from_str(&seen.note).ok()?;
        let by = used.by;
        let other = by.boot_id == own.boot_id && (by.pid, by.started) != (own.pid, own.started);
        let both: Vec<String> = used.drives.into_iter().filter(|drive| drives.contains(drive)).collect();
        let Owner { run_id, run_file, .. } = by.owner;
        let run = OtherRun { run_id, pid: by.pid, run_file, drives: both };
        (other && !run.drives.is_empty()).then_some(Found { name, live: seen.held, run })
    };
    crate::roots::names(place).into_iter().filter(ours).filter_map(read).collect()
}

/// What a note says once it does: its writer takes it a moment before, and a reader holds it for a moment.
fn settled(directory: &OwnDirectory, name: &str) -> Option<Seen> {
    let mut seen = None;
    for _ in 0..5 {
        seen = Lease::look(directory, name).ok()?;
        match &seen {
            Some(now) if now.held => std::thread::sleep(std::time::Duration::from_millis(1)),
            _ => break,
        }
    }
    seen
}

fn refused(other: &OtherRun) -> Box<Error> {
    let (drives, pid, run) = (other.drives.join(", "), other.pid, &other.run_file);
    Error::refused(say!(
        "another run loads {drives} now: process {pid}, `{run}`; each would lower the results of the other",
        "{drives} сейчас нагружает другой прогон: процесс {pid}, `{run}`; каждый занизит результаты другого"
    ))
    .hint(say!(
        "wait for it, or allow it with `--beside`: both results then mention it",
        "дождитесь его или разрешите ключом `--beside`: это будет отмечено в обоих результатах"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note of a process that is not this one.
    fn note_of(pid: u32, run_id: &str, drives: &[&str]) -> String {
        let owner = Owner { run_id: run_id.into(), run_file: format!("/tmp/{run_id}.stend"), ledger: None };
        let by = Note { pid, ..Note::own(&Roots::host(), &owner) };
        let drives = drives.iter().map(ToString::to_string).collect();
        serde_json::to_string(&Used { drives, by }).unwrap()
    }

    fn found(place: &Path, drives: &[&str]) -> Vec<(String, bool)> {
        let drives: Vec<String> = drives.iter().map(ToString::to_string).collect();
        notes(&Roots::host(), place, &drives).into_iter().map(|found| (found.run.run_id, found.live)).collect()
    }

    #[test]
    fn a_note_of_another_process_about_a_common_drive_is_found_and_its_lock_says_whether_it_lives() {
        let place = tempfile::tempdir().unwrap();
        let directory = OwnDirectory::open(place.path()).unwrap();
        let held = Lease::take(&directory, "stend-R-1.drives", &note_of(1, "R-1", &["sda", "sdb"])).unwrap();
        assert_eq!(found(place.path(), &["sdb", "sdc"]), [("R-1".to_string(), true)]);
        assert_eq!(found(place.path(), &["sdc"]), [], "another drive");
        assert_eq!(found(place.path(), &[]), []);
        held.leave();
        assert_eq!(found(place.path(), &["sda"]), [("R-1".to_string(), false)]);
    }

    #[test]
    fn what_is_no_note_of_another_run_of_this_boot_is_not_believed() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
        write("stend-R-1.drives", &note_of(std::process::id(), "R-1", &["sda"]));
        write("stend-R-2.drives", "{\"drives\": [\"sda\"]");
        write("stend-R-3.spool", &note_of(1, "R-3", &["sda"]));
        let boot = crate::owner::boot_id(&Roots::host());
        write("stend-R-4.drives", &note_of(1, "R-4", &["sda"]).replace(&boot, "another"));
        std::os::unix::fs::symlink("stend-R-3.spool", place.path().join("stend-R-5.drives")).unwrap();
        assert!(
            std::process::Command::new("mkfifo").arg(place.path().join("stend-R-6.drives")).status().unwrap().success()
        );
        assert_eq!(found(place.path(), &["sda"]), []);
    }

    #[test]
    fn runs_that_come_later_are_told_once_also_when_they_have_ended() {
        let place = tempfile::tempdir().unwrap();
        let directory = OwnDirectory::open(place.path()).unwrap();
        let write = |run: &str| {
            std::fs::write(place.path().join(format!("stend-{run}.drives")), note_of(1, run, &["sda"])).unwrap();
        };
        write("R-before");
        let mut note = DriveNote {
            place: place.path().to_path_buf(),
            lease: Some(Lease::take(&directory, "stend-R-own.drives", "").unwrap()),
            drives: vec!["sda".into()],
            known: vec!["stend-R-before.drives".into()],
        };
        let told = |note: &mut DriveNote| {
            let mut told = Vec::new();
            note.tell(&mut |kind| match kind {
                EventKind::Beside { run_id, .. } => told.push(run_id),
                other => panic!("{other:?}"),
            });
            told
        };
        assert_eq!(told(&mut note), Vec::<String>::new());
        write("R-later");
        assert_eq!(told(&mut note), ["R-later"]);
        assert_eq!(told(&mut note), Vec::<String>::new());
        drop(note);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nobody is left to be told");
    }

    #[test]
    fn a_run_that_ends_leaves_its_note_to_a_live_one() {
        let place = tempfile::tempdir().unwrap();
        let directory = OwnDirectory::open(place.path()).unwrap();
        let _live = Lease::take(&directory, "stend-R-1.drives", &note_of(1, "R-1", &["sda"])).unwrap();
        let own = Lease::take(&directory, "stend-R-2.drives", &note_of(2, "R-2", &["sda"])).unwrap();
        let note = DriveNote {
            place: place.path().to_path_buf(),
            lease: Some(own),
            drives: vec!["sda".into()],
            known: Vec::new(),
        };
        drop(note);
        assert_eq!(found(place.path(), &["sda"]), [("R-1".to_string(), true), ("R-2".to_string(), false)]);
    }
}
