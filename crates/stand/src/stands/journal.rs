//! What is known of a stand that is up, or half up: its file, its number, what settings were before. Written before each step
//! and made durable, so that after a crash or a reboot `down` knows what to ask for. Lies below `/var/lib/stend`; a drive of
//! the stand cannot hold it, because what is mounted is never written over.

use crate::roots::Roots;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stend_base::{Code, Error, Kind, Result, say};
use stend_spec::stand::Side;

/// How long a lock may be held by a process that only just began; by eye, far above what a busy machine takes to begin one.
const HANDED_ON: Duration = Duration::from_millis(300);

/// Largest journal that is read: a thousand steps take some hundred KiB.
const SIZE_MAX: u64 = 16 << 20;
/// Form of the entries.
const VERSION: u32 = 1;
/// Name of the file in the directory of a stand.
const FILE: &str = "journal";

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first line.
    Stand(Head),
    /// A step is about to be done.
    Begin {
        /// Its layer.
        layer: String,
        /// What it does, in English.
        what: String,
    },
    /// A step has been done, and the kernel shows it.
    End {
        /// Its layer.
        layer: String,
        /// What it does, in English.
        what: String,
    },
    /// What a setting was before it is written.
    Before {
        /// Its file.
        path: String,
        /// Its value.
        value: String,
    },
    /// The number that the kernel gave to a zram device.
    Zram {
        /// Name of the layer.
        layer: String,
        /// Which of its devices.
        index: u32,
        /// The number.
        number: u32,
        /// The boot that it holds for.
        boot_id: String,
        /// [`Node::sequence`](crate::node::Node::sequence) of the device; `None` in journals of old, too.
        #[serde(default)]
        sequence: Option<u64>,
    },
    /// A setting is again what it was.
    PutBack {
        /// Its file.
        path: String,
    },
    /// A zram device is gone: its number may be given to others.
    ZramGone {
        /// Name of the layer.
        layer: String,
        /// Which of its devices.
        index: u32,
    },
    /// A device is about to be given a superblock that has no UUID, or was.
    Formatted {
        /// Name of the layer.
        layer: String,
        /// Which of the devices below it.
        index: u32,
        /// What tells the superblock from others; `None`: it was not whole yet.
        mark: Option<String>,
    },
    /// That superblock is gone.
    Erased {
        /// Name of the layer.
        layer: String,
        /// Which of the devices below it.
        index: u32,
    },
    /// A drive is about to be written to for the first time.
    Taken {
        /// Its identity.
        identity: String,
        /// Everything on it was erased or ours, as far as a sample tells.
        ours: bool,
        /// The boot in which nobody else can have written to it since.
        boot_id: String,
    },
    /// Something is about to be undone.
    Undo {
        /// The command.
        command: String,
    },
}

/// What a stand is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Form of the entries.
    pub version: u32,
    /// Name of the file that it was put up from.
    pub file: String,
    /// The text of that.
    pub text: String,
    /// From which names and identities follow.
    pub nonce: u64,
    /// The drives that the names in the file meant.
    pub drives: Vec<Drive>,
    /// Which of the two hosts of the stand this is.
    #[serde(default)]
    pub side: Option<Side>,
    /// Whoever put it up: the run file of a run, which takes it down again; else words.
    pub owner: String,
}

/// A drive of a stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Drive {
    /// Name in the file.
    pub name: String,
    /// Identity.
    pub identity: String,
    /// Bytes.
    pub size: u64,
    /// How many paths to it there are.
    #[serde(default = "one")]
    pub paths: u32,
}

/// Journals of old had no word for it.
fn one() -> u32 {
    1
}

impl Head {
    /// The head of a new stand.
    pub(crate) fn new(file: &str, text: &str, nonce: u64, drives: Vec<Drive>, owner: &str) -> Head {
        let [file, text, owner] = [file, text, owner].map(str::to_string);
        Head { version: VERSION, file, text, nonce, drives, side: None, owner }
    }

