//! Opening a file whose path was read from another file, and may therefore name anything: only a regular file is opened, and nothing
//! else is touched by the attempt.

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, fstatfs, openat};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// File systems whose files are the kernel itself: to read one may do something, as `/proc/kmsg` and `trace_pipe` show, which lose what
/// was read. Source: linux/magic.h, for proc, sysfs, debugfs, tracefs, configfs, cgroup, cgroup2, bpf, efivarfs.
const OF_KERNEL: [i64; 9] =
    [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x6265_6570, 0x27_e0eb, 0x6367_7270, 0xcafe_4a11, 0xde5e_81e4];

/// Opens the regular file at `path`. `None` if there is something else: a link, a directory, a pipe, a device, a socket, a file of the
/// kernel itself.
///
/// What is there is looked at first through a descriptor that opens nothing (`O_PATH`), so that no pipe is waited for and no device
/// notices: opening a watchdog starts it. That descriptor, not the name, is then opened.
pub fn open(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    let there = openat(CWD, path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let regular = FileType::from_raw_mode(fstat(&there)?.st_mode) == FileType::RegularFile;
    if !regular || OF_KERNEL.contains(&fstatfs(&there)?.f_type) {
        return Ok(None);
    }
    let mut options = options.clone();
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    options.open(format!("/proc/self/fd/{}", there.as_raw_fd())).map(Some)
}

/// [`open`] for reading.
pub fn open_to_read(path: &Path) -> io::Result<Option<File>> {
    open(path, OpenOptions::new().read(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn only_a_regular_file_is_opened_and_nothing_else_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let mut text = String::new();
        open_to_read(&at("file")).unwrap().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        for other in ["link", "pipe", "socket", "."] {
            assert!(open_to_read(&at(other)).unwrap().is_none(), "{other}");
            let append = open(&at(other), OpenOptions::new().read(true).append(true));
            assert!(append.unwrap().is_none(), "{other}");
        }
        for other in ["/dev/zero", "/dev/null", "/proc/kmsg", "/proc/self/stat", "/sys/kernel/uevent_seqnum"] {
            assert!(open_to_read(Path::new(other)).unwrap().is_none(), "{other}");
        }
        assert_eq!(open_to_read(&at("absent")).unwrap_err().kind(), io::ErrorKind::NotFound);
        drop(socket);
    }

    #[test]
    fn a_pipe_that_somebody_writes_to_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // A writer that does not wait finds a reader only where one has it open.
        let writer = || OpenOptions::new().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(&pipe);
        assert!(open_to_read(&pipe).unwrap().is_none());
        assert_eq!(writer().unwrap_err().raw_os_error(), Some(rustix::io::Errno::NXIO.raw_os_error()));
    }
}
