//! The right to write to one target. Nothing in the tool can open for writing without it: only here is a
//! writable [`IoFile`] made. A claim is given for a block device that is leased, locked and held exclusively,
//! for a file that it created itself, or for a null device, to which nothing can happen; it never opens a file that was there
//! before.

mod directory;
pub(crate) mod lease;
mod mark;

pub use directory::{DirectoryOwner, OwnDirectory};
pub use lease::{Lease, NotLeased, Seen};

use crate::block::{self, DevNo};
use crate::file::IoFile;
use crate::ownership::Ownership;
use crate::signature::{Found, Image};
use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags, flock, fstat, openat};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stend_base::{Say, say};

/// How often a lock or device that someone holds for a moment is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// A device to be claimed.
#[derive(Debug)]
pub struct DeviceRequest<'a> {
    /// Its node, e.g. `/dev/nvme0n1p2`.
    pub node: &'a Path,
    /// Node of the whole disk; the same if it is one.
    pub whole_disk: &'a Path,
    /// The device that `node` must lead to.
    pub device: DevNo,
    /// Size that it must have, bytes.
    pub size: u64,
    /// Directory of the leases; made if absent.
    pub leases: &'a Path,
    /// Name of the lease, the same for everyone who means this disk.
    pub lease: &'a str,
    /// What others read who ask for it meanwhile.
    pub note: &'a str,
    /// How long to wait for those who look at a device for an instant, such as udev.
    pub patience: Duration,
}

/// Why a claim was not given, or gave no writable file.
#[derive(Debug)]
pub enum NotClaimed {
    /// A living process holds the lease; its note.
    Leased(String),
    /// Another program holds the lock of the whole disk.
    DiskLocked,
    /// The kernel refuses: mounted, in use by another device, or held exclusively.
    Busy,
    /// It is not what it was when it was looked at; what differs, e.g. "its size".
    Changed(Say),
    /// The file system refuses to bypass the page cache.
    DirectRefused,
    /// Anything else; what was tried, as words that follow "cannot", and why it failed.
    Io(Say, io::Error),
}

/// A lease on one target. Everything is let go when the claim and every writable file that it gave are
/// dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub struct Claim {
    ownership: Arc<Ownership>,
    expect: Expect,
    opened: AtomicBool,
}

/// What must still hold right before the first write.
#[derive(Debug)]
enum Expect {
    Device { device: DevNo, size: u64, signatures: Vec<Found> },
    File { size: u64 },
    Null(DevNo),
}

impl Claim {
    /// Leases, locks and exclusively holds a block device, in this order. Writes nothing to it.
    pub fn device(request: &DeviceRequest) -> std::result::Result<Claim, NotClaimed> {
        let lease = take_lease(request)?;
        let whole_disk = open_node(request.whole_disk, OFlags::empty())
            .map_err(io_error(say!("open the whole disk", "открыть весь диск")))?;
        let deadline = Instant::now() + request.patience;
        patiently(deadline, || match flock(&whole_disk, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => Err(NotClaimed::DiskLocked),
            other => other.map_err(io_error(say!("lock the whole disk", "заблокировать весь диск"))),
        })?;
        // For writing, because it also discards: see `IoFile::discard_at`.
        let held = patiently(deadline, || match open_node(request.node, OFlags::EXCL | OFlags::RDWR) {
            Err(rustix::io::Errno::BUSY) => Err(NotClaimed::Busy),
            other => other.map_err(io_error(say!("hold the device exclusively", "занять устройство монопольно"))),
        })?;
        let shape = block::geometry(&held)
            .map_err(|e| NotClaimed::Io(say!("ask the device for its size", "узнать размер устройства"), e))?;
        if shape.device != Some(request.device) {
            return Err(NotClaimed::Changed(say!("the device behind its name", "устройство за этим именем")));
        }
        if shape.size != request.size {
            return Err(NotClaimed::Changed(say!("size", "размер")));
        }
        let signatures = signatures_of(&held, shape.size)?;
        let expect = Expect::Device { device: request.device, size: shape.size, signatures };
        let ownership = Ownership { held, _whole_disk: Some(whole_disk), lease: Some(lease) };
        Ok(Claim { ownership: Arc::new(ownership), expect, opened: AtomicBool::new(false) })
    }

