//! What is known of changes that were made, or half made: of those of a stand its file, its number and what settings were before; of
//! those of a run what undoes each. A file of lines, each written before what it tells of is done and made durable, so that after a crash
//! or a reboot it is known what to ask for and to undo.

use super::action::Action;
use super::condition::Condition;
use super::entry::{Entry, RunHead, StandHead, VERSION};
use crate::owner::Note;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stend_base::{Error, Result, Say, say};

/// How long a lock may be held by a process that only just began; by eye, far above what a busy machine takes to begin one.
const HANDED_ON: Duration = Duration::from_millis(300);

/// Largest journal that is read: a thousand steps take some hundred KiB.
const SIZE_MAX: u64 = 16 << 20;

/// A journal, held by this process alone.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    /// `None`: only looked at.
    file: Option<File>,
    entries: Vec<Entry>,
}

impl Journal {
    /// A journal that is nowhere: of a stand that is only planned.
    pub(crate) fn imagined(head: StandHead) -> Journal {
        Journal { path: PathBuf::new(), file: None, entries: vec![Entry::Stand(head)] }
    }

    /// Begins one. Fails if there is one at this path.
    pub(crate) fn create(path: &Path, first: Entry) -> Result<Journal> {
        let shown = path.display().to_string();
        let io = |e: std::io::Error| cannot(&shown, &e);
        let directories: Vec<&Path> = path.ancestors().skip(1).take(2).collect();
        directories.first().map_or(Ok(()), std::fs::create_dir_all).map_err(io)?;
        let file = OpenOptions::new().append(true).create_new(true).open(path).map_err(io)?;
        let mut journal = Journal { path: path.to_path_buf(), file: Some(file), entries: Vec::new() };
        match journal.hold()? {
            Hold::Ours => journal.append(first)?,
            Hold::Others | Hold::Gone => return Err(cannot(&shown, &std::io::ErrorKind::ResourceBusy.into())),
        }
        for directory in directories {
            File::open(directory).and_then(|directory| directory.sync_all()).map_err(io)?;
        }
        Ok(journal)
    }

