//! Files that a machine is started with: what its guest unpacks, and what its drives keep. They have no names, so that
//! they go with the machine. Must not start it.

use crate::image::Image;
use crate::payload::payload;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use stend_base::{Bytes, Error, Result, say};
use stend_spec::machine::Machine;

/// Bytes of what a reset leaves, of which only those take room that are written: a ledger has 32 for each block that a case writes,
/// so that one of 64 GiB in blocks of 4 KiB fits twice.
const KEEP: Bytes = Bytes::gib(1);

/// The files of a machine; QEMU must have opened them before this is dropped.
pub struct Files {
    archive: File,
    drives: Vec<File>,
    keep: File,
}

impl Files {
    /// Makes them in the directory `cache`.
    pub fn make(machine: &Machine, image: &Image, cache: &Path) -> Result<Files> {
        let made = || -> io::Result<Files> {
            let mut archive = nameless(cache)?;
            io::copy(&mut File::open(&image.start)?, &mut archive)?;
            archive.write_all(&payload()?)?;
            let drives: io::Result<Vec<File>> = machine.drives.iter().map(|drive| empty(cache, drive.size)).collect();
            Ok(Files { archive, drives: drives?, keep: empty(cache, KEEP)? })
        };
        made().map_err(|e| no_room(cache, &e))
    }

    /// The path by which another process of ours can open the archive of the guest's first steps.
    pub fn archive(&self) -> String {
        path_of(&self.archive)
    }

    /// Those of the drives.
    pub fn drives(&self) -> Vec<String> {
        self.drives.iter().map(path_of).collect()
    }

    /// That of what a reset of the machine leaves.
    pub fn keep(&self) -> String {
        path_of(&self.keep)
    }
}

fn empty(cache: &Path, size: Bytes) -> io::Result<File> {
    let file = nameless(cache)?;
    file.set_len(size.0)?;
    Ok(file)
}

/// A file without a name: it is gone when nobody has it open any more.
fn nameless(directory: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(directory, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)?.into())
}

fn path_of(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

fn no_room(cache: &Path, error: &io::Error) -> Box<Error> {
    let shown = cache.display();
    Error::preflight(say!(
        "cannot make the files of a machine in `{shown}`: {error}",
        "не удаётся создать файлы машины в `{shown}`: {error}"
    ))
    .hint(say!("XDG_CACHE_HOME names another place", "другое место задаёт XDG_CACHE_HOME"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_machine_s_files_have_no_name_and_can_be_opened_by_another_process() {
        let cache = tempfile::tempdir().unwrap();
        let file = empty(cache.path(), Bytes::mib(3)).unwrap();
        assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 0);
        let seen = Command::new("stat").args(["-L", "-c", "%s"]).arg(path_of(&file)).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&seen.stdout).trim(), "3145728");
        let error = no_room(cache.path(), &empty(Path::new("/nowhere"), Bytes::mib(1)).unwrap_err());
        assert!(error.message.en.contains("cannot make the files") && error.hint.is_some(), "{error}");
    }
}
