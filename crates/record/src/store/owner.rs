//! Who a run file belongs to: under sudo the user who called it, not root; and who the files of a server belong to. Must not change anything
//! that this process did not just create.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// User and group that new files are handed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl Owner {
    /// The caller of sudo, if this process is root on behalf of somebody else.
    pub fn behind_sudo() -> Option<Owner> {
        let number = |name| std::env::var(name).ok()?.parse::<u32>().ok();
        Owner::unless_root(rustix::process::geteuid().is_root(), number("SUDO_UID"), number("SUDO_GID"))
    }

    /// The owner of a file, if this process is root and the file is not: what goes with it is theirs too.
    pub fn of(file: &File) -> io::Result<Option<Owner>> {
        let found = file.metadata()?;
        Ok(Owner::unless_root(rustix::process::geteuid().is_root(), Some(found.uid()), Some(found.gid())))
    }

    /// The owner of the nearest directory at or above a place, if this process is root and the owner is not: what is made there is theirs, too. The
    /// user behind sudo does not matter: a service of the system is no more theirs because they restored it.
    ///
    /// Errors: those of looking at the directory where the process is, if nothing else is there.
    pub fn of_nearest(place: &Path) -> io::Result<Option<Owner>> {
        let is_directory = |found: &std::fs::Metadata| found.is_dir();
        let above = place.ancestors().find_map(|above| above.metadata().ok().filter(is_directory));
        let found = above.map_or_else(|| Path::new(".").metadata(), Ok)?;
        Ok(Owner::unless_root(rustix::process::geteuid().is_root(), Some(found.uid()), Some(found.gid())))
    }

    fn unless_root(root: bool, uid: Option<u32>, gid: Option<u32>) -> Option<Owner> {
        let uid = uid.filter(|&uid| root && uid != 0)?;
        Some(Owner { uid, gid: gid.unwrap_or(uid) })
    }

    /// Hands over an open file that was just created.
    pub fn take_file(self, file: &File) -> io::Result<()> {
        Ok(rustix::fs::fchown(file.as_fd(), Some(self.user()), Some(self.group()))?)
    }

    /// Hands over a directory or a link that was just created; where a link leads is not touched.
    pub fn take_entry(self, path: &Path) -> io::Result<()> {
        let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        Ok(rustix::fs::chownat(rustix::fs::CWD, path, Some(self.user()), Some(self.group()), flags)?)
    }

    fn user(self) -> rustix::fs::Uid {
        rustix::fs::Uid::from_raw(self.uid)
    }

    fn group(self) -> rustix::fs::Gid {
        rustix::fs::Gid::from_raw(self.gid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_on_behalf_of_another_user_gives_files_away() {
        assert_eq!(Owner::unless_root(true, Some(1000), Some(100)), Some(Owner { uid: 1000, gid: 100 }));
        assert_eq!(Owner::unless_root(true, Some(1000), None), Some(Owner { uid: 1000, gid: 1000 }));
        assert_eq!(Owner::unless_root(true, Some(0), Some(0)), None);
        assert_eq!(Owner::unless_root(true, None, None), None);
        assert_eq!(Owner::unless_root(false, Some(1000), Some(100)), None);
    }

    #[test]
    fn what_is_new_goes_with_the_nearest_directory_that_is_there() {
        use std::os::unix::fs::chown;
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        assert_eq!(Owner::of_nearest(&deep).unwrap(), None, "it is this user's");
        assert_eq!(Owner::of_nearest(Path::new("no-such-name")).unwrap(), Owner::of_nearest(Path::new(".")).unwrap());
        if rustix::process::geteuid().is_root() {
            std::fs::create_dir(dir.path().join("a")).unwrap();
            chown(dir.path().join("a"), Some(12_345), Some(54_321)).unwrap();
            assert_eq!(Owner::of_nearest(&deep).unwrap(), Some(Owner { uid: 12_345, gid: 54_321 }));
        }
    }
}
