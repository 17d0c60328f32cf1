//! Ledgers of trials on a device of which every write is logged. Nothing crashes there, so they lie in memory; what had been
//! acknowledged is noted again and again, and each time a mark goes into the log, so that any state of the device can be judged by
//! what had been acknowledged before it. Must not judge.

use super::crash::{Pending, Reading};
use super::head::{self, CELL_WORDS, Head};
use super::{KEEP_EVERY, Ledger};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use stend_base::{Result, Say};
use stend_record::crash::{Crash, Replayed};

/// Puts the mark of this number into the log.
type Mark = Box<dyn Fn(u64) -> Result<()> + Send + Sync>;

/// Takes the ledgers of the trials of a session.
pub struct Recorder {
    mark: Mark,
    next: AtomicU64,
    trials: Mutex<Vec<Recorded>>,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("next", &self.next).finish_non_exhaustive()
    }
}

/// The ledger of a trial that is over, with what had been acknowledged at each mark.
#[derive(Debug, Clone)]
pub struct Recorded {
    head: Head,
    shaken: bool,
    /// The whole ledger at the end.
    bytes: Vec<u8>,
    notes: Vec<Note>,
    /// The mark from which on others write; `None`: none has yet.
    end: Option<u64>,
}

/// Which cells had another oldest acknowledged write at a mark than at the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Note {
    mark: u64,
    changed: Vec<(usize, u64)>,
}

impl Recorder {
    /// One that puts its marks like this.
    pub fn new(mark: impl Fn(u64) -> Result<()> + Send + Sync + 'static) -> Recorder {
        Recorder { mark: Box::new(mark), next: AtomicU64::new(0), trials: Mutex::default() }
    }

