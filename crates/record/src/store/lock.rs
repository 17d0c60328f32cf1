//! At most one writer per run file: a lock on the open file for as long as its writer lives, which the
//! kernel takes back however that ends. Must not be taken where it would shut SQLite out of the file.

use std::fs::{File, TryLockError};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

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

/// How long a lock may still be held by who has already let go of it: a process that is being killed, or a
/// child between its fork and its exec, keeps a copy of the descriptor for an instant.
const PATIENCE: Duration = Duration::from_millis(500);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// Locks a file until it is closed; waits half a second at most. It is not inherited by a program that is
/// started.
pub fn hold(file: &File) -> Result<(), NotHeld> {
    hold_or(file, || std::thread::sleep(PAUSE))
}

/// The same; `pause` is what is done after a try in vain.
fn hold_or(file: &File, mut pause: impl FnMut()) -> Result<(), NotHeld> {
    let kind = rustix::fs::fstatfs(file.as_fd()).map_err(|_| NotHeld::Impossible)?.f_type;
    // The numbers are 32 bits wide; some architectures have them with a sign.
    if is_shared_with_ranges(kind as u32) {
        return Err(NotHeld::Impossible);
    }
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(_)) => return Err(NotHeld::Impossible),
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => return Err(NotHeld::Taken),
            Err(TryLockError::WouldBlock) => pause(),
        }
    }
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
    fn a_lock_that_is_let_go_of_in_an_instant_is_waited_for() {
        let held = tempfile::NamedTempFile::new().unwrap();
        hold(held.as_file()).unwrap();
        let other = File::open(held.path()).unwrap();
        // Nobody lets go before one try was in vain.
        let mut held = Some(held);
        assert_eq!(hold_or(&other, || drop(held.take())), Ok(()));
        assert!(held.is_none());
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
