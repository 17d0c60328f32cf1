//! After a crash: every block of the target is compared with what the ledger says. Must not write anywhere.

use super::head::{self, AreaOf, CELL_WORDS, Head};
use crate::verify::expected::{EXAMPLES, Writes};
use crate::verify::judge::{Allowed, Judgement, judge};
use crate::verify::sector::{self, Content, SECTOR};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use stend_base::{Bytes, Error, Result, say};
use stend_record::crash::Crash;
use stend_record::verification::{Checked, Defect, Mismatch};
use stend_sys::buffer::Pool;

/// Bytes read at once, in whole blocks.
const CHUNK: u64 = 1 << 20;

/// The ledger that a crash left behind, not yet compared with anything.
#[derive(Debug)]
pub struct Pending {
    cells: Cells,
    head: Head,
    rebooted: bool,
    shaken: bool,
    reserved: u64,
}

/// Where the cells of a ledger are.
#[derive(Debug)]
enum Cells {
    File(File),
    /// The whole ledger.
    Memory(Vec<u8>),
}

impl Cells {
    fn read(&self, memory: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Cells::File(file) => file.read_exact_at(memory, at),
            Cells::Memory(bytes) => {
                let at = at as usize;
                let found = bytes.get(at..at.saturating_add(memory.len())).ok_or(io::ErrorKind::UnexpectedEof)?;
                memory.copy_from_slice(found);
                Ok(())
            }
        }
    }
}

/// What differs from host to host about reading the target, and telling how far one is.
pub struct Reading<'a> {
    /// Reads at an offset into a buffer; less than that where the target ends.
    pub read: &'a mut dyn FnMut(&mut [u8], u64) -> io::Result<usize>,
    /// Most bytes that may be read at once, if there is a limit: a power of two.
    pub grain: Option<u64>,
    /// Told the bytes looked at so far; `false` stops.
    pub go_on: &'a mut dyn FnMut(Bytes) -> bool,
}

/// The boot of this machine; empty where the kernel does not tell.
pub(crate) fn boot_id() -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.map(|id| id.trim().to_string()).unwrap_or_default()
}

/// The ledger that the run with this id left under this name; `None`: there is none. What is there and cannot be used is an
/// error of kind `Preflight`.
pub fn pending(path: &Path, run: &str) -> Result<Option<Pending>> {
    pending_in(path, run, &boot_id())
}

/// The same on a machine in this boot.
pub(super) fn pending_in(path: &Path, run: &str, boot: &str) -> Result<Option<Pending>> {
    let (file, head) = match head::open(path) {
        Ok(None) => return Ok(None),
        Ok(Some(found)) => found,
        Err(e) => return Err(unread(path, &e)),
    };
    Pending::of(path, run, boot, Cells::File(file), head).map(Some)
}

fn unread(path: &Path, error: &io::Error) -> Box<Error> {
    let name = path.display();
    unusable(match error.kind() {
        io::ErrorKind::InvalidData => say!(
            "`{name}` is not a complete ledger: it was cut, changed, or written by another program",
            "`{name}` — не целый журнал: обрезан, изменён или создан другой программой"
        ),
        _ => say!("cannot read the ledger `{name}`: {error}", "не удаётся прочитать журнал `{name}`: {error}"),
    })
}

fn unusable(message: stend_base::Say) -> Box<Error> {
    Error::preflight(message).hint(say!(
        "without its ledger Stend cannot check the data after the crash; to continue anyway, move the file away",
        "без журнала данные после сбоя не проверить; чтобы всё же продолжить, уберите этот файл"
    ))
}

fn damaged(path: &Path, what: &str) -> Box<Error> {
    let name = path.display();
    unusable(say!("the ledger `{name}` is damaged: {what}", "журнал `{name}` повреждён: {what}"))
}

impl Pending {
    /// What the bytes of a file say that the run with this id left, on a machine in this boot; `path` names it in errors, which are those
    /// of [`pending`].
    pub fn from_bytes(path: &Path, bytes: Vec<u8>, run: &str, boot: &str) -> Result<Pending> {
        let len = bytes.len() as u64;
        let cells = Cells::Memory(bytes);
        let head = Head::read(len, &mut |memory, at| cells.read(memory, at)).map_err(|e| unread(path, &e))?;
        Pending::of(path, run, boot, cells, head)
    }