    /// What was recorded since this was asked last, in the order of the trials.
    pub fn take(&self) -> Vec<Recorded> {
        std::mem::take(&mut self.trials.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Something else is about to write: from here on the log has no states of the trial before any more. Puts a mark, once.
    ///
    /// Errors: those of the mark.
    pub fn close(&self) -> Result<()> {
        let mut trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = trials.last_mut().filter(|last| last.end.is_none()) else { return Ok(()) };
        let mark = self.next.fetch_add(1, Ordering::Relaxed);
        (self.mark)(mark)?;
        last.end = Some(mark);
        Ok(())
    }
}

/// Writes down what had been acknowledged in one trial.
pub(super) struct LedgerWriter {
    recorder: Arc<Recorder>,
    head: Head,
    ledger: Arc<Ledger>,
    /// The oldest acknowledged write of each cell, as it was noted last.
    known: Vec<u64>,
    notes: Vec<Note>,
}

impl LedgerWriter {
    /// Puts the first mark: what the trial writes comes behind it.
    pub(super) fn begin(recorder: Arc<Recorder>, head: Head, ledger: Arc<Ledger>) -> Result<LedgerWriter> {
        let cells = (ledger.map.words().len() - head.cells_at() / 8) / CELL_WORDS;
        let mut writer = LedgerWriter { recorder, head, ledger, known: vec![0; cells], notes: Vec::new() };
        writer.note(false)?;
        Ok(writer)
    }

    /// Notes and marks until the load is over, and once more after that.
    pub(super) fn record(mut self) {
        loop {
            // Asked first: what is acknowledged before the end is in the last note.
            let over = self.ledger.over.load(Ordering::Acquire);
            if let Err(error) = self.note(over) {
                return self.ledger.failed(error.message);
            }
            if over {
                return self.finish();
            }
            std::thread::park_timeout(KEEP_EVERY);
        }
    }

    /// Notes what is acknowledged now, and only then has a mark put: whatever is noted is in the log before it. Nothing new takes no
    /// mark but the first and the last.
    pub(super) fn note(&mut self, last: bool) -> Result<()> {
        let changed = changes(&self.ledger, self.head.cells_at() / 8, &mut self.known);
        if last || self.notes.is_empty() || !changed.is_empty() {
            let mark = self.recorder.next.fetch_add(1, Ordering::Relaxed);
            (self.recorder.mark)(mark)?;
            self.notes.push(Note { mark, changed });
        }
        Ok(())
    }

    /// Hands over what was noted.
    pub(super) fn finish(self) {
        let words = self.ledger.map.words();
        let bytes = words.iter().flat_map(|word| word.load(Ordering::Acquire).to_ne_bytes()).collect();
        let shaken = words[head::SHAKEN / 8].load(Ordering::Acquire) != 0;
        let recorded = Recorded { head: self.head, shaken, bytes, notes: self.notes, end: None };
        self.recorder.trials.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
    }
}

/// Cells whose oldest acknowledged write is another one than is known, which is known then.
fn changes(ledger: &Ledger, first: usize, known: &mut [u64]) -> Vec<(usize, u64)> {
    let mut changed = Vec::new();
    for (cell, known) in known.iter_mut().enumerate() {
        let oldest = ledger.map.words()[first + cell * CELL_WORDS + 1].load(Ordering::Acquire);
        if oldest != *known {
            *known = oldest;
            changed.push((cell, oldest));
        }
    }
    changed
}

impl Recorded {
    /// Numbers of its marks, in order.
    pub fn marks(&self) -> impl Iterator<Item = u64> {
        self.notes.iter().map(|note| note.mark)
    }

    /// The mark from which on others write, if some do.
    pub fn end(&self) -> Option<u64> {
        self.end
    }

    /// Whether the trial bypassed the page cache.
    pub fn is_direct(&self) -> bool {
        self.head.direct
    }

    /// Compares a state of the target with what had been acknowledged when this mark, the last one before that state, was put.
    pub fn judge(&self, mark: u64, replayed: Replayed, reading: &mut Reading) -> Result<Crash> {
        let pending = Pending::recorded(self.head.clone(), self.shaken, self.ledger_at(mark));
        let mut crash = pending.judge(Path::new("memory"), reading)?;
        crash.replayed = Some(replayed);
        Ok(crash)
    }

    /// What it is where the target could not be brought up at all: nothing can be read.
    pub fn unread(&self, mark: u64, replayed: Replayed, why: Say) -> Result<Crash> {
        let mut nothing = |_: &mut [u8], _: u64| Err(std::io::ErrorKind::NotFound.into());
        let mut reading = Reading { read: &mut nothing, grain: None, go_on: &mut |_| true };
        let mut crash = self.judge(mark, Replayed { broken: Some(why), ..replayed }, &mut reading)?;
        // Nothing is missed of a block that nobody was promised.
        crash.unread = crash.acknowledged;
        Ok(crash)
    }

    /// The ledger with what was acknowledged at a mark, and what was sent by the end.
    fn ledger_at(&self, mark: u64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let first = self.head.cells_at();
        let mut put = |cell: usize, word: usize, number: u64| {
            let at = first + (cell * CELL_WORDS + word) * 8;
            bytes[at..at + 8].copy_from_slice(&number.to_ne_bytes());
        };
        // Numbers of acknowledgements are those of the end: which came before which at the mark is not told by them.
        for cell in 0..(self.bytes.len() - first) / (CELL_WORDS * 8) {
            (1..CELL_WORDS).for_each(|word| put(cell, word, 0));
        }
        for (cell, oldest) in self.notes.iter().take_while(|note| note.mark <= mark).flat_map(|note| &note.changed) {
            put(*cell, 1, *oldest);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use crate::verify::ledger::{Account, LedgerIn, LedgerThread, open};
    use crate::verify::sector::stamp;
    use crate::verify::{Marks, attach};
    use std::sync::atomic::AtomicBool;
    use stend_base::{Bytes, Error, say};
    use stend_record::verification::Defect;
    use stend_spec::workload::{Mix, Pattern, Stream, Sync, Verify};

    const MARKS: Marks = Marks { run: 77, epoch: 2 };
    const BLOCK: usize = 4096;
    const BLOCKS: usize = 4;

    /// A disk in memory, the account of its only job, and a pen that is moved by hand.
    struct Bench {
        disk: Vec<u8>,
        account: Account,
        keeper: Option<LedgerThread>,
    }

    fn bench(recorder: &Arc<Recorder>) -> Bench {
        let verify = Some(Verify { after: false, crash: true });
        let spec = crate::layout::tests::stream();
        let stream = Stream {
            mix: Mix::of_reads(0),
            pattern: Pattern::Uniform,
            sync: Sync::Dsync,
            verify,
            queue_depth: 2,
            ..spec
        };
        let region = Bytes((BLOCKS * BLOCK) as u64);
        let mut jobs = crate::layout::jobs(&crate::layout::tests::trial(region, vec![stream]), 9).unwrap();
        attach(&mut jobs, MARKS);
        let keeper = open(&mut jobs, MARKS, Some(LedgerIn::Memory(recorder.clone())), true, &Control::new());
        let keeper = keeper.unwrap();
        let account = jobs[0].check.as_ref().unwrap().account.clone().unwrap();
        Bench { disk: vec![0; region.0 as usize], account, keeper }
    }

    impl Bench {
        /// A whole write to a block, acknowledged or on its way.
        fn write(&mut self, block: usize, sequence: u64, acknowledged: bool) {
            let at = block * BLOCK;
            let before = self.account.begin(at as u64);
            stamp(&mut self.disk[at..at + BLOCK], MARKS, at as u64, sequence);
            if acknowledged {
                self.account.end(at as u64, before, true);
            }
        }

        fn head(&self) -> Head {
            let area = crate::area::Area { start: 0, blocks: BLOCKS as u64 };
            let areas = vec![head::AreaOf { area, block: BLOCK as u64, stream: 0 }];
            Head { run: String::new(), marks: MARKS, in_flight: 2, direct: true, boot: String::new(), areas }
        }
    }

    fn judged(recorded: &Recorded, mark: u64, disk: &[u8]) -> Crash {
        let mut read = |memory: &mut [u8], offset: u64| {
            memory.copy_from_slice(&disk[offset as usize..offset as usize + memory.len()]);
            Ok(memory.len())
        };
        let replayed = Replayed { entry: 5, entries: 9, states: 3, broken: None };
        recorded.judge(mark, replayed, &mut Reading { read: &mut read, grain: None, go_on: &mut |_| true }).unwrap()
    }

    #[test]
    fn what_was_acknowledged_before_a_mark_is_expected_behind_it_and_nothing_else() {
        let recorder = Arc::new(Recorder::new(|_| Ok(())));
        let mut bench = bench(&recorder);
        let ledger = bench.account.ledger.clone();
        // A ledger of our own, whose notes come when the test asks for them.
        let own = Arc::new(Recorder::new(|_| Ok(())));
        let mut writer = LedgerWriter::begin(own.clone(), bench.head(), ledger).unwrap();
        let blank = bench.disk.clone();
        writer.note(false).unwrap();
        bench.write(0, 1, true);
        let once = bench.disk.clone();
        writer.note(false).unwrap();
        bench.write(0, 2, true);
        bench.write(1, 1, true);
        bench.write(2, 1, false);
        writer.note(true).unwrap();
        writer.finish();
        let recorded = own.take().remove(0);
        assert_eq!(recorded.marks().collect::<Vec<_>>(), [0, 1, 2], "nothing new takes no mark");
        let wrong = |mark, disk: &[u8]| judged(&recorded, mark, disk).wrong();
        // Before anything was acknowledged anything may be there that was ever sent.
        assert_eq!((wrong(0, &blank), wrong(0, &bench.disk)), (0, 0));
        assert_eq!((wrong(1, &once), wrong(1, &bench.disk)), (0, 0));
        assert_eq!(wrong(2, &bench.disk), 0);
        let lost = judged(&recorded, 1, &blank);
        assert_eq!((lost.checked.defects[Defect::Lost.index()], lost.acknowledged), (1, 1));
        let lost = judged(&recorded, 2, &once);
        assert_eq!((lost.checked.defects[Defect::Lost.index()], lost.wrong(), lost.acknowledged), (2, 2, 2));
        assert_eq!(lost.replayed.map(|replayed| replayed.entry), Some(5));
        let mut never = bench.disk.clone();
        stamp(&mut never[..BLOCK], MARKS, 0, 3);
        assert_eq!(judged(&recorded, 2, &never).checked.defects[Defect::Phantom.index()], 1, "it was never sent");
        bench.keeper.take().unwrap().end().unwrap();
    }

    #[test]
    fn where_nothing_can_be_brought_up_all_that_was_acknowledged_is_missed() {
        let recorder = Arc::new(Recorder::new(|_| Ok(())));
        let mut bench = bench(&recorder);
        bench.write(0, 1, true);
        bench.write(3, 1, true);
        bench.keeper.take().unwrap().end().unwrap();
        let recorded = recorder.take().remove(0);
        assert!(recorded.is_direct() && recorder.take().is_empty());
        let last = recorded.marks().last().unwrap();
        let replayed = Replayed { entry: 1, entries: 9, states: 3, broken: None };
        let crash = recorded.unread(last, replayed, say!("no mount", "не монтируется")).unwrap();
        assert_eq!((crash.unread, crash.wrong(), crash.broken().map(|why| why.en.as_str())), (2, 2, Some("no mount")));
    }

    #[test]
    fn a_mark_that_cannot_be_put_ends_the_trial_with_the_reason() {
        static ASKED: AtomicBool = AtomicBool::new(false);
        // The first one is put before the load begins.
        let no = |mark| match mark {
            0 => Ok(()),
            _ => {
                ASKED.store(true, Ordering::Release);
                Err(Error::preflight(say!("no such mapping", "нет такого отображения")))
            }
        };
        let recorder = Arc::new(Recorder::new(no));
        let bench = bench(&recorder);
        let told = bench.keeper.unwrap().end().unwrap_err();
        assert!(ASKED.load(Ordering::Acquire) && told.en == "no such mapping" && recorder.take().is_empty());
    }

    #[test]
    fn the_first_mark_is_there_before_the_load_and_the_last_one_before_others_write() {
        let put = Arc::new(AtomicU64::new(0));
        let (counted, slow) = (put.clone(), std::time::Duration::from_millis(200));
        let recorder = Arc::new(Recorder::new(move |_| {
            std::thread::sleep(slow);
            counted.fetch_add(1, Ordering::AcqRel);
            Ok(())
        }));
        recorder.close().unwrap();
        assert_eq!(put.load(Ordering::Acquire), 0, "there is no trial that could end");
        let mut bench = bench(&recorder);
        assert_eq!(put.load(Ordering::Acquire), 1);
        bench.keeper.take().unwrap().end().unwrap();
        recorder.close().unwrap();
        recorder.close().unwrap();
        let recorded = recorder.take().remove(0);
        assert_eq!((recorded.marks().collect::<Vec<_>>(), recorded.end()), (vec![0, 1], Some(2)));
    }
}