    /// Opens one for going on with it; `None` if there is none. `busy` is the error while another process works on it.
    ///
    /// Errors: `Preflight` if it cannot be read, or was written by another version.
    pub(crate) fn open(path: &Path, busy: impl FnOnce(&Path) -> Box<Error>) -> Result<Option<Journal>> {
        let shown = path.display().to_string();
        let file = match OpenOptions::new().append(true).open(path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| cannot(&shown, &e))?,
        };
        let mut journal = Journal { path: path.to_path_buf(), file: Some(file), entries: Vec::new() };
        // Held before it is believed: another process may still be writing its first line.
        match journal.hold()? {
            Hold::Ours => {}
            Hold::Others => return Err(busy(path)),
            Hold::Gone => return Journal::open(path, busy),
        }
        let (entries, whole) = read(path)?;
        if entries.is_empty() {
            // A crash before the first line was whole: nothing had been done.
            return std::fs::remove_file(path).map(|()| None).map_err(|e| cannot(&shown, &e));
        }
        journal.entries = entries;
        // A line that a crash cut must not become part of the next.
        journal.file.iter().try_for_each(|file| file.set_len(whole)).map_err(|e| cannot(&shown, &e))?;
        Ok(Some(journal))
    }

    /// Reads one without holding it; `None` if there is none.
    pub(crate) fn look(path: &Path) -> Result<Option<Journal>> {
        if !path.is_file() {
            return Ok(None);
        }
        let (entries, _) = read(path)?;
        Ok((!entries.is_empty()).then(|| Journal { path: path.to_path_buf(), file: None, entries }))
    }

    /// The same of the text of one; `path` names it in errors.
    pub(crate) fn of_text(text: &str, path: &Path) -> Result<Option<Journal>> {
        let (entries, _) = lines(text, &path.display().to_string())?;
        Ok((!entries.is_empty()).then(|| Journal { path: PathBuf::new(), file: None, entries }))
    }

    /// What the stand is.
    pub(crate) fn stand(&self) -> Option<&StandHead> {
        self.entries.iter().find_map(|entry| if let Entry::Stand(stand) = entry { Some(stand) } else { None })
    }

    /// Whose changes of a host it has.
    pub(crate) fn run(&self) -> Option<&Note> {
        self.entries.iter().find_map(|entry| if let Entry::Run(run) = entry { Some(&run.note) } else { None })
    }

    /// Changes of a run that are not undone, the last first, each with what undoes it.
    pub(crate) fn open_changes(&self) -> Vec<(u32, &[(Condition, Action)])> {
        let mut open: Vec<(u32, &[(Condition, Action)])> = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Change { number, undo } => open.insert(0, (*number, undo)),
                Entry::Undone { number } => open.retain(|(other, _)| other != number),
                Entry::Left { number, from } => {
                    let left = open.iter_mut().filter(|(other, _)| other == number);
                    left.for_each(|(_, undo)| *undo = undo.get(*from as usize..).unwrap_or_default());
                }
                _ => {}
            }
        }
        open
    }

    /// Adds a line and makes it durable.
    pub(crate) fn append(&mut self, entry: Entry) -> Result<()> {
        let shown = self.path.display().to_string();
        if let Some(file) = &mut self.file {
            // Numbers and strings only: there is nothing in it that could fail to serialize.
            let line = serde_json::to_string(&entry).unwrap_or_default() + "\n";
            file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(|e| cannot(&shown, &e))?;
        }
        self.entries.push(entry);
        Ok(())
    }

    /// What a setting was before the stand was put up; the first that was noted counts, until it is put back. A setting of the kernel is
    /// one of this boot: after the next it has its own value, and its path may be that of another device. Earlier versions noted no boot.
    pub(crate) fn before(&self, path: &str, boot: &str) -> Option<&str> {
        let of_the_kernel = ["/proc/", "/sys/"].iter().any(|root| path.starts_with(root));
        let counts = |noted: &str| !of_the_kernel || noted.is_empty() || noted == boot;
        self.entries.iter().fold(None, |known, entry| match entry {
            Entry::Before { path: noted, value, boot_id, .. } if noted == path && counts(boot_id) => {
                known.or(Some(value.as_str()))
            }
            Entry::PutBack { path: noted } if noted == path => None,
            _ => known,
        })
    }

    /// The number of the block device that a setting was of when it was noted.
    pub(crate) fn device_of(&self, path: &str) -> Option<u64> {
        let of = |entry: &Entry| match entry {
            Entry::Before { path: noted, device, .. } if noted == path => Some(*device),
            _ => None,
        };
        self.entries.iter().rev().find_map(of).flatten()
    }

    /// Whether everything on a drive was erased or ours when the stand took it, in this boot, and it was not let go since.
    pub(crate) fn was_ours(&self, identity: &str, boot: &str) -> bool {
        self.entries.iter().fold(false, |known, entry| match entry {
            Entry::Taken { identity: of, ours, boot_id } if of == identity => known || (*ours && boot_id == boot),
            Entry::Released { identity: of } if of == identity => false,
            _ => known,
        })
    }

    /// Whether the stand has begun to write to a drive and has not let go of it since.
    pub(crate) fn holds(&self, identity: &str) -> bool {
        self.entries.iter().fold(false, |known, entry| match entry {
            Entry::Taken { identity: of, .. } if of == identity => true,
            Entry::Released { identity: of } if of == identity => false,
            _ => known,
        })
    }

    /// Number and sequence of a zram device, if they were given in this boot and the device was not removed since.
    pub(crate) fn zram(&self, layer: &str, index: u32, boot: &str) -> Option<(u32, Option<u64>)> {
        self.entries.iter().fold(None, |known, entry| match entry {
            Entry::Zram { layer: of, index: n, number, boot_id, sequence } if of == layer && *n == index => {
                (boot_id == boot).then_some((*number, *sequence))
            }
            Entry::ZramGone { layer: of, index: n } if of == layer && *n == index => None,
            _ => known,
        })
    }

    /// Layer and index of the zram device with this number and sequence, if it is one of the stand's.
    pub(crate) fn zram_at(&self, number: u32, sequence: u64, boot: &str) -> Option<(&str, u32)> {
        let is = |layer: &str, index| self.zram(layer, index, boot) == Some((number, Some(sequence)));
        self.entries.iter().find_map(|entry| match entry {
            Entry::Zram { layer, index, .. } if is(layer, *index) => Some((layer.as_str(), *index)),
            _ => None,
        })
    }

    /// What tells the superblock of a device below a layer from others: `None` if none was made, `Some(None)` while it is half made.
    pub(crate) fn superblock(&self, layer: &str, index: u32) -> Option<Option<&str>> {
        self.entries.iter().fold(None, |known, entry| match entry {
            Entry::Formatted { layer: of, index: n, mark } if of == layer && *n == index => Some(mark.as_deref()),
            Entry::Erased { layer: of, index: n } if of == layer && *n == index => None,
            _ => known,
        })
    }

    /// Ends it: nothing is left to undo.
    pub(crate) fn remove(&self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|e| cannot(&self.path.display().to_string(), &e))
    }

    fn hold(&self) -> Result<Hold> {
        let Some(file) = &self.file else { return Ok(Hold::Ours) };
        let shown = self.path.display().to_string();
        // A child that we or another process starts holds our locks, too, until it is another program: microseconds.
        let held = || matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        let since = Instant::now();
        while held() && since.elapsed() < HANDED_ON {
            std::thread::yield_now();
        }
        match file.try_lock() {
            Ok(()) if is_named(file, &self.path) => Ok(Hold::Ours),
            Ok(()) => Ok(Hold::Gone),
            Err(TryLockError::WouldBlock) => Ok(Hold::Others),
            Err(TryLockError::Error(e)) => Err(cannot(&shown, &e)),
        }
    }
}

