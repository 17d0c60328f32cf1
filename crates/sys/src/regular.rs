//! Reads files that the user names. Must not wait for anybody or begin what reading a device begins: a file that is not regular is
//! an error, and stays unopened. What is documented to come from the standard input or from a pipe of a shell is read by its verb.

use rustix::fs::{FileType, Mode, OFlags, fstat, open as open_file};
use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::path::Path;
use stend_base::{Say, say};

/// Opens a regular file; the error says why not, and is put behind a colon.
pub fn open(path: impl AsRef<Path>) -> Result<File, Say> {
    let told = |error: rustix::io::Errno| why(&IoError::from(error));
    // A descriptor that can be looked at, and nothing else: a FIFO does not wait for a writer, a watchdog does not begin to watch.
    let seen = open_file(path.as_ref(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(told)?;
    match FileType::from_raw_mode(fstat(&seen).map_err(told)?.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(say!("it is a directory", "это каталог")),
        FileType::Fifo => {
            return Err(say!(
                "it is a pipe, and only regular files are read",
                "это канал, а читаются только обычные файлы"
            ));
        }
        _ => return Err(say!("it is not a regular file", "это не обычный файл")),
    }
    // The file that was looked at, whatever has its name by now.
    let same = format!("/proc/self/fd/{}", seen.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open_file(same.as_str(), flags, Mode::empty()).map(File::from).map_err(told)
}

/// The bytes of a regular file, at most one more than `most`: the caller reports that they are too many.
pub fn bytes(path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>, Say> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| why(&e))?;
    Ok(bytes)
}

/// The same as text.
pub fn text(path: impl AsRef<Path>, most: u64) -> Result<String, Say> {
    let mut text = String::new();
    open(path)?.take(most.saturating_add(1)).read_to_string(&mut text).map_err(|e| why(&e))?;
    Ok(text)
}

/// Why the system refused, put behind a colon: what happens to people in their language, the rest in the system's words.
pub fn why(error: &IoError) -> Say {
    match error.kind() {
        ErrorKind::NotFound => say!("there is no such file or directory", "такого файла или каталога нет"),
        ErrorKind::PermissionDenied => say!("permission denied", "нет прав"),
        ErrorKind::NotADirectory => say!("a part of the path is not a directory", "часть пути — не каталог"),
        ErrorKind::IsADirectory => say!("it is a directory", "это каталог"),
        ErrorKind::ReadOnlyFilesystem => {
            say!("the file system is mounted read-only", "файловая система смонтирована только для чтения")
        }
        ErrorKind::AddrInUse => say!("the address is already in use", "адрес уже занят"),
        ErrorKind::AddrNotAvailable => say!("this host has no such address", "такого адреса у этой машины нет"),
        ErrorKind::StorageFull => say!("the file system is full", "на файловой системе нет места"),
        ErrorKind::InvalidData => say!("it is not text in UTF-8", "это не текст в UTF-8"),
        _ => Say::same(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, mknodat};

    #[test]
    fn a_pipe_a_device_and_a_directory_are_told_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&fifo, &link).unwrap();
        for (path, en) in [
            (&*fifo, "a pipe"),
            (&*link, "a pipe"),
            (dir.path(), "a directory"),
            (Path::new("/dev/zero"), "not a regular file"),
        ] {
            assert!(text(path, 10).unwrap_err().en.contains(en), "{}", path.display());
        }
        let absent = text(dir.path().join("absent"), 10).unwrap_err();
        assert!(absent.en.contains("no such file") && absent.ru.contains("файла или каталога нет"), "{absent:?}");
    }

    #[test]
    fn a_file_is_read_to_one_byte_more_than_may_be() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "0123456789").unwrap();
        std::os::unix::fs::symlink(&path, dir.path().join("link")).unwrap();
        assert_eq!(text(dir.path().join("link"), 20).unwrap(), "0123456789");
        assert_eq!(bytes(&path, 4).unwrap(), b"01234");
    }
}