    /// Creates a file of `size` bytes in a directory of ours and reserves its space. Fails if the name exists;
    /// where the space is refused nothing is left behind. A file system that cannot reserve gives a sparse
    /// file, as [`Claim::is_reserved`] tells.
    pub fn new_file(directory: &OwnDirectory, name: &str, size: u64) -> std::result::Result<Claim, NotClaimed> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = openat(directory, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(io_error(say!("create the test file", "создать тестовый файл")))?;
        let reserve = || rustix::fs::fallocate(&held, FallocateFlags::empty(), 0, size);
        let reserved = match rustix::io::retry_on_intr(reserve) {
            Err(rustix::io::Errno::OPNOTSUPP) => rustix::fs::ftruncate(&held, size),
            other => other,
        };
        if let Err(error) = reserved {
            // The file is ours and empty; if removing fails too, the directory's owner removes it.
            let _ = directory.remove_file(name);
            return Err(io_error(say!("reserve space for the test file", "выделить место для тестового файла"))(
                error,
            ));
        }
        let ownership = Ownership { held, _whole_disk: None, lease: None };
        Ok(Claim { ownership: Arc::new(ownership), expect: Expect::File { size }, opened: AtomicBool::new(false) })
    }

    /// Opens `/dev/null` or `/dev/zero`, which nothing can happen to and everybody may have at the same time.
    /// Anything else at this path is [`NotClaimed::Changed`].
    pub fn null_device(path: &Path) -> std::result::Result<Claim, NotClaimed> {
        let held = open_node(path, OFlags::empty()).map_err(io_error(say!("open the device", "открыть устройство")))?;
        let device = null_number(&held)?;
        let ownership = Ownership { held, _whole_disk: None, lease: None };
        Ok(Claim { ownership: Arc::new(ownership), expect: Expect::Null(device), opened: AtomicBool::new(false) })
    }

    /// Whether the space of the target is certain: always for a device.
    pub fn is_reserved(&self) -> bool {
        match self.expect {
            Expect::Device { .. } | Expect::Null(_) => true,
            Expect::File { size } => fstat(&self.ownership.held).is_ok_and(|s| s.st_blocks as u64 * 512 >= size),
        }
    }

    /// Opens the target for reading and writing. Before the first time device, size and signatures are read
    /// again and must be those at the time of the claim.
    pub fn open_write(&self, direct: bool) -> std::result::Result<IoFile, NotClaimed> {
        if !self.opened.load(Ordering::Acquire) {
            self.verify()?;
        }
        // Through the descriptor, not the name: a name can change its meaning.
        let again = format!("/proc/self/fd/{}", self.ownership.held.as_raw_fd());
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC;
        flags.set(OFlags::DIRECT, direct);
        let fd = match rustix::fs::open(again, flags, Mode::empty()) {
            Err(rustix::io::Errno::INVAL) if direct => return Err(NotClaimed::DirectRefused),
            other => other.map_err(io_error(say!("open for writing", "открыть на запись")))?,
        };
        self.opened.store(true, Ordering::Release);
        Ok(IoFile::writable(fd, direct, Arc::clone(&self.ownership)))
    }

    /// Lets go of a device, so that a layer above can take it, and keeps the lease, by which everyone who asks still learns that it
    /// is taken. `None` where there is none, or while a file that this claim gave is open.
    pub fn hand_over(self) -> Option<Lease> {
        Arc::into_inner(self.ownership)?.lease
    }

    fn verify(&self) -> std::result::Result<(), NotClaimed> {
        let shape = block::geometry(&self.ownership.held)
            .map_err(|e| NotClaimed::Io(say!("ask the target for its size", "узнать размер цели"), e))?;
        match &self.expect {
            Expect::File { size } if shape.size != *size => Err(NotClaimed::Changed(say!("size", "размер"))),
            Expect::File { .. } => match fstat(&self.ownership.held)
                .map_err(io_error(say!("look at the test file", "проверить тестовый файл")))?
                .st_nlink
            {
                1 => Ok(()),
                _ => Err(NotClaimed::Changed(say!("number of names", "число имён"))),
            },
            Expect::Null(device) if null_number(&self.ownership.held)? == *device => Ok(()),
            Expect::Null(_) => {
                Err(NotClaimed::Changed(say!("the device behind its name", "устройство за этим именем")))
            }
            Expect::Device { device, size, signatures } => {
                if shape.device != Some(*device) {
                    return Err(NotClaimed::Changed(say!("the device behind its name", "устройство за этим именем")));
                }
                if shape.size != *size {
                    return Err(NotClaimed::Changed(say!("size", "размер")));
                }
                match signatures_of(&self.ownership.held, *size)? == *signatures {
                    true => Ok(()),
                    false => Err(NotClaimed::Changed(say!("signatures", "метки"))),
                }
            }
        }
    }
}

fn take_lease(request: &DeviceRequest) -> std::result::Result<Lease, NotClaimed> {
    std::fs::create_dir_all(request.leases)
        .map_err(|e| NotClaimed::Io(say!("make the directory of leases", "создать каталог аренд"), e))?;
    let directory = OwnDirectory::open(request.leases)
        .map_err(|e| NotClaimed::Io(say!("open the directory of leases", "открыть каталог аренд"), e))?;
    Lease::take(&directory, request.lease, request.note).map_err(|error| match error {
        NotLeased::Held(note) => NotClaimed::Leased(note),
        NotLeased::Io(error) => NotClaimed::Io(say!("write the lease", "записать аренду"), error),
    })
}

