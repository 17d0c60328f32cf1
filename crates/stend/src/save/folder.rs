//! The directory that a result goes to, held open: files in it are looked at, made whole and given their names through it, so that
//! nobody can put another directory in its place meanwhile. Must not decide what may be replaced.

use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, accessat, chownat, fchmod, fchown, fstat,
    fstatvfs, linkat, mkdirat, openat, readlinkat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use stend_record::store::Owner;

/// Links that are followed on the way to a directory: as many as the kernel follows.
const LINKS_MAX: u32 = 40;

/// Why a directory cannot be used.
pub(super) enum Unusable {
    /// This link of another user is on the way, in a directory where everybody can make one.
    ForeignLink(PathBuf),
    /// The kernel's answer.
    Io(io::Error),
}

impl From<Errno> for Unusable {
    fn from(error: Errno) -> Unusable {
        Unusable::Io(error.into())
    }
}

/// A directory that is held open.
pub(super) struct Folder {
    at: OwnedFd,
}

/// A file that is being written: nobody sees it under the name that it shall have.
pub(super) struct Fresh {
    /// To be written to.
    pub file: File,
    /// Its name until then, where this file system has no files without one.
    part: Option<OsString>,
}

/// How a file gets its name.
pub(super) enum Naming<'a> {
    /// It is new, and belongs to the user behind `sudo`.
    New(Option<Owner>),
    /// It takes the place of this file, with its owner and its permissions.
    InPlaceOf(&'a Stat),
}

