//! The run file as its writer sees it: entries wait in a backlog and move into the database in
//! transactions. Runs on the writer thread; must not decide when a trial begins or ends.
//!
//! The database is in WAL mode and is never checkpointed on its own. A commit then only appends to the
//! log, without any sync. A sync happens at an edge: checkpoint, then one small commit that begins the
//! log anew, so that no later commit has to (restarting a log is the one thing for which SQLite would
//! sync inside a commit).

mod resume;
mod whole;

use super::failure;
use super::lock::{self, NotHeld};
use super::owner::Owner;
use super::queue::entry_weight;
use super::reserve::Reserve;
use super::retention::Thinning;
use super::schema::{self, key};
use super::spool::{self, Spool};
use crate::event::{Event, EventKind};
use crate::run::{Entry, RunHeader, RunState};
use rusqlite::Connection;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stend_base::{Bytes, Error, Nanos, Result};

/// Longest time an entry waits for its commit when nothing is spooled: half of what may be lost, less
/// the time that a commit takes.
const COMMIT_EVERY: Duration = Duration::from_millis(250);

/// Entries of more than this are committed at once when nothing is spooled: what writes them goes on meanwhile, and memory is used again.
const COMMIT_AT: usize = 1 << 20;

/// Memory that uncommitted entries may take. A spooled trial of one mixed stream reaches it after an hour and a half;
/// its entries then move to the disk before it ends, and the run file records it.
const BACKLOG_MAX: usize = 128 << 20;

/// Outside a window the log is folded into the database above this size, by eye.
const LOG_MAX: u64 = 64 << 20;

/// Inside a window it may grow further; only a trial of more than an hour gets there.
const LOG_MAX_IN_WINDOW: u64 = 256 << 20;

/// Attempts to turn the log off at the end while a reader has the file open, and the pause between them.
const CLOSE_ATTEMPTS: u32 = 30;
const CLOSE_PAUSE: Duration = Duration::from_millis(100);

/// How a run file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// It shares a physical drive with the target: nothing is written to it between trial edges.
    pub spool: bool,
    /// Space to allocate before the first trial: the expected size of the file.
    pub reserve: Bytes,
}

/// An open run file and what has not reached it yet.
#[derive(Debug)]
pub struct Recorder {
    db: Connection,
    path: PathBuf,
    /// Ordinal of the next entry; the header is 0.
    next: u64,
    /// Checkpoints so far.
    syncs: u64,
    backlog: Vec<Entry>,
    backlog_weight: usize,
    oldest: Option<Instant>,
    /// Entries move to the disk at edges only.
    at_edges: bool,
    spool: Option<Spool>,
    /// Why there is none although there should be.
    without_spool: Option<String>,
    reserve: Option<Reserve>,
    in_window: bool,
    /// The last commit failed; the next edge tries again.
    stuck: bool,
    lost: u64,
    failure: Option<Box<Error>>,
    /// What removes samples of a recording that grow too old.
    thinning: Option<Thinning>,
    /// What the file is called once it is whole; `None`: it has its name.
    becomes: Option<PathBuf>,
    /// The file itself, locked. Comes last because closing it any earlier would end SQLite's own locks:
    /// those belong to the process, and any closing of the file drops them.
    file: File,
}