fn open_node(node: &Path, more: OFlags) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(node, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | more, Mode::empty())
}

/// The number of a null device; anything else is a change of what was looked at.
fn null_number(held: &OwnedFd) -> std::result::Result<DevNo, NotClaimed> {
    let stat = fstat(held).map_err(io_error(say!("look at the device", "проверить устройство")))?;
    let device = DevNo::from_raw(stat.st_rdev);
    let is_char = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::CharacterDevice;
    match is_char && block::null_name(device).is_some() {
        true => Ok(device),
        false => Err(NotClaimed::Changed(say!("the kind of the device", "вид устройства"))),
    }
}

fn signatures_of(held: &OwnedFd, size: u64) -> std::result::Result<Vec<Found>, NotClaimed> {
    let read = || -> io::Result<Vec<Found>> {
        let file = IoFile::open_read(Path::new(&format!("/proc/self/fd/{}", held.as_raw_fd())), false)?;
        Ok(Image::read(&file, 0, size)?.signatures())
    };
    read().map_err(|e| NotClaimed::Io(say!("read its signatures", "прочитать метки"), e))
}

fn io_error(what: Say) -> impl FnOnce(rustix::io::Errno) -> NotClaimed {
    move |error| NotClaimed::Io(what, error.into())
}

/// Tries again until the deadline while someone else is in the way.
fn patiently<T>(
    deadline: Instant,
    mut attempt: impl FnMut() -> std::result::Result<T, NotClaimed>,
) -> std::result::Result<T, NotClaimed> {
    loop {
        match attempt() {
            Err(NotClaimed::DiskLocked | NotClaimed::Busy) if Instant::now() < deadline => std::thread::sleep(RETRY),
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> (tempfile::TempDir, OwnDirectory) {
        let dir = tempfile::tempdir().unwrap();
        let own = OwnDirectory::create(&dir.path().join("own")).unwrap();
        (dir, own)
    }

    #[test]
    fn a_claimed_file_has_its_size_and_takes_writes() {
        let (_keep, own) = scratch();
        let claim = Claim::new_file(&own, "data", 1 << 20).unwrap();
        assert!(claim.is_reserved());
        let file = claim.open_write(false).unwrap();
        assert!(file.is_writable());
        assert_eq!(file.write_at(b"hello", 4096).unwrap(), 5);
        assert_eq!(std::fs::metadata(own.path().join("data")).unwrap().len(), 1 << 20);
    }

    #[test]
    fn a_file_that_exists_is_never_claimed() {
        let (_keep, own) = scratch();
        std::fs::write(own.path().join("data"), "precious").unwrap();
        assert!(
            matches!(Claim::new_file(&own, "data", 4096), Err(NotClaimed::Io(what, _)) if what.en == "create the test file")
        );
        assert_eq!(std::fs::read(own.path().join("data")).unwrap(), b"precious");
    }

    #[test]
    fn null_devices_are_given_to_anybody_and_nothing_else_is_taken_for_one() {
        for path in ["/dev/null", "/dev/zero"] {
            let claim = Claim::null_device(Path::new(path)).unwrap();
            let file = claim.open_write(false).unwrap();
            assert_eq!(file.write_at(b"gone", 1 << 40).unwrap(), 4);
            assert!(matches!(claim.open_write(true), Err(NotClaimed::DirectRefused)));
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [Path::new("/dev/urandom"), file.path()] {
            let refused = Claim::null_device(path).unwrap_err();
            assert!(
                matches!(refused, NotClaimed::Changed(ref what) if what.en == "the kind of the device"),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn a_file_without_room_is_not_left_behind() {
        let (_keep, own) = scratch();
        let refused = Claim::new_file(&own, "data", 1 << 60).unwrap_err();
        assert!(matches!(refused, NotClaimed::Io(ref what, _) if what.en.starts_with("reserve")), "{refused:?}");
        assert!(!own.has_file("data"));
    }

    #[test]
    fn a_test_file_that_was_cut_or_linked_is_not_written() {
        let (_keep, own) = scratch();
        let claim = Claim::new_file(&own, "data", 1 << 20).unwrap();
        let path = own.path().join("data");
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
        assert!(matches!(claim.open_write(false), Err(NotClaimed::Changed(what)) if what.en == "size"));
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
        std::fs::hard_link(&path, own.path().join("second")).unwrap();
        assert!(matches!(claim.open_write(false), Err(NotClaimed::Changed(what)) if what.en == "number of names"));
    }
}
