//! The socket beside a run file: how `stend stop` reaches a run without a server.
//!
//! One line per connection: `stop` or `abort`. Only the owner of the file and root can connect, because
//! the socket has the permissions of a private file.

use crate::channel::Stopper;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stend_base::{Error, Kind, Result, say};
use stend_sys::local_socket::{connect_now, stop_listening};

/// How long a caller may take to say its word.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest word that is read.
const WORD_MAX: u64 = 16;

/// A listening socket; removed when dropped, and its thread ends.
pub struct ControlSocket {
    path: PathBuf,
    listener: Arc<UnixListener>,
    closed: Arc<AtomicBool>,
}

impl ControlSocket {
    /// Listens beside `run_file` and passes what is asked to `stopper`. The socket of a coordinator that was killed is replaced.
    ///
    /// Errors: those of making a socket there.
    pub fn open(run_file: &Path, stopper: Stopper) -> io::Result<ControlSocket> {
        let path = socket_path(run_file);
        remove_stale(&path)?;
        let listener = Arc::new(with_short_path(&path, |short| UnixListener::bind(short))?);
        let socket = ControlSocket { path, listener, closed: Arc::default() };
        std::fs::set_permissions(&socket.path, std::fs::Permissions::from_mode(0o600))?;
        let (listener, closed) = (Arc::clone(&socket.listener), Arc::clone(&socket.closed));
        std::thread::Builder::new().name("control".into()).spawn(move || {
            for stream in listener.incoming() {
                if closed.load(Ordering::Acquire) {
                    return;
                }
                match stream.and_then(word).as_deref() {
                    Ok("stop") => stopper.stop(Kind::Interrupted),
                    Ok("abort") => stopper.abort(),
                    // A caller that says something else or nothing gets nothing.
                    Ok(_) | Err(_) => {}
                }
            }
        })?;
        Ok(socket)
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // Somebody may have removed it already; a stale socket refuses connections, which says enough.
        drop(std::fs::remove_file(&self.path));
        self.closed.store(true, Ordering::Release);
        // Its thread is not waited for: it may be hearing a caller that says nothing.
        drop(stop_listening(&self.listener));
    }
}

/// Removes a socket on which nobody listens. The run file is locked by us, so nobody can have begun to listen meanwhile.
fn remove_stale(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if !found.file_type().is_socket() => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map(drop)?,
    }
    match with_short_path(path, connect_now) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        _ => Ok(()),
    }
}

/// Asks the run that writes `run_file` to end: softly, or at once.
pub fn ask_to_stop(run_file: &Path, now: bool) -> Result<()> {
    let path = socket_path(run_file);
    let sent = with_short_path(&path, connect_now).and_then(|mut stream| {
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(if now { b"abort" } else { b"stop" })
    });
    sent.map_err(|error| {
        let shown = run_file.display();
        let gone = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused);
        if error.kind() == io::ErrorKind::WouldBlock {
            return silent(run_file);
        }
        let message = match gone {
            true => say!("the run in `{shown}` is not in progress", "прогон из `{shown}` не выполняется"),
            false => say!(
                "cannot reach the run in `{shown}`: {error}",
                "не удаётся связаться с прогоном из `{shown}`: {error}"
            ),
        };
        let error = Error::preflight(message);
        match gone {
            true => error.hint(say!(
                "its process is gone: `stend run --resume` continues it, `stend show` prints what was measured",
                "его процесса больше нет: `stend run --resume` продолжит, `stend show` напечатает измеренное"
            )),
            false => error,
        }
    })
}

fn silent(run_file: &Path) -> Box<Error> {
    let shown = run_file.display();
    let message = say!("the run in `{shown}` does not answer", "прогон из `{shown}` не отвечает");
    Error::preflight(message).hint(say!(
        "its process may be suspended: `kill -CONT` lets it go on",
        "возможно, его процесс приостановлен: продолжить его даст `kill -CONT`"
    ))
}

/// Whether a process answers for the run that writes `run_file`, or is there and does not: a suspended one is not waited for.
pub fn is_going_on(run_file: &Path) -> bool {
    let connected = with_short_path(&socket_path(run_file), connect_now);
    connected.map_or_else(|error| error.kind() == io::ErrorKind::WouldBlock, |_| true)
}

/// Whether one may: there is a socket, which a killed process leaves behind, too. Costs one look at the directory.
pub fn may_go_on(run_file: &Path) -> bool {
    socket_path(run_file).symlink_metadata().is_ok()
}

fn socket_path(run_file: &Path) -> PathBuf {
    let mut name = run_file.file_name().unwrap_or_default().to_os_string();
    name.push(".sock");
    run_file.with_file_name(name)
}

/// Socket addresses hold 107 bytes; a path through an open directory is short however deep it lies.
fn with_short_path<T>(path: &Path, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let open = File::open(directory)?;
    work(&Path::new("/proc/self/fd").join(open.as_raw_fd().to_string()).join(name))
}

fn word(mut stream: UnixStream) -> io::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = String::new();
    Read::take(&mut stream, WORD_MAX).read_to_string(&mut text)?;
    Ok(text.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Input, UserRequest};
    use std::time::Instant;

    #[test]
    fn a_run_that_goes_on_after_a_kill_can_be_seen_and_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let run_file = dir.path().join("r.stend");
        assert!(!may_go_on(&run_file));
        // What a killed coordinator leaves: its socket, on which nobody listens.
        drop(UnixListener::bind(dir.path().join("r.stend.sock")).unwrap());
        assert!(may_go_on(&run_file) && !is_going_on(&run_file));
        let (crate::channel::Channel { receiver, .. }, stopper) = crate::channel::channel();
        let socket = ControlSocket::open(&run_file, stopper).unwrap();
        assert!(is_going_on(&run_file));
        ask_to_stop(&run_file, false).unwrap();
        assert!(matches!(receiver.recv(), Ok(Input::User(UserRequest::Stop(Kind::Interrupted)))));
        // Neither a run that lives nor what is no socket is replaced.
        assert!(ControlSocket::open(&run_file, crate::channel::channel().1).is_err());
        assert!(is_going_on(&run_file));
        drop(socket);
        std::fs::write(dir.path().join("r.stend.sock"), "precious").unwrap();
        assert!(ControlSocket::open(&run_file, crate::channel::channel().1).is_err());
        assert_eq!(std::fs::read(dir.path().join("r.stend.sock")).unwrap(), b"precious");
    }

    /// Sockets that listen at paths with this name, and threads that listen at any.
    fn listening(name: &str) -> (usize, usize) {
        let sockets = std::fs::read_to_string("/proc/self/net/unix").unwrap();
        let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let named = threads.filter(|task| {
            // One that has ended meanwhile has no name.
            std::fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim() == "control")
        });
        (sockets.lines().filter(|line| line.contains(name)).count(), named.count())
    }

    #[test]
    fn a_session_that_has_ended_leaves_neither_a_thread_nor_a_socket() {
        let dir = tempfile::tempdir().unwrap();
        let run_file = dir.path().join("one-of-fifty.stend");
        for _ in 0..50 {
            let socket = ControlSocket::open(&run_file, crate::channel::channel().1).unwrap();
            assert!(is_going_on(&run_file));
            drop(socket);
            assert!(!is_going_on(&run_file));
        }
        // Other tests may have some of their own, and threads end when they come to it.
        let until = Instant::now() + Duration::from_secs(60);
        while !matches!(listening("one-of-fifty"), (0, 0..10)) {
            assert!(Instant::now() < until, "{:?}", listening("one-of-fifty"));
            std::thread::yield_now();
        }
    }
}