    /// The same of one of the two hosts of a stand.
    pub(crate) fn of(self, side: Option<Side>) -> Head {
        Head { side, ..self }
    }
}

/// A journal, held by this process alone.
#[derive(Debug)]
pub(crate) struct Journal {
    directory: PathBuf,
    /// `None`: only looked at.
    file: Option<File>,
    entries: Vec<Entry>,
}

/// Where journals are.
fn place(roots: &Roots) -> PathBuf {
    roots.state.join("stands")
}

/// The directory of a stand; `None` for what is no name of one and would lead elsewhere.
fn directory_of(roots: &Roots, name: &str) -> Option<PathBuf> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (!name.is_empty() && name.bytes().all(plain)).then(|| place(roots).join(name))
}

/// Names of the stands that have a journal, sorted.
pub(crate) fn known(roots: &Roots) -> Vec<String> {
    let names = crate::roots::names(place(roots));
    names.into_iter().filter(|name| place(roots).join(name).join(FILE).is_file()).collect()
}

impl Journal {
    /// A journal that is nowhere: of a stand that is only planned.
    pub(crate) fn imagined(head: Head) -> Journal {
        Journal { directory: PathBuf::new(), file: None, entries: vec![Entry::Stand(head)] }
    }

    /// Begins one. Fails if there is one of this name.
    pub(crate) fn create(roots: &Roots, name: &str, head: Head) -> Result<Journal> {
        let directory = place(roots).join(name);
        let shown = directory.display().to_string();
        let io = |e: std::io::Error| cannot(&shown, &e);
        std::fs::create_dir_all(&directory).map_err(io)?;
        let path = directory.join(FILE);
        let file = OpenOptions::new().append(true).create_new(true).open(&path).map_err(io)?;
        let mut journal = Journal { directory, file: Some(file), entries: Vec::new() };
        journal.hold()?;
        journal.append(Entry::Stand(head))?;
        for directory in [journal.directory.clone(), place(roots)] {
            File::open(&directory).and_then(|directory| directory.sync_all()).map_err(io)?;
        }
        Ok(journal)
    }

