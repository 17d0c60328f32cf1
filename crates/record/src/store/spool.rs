//! Entries kept in memory-backed storage while a trial must not be disturbed by writes to its drive.
//!
//! The file lives on tmpfs, so it survives the death of the process but not of the machine. It is only
//! appended to, by one process that keeps it locked; the recorder empties it once its entries are in the
//! database. Its name cannot be foretold, because anybody may make files there.
//! Layout: magic, length and text of the run id, where the run file is (see [`Home`]), then frames of u32 length, u32 CRC-32
//! and the postcard of (ordinal, entry), all little-endian.

mod dead;

pub use dead::remove_dead;

use super::crc::crc32;
use super::lock::{self, NotHeld};
use super::owner::Owner;
use super::schema::BODY_MAX;
use crate::run::Entry;
use dead::Home;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use stend_sys::plain;

/// Start of every spool file; the last byte is the version of its layout.
const MAGIC: &[u8; 8] = b"stnd-sp2";
/// The same of the layout before, which does not say where the run file is.
const MAGIC_1: &[u8; 8] = b"stnd-sp1";

/// Names of spools begin and end like this.
const PREFIX: &str = "stend-";
const SUFFIX: &str = ".spool";

/// Longest run id a reader believes, far above the 23 characters of ours.
const ID_MAX: u64 = 255;

/// Largest spool a reader takes into memory: eight times what a writer lets it grow to.
const READ_MAX: u64 = 1 << 30;

/// The spool of a run that is being written. Dropping it removes the file only if it is empty.
#[derive(Debug)]
pub struct Spool {
    file: File,
    path: PathBuf,
    start: u64,
    empty: bool,
}

/// What a dead coordinator left.
#[derive(Debug)]
pub struct LeftOver {
    /// The spool, ours from now on; it still holds the entries.
    pub spool: Spool,
    /// Its whole frames in order, up to the first one that is torn, with their ordinals.
    pub entries: Vec<(u64, Entry)>,
}

