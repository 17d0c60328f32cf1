//! An open target. Reading needs nothing; a writable one can only come from a [`crate::Claim`].

use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// A target opened for I/O.
#[derive(Debug)]
pub struct IoFile {
    fd: OwnedFd,
    direct: bool,
    writable: bool,
}

impl IoFile {
    /// Opens a path for reading only; `direct` bypasses the page cache (`O_DIRECT`).
    pub fn open_read(path: &Path, direct: bool) -> io::Result<IoFile> {
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        flags.set(OFlags::DIRECT, direct);
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(IoFile { fd, direct, writable: false })
    }

    /// Wraps a descriptor that a claim opened for writing.
    pub(crate) fn writable(fd: OwnedFd, direct: bool) -> IoFile {
        IoFile { fd, direct, writable: true }
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

impl AsFd for IoFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