    /// Opens that of a stand which is up, or half up, for going on with it; `None` if there is none.
    ///
    /// Errors: `Unsafe` while another process works on it; `Preflight` if it cannot be read.
    pub(crate) fn open(roots: &Roots, name: &str) -> Result<Option<Journal>> {
        let Some(directory) = directory_of(roots, name) else { return Ok(None) };
        let path = directory.join(FILE);
        let shown = path.display().to_string();
        let file = match OpenOptions::new().append(true).open(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| cannot(&shown, &e))?,
        };
        let mut journal = Journal { directory, file: Some(file), entries: Vec::new() };
        // Held before it is believed: another process may still be writing its first line.
        journal.hold()?;
        let (entries, whole) = read(&path)?;
        if !is_ours(&entries, &path)? {
            // A crash before the first line was whole: nothing had been done.
            return std::fs::remove_file(&path).map(|()| None).map_err(|e| cannot(&shown, &e));
        }
        journal.entries = entries;
        // A line that a crash cut must not become part of the next.
        journal.file.iter().try_for_each(|file| file.set_len(whole)).map_err(|e| cannot(&shown, &e))?;
        Ok(Some(journal))
    }

    /// Reads that of a stand without holding it; `None` if there is none.
    pub(crate) fn look(roots: &Roots, name: &str) -> Result<Option<Journal>> {
        let Some(directory) = directory_of(roots, name) else { return Ok(None) };
        let path = directory.join(FILE);
        if !path.is_file() {
            return Ok(None);
        }
        let (entries, _) = read(&path)?;
        Ok(is_ours(&entries, &path)?.then_some(Journal { directory, file: None, entries }))
    }

    /// The same of the text of one; `path` names it in errors.
    pub(crate) fn of_text(text: &str, path: &Path) -> Result<Option<Journal>> {
        let (entries, _) = lines(text, &path.display().to_string())?;
        Ok(is_ours(&entries, path)?.then_some(Journal { directory: PathBuf::new(), file: None, entries }))
    }

    /// What the stand is.
    pub(crate) fn head(&self) -> Option<&Head> {
        self.entries.iter().find_map(|entry| if let Entry::Stand(head) = entry { Some(head) } else { None })
    }

    /// Adds a line and makes it durable.
    pub(crate) fn append(&mut self, entry: Entry) -> Result<()> {
        let shown = self.directory.join(FILE).display().to_string();
        if let Some(file) = &mut self.file {
            // Numbers and strings only: there is nothing in it that could fail to serialize.
            let line = serde_json::to_string(&entry).unwrap_or_default() + "\n";
            file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(|e| cannot(&shown, &e))?;
        }
        self.entries.push(entry);
        Ok(())
    }

    /// What a setting was before the stand was put up; the first that was noted counts, until it is put back.
    pub(crate) fn before(&self, path: &str) -> Option<&str> {
        self.entries.iter().fold(None, |known, entry| match entry {
            Entry::Before { path: noted, value } if noted == path => known.or(Some(value.as_str())),
            Entry::PutBack { path: noted } if noted == path => None,
            _ => known,
        })
    }

    /// Whether everything on a drive was erased or ours when the stand took it, in this boot.
    pub(crate) fn was_ours(&self, identity: &str, boot: &str) -> bool {
        self.entries.iter().any(|entry| {
            matches!(entry, Entry::Taken { identity: of, ours: true, boot_id } if of == identity && boot_id == boot)
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

    /// Ends it: nothing of the stand is left.
    pub(crate) fn remove(self) -> Result<()> {
        let shown = self.directory.display().to_string();
        let io = |e: std::io::Error| cannot(&shown, &e);
        std::fs::remove_file(self.directory.join(FILE)).map_err(io)?;
        std::fs::remove_dir(&self.directory).map_err(io)
    }

    fn hold(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let shown = self.directory.display().to_string();
        // A child that we or another process starts holds our locks, too, until it is another program: microseconds.
        let held = || matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        let since = Instant::now();
        while held() && since.elapsed() < HANDED_ON {
            std::thread::yield_now();
        }
        match file.try_lock() {
            Ok(()) if is_named(file, &self.directory.join(FILE)) => Ok(()),
            Ok(()) => Err(cannot(&shown, &std::io::ErrorKind::NotFound.into())),
            Err(TryLockError::WouldBlock) => Err(Error::new(
                Code::StandInUse,
                say!(
                    "another process works on the stand in `{shown}`",
                    "со стендом в `{shown}` работает другой процесс"
                ),
            )
            .hint(say!("wait until it ends", "дождитесь его завершения"))),
            Err(TryLockError::Error(e)) => Err(cannot(&shown, &e)),
        }
    }
}

/// Whether the path still leads to this file: whoever held it before may have removed it.
fn is_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |meta: &std::fs::Metadata| (meta.dev(), meta.ino());
    matches!((&file.metadata(), &std::fs::metadata(path)), (Ok(ours), Ok(named)) if of(ours) == of(named))
}

/// Whether these are the entries of a stand; the error names another version.
fn is_ours(entries: &[Entry], path: &Path) -> Result<bool> {
    let shown = path.display();
    match entries.first() {
        Some(Entry::Stand(head)) if head.version == VERSION => Ok(true),
        Some(Entry::Stand(_)) => Err(Error::new(
            Kind::Preflight,
            say!("`{shown}` was written by another version of Stend", "`{shown}` записан другой версией Stend"),
        )
        .hint(say!("take the stand down with that version", "уберите стенд той же версией"))),
        _ => Ok(false),
    }
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
    let mut entries = Vec::new();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    for (line, number) in whole.lines().zip(1..) {
        entries.push(serde_json::from_str(line).map_err(|e| {
            Error::new(
                Kind::Preflight,
                say!("`{shown}`:{number}: not an entry of a stand: {e}", "`{shown}`:{number}: не запись стенда: {e}"),
            )
        })?);
    }
    Ok((entries, whole.len() as u64))
}

fn cannot(path: &str, error: &std::io::Error) -> Box<Error> {
    crate::io_errors::preflight(path, &say!("keep the journal of the stand", "вести журнал стенда"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> (tempfile::TempDir, Roots) {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots::under(tree.path());
        (tree, roots)
    }

    fn head() -> Head {
        Head::new(
            "s.yaml",
            "stand: x",
            7,
            vec![Drive { name: "d1".into(), identity: "serial:A".into(), size: 4096, paths: 1 }],
            "R-1",
        )
    }

    #[test]
    fn a_journal_is_what_was_written_after_it_is_opened_again() {
        let (_keep, roots) = roots();
        let mut journal = Journal::create(&roots, "x", head()).unwrap();
        journal.append(Entry::Before { path: "/proc/sys/a".into(), value: "1".into() }).unwrap();
        journal.append(Entry::Before { path: "/proc/sys/a".into(), value: "2".into() }).unwrap();
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
        let again = Journal::open(&roots, "x").unwrap().unwrap();
        assert_eq!((again.head(), again.before("/proc/sys/a")), (Some(&head()), Some("1")));
        assert_eq!((again.zram("z", 0, "now"), again.zram("z", 1, "now")), (Some((5, Some(8))), None));
        assert_eq!((again.zram_at(5, 8, "now"), again.zram_at(5, 9, "now")), (Some(("z", 0)), None));
        assert_eq!(known(&roots), ["x"]);
        assert!(
            Journal::look(&roots, "../stands/x").unwrap().is_none() && Journal::open(&roots, "/x").unwrap().is_none()
        );
        let mut again = again;
        again.append(Entry::PutBack { path: "/proc/sys/a".into() }).unwrap();
        again.append(Entry::ZramGone { layer: "z".into(), index: 0 }).unwrap();
        assert_eq!((again.before("/proc/sys/a"), again.zram("z", 0, "now")), (None, None));
        again.remove().unwrap();
        assert!(known(&roots).is_empty() && Journal::open(&roots, "x").unwrap().is_none());
    }

    #[test]
    fn a_line_that_a_crash_cut_is_left_out_and_a_foreign_one_is_an_error() {
        let (_keep, roots) = roots();
        drop(Journal::create(&roots, "x", head()).unwrap());
        let path = place(&roots).join("x").join(FILE);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"begin\":{{\"lay")).unwrap();
        assert_eq!(Journal::look(&roots, "x").unwrap().unwrap().entries.len(), 1);
        Journal::open(&roots, "x").unwrap().unwrap().append(Entry::Undo { command: "c".into() }).unwrap();
        assert_eq!(Journal::look(&roots, "x").unwrap().unwrap().entries.len(), 2);
        std::fs::write(&path, format!("{whole}nonsense\n")).unwrap();
        let error = Journal::look(&roots, "x").unwrap_err();
        assert!(error.message.en.contains("journal`:2: not an entry"), "{error}");
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(Journal::look(&roots, "x").unwrap().is_none(), "nothing was done yet");
        assert!(Journal::open(&roots, "x").unwrap().is_none() && !path.exists());
    }

    #[test]
    fn one_process_at_a_time_works_on_a_stand() {
        let (_keep, roots) = roots();
        let held = Journal::create(&roots, "x", head()).unwrap();
        assert_eq!(Journal::open(&roots, "x").unwrap_err().kind, Kind::Unsafe);
        assert!(Journal::look(&roots, "x").unwrap().is_some());
        assert!(Journal::create(&roots, "x", head()).is_err());
        drop(held);
        assert!(Journal::open(&roots, "x").unwrap().is_some());
    }
}
