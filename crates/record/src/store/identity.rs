//! What the first page of a file says without SQLite: whether it is a run file, and of which version. Must not believe what it says about
//! its size.

use super::recorder::beside;
use super::{EXTENSION, FORMAT_VERSION, schema};
use rusqlite::types::{FromSql, ValueRef};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use stend_base::{Code, Error, Result, Say, say};

/// First bytes of every SQLite database.
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Where SQLite keeps `user_version` and `application_id` in the first page, big-endian.
const VERSION_AT: usize = 60;
const APPLICATION_AT: usize = 68;

/// Least bytes that a row takes on disk: its cell pointer, length, key and header.
const ROW_MIN: u64 = 5;

/// What a file of a given size can hold at most: a crafted one may refer to the same page many times.
pub(super) struct Budget {
    rows: u64,
    bytes: u64,
}

impl Budget {
    /// Whether a row whose value has this length can still come from the file.
    pub(super) fn spend(&mut self, length: ValueRef) -> bool {
        let length = i64::column_result(length).ok().and_then(|length| u64::try_from(length).ok()).unwrap_or(0);
        let left = (self.rows.checked_sub(1), self.bytes.checked_sub(length));
        let (Some(rows), Some(bytes)) = left else { return false };
        (self.rows, self.bytes) = (rows, bytes);
        true
    }
}

/// Opens a run file of whatever version, or one whose run ended while it was being made, so that nothing is in it. Neither follows a link
/// nor waits for what is no regular file.
///
/// Errors: kind `RunFile`.
pub(super) fn own(path: &Path) -> Result<File> {
    let no_run_file = |why: &Say| {
        let (shown, en, ru) = (path.display(), &why.en, &why.ru);
        Error::run_file(say!("`{shown}` is not a run file of Stend: {en}", "`{shown}` — не файл прогона Stend: {ru}"))
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::LOOP) => return Err(no_run_file(&say!("it is a link", "это ссылка"))),
        Err(error) => return Err(no_run_file(&Say::same(std::io::Error::from(error).to_string()))),
    };
    let found = file.metadata().map_err(|error| no_run_file(&Say::same(error.to_string())))?;
    if !found.is_file() {
        return Err(no_run_file(&say!("it is not a regular file", "это не обычный файл")));
    }
    // The name of an empty one tells: nothing can be lost.
    if found.len() == 0 && path.extension().is_some_and(|extension| extension == EXTENSION) {
        return Ok(file);
    }
    let mut first = [0; 100];
    let whole = file.read_exact(&mut first);
    match whole.is_ok() && is_ours(&first) {
        true => Ok(file),
        false => Err(no_run_file(&say!("it holds something else", "в нём что-то другое"))),
    }
}

fn word(first: &[u8; 100], at: usize) -> u32 {
    u32::from_be_bytes([first[at], first[at + 1], first[at + 2], first[at + 3]])
}

fn is_ours(first: &[u8; 100]) -> bool {
    first.starts_with(SQLITE_MAGIC) && word(first, APPLICATION_AT) == schema::APPLICATION_ID
}

/// Looks at the first page without SQLite: is it ours, and do we know its version?
pub(super) fn check_file(path: &Path) -> Result<Budget> {
    let shown = path.display();
    let cannot = |why: Say| {
        let (en, ru) = (why.en, why.ru);
        Error::run_file(say!(
            "cannot read the run file `{shown}`: {en}",
            "не удаётся прочитать файл прогона `{shown}`: {ru}"
        ))
        .hint(say!(
            "name a run by its id, the beginning of its id, its label, a path, or `last`",
            "укажите прогон его номером, началом номера, меткой, путём или словом `last`"
        ))
    };
    let io = |error: std::io::Error| cannot(Say::same(error.to_string()));
    let found = std::fs::metadata(path).map_err(io)?;
    if !found.is_file() {
        return Err(cannot(say!("it is not a regular file", "это не обычный файл")));
    }
    let unfinished = || {
        cannot(say!(
            "it is not a run file of Stend yet: its run ended while the file was being created, and measured nothing",
            "это ещё не файл прогона Stend: прогон прервался, пока файл создавался, и ничего измерено не было"
        ))
        .hint(say!("start the run anew", "запустите прогон заново"))
    };
    if found.len() == 0 {
        return Err(unfinished());
    }
    let mut first = [0; 100];
    let whole = File::open(path).map_err(io)?.read_exact(&mut first);
    if whole.is_err() || !is_ours(&first) {
        return Err(cannot(say!("it is not a run file of Stend", "это не файл прогона Stend")));
    }
    let version = word(&first, VERSION_AT);
    // The identity is written just before the version; no version has been 0.
    if version == 0 {
        return Err(unfinished());
    }
    if version != FORMAT_VERSION {
        let hint = match version < FORMAT_VERSION {
            true => say!(
                "an earlier build wrote it, before the first release; read it with that build: nothing is lost",
                "он записан более ранней сборкой, до первого выпуска; прочитайте его той сборкой: ничего не потеряно"
            ),
            false => say!("use a newer Stend", "воспользуйтесь более новой версией Stend"),
        };
        return Err(cannot(say!(
            "it has format version {version}, but this binary knows only version {FORMAT_VERSION}",
            "у него версия формата {version}, а эта программа знает только версию {FORMAT_VERSION}"
        ))
        .instead(Code::RunFileVersion)
        .hint(hint));
    }
    let log = std::fs::metadata(beside(path, "-wal")).map_or(0, |log| log.len());
    let bytes = found.len().saturating_add(log);
    Ok(Budget { rows: bytes / ROW_MIN, bytes })
}
