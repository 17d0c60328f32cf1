//! A directory of our own, held open: everything in it is reached from its descriptor, so that nobody can
//! put a link in its way. Must not follow links and must not touch what lies beside it.

use crate::tree;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, chmodat, fchmod, fstat, mkdirat, openat, statat, unlinkat};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const OPEN: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// A directory of ours holds a marker and at most 10 000 test files: one that holds as many as this is not ours.
const ENTRIES_MAX: usize = 10_002;

/// Who root becomes where a server of NFS trusts no root.
const NOBODY: u32 = 65_534;
/// File systems of this type are NFS (linux/magic.h).
const NFS: rustix::fs::FsWord = 0x6969;

/// `f_type` of file systems that several machines may have mounted: NFS, SMB1, CIFS, SMB2, Ceph, 9P, FUSE, virtiofs, Lustre, GPFS, OCFS2, GFS2,
/// AFS, BeeGFS.
///
/// Source: linux/magic.h and the sources of these file systems.
const SHARED: [u64; 14] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x00c3_6400,
    0x0102_1997,
    0x6573_5546,
    0x6a65_6a63,
    0x0bd0_0bd0,
    0x4750_4653,
    0x7461_636f,
    0x0116_1970,
    0x5346_414f,
    0x1983_0326,
];

/// Whose a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryOwner {
    /// The user as whom this process runs.
    Us,
    /// Root, who is not that.
    Root,
    /// Somebody else: the number of the user.
    Other(u32),
}

/// A directory that was opened as itself, not through a link.
#[derive(Debug)]
pub struct OwnDirectory {
    fd: OwnedFd,
    path: PathBuf,
}

impl OwnDirectory {
    /// Makes a directory that only its owner may enter. Fails if the name exists.
    pub fn create(path: &Path) -> io::Result<OwnDirectory> {
        rustix::fs::mkdirat(CWD, path, Mode::RWXU)?;
        Self::open(path)
    }

    /// Opens an existing directory; a link is an error.
    pub fn open(path: &Path) -> io::Result<OwnDirectory> {
        let fd = openat(CWD, path, OPEN, Mode::empty())?;
        Ok(OwnDirectory { fd, path: path.to_path_buf() })
    }

    /// Where it was when it was opened; for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names in it; an error of kind `InvalidData` if there are more than a directory of ours has.
    pub fn names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_os_string());
            }
            if names.len() >= ENTRIES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(names)
    }

    /// Whether `name` in it is a regular file.
    pub fn has_file(&self, name: &str) -> bool {
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::RegularFile)
    }

    /// Whether `name` in it is a directory, and no link to one.
    pub fn has_directory(&self, name: &str) -> bool {
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::Directory)
    }

    /// Makes a directory in it. If it is `passable`, other users may pass through both, without seeing what is in them.
    pub fn make_directory(&self, name: &str, passable: bool) -> io::Result<PathBuf> {
        let mode = if passable { Mode::RWXU | Mode::XGRP | Mode::XOTH } else { Mode::RWXU };
        mkdirat(&self.fd, name, Mode::RWXU)?;
        if passable {
            // What is made is subject to the mask of the process.
            chmodat(&self.fd, name, mode, AtFlags::empty())?;
            fchmod(&self.fd, mode)?;
        }
        Ok(self.path.join(name))
    }

    /// Fails, and names it, if the directory is a mount point or anything is mounted in it, however deep.
    pub fn must_hold_no_mount(&self) -> io::Result<()> {
        tree::must_hold_no_mount(&self.fd, &self.path)
    }

    /// Removes a directory in it with everything in that, links not followed; absent is fine. Removes nothing if anything is
    /// mounted in it.
    pub fn remove_tree(&self, name: &str) -> io::Result<()> {
        tree::remove_in(self.fd.as_fd(), name, &self.path)
    }

    /// Whose it is. What root makes on NFS often belongs to nobody there: such a directory counts as root's own.
    pub fn owner(&self) -> io::Result<DirectoryOwner> {
        let user = fstat(&self.fd)?.st_uid;
        let own = rustix::process::geteuid().as_raw();
        let squashed = || own == 0 && user == NOBODY && rustix::fs::fstatfs(&self.fd).is_ok_and(|fs| fs.f_type == NFS);
        Ok(match user {
            _ if user == own || squashed() => DirectoryOwner::Us,
            0 => DirectoryOwner::Root,
            _ => DirectoryOwner::Other(user),
        })
    }

    /// Whether other machines may see it, too.
    pub fn is_shared(&self) -> bool {
        rustix::fs::fstatfs(&self.fd).is_ok_and(|fs| SHARED.contains(&(fs.f_type as u64)))
    }

    /// Removes one file; absent is fine.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.fd, name, AtFlags::empty()) {
            Err(rustix::io::Errno::NOENT) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Removes the directory, which must be empty, if it still is where it was opened.
    pub fn remove(&self) -> io::Result<()> {
        let there = statat(CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW)?;
        let here = fstat(&self.fd)?;
        if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the directory was moved away"));
        }
        Ok(unlinkat(CWD, &self.path, AtFlags::REMOVEDIR)?)
    }

    /// Makes names in it survive a loss of power.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }
}

