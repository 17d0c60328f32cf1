//! Sockets of this host: connecting without waiting for who listens, an end of listening, and what the other end has not read. Must not say anything there.

use rustix::ioctl::{Getter, Opcode, ioctl};
use rustix::net::{AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// `SIOCOUTQ`, which is `TIOCOUTQ` of asm-generic/ioctls.h.
//= unix(7), "Ioctls"; linux, net/unix/af_unix.c: `unix_outq_len` is the memory of what the other end has not taken
const SIOCOUTQ: Opcode = 0x5411;

/// Memory of what was written to a socket of this host and is not read by its other end, bytes; 0: all is read.
pub fn unread(socket: impl AsFd) -> io::Result<u64> {
    // SAFETY: SIOCOUTQ stores one int through its pointer, and the getter provides room for one.
    let bytes: i32 = unsafe { ioctl(socket, Getter::<SIOCOUTQ, i32>::new())? };
    Ok(u64::from(bytes.unsigned_abs()))
}

/// A connection to the socket at a path.
///
/// Errors: `WouldBlock` if as many connections wait there as the listener has room for, such as with a process that is stopped: it is there and
/// does not answer; `ConnectionRefused` if no process listens.
pub fn connect_now(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Ends listening: a thread that accepts there gets an error, at once and from now on.
//= linux, net/unix/af_unix.c: `unix_accept` returns EINVAL once the socket was shut down for reading
pub fn stop_listening(listener: &UnixListener) -> io::Result<()> {
    Ok(rustix::net::shutdown(listener, Shutdown::Both)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};

    #[test]
    fn what_the_other_end_has_not_read_is_seen_until_it_has_read_the_last_byte() {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        assert_eq!(unread(&here).unwrap(), 0);
        here.write_all(b"abc").unwrap();
        there.read_exact(&mut [0; 2]).unwrap();
        assert!(unread(&here).unwrap() > 0);
        there.read_exact(&mut [0; 1]).unwrap();
        assert_eq!((unread(&here).unwrap(), unread(&there).unwrap()), (0, 0));
    }

    #[test]
    fn a_listener_that_accepts_nothing_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 1).unwrap();
        let mut waiting = Vec::new();
        let refused = loop {
            match connect_now(&path) {
                Ok(stream) => waiting.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.kind(), ErrorKind::WouldBlock, "after {} connections", waiting.len());
        drop(listener);
        assert_eq!(connect_now(&path).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}