/// Who holds a file.
enum Hold {
    Ours,
    /// Another process.
    Others,
    /// Its holder has removed it.
    Gone,
}

/// Whether a process works on the journal at this path.
pub(crate) fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Whether the path still leads to this file: an earlier holder may have removed it.
fn is_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |meta: &std::fs::Metadata| (meta.dev(), meta.ino());
    matches!((&file.metadata(), &std::fs::metadata(path)), (Ok(ours), Ok(named)) if of(ours) == of(named))
}

/// It tells what is to be undone to another version than this one.
fn of_another_version(shown: &str) -> Box<Error> {
    Error::preflight(say!(
        "`{shown}` was written by another version of Stend",
        "`{shown}` записан другой версией Stend"
    ))
    .hint(by_hand())
}

/// What to do with a journal that cannot be read.
fn by_hand() -> Say {
    say!(
        "it tells what was changed here: take a stand down with the version that put it up; after a run that was killed undo by hand what the file names, and remove it",
        "в нём записано, что здесь изменено: стенд уберите той версией, которая его подняла, а после убитого прогона верните указанное вручную и удалите файл"
    )
}

/// Its lines and how many bytes they take; a last one that a crash cut is left out.
fn read(path: &Path) -> Result<(Vec<Entry>, u64)> {
    let shown = path.display().to_string();
    let mut text = String::new();
    let file = File::open(path).map_err(|e| cannot(&shown, &e))?;
    file.take(SIZE_MAX).read_to_string(&mut text).map_err(|e| cannot(&shown, &e))?;
    lines(&text, &shown)
}

