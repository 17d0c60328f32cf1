//! Sockets of the file system, by which a machine that stays up is reached; nobody but their owner can connect. Must not
//! know what is said.

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A connection; reading and writing do not exclude each other.
#[derive(Debug)]
pub struct Socket(UnixStream);

impl Socket {
    /// Connects to the socket `name` in a directory.
    pub fn connect(directory: &Path, name: &str) -> io::Result<Socket> {
        // The directory may have a path that is longer than a socket's may be.
        let open = std::fs::File::open(directory)?;
        UnixStream::connect(format!("/proc/self/fd/{}/{name}", open.as_raw_fd())).map(Socket)
    }

    /// Two ends of one connection, one of which another process shall have.
    pub fn pair() -> io::Result<(Socket, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Socket(ours), theirs.into()))
    }

    /// Two ends of one connection, of which other processes shall have both.
    pub fn ends() -> io::Result<(OwnedFd, OwnedFd)> {
        let (one, other) = UnixStream::pair()?;
        Ok((one.into(), other.into()))
    }

    /// The same connection for another thread.
    pub fn another(&self) -> io::Result<Socket> {
        self.0.try_clone().map(Socket)
    }

    /// Reading fails with [`io::ErrorKind::WouldBlock`] when nothing comes for so long, and writing when nothing is taken; `None`:
    /// both wait for ever.
    pub fn patience(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.set_write_timeout(limit)?;
        self.0.set_read_timeout(limit)
    }

    /// Sends these bytes and hands a descriptor to the other side with the first of them.
    pub fn hand(&mut self, bytes: &[u8], descriptor: BorrowedFd) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let (mut with, descriptors) = (SendAncillaryBuffer::new(&mut space), [descriptor]);
        if !with.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let sent = sendmsg(&self.0, &[IoSlice::new(bytes)], &mut with, SendFlags::NOSIGNAL)?;
        self.write_all(&bytes[sent..])
    }

    /// Ends the connection, also for those who read from it right now.
    pub fn hang_up(&self) {
        // It may have been ended by the other side.
        drop(self.0.shutdown(std::net::Shutdown::Both));
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