impl AsFd for OwnDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_not_taken_for_a_directory() {
        let scratch = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(scratch.path(), scratch.path().join("link")).unwrap();
        assert!(OwnDirectory::open(&scratch.path().join("link")).is_err());
    }

    #[test]
    fn a_directory_that_was_swapped_for_another_is_not_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let ours = OwnDirectory::create(&scratch.path().join("ours")).unwrap();
        std::fs::rename(scratch.path().join("ours"), scratch.path().join("away")).unwrap();
        std::fs::create_dir(scratch.path().join("ours")).unwrap();
        assert!(ours.remove().is_err());
        assert!(scratch.path().join("ours").exists());
    }

    #[test]
    fn a_tree_goes_with_all_that_is_in_it_and_nothing_that_links_lead_to() {
        let scratch = tempfile::tempdir().unwrap();
        let kept = scratch.path().join("kept");
        std::fs::write(&kept, "x").unwrap();
        let ours = OwnDirectory::create(&scratch.path().join("ours")).unwrap();
        let tree = ours.make_directory("app", false).unwrap();
        std::fs::create_dir(tree.join("deep")).unwrap();
        std::os::unix::fs::symlink(scratch.path(), tree.join("deep/link")).unwrap();
        assert!(ours.has_directory("app") && !ours.has_directory("none"));
        ours.remove_tree("app").unwrap();
        ours.remove_tree("app").unwrap();
        ours.remove().unwrap();
        assert!(kept.exists());
        let other = OwnDirectory::create(&scratch.path().join("other")).unwrap();
        std::os::unix::fs::symlink(scratch.path(), other.path().join("app")).unwrap();
        assert!(!other.has_directory("app") && other.make_directory("app", false).is_err());
        assert!(other.remove_tree("app").is_err() || kept.exists(), "a link is no tree");
        assert!(kept.exists());
    }

    #[test]
    fn files_are_listed_and_removed_by_name() {
        let scratch = tempfile::tempdir().unwrap();
        let ours = OwnDirectory::create(&scratch.path().join("ours")).unwrap();
        std::fs::write(ours.path().join("data"), "x").unwrap();
        std::os::unix::fs::symlink("data", ours.path().join("link")).unwrap();
        assert_eq!(ours.names().unwrap().len(), 2);
        assert!(ours.has_file("data") && !ours.has_file("link"));
        ours.remove_file("data").unwrap();
        ours.remove_file("data").unwrap();
        assert!(ours.remove().is_err(), "not empty yet");
        ours.remove_file("link").unwrap();
        ours.remove().unwrap();
        assert!(!ours.path().exists());
    }
}
