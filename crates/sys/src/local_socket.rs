//! Connecting to sockets of this host without waiting for who listens. Must not say anything there.

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::os::unix::net::UnixListener;

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