impl Spool {
    /// Creates `<memory>/stend-<uid>-<run id>-<16 random digits>.spool`, for its owner only, beside which a file of that name was
    /// never there. Fails if there is no such place, or no room.
    pub fn create(memory: &Path, run: &str, run_file: &Path, owner: Option<Owner>) -> io::Result<Spool> {
        // The id may come from a file that somebody else made.
        if !run.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{run}` is not the id of a run")));
        }
        let uid = owner.map_or_else(|| rustix::process::geteuid().as_raw(), |owner| owner.uid);
        let mut random = [0; 8];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let random = u64::from_le_bytes(random);
        let path = memory.join(format!("{PREFIX}{uid}-{run}-{random:016x}{SUFFIX}"));
        let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        let made = start_of(run, &Home::of(run_file)?).and_then(|start| {
            // Before anything is in it: what is empty is no spool to anybody.
            file.lock()?;
            owner.map_or(Ok(()), |owner| owner.take_file(&file))?;
            file.write_all(&start)?;
            Ok(start.len() as u64)
        });
        let start = made.inspect_err(|_| remove(&path))?;
        Ok(Spool { file, path, start, empty: true })
    }

    /// Takes over a spool that was left. `None` if it is gone, or is not the spool of this run.
    ///
    /// An error of kind `WouldBlock` if its writer lives; others if it cannot be opened for writing.
    pub fn adopt(path: &Path, run: &str) -> io::Result<Option<LeftOver>> {
        // The path comes from the run file, and may name anything.
        let file = match plain::open(path, OpenOptions::new().read(true).append(true)) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            other => other?,
        };
        let Some(file) = file else { return Ok(None) };
        let bytes = content(&file);
        let Some(rest) = after_start(&bytes, run) else { return Ok(None) };
        // A process that removes what dead runs left looks at it for an instant.
        match lock::hold(&file) {
            Ok(()) => {}
            Err(NotHeld::Taken) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(NotHeld::Impossible) => return Err(io::ErrorKind::Unsupported.into()),
        }
        if file.metadata()?.nlink() == 0 {
            return Ok(None);
        }
        // Read only once it is ours: the writer may have been at work until then.
        let start = (bytes.len() - rest.len()) as u64;
        let entries = frames(&content(&file), run);
        let spool = Spool { file, path: path.to_path_buf(), start, empty: false };
        Ok(Some(LeftOver { spool, entries }))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one entry; it survives the death of this process from here on.
    pub fn append(&mut self, ordinal: u64, entry: &Entry) -> io::Result<()> {
        let mut frame = vec![0; 8];
        frame = postcard::to_extend(&(ordinal, entry), frame).map_err(io::Error::other)?;
        let len = frame.len() - 8;
        if len > BODY_MAX {
            return Err(io::Error::other(format!("an entry of {len} bytes is above the limit of {BODY_MAX}")));
        }
        let crc = crc32(&frame[8..]);
        frame[..4].copy_from_slice(&(len as u32).to_le_bytes());
        frame[4..8].copy_from_slice(&crc.to_le_bytes());
        self.empty = false;
        self.file.write_all(&frame)
    }

    /// Forgets all entries: they are in the database now.
    pub fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(self.start)?;
        self.empty = true;
        Ok(())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if self.empty {
            remove(&self.path);
        }
    }
}

/// Removes a spool that nobody needs; one that cannot be removed costs memory until the next boot, no data.
fn remove(path: &Path) {
    drop(std::fs::remove_file(path));
}

/// The whole frames of a left-over spool in order, up to the first one that is torn.
///
/// Empty if the file is gone, is not a regular file, is too large, or belongs to another run.
pub fn read(path: &Path, run: &str) -> Vec<(u64, Entry)> {
    // The path comes from the run file, and may name anything.
    let Ok(Some(file)) = plain::open_to_read(path) else { return Vec::new() };
    frames(&content(&file), run)
}

/// Everything before the first frame.
fn start_of(run: &str, home: &Home) -> io::Result<Vec<u8>> {
    let mut start = MAGIC.to_vec();
    start.push(run.len().min(ID_MAX as usize) as u8);
    start.extend(run.bytes().take(ID_MAX as usize));
    start.extend(home.to_bytes()?);
    Ok(start)
}

/// Everything in the file, empty if that is no spool.
fn content(mut file: &File) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !file.metadata().is_ok_and(|found| found.is_file() && found.len() <= READ_MAX) || file.rewind().is_err() {
        return bytes;
    }
    let mut magic = [0; MAGIC.len()];
    // The path comes from the run file: nothing else is read of a file that is no spool.
    if file.read_exact(&mut magic).is_err() || ![MAGIC, MAGIC_1].contains(&&magic) {
        return bytes;
    }
    bytes.extend(magic);
    // What could be read before an error is as good as a spool that was cut there.
    drop(file.take(READ_MAX).read_to_end(&mut bytes));
    bytes
}

/// The whole frames in the bytes of a spool of the run with this id, with their ordinals, up to the first one that is torn. Empty for what
/// is no spool of that run.
pub fn frames(bytes: &[u8], run: &str) -> Vec<(u64, Entry)> {
    let mut entries = Vec::new();
    let Some(mut rest) = after_start(bytes, run) else { return entries };
    while let Some((entry, next)) = frame(rest) {
        entries.push(entry);
        rest = next;
    }
    entries
}

/// What is behind the start of the spool of this run.
fn after_start<'a>(bytes: &'a [u8], run: &str) -> Option<&'a [u8]> {
    start(bytes).filter(|(id, ..)| *id == run.as_bytes()).map(|(_, _, rest)| rest)
}

/// The id of its run, where the file of that is if it has that, and what is behind both.
fn start(bytes: &[u8]) -> Option<(&[u8], Option<Home>, &[u8])> {
    let (magic, rest) = bytes.split_first_chunk::<8>()?;
    let (&len, rest) = rest.split_first()?;
    let (id, rest) = rest.split_at_checked(usize::from(len))?;
    match magic {
        MAGIC => Home::parse(rest).map(|(home, rest)| (id, Some(home), rest)),
        MAGIC_1 => Some((id, None, rest)),
        _ => None,
    }
}

fn frame(bytes: &[u8]) -> Option<((u64, Entry), &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (crc, rest) = rest.split_first_chunk::<4>()?;
    let len = u32::from_le_bytes(*len) as usize;
    if len > BODY_MAX {
        return None;
    }
    let (body, rest) = rest.split_at_checked(len)?;
    if crc32(body) != u32::from_le_bytes(*crc) {
        return None;
    }
    Some((postcard::from_bytes(body).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::samples;
    use proptest::prelude::*;

    fn make(memory: &Path, run: &str) -> io::Result<Spool> {
        Spool::create(memory, run, memory, None)
    }

    fn filled(memory: &Path, entries: &[Entry]) -> Spool {
        let mut spool = make(memory, "R-1").unwrap();
        for (ordinal, entry) in entries.iter().enumerate() {
            spool.append(ordinal as u64, entry).unwrap();
        }
        spool
    }

    #[test]
    fn what_was_appended_is_read_back_until_the_spool_is_cleared() {
        let memory = tempfile::tempdir().unwrap();
        let entries = samples::one_of_each();
        let mut spool = filled(memory.path(), &entries);
        let back: Vec<Entry> = read(spool.path(), "R-1").into_iter().map(|(_, entry)| entry).collect();
        assert_eq!(back, entries);
        spool.clear().unwrap();
        assert!(read(spool.path(), "R-1").is_empty());
        spool.append(7, &entries[0]).unwrap();
        assert_eq!(read(spool.path(), "R-1"), [(7, entries[0].clone())]);
    }

    #[test]
    fn a_spool_of_another_run_and_a_file_that_is_no_spool_are_not_believed() {
        let memory = tempfile::tempdir().unwrap();
        let spool = filled(memory.path(), &samples::one_of_each());
        assert!(read(spool.path(), "R-2").is_empty());
        for foreign in ["/proc/self/stat", "/dev/zero", "/proc", "/absent"] {
            assert!(read(Path::new(foreign), "R-1").is_empty(), "{foreign}");
        }
    }

    #[test]
    fn an_empty_spool_leaves_nothing_behind_and_a_full_one_stays() {
        let memory = tempfile::tempdir().unwrap();
        drop(filled(memory.path(), &[]));
        assert_eq!(std::fs::read_dir(memory.path()).unwrap().count(), 0);
        let spool = filled(memory.path(), &samples::one_of_each());
        let path = spool.path().to_path_buf();
        drop(spool);
        assert!(path.exists());
    }

    #[test]
    fn nobody_can_take_its_place_before_it_is_made() {
        let memory = tempfile::tempdir().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        // What used to be enough: a directory, a link, a file of its name.
        std::fs::write(memory.path().join(format!("stend-{uid}")), "taken").unwrap();
        let spools = [make(memory.path(), "R-1").unwrap(), make(memory.path(), "R-1").unwrap()];
        assert_ne!(spools[0].path(), spools[1].path());
        for spool in &spools {
            let found = std::fs::symlink_metadata(spool.path()).unwrap();
            assert!(found.is_file() && found.mode() & 0o777 == 0o600 && found.uid() == uid);
        }
    }

    #[test]
    fn a_left_over_spool_is_taken_over_with_its_entries_but_not_from_a_living_writer() {
        let memory = tempfile::tempdir().unwrap();
        let entries = samples::one_of_each();
        let spool = filled(memory.path(), &entries);
        let path = spool.path().to_path_buf();
        assert_eq!(Spool::adopt(&path, "R-1").unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(spool);
        let LeftOver { mut spool, entries: back } = Spool::adopt(&path, "R-1").unwrap().unwrap();
        assert!(back.into_iter().map(|(_, entry)| entry).eq(entries.iter().cloned()));
        spool.clear().unwrap();
        spool.append(7, &entries[0]).unwrap();
        assert_eq!(read(&path, "R-1"), [(7, entries[0].clone())]);
    }

    #[test]
    fn what_is_gone_or_not_the_spool_of_this_run_is_not_taken_over() {
        let memory = tempfile::tempdir().unwrap();
        let spool = filled(memory.path(), &samples::one_of_each());
        let link = memory.path().join("link");
        std::os::unix::fs::symlink(spool.path(), &link).unwrap();
        let foreign = memory.path().join("foreign");
        std::fs::write(&foreign, "precious").unwrap();
        assert!(Spool::adopt(spool.path(), "R-2").unwrap().is_none());
        for path in [&link, &foreign, memory.path(), &memory.path().join("absent/x"), &foreign.join("x")] {
            assert!(Spool::adopt(path, "R-1").unwrap().is_none(), "{}", path.display());
        }
        assert_eq!(std::fs::read(&foreign).unwrap(), b"precious");
    }

    #[test]
    fn a_spool_of_the_version_before_is_read() {
        let memory = tempfile::tempdir().unwrap();
        let entries = samples::one_of_each();
        let spool = filled(memory.path(), &entries);
        let bytes = std::fs::read(spool.path()).unwrap();
        let frames = after_start(&bytes, "R-1").unwrap();
        std::fs::write(spool.path(), [&MAGIC_1[..], b"\x03R-1", frames].concat()).unwrap();
        assert!(read(spool.path(), "R-1").into_iter().map(|(_, entry)| entry).eq(entries));
    }

    #[test]
    fn an_id_that_leads_elsewhere_makes_no_spool() {
        let memory = tempfile::tempdir().unwrap();
        for id in ["../R-1", "/R-1", "R 1"] {
            assert_eq!(make(memory.path(), id).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{id}");
        }
    }

    proptest! {
        #[test]
        fn a_torn_or_damaged_tail_costs_only_itself(cut in 0usize..4000, flip in any::<u8>()) {
            let memory = tempfile::tempdir().unwrap();
            let entries = samples::one_of_each();
            let spool = filled(memory.path(), &entries);
            let mut bytes = std::fs::read(spool.path()).unwrap();
            let at = cut.min(bytes.len() - 1);
            bytes[at] ^= flip;
            let back = frames(&bytes[..=at], "R-1");
            let expected = back.len();
            prop_assert!(back.into_iter().map(|(_, entry)| entry).eq(entries.into_iter().take(expected)));
        }

        #[test]
        fn arbitrary_bytes_are_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut spool = MAGIC.to_vec();
            spool.extend([3, b'R', b'-', b'1']);
            spool.extend(&bytes);
            start(&spool);
            frames(&spool, "R-1");
        }
    }
}
