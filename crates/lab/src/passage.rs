//! The way of a guest from one emulator to another while its worker is spoken to: no byte is lost, doubled or overtaken. Must not know what has
//! the guest go.
//!
//! What the host writes waits in a socket until the emulator puts it into the guest's memory, with which it goes. So nothing is written
//! from before the guest goes until it has gone, and the socket must be empty. What the guest writes is in the socket of the emulator that it
//! was with: the first one is read to its end before the second one is. The second one is connected before the guest runs there, else the
//! guest would see its port closed.
//= qemu, hw/char/virtio-serial-bus.c: `virtio_serial_guest_ready`, `virtio_serial_save_device`

use crate::socket::Socket;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often it is looked whether something has happened that does not announce itself.
const TICK: Duration = Duration::from_millis(1);

/// The way to a guest, and on to where it goes.
#[derive(Debug, Default)]
pub struct Passage {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The emulator that the guest is with; `None`: it was not met.
    here: Option<Way>,
    /// The one that it goes to.
    there: Option<Way>,
    /// Nothing is written to the guest.
    held: bool,
    /// Something is being written to it.
    writing: bool,
    /// How often it has gone.
    went: u32,
}

/// A connection, and the socket that it leads to.
#[derive(Debug)]
struct Way {
    socket: Socket,
    directory: PathBuf,
    name: String,
}

impl Passage {
    /// The guest was met over this connection to a socket.
    pub(crate) fn begin(&self, socket: Socket, (directory, name): (&Path, &str)) {
        self.lock().here = Some(Way { socket, directory: directory.into(), name: name.into() });
    }

    /// Where it was met last. Nothing is written to it any more.
    pub(crate) fn end(&self) -> (PathBuf, String) {
        self.lock().here.take().map(|way| (way.directory, way.name)).unwrap_or_default()
    }

    /// What is written to this goes to the guest, wherever it is.
    pub(crate) fn input(&self) -> Input<'_> {
        Input(self)
    }

    /// Ends the connection to the guest, when it is not on its way.
    pub(crate) fn hang_up(&self) {
        let state = self.while_held(self.lock());
        state.here.iter().for_each(|way| way.socket.hang_up());
    }

    /// The connection to the guest has ended: the one to where it went; `None`: it went nowhere.
    pub(crate) fn went(&self) -> io::Result<Option<Socket>> {
        let mut state = self.lock();
        let Some(there) = state.there.take() else { return Ok(None) };
        let socket = there.socket.another()?;
        state.here = Some(there);
        state.held = false;
        state.went += 1;
        self.changed.notify_all();
        Ok(Some(socket))
    }

    /// Writes nothing to the guest from now on. Returns when its emulator has read all that was written, and how often the guest has gone.
    ///
    /// Errors: `TimedOut` where it does not read for so long, `NotConnected` where the guest was not met. Then nothing is held.
    pub fn hold(&self, limit: Duration) -> io::Result<u32> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        state.held = true;
        loop {
            let is_read = match &state.here {
                None => Err(ErrorKind::NotConnected.into()),
                Some(here) => here.socket.is_read(),
            };
            match is_read {
                Ok(true) if !state.writing => return Ok(state.went),
                Ok(_) if Instant::now() < deadline => {
                    state = self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
                }
                failed => {
                    state.held = false;
                    self.changed.notify_all();
                    return Err(failed.err().unwrap_or_else(|| ErrorKind::TimedOut.into()));
                }
            }
        }
    }

    /// Connects to the socket of the emulator that a guest which is held goes to, as soon as there is one and `is_taken` says that the
    /// emulator has accepted it.
    ///
    /// Errors: `TimedOut` where that is not so for `limit`.
    pub fn connect(&self, path: &Path, limit: Duration, is_taken: &dyn Fn() -> bool) -> io::Result<()> {
        let deadline = Instant::now() + limit;
        let late = || {
            std::thread::sleep(TICK);
            if Instant::now() < deadline { Ok(()) } else { Err(ErrorKind::TimedOut) }
        };
        let directory = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let socket = loop {
            match Socket::connect(&directory, &name) {
                Ok(socket) => break socket,
                Err(_) => late()?,
            }
        };
        while !is_taken() {
            late()?;
        }
        self.lock().there = Some(Way { socket, directory, name });
        Ok(())
    }

    /// Waits until the guest, which has gone, is spoken to where it is; `went` is what [`Passage::hold`] returned.
    ///
    /// Errors: `TimedOut` where its first emulator does not end the connection for so long.
    pub fn arrive(&self, went: u32, limit: Duration) -> io::Result<()> {
        let waits = |state: &mut State| state.went == went;
        let (state, _) =
            self.changed.wait_timeout_while(self.lock(), limit, waits).unwrap_or_else(PoisonError::into_inner);
        if state.went == went { Err(ErrorKind::TimedOut.into()) } else { Ok(()) }
    }

    /// The guest has not gone: it is spoken to as before.
    pub fn stay(&self) {
        let mut state = self.lock();
        (state.there, state.held) = (None, false);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn while_held<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait_while(state, |state| state.held).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to the guest, as a writer.
pub(crate) struct Input<'a>(&'a Passage);

impl Write for Input<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.while_held(self.0.lock());
        let mut here = match &state.here {
            Some(way) => way.socket.another()?,
            None => return Err(ErrorKind::NotConnected.into()),
        };
        state.writing = true;
        drop(state);
        // Not under the lock: a guest that reads nothing must not keep others from asking.
        let written = here.write(bytes);
        self.0.lock().writing = false;
        self.0.changed.notify_all();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
