//! What people say of problems, in one file beside recordings: reads it, changes it as a whole under a lock, and follows it for a recorder.
//! Must not know what a mark means.

mod lines;

pub use lines::marks_of;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use stend_analyse::journal::marks::{Author, Mark, Marks, Occurrence, Wish, named, until};
use stend_base::{Error, Result, Say, say};
use stend_record::store::Owner;

/// Name of the file. One for all recordings of a directory: a mute outlives a restart of the recorder, which begins a new recording.
const NAME: &str = "journal-marks.jsonl";
/// Most bytes of it: a thousand marks with long comments take half a MiB.
const SIZE_MAX: u64 = 1 << 20;
/// Most marks.
const MARKS_MAX: usize = 1000;
/// How long another writer is waited for. It writes some KiB; one that hangs holds up no command for longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a recorder looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// As it was said before; `None`: it was not.
    pub before: Option<Mark>,
    /// As it is said now; `None`: it is taken back.
    pub after: Option<Mark>,
}

/// What is said of the problems in a recording, and in those beside it. Without a file nothing is.
///
/// Errors: kind `Spec` with file and line for what is no mark; kind `Preflight` if the file cannot be read, or is another user's.
pub fn marks(recording: &Path) -> Result<Marks> {
    read(&place(recording))
}

/// Does what somebody wants to say of a problem in a recording, or of an object of its host: `what` is its id, the first eight digits of it, or
/// `object:NAME`.
///
/// Errors: as [`marks`]; kind `Usage` for what names no problem, may be no mark, or was not said; kind `Preflight` if there are too many, the file
/// cannot be written, or somebody else changes it for too long.
pub fn mark(recording: &Path, problems: &[Occurrence], what: &str, wish: Wish, author: Author) -> Result<Marked> {
    let mut known = problems.to_vec();
    // What was said of a problem of this recording is no second one, which would be over.
    let said = marks(recording)?.occurrences(author.host).into_iter();
    known.extend(said.filter(|said| !problems.iter().any(|problem| problem.is_same(said))));
    let of = named(what, &known)?;
    match wish {
        Wish::Acknowledge => {
            of.is_open()?;
            put(recording, of.acknowledged(author)?, author.now)
        }
        Wish::Unacknowledge => take(recording, &of.acknowledged(author)?, author.now),
        Wish::Mute { until: end } => put(recording, of.muted(until(end, author.now)?, author), author.now),
        Wish::Unmute => take(recording, &of.muted(author.now, author), author.now),
    }
}

fn put(recording: &Path, mark: Mark, now: i64) -> Result<Marked> {
    mark.check().map_err(|Say { en, ru }| Error::usage(say!("that is no mark: {en}", "так не пометить: {ru}")))?;
    let after = Some(mark.clone());
    change(recording, now, |marks| Marked { before: marks.put(mark), after })
}

fn take(recording: &Path, like: &Mark, now: i64) -> Result<Marked> {
    let taken = change(recording, now, |marks| Marked { before: marks.take(like), after: None })?;
    match taken.before {
        Some(_) => Ok(taken),
        None => Err(nothing(like)),
    }
}

fn nothing(like: &Mark) -> Box<Error> {
    let object = &like.object;
    Error::usage(match (like.until(), &like.rule) {
        (None, _) => {
            say!("that problem of `{object}` is not acknowledged", "эта проблема `{object}` не принята к сведению")
        }
        (Some(_), Some(_)) => say!("that problem of `{object}` is not muted", "эта проблема `{object}` не заглушена"),
        (Some(_), None) => say!("`{object}` as a whole is not muted", "`{object}` целиком не заглушён"),
    })
    .hint(say!(
        "`stend journal RUN` shows what is acknowledged and muted",
        "что принято к сведению и заглушено, показывает `stend journal ПРОГОН`"
    ))
}

fn place(recording: &Path) -> PathBuf {
    // The directory of runs has links to recordings that lie elsewhere.
    let file = recording.canonicalize().unwrap_or_else(|_| recording.to_path_buf());
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")).join(NAME)
}

fn read(place: &Path) -> Result<Marks> {
    let shown = place.display();
    let unreadable = |Say { en, ru }: Say| {
        Error::preflight(say!("cannot read `{shown}`: {en}", "не удаётся прочитать `{shown}`: {ru}"))
    };
    let owner = match place.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Marks::default()),
        Err(error) => return Err(unreadable(stend_sys::regular::why(&error))),
        Ok(found) => found.uid(),
    };
    let directory = place.parent().unwrap_or(Path::new("."));
    let of_directory = directory.metadata().map_err(|error| unreadable(stend_sys::regular::why(&error)))?.uid();
    if ![0, of_directory].contains(&owner) && Some(owner) != this_user() {
        return Err(Error::preflight(say!(
            "`{shown}` belongs to another user, and could silence this recording",
            "`{shown}` принадлежит другому пользователю и мог бы заглушить эту запись"
        ))
        .hint(say!(
            "remove it, or record into a directory of your own",
            "удалите его или пишите в собственный каталог"
        )));
    }
    let text = stend_sys::regular::text(place, SIZE_MAX).map_err(unreadable)?;
    if text.len() as u64 > SIZE_MAX {
        return Err(unreadable(say!("it is larger than 1 MiB", "он больше 1 МиБ")));
    }
    marks_of(&text, &shown.to_string())
}

