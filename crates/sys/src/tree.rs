//! Removing directories with everything in them: the only place that does. Stays on the mount on which the directory lies,
//! and removes nothing if anything is mounted in it. Must not follow links.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags, openat, statat, statx, unlinkat};
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use stend_base::{Error, say};

const OPEN: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Directories are opened one below the other: this many open files at most. Databases and build trees are ten deep.
const DEPTH_MAX: u32 = 200;

/// Something is mounted where a directory should be removed. It is the inner error of an [`io::Error`] of this module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountFound {
    /// Where.
    pub at: PathBuf,
}

impl std::fmt::Display for MountFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "something is mounted at `{}`", self.at.display())
    }
}

impl std::error::Error for MountFound {}

/// The mount that an error of this module is about, if it is about one.
pub fn mount_found(error: &io::Error) -> Option<&MountFound> {
    error.get_ref()?.downcast_ref()
}

/// What to tell a person of such an error; `None` if it is not about a mount.
pub fn refusal(error: &io::Error) -> Option<Box<Error>> {
    let at = mount_found(error)?.at.display();
    let message =
        say!("nothing was removed: something is mounted at `{at}`", "ничего не удалено: в `{at}` что-то смонтировано");
    Some(Error::refused(message).hint(say!(
        "check it with `findmnt '{at}'` and unmount it",
        "посмотрите командой `findmnt '{at}'`, что это, и размонтируйте"
    )))
}

/// Removes a directory with everything in it; absent is fine. Fails before anything is removed if it is a link or no
/// directory, if it is a mount point, or if anything is mounted in it, also a file or another directory of the same file system.
pub fn remove(path: &Path) -> io::Result<()> {
    match openat(CWD, path, OPEN, Mode::empty()) {
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(directory) => {
            empty(&directory, path)?;
            removed(unlinkat(CWD, path, AtFlags::REMOVEDIR), path)
        }
    }
}

/// The same for `name` in an open directory, whose path is only for messages.
pub fn remove_in(parent: BorrowedFd<'_>, name: &str, parent_path: &Path) -> io::Result<()> {
    let path = parent_path.join(name);
    match openat(parent, name, OPEN, Mode::empty()) {
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(directory) => {
            empty(&directory, &path)?;
            removed(unlinkat(parent, name, AtFlags::REMOVEDIR), &path)
        }
    }
}

/// Fails with a [`MountFound`] if the open directory is a mount point or anything is mounted in it, however deep.
pub fn must_hold_no_mount(directory: impl AsFd, path: &Path) -> io::Result<()> {
    let mount = own_mount(directory.as_fd(), path)?;
    look(directory.as_fd(), mount, path, DEPTH_MAX)
}

/// Fails with a [`MountFound`] if a directory is a mount point: what has a name in it is then not what had that name before.
pub fn must_be_no_mount_point(path: &Path) -> io::Result<()> {
    let directory = openat(CWD, path, OPEN, Mode::empty())?;
    own_mount(directory.as_fd(), path).map(drop)
}

/// Opens a directory in another one, for reading; fails with a [`MountFound`] if it is a mount point. Links are not followed.
pub fn enter(parent: impl AsFd, name: &OsStr, parent_path: &Path) -> io::Result<OwnedFd> {
    let inner = openat(&parent, name, OPEN, Mode::empty())?;
    own_mount(inner.as_fd(), &parent_path.join(name))?;
    Ok(inner)
}

fn empty(directory: &OwnedFd, path: &Path) -> io::Result<()> {
    must_hold_no_mount(directory, path)?;
    let mount = mount_of(directory.as_fd(), OsStr::new(""))?;
    sweep(directory.as_fd(), mount, path, DEPTH_MAX)
}

/// The mount on which a directory lies that is no mount point itself: that of the directory above.
fn own_mount(directory: BorrowedFd<'_>, path: &Path) -> io::Result<u64> {
    let mount = mount_of(directory, OsStr::new(""))?;
    if mount_of(directory, OsStr::new(".."))? == mount { Ok(mount) } else { Err(found(path)) }
}

/// Looks at everything below, and changes nothing.
fn look(directory: BorrowedFd<'_>, mount: u64, path: &Path, depth: u32) -> io::Result<()> {
    let deeper = depth.checked_sub(1).ok_or_else(|| too_deep(path))?;
    for name in entries(directory)? {
        let inner_path = path.join(&name);
        // What its owner removed meanwhile is not our concern.
        let Some(inner) = present(mount_of(directory, &name))? else { continue };
        if inner != mount {
            return Err(found(&inner_path));
        }
        if !is_directory(directory, &name)? {
            continue;
        }
        let Some(inner) = present(openat(directory, &name, OPEN, Mode::empty()).map_err(io::Error::from))? else {
            continue;
        };
        look(inner.as_fd(), mount, &inner_path, deeper)?;
    }
    Ok(())
}

