//! Two byte streams in memory between a coordinator and a simulated worker. The real link reads and writes them; nothing here may
//! depend on how fast threads of this process run.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stend_wire::protocol::{Hello, frame, read_frame, read_hello, write_frame, write_hello};
use stend_wire::{Host, Reply, Request, now};

/// Bytes before the first message.
const MAGIC: usize = 8;
/// How long a hello may take that is there already.
const HELLO_LIMIT: Duration = Duration::from_secs(60);

/// What a worker has said and the link has not read yet.
#[derive(Default)]
struct Said {
    bytes: VecDeque<u8>,
    /// Nothing will be said any more.
    ended: bool,
    /// All of it was read, and the reader waits for more.
    awaited: bool,
    /// Nobody reads any more.
    unread: bool,
}

#[derive(Default)]
struct Stream {
    said: Mutex<Said>,
    changed: Condvar,
}

impl Stream {
    fn lock(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The coordinator's end of it.
struct Reading(Arc<Stream>);

impl Read for Reading {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut said = self.0.lock();
        while said.bytes.is_empty() && !said.ended {
            said.awaited = true;
            self.0.changed.notify_all();
            said = self.0.changed.wait(said).unwrap_or_else(PoisonError::into_inner);
        }
        said.awaited = false;
        said.bytes.read(to)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.lock().unread = true;
        self.0.changed.notify_all();
    }
}

/// What the coordinator has written.
#[derive(Default)]
struct Asked {
    bytes: Vec<u8>,
    /// The worker is gone: the writer gets an error.
    broken: bool,
    /// The coordinator has hung up.
    let_go: bool,
}

/// How far the clock of another machine is ahead of ours, ns.
pub type Ahead = Arc<AtomicI64>;

/// A machine with a clock of its own, which says at once what that shows: the link compares it with the clock of this process.
struct Clock {
    ahead: Ahead,
    question: Vec<u8>,
    answers: Arc<Stream>,
}

impl Clock {
    fn answer(&self) {
        let theirs = now().shifted(self.ahead.load(Ordering::Relaxed));
        let mut answer = Vec::new();
        write_frame(&mut answer, &Reply::Clock(theirs)).expect("a frame");
        let mut said = self.answers.lock();
        said.bytes.extend(answer);
        said.awaited = false;
        self.answers.changed.notify_all();
    }
}

struct Writing {
    asked: Arc<Mutex<Asked>>,
    clock: Option<Clock>,
}

impl Writing {
    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut asked = self.lock();
        if asked.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        match self.clock.as_ref().filter(|clock| clock.question == bytes) {
            Some(clock) => {
                drop(asked);
                clock.answer();
            }
            None => asked.bytes.extend(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.lock().let_go = true;
    }
}

/// The worker's end of both streams.
pub struct Cable {
    said: Arc<Stream>,
    asked: Arc<Mutex<Asked>>,
}

impl Cable {
    /// Both ends, after their hellos, of a worker that shares our clock.
    pub fn new() -> (Cable, Host) {
        Cable::joined(None)
    }

    /// The same of a worker of another machine, whose clock is so far ahead.
    pub fn of_another_machine(ahead: Ahead) -> (Cable, Host) {
        Cable::joined(Some(ahead))
    }

    fn joined(ahead: Option<Ahead>) -> (Cable, Host) {
        let cable = Cable { said: Arc::default(), asked: Arc::default() };
        let mut hello = Vec::new();
        write_hello(&mut hello).expect("a hello");
        if ahead.is_some() {
            // Behind the magic: another boot is another clock.
            hello.truncate(MAGIC);
            write_frame(&mut hello, &Hello { boot_id: "another".into(), ..Hello::ours() }).expect("a hello");
        }
        cable.put(&hello);
        let question = || frame(&Request::Clock).expect("a frame");
        let clock = ahead.map(|ahead| Clock { ahead, question: question(), answers: Arc::clone(&cable.said) });
        let (from, to) = (Reading(Arc::clone(&cable.said)), Writing { asked: Arc::clone(&cable.asked), clock });
        let host = Host::over(from, to, HELLO_LIMIT).expect("a host");
        let hello = std::mem::take(&mut cable.lock().bytes);
        read_hello(&mut hello.as_slice()).expect("our own hello");
        (cable, host)
    }

    /// Bytes arrive at the coordinator; returns when the link has handed on all that follows from them.
    pub fn say(&self, bytes: &[u8]) {
        let mut said = self.said.lock();
        if said.unread || said.ended {
            return;
        }
        said.bytes.extend(bytes);
        said.awaited = false;
        self.wait(said);
    }

    /// The same before anybody listens.
    pub fn put(&self, bytes: &[u8]) {
        self.said.lock().bytes.extend(bytes);
    }

    /// The stream to the coordinator ends, and with it the one from it.
    pub fn cut(&self) {
        let mut said = self.said.lock();
        (said.ended, said.awaited) = (true, false);
        self.lock().broken = true;
        self.wait(said);
    }

    /// Returns when the link has read all that was said.
    pub fn settle(&self) {
        self.wait(self.said.lock());
    }

    /// Whether the coordinator has hung up.
    pub fn is_let_go(&self) -> bool {
        self.lock().let_go
    }

    fn wait(&self, mut said: MutexGuard<'_, Said>) {
        self.said.changed.notify_all();
        while !(said.unread || said.awaited && said.bytes.is_empty()) {
            said = self.said.changed.wait(said).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What was asked for since the last time, in order.
    pub fn asked(&self) -> Vec<Request> {
        let bytes = std::mem::take(&mut self.lock().bytes);
        let mut rest = bytes.as_slice();
        std::iter::from_fn(|| read_frame(&mut rest).expect("whole requests")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Cable {
    /// A reader must not wait for ever.
    fn drop(&mut self) {
        self.cut();
    }
}
