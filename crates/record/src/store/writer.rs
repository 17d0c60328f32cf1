//! The writer's handle and its thread: the event loop appends and goes on, the thread waits for disks.

use super::owner::Owner;
use super::queue::{Message, Queue};
use super::recorder::{Options, Recorder};
use super::removal;
use crate::run::{Entry, RunHeader, RunState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stend_base::{Error, Result, say};

/// Where memory-backed files live on Linux.
const MEMORY: &str = "/dev/shm";

/// How long an append waits when the queue has been full; then the run file counts as lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long closing may take: several times what a slow disk needs for the largest log.
const CLOSE_LIMIT: Duration = Duration::from_secs(60);

/// A run file that is being written. Dropping it closes the file without an end: it then reads as open.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    without_spool: Option<String>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Queue,
    stuck: AtomicBool,
    failure: Mutex<Option<Box<Error>>>,
    closed: Mutex<Option<Result<PathBuf>>>,
}

/// Creates a run file with its header; both are durable when this returns.
///
/// Errors are of kind `RunFile`: the file exists (it is never replaced), cannot be created, or there is
/// no room for the reserve. Under sudo the file belongs to the user behind it.
pub fn create(path: &Path, header: RunHeader, options: Options) -> Result<Writer> {
    create_with(path, &header, options, Owner::behind_sudo(), Path::new(MEMORY))
}

/// [`create`] with its surroundings given.
pub(super) fn create_with(
    path: &Path,
    header: &RunHeader,
    options: Options,
    owner: Option<Owner>,
    memory: &Path,
) -> Result<Writer> {
    start(Recorder::create(path, header, options, owner, memory)?, path)
}

/// Creates a run file of what exists elsewhere, such as an import. It gets its name when it is closed, whole and durable; dropped or killed
/// before that, there is no run file.
///
/// Errors are of kind `RunFile`: the file exists (it is never replaced), is being written by somebody else, or cannot be created.
pub fn create_whole(path: &Path, header: &RunHeader) -> Result<Writer> {
    start(Recorder::create_whole(path, header, Owner::behind_sudo())?, path)
}

/// Opens an existing run file to go on with a run that was ended early, suspended or killed, also after a
/// reboot. When this returns, the file durably reads as open again, and what its last writer left in a
/// spool is part of it.
///
/// Ordinals of decisions and trials are the caller's: those of [`read`](super::read) go on. The space
/// reserved is what the file still lacks of `options.reserve`.
///
/// Errors are of kind `RunFile`: the run is complete, the file is being written, damaged, read-only or of
/// another version, or there is no room. Nothing recorded is lost then.
pub fn resume(path: &Path, options: Options) -> Result<Writer> {
    resume_with(path, options, Path::new(MEMORY))
}

/// [`resume`] with its surroundings given.
pub(super) fn resume_with(path: &Path, options: Options, memory: &Path) -> Result<Writer> {
    start(Recorder::resume(path, options, memory)?, path)
}

fn start(recorder: Recorder, path: &Path) -> Result<Writer> {
    let shared = Arc::new(Shared::default());
    let theirs = Arc::clone(&shared);
    let without_spool = recorder.without_spool().map(String::from);
    let thread = std::thread::Builder::new().name("run-file".to_string()).spawn(move || serve(recorder, &theirs));
    let thread = thread.map_err(|error| {
        let shown = path.display();
        Error::run_file(say!(
            "cannot start the thread that writes `{shown}`: {error}",
            "не удаётся запустить поток записи файла `{shown}`: {error}"
        ))
    })?;
    Ok(Writer { shared, without_spool, thread: Some(thread), path: path.to_path_buf() })
}

impl Writer {
    /// Records an entry, in order, without waiting for the disk.
    ///
    /// Waits only when 64 MiB of entries wait already, at most 10 seconds; if the disk has taken nothing by then, the
    /// entry is lost and [`failure`](Self::failure) has the reason. Later entries find room at once, or are lost as well. The number of
    /// waits is recorded.
    ///
    /// A piece of a log of every I/O is left out instead when half of that waits: the file knows how many it has.
    pub fn append(&self, entry: Entry) {
        if matches!(entry, Entry::IoLog { .. }) {
            let _left_out = !self.shared.queue.offer(Message::Entry(Box::new(entry)));
            return;
        }
        if !self.shared.queue.push(Message::Entry(Box::new(entry)), PATIENCE) {
            let shown = self.path.display();
            self.shared.set_failure(&Error::run_file(say!(
                "cannot write the run file `{shown}`: its disk has taken nothing for a long time",
                "не удаётся записать файл прогона `{shown}`: его диск долго не принимает данные"
            )));
        }
    }

