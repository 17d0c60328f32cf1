//! What the kernel says about a block device or file: size, block sizes, direct I/O alignment, backing
//! file of a loop device; and two calls on ranges that rustix lacks. Must not decide whether anything may be written.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, SeekFrom, StatxFlags, statx};
use rustix::ioctl::{Getter, Opcode, Setter, Updater, ioctl};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

/// `BLKROGET` of linux/fs.h: read-only flag as an int.
const BLKROGET: Opcode = 0x125e;
/// `BLKDISCARD` of linux/fs.h: a range as two 64-bit numbers, bytes.
const BLKDISCARD: Opcode = 0x1277;
/// `LOOP_GET_STATUS64` of linux/loop.h.
const LOOP_GET_STATUS64: Opcode = 0x4c05;

/// Number of a device: major and minor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevNo {
    /// Driver.
    pub major: u32,
    /// Device of the driver.
    pub minor: u32,
}

impl DevNo {
    /// From `st_dev` or `st_rdev`.
    pub fn from_raw(dev: u64) -> DevNo {
        DevNo { major: rustix::fs::major(dev), minor: rustix::fs::minor(dev) }
    }

    /// From the form of sysfs and mountinfo, `8:1`.
    pub fn parse(text: &str) -> Option<DevNo> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DevNo { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Whether a file system without a block device of its own (btrfs, overlay, tmpfs, nfs) is meant.
    pub fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DevNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Under which name a character device is known that keeps nothing, wherever its node lies: `/dev/null` or `/dev/zero`
/// (Linux, Documentation/admin-guide/devices.txt: 1:3 and 1:5).
pub fn null_name(device: DevNo) -> Option<&'static str> {
    match (device.major, device.minor) {
        (1, 3) => Some("/dev/null"),
        (1, 5) => Some("/dev/zero"),
        _ => None,
    }
}

/// Shape of an open block device or file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Its number if it is a block device.
    pub device: Option<DevNo>,
    /// Size, bytes.
    pub size: u64,
    /// Smallest direct I/O and the alignment of its offset, bytes. For a file on a kernel before 6.1, which
    /// does not tell, 4096.
    pub logical_block: u32,
    /// Physical block, bytes; for a file the same as `logical_block`.
    pub physical_block: u32,
    /// The device is set read-only.
    pub read_only: bool,
    /// Direct I/O is known not to work on this file.
    pub direct_refused: bool,
}

/// Used where a file system does not tell its direct I/O alignment: every block size in use divides it.
const BLOCK_UNKNOWN: u32 = 4096;

/// Asks the kernel for the shape of an open device, file or directory (size 0).
pub fn geometry(fd: impl AsFd) -> io::Result<Geometry> {
    let stat = rustix::fs::fstat(&fd)?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::BlockDevice {
        return Ok(Geometry {
            device: Some(DevNo::from_raw(stat.st_rdev)),
            size: rustix::fs::seek(&fd, SeekFrom::End(0))?,
            logical_block: rustix::fs::ioctl_blksszget(&fd)?,
            physical_block: rustix::fs::ioctl_blkpbszget(&fd)?,
            read_only: read_only(&fd)?,
            direct_refused: false,
        });
    }
    let answer = statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)?;
    let told = answer.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    let align = if told && answer.stx_dio_offset_align > 0 { answer.stx_dio_offset_align } else { BLOCK_UNKNOWN };
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile;
    Ok(Geometry {
        device: None,
        size: if is_file { stat.st_size as u64 } else { 0 },
        logical_block: align,
        physical_block: align,
        read_only: false,
        direct_refused: is_file && told && answer.stx_dio_offset_align == 0,
    })
}

fn read_only(fd: impl AsFd) -> io::Result<bool> {
    // SAFETY: BLKROGET stores one int through its pointer, and the getter provides room for one.
    let flag: i32 = unsafe { ioctl(fd, Getter::<BLKROGET, i32>::new())? };
    Ok(flag != 0)
}

/// Writes a range out of the page cache and waits for it: neither the cache of the target nor metadata.
pub(crate) fn sync_range(fd: impl AsFd, offset: u64, len: u64) -> io::Result<()> {
    let steps = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    let range = |value: u64| libc::off64_t::try_from(value).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    // SAFETY: the call takes numbers and an open descriptor, and touches no memory of ours.
    match unsafe { libc::sync_file_range(fd.as_fd().as_raw_fd(), range(offset)?, range(len)?, steps) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Discards a range of an open device, bytes; both must be multiples of its logical block.
pub(crate) fn discard(fd: impl AsFd, offset: u64, len: u64) -> io::Result<()> {
    // SAFETY: BLKDISCARD reads two 64-bit numbers through its pointer, and the setter passes a pointer to two.
    unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([offset, len]))? };
    Ok(())
}

