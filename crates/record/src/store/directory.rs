//! The directory of run files: where it is, and whether one can be made there or elsewhere. Must not know what is in them.

use super::failure;
use super::owner::Owner;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use stend_base::{Error, Result, Say, say};

/// Where run files live: `$XDG_DATA_HOME/stend/runs`, or `~/.local/share/stend/runs`; under sudo those
/// of the user behind it. It need not exist.
pub fn directory() -> Result<PathBuf> {
    let home_of = |uid| home_in(&std::fs::read_to_string("/etc/passwd").unwrap_or_default(), uid);
    directory_from(|name| std::env::var_os(name), Owner::behind_sudo().and_then(|owner| home_of(owner.uid))).ok_or_else(
        || {
            Error::usage(say!(
                "there is no directory for run files: neither XDG_DATA_HOME nor HOME is set",
                "нет каталога для файлов прогонов: не заданы ни XDG_DATA_HOME, ни HOME"
            ))
            .hint(say!("set HOME, or name the file with `-o`", "задайте HOME или укажите файл с помощью `-o`"))
        },
    )
}

fn directory_from(variable: impl Fn(&str) -> Option<OsString>, behind_sudo: Option<PathBuf>) -> Option<PathBuf> {
    // The XDG specification ignores relative paths.
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME");
    let data = data.or_else(|| behind_sudo.or_else(|| absolute("HOME")).map(|home| home.join(".local/share")));
    data.map(|data| data.join("stend/runs"))
}

/// Home directory of a user in the text of `/etc/passwd`.
fn home_in(passwd: &str, uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let home =
        fields.filter(|fields| fields.get(2) == Some(&uid.as_str())).find_map(|fields| fields.get(5).copied())?;
    Some(PathBuf::from(home)).filter(|home| home.is_absolute())
}

/// Least free space of a file system that a run file is made on. What a run really needs is reserved when its plan is known.
const ROOM_MIN: u64 = 1 << 20;

/// Whether a run file could be made at `path`, as far as can be told without making it: it must not exist, its
/// directory must and be writable, with room for a file, unless that is the one of [`directory`], which a run makes.
pub fn may_create(path: &Path) -> Result<()> {
    use std::io::ErrorKind::{AlreadyExists, NotFound};
    if path.symlink_metadata().is_ok() {
        return Err(failure::cannot_create(path, &AlreadyExists.into()));
    }
    let parent = path.parent().unwrap_or(path);
    if !parent.is_dir() {
        return match directory().is_ok_and(|own| own == parent) {
            true => Ok(()),
            false => Err(failure::cannot_create(path, &NotFound.into())),
        };
    }
    has_room(parent).map_err(|error| failure::cannot_create(path, &error.into()))
}

/// Whether we may make a file in a directory, and its file system has room for one.
fn has_room(directory: &Path) -> rustix::io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat, statvfs};
    accessat(CWD, directory, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
    let here = statvfs(directory)?;
    // A file system that does not count blocks or files has none of them.
    let full = here.f_blocks > 0 && here.f_bavail.saturating_mul(here.f_frsize) < ROOM_MIN;
    if full || here.f_files > 0 && here.f_ffree == 0 { Err(rustix::io::Errno::NOSPC) } else { Ok(()) }
}

/// Creates a directory for run files with its parents; what is new belongs to the user behind sudo.
pub fn make_directory(directory: &Path) -> Result<()> {
    make_owned(directory, Owner::behind_sudo()).map_err(|error| cannot_make(directory, &error))
}

/// The same for a server, which may be a service of the system: what is new belongs to the owner of the nearest directory that is there already.
pub fn make_server_directory(directory: &Path) -> Result<()> {
    let made = Owner::of_nearest(directory).and_then(|owner| make_owned(directory, owner));
    made.map_err(|error| cannot_make(directory, &error))
}

/// Opens a file that its owner alone can read, and makes it if it is not there. A new one belongs to the owner of its directory; one that is
/// there stays as it is, since a link could stand in its place. `options` say how it is opened.
///
/// Errors: those of opening it and of handing it over.
pub fn private_file(path: &Path, options: &OpenOptions) -> std::io::Result<File> {
    match options.clone().create_new(true).mode(0o600).open(path) {
        Ok(new) => {
            Owner::of_nearest(path)?.map_or(Ok(()), |owner| owner.take_file(&new))?;
            Ok(new)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => options.open(path),
        Err(error) => Err(error),
    }
}

fn cannot_make(directory: &Path, error: &std::io::Error) -> Box<Error> {
    let (shown, Say { en, ru }) = (directory.display(), stend_sys::regular::why(error));
    Error::run_file(say!(
        "cannot create the directory `{shown}` for run files: {en}",
        "не удаётся создать каталог `{shown}` для файлов прогонов: {ru}"
    ))
    .hint(say!("name another place with `-o`", "укажите другое место с помощью `-o`"))
}

fn make_owned(directory: &Path, owner: Option<Owner>) -> std::io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    if let Some(parent) = directory.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_owned(parent, owner)?;
    }
    match std::fs::create_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => owner.map_or(Ok(()), |owner| owner.take_entry(directory)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_files_live_in_the_data_home_of_the_user() {
        let set = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        let at = |pairs, sudo: Option<&str>| directory_from(set(pairs), sudo.map(PathBuf::from));
        assert_eq!(at(&[("XDG_DATA_HOME", "/d"), ("HOME", "/h")], None), Some("/d/stend/runs".into()));
        assert_eq!(at(&[("XDG_DATA_HOME", "d"), ("HOME", "/h")], None), Some("/h/.local/share/stend/runs".into()));
        assert_eq!(at(&[("HOME", "/root")], Some("/home/u")), Some("/home/u/.local/share/stend/runs".into()));
        assert_eq!(at(&[], None), None);
    }

    #[test]
    fn the_home_of_the_user_behind_sudo_is_read_from_passwd() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nu:x:1000:1000:,,,:/home/u:/bin/sh\nbroken:line\n";
        assert_eq!(home_in(passwd, 1000), Some("/home/u".into()));
        assert_eq!(home_in(passwd, 1001), None);
    }

    #[test]
    fn missing_parents_are_made_and_existing_ones_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        make_owned(&deep, None).unwrap();
        make_owned(&deep, None).unwrap();
        assert!(deep.is_dir());
        std::fs::write(dir.path().join("file"), "").unwrap();
        assert!(make_owned(&dir.path().join("file/x"), None).is_err());
    }
}
