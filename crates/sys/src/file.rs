//! An open target. Reading needs nothing; a writable one can only come from a [`crate::Claim`].

use crate::claim::Grip;
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags};
use rustix::io::ReadWriteFlags;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// A target opened for I/O.
#[derive(Debug)]
pub struct IoFile {
    fd: OwnedFd,
    direct: bool,
    writable: bool,
    /// Asked once: a discard is timed, and goes another way on a device.
    device: bool,
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
        let device = is_block_device(&fd);
        Ok(IoFile { fd, direct, writable: false, device, grip: None })
    }

    /// A new file of `len` bytes without a name in the directory `dir`; it is gone when it is closed and
    /// no existing file can be touched this way.
    pub fn create_scratch(dir: &Path, len: u64, direct: bool) -> io::Result<IoFile> {
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE | OFlags::EXCL;
        flags.set(OFlags::DIRECT, direct);
        let fd = rustix::fs::open(dir, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::ftruncate(&fd, len)?;
        Ok(IoFile { fd, direct, writable: true, device: false, grip: None })
    }

    /// A second handle on the same open file, with the same rights.
    pub fn try_clone(&self) -> io::Result<IoFile> {
        let fd = self.fd.try_clone()?;
        let IoFile { direct, writable, device, ref grip, .. } = *self;
        Ok(IoFile { fd, direct, writable, device, grip: grip.clone() })
    }

    /// Wraps a descriptor that a claim opened for writing; it keeps what the claim holds.
    pub(crate) fn writable(fd: OwnedFd, direct: bool, grip: Arc<Grip>) -> IoFile {
        let device = is_block_device(&fd);
        IoFile { fd, direct, writable: true, device, grip: Some(grip) }
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

    /// One `pwritev2` that ends when what it wrote is durable (`RWF_DSYNC`); returns the bytes written.
    pub fn write_durably_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        let flags = ReadWriteFlags::DSYNC;
        Ok(rustix::io::pwritev2(&self.fd, &[IoSlice::new(buffer)], offset, flags)?)
    }

    /// The same target open once more, so that every write ends when it is durable (`O_DSYNC`); with the same
    /// rights, and what the claim holds is kept. Only for what may be written.
    pub fn open_dsync(&self) -> io::Result<IoFile> {
        if !self.writable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        // `OFlags::DSYNC` of rustix 1.1 is O_SYNC, which makes all metadata durable as well.
        let dsync = OFlags::from_bits_retain(libc::O_DSYNC as u32);
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC | dsync;
        flags.set(OFlags::DIRECT, self.direct);
        // The link leads to what is open, whatever has become of its name.
        let fd = rustix::fs::open(format!("/proc/self/fd/{}", self.fd.as_raw_fd()), flags, Mode::empty())?;
        let IoFile { direct, device, ref grip, .. } = *self;
        Ok(IoFile { fd, direct, writable: true, device, grip: grip.clone() })
    }

    /// Whether every write ends when it is durable, as the kernel says.
    pub fn is_dsync(&self) -> bool {
        let has = |flags: OFlags| flags.bits() & libc::O_DSYNC as u32 != 0;
        rustix::fs::fcntl_getfl(&self.fd).is_ok_and(has)
    }

    /// Waits until the page cache has handed a range to the target (`sync_file_range` with all of its steps).
    pub fn sync_range(&self, offset: u64, len: u64) -> io::Result<()> {
        crate::block::sync_range(self, offset, len)
    }

    /// Tells the target that a range is not needed any more; its size stays. A device gets the discard of its
    /// kind (BLKDISCARD: TRIM, UNMAP, deallocate), what the range holds afterwards is the device's affair; a file
    /// gets a hole, which reads as zeroes. `Unsupported` if the target knows nothing of the kind.
    pub fn discard_at(&self, offset: u64, len: u64) -> io::Result<()> {
        if self.is_device() {
            return crate::block::discard(self, offset, len);
        }
        Ok(rustix::fs::fallocate(&self.fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, len)?)
    }

    /// Makes a range read as zeroes; its size stays. The kernel asks a device to do it by itself and writes zeroes
    /// where it cannot; a file system notes that the range holds none. `Unsupported` where it knows nothing of the kind.
    pub fn zero_at(&self, offset: u64, len: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(&self.fd, FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE, offset, len)?)
    }

    /// Whether it is known to be a block device.
    pub fn is_device(&self) -> bool {
        self.device
    }

    /// Whether the kernel can begin I/O on it without blocking. Where it cannot (tmpfs, zram, most FUSE), io_uring
    /// hands every I/O to a worker thread (io_uring/rw.c, `io_file_supports_nowait`). True if the kernel does not tell.
    pub fn begins_without_blocking(&self) -> bool {
        let mut byte = [0u8; 1];
        let mut buffers = [std::io::IoSliceMut::new(&mut byte)];
        // The flag is refused before anything else is looked at, also before the alignment of direct I/O.
        let answer = rustix::io::preadv2(&self.fd, &mut buffers, 0, rustix::io::ReadWriteFlags::NOWAIT);
        answer != Err(rustix::io::Errno::OPNOTSUPP)
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

fn is_block_device(fd: &OwnedFd) -> bool {
    rustix::fs::fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice)
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
    fn a_target_open_for_durable_writes_is_the_same_one() {
        let file = IoFile::create_scratch(Path::new("/var/tmp"), 8192, false).unwrap();
        let durable = file.open_dsync().unwrap();
        assert!(durable.is_dsync() && durable.is_writable() && !durable.is_direct() && !file.is_dsync());
        assert_eq!(durable.write_at(b"one", 0).unwrap() + file.write_durably_at(b"two", 3).unwrap(), 6);
        file.sync_range(0, 8192).unwrap();
        let mut data = [0; 6];
        file.read_at(&mut data, 0).unwrap();
        assert_eq!(&data, b"onetwo");
        let named = tempfile::NamedTempFile::new().unwrap();
        let reader = IoFile::open_read(named.path(), false).unwrap();
        assert!(reader.open_dsync().is_err() && reader.write_durably_at(b"x", 0).is_err());
    }

    #[test]
    fn a_discarded_or_zeroed_range_reads_as_zeroes_and_the_size_stays() {
        let file = IoFile::create_scratch(Path::new("/var/tmp"), 3 << 12, false).unwrap();
        assert!(!file.is_device());
        file.write_at(&[7; 3 << 12], 0).unwrap();
        file.discard_at(0, 4096).unwrap();
        file.zero_at(8192, 4096).unwrap();
        let mut data = [1; 3 << 12];
        assert_eq!(file.read_at(&mut data, 0).unwrap(), 3 << 12);
        let all = |part: &[u8], value: u8| part.iter().all(|&byte| byte == value);
        assert!(all(&data[..4096], 0) && all(&data[4096..8192], 7) && all(&data[8192..], 0));
    }

    #[test]
    fn tmpfs_cannot_begin_without_blocking_and_an_empty_device_can() {
        let in_memory = IoFile::create_scratch(Path::new("/dev/shm"), 4096, false).unwrap();
        assert!(!in_memory.begins_without_blocking());
        assert!(IoFile::open_read(Path::new("/dev/null"), false).unwrap().begins_without_blocking());
    }

    #[test]
    fn a_file_opened_for_reading_blocks_and_refuses_writes() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let file = IoFile::open_read(named.path(), false).unwrap();
        assert!(!rustix::fs::fcntl_getfl(&file).unwrap().contains(OFlags::NONBLOCK));
        assert!(file.write_at(b"x", 0).is_err() && file.discard_at(0, 1).is_err() && file.zero_at(0, 1).is_err());
        assert!(!file.is_writable());
    }
}
