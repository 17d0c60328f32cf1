//! A file that is memory, too: what is stored in it survives the process that stored it, and after [`Mapped::sync`] the
//! machine. Must not know what is in it.

mod bus_error;

use bus_error::Watch;
use rustix::fs::{
    AtFlags, CWD, FallocateFlags, MemfdFlags, Mode, OFlags, fallocate, fsync, memfd_create, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Zeros that are written at once where a file system cannot reserve space.
const ZEROS: usize = 1 << 20;

/// A file of words, mapped for as long as this lives.
#[derive(Debug)]
pub struct Mapped {
    base: NonNull<AtomicU64>,
    words: usize,
    /// What it begins with for as long as it is whole.
    first: u64,
    file: OwnedFd,
    /// `None` once it is being unmapped.
    watch: Option<Watch>,
}

// SAFETY: the mapping belongs to this value alone and lives as long as it; its words are only reached as atomics.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Makes a durable file of `len` bytes (a multiple of 8, not less than `head`) that begins with `head`, zeros behind it, in
    /// place of whatever has that name; until it is whole and durable the name keeps its old meaning. Links are not followed.
    pub fn create(path: &Path, head: &[u8], len: u64) -> io::Result<Mapped> {
        let size = usize::try_from(len).ok().filter(|&size| size % 8 == 0 && size >= head.len().max(8));
        let size = size.ok_or(io::ErrorKind::InvalidInput)?;
        let new = beside(path);
        remove_name(&new)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(CWD, &new, flags, Mode::RUSR | Mode::WUSR)?;
        let made = fill(&file, head, len).and_then(|()| {
            renameat(CWD, &new, CWD, path)?;
            sync_parent(path)
        });
        if let Err(error) = made {
            // The error that counts is the first; a half-made file has no meaning, and the next one replaces it.
            let _ = remove_name(&new);
            return Err(error);
        }
        Mapped::over(file, size, head)
    }

    /// The same without a name, in memory that nothing outlives: zeros behind `head`.
    pub fn unnamed(head: &[u8], len: u64) -> io::Result<Mapped> {
        let size = usize::try_from(len).ok().filter(|&size| size % 8 == 0 && size >= head.len().max(8));
        let size = size.ok_or(io::ErrorKind::InvalidInput)?;
        let file = memfd_create("stend-ledger", MemfdFlags::CLOEXEC)?;
        fill(&file, head, len)?;
        Mapped::over(file, size, head)
    }

    /// A file of so many bytes, all of which are allocated, with `head` at its beginning.
    fn over(file: OwnedFd, size: usize, head: &[u8]) -> io::Result<Mapped> {
        // SAFETY: a new shared mapping of a file of this length at an address of the kernel's choice; all of the file's blocks
        // have been allocated, and nobody else has its descriptor.
        let base = unsafe {
            mmap(std::ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0)?
        };
        let start = base.cast_const();
        let base = NonNull::new(base.cast::<AtomicU64>()).ok_or(io::ErrorKind::OutOfMemory)?;
        // From here on dropping unmaps it.
        let mut first = [0; 8];
        let known = head.len().min(8);
        first[..known].copy_from_slice(&head[..known]);
        // Not read from the file: it has had its name for a moment, and may be cut by now.
        let mut mapped = Mapped { base, words: size / 8, first: u64::from_ne_bytes(first), file, watch: None };
        mapped.watch = Some(Watch::begin(start, size)?);
        Ok(mapped)
    }

    /// Fails if the file is not what it was made: cut, also if it is as long as before by now, or without a place on its disk. What
    /// is stored then may be nowhere but in memory. Storing itself never fails, and costs nothing for that: see `bus_error.rs`.
    pub fn must_be_whole(&self) -> io::Result<()> {
        let lost = self.watch.as_ref().is_some_and(Watch::lost);
        let cut = (rustix::fs::fstat(&self.file)?.st_size as u64) < self.words as u64 * 8;
        if lost || cut || self.words()[0].load(Ordering::Acquire) != self.first {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "somebody else has cut or overwritten it"));
        }
        Ok(())
    }

    /// Its words, in the machine's own byte order.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has so many words, aligned to a page, and any bits are a valid word; it lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.words) }
    }

    /// Makes what was stored before durable.
    pub fn sync(&self) -> io::Result<()> {
        self.sync_first(self.words * 8)
    }

    /// The same for its first `bytes`.
    pub fn sync_first(&self, bytes: usize) -> io::Result<()> {
        let bytes = bytes.min(self.words * 8);
        // SAFETY: the range is of the mapping, which stays as it is.
        unsafe { msync(self.base.as_ptr().cast::<c_void>(), bytes, MsyncFlags::SYNC)? };
        Ok(rustix::fs::fdatasync(&self.file)?)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.watch = None;
        // SAFETY: the mapping is ours, and nobody has a reference into it any more. There is nothing to do about a failure.
        let _ = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.words * 8) };
    }
}

/// Removes a file by its name, durably; absent is fine.
pub fn remove(path: &Path) -> io::Result<()> {
    remove_name(path)?;
    sync_parent(path)
}

fn remove_name(path: &Path) -> io::Result<()> {
    match unlinkat(CWD, path, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Where a file is made before it gets its name.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".new");
    PathBuf::from(name)
}