impl Recorder {
    /// Creates the file with its header, durably, and reserves space. Leaves nothing behind on failure.
    pub fn create(
        path: &Path,
        header: &RunHeader,
        options: Options,
        owner: Option<Owner>,
        memory: &Path,
    ) -> Result<Recorder> {
        // Never replaces anything.
        let file = open_file(path, true).map_err(|error| failure::cannot_create(path, &error))?;
        spool::remove_dead(memory, owner);
        let recorder = Recorder::begin(path, file, header, options, owner, memory);
        recorder.inspect_err(|_| {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                drop(std::fs::remove_file(beside(path, suffix)));
            }
        })
    }

    fn begin(
        path: &Path,
        file: File,
        header: &RunHeader,
        options: Options,
        owner: Option<Owner>,
        memory: &Path,
    ) -> Result<Recorder> {
        let failed = |error: rusqlite::Error| failure::cannot_write(path, &error);
        let lost = |error: io::Error| failure::cannot_sync(path, &error);
        // A file whose locks do not work or would shut SQLite out has no second writer either: `resume` refuses it.
        if let Err(NotHeld::Taken) = lock::hold(&file) {
            return Err(failure::cannot_create(path, &io::ErrorKind::ResourceBusy.into()));
        }
        // Before SQLite makes the log and its index: they take over the owner of the database.
        owner.map_or(Ok(()), |owner| owner.take_file(&file)).map_err(lost)?;
        let db = open(path, |db| schema::lay_out(db, header)).map_err(failed)?;
        let mut recorder = Recorder::over(db, file, path, options);
        recorder.thinning = header.recording.as_ref().map(|recording| Thinning::new(recording.retention.clone()));
        if options.spool {
            recorder.open_spool(memory, &header.id, owner).map_err(failed)?;
        }
        recorder.checkpoint().map_err(failed)?;
        recorder.reserve = reserve(path, options.reserve)?;
        recorder.sync().map_err(lost)?;
        Ok(recorder)
    }

    /// A recorder of a database in which nothing but the header is recorded.
    fn over(db: Connection, file: File, path: &Path, options: Options) -> Recorder {
        Recorder {
            db,
            path: path.to_path_buf(),
            next: 1,
            syncs: 0,
            backlog: Vec::new(),
            backlog_weight: 0,
            oldest: None,
            at_edges: options.spool,
            spool: None,
            without_spool: None,
            reserve: None,
            in_window: false,
            stuck: false,
            lost: 0,
            failure: None,
            thinning: None,
            becomes: None,
            file,
        }
    }

    /// Makes the file, its log and their names durable.
    fn sync(&self) -> io::Result<()> {
        // The log by itself: a reader may have kept the checkpoint from syncing it.
        File::open(beside(&self.path, "-wal"))?.sync_all()?;
        self.file.sync_all()?;
        // Without the directory's own sync a power loss may take the name of a synced file.
        File::open(directory_of(&self.path))?.sync_all()
    }

    fn open_spool(&mut self, memory: &Path, run: &str, owner: Option<Owner>) -> rusqlite::Result<()> {
        match Spool::create(memory, run, &self.path, owner) {
            Ok(spool) => {
                schema::put_meta(&self.db, key::SPOOL, &spool.path())?;
                self.spool = Some(spool);
            }
            Err(error) => self.do_without_spool(format!("no file can be made in {}: {error}", memory.display())),
        }
        Ok(())
    }

    /// Entries of a trial are only in the memory of this process from now on.
    fn do_without_spool(&mut self, why: String) {
        self.spool = None;
        self.without_spool = Some(why.clone());
        self.keep(Entry::Event(Event::new(now(), EventKind::NoSpool { why })));
    }

    /// Why what a trial measures would be lost if this process were killed, if it would.
    pub fn without_spool(&self) -> Option<&str> {
        self.without_spool.as_deref()
    }

    /// Takes an entry. It survives the death of this process at once if spooled, else after the next commit.
    pub fn record(&mut self, entry: Entry) {
        if self.stuck && self.backlog_weight > BACKLOG_MAX {
            self.lost += 1;
            return;
        }
        self.keep(entry);
        if self.stuck || self.backlog_weight <= if self.at_edges { BACKLOG_MAX } else { COMMIT_AT } {
            return;
        }
        if self.at_edges {
            self.note("the spool reached its limit; its entries move to the disk during a trial".to_string());
        }
        self.commit();
    }

    fn keep(&mut self, entry: Entry) {
        if let (Some(thinning), Entry::Sample { sample, .. }) = (&mut self.thinning, &entry) {
            thinning.note(sample.at);
        }
        let spooled = self.spool.as_mut().map_or(Ok(()), |spool| spool.append(self.next, &entry));
        self.next += 1;
        self.backlog_weight += entry_weight(&entry);
        self.backlog.push(entry);
        self.oldest.get_or_insert_with(Instant::now);
        if let Err(error) = spooled {
            self.do_without_spool(format!("the spool cannot be written any more: {error}"));
        }
    }

    /// When entries must be committed at the latest; `None` if nothing waits for that.
    pub fn deadline(&self) -> Option<Instant> {
        self.oldest.filter(|_| !self.at_edges && !self.stuck).map(|oldest| oldest + COMMIT_EVERY)
    }

    /// Moves the backlog into the database, without a sync; of what no reader would accept a note. If that fails, the backlog is kept.
    pub fn commit(&mut self) {
        self.stuck = !self.insist(Recorder::try_commit);
        self.fold_large_log();
    }

    /// Takes a step that may find the disk full: then releases the reserved space and tries once more.
    fn insist(&mut self, step: fn(&mut Recorder) -> rusqlite::Result<()>) -> bool {
        let Err(first) = step(self) else { return true };
        let had_reserve = self.reserve.take().is_some();
        self.fail(&first);
        had_reserve && step(self).is_ok()
    }

    fn try_commit(&mut self) -> rusqlite::Result<()> {
        if self.backlog.is_empty() {
            return Ok(());
        }
        let transaction = self.db.transaction()?;
        for entry in &self.backlog {
            match schema::insert(&transaction, entry) {
                // It would hold up all that come behind it. What exists elsewhere as a whole is refused instead.
                Err(error) if schema::is_too_large(&error) && self.becomes.is_none() => {
                    schema::insert(&transaction, &note(format!("{error}: it was left out")))?;
                }
                done => done?,
            }
        }
        schema::put_meta(&transaction, key::WRITTEN, &(self.next - 1))?;
        transaction.commit()?;
        self.backlog.clear();
        (self.backlog_weight, self.oldest) = (0, None);
        self.empty_spool();
        Ok(())
    }

    /// Everything spooled is in the database.
    fn empty_spool(&mut self) {
        if let Some(error) = self.spool.as_mut().and_then(|spool| spool.clear().err()) {
            self.do_without_spool(format!("the spool cannot be emptied: {error}"));
        }
    }

    /// Keeps the log of a run without edges from growing for ever; readers get slower with its size.
    fn fold_large_log(&mut self) {
        let limit = if self.in_window { LOG_MAX_IN_WINDOW } else { LOG_MAX };
        if size(&beside(&self.path, "-wal")) <= limit {
            return;
        }
        if self.in_window {
            self.note("the log of the run file reached its limit; it was synced inside a measuring window".to_string());
        }
        self.insist(Recorder::checkpoint);
    }

    /// A measuring window begins or ends.
    pub fn window(&mut self, on: bool) {
        self.in_window = on;
    }

    /// Makes everything durable.
    pub fn edge(&mut self) {
        self.commit();
        if !self.stuck && self.thinning.is_some() {
            self.stuck = !self.insist(Recorder::thin);
        }
        self.insist(Recorder::checkpoint);
        let used = used(&self.path);
        if let Some(reserve) = &mut self.reserve {
            reserve.shrink_by(used);
        }
    }

    fn thin(&mut self) -> rusqlite::Result<()> {
        self.thinning.as_mut().map_or(Ok(()), |thinning| thinning.pass(&mut self.db))
    }

    /// Whether the last commit failed: entries wait for room.
    pub fn is_stuck(&self) -> bool {
        self.stuck
    }

    /// Syncs the log, copies it into the database, syncs that, and begins the log anew.
    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        // A value that was there already would change no page, and the log would not begin anew.
        self.syncs += 1;
        schema::put_meta(&self.db, key::SYNCS, &self.syncs)
    }

    /// Records the end, if there is one, moves everything into one file and closes it. `Err` if
    /// something could not be recorded.
    pub fn close(self, state: Option<RunState>) -> Result<PathBuf> {
        let Some(path) = self.becomes.clone() else { return self.end(state) };
        let part = self.path.clone();
        let file = self.file.try_clone().map_err(|error| failure::cannot_sync(&path, &error));
        let whole = state.is_some().then(|| self.end(state)).transpose();
        let named = whole.and_then(|whole| match whole {
            Some(_) => whole::named(&part, &file?, path.clone()).map_err(|error| failure::cannot_create(&path, &error)),
            None => Ok(path),
        });
        // Without its name it is nothing.
        drop(std::fs::remove_file(&part));
        named
    }

    fn end(mut self, state: Option<RunState>) -> Result<PathBuf> {
        self.reserve = None;
        if self.lost > 0 {
            let lost = self.lost;
            self.note(format!("{lost} entries were lost because the run file could not be written"));
        }
        if let Some(state) = state {
            self.keep(Entry::End(state));
        }
        let done =
            self.try_commit().and_then(|()| self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        if let Err(error) = done {
            self.fail(&error);
            return Err(self.not_written(&error));
        }
        for _ in 0..CLOSE_ATTEMPTS {
            if set_journal_mode(&self.db, "DELETE").is_ok() {
                break;
            }
            // A reader has the file open. Without success the log stays beside it, empty: still readable.
            std::thread::sleep(CLOSE_PAUSE);
        }
        Ok(self.path)
    }

    /// Why the file could not be written, from the first time that happened on.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_deref()
    }

    /// Records something about the run file itself.
    pub fn note(&mut self, text: String) {
        self.keep(note(text));
    }

    fn not_written(&self, error: &rusqlite::Error) -> Box<Error> {
        match &self.becomes {
            Some(path) => failure::not_whole(path, error),
            None => failure::cannot_write(&self.path, error),
        }
    }

    fn fail(&mut self, error: &rusqlite::Error) {
        if self.failure.is_some() {
            return;
        }
        let failure = self.not_written(error);
        let detail = failure.message.en.clone();
        self.failure = Some(failure);
        self.keep(Entry::Event(Event::new(now(), EventKind::RunFileFull { detail })));
    }
}