/// File behind a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopBacking {
    /// Device of the file system that holds the file.
    pub device: DevNo,
    /// Inode of the file.
    pub inode: u64,
    /// The device itself, if a device and not a file is behind it.
    pub block: Option<DevNo>,
}

/// `struct loop_info64` of linux/loop.h; only its first fields are used.
#[repr(C)]
#[derive(Clone, Copy)]
struct LoopInfo {
    device: u64,
    inode: u64,
    block: u64,
    rest: [u64; 26],
}

/// The file behind an open loop device; an error if it is not a loop device or has no file.
pub fn loop_backing(fd: impl AsFd) -> io::Result<LoopBacking> {
    let mut info = LoopInfo { device: 0, inode: 0, block: 0, rest: [0; 26] };
    // SAFETY: LOOP_GET_STATUS64 fills one struct loop_info64, and LoopInfo has its size (tested: 232 bytes).
    unsafe { ioctl(fd, Updater::<LOOP_GET_STATUS64, LoopInfo>::new(&mut info))? };
    let block = Some(decode(info.block)).filter(|number| !number.is_anonymous());
    Ok(LoopBacking { device: decode(info.device), inode: info.inode, block })
}

/// The kernel's huge_encode_dev: 8 low bits of the minor, 12 bits of the major, the rest of the minor.
fn decode(dev: u64) -> DevNo {
    DevNo { major: (dev >> 8) as u32 & 0xfff, minor: (dev as u32 & 0xff) | ((dev >> 12) as u32 & 0xfff00) }
}

/// Room of the file system that a path lies on: what everyone could use if it were empty, and what is free
/// for everyone, bytes. Blocks reserved for root belong to neither, as in `df`.
pub fn space(path: &Path) -> io::Result<(u64, u64)> {
    let told = rustix::fs::statvfs(path)?;
    let used = told.f_blocks.saturating_sub(told.f_bfree);
    Ok((used.saturating_add(told.f_bavail) * told.f_frsize, told.f_bavail * told.f_frsize))
}

/// The number of the block device at `path` (links followed), `None` if it is something else. Does not wait
/// for a network file system that hangs.
pub fn block_device_at(path: &Path) -> io::Result<Option<DevNo>> {
    let answer = statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE)?;
    let kind = rustix::fs::FileType::from_raw_mode(u32::from(answer.stx_mode));
    Ok((kind == rustix::fs::FileType::BlockDevice)
        .then_some(DevNo { major: answer.stx_rdev_major, minor: answer.stx_rdev_minor }))
}

/// Whether someone holds the block device exclusively: a mounted file system, swap, a volume manager or a
/// program. Asks by taking it for an instant, without writing.
pub fn is_held_exclusively(path: &Path) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(_) => Ok(false),
        Err(rustix::io::Errno::BUSY) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Makes the next buffered read of `file` come from the device where the page cache is clean: a disk and its
/// partitions have separate caches, so one may hold what the other overwrote long ago.
pub fn forget_clean_pages(file: impl AsFd, offset: u64, len: u64) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, offset, std::num::NonZeroU64::new(len), rustix::fs::Advice::DontNeed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_status_has_the_size_of_the_kernels_struct() {
        assert_eq!(size_of::<LoopInfo>(), 232);
    }

    #[test]
    fn large_minor_numbers_of_loop_backings_are_decoded() {
        assert_eq!(decode(0x10_3b2a), DevNo { major: 0x3b, minor: 0x12a });
    }

    #[test]
    fn a_file_system_has_more_space_than_is_free() {
        let (total, free) = space(Path::new("/")).unwrap();
        assert!(total > 0 && free <= total);
    }

    #[test]
    fn device_numbers_are_read_and_printed_as_sysfs_does() {
        assert_eq!(DevNo::parse("259:3\n"), Some(DevNo { major: 259, minor: 3 }));
        assert_eq!(DevNo { major: 8, minor: 1 }.to_string(), "8:1");
        assert_eq!(DevNo::parse("8"), None);
        assert!(DevNo::from_raw(0).is_anonymous());
    }

    #[test]
    fn a_file_tells_its_size_and_alignment() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(12_345).unwrap();
        let shape = geometry(file.as_file()).unwrap();
        assert_eq!((shape.device, shape.size, shape.read_only), (None, 12_345, false));
        assert!(shape.logical_block.is_power_of_two() && shape.logical_block >= 512);
    }

    #[test]
    fn a_regular_file_is_no_block_device() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(block_device_at(file.path()).unwrap(), None);
        assert!(block_device_at(Path::new("/nonexistent/x")).is_err());
        assert!(loop_backing(file.as_file()).is_err());
    }
}
