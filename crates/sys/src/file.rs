//! An open target: one device or file, or several files that form one space. Reading needs nothing; a writable one can only
//! come from a [`crate::Claim`].

use crate::ownership::Ownership;
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags};
use rustix::io::ReadWriteFlags;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;

/// A target opened for I/O.
///
/// Offsets count over all of its files in order. A transfer stays inside of the file where it begins, as every block does
/// whose size divides [`grain`](Self::grain).
#[derive(Debug)]
pub struct IoFile {
    /// At least one.
    fds: Box<[OwnedFd]>,
    /// Where each of several ends; empty for one.
    ends: Arc<[u64]>,
    /// Where the space begins in each of them, bytes.
    begin: u64,
    direct: bool,
    writable: bool,
    /// Asked once: a discard is timed, and goes another way on a device.
    device: bool,
    /// A file without a name that was made for one user, who may empty it.
    own: bool,
    /// While it can be written through, the target stays ours.
    grips: Arc<[Arc<Ownership>]>,
}

impl IoFile {
    /// Opens a path for reading only; `direct` bypasses the page cache (`O_DIRECT`).
    pub fn open_read(path: &Path, direct: bool) -> io::Result<IoFile> {
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        flags.set(OFlags::DIRECT, direct);
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        blocking(&fd)?;
        Ok(IoFile::of_one(fd, direct, false, None))
    }

    /// A new file of `len` bytes without a name in the directory `dir`; it is gone when it is closed and
    /// no existing file can be touched this way.
    pub fn create_scratch(dir: &Path, len: u64, direct: bool) -> io::Result<IoFile> {
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE | OFlags::EXCL;
        flags.set(OFlags::DIRECT, direct);
        let fd = rustix::fs::open(dir, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::ftruncate(&fd, len)?;
        Ok(IoFile::of_one(fd, direct, true, None))
    }

    /// Files or devices opened alike, one behind the other as one space; `len` bytes of each, which for one that is several
    /// itself are all that it has. `InvalidInput` for none at all, and for what was opened differently.
    pub fn joined(files: Vec<IoFile>, len: &[u64]) -> io::Result<IoFile> {
        let Some(&IoFile { direct, writable, device, .. }) = files.first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let alike = |file: &IoFile| (file.direct, file.writable, file.device) == (direct, writable, device);
        if files.len() != len.len() || len.contains(&0) || !files.iter().all(alike) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (mut begin, mut ends) = (0u64, Vec::new());
        for (file, len) in files.iter().zip(len) {
            let end = begin.checked_add(*len).ok_or(io::ErrorKind::InvalidInput)?;
            if file.ends.last().is_some_and(|last| last != len) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let inner = file.ends.len().saturating_sub(1);
            ends.extend(file.ends[..inner].iter().map(|inside| begin + inside));
            ends.push(end);
            begin = end;
        }
        let ends: Arc<[u64]> = if ends.len() > 1 { ends.into() } else { Arc::default() };
        let grips = files.iter().flat_map(|file| file.grips.iter().cloned()).collect();
        let fds = files.into_iter().flat_map(|file| file.fds.into_vec()).collect();
        Ok(IoFile { fds, ends, begin: 0, direct, writable, device, own: false, grips })
    }

    /// The same files, of each of which the space has what lies behind its first `begin` bytes.
    #[must_use]
    pub fn beginning_at(self, begin: u64) -> IoFile {
        IoFile { begin, ..self }
    }

    fn of_one(fd: OwnedFd, direct: bool, writable: bool, ownership: Option<Arc<Ownership>>) -> IoFile {
        let device = is_block_device(&fd);
        IoFile {
            fds: Box::new([fd]),
            ends: Arc::default(),
            begin: 0,
            direct,
            writable,
            device,
            own: false,
            grips: ownership.into_iter().collect(),
        }
    }

    /// A second handle on the same open files, with the same rights.
    pub fn try_clone(&self) -> io::Result<IoFile> {
        let fds = self.fds.iter().map(OwnedFd::try_clone).collect::<io::Result<_>>()?;
        let IoFile { ref ends, begin, direct, writable, device, own, ref grips, .. } = *self;
        Ok(IoFile { fds, ends: ends.clone(), begin, direct, writable, device, own, grips: grips.clone() })
    }

    /// Wraps a descriptor that a claim opened for writing; it keeps what the claim holds.
    pub(crate) fn writable(fd: OwnedFd, direct: bool, ownership: Arc<Ownership>) -> IoFile {
        IoFile::of_one(fd, direct, true, Some(ownership))
    }

    /// Descriptors, in the order of the space that they form.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.fds.iter().map(OwnedFd::as_raw_fd)
    }

