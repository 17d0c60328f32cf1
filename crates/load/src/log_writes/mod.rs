//! The log that dm-log-writes keeps of a device: what is in it ([`WriteLog::read`]), which states of the device are worth a look
//! ([`WriteLog::states`]), and the device made what it was in one of them ([`restore`]). Must not judge, and must not trust what it
//! reads.
//!
//! A write that was not flushed stands in the log only behind the flush that made it durable, so the device up to a flush holds
//! exactly what no loss of power could have taken then.
//= linux, drivers/md/dm-log-writes.c: struct log_write_super, struct log_write_entry; all numbers are little-endian

mod restore;
#[cfg(test)]
mod tests;

pub use restore::{LogFile, restore};

use std::collections::BTreeMap;
use std::io;
use stend_base::{Error, Result, Say, say};

const MAGIC: u64 = 0x6a_7366_7773_6872;
const VERSION: u64 = 1;
/// Bytes of an entry before the name of a mark.
const ENTRY: usize = 32;
/// What direct I/O is aligned to: the largest sector of a device that the kernel takes before large blocks came.
const ALIGNED: u64 = 4096;
/// Heads of entries that lie close together are read with what is between them, as many bytes at once; as in a fill.
const WINDOW: u64 = 1 << 20;
/// Closer than that: then a window has 8 heads at least, and what is read in vain is no more than the log.
const CLOSE: u64 = WINDOW / 8;
/// What the kernel takes for the smallest and for the largest block of a device.
const SECTORS: std::ops::RangeInclusive<u64> = 512..=65536;

const FLUSH: u64 = 1;
const FUA: u64 = 1 << 1;
const DISCARD: u64 = 1 << 2;
const MARK: u64 = 1 << 3;
const METADATA: u64 = 1 << 4;

/// A whole log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteLog {
    entries: Vec<Entry>,
    /// The first entry with the mark of each name: a trial leaves tens of thousands of marks.
    marks: BTreeMap<String, usize>,
}

/// What happened to the device, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// Range of the device, bytes; empty for a flush alone.
    to: u64,
    len: u64,
    /// Where its data are in the log.
    from: u64,
    /// Everything before it is durable, or it is itself.
    durable: bool,
    discard: bool,
}

/// Whether to go on with something long. Each question is progress.
pub type GoOn<'a> = &'a mut dyn FnMut() -> bool;

fn interrupted() -> Box<Error> {
    Error::interrupted(say!(
        "interrupted while a log of writes was replayed",
        "прервано при воспроизведении журнала записей"
    ))
}

/// Reads exactly so much of a log, from an offset on: one sector, or a window that ends where direct I/O may.
pub type ReadLog<'a> = &'a mut dyn FnMut(&mut [u8], u64) -> io::Result<()>;

impl WriteLog {
    /// Reads a log of `size` bytes of a device of `device` bytes; `name` is that of the log, for errors. `go_on` is asked before each entry.
    ///
    /// Errors: `Preflight` with the place of whatever cannot be; `Interrupted` if `go_on` is false.
    pub fn read(name: &str, (size, device): (u64, u64), read: ReadLog, go_on: GoOn) -> Result<WriteLog> {
        let sector = *SECTORS.start();
        let mut log = Reading { name, size, device, sector, read, window: Vec::new(), begins: 0, before: None };
        let count = log.head()?;
        let mut found = WriteLog { entries: Vec::new(), marks: BTreeMap::new() };
        let mut at = log.sector;
        for number in 0..count {
            if !go_on() {
                return Err(interrupted());
            }
            let (entry, mark, next) = log.entry(number, at)?;
            found.add(entry, mark);
            at = next;
        }
        Ok(found)
    }

    fn add(&mut self, entry: Entry, mark: Option<String>) {
        if let Some(name) = mark {
            self.marks.entry(name).or_insert(self.entries.len());
        }
        self.entries.push(entry);
    }

    /// Entries in it.
    pub fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry with the mark of this name.
    pub fn mark(&self, name: &str) -> Option<usize> {
        self.marks.get(name).copied()
    }

    /// Entries behind which the device was in a state that a loss of power could have left, from the first of these marks on and
    /// before `end`, `most` at most: evenly, half of them where something became durable, half of them at the marks, the last mark
    /// always among them. With them, how many there are in all.
    pub fn states(&self, marks: &[usize], end: usize, most: u32) -> (Vec<usize>, u64) {
        let Some(&first) = marks.first() else { return (Vec::new(), 0) };
        let behind = self.entries.get(first..end).unwrap_or_default();
        let durable: Vec<usize> = (first..).zip(behind).filter(|(_, entry)| entry.durable).map(|(at, _)| at).collect();
        let all = (durable.len() + marks.len()) as u64;
        let half = (most as usize).div_ceil(2);
        let at_marks = half.max((most as usize).saturating_sub(durable.len())).min(marks.len());
        let mut chosen = evenly(marks, at_marks);
        chosen.extend(evenly(&durable, (most as usize).saturating_sub(at_marks)));
        chosen.sort_unstable();
        chosen.dedup();
        (chosen, all)
    }
}

/// So many of a list, evenly, the last one always.
fn evenly(all: &[usize], count: usize) -> Vec<usize> {
    let count = count.min(all.len());
    (1..=count).map(|number| all[number * all.len() / count - 1]).collect()
}

