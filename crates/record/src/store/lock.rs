//! At most one writer per run file: a lock on the open file for as long as its writer lives, which the
//! kernel takes back however that ends. Must not be taken where it would shut SQLite out of the file.

use std::fs::{File, TryLockError};
use std::os::fd::AsFd;

/// `f_type` of NFS, SMB, CIFS and SMB2 (statfs(2)). There a lock on the whole file is made of the byte
/// ranges that SQLite locks too (flock(2), "NFS details" and "CIFS details").
const SHARED_WITH_RANGES: [u32; 4] = [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42];

/// Why a file is not locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotHeld {
    /// Somebody else has it.
    Taken,
    /// Its file system has no locks that could be used.
    Impossible,
}

/// Locks a file until it is closed, without waiting. It is not inherited by a program that is started.
pub fn hold(file: &File) -> Result<(), NotHeld> {
    let kind = rustix::fs::fstatfs(file.as_fd()).map_err(|_| NotHeld::Impossible)?.f_type;
    // The numbers are 32 bits wide; some architectures have them with a sign.
    if is_shared_with_ranges(kind as u32) {
        return Err(NotHeld::Impossible);
    }
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => NotHeld::Taken,
        TryLockError::Error(_) => NotHeld::Impossible,
    })
}

fn is_shared_with_ranges(kind: u32) -> bool {
    SHARED_WITH_RANGES.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_locked_until_it_is_closed() {
        let held = tempfile::NamedTempFile::new().unwrap();
        hold(held.as_file()).unwrap();
        let other = File::open(held.path()).unwrap();
        assert_eq!(hold(&other), Err(NotHeld::Taken));
        let path = held.into_temp_path();
        assert_eq!(hold(&File::open(&path).unwrap()), Ok(()));
    }

    #[test]
    fn where_sqlite_would_be_shut_out_nothing_is_locked() {
        let magic =
            [("nfs", 0x6969, true), ("smb3", 0xfe53_4d42, true), ("ext4", 0xef53, false), ("xfs", 0x5846_5342, false)];
        for (name, kind, shared) in magic {
            assert_eq!(is_shared_with_ranges(kind), shared, "{name}");
        }
    }
}
