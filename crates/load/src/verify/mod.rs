//! Verification: what a stream reads is compared with what it wrote. The contract is docs/formats/verification.md.
//!
//! Every block of a verified job has its expected state in memory ([`expected`]); a write marks its sectors
//! ([`sector`]), a read is judged against what was expected when it began and when it ended ([`judge`]), and after the
//! window everything that was written is read once more if the suite asks for it ([`read_back`]). What a crash must not take
//! is kept in a [`ledger`]. Must not change when or where I/O is made.

pub(crate) mod check;
pub(crate) mod expected;
mod judge;
pub(crate) mod ledger;
pub(crate) mod marks;
pub(crate) mod read_back;
mod sector;
#[cfg(test)]
mod tests;

use crate::layout::Job;
use check::Check;
use expected::Expected;
use judge::{Allowed, Judgement, judge};
use ledger::account::Account;
use marks::Marks;
use sector::SECTOR;
use std::sync::Arc;
use stend_base::{Error, Result, say};
use stend_record::verification::{Checked, Mismatch};
use stend_spec::workload::Op;

/// Memory of the expected state of a job, bytes; jobs that share an area have it together, and count it once.
pub(crate) fn memory(job: &Job) -> u64 {
    let counts = job.spec.verify.is_some() && job.leads;
    if counts { Expected::memory(job.area.blocks).saturating_add(ledger::memory(job)) } else { 0 }
}

/// Gives every job of a verified stream its expected state; jobs that share an area share it.
pub(crate) fn attach(jobs: &mut [Job], marks: Marks) {
    for index in 0..jobs.len() {
        let (before, rest) = jobs.split_at_mut(index);
        let job = &mut rest[0];
        if job.spec.verify.is_none() {
            continue;
        }
        let shared = before.last().filter(|other| other.stream == job.stream && !job.leads);
        let expected = shared.and_then(|other| other.check.as_ref()).map(|check| check.expected.clone());
        let expected = expected.unwrap_or_else(|| Arc::new(Expected::new(job.area, job.spec.block_size.0, marks)));
        job.check = Some(Check { expected, listed: None, account: None });
    }
}

/// Refuses a verified job whose area overlaps that of another job that writes: what it expects would not be all.
pub(crate) fn check_areas(jobs: &[Job]) -> Result<()> {
    let end = |job: &Job| job.region().end();
    let together = |a: &Job, b: &Job| a.stream == b.stream && a.cursor.is_some() && a.area == b.area;
    let mut writers: Vec<&Job> = jobs.iter().filter(|job| job.spec.mix.writes()).collect();
    writers.sort_by_key(|job| job.area.start);
    // The writer that reaches furthest so far, and the one that of those verified does.
    let (mut furthest, mut verified): (Option<&Job>, Option<&Job>) = (None, None);
    for job in writers {
        let before = if job.spec.verify.is_some() { furthest } else { verified };
        if before.is_some_and(|before| end(before) > job.area.start && !together(before, job)) {
            let stream = job.stream + 1;
            return Err(Error::preflight(say!(
                "stream {stream} and another stream share a region: one is verified and the other writes",
                "у потока {stream} и другого потока общая область: один сверяется, а другой пишет"
            ))
            .hint(say!("give them regions of their own", "дайте им отдельные области")));
        }
        let further = |other: Option<&Job>| other.is_none_or(|other| end(other) < end(job));
        if further(furthest) {
            furthest = Some(job);
        }
        if job.spec.verify.is_some() && further(verified) {
            verified = Some(job);
        }
    }
    Ok(())
}

/// One load thread's part in verifying its job.
///
/// Costs of a 4 KiB block: see docs/formats/verification.md.
#[derive(Debug)]
pub(crate) struct Verifier {
    expected: Arc<Expected>,
    stream: u16,
    after: bool,
    /// What the read in each slot might see at its beginning.
    oldest: Box<[u32]>,
    account: Option<Account>,
    /// Acknowledgements before the write in each slot was sent.
    before: Box<[u64]>,
    checked: Checked,
}

impl Verifier {
    /// That of a thread of `job` with so many slots; `None` if the job is not verified.
    pub fn new(job: &Job, slots: u32) -> Option<Verifier> {
        let check = job.check.as_ref()?;
        Some(Verifier {
            expected: check.expected.clone(),
            stream: job.stream,
            after: check.listed.is_some(),
            oldest: vec![0; slots as usize].into_boxed_slice(),
            account: check.account.clone(),
            before: vec![0; slots as usize].into_boxed_slice(),
            checked: Checked::default(),
        })
    }

    /// Makes the block that is about to be written to `offset`, at the beginning of a slot; returns where that is.
    #[inline]
    pub fn stamp(&mut self, slot: u32, block: &mut [u8], offset: u64) -> usize {
        // First the ledger: what it does not know of must not be on the way.
        if let Some(account) = &self.account {
            self.before[slot as usize] = account.begin(offset);
        }
        let sequence = self.expected.begin_write(offset);
        sector::stamp(block, self.expected.marks, offset, u64::from(sequence));
        0
    }

    /// Notes that a read of `offset` is about to begin.
    #[inline]
    pub fn begin_read(&mut self, slot: u32, offset: u64) {
        self.oldest[slot as usize] = self.expected.oldest(offset);
    }

    /// A transfer is complete: of a write, or of a read of this block.
    #[inline]
    pub fn complete(&mut self, slot: u32, op: Op, offset: u64, block: &[u8]) {
        match op {
            Op::Write => {
                self.expected.end_write(offset, true);
                if let Some(account) = self.account.as_ref().filter(|account| account.at_once) {
                    account.end(offset, self.before[slot as usize], true);
                }
            }
            Op::Read => self.check(self.oldest[slot as usize], offset, block),
            // A verified stream takes nothing away.
            Op::Discard | Op::WriteZeroes | Op::Sync => {}
        }
    }

    /// The sync that belongs to the write in this slot is complete.
    #[inline]
    pub fn synced(&mut self, slot: u32, offset: u64) {
        if let Some(account) = &self.account {
            account.end(offset, self.before[slot as usize], true);
        }
    }

    /// An operation failed: what a write left is open from then on, and after a sync any write.
    #[cold]
    pub fn failed(&mut self, slot: u32, op: Op, offset: u64) {
        match op {
            Op::Write => self.expected.end_write(offset, false),
            Op::Sync => self.expected.shake(),
            Op::Read | Op::Discard | Op::WriteZeroes => return,
        }
        if let Some(account) = &self.account {
            account.end(offset, self.before[slot as usize], false);
            if op == Op::Sync {
                account.shake();
            }
        }
    }

    fn check(&mut self, oldest: u32, offset: u64, block: &[u8]) {
        let allowed = self.expected.allowed(offset, oldest, self.after);
        self.checked.sectors += (block.len() / SECTOR) as u64;
        match judge(block, offset, self.expected.marks, allowed) {
            Judgement::Ok(version) => {
                self.checked.ok += 1;
                self.expected.saw(offset, version);
            }
            Judgement::NeverWritten => self.checked.never_written += 1,
            Judgement::Unsettled => self.checked.unsettled += 1,
            Judgement::Wrong { defect, sector, found } => {
                let Allowed { oldest, newest, .. } = allowed;
                let (address, after) = (offset + (sector * SECTOR) as u64, self.after);
                let Marks { run, epoch } = self.expected.marks;
                let stream = self.stream;
                self.expected.note(Mismatch { stream, after, defect, address, run, epoch, oldest, newest, found });
            }
        }
    }

    /// Hands over what was counted.
    pub fn finish(self) {
        self.expected.deliver(self.after, &self.checked);
    }
}
