//! The ledger: what was sent to each block and what was acknowledged, kept outside of the tested system, so that a crash
//! can be judged ([`crash`]). The contract is docs/formats/verification.md. Must not allocate or lock between two I/Os, but
//! where a block comes to the end of what is reserved for it.
//!
//! The ledger is a file that is mapped: a store into it survives the death of this process at once, and a crash of the
//! machine that holds it as soon as a thread of its own, the keeper, has synced it.

pub(crate) mod account;
pub(crate) mod crash;
mod head;
pub(crate) mod recorder;

use super::marks::Marks;
use crate::Control;
use crate::layout::Job;
use account::{Account, Ledger, RESERVE};
use head::{AREA_WORDS, CELL_WORDS, Head};
use recorder::{LedgerWriter, Recorder};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use stend_base::{Error, Result, Say, say};
use stend_sys::mapped::{self, Mapped};

/// Rest of the keeper between two syncs: what a machine that loses the ledger's memory, too, forgets of acknowledgements is
/// this and the length of a sync. By eye: ten syncs a second disturb no other drive.
const KEEP_EVERY: Duration = Duration::from_millis(100);

/// Where the ledger of a run lies.
#[derive(Debug, Clone, Copy)]
pub struct LedgerPlace<'a> {
    /// Its file.
    pub path: &'a Path,
    /// Id of the run.
    pub run: &'a str,
}

/// Where ledgers are kept.
#[derive(Debug, Clone)]
pub enum LedgerIn<'a> {
    /// In a file, for the check after a crash.
    File(LedgerPlace<'a>),
    /// In memory, for the replay of a log of writes.
    Memory(Arc<Recorder>),
}

/// The ledger of a trial with the thread that keeps it durable.
pub(crate) struct LedgerThread {
    ledger: Arc<Ledger>,
    thread: Option<JoinHandle<()>>,
}

/// Whether the job's writes go into a ledger.
fn is_kept(job: &Job) -> bool {
    job.spec.verify.is_some_and(|verify| verify.crash)
}

/// Bytes of ledger for a job; jobs that share an area have it together, and count it once.
pub(crate) fn memory(job: &Job) -> u64 {
    let counts = is_kept(job) && (job.cursor.is_none() || job.job == 0);
    if counts { job.area.blocks.saturating_mul(CELL_WORDS as u64 * 8) } else { 0 }
}

/// Gives the jobs whose crash is to be judged an account in a new ledger, in place of that of an earlier trial; `None`: there
/// is no such job. Whatever is written afterwards is known to it.
///
/// `control` stops the load of these jobs: it is stopped when the ledger cannot be kept any more.
pub(crate) fn open(
    jobs: &mut [Job],
    marks: Marks,
    place: Option<LedgerIn>,
    direct: bool,
    control: &Control,
) -> Result<Option<LedgerThread>> {
    if !jobs.iter().any(is_kept) {
        return Ok(None);
    }
    let Some(books) = place else {
        let message = say!("a trial needs a ledger and was given none", "испытанию нужен журнал, но он не задан");
        return Err(Error::bug(message));
    };
    let run = match &books {
        LedgerIn::File(place) => {
            must_be_ours(*place)?;
            place.run.to_string()
        }
        LedgerIn::Memory(_) => String::new(),
    };
    let in_flight = jobs.iter().filter(|job| is_kept(job)).map(|job| u64::from(job.spec.queue_depth)).sum();
    let boot = crash::boot_id();
    let mut head = Head { run, marks, in_flight, direct, boot, areas: Vec::new() };
    let mut firsts: Vec<Option<usize>> = Vec::new();
    let mut cells = 0;
    for index in 0..jobs.len() {
        let (job, before) = (&jobs[index], index.checked_sub(1).map(|before| &jobs[before]));
        let shared = job.cursor.is_some() && before.is_some_and(|other| other.stream == job.stream);
        firsts.push(match (is_kept(job), shared) {
            (false, _) => None,
            (true, true) => firsts.last().copied().flatten(),
            (true, false) => {
                let first = cells;
                head.areas.push(head::AreaOf { area: job.area, block: job.spec.block_size.0, stream: job.stream });
                cells += job.area.blocks as usize * CELL_WORDS;
                Some(first)
            }
        });
    }
    let base = head.cells_at() / 8;
    let bytes = head.to_bytes(RESERVE);
    let map = match &books {
        LedgerIn::File(place) => Mapped::create(place.path, &bytes, head.len()),
        LedgerIn::Memory(_) => Mapped::unnamed(&bytes, head.len()),
    };
    let map = map.map_err(|e| cannot_keep(books.path(), &e))?;
    let ledger = Arc::new(Ledger::over(map, control));
    for (job, first) in jobs.iter_mut().zip(firsts) {
        let Some(first) = first else { continue };
        let account = Account {
            ledger: ledger.clone(),
            first: base + first,
            start: job.area.start,
            block: job.spec.block_size.0,
            at_once: job.spec.sync.every() == 0,
        };
        if let Some(check) = &mut job.check {
            check.account = Some(account);
        }
    }
    LedgerThread::start(ledger, &books, head).map(Some)
}