/// The same of a text; `shown` names its file in errors.
fn lines(text: &str, shown: &str) -> Result<(Vec<Entry>, u64)> {
    let mut entries: Vec<Entry> = Vec::new();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    // Earlier versions noted the changes of a run in one line without an end.
    if whole.is_empty() && serde_json::from_str::<serde_json::Value>(text).is_ok() {
        return Err(of_another_version(shown));
    }
    for (line, number) in whole.lines().zip(1..) {
        entries.push(serde_json::from_str(line).map_err(|e| {
            Error::preflight(say!(
                "`{shown}`:{number}: not an entry of a journal: {e}",
                "`{shown}`:{number}: не запись журнала: {e}"
            ))
            .hint(by_hand())
        })?);
    }
    match entries.first() {
        None
        | Some(Entry::Stand(StandHead { version: VERSION, .. }) | Entry::Run(RunHead { version: VERSION, .. })) => {
            Ok((entries, whole.len() as u64))
        }
        Some(_) => Err(of_another_version(shown)),
    }
}

fn cannot(path: &str, error: &std::io::Error) -> Box<Error> {
    crate::io_errors::of_root(path, &say!("keep the journal of changes", "вести журнал изменений"), error)
}

#[cfg(test)]
mod tests {
    use super::super::entry::Drive;
    use super::*;
    use stend_base::Kind;

    fn first() -> Entry {
        let drives = vec![Drive { name: "d1".into(), identity: "serial:A".into(), size: 4096, paths: 1 }];
        Entry::Stand(StandHead::new("s.yaml", "stand: x", 7, drives, "R-1"))
    }

    fn busy(_: &Path) -> Box<Error> {
        Error::refused(say!("busy", "занято"))
    }

    /// A journal in a directory of its own.
    fn created() -> (tempfile::TempDir, PathBuf, Journal) {
        let tree = tempfile::tempdir().unwrap();
        let path = tree.path().join("x/journal");
        let journal = Journal::create(&path, first()).unwrap();
        (tree, path, journal)
    }

    #[test]
    fn a_journal_is_what_was_written_after_it_is_opened_again() {
        let (_keep, path, mut journal) = created();
        let before = |path: &str, value: &str, boot: &str| Entry::Before {
            path: path.into(),
            value: value.into(),
            boot_id: boot.into(),
            device: None,
        };
        journal.append(before("/proc/sys/a", "0", "earlier")).unwrap();
        journal.append(before("/proc/sys/a", "1", "now")).unwrap();
        journal.append(before("/proc/sys/a", "2", "now")).unwrap();
        journal.append(before("sectors of /dev/a", "512", "earlier")).unwrap();
        let zram = |number, boot: &str, sequence| Entry::Zram {
            layer: "z".into(),
            index: 0,
            number,
            boot_id: boot.into(),
            sequence,
        };
        journal.append(zram(3, "earlier", Some(7))).unwrap();
        journal.append(zram(5, "now", Some(8))).unwrap();
        drop(journal);
        let mut again = Journal::open(&path, busy).unwrap().unwrap();
        assert_eq!((again.entries.first(), again.before("/proc/sys/a", "now")), (Some(&first()), Some("1")));
        assert_eq!(again.before("/proc/sys/a", "later"), None, "the next boot has its own");
        assert_eq!(again.before("sectors of /dev/a", "later"), Some("512"), "a drive keeps it");
        assert_eq!((again.zram("z", 0, "now"), again.zram("z", 1, "now")), (Some((5, Some(8))), None));
        assert_eq!((again.zram_at(5, 8, "now"), again.zram_at(5, 9, "now")), (Some(("z", 0)), None));
        again.append(Entry::PutBack { path: "/proc/sys/a".into() }).unwrap();
        again.append(Entry::ZramGone { layer: "z".into(), index: 0 }).unwrap();
        assert_eq!((again.before("/proc/sys/a", "now"), again.zram("z", 0, "now")), (None, None));
        again.remove().unwrap();
        assert!(!path.exists() && Journal::open(&path, busy).unwrap().is_none());
    }

