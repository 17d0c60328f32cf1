//! The kernel's source of random numbers. Must not draw any: who needs some reads `/dev/urandom`.

use rustix::ioctl::{NoArg, Opcode, ioctl};
use std::io;
use std::os::fd::AsFd;

/// `RNDRESEEDCRNG` of linux/random.h: `_IO('R', 7)`.
const RNDRESEEDCRNG: Opcode = 0x5207;

/// Has everything that is drawn from now on follow from what was written to this device (`/dev/urandom`) before, too. Needs
/// the rights of root.
//= random(4): a write is stirred in; what is drawn follows from it after the next reseeding, which may be a minute away
pub fn reseed(device: impl AsFd) -> io::Result<()> {
    // SAFETY: RNDRESEEDCRNG takes no argument and touches no memory of ours; of any other file it is an error.
    unsafe { ioctl(device, NoArg::<RNDRESEEDCRNG>::new())? };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn only_the_source_of_random_numbers_can_be_reseeded() {
        assert!(reseed(File::open("/dev/null").unwrap()).is_err());
        // Without the rights of root it is refused.
        let done = reseed(File::open("/dev/urandom").unwrap()).map_err(|e| e.kind());
        assert!(matches!(done, Ok(()) | Err(io::ErrorKind::PermissionDenied)), "{done:?}");
    }
}
