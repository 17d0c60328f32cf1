//! What descriptors of other processes lead to, as far as the kernel tells: device, file, socket; and which are on their way from
//! one process to another. Reads only: the process does not notice.

use crate::block::DevNo;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::fmt;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

/// `KCMP_FILES` of linux/kcmp.h.
const KCMP_FILES: libc::c_int = 2;
/// `PIDFD_THREAD` of linux/pidfd.h, which is `O_EXCL`: a thread instead of its process (Linux 6.9).
const PIDFD_THREAD: u32 = libc::O_EXCL as u32;
/// Descriptors that one message may carry: `SCM_MAX_FD` of linux/include/net/scm.h.
const IN_MESSAGE: usize = 253;

/// A file, whatever its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Device of its file system.
    pub device: DevNo,
    /// Its number there.
    pub inode: u64,
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.device, self.inode)
    }
}

/// What something open leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opened {
    /// A block device, by whichever node.
    Device(DevNo),
    /// A regular file.
    File(FileId),
    /// A socket, by its number.
    Socket(u64),
    /// Something of the kernel without a kind of its own: a ring of io_uring, an eventfd.
    Anonymous,
    /// Anything else: a directory, a pipe, a terminal.
    Other,
}

/// What is at `path`, links followed, also those of `/proc/PID/fd` and `/proc/PID/map_files`. Does not wait for a network file system
/// that hangs.
pub fn at(path: &Path) -> io::Result<Opened> {
    let found = statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO)?;
    Ok(understood(&found))
}

fn understood(found: &rustix::fs::Statx) -> Opened {
    let mode = u32::from(found.stx_mode);
    match FileType::from_raw_mode(mode) {
        FileType::BlockDevice => Opened::Device(DevNo::from_raw(makedev(found.stx_rdev_major, found.stx_rdev_minor))),
        FileType::RegularFile => Opened::File(FileId {
            device: DevNo { major: found.stx_dev_major, minor: found.stx_dev_minor },
            inode: found.stx_ino,
        }),
        FileType::Socket => Opened::Socket(found.stx_ino),
        FileType::Unknown => Opened::Anonymous,
        _ => Opened::Other,
    }
}

/// Whether two threads have one table of descriptors. `false` also where the kernel does not say: then both have to be looked at.
pub fn share_descriptors(one: u32, other: u32) -> bool {
    let threads = [one, other].map(libc::pid_t::try_from);
    let [Ok(one), Ok(other)] = threads else { return false };
    // SAFETY: kcmp takes two thread ids and a kind, and with KCMP_FILES it ignores the rest; it touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_FILES, 0, 0) == 0 }
}

/// What the first messages that wait in a unix socket carry, without taking them: the socket is had for an instant through a
/// descriptor of our own, and looked into with `MSG_PEEK`. Needs the right to trace that process.
pub fn in_flight(process: u32, thread: u32, descriptor: u32) -> io::Result<Vec<Opened>> {
    let id = |id: u32| i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput);
    let holder = match thread == process {
        true => pidfd_open(id(process)?, PidfdFlags::empty())?,
        false => pidfd_open(id(thread)?, PidfdFlags::from_bits_retain(PIDFD_THREAD))?,
    };
    let number = i32::try_from(descriptor).map_err(|_| io::ErrorKind::InvalidInput)?;
    let socket = pidfd_getfd(&holder, number, PidfdGetfdFlags::empty())?;
    let mut room = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(IN_MESSAGE), ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let mut byte = [0];
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    recvmsg(&socket, &mut [IoSliceMut::new(&mut byte)], &mut control, flags)?;
    let mut found = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            found.extend(descriptors.filter_map(|one: OwnedFd| {
                let told =
                    statx(&one, "", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO);
                told.ok().map(|told| understood(&told))
            }));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    use std::io::IoSlice;
    use std::os::fd::{AsFd, AsRawFd};

    #[test]
    fn kinds_are_told_apart() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(at(file.path()), Ok(Opened::File(_))));
        assert_eq!(at(Path::new("/dev/null")).unwrap(), Opened::Other);
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let path = format!("/proc/self/fd/{}", socket.as_raw_fd());
        assert!(matches!(at(Path::new(&path)), Ok(Opened::Socket(_))));
        let event = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        let path = format!("/proc/self/fd/{}", event.as_raw_fd());
        assert_eq!(at(Path::new(&path)).unwrap(), Opened::Anonymous);
        assert!(at(Path::new("/nonexistent")).is_err());
    }

    #[test]
    fn threads_of_one_process_share_their_descriptors_and_another_process_does_not() {
        let (told, tid) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            told.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
            ended.recv().unwrap_err();
        });
        assert!(share_descriptors(std::process::id(), tid.recv().unwrap()));
        assert!(!share_descriptors(std::process::id(), std::os::unix::process::parent_id()));
        drop(end);
        thread.join().unwrap();
    }

    #[test]
    fn a_descriptor_on_its_way_is_seen_and_still_arrives() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (here, there) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        let sent = [file.as_file().as_fd()];
        assert!(control.push(SendAncillaryMessage::ScmRights(&sent)));
        sendmsg(&here, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
        let own = std::process::id();
        for _ in 0..2 {
            let found = in_flight(own, own, there.as_raw_fd() as u32).unwrap();
            assert_eq!(found, [at(file.path()).unwrap()]);
        }
        assert!(in_flight(own, own, here.as_raw_fd() as u32).is_err(), "nothing waits there");
    }
}
