//! The port of a guest as its host sees it: a socket of an emulator, behind which the service of the guest gives each who comes a worker.
//! Must not know who started the emulator.

use crate::greeting::{self, Session};
use crate::passage::Passage;
use crate::socket::Socket;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use crate::guest::{COMMAND, WORKER};

/// How often the guest is listened to for words that were late, and how often it is looked whether it still runs.
const TICK: Duration = Duration::from_millis(50);
/// Bytes that are handed on at a time.
const PIECE: usize = 64 << 10;

/// How a session with a guest ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The guest ended the session: its worker has undone what it made.
    ByGuest,
    /// The connection broke off.
    BrokenOff,
}

/// Waits for the guest behind the socket `name` of a directory while `alive` says that there is one.
pub(crate) fn meet(
    directory: &Path,
    name: &str,
    limit: Duration,
    alive: &dyn Fn() -> bool,
) -> io::Result<(Socket, Session)> {
    let mut port = Socket::connect(directory, name)?;
    port.patience(Some(TICK))?;
    let mut number = || stend_sys::clock::now().0 ^ (u64::from(std::process::id()) << 40);
    let session = greeting::meet(&mut port, &mut number, limit, alive)?;
    port.patience(None)?;
    Ok((port, session))
}

/// Waits until the guest behind this socket answers, at most for `limit` and while `alive` says that there is one.
///
/// Errors: `TimedOut` where it does not.
pub fn answers(directory: &Path, name: &str, limit: Duration, alive: &dyn Fn() -> bool) -> io::Result<()> {
    meet(directory, name, limit, alive).map(drop)
}

/// Joins two streams to the worker of the guest behind this socket, until either side ends; then waits until the guest answers again, which
/// it does only when its worker has ended. By `passage` the guest may go to another emulator meanwhile.
pub fn join(
    (directory, name): (&Path, &str),
    limit: Duration,
    alive: &dyn Fn() -> bool,
    passage: &Arc<Passage>,
    mut input: impl Read + Send + 'static,
    output: &mut impl Write,
) -> io::Result<Ended> {
    let (mut port, session) = meet(directory, name, limit, alive)?;
    passage.begin(port.another()?, (directory, name));
    let to_guest = Arc::clone(passage);
    let hands_on = move || {
        // However that ends, the guest must hear it.
        drop(io::copy(&mut input, &mut to_guest.input()));
        to_guest.hang_up();
    };
    std::thread::Builder::new().name("to-guest".into()).spawn(hands_on)?;
    let mut ending = greeting::Ending::of(session);
    let mut bytes = vec![0; PIECE];
    loop {
        let read = port.read(&mut bytes).unwrap_or(0);
        let (ours, ended) = ending.look(&bytes[..read]);
        // A coordinator that is gone is noticed by its end of the input.
        drop(output.write_all(&bytes[..ours]).and_then(|()| output.flush()));
        if ended {
            return Ok(Ended::ByGuest);
        }
        if read == 0 {
            match passage.went()? {
                Some(there) => port = there,
                None => break,
            }
        }
    }
    drop(port);
    let (directory, name) = passage.end();
    answers(&directory, &name, limit, alive).map(|()| Ended::BrokenOff)
}