    /// The descriptor with this number.
    #[inline(always)]
    pub(crate) fn descriptor(&self, index: usize) -> RawFd {
        self.fds[index].as_raw_fd()
    }

    /// Which of the descriptors an offset belongs to, and the offset in it. What lies behind the end belongs to the last.
    /// One file needs no search; among 1000 it takes ten steps, a few nanoseconds.
    #[inline(always)]
    pub(crate) fn place(&self, offset: u64) -> (usize, u64) {
        if self.ends.is_empty() {
            return (0, self.begin + offset);
        }
        let index = self.ends.partition_point(|&end| end <= offset).min(self.ends.len() - 1);
        (index, self.begin + offset - if index == 0 { 0 } else { self.ends[index - 1] })
    }

    #[inline(always)]
    fn at(&self, offset: u64) -> (&OwnedFd, u64) {
        let (index, offset) = self.place(offset);
        (&self.fds[index], offset)
    }

    /// As [`at`](Self::at), of a device the descriptor by which the claim holds it alone. The kernel drops what its page cache has of
    /// a range before it takes the range away; asked through any other descriptor it may only let go of pages that nobody uses,
    /// and while a load goes through the page cache it answers `EBUSY`.
    //= linux 6.18, block/bdev.c: truncate_bdev_range
    fn at_exclusive(&self, offset: u64) -> (&OwnedFd, u64) {
        let (index, offset) = self.place(offset);
        let alone = self.device && self.grips.len() == self.fds.len();
        (if alone { &self.grips[index].held } else { &self.fds[index] }, offset)
    }

    /// Every descriptor, in the order of the space that they form.
    pub(crate) fn each(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.fds.iter().map(OwnedFd::as_fd)
    }

    /// Files that it consists of.
    pub fn count(&self) -> usize {
        self.fds.len()
    }

    /// The largest power of two that divides the place of every border between its files; `None`: there is none.
    pub fn grain(&self) -> Option<u64> {
        let borders = self.ends.split_last()?.1;
        borders.iter().map(|border| 1 << border.trailing_zeros()).min()
    }

    /// Bytes from `offset` to the next border between its files; behind the last border there is no end to them.
    pub fn room_at(&self, offset: u64) -> u64 {
        let borders = self.ends.split_last().map_or(&[][..], |(_, borders)| borders);
        let next = borders.get(borders.partition_point(|&border| border <= offset));
        next.map_or(u64::MAX, |border| border - offset)
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
        let (fd, offset) = self.at(offset);
        Ok(rustix::io::pread(fd, buffer, offset)?)
    }