/// Removes everything below. What was mounted since [`look`] is not entered, and the kernel does not remove what it is mounted on.
fn sweep(directory: BorrowedFd<'_>, mount: u64, path: &Path, depth: u32) -> io::Result<()> {
    let deeper = depth.checked_sub(1).ok_or_else(|| too_deep(path))?;
    for name in entries(directory)? {
        let inner_path = path.join(&name);
        let Some(is_directory) = present(is_directory(directory, &name))? else { continue };
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        if is_directory {
            let opened = openat(directory, &name, OPEN, Mode::empty()).map_err(io::Error::from);
            let Some(inner) = present(opened)? else { continue };
            if mount_of(inner.as_fd(), OsStr::new(""))? != mount {
                return Err(found(&inner_path));
            }
            sweep(inner.as_fd(), mount, &inner_path, deeper)?;
        }
        removed(unlinkat(directory, &name, flags), &inner_path)?;
    }
    Ok(())
}

/// Names in a directory. They are collected first, so that one descriptor per level is open.
fn entries(directory: BorrowedFd<'_>) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_os_string());
        }
    }
    Ok(names)
}

fn is_directory(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<bool> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// Number of the mount that `name` in a directory is on; an empty name is the directory itself. For a mount point that is what
/// is mounted there. Device numbers would not do: a directory of the same file system can be mounted, too.
fn mount_of(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<u64> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::EMPTY_PATH;
    match statx(directory, name, flags, StatxFlags::MNT_ID) {
        Ok(seen) if StatxFlags::from_bits_retain(seen.stx_mask).contains(StatxFlags::MNT_ID) => Ok(seen.stx_mnt_id),
        // Linux before 5.8, or a container that hides the call.
        Ok(_) | Err(Errno::NOSYS | Errno::PERM) => mount_by_descriptor(directory, name),
        Err(error) => Err(error.into()),
    }
}

/// The same by what the kernel tells of an open file.
fn mount_by_descriptor(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<u64> {
    let name = if name.is_empty() { OsStr::new(".") } else { name };
    let name = CString::new(name.as_bytes())?;
    let file = openat(directory, &name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
    let number = told.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    number.ok_or_else(|| {
        io::Error::new(io::ErrorKind::Unsupported, "the kernel does not tell on which mount a file lies")
    })
}

fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

fn removed(result: rustix::io::Result<()>, path: &Path) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        // So the kernel says that something is mounted on it.
        Err(Errno::BUSY) => Err(found(path)),
        Err(error) => Err(error.into()),
    }
}

fn found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, MountFound { at: path.to_path_buf() })
}

fn too_deep(path: &Path) -> io::Error {
    let path = path.display();
    io::Error::new(io::ErrorKind::InvalidData, format!("`{path}` is more than {DEPTH_MAX} directories deep"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_tree_goes_and_what_links_in_it_lead_to_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let (tree, kept) = (scratch.path().join("tree"), scratch.path().join("kept"));
        fs::create_dir_all(tree.join("deep/deeper")).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("precious"), "x").unwrap();
        fs::write(tree.join("deep/deeper/file"), "x").unwrap();
        std::os::unix::fs::symlink(&kept, tree.join("deep/link")).unwrap();
        std::os::unix::fs::symlink("nowhere", tree.join("dangling")).unwrap();
        remove(&tree).unwrap();
        remove(&tree).unwrap();
        assert!(!tree.exists() && kept.join("precious").exists());
        std::os::unix::fs::symlink(&kept, &tree).unwrap();
        assert!(remove(&tree).is_err() && kept.join("precious").exists(), "a link is no tree");
    }

    #[test]
    fn what_is_too_deep_is_left_whole() {
        let scratch = tempfile::tempdir().unwrap();
        let tree = scratch.path().join("tree");
        let deep: PathBuf = (0..DEPTH_MAX).map(|_| "d").collect();
        fs::create_dir_all(tree.join(deep)).unwrap();
        fs::write(tree.join("first"), "x").unwrap();
        assert_eq!(remove(&tree).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(tree.join("first").exists());
    }

    #[test]
    fn both_ways_of_asking_for_a_mount_agree() {
        let root = fs::File::open("/").unwrap();
        for name in ["", "proc", "dev", "tmp", "etc/passwd"] {
            let name = OsStr::new(name);
            let (one, other) = (mount_of(root.as_fd(), name), mount_by_descriptor(root.as_fd(), name));
            assert_eq!(one.unwrap(), other.unwrap(), "{name:?}");
        }
        let of = |name| mount_of(root.as_fd(), OsStr::new(name)).unwrap();
        assert_ne!(of("proc"), of(""));
    }
}