    /// Says that a measuring window begins or ends; inside one nothing is synced.
    pub fn window(&self, on: bool) {
        self.shared.queue.push(Message::Window(on), PATIENCE);
    }

    /// Asks for everything so far to be made durable: at the edges of a trial. Does not wait.
    pub fn edge(&self) {
        self.shared.queue.push(Message::Edge, PATIENCE);
    }

    /// Waits until everything asked so far has been dealt with (after [`edge`](Self::edge): is durable, so
    /// that its writes cannot disturb the next trial). `false` if that takes longer than `limit`; with a
    /// limit of zero it only asks.
    pub fn settle(&self, limit: Duration) -> bool {
        self.shared.queue.settle(limit)
    }

    /// Why the trial that goes on would be lost with this process, if it would: a run file on a drive of the target is written between
    /// trials only, and the spool that bridges them could not be made.
    pub fn without_spool(&self) -> Option<&str> {
        self.without_spool.as_deref()
    }

    /// Why the file cannot be written any more: kind `RunFile`, exit code 12. What was recorded before is
    /// kept, and reserved space has been released to record the end.
    pub fn failure(&self) -> Option<Box<Error>> {
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether entries wait for room now. Each [`edge`](Self::edge) tries again; what does not fit into 128 MiB meanwhile is lost, and counted.
    pub fn is_stuck(&self) -> bool {
        self.shared.stuck.load(Ordering::Relaxed)
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records how the run ended, folds everything into one file and closes it.
    ///
    /// `Err` if something could not be recorded, or if the disk does not answer for a minute.
    pub fn close(mut self, state: RunState) -> Result<PathBuf> {
        self.finish(Message::Close(state));
        let result = self.shared.closed.lock().unwrap_or_else(PoisonError::into_inner).take();
        result.unwrap_or_else(|| {
            let shown = self.path.display();
            Err(Error::run_file(say!(
                "cannot close the run file `{shown}`: its disk does not answer",
                "не удаётся закрыть файл прогона `{shown}`: его диск не отвечает"
            )))
        })
    }

    /// Closes the file and removes it, with the link that makes it known, as if it had never been made: for a run that was refused before
    /// it began to work.
    ///
    /// Errors: kind `RunFile`; then the file is still there.
    pub fn discard(mut self) -> Result<()> {
        self.finish(Message::Abandon);
        removal::remove(&self.path).map(drop)
    }

    fn finish(&mut self, last: Message) {
        let Some(thread) = self.thread.take() else { return };
        self.shared.queue.push(last, PATIENCE);
        // A thread that hangs in the kernel cannot be joined; it dies with the process.
        if self.shared.queue.wait_finished(CLOSE_LIMIT) {
            drop(thread.join());
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.finish(Message::Abandon);
    }
}

impl Shared {
    fn set_failure(&self, error: &Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| Box::new(error.clone()));
    }
}

/// Tells waiters that the thread is gone, also after a panic.
struct NotifyOnDrop<'a>(&'a Queue);

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// The writer thread: the only place that waits, for a message or for the next commit.
fn serve(mut recorder: Recorder, shared: &Shared) {
    let _goodbye = NotifyOnDrop(&shared.queue);
    loop {
        let message = shared.queue.pop(recorder.deadline());
        let popped = message.is_some();
        match message {
            None => {}
            Some(Message::Entry(entry)) => recorder.record(*entry),
            Some(Message::Window(on)) => recorder.window(on),
            Some(Message::Edge) => recorder.edge(),
            Some(Message::Close(state)) => return close(recorder, Some(state), shared),
            Some(Message::Abandon) => return close(recorder, None, shared),
        }
        if recorder.deadline().is_some_and(|at| at <= Instant::now()) {
            recorder.commit();
        }
        if let Some(failure) = recorder.failure() {
            shared.set_failure(failure);
        }
        shared.stuck.store(recorder.is_stuck(), Ordering::Relaxed);
        if popped {
            shared.queue.handled();
        }
    }
}

fn close(mut recorder: Recorder, state: Option<RunState>, shared: &Shared) {
    let waits = shared.queue.waits();
    if waits > 0 {
        recorder.note(format!("the coordinator waited {waits} times for the run file's disk"));
    }
    let result = recorder.close(state);
    if let Err(error) = &result {
        shared.set_failure(error);
    }
    *shared.closed.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
}
