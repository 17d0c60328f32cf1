//! Guests that were saved when they had booted and done nothing: memory and devices in a file each, under the hash of all that
//! they follow from. A file has its name when it is whole, and a sum by which damage is found. Must not start anything.

use crate::digest::digest;
use crate::drives::{Backing, Plugging};
use crate::files::nameless;
use crate::image::Image;
use crate::qemu::{self, Accelerator, Paths, Streams};
use rustix::fs::{AtFlags, CWD, linkat};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use stend_base::Bytes;
use stend_spec::machine::{DriveKind, Machine};

/// Bytes before what QEMU wrote: a text that says what this is, how long, and its sum.
const HEAD: u64 = 4096;
/// First line of the text; the number is raised when guests are saved, or begin, in another way.
const MAGIC: &str = "stend saved guest 1";
/// So many are kept, those that were used last. One takes 180 MiB.
const KEPT: usize = 4;
/// Most memory of a machine whose guest is saved: QEMU looks at all of it, 3 GiB in 0.4 s.
const MEMORY_MAX: Bytes = Bytes::mib(8 << 10);
/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;
/// The speed of the counter counts in these steps, kHz: it is measured anew for every machine, to 1 in a million, and where it differs by
/// half of this the clock of a guest is off by 1 in 4000, of which nobody there takes notice.
const SPEED_STEP: u64 = 1000;

/// What a guest of this machine, started so, follows from; `None` if it cannot be saved: with SAS disks, with a KVM (which boots a
/// guest in a second, and on which this was not tried), with much memory, or if it would have to measure its clock by itself.
pub fn key(machine: &Machine, how: Accelerator, image: &Image, program: &[u8], version: &str) -> Option<String> {
    let Accelerator::Tcg { counter_khz: Some(khz) } = how else { return None };
    if machine.memory > MEMORY_MAX || machine.drives.iter().any(|drive| drive.kind == DriveKind::Sas) {
        return None;
    }
    let rounded = Accelerator::Tcg { counter_khz: Some((khz + SPEED_STEP / 2) / SPEED_STEP * SPEED_STEP) };
    // Where files and sockets lie is nothing that a guest follows from.
    let paths = Paths {
        image,
        archive: String::new(),
        drives: vec![Backing::File(String::new()); machine.drives.len()],
        keep: String::new(),
    };
    let streams = Streams::Sockets { directory: Path::new("") };
    let arguments = qemu::arguments(machine, rounded, &paths, &streams, Plugging::Nothing);
    let packages = fs::read_to_string(&image.packages).ok()?;
    let files: Option<Vec<String>> =
        [&image.kernel, &image.start, &image.system].into_iter().map(|path| state(path)).collect();
    let parts = [MAGIC.to_string(), version.to_string(), packages, hexadecimal(Sha256::new_with_prefix(program))];
    Some(digest(parts.into_iter().chain(files?).chain(arguments)))
}

/// A file of an image that was made anew is another one.
fn state(path: &Path) -> Option<String> {
    let found = fs::metadata(path).ok()?;
    Some(format!("{} {} {}", found.len(), found.mtime(), found.mtime_nsec()))
}

fn hexadecimal(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where saved guests are kept.
pub struct Saves {
    directory: PathBuf,
}

impl Saves {
    /// Beside the images.
    pub fn beside(cache: &Path) -> Saves {
        Saves { directory: cache.join("saved") }
    }

    /// The guest with this key, if one was saved; it then counts as used.
    pub fn find(&self, key: &str) -> Option<Saved> {
        let file = File::open(self.directory.join(key)).ok()?;
        // Somebody else's stays as old as it is.
        drop(file.set_modified(SystemTime::now()));
        Some(Saved { file })
    }

    /// A file without a name for a guest that is written now.
    pub fn begin(&self) -> io::Result<File> {
        fs::create_dir_all(&self.directory)?;
        let mut file = nameless(&self.directory)?;
        file.seek(SeekFrom::Start(HEAD))?;
        Ok(file)
    }

    /// Keeps what was written to it, under this key, and removes guests that were not used for longest. One that is there already
    /// stays.
    pub fn keep(&self, file: File, key: &str) -> io::Result<()> {
        let saved = Saved { file };
        saved.file.write_all_at(&saved.head()?, 0)?;
        let open = format!("/proc/self/fd/{}", saved.file.as_raw_fd());
        match linkat(CWD, open, CWD, self.directory.join(key), AtFlags::SYMLINK_FOLLOW) {
            // Another start was earlier.
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.make_room()
    }

    /// Removes a guest that is of no use.
    pub fn remove(&self, key: &str) {
        // Another start may have done so.
        drop(fs::remove_file(self.directory.join(key)));
    }

    fn make_room(&self) -> io::Result<()> {
        let entries = fs::read_dir(&self.directory)?.flatten();
        let mut all: Vec<(SystemTime, PathBuf)> =
            entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
        all.sort();
        let over = all.len().saturating_sub(KEPT);
        all.iter().take(over).for_each(|(_, path)| drop(fs::remove_file(path)));
        Ok(())
    }
}

/// A guest that was saved. Its file may be removed while it is restored.
pub struct Saved {
    file: File,
}

impl Saved {
    /// From where QEMU reads it.
    pub fn stream(&self) -> io::Result<OwnedFd> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(HEAD))?;
        Ok(file.into())
    }

    /// An error if it is not what was saved: QEMU would notice what is missing, but not what was changed.
    pub fn check(&self) -> io::Result<()> {
        let mut head = vec![0; HEAD as usize];
        self.file.read_exact_at(&mut head, 0)?;
        match head == self.head()? {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "it is damaged")),
        }
    }

    /// What has to stand before what QEMU wrote.
    fn head(&self) -> io::Result<Vec<u8>> {
        let (mut hash, mut piece, mut at) = (Sha256::new(), vec![0; PIECE], HEAD);
        loop {
            match self.file.read_at(&mut piece, at)? {
                0 => break,
                read => {
                    hash.update(&piece[..read]);
                    at += read as u64;
                }
            }
        }
        let mut head = format!("{MAGIC}\n{} bytes\n{}\n", at - HEAD, hexadecimal(hash)).into_bytes();
        head.resize(HEAD as usize, 0);
        Ok(head)
    }
}

#[cfg(test)]
mod tests;