/// Reserves the space, so that storing into the mapping cannot fail, and writes the beginning.
fn fill(file: &OwnedFd, head: &[u8], len: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, len) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let zeros = vec![0; ZEROS];
            let mut at = 0;
            while at < len {
                at += rustix::io::pwrite(file, &zeros[..ZEROS.min((len - at) as usize)], at)? as u64;
            }
        }
        other => other?,
    }
    let mut done = 0;
    while done < head.len() {
        done += rustix::io::pwrite(file, &head[done..], done as u64)?;
    }
    Ok(fsync(file)?)
}

/// Makes names in the directory of a file durable.
fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = openat(CWD, parent, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match fsync(directory.as_fd()) {
        // Some file systems cannot sync a directory; then there is nothing to wait for.
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn what_is_stored_is_in_the_file_behind_its_head() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("map");
        std::fs::write(&path, "what was there").unwrap();
        let map = Mapped::create(&path, b"headhead", 4096).unwrap();
        assert_eq!(map.words().len(), 512);
        map.words()[2].store(0x0102_0304_0506_0708, Ordering::Relaxed);
        map.sync().unwrap();
        drop(map);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes.len(), &bytes[..8]), (4096, &b"headhead"[..]));
        assert_eq!(bytes[16..24], 0x0102_0304_0506_0708u64.to_ne_bytes());
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn memory_without_a_name_begins_with_its_head_and_is_stored_to() {
        let map = Mapped::unnamed(b"headhead", 4096).unwrap();
        let word = |at: usize| map.words()[at].load(Ordering::Relaxed);
        assert_eq!((map.words().len(), word(0), word(1)), (512, u64::from_ne_bytes(*b"headhead"), 0));
        map.words()[511].store(7, Ordering::Relaxed);
        map.sync().unwrap();
        assert_eq!(word(511), 7);
        assert_eq!(Mapped::unnamed(b"", 9).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_file_that_is_cut_before_it_is_mapped_is_not_whole() {
        let (head, len) = (b"headhead", 4096);
        for again in [false, true] {
            let file = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
            fill(&file, head, len).unwrap();
            rustix::fs::ftruncate(&file, 0).unwrap();
            if again {
                rustix::fs::ftruncate(&file, len).unwrap();
            }
            let map = Mapped::over(file, len as usize, head).unwrap();
            assert_eq!(map.must_be_whole().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn a_file_that_is_cut_while_it_is_stored_to_kills_nobody_and_is_told() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("map");
        let pages = 64;
        // All of it, in the middle, within a page; and as long as before when anybody looks.
        for (number, (left, again)) in
            [(0, false), (32 * 4096, false), (4096 + 8, false), (0, true)].into_iter().enumerate()
        {
            let map = Mapped::create(&path, b"headhead", pages * 4096).unwrap();
            let other = Mapped::unnamed(b"headhead", 4096).unwrap();
            map.must_be_whole().unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(left).unwrap();
            if again {
                file.set_len(pages * 4096).unwrap();
            }
            std::thread::scope(|scope| {
                for lane in 0..4 {
                    let words = map.words();
                    scope.spawn(move || {
                        (1..words.len())
                            .rev()
                            .skip(lane)
                            .step_by(4)
                            .for_each(|at| words[at].store(7, Ordering::Release))
                    });
                }
            });
            map.words()[511].store(8, Ordering::Release);
            assert_eq!(map.words()[511].load(Ordering::Acquire), 8, "{number}");
            assert_eq!(map.must_be_whole().unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{number}");
            other.must_be_whole().unwrap();
        }
    }

    #[test]
    fn other_memory_that_is_gone_still_ends_the_process() {
        if std::env::var_os("STEND_TEST_BUS_ERROR").is_some() {
            let scratch = tempfile::tempfile().unwrap();
            scratch.set_len(4096).unwrap();
            let _ours = Mapped::unnamed(b"headhead", 4096).unwrap();
            // SAFETY: a new mapping at an address of the kernel's choice.
            let base = unsafe {
                mmap(std::ptr::null_mut(), 4096, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &scratch, 0)
            };
            scratch.set_len(0).unwrap();
            // SAFETY: it is mapped; that reading fails is what is tried.
            println!("{}", unsafe { base.unwrap().cast::<u8>().read_volatile() });
            return;
        }
        let name = "mapped::tests::other_memory_that_is_gone_still_ends_the_process";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let ended = child.args([name, "--exact"]).env("STEND_TEST_BUS_ERROR", "1").output().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.status), Some(libc::SIGBUS), "{ended:?}");
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let scratch = tempfile::tempdir().unwrap();
        let (path, other) = (scratch.path().join("map"), scratch.path().join("other"));
        std::fs::write(&other, "of somebody else").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        std::os::unix::fs::symlink(&other, beside(&path)).unwrap();
        Mapped::create(&path, b"", 8).unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"of somebody else");
        assert!(!path.is_symlink() && !beside(&path).is_symlink());
    }

    #[test]
    fn a_length_that_cannot_be_mapped_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("map");
        for (head, len) in [(&b""[..], 0), (b"", 7), (b"ninebytes", 8)] {
            assert_eq!(Mapped::create(&path, head, len).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        assert!(!path.exists());
    }
}