    fn of(path: &Path, run: &str, boot: &str, cells: Cells, head: Head) -> Result<Pending> {
        let name = path.display();
        if head.run != run {
            let other = head.run.escape_debug();
            return Err(unusable(say!(
                "`{name}` is the ledger of another run, `{other}`",
                "`{name}` — журнал другого прогона, `{other}`"
            )));
        }
        let mut words = [0; 16];
        cells.read(&mut words, head::RESERVED as u64).map_err(|e| damaged(path, &e.to_string()))?;
        let (reserved, shaken) = (head::number(&words, 0), head::number(&words, 8) != 0);
        let rebooted = head.boot != boot || boot.is_empty();
        Ok(Pending { cells, head, rebooted, shaken, reserved })
    }

    /// One that was never in a file: of a process that went on.
    pub(super) fn recorded(head: Head, shaken: bool, bytes: Vec<u8>) -> Pending {
        Pending { cells: Cells::Memory(bytes), head, rebooted: false, shaken, reserved: 0 }
    }

    /// Whether the trial bypassed the page cache: then the target is read the same way.
    pub fn is_direct(&self) -> bool {
        self.head.direct
    }

    /// Reads every block of which the ledger knows and judges it. Errors: `Preflight` for a ledger that contradicts itself,
    /// `Interrupted` if it was stopped.
    pub fn judge(&self, path: &Path, reading: &mut Reading) -> Result<Crash> {
        let mut tally = Tally::new(self);
        let largest = self.head.areas.iter().map(|of| of.block).max().unwrap_or(0).max(CHUNK);
        let mut pool = Pool::new(1, largest as usize)
            .map_err(|e| Error::preflight(say!("no memory for a buffer: {e}", "нет памяти под буфер: {e}")))?;
        let mut cells_at = self.head.cells_at() as u64;
        for of in &self.head.areas {
            let most = reading.grain.map_or(CHUNK, |grain| grain.min(CHUNK));
            let at_once = (most / of.block).max(1);
            let mut block = 0;
            while block < of.area.blocks {
                let count = at_once.min(of.area.blocks - block);
                let mut cells = vec![0; (count as usize) * CELL_WORDS * 8];
                self.cells.read(&mut cells, cells_at).map_err(|e| damaged(path, &e.to_string()))?;
                cells_at += cells.len() as u64;
                let memory = &mut pool.slot_mut(0)[..(count * of.block) as usize];
                let contradiction = tally.chunk(of, block, &cells, memory, reading);
                contradiction.map_err(|()| damaged(path, "more was acknowledged than sent"))?;
                block += count;
                if !(reading.go_on)(Bytes(tally.crash.checked.sectors * SECTOR as u64)) {
                    let message =
                        say!("interrupted while a crash was judged", "прервано во время оценки последствий сбоя");
                    return Err(Error::interrupted(message));
                }
            }
        }
        Ok(tally.finish())
    }
}

/// What is known of a block.
#[derive(Debug, Clone, Copy)]
struct Cell {
    allowed: Allowed,
    /// Acknowledgements before its oldest write was sent, and the number of its own.
    before: u64,
    number: u64,
}

/// Blocks judged so far.
struct Tally<'a> {
    pending: &'a Pending,
    crash: Crash,
    /// Numbers of the acknowledgements that are gone, with their places among the examples.
    lost: Vec<(u64, Option<usize>)>,
    /// Most acknowledgements that came before a write that is there was sent.
    survived: u64,
    has_survivor: bool,
}