fn this_user() -> Option<u32> {
    std::fs::metadata("/proc/self").ok().map(|process| process.uid())
}

fn change(recording: &Path, now: i64, make: impl FnOnce(&mut Marks) -> Marked) -> Result<Marked> {
    let place = place(recording);
    let directory = place.parent().unwrap_or(Path::new("."));
    let _lock = locked(directory)?;
    let mut marks = read(&place)?;
    marks.forget(now);
    let marked = make(&mut marks);
    if marked.before.is_none() && marked.after.is_none() {
        return Ok(marked);
    }
    let text = lines::text(&marks);
    has_room(&place, marks.all().len(), text.len() as u64)?;
    write(directory, &place, &text).map_err(|error| cannot_change(&place, &stend_sys::regular::why(&error)))?;
    Ok(marked)
}

/// Whether a file of marks may have so many, and so many bytes.
fn has_room(place: &Path, count: usize, size: u64) -> Result<()> {
    let shown = place.display();
    match (count > MARKS_MAX, size > SIZE_MAX) {
        (true, _) => Err(Error::preflight(say!(
            "`{shown}` has {MARKS_MAX} marks, and takes no more",
            "в `{shown}` уже {MARKS_MAX} пометок, больше нельзя"
        ))
        .hint(say!("take some back", "снимите часть"))),
        (false, true) => {
            Err(Error::preflight(say!("`{shown}` would be larger than 1 MiB", "файл `{shown}` стал бы больше 1 МиБ"))
                .hint(say!(
                    "take some marks back, or write shorter comments",
                    "снимите часть пометок или пишите комментарии короче"
                )))
        }
        (false, false) => Ok(()),
    }
}

fn cannot_change(place: &Path, Say { en, ru }: &Say) -> Box<Error> {
    let shown = place.display();
    Error::preflight(say!("cannot change `{shown}`: {en}", "не удаётся изменить `{shown}`: {ru}"))
}

/// The lock for changes of marks here: the directory itself, so that no file is left behind.
fn locked(directory: &Path) -> Result<File> {
    let failed = |error: &io::Error| cannot_change(&directory.join(NAME), &stend_sys::regular::why(error));
    let lock = File::open(directory).map_err(|error| failed(&error))?;
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(10))
            }
            Err(TryLockError::WouldBlock) => {
                let why = say!("another process is changing it", "его меняет другой процесс");
                return Err(cannot_change(&directory.join(NAME), &why));
            }
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
    }
}

/// Whole or as it was before. The lock is held.
fn write(directory: &Path, place: &Path, text: &str) -> io::Result<()> {
    let new = place.with_extension("new");
    // Left over by a process that was killed.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&new)?;
        let open = File::open(directory)?;
        Owner::of(&open)?.map_or(Ok(()), |owner| owner.take_file(&file))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, place)?;
        open.sync_all()
    })();
    if written.is_err() {
        // What failed is reported, and half a file is of no use.
        drop(std::fs::remove_file(&new));
    }
    written
}

/// The marks beside a recording as they change. A thread reads them, so that a disk that hangs keeps no sample waiting.
pub struct WatchedMarks {
    shared: Arc<Shared>,
}

struct Shared {
    place: PathBuf,
    marks: Mutex<Arc<Marks>>,
}

/// By what a change of the file shows: inode, length, seconds and nanoseconds.
type Stamp = Option<(u64, u64, i64, i64)>;

impl WatchedMarks {
    /// Begins to follow them. `told` hears why they cannot be read; nothing is muted then.
    ///
    /// Errors: kind `Preflight` if the system allows no thread.
    pub fn begin(recording: &Path, told: impl Fn(Say) + Send + 'static) -> Result<WatchedMarks> {
        let shared = Arc::new(Shared { place: place(recording), marks: Mutex::default() });
        // Before the first message, not a second later.
        let seen = shared.stamp();
        shared.look(&told);
        let follower = Arc::downgrade(&shared);
        let follow = move || follow(&follower, seen, &told);
        std::thread::Builder::new().name("marks".into()).spawn(follow).map_err(|error| {
            Error::preflight(say!("cannot start a thread: {error}", "не удаётся запустить поток: {error}"))
        })?;
        Ok(WatchedMarks { shared })
    }

    /// As they were a second ago at the latest.
    pub fn now(&self) -> Arc<Marks> {
        self.shared.held().clone()
    }
}

fn follow(shared: &Weak<Shared>, mut seen: Stamp, told: &dyn Fn(Say)) {
    loop {
        std::thread::sleep(LOOK_EVERY);
        let Some(shared) = shared.upgrade() else { return };
        let now = shared.stamp();
        if now != seen {
            seen = now;
            shared.look(told);
        }
    }
}

impl Shared {
    fn held(&self) -> MutexGuard<'_, Arc<Marks>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stamp(&self) -> Stamp {
        let found = self.place.metadata().ok()?;
        Some((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
    }

    fn look(&self, told: &dyn Fn(Say)) {
        let marks = read(&self.place).unwrap_or_else(|error| {
            let Say { en, ru } = &error.message;
            told(say!("nothing is muted or acknowledged: {en}", "ничего не заглушено и не принято к сведению: {ru}"));
            Marks::default()
        });
        *self.held() = Arc::new(marks);
    }
}

#[cfg(test)]
mod tests;