fn note(text: String) -> Entry {
    Entry::Event(Event::new(now(), EventKind::Note { text }))
}

/// Opens the file itself for writing; a `new` one must not exist yet.
fn open_file(path: &Path, new: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(new).open(path)
}

/// Space for what the run file will still grow by, if its expected size is known.
fn reserve(path: &Path, expected: Bytes) -> Result<Option<Reserve>> {
    if expected == Bytes(0) {
        return Ok(None);
    }
    let reserve = Reserve::new(path, expected, used(path));
    reserve.map(Some).map_err(|error| failure::no_room(path, expected, &error))
}

/// Opens the database; `prepare` comes before the log exists.
fn open(path: &Path, prepare: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> rusqlite::Result<Connection> {
    use rusqlite::OpenFlags;
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Readers never block a writer in WAL mode; only closing waits for them, in its own loop.
    db.busy_timeout(Duration::ZERO)?;
    prepare(&db)?;
    set_journal_mode(&db, "WAL")?;
    db.query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(db)
}

fn set_journal_mode(db: &Connection, mode: &str) -> rusqlite::Result<()> {
    let set: String = db.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get(0))?;
    if set.eq_ignore_ascii_case(mode) {
        return Ok(());
    }
    let error = io::Error::other(format!("this file system does not take SQLite's journal mode {mode}"));
    Err(rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn now() -> Nanos {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The name of a file that SQLite keeps beside a database.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// What a run file takes, its log included.
fn used(path: &Path) -> Bytes {
    Bytes(size(path) + size(&beside(path, "-wal")))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