impl Folder {
    /// Opens a directory, following its links as [`may_follow`] says; with `make` what is missing of it is made.
    pub(super) fn open(path: &Path, make: bool) -> Result<Folder, Unusable> {
        let start = if path.is_absolute() { "/" } else { "." };
        let mut at = openat(CWD, start, DIRECTORY, Mode::empty())?;
        let mut walked = PathBuf::from(if path.is_absolute() { "/" } else { "" });
        let mut left: VecDeque<OsString> = components(path).collect();
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            let next = match openat(&at, &name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
                Err(Errno::NOENT) if make => made(&at, &name)?,
                found => found?,
            };
            let found = fstat(&next)?;
            walked.push(&name);
            if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
                at = next;
                continue;
            }
            links += 1;
            if links > LINKS_MAX {
                return Err(Errno::LOOP.into());
            }
            if !may_follow(&found, &fstat(&at)?) {
                return Err(Unusable::ForeignLink(walked));
            }
            let target = PathBuf::from(OsString::from_vec(readlinkat(&next, "", Vec::new())?.into_bytes()));
            walked.pop();
            if target.is_absolute() {
                at = openat(CWD, "/", DIRECTORY, Mode::empty())?;
                walked = PathBuf::from("/");
            }
            components(&target).rev().for_each(|name| left.push_front(name));
        }
        // The last one may be a file.
        Ok(Folder { at: openat(&at, ".", DIRECTORY, Mode::empty())? })
    }

    /// Keeps the file of this name from going away, so that none that is made later gets its number.
    pub(super) fn hold(&self, name: &OsStr) -> io::Result<OwnedFd> {
        Ok(openat(&self.at, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// What has this name; `None`: nothing. A link is not followed.
    pub(super) fn look(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match statat(&self.at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    /// Removes the file of this name.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.at, name, AtFlags::empty())?)
    }

    /// Where a link leads.
    pub(super) fn link(&self, name: &OsStr) -> io::Result<PathBuf> {
        Ok(PathBuf::from(OsString::from_vec(readlinkat(&self.at, name, Vec::new())?.into_bytes())))
    }

    /// Whether everybody may make files here, as in `/tmp`.
    pub(super) fn is_shared(&self) -> io::Result<bool> {
        Ok(is_shared(&fstat(&self.at)?))
    }

    /// Opens a regular file for reading; nothing that would wait is opened.
    pub(super) fn read(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.at, name, flags, Mode::empty())?))
    }

    /// Whether a file can be made here, as far as can be told without making one.
    pub(super) fn has_room(&self) -> io::Result<()> {
        accessat(&self.at, ".", rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK, AtFlags::EACCESS)?;
        let here = fstatvfs(&self.at)?;
        // File systems that do not count blocks or files have none of them.
        if here.f_blocks > 0 && here.f_bavail == 0 || here.f_files > 0 && here.f_ffree == 0 {
            return Err(Errno::NOSPC.into());
        }
        Ok(())
    }

    /// A file that is to get the name `name` when it is whole.
    pub(super) fn fresh(&self, name: &OsStr) -> io::Result<Fresh> {
        let mode = Mode::from_raw_mode(0o666);
        match openat(&self.at, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
            Ok(file) => return Ok(Fresh { file: File::from(file), part: None }),
            // This file system has no files without a name, or no kernel of this age knows them there.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
        let part = part_of(name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.at, &part, flags, mode)?;
        Ok(Fresh { file: File::from(file), part: Some(part) })
    }

    /// Gives a whole file its name. `AlreadyExists`: something has come in between, and stays.
    pub(super) fn name(&self, fresh: Fresh, name: &OsStr, naming: &Naming<'_>) -> io::Result<()> {
        let part = fresh.part.clone();
        let named = self.named(fresh, name, naming);
        if let (Err(_), Some(part)) = (&named, part) {
            self.forget(&part);
        }
        named
    }

    /// Removes what was being written.
    pub(super) fn discard(&self, fresh: Fresh) {
        if let Some(part) = fresh.part {
            self.forget(&part);
        }
    }

    fn named(&self, fresh: Fresh, name: &OsStr, naming: &Naming<'_>) -> io::Result<()> {
        match naming {
            Naming::New(owner) => owner.map_or(Ok(()), |owner| owner.take_file(&fresh.file))?,
            Naming::InPlaceOf(old) => {
                let made = fstat(&fresh.file)?;
                if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid) {
                    fchown(&fresh.file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)))?;
                }
                fchmod(&fresh.file, Mode::from_raw_mode(old.st_mode & 0o7777))?;
            }
        }
        fresh.file.sync_all()?;
        match (naming, fresh.part) {
            (Naming::New(_), None) => self.link_to(&fresh.file, name),
            (Naming::New(_), Some(part)) => self.rename_to(&part, name),
            (Naming::InPlaceOf(old), None) => {
                let part = part_of(name);
                self.link_to(&fresh.file, &part)?;
                self.exchange(&part, name, old).inspect_err(|_| self.forget(&part))
            }
            (Naming::InPlaceOf(old), Some(part)) => self.exchange(&part, name, old),
        }
    }

    fn link_to(&self, file: &File, name: &OsStr) -> io::Result<()> {
        let open = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        Ok(linkat(CWD, &open, &self.at, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn rename_to(&self, part: &OsStr, name: &OsStr) -> io::Result<()> {
        match renameat_with(&self.at, part, &self.at, name, RenameFlags::NOREPLACE) {
            // A link takes no name from anybody either.
            Err(Errno::INVAL | Errno::NOSYS) => {
                linkat(&self.at, part, &self.at, name, AtFlags::empty())?;
                Ok(unlinkat(&self.at, part, AtFlags::empty())?)
            }
            done => Ok(done?),
        }
    }

    /// Puts a file in the place of another one, which must be the one that was looked at, and removes that.
    fn exchange(&self, part: &OsStr, name: &OsStr, old: &Stat) -> io::Result<()> {
        let is_old = |name: &OsStr| {
            let found = self.look(name)?;
            Ok::<_, io::Error>(found.is_some_and(|found| is_unchanged(&found, old)))
        };
        let both = |flags| renameat_with(&self.at, part, &self.at, name, flags);
        match both(RenameFlags::EXCHANGE) {
            Ok(()) if is_old(part)? => Ok(unlinkat(&self.at, part, AtFlags::empty())?),
            Ok(()) => {
                both(RenameFlags::EXCHANGE)?;
                Err(io::ErrorKind::AlreadyExists.into())
            }
            // This file system cannot do both at once.
            Err(Errno::INVAL | Errno::NOSYS) if is_old(name)? => Ok(both(RenameFlags::empty())?),
            Err(Errno::INVAL | Errno::NOSYS) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// The first error counts; what cannot be removed is named `….part`.
    fn forget(&self, part: &OsStr) {
        let _ = unlinkat(&self.at, part, AtFlags::empty());
    }
}

/// A directory, which belongs to the user behind `sudo` if we created it.
fn made(at: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    match mkdirat(at, name, Mode::from_raw_mode(0o777)) {
        Err(error) if error != Errno::EXIST => return Err(error),
        Err(_) => {}
        Ok(()) => {
            if let Some(Owner { uid, gid }) = Owner::behind_sudo() {
                let (uid, gid) = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
                chownat(at, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)?;
            }
        }
    }
    openat(at, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
}

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn part_of(name: &OsStr) -> OsString {
    // A name may have 255 bytes; of a long one the process tells enough.
    let short = if name.len() > 200 { OsStr::new("stend") } else { name };
    let mut part = OsString::from(".");
    part.push(short);
    part.push(format!(".{}.part", std::process::id()));
    part
}

fn components(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    let named = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(named).collect::<Vec<_>>().into_iter()
}

fn is_shared(directory: &Stat) -> bool {
    directory.st_mode & 0o002 != 0
}

/// Whether a link is followed: where everybody may make one, only our own, root's and those of the directory's owner. The kernel has
/// the same rule for sticky directories (`fs.protected_symlinks`), where it is switched on.
fn may_follow(link: &Stat, directory: &Stat) -> bool {
    let me = rustix::process::geteuid().as_raw();
    !is_shared(directory) || [me, 0, directory.st_uid].contains(&link.st_uid)
}

/// Whether both are one file that nobody wrote to between.
fn is_unchanged(now: &Stat, before: &Stat) -> bool {
    let seen = |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    seen(now) == seen(before)
}
