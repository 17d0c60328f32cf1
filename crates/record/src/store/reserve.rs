//! Disk space held for the run file before it is needed, and given back when it is. Must not fail a
//! run because a file system cannot preallocate: then zeros are written instead.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use stend_base::Bytes;

/// Kept to the end: enough for the last entries and the final checkpoint, by eye (a run of three
/// minutes writes less than 4 MiB in all).
const FLOOR: Bytes = Bytes::mib(4);

/// Chunk of zeros where the file system cannot preallocate.
const CHUNK: usize = 1 << 20;

/// Allocated space without a name: it disappears with the process, however that ends.
#[derive(Debug)]
pub struct Reserve {
    file: File,
    reserved: Bytes,
    held: Bytes,
}

impl Reserve {
    /// Allocates what is left of `reserve` bytes, of which the run file has `used` some, in the directory
    /// of `path`, under a name that exists only for a moment.
    pub fn new(path: &Path, reserve: Bytes, used: Bytes) -> io::Result<Reserve> {
        let held = still_needed(reserve, used);
        let mut name = path.as_os_str().to_owned();
        name.push("-reserve");
        let file = OpenOptions::new().write(true).create_new(true).open(&name)?;
        std::fs::remove_file(&name)?;
        match rustix::fs::fallocate(file.as_fd(), rustix::fs::FallocateFlags::empty(), 0, held.0) {
            Ok(()) => {}
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => write_zeros(&file, held)?,
            Err(error) => return Err(error.into()),
        }
        Ok(Reserve { file, reserved: reserve, held })
    }

    /// Gives back what the run file has grown into, so that both together stay at the reserve.
    pub fn shrink_by(&mut self, used: Bytes) {
        let keep = still_needed(self.reserved, used);
        // Holding more than needed is harmless, so a failure is too.
        if keep < self.held && self.file.set_len(keep.0).is_ok() {
            self.held = keep;
        }
    }
}

fn still_needed(reserved: Bytes, used: Bytes) -> Bytes {
    Bytes(reserved.0.saturating_sub(used.0)).max(FLOOR.min(reserved))
}

fn write_zeros(mut file: &File, len: Bytes) -> io::Result<()> {
    let zeros = vec![0; CHUNK];
    let mut left = len.0;
    while left > 0 {
        let part = left.min(CHUNK as u64) as usize;
        file.write_all(&zeros[..part])?;
        left -= part as u64;
    }
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_reserve_is_really_allocated_and_leaves_no_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::new(&dir.path().join("x"), Bytes::mib(8), Bytes(0)).unwrap();
        assert!(reserve.file.metadata().unwrap().blocks() * 512 >= 8 << 20);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        reserve.shrink_by(Bytes::mib(1));
        assert_eq!(reserve.file.metadata().unwrap().len(), 7 << 20);
        reserve.shrink_by(Bytes::mib(100));
        assert_eq!(reserve.file.metadata().unwrap().len(), FLOOR.0);
    }

    #[test]
    fn what_the_run_file_already_takes_is_not_reserved_again() {
        let dir = tempfile::tempdir().unwrap();
        let held = |used| Reserve::new(&dir.path().join("x"), Bytes::mib(8), used).unwrap().held;
        assert_eq!(held(Bytes::mib(3)), Bytes::mib(5));
        assert_eq!(held(Bytes::mib(100)), FLOOR);
    }

    #[test]
    fn zeros_stand_in_where_space_cannot_be_preallocated() {
        let mut file = tempfile::tempfile().unwrap();
        write_zeros(&file, Bytes(CHUNK as u64 + 5)).unwrap();
        assert_eq!(file.metadata().unwrap().len(), CHUNK as u64 + 5);
        file.flush().unwrap();
    }

    #[test]
    fn a_reserve_larger_than_the_disk_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Reserve::new(&dir.path().join("x"), Bytes(1 << 55), Bytes(0)).is_err());
    }
}
