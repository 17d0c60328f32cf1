//! What is made for machines while they are changed, noted before it is made: so `down` and the next run find it, whatever was killed
//! meanwhile. Must not change a machine.

use crate::group::Group;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, say};

/// Longest file that is read: a machine has at most 16 disks, each with a path of at most 1 KiB and a name of a file.
const SIZE_MAX: u64 = 1 << 16;
/// Limits of disks were changed.
const LIMITS: &str = "limits";
/// Before the URI of the libvirt that the machine migrates to, or has migrated to.
const DESTINATION: &str = "migrates to ";

/// The notes of a machine, in a file of its group: a line for each.
pub(crate) struct Notes<'a> {
    group: &'a Group,
    file: PathBuf,
    lines: BTreeSet<String>,
}

impl Notes<'_> {
    /// Those that are kept.
    pub fn of(group: &Group, number: u32) -> Result<Notes<'_>> {
        let file = group.directory.join(format!("changed-{number}"));
        let lines = match stend_sys::regular::text(&file, SIZE_MAX) {
            Ok(text) => text.lines().map(String::from).collect(),
            Err(_) if !file.exists() => BTreeSet::new(),
            Err(why) => {
                let shown = file.display();
                let (en, ru) = (why.en, why.ru);
                return Err(Error::preflight(say!(
                    "cannot read `{shown}`, which says what is left of changes to virtual machines: {en}",
                    "не удаётся прочитать `{shown}`, где записано, что осталось от изменений виртуальных машин: {ru}"
                )));
            }
        };
        Ok(Notes { group, file, lines })
    }

    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether this file was made for it.
    pub fn has(&self, path: &str) -> bool {
        self.lines.contains(path)
    }

    /// Whether limits of disks were changed.
    pub fn has_limits(&self) -> bool {
        self.lines.contains(LIMITS)
    }

    /// Files that were made.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        // Every path begins so, and no other line.
        self.lines.iter().filter(|line| line.starts_with('/'))
    }

    /// The libvirt that the machine migrates to, or has migrated to.
    pub fn destination(&self) -> Option<String> {
        self.lines.iter().find_map(|line| line.strip_prefix(DESTINATION)).map(String::from)
    }

    /// Notes that the machine is about to migrate there, or that it is with its own libvirt and nowhere else.
    pub fn set_destination(&mut self, uri: Option<&str>) -> Result<()> {
        self.lines.retain(|line| !line.starts_with(DESTINATION));
        self.lines.extend(uri.map(|uri| format!("{DESTINATION}{uri}")));
        self.keep()
    }

    /// Notes files that are about to be made.
    pub fn add(&mut self, paths: &[String]) -> Result<()> {
        self.lines.extend(paths.iter().cloned());
        self.keep()
    }

    /// Notes that limits of disks are about to be changed.
    pub fn add_limits(&mut self) -> Result<()> {
        self.add(&[LIMITS.to_string()])
    }

    /// Forgets that limits were changed.
    pub fn forget_limits(&mut self) -> Result<()> {
        self.lines.remove(LIMITS);
        self.keep()
    }

    /// Removes a file that was made, and its note.
    pub fn remove(&mut self, path: &str) -> Result<()> {
        removed(path)?;
        self.lines.remove(path);
        self.keep()
    }

    /// Removes all files that were made. The machine may not have them any more.
    pub fn remove_files(&mut self) -> Result<()> {
        let begin = format!("stend-{}-", self.group.machines.name);
        let ours = |path: &&String| {
            let name = Path::new(path.as_str()).file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with(&begin) && name.contains(&format!("-{}.", self.group.id))
        };
        self.paths().filter(ours).try_for_each(|path| removed(path))?;
        self.lines.retain(|line| !line.starts_with('/'));
        self.keep()
    }

    fn keep(&self) -> Result<()> {
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        durable(&self.file, &text).map_err(|e| self.group.unkept(&e))
    }
}

fn removed(path: &str) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::preflight(say!("cannot remove `{path}`: {error}", "не удаётся удалить `{path}`: {error}")))
        }
        _ => Ok(()),
    }
}

/// In whole or not at all, also when the power goes.
fn durable(file: &Path, text: &str) -> io::Result<()> {
    let new = file.with_extension("new");
    let mut written = fs::File::create(&new)?;
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    fs::rename(&new, file)?;
    fs::File::open(file.parent().unwrap_or(Path::new("/")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::tests::kept_in;

    #[test]
    fn files_are_known_again_and_only_those_of_the_machines_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let group = kept_in(place.path());
        let here = place.path().to_string_lossy().into_owned();
        let (ours, other) = (group.file_of_disk(&here, 0, 1, "snapshot"), format!("{here}/other"));
        for path in [&ours, &other] {
            fs::write(path, "x").unwrap();
        }
        let mut notes = Notes::of(&group, 1).unwrap();
        assert!(notes.is_empty());
        notes.add(&[ours.clone(), other.clone()]).unwrap();
        notes.add_limits().unwrap();
        let mut again = Notes::of(&group, 1).unwrap();
        assert!(again.has(&ours) && again.has_limits() && !again.has("limits2"));
        again.set_destination(Some("qemu:///a")).unwrap();
        again.set_destination(Some("qemu:///b")).unwrap();
        again.remove_files().unwrap();
        assert_eq!(Notes::of(&group, 1).unwrap().destination().as_deref(), Some("qemu:///b"));
        again.set_destination(None).unwrap();
        assert_eq!(Notes::of(&group, 1).unwrap().destination(), None);
        assert!(!Path::new(&ours).exists() && Path::new(&other).exists());
        again.forget_limits().unwrap();
        assert!(Notes::of(&group, 1).unwrap().is_empty());
        again.add(std::slice::from_ref(&other)).unwrap();
        again.remove(&other).unwrap();
        assert!(Notes::of(&group, 1).unwrap().is_empty() && !Path::new(&other).exists());
        fs::remove_file(group.directory.join("changed-1")).unwrap();
        fs::create_dir(group.directory.join("changed-1")).unwrap();
        assert!(Notes::of(&group, 1).err().is_some_and(|error| error.message.en.contains("cannot read")));
    }
}