impl LedgerIn<'_> {
    /// For people.
    fn path(&self) -> &Path {
        match self {
            LedgerIn::File(place) => place.path,
            LedgerIn::Memory(_) => Path::new("memory"),
        }
    }
}

/// Takes the ledger of a run away: what it says is not true any more, or nobody has to know it. Absent is fine.
pub fn remove_ledger(place: LedgerPlace) -> Result<()> {
    must_be_ours(place)?;
    mapped::remove(place.path).map_err(|e| cannot_keep(place.path, &e))
}

/// A file of that name that is no ledger of this run is not ours to replace.
fn must_be_ours(place: LedgerPlace) -> Result<()> {
    match head::read(place.path) {
        Ok(None) => Ok(()),
        Ok(Some(head)) if head.run == place.run => Ok(()),
        Ok(Some(_)) | Err(_) => {
            let path = place.path.display();
            Err(Error::preflight(say!(
                "the ledger of this run belongs at `{path}`, but there is another file",
                "на месте журнала этого прогона, `{path}`, другой файл"
            ))
            .hint(say!("move it away", "уберите этот файл оттуда")))
        }
    }
}

fn cannot_keep(path: &Path, error: &io::Error) -> Box<Error> {
    let path = path.display();
    Error::run_file(say!("cannot keep the ledger `{path}`: {error}", "журнал `{path}` не удаётся вести: {error}"))
}

/// Syncs a ledger until the load is over, and once more after that: what is acknowledged while a sync goes on is not in it.
fn keep(ledger: &Ledger) {
    loop {
        let over = ledger.over.load(Ordering::Acquire);
        ledger.sync();
        if over {
            return;
        }
        std::thread::park_timeout(KEEP_EVERY);
    }
}

impl LedgerThread {
    fn start(ledger: Arc<Ledger>, books: &LedgerIn, head: Head) -> Result<LedgerThread> {
        let kept = ledger.clone();
        let thread = std::thread::Builder::new().name("ledger".into());
        let thread = match books {
            LedgerIn::Memory(recorder) => {
                let writer = LedgerWriter::begin(recorder.clone(), head, kept)?;
                thread.spawn(move || writer.record())
            }
            LedgerIn::File(_) => thread.spawn(move || keep(&kept)),
        };
        let thread = thread.map_err(|e| cannot_keep(books.path(), &e))?;
        Ok(LedgerThread { ledger, thread: Some(thread) })
    }

    /// Nothing is written any more; whether everything that was acknowledged is in the ledger.
    pub fn end(mut self) -> std::result::Result<(), Say> {
        self.halt();
        let failure = self.ledger.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), Err)
    }

    fn halt(&mut self) {
        self.ledger.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It can only end by itself; a panic of it is seen by the lint that forbids panics.
            drop(thread.join());
        }
    }
}

impl Drop for LedgerThread {
    fn drop(&mut self) {
        self.halt();
    }
}

const _: () = assert!(AREA_WORDS == 4 && CELL_WORDS == 4, "docs/formats/verification.md has these sizes");

#[cfg(test)]
mod tests;