    /// One `pwrite`; returns the bytes written.
    pub fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        let (fd, offset) = self.at(offset);
        Ok(rustix::io::pwrite(fd, buffer, offset)?)
    }

    /// One `pwritev2` that ends when what it wrote is durable (`RWF_DSYNC`); returns the bytes written.
    pub fn write_durably_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        let (flags, (fd, offset)) = (ReadWriteFlags::DSYNC, self.at(offset));
        Ok(rustix::io::pwritev2(fd, &[IoSlice::new(buffer)], offset, flags)?)
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
        let again = |fd| Ok(rustix::fs::open(format!("/proc/self/fd/{fd}"), flags, Mode::empty())?);
        let fds = self.descriptors().map(again).collect::<io::Result<_>>()?;
        let IoFile { ref ends, begin, direct, device, own, ref grips, .. } = *self;
        Ok(IoFile { fds, ends: ends.clone(), begin, direct, writable: true, device, own, grips: grips.clone() })
    }

    /// A new, empty file without a name in the directory of the one that `offset` lies in, open as this one is; it is gone when
    /// it is closed, however the process ends. Only beside a regular file that may be written.
    pub fn create_beside(&self, offset: u64) -> io::Result<IoFile> {
        let beside = self.at(offset).0;
        // Beside a device of any kind there would be a file in /dev.
        let is_file = FileType::from_raw_mode(rustix::fs::fstat(beside)?.st_mode) == FileType::RegularFile;
        if !self.writable || !is_file {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let link = std::fs::read_link(format!("/proc/self/fd/{}", beside.as_raw_fd()))?;
        let directory = link.parent().ok_or(io::ErrorKind::NotFound)?;
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE | OFlags::EXCL;
        flags.set(OFlags::DIRECT, self.direct);
        let fd = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(IoFile { own: true, ..IoFile::of_one(fd, self.direct, true, None) })
    }

    /// Makes a file that [`create_beside`](Self::create_beside) made empty again; refused for any other.
    pub fn empty(&self) -> io::Result<()> {
        if !self.own {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(rustix::fs::ftruncate(&self.fds[0], 0)?)
    }

    /// Whether every write ends when it is durable, as the kernel says.
    pub fn is_dsync(&self) -> bool {
        let has = |flags: OFlags| flags.bits() & libc::O_DSYNC as u32 != 0;
        self.fds.iter().all(|fd| rustix::fs::fcntl_getfl(fd).is_ok_and(has))
    }

    /// Waits until the page cache has handed a range to the target (`sync_file_range` with all of its steps).
    pub fn sync_range(&self, offset: u64, len: u64) -> io::Result<()> {
        let (mut offset, end) = (offset, offset.saturating_add(len));
        while offset < end {
            let (index, inside) = self.place(offset);
            let last = index + 1 >= self.ends.len();
            let here = if last { end } else { end.min(self.ends[index]) } - offset;
            crate::block::sync_range(&self.fds[index], inside, here)?;
            offset += here;
        }
        Ok(())
    }

    /// Tells the target that a range is not needed any more; its size stays. A device gets the discard of its
    /// kind (BLKDISCARD: TRIM, UNMAP, deallocate), what the range holds afterwards is the device's affair; a file
    /// gets a hole, which reads as zeroes. `Unsupported` if the target knows nothing of the kind.
    pub fn discard_at(&self, offset: u64, len: u64) -> io::Result<()> {
        let (fd, offset) = self.at_exclusive(offset);
        if self.is_device() {
            return crate::block::discard(fd, offset, len);
        }
        Ok(rustix::fs::fallocate(fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, len)?)
    }

    /// Makes a range read as zeroes; its size stays. The kernel asks a device to do it by itself and writes zeroes
    /// where it cannot; a file system notes that the range holds none. `Unsupported` where it knows nothing of the kind.
    pub fn zero_at(&self, offset: u64, len: u64) -> io::Result<()> {
        let (fd, offset) = self.at_exclusive(offset);
        Ok(rustix::fs::fallocate(fd, FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE, offset, len)?)
    }

    /// Whether it is known to be a block device.
    pub fn is_device(&self) -> bool {
        self.device
    }

    /// Whether the kernel can begin I/O on all of it without blocking. Where it cannot (tmpfs, zram, most FUSE), io_uring
    /// hands every I/O to a worker thread (io_uring/rw.c, `io_file_supports_nowait`). True if the kernel does not tell.
    pub fn begins_without_blocking(&self) -> bool {
        self.fds.iter().all(|fd| {
            let mut byte = [0u8; 1];
            let mut buffers = [std::io::IoSliceMut::new(&mut byte)];
            // The flag is refused before anything else is looked at, also before the alignment of direct I/O.
            let answer = rustix::io::preadv2(fd, &mut buffers, 0, rustix::io::ReadWriteFlags::NOWAIT);
            answer != Err(rustix::io::Errno::OPNOTSUPP)
        })
    }

    /// `fdatasync` of every file.
    pub fn sync_data(&self) -> io::Result<()> {
        self.fds.iter().try_for_each(|fd| Ok(rustix::fs::fdatasync(fd)?))
    }

    /// `fdatasync` of the file that `offset` lies in.
    pub fn sync_data_at(&self, offset: u64) -> io::Result<()> {
        Ok(rustix::fs::fdatasync(self.at(offset).0)?)
    }

    /// `fsync` of the file that `offset` lies in.
    pub fn sync_all_at(&self, offset: u64) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.at(offset).0)?)
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

