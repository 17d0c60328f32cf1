//! Sockets of the file system, by which a machine that stays up is reached; nobody but their owner can connect. Must not
//! know what is said.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
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

    /// Whether the other side has read all that was written.
    pub fn is_read(&self) -> io::Result<bool> {
        stend_sys::local_socket::unread(&self.0).map(|bytes| bytes == 0)
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