/// A log that is being read.
struct Reading<'a, 'b> {
    name: &'a str,
    size: u64,
    device: u64,
    sector: u64,
    read: ReadLog<'b>,
    /// What was read at once, and where that begins.
    window: Vec<u8>,
    begins: u64,
    /// Where the sector before was.
    before: Option<u64>,
}

impl Reading<'_, '_> {
    /// The first sector: how many entries follow.
    fn head(&mut self) -> Result<u64> {
        let bytes = self.bytes(0)?;
        let (magic, version, count) = (number(&bytes, 0), number(&bytes, 8), number(&bytes, 16));
        let sector = number(&bytes, 24) & u64::from(u32::MAX);
        if magic != MAGIC {
            return Err(
                self.wrong(0, say!("it does not begin like a log of writes", "начало не как у журнала записей"))
            );
        }
        if version != VERSION {
            let what =
                say!("version {version} is not known, only {VERSION}", "версия {version} неизвестна, только {VERSION}");
            return Err(self.wrong(0, what));
        }
        if !sector.is_power_of_two() || !SECTORS.contains(&sector) {
            return Err(
                self.wrong(0, say!("sectors cannot have {sector} bytes", "секторов по {sector} байт не бывает"))
            );
        }
        // Each takes a sector at least.
        if count > (self.size / sector).saturating_sub(1) {
            let what = say!("{count} entries do not fit in it", "столько записей ({count}) в нём не поместится");
            return Err(self.wrong(0, what));
        }
        self.sector = sector;
        Ok(count)
    }

    /// The entry at a place of the log, the mark that it is, and where the next one is.
    fn entry(&mut self, index: u64, at: u64) -> Result<(Entry, Option<String>, u64)> {
        let bytes = self.bytes(at)?;
        let [sector, count, flags, inline] = [0, 8, 16, 24].map(|at| number(&bytes, at));
        let wrong = |what: Say| {
            let Say { en, ru } = what;
            self.wrong(at, say!("entry {index}: {en}", "запись {index}: {ru}"))
        };
        if flags & !(FLUSH | FUA | DISCARD | MARK | METADATA) != 0 {
            return Err(wrong(say!("unknown flags {flags:#x}", "неизвестные признаки {flags:#x}")));
        }
        let range = sector.checked_mul(self.sector).zip(count.checked_mul(self.sector));
        let within = range.filter(|(to, len)| to.checked_add(*len).is_some_and(|end| end <= self.device));
        let Some((to, len)) = within else {
            return Err(wrong(say!(
                "it ends behind the device ({count} sectors from {sector} on)",
                "она выходит за конец устройства (секторов: {count}, начиная с {sector})"
            )));
        };
        let has_data = flags & DISCARD == 0;
        let from = at + self.sector;
        let next = from + if has_data { len } else { 0 };
        if next > self.size {
            return Err(wrong(say!("its data end behind the log", "её данные выходят за конец журнала")));
        }
        let mark = match flags & MARK {
            0 => None,
            _ if inline > self.sector - ENTRY as u64 || len > 0 => {
                return Err(wrong(say!("a mark of {inline} bytes", "метка из {inline} байт")));
            }
            _ => {
                let name = &bytes[ENTRY..ENTRY + inline as usize];
                let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
                Some(String::from_utf8_lossy(&name[..end]).into_owned())
            }
        };
        let (durable, discard) = (flags & (FLUSH | FUA) != 0, !has_data);
        Ok((Entry { to, len, from, durable, discard }, mark, next))
    }

    /// The sector at a place.
    fn bytes(&mut self, at: u64) -> Result<Vec<u8>> {
        if at.checked_add(self.sector).is_none_or(|end| end > self.size) {
            return Err(self.wrong(at, say!("it ends there", "на этом он обрывается")));
        }
        let is_close = self.before.replace(at).is_some_and(|before| at - before <= CLOSE);
        if self.in_window(at).is_none() {
            let whole = if is_close { self.window_from(at) } else { self.sector };
            let read = self.fetch(at, whole);
            // A window may reach what cannot be read, and has no entry.
            let read = read.or_else(|error| if whole > self.sector { self.fetch(at, self.sector) } else { Err(error) });
            read.map_err(|e| self.wrong(at, say!("it cannot be read: {e}", "он не читается: {e}")))?;
        }
        Ok(self.in_window(at).unwrap_or_default().to_vec())
    }

    /// The sector at a place, if it was read already.
    fn in_window(&self, at: u64) -> Option<&[u8]> {
        let skip = usize::try_from(at.checked_sub(self.begins)?).ok()?;
        self.window.get(skip..skip.checked_add(self.sector as usize)?)
    }

    /// Bytes of a window that begins there: at most [`WINDOW`] with what direct I/O reads before them, and none behind the last one that it reads.
    fn window_from(&self, at: u64) -> u64 {
        let end = (at / ALIGNED * ALIGNED).saturating_add(WINDOW).min(self.size / ALIGNED * ALIGNED);
        end.saturating_sub(at).max(self.sector)
    }

    fn fetch(&mut self, at: u64, len: u64) -> io::Result<()> {
        self.window.clear();
        self.window.resize(len as usize, 0);
        self.begins = at;
        let read = (self.read)(&mut self.window, at);
        if read.is_err() {
            self.window.clear();
        }
        read
    }

    fn wrong(&self, at: u64, what: Say) -> Box<Error> {
        let (name, Say { en, ru }) = (self.name, what);
        Error::preflight(say!(
            "the log of writes `{name}`, byte {at}: {en}",
            "журнал записей `{name}`, байт {at}: {ru}"
        ))
    }
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}