/// The first of several files.
impl AsFd for IoFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fds[0].as_fd()
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
    fn a_file_made_beside_another_is_open_like_it_has_no_name_and_is_the_only_one_that_can_be_emptied() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        for direct in [false, true] {
            let file = IoFile::create_scratch(dir.path(), 8192, direct).unwrap();
            let own = file.create_beside(4096).unwrap();
            assert!(own.is_writable() && own.is_direct() == direct);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
            assert_eq!(
                own.open_dsync().unwrap().write_at(crate::buffer::Pool::new(1, 4096).unwrap().slot(0), 4096).unwrap(),
                4096
            );
            let len = |file: &IoFile| rustix::fs::fstat(file).unwrap().st_size;
            assert_eq!((len(&own), len(&file)), (8192, 8192));
            own.open_dsync().unwrap().empty().unwrap();
            assert_eq!((len(&own), file.empty().unwrap_err().kind()), (0, io::ErrorKind::PermissionDenied));
        }
        let named = tempfile::NamedTempFile::new().unwrap();
        assert!(IoFile::open_read(named.path(), false).unwrap().create_beside(0).is_err());
    }

    /// Three files of 8, 4 and 12 KiB as one.
    fn three() -> IoFile {
        let len = [8192, 4096, 12_288];
        let files = len.map(|len| IoFile::create_scratch(Path::new("/var/tmp"), len, false).unwrap());
        IoFile::joined(files.into(), &len).unwrap()
    }

    #[test]
    fn several_files_form_one_space() {
        let all = three();
        assert_eq!((all.count(), all.grain()), (3, Some(4096)));
        for block in 0..6 {
            all.write_at(&[block; 4096], u64::from(block) * 4096).unwrap();
        }
        let copy = all.open_dsync().unwrap().try_clone().unwrap();
        let mut data = [9; 4096];
        for block in 0..6 {
            assert_eq!(copy.read_at(&mut data, u64::from(block) * 4096).unwrap(), 4096);
            assert_eq!(data, [block; 4096]);
        }
        let places = [0, 8191, 8192, 12_288, 24_575, 24_576].map(|offset| all.place(offset));
        assert_eq!(places, [(0, 0), (0, 8191), (1, 0), (2, 0), (2, 12_287), (2, 12_288)]);
        assert_eq!(all.read_at(&mut data, 24_576).unwrap(), 0, "behind the end");
        let rooms = [0, 8191, 8192, 12_288, 24_576].map(|offset| all.room_at(offset));
        assert_eq!(rooms, [8192, 1, 4096, u64::MAX, u64::MAX], "to the next border");
        let (mut across, mut last) = ([0; 8192], [7; 4096]);
        assert_eq!(all.read_at(&mut across, 4096).unwrap(), 4096, "a transfer ends with its file");
        all.discard_at(8192, 4096).unwrap();
        all.zero_at(20_480, 4096).unwrap();
        all.read_at(&mut data, 8192).unwrap();
        all.read_at(&mut last, 20_480).unwrap();
        assert_eq!((data, last), ([0; 4096], [0; 4096]));
        all.sync_range(4096, 16_384).unwrap();
        all.sync_data().unwrap();
        all.sync_data_at(8192).unwrap();
        all.sync_all_at(12_288).unwrap();
    }

    #[test]
    fn a_space_that_begins_behind_the_first_bytes_of_its_files_leaves_them_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let first = IoFile::create_scratch(dir.path(), 16384, false).unwrap();
        let second = IoFile::create_scratch(dir.path(), 16384, false).unwrap();
        let whole = [first.try_clone().unwrap(), second.try_clone().unwrap()];
        let part = IoFile::joined(vec![first, second], &[4096, 4096]).unwrap().beginning_at(8192);
        part.write_at(&[1; 4096], 0).unwrap();
        part.try_clone().unwrap().write_at(&[2; 4096], 4096).unwrap();
        for (file, byte) in whole.iter().zip([1, 2]) {
            let mut all = [9; 16384];
            assert_eq!(file.read_at(&mut all, 0).unwrap(), 16384);
            let written: Vec<usize> = (0..16384).filter(|at| all[*at] == byte).collect();
            assert_eq!((written.first(), written.len()), (Some(&8192), 4096));
            assert!(all.iter().all(|found| [0, byte].contains(found)));
        }
        part.zero_at(0, 4096).unwrap();
        let mut read = [9; 4096];
        part.open_dsync().unwrap().read_at(&mut read, 4096).unwrap();
        assert_eq!(read, [2; 4096]);
        let alone = whole[0].try_clone().unwrap().beginning_at(8192);
        assert_eq!((alone.read_at(&mut read, 0).unwrap(), read), (4096, [0; 4096]), "zeroed in its own part");
    }

    #[test]
    fn only_files_that_were_opened_alike_are_joined() {
        let scratch = |direct| IoFile::create_scratch(Path::new("/var/tmp"), 4096, direct).unwrap();
        let refused =
            |files, len: &[u64]| IoFile::joined(files, len).unwrap_err().kind() == io::ErrorKind::InvalidInput;
        assert!(refused(Vec::new(), &[]));
        assert!(refused(vec![scratch(true), scratch(false)], &[4096, 4096]));
        assert!(refused(vec![scratch(true)], &[4096, 4096]) && refused(vec![scratch(true)], &[0]));
        assert!(refused(vec![scratch(true), scratch(true)], &[u64::MAX, 1]));
        assert!(refused(vec![three(), scratch(false)], &[4096, 4096]), "one of several has the length that it has");
        let nested = IoFile::joined(vec![scratch(false), three()], &[4096, 24_576]).unwrap();
        assert_eq!([0, 4096, 12_288, 28_671].map(|at| nested.place(at)), [(0, 0), (1, 0), (2, 0), (3, 12_287)]);
        let one = IoFile::joined(vec![scratch(false)], &[4096]).unwrap();
        assert_eq!((one.count(), one.grain(), one.place(1 << 40)), (1, None, (0, 1 << 40)));
        assert_eq!(one.room_at(4096), u64::MAX);
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