    #[test]
    fn a_drive_is_the_stand_s_from_when_it_is_taken_until_it_is_let_go() {
        let (_keep, _, mut journal) = created();
        let taken = |ours| Entry::Taken { identity: "serial:A".into(), ours, boot_id: "now".into() };
        let now = |journal: &Journal| (journal.holds("serial:A"), journal.was_ours("serial:A", "now"));
        assert_eq!(now(&journal), (false, false));
        journal.append(taken(true)).unwrap();
        assert_eq!((now(&journal), journal.was_ours("serial:A", "later")), ((true, true), false));
        journal.append(Entry::Released { identity: "serial:B".into() }).unwrap();
        assert_eq!(now(&journal), (true, true));
        journal.append(Entry::Released { identity: "serial:A".into() }).unwrap();
        assert_eq!(now(&journal), (false, false));
        journal.append(taken(false)).unwrap();
        assert_eq!(now(&journal), (true, false));
    }

    #[test]
    fn what_is_open_is_what_was_begun_and_not_undone_the_last_first() {
        let (_keep, path, mut journal) = created();
        let undo = |line: &str| vec![(Condition::Always, Action::User(vec![line.to_string()]))];
        for number in 0..3 {
            journal.append(Entry::Change { number, undo: undo(&format!("undo-{number}")) }).unwrap();
        }
        journal.append(Entry::Undone { number: 1 }).unwrap();
        drop(journal);
        let again = Journal::look(&path).unwrap().unwrap();
        assert_eq!(again.open_changes(), [(2, &undo("undo-2")[..]), (0, &undo("undo-0")[..])]);
    }

    #[test]
    fn a_line_that_a_crash_cut_is_left_out_and_a_foreign_one_is_an_error() {
        let (_keep, path, journal) = created();
        drop(journal);
        let entries = || Journal::look(&path).unwrap().unwrap().entries.len();
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"begin\":{{\"lay")).unwrap();
        assert_eq!(entries(), 1);
        Journal::open(&path, busy).unwrap().unwrap().append(Entry::Undo { command: "c".into() }).unwrap();
        assert_eq!(entries(), 2);
        std::fs::write(&path, format!("{whole}nonsense\n")).unwrap();
        let error = Journal::look(&path).unwrap_err();
        assert!(error.message.en.contains("journal`:2: not an entry"), "{error}");
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(Journal::look(&path).unwrap().is_none(), "nothing was done yet");
        assert!(Journal::open(&path, busy).unwrap().is_none() && !path.exists());
    }

    #[test]
    fn what_another_version_wrote_is_refused_with_what_to_do_and_kept() {
        let (_keep, path, journal) = created();
        drop(journal);
        let whole = std::fs::read_to_string(&path).unwrap();
        // As versions wrote it that noted the changes of a run in one line without an end.
        let note = r#"{"pid":1,"started":2,"boot_id":"b","run_id":"R","run_file":"r","undo":["echo 60 > /proc/sys/vm/swappiness"]}"#;
        for text in [note.to_string(), whole.replace("\"version\":1", "\"version\":99")] {
            std::fs::write(&path, &text).unwrap();
            for error in [Journal::look(&path).unwrap_err(), Journal::open(&path, busy).unwrap_err()] {
                assert!(error.message.en.ends_with("was written by another version of Stend"), "{error}");
                assert!(error.hint.as_ref().unwrap().en.contains("undo by hand"), "{error}");
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn one_process_at_a_time_works_on_a_journal() {
        let (_keep, path, held) = created();
        assert_eq!(Journal::open(&path, busy).unwrap_err().kind, Kind::Unsafe);
        assert!(Journal::look(&path).unwrap().is_some() && is_held(&path));
        assert!(Journal::create(&path, first()).is_err());
        drop(held);
        // A child that another test is just starting has the lock until it executes its program.
        let since = std::time::Instant::now();
        while is_held(&path) && since.elapsed() < std::time::Duration::from_secs(60) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(!is_held(&path) && Journal::open(&path, busy).unwrap().is_some());
    }
}
