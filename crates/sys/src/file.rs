//! An open target. Reading needs nothing; a writable one can only come from a [`crate::Claim`].

use crate::claim::Grip;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// A target opened for I/O.
#[derive(Debug)]
pub struct IoFile {
    fd: OwnedFd,
    direct: bool,
    writable: bool,
    /// While it can be written through, the target stays ours.
    grip: Option<Arc<Grip>>,
}

impl IoFile {
    /// Opens a path for reading only; `direct` bypasses the page cache (`O_DIRECT`).
    pub fn open_read(path: &Path, direct: bool) -> io::Result<IoFile> {
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        flags.set(OFlags::DIRECT, direct);
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        blocking(&fd)?;
        Ok(IoFile { fd, direct, writable: false, grip: None })
    }

    /// A new file of `len` bytes without a name in the directory `dir`; it is gone when it is closed and
    /// no existing file can be touched this way.
    pub fn create_scratch(dir: &Path, len: u64, direct: bool) -> io::Result<IoFile> {
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE | OFlags::EXCL;
        flags.set(OFlags::DIRECT, direct);
        let fd = rustix::fs::open(dir, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::ftruncate(&fd, len)?;
        Ok(IoFile { fd, direct, writable: true, grip: None })
    }

    /// A second handle on the same open file, with the same rights.
    pub fn try_clone(&self) -> io::Result<IoFile> {
        let fd = self.fd.try_clone()?;
        Ok(IoFile { fd, direct: self.direct, writable: self.writable, grip: self.grip.clone() })
    }

    /// Wraps a descriptor that a claim opened for writing; it keeps what the claim holds.
    pub(crate) fn writable(fd: OwnedFd, direct: bool, grip: Arc<Grip>) -> IoFile {
        IoFile { fd, direct, writable: true, grip: Some(grip) }
    }

    /// Whether it bypasses the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Whether it may be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// One `pread`; returns the bytes read, fewer than asked at the end of the file.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pread(&self.fd, buffer, offset)?)
    }

    /// One `pwrite`; returns the bytes written.
    pub fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pwrite(&self.fd, buffer, offset)?)
    }

    /// `fdatasync`.
    pub fn sync_data(&self) -> io::Result<()> {
        Ok(rustix::fs::fdatasync(&self.fd)?)
    }

    /// `fsync`.
    pub fn sync_all(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }
}

/// Clears O_NONBLOCK, which opening needs so as not to hang on a pipe: io_uring would answer EAGAIN for
/// files that it cannot submit inline, instead of handing them to a kernel worker.
fn blocking(fd: &OwnedFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags - OFlags::NONBLOCK)?)
}

impl AsFd for IoFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_file_has_its_size_no_name_and_reads_back_what_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = IoFile::create_scratch(dir.path(), 10_000, false).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(file.write_at(b"storage", 9_990).unwrap(), 7);
        let mut data = [0; 20];
        assert_eq!(file.try_clone().unwrap().read_at(&mut data, 9_990).unwrap(), 10);
        assert_eq!(&data[..10], b"storage\0\0\0");
        assert!(file.is_writable() && !file.is_direct());
    }

    #[test]
    fn a_file_opened_for_reading_blocks_and_refuses_writes() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let file = IoFile::open_read(named.path(), false).unwrap();
        assert!(!rustix::fs::fcntl_getfl(&file).unwrap().contains(OFlags::NONBLOCK));
        assert!(file.write_at(b"x", 0).is_err());
        assert!(!file.is_writable());
    }
}