impl<'a> Tally<'a> {
    fn new(pending: &'a Pending) -> Tally<'a> {
        let Pending { head, rebooted, shaken, .. } = pending;
        let crash = Crash {
            run: head.marks.run,
            trial: head.marks.epoch.saturating_sub(1),
            rebooted: *rebooted,
            shaken: *shaken,
            acknowledged: 0,
            in_flight: head.in_flight,
            checked: Checked::default(),
            shorn: 0,
            unread: 0,
            examples: Vec::new(),
            replayed: None,
        };
        Tally { pending, crash, lost: Vec::new(), survived: 0, has_survivor: false }
    }

    /// What the ledger says of a block; an error if it contradicts itself.
    fn cell(&self, bytes: &[u8]) -> std::result::Result<Cell, ()> {
        let word = |index: usize| head::number(bytes, index * 8);
        let sent = u64::from(Writes(word(0)).sent());
        // If the machine of the ledger went down, too, only what was synced is left: anything up to what was reserved may
        // have been sent since. A process that was killed leaves all of it.
        let newest = if self.pending.rebooted { sent.max(self.pending.reserved) } else { sent };
        let newest = newest.min(u64::from(u32::MAX));
        let oldest = word(1);
        if oldest > newest {
            return Err(());
        }
        let oldest = if self.pending.shaken { 0 } else { oldest as u32 };
        let allowed = Allowed { oldest, newest: newest as u32, seen: 0, after: true };
        Ok(Cell { allowed, before: word(2), number: word(3) })
    }

    fn chunk(
        &mut self,
        of: &AreaOf,
        first: u64,
        cells: &[u8],
        memory: &mut [u8],
        reading: &mut Reading,
    ) -> std::result::Result<(), ()> {
        let start = of.area.start + first * of.block;
        let whole = fill(memory, start, reading).is_ok();
        let blocks = memory.chunks_exact_mut(of.block as usize).zip(cells.chunks_exact(CELL_WORDS * 8));
        for ((block, cell), address) in blocks.zip((start..).step_by(of.block as usize)) {
            let cell = self.cell(cell)?;
            self.crash.acknowledged += u64::from(cell.allowed.oldest > 0);
            self.crash.checked.sectors += of.block / SECTOR as u64;
            // One bad place must not hide its neighbours.
            if whole || fill(block, address, reading).is_ok() {
                self.block(of, address, block, cell);
            } else {
                self.crash.unread += 1;
            }
        }
        Ok(())
    }

    fn block(&mut self, of: &AreaOf, address: u64, block: &[u8], cell: Cell) {
        let marks = self.pending.head.marks;
        let Allowed { oldest, newest, .. } = cell.allowed;
        match judge(block, address, marks, cell.allowed) {
            Judgement::Ok(version) => {
                self.crash.checked.ok += 1;
                if oldest > 0 && version == oldest {
                    self.has_survivor = true;
                    self.survived = self.survived.max(cell.before);
                }
            }
            Judgement::NeverWritten => self.crash.checked.never_written += 1,
            Judgement::Unsettled => {
                self.crash.checked.unsettled += 1;
                let damaged = |sector| sector::read(sector, marks.run) == Content::Damaged;
                self.crash.shorn += u64::from(block.chunks_exact(SECTOR).any(damaged));
            }
            Judgement::Wrong { defect, sector, found } => {
                let address = address + (sector * SECTOR) as u64;
                let (stream, run, epoch) = (of.stream, marks.run, marks.epoch);
                let mut place = None;
                if self.crash.examples.len() < EXAMPLES {
                    place = Some(self.crash.examples.len());
                    let after = true;
                    let example = Mismatch { stream, after, defect, address, run, epoch, oldest, newest, found };
                    self.crash.examples.push(example);
                }
                match defect {
                    Defect::Lost => self.lost.push((cell.number, place)),
                    other => self.crash.checked.defects[other.index()] += 1,
                }
            }
        }
    }

    /// A lost write is out of order if another one is there that was only sent after it had been acknowledged.
    fn finish(mut self) -> Crash {
        for (number, place) in &self.lost {
            let reordered = self.has_survivor && *number > 0 && *number <= self.survived;
            let defect = if reordered { Defect::Reordered } else { Defect::Lost };
            self.crash.checked.defects[defect.index()] += 1;
            if let Some(place) = place {
                self.crash.examples[*place].defect = defect;
            }
        }
        // A write that was cut within a sector was in flight, and so many were not.
        let more = self.crash.shorn.saturating_sub(self.crash.in_flight);
        self.crash.checked.defects[Defect::Corrupt.index()] += more;
        self.crash.checked.unsettled -= more;
        self.crash.shorn -= more;
        self.crash
    }
}

/// Fills memory from an offset; behind the end of the target there is nothing, which reads as zeros.
fn fill(memory: &mut [u8], offset: u64, reading: &mut Reading) -> io::Result<()> {
    let mut done = 0;
    while done < memory.len() {
        match (reading.read)(&mut memory[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            // The end lies within a sector: there direct I/O cannot go on.
            Err(_) if !done.is_multiple_of(SECTOR) => break,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    memory[done..].fill(0);
    Ok(())
}
