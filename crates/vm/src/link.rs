//! How a run that has a machine migrate, and the process that joins its coordinator to the machine's worker, speak to each other: over a socket
//! in the directory of the machines. The way itself is the lab's `Passage`. Must not change a machine.
//!
//! The run says a line, the process does it and answers `done`, or why it could not. Whatever is held is let go when the run ends the connection,
//! be it killed.

use crate::group::Group;
use crate::modes::set_mode;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use stend_base::{Error, Result, say};
use stend_lab::Passage;

/// How long a guest may take to read what is on its way to its worker, and an emulator to accept a connection.
const READY_LIMIT: Duration = Duration::from_secs(30);
/// How long libvirt may take to end the emulator that a guest has left; it has said that the migration is complete.
const END_LIMIT: Duration = Duration::from_secs(30);
/// How long the run waits for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// What the process answers when that is done.
const DONE: &str = "done";
/// Sockets of the kernel.
const SOCKETS: &str = "/proc/net/unix";

/// The name of the socket in the directory of the machines.
fn name(number: u32) -> String {
    format!("link-{number}")
}

/// The socket, while a worker is joined.
pub(crate) struct Listening {
    path: PathBuf,
}

impl Drop for Listening {
    fn drop(&mut self) {
        // The next one replaces it, and `down` removes its directory.
        drop(fs::remove_file(&self.path));
    }
}

/// Listens for a run that has the guest behind this passage go elsewhere. Needs the lock of the machine.
pub(crate) fn listen(group: &Group, number: u32, passage: &Arc<Passage>) -> io::Result<Listening> {
    let path = group.directory.join(name(number));
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A path that is longer than that of a socket may be.
    let directory = File::open(&group.directory)?;
    let listener = UnixListener::bind(within(&directory, number))?;
    set_mode(&path, 0o600)?;
    let passage = passage.clone();
    let serve = move || {
        for stream in listener.incoming().flatten() {
            // A run that is gone has nothing to be told.
            drop(serve(stream, &passage));
            passage.stay();
        }
    };
    std::thread::Builder::new().name("link".into()).spawn(serve)?;
    Ok(Listening { path })
}

fn within(directory: &File, number: u32) -> String {
    format!("/proc/self/fd/{}/{}", directory.as_raw_fd(), name(number))
}

/// Does what a run says, to its end.
fn serve(stream: UnixStream, passage: &Passage) -> io::Result<()> {
    let mut answers = stream.try_clone()?;
    let mut went = 0;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        let done = match line.split_once(' ').unwrap_or((&line, "")) {
            ("hold", _) => passage.hold(READY_LIMIT).map(|times| went = times),
            ("connect", path) => passage.connect(Path::new(path), READY_LIMIT, &|| is_accepted(path)),
            ("arrive", _) => passage.arrive(went, END_LIMIT),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        };
        let answer = done.map_or_else(|error| error.to_string().replace('\n', " "), |()| DONE.to_string());
        writeln!(answers, "{answer}")?;
    }
    Ok(())
}

/// Whether the process that listens at a path has taken a connection: until then the kernel shows it as one that is being made.
//= linux, net/unix/af_unix.c: `unix_seq_show`, state 3 (`SS_CONNECTED`) of a socket that a process has
fn is_accepted(path: &str) -> bool {
    fs::read_to_string(SOCKETS).is_ok_and(|text| accepted(&text, path))
}

fn accepted(sockets: &str, path: &str) -> bool {
    let is_one = |line: &str| line.ends_with(&format!(" {path}")) && line.split_whitespace().nth(5) == Some("03");
    sockets.lines().any(is_one)
}

/// What a run says to the process that joins a coordinator to a worker. When it is dropped, the guest has either arrived or stays.
pub(crate) struct Link {
    stream: BufReader<UnixStream>,
    machine: String,
}

impl Link {
    /// To that of a machine; `None`: its worker is joined to no coordinator.
    pub fn open(group: &Group, number: u32) -> Option<Link> {
        let directory = File::open(&group.directory).ok()?;
        let stream = stend_sys::local_socket::connect_now(Path::new(&within(&directory, number))).ok()?;
        stream.set_read_timeout(Some(ANSWER_LIMIT)).ok()?;
        Some(Link { stream: BufReader::new(stream), machine: group.name_of(number) })
    }

    /// From now on the guest gets nothing, and it has read all that it got.
    pub fn hold(&mut self) -> Result<()> {
        self.ask("hold")
    }

    /// What the guest says at this socket will be heard, once it is there.
    pub fn connect(&mut self, path: &str) -> Result<()> {
        self.ask(&format!("connect {path}"))
    }

    /// The guest is there: what was held back goes to it.
    pub fn arrive(&mut self) -> Result<()> {
        self.ask("arrive")
    }

    fn ask(&mut self, line: &str) -> Result<()> {
        let mut answer = String::new();
        let asked = writeln!(self.stream.get_mut(), "{line}").and_then(|()| self.stream.read_line(&mut answer));
        let told = match asked {
            Ok(_) if answer.trim_end() == DONE => return Ok(()),
            Ok(0) => "its process has ended".to_string(),
            Ok(_) => answer.trim_end().to_string(),
            Err(error) => error.to_string(),
        };
        let machine = &self.machine;
        Err(Error::preflight(say!(
            "the link to the worker in `{machine}` cannot follow it to the other libvirt: {told}",
            "связь с рабочим процессом в `{machine}` не может перейти за ним в другой libvirt: {told}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::tests::kept_in;

    #[test]
    fn a_run_speaks_to_the_process_that_has_the_worker_and_hears_why_it_cannot_follow() {
        let place = tempfile::tempdir().unwrap();
        let group = kept_in(place.path());
        assert!(Link::open(&group, 1).is_none(), "no worker is joined");
        let passage = Arc::new(Passage::default());
        let listening = listen(&group, 1, &passage).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&listening.path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "only its owner can connect");
        let mut link = Link::open(&group, 1).unwrap();
        let error = link.hold().unwrap_err();
        assert!(error.message.en.contains("`web-1` cannot follow it"), "the guest was not met: {error}");
        assert!(link.ask("dance").is_err());
        drop(link);
        // A second process of the same machine, whose first was killed.
        std::mem::forget(listening);
        let again = listen(&group, 1, &passage).unwrap();
        assert!(Link::open(&group, 1).is_some());
        drop(again);
        assert!(Link::open(&group, 1).is_none());
    }

    #[test]
    fn a_connection_is_accepted_when_a_process_has_it() {
        let listens = "Num               RefCount Protocol Flags    Type St Inode Path\n\
                       0000000000000000: 00000002 00000000 00010000 0001 01 33113 /v/port-1-a\n";
        let waits = format!("{listens}0000000000000000: 00000002 00000000 00000000 0001 02     0 /v/port-1-a\n");
        let taken = format!("{listens}0000000000000000: 00000003 00000000 00000000 0001 03 34176 /v/port-1-a\n");
        let seen = [listens, &waits, &taken].map(|text| accepted(text, "/v/port-1-a"));
        assert_eq!(seen, [false, false, true]);
        assert!(!accepted(&taken, "/port-1-a"));
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let _client = UnixStream::connect(&path).unwrap();
        let path = path.to_string_lossy().into_owned();
        assert!(!is_accepted(&path), "it waits");
        let _taken = listener.accept().unwrap();
        assert!(is_accepted(&path));
    }
}
