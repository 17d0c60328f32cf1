//! What devices are to count for the I/O of a case: the I/Os themselves, flushes, what the journal of a file system writes for syncs, and what
//! the edges of readings leave open. Must not judge.

use super::stretch::{self, Stretch};
use crate::limits::FOREIGN_SHARE;
use crate::series::Cell;
use crate::trials::CaseTrials;
use stend_base::{Bytes, Nanos};
use stend_record::sample::DiskCounters;
use stend_record::targets::devices;
use stend_record::{Device, RunRecord, TargetFacts};
use stend_spec::workload::{Op, Sync};

/// Changes of times that a file system can put into commits of their own, per second: it takes times from the clock of the timer interrupt
/// (CONFIG_HZ is 1000 at most), and a sync within the same tick has nothing to commit.
//= linux 6.12, fs/inode.c, inode_set_ctime_current(), current_time()
const TICKS_PER_SECOND: f64 = 1000.0;

/// Counters of devices between the samples of a case, and what it did meanwhile.
pub(super) struct Expected<'a> {
    run: &'a RunRecord,
    case: &'a CaseTrials<'a>,
    stretches: &'a [Stretch<'a>],
    names: &'a [&'a str],
}

impl<'a> Expected<'a> {
    /// `names` are the devices that count the I/O of the case one to one.
    pub fn new(
        run: &'a RunRecord,
        case: &'a CaseTrials<'a>,
        stretches: &'a [Stretch<'a>],
        names: &'a [&'a str],
    ) -> Expected<'a> {
        Expected { run, case, stretches, names }
    }

    /// I/Os of the application and of the prober.
    pub fn own(&self, op: Op) -> Cell {
        stretch::application_and_prober(self.stretches, op)
    }

    /// What the devices counted; `None` if a counter is missing.
    pub fn counted(&self, op: Op) -> Option<Cell> {
        let found = at_devices(self.stretches, self.names, op)?;
        Some(self.without_refused(op, found).unwrap_or(found))
    }

    /// Mean bytes of an I/O with data, with and without what the journal may have written; `None` if there is none, or no counter.
    /// Without I/Os there are no more than the case asked for.
    pub fn sizes(&self, op: Op) -> Option<[f64; 2]> {
        let (counted, own) = (self.counted(op)?, self.own(op));
        let size = |cell: Cell| {
            let empty = (cell.ops - own.ops).clamp(0.0, self.empty(op));
            let ops = cell.ops - empty;
            (ops > 0.0).then(|| cell.bytes / ops)
        };
        let journal = if op == Op::Write { self.journal() } else { Cell::default() };
        // No more of it than there is beyond the own I/Os.
        let part = |counted: f64, own: f64, journal: f64| counted - (counted - own).clamp(0.0, journal);
        let ops = part(counted.ops, own.ops, journal.ops);
        let without = Cell { ops, bytes: part(counted.bytes, own.bytes, journal.bytes) };
        Some([size(counted)?, size(without)?])
    }

    /// What may be counted beside the own I/Os, at most, although nobody else used the devices.
    pub fn besides(&self, op: Op) -> Cell {
        let edges = stretch::edges(self.stretches, op);
        let journal = if op == Op::Write { self.journal() } else { Cell::default() };
        Cell { ops: edges.ops + journal.ops + self.empty(op), bytes: edges.bytes + journal.bytes }
    }

    /// I/Os of nothing that flushes of the case make, at most: the kernel counts a flush that comes alone as a write of nothing, beside its
    /// counter of flushes. Joined paths of NVMe count it as a read of nothing, and do not count flushes as such.
    //= linux 6.12, block/blk-flush.c, blk_flush_restore_request(): the request of the flush ends as any write
    fn empty(&self, op: Op) -> f64 {
        let flushes = |name: &&str| stretch::sum(self.stretches, |s| s.disk(name, |d| d.flushes.unwrap_or(0)));
        let joins = |name: &&str| devices(&self.run.load().targets).iter().any(|d| d.name == **name && d.joins_paths());
        let tells = self.names.iter().any(|name| flushes(name) != Some(0) && !joins(name));
        if op == Op::Read && tells { 0.0 } else { self.syncs() }
    }

    /// Syncs of the application, and writes that are their own.
    fn syncs(&self) -> f64 {
        let by_write = self.case.asked.streams.iter().any(|s| matches!(s.sync, Sync::Dsync | Sync::ODsync));
        let written = if by_write { stretch::application(self.stretches, Op::Write).ops } else { 0.0 };
        stretch::application(self.stretches, Op::Sync).ops + written
    }

    /// What the journals of the file systems write, at most: commits that syncs make, and those that come by themselves.
    fn journal(&self) -> Cell {
        let Some(journal) = self.run.load().targets.iter().filter_map(Journal::of).reduce(Journal::larger) else {
            return Cell::default();
        };
        let commits = self.commits(&journal);
        let alone = 1.0 + stretch::length(self.stretches).as_secs() / journal.every.as_secs();
        let sum = |of: fn(&Cell) -> f64| of(&journal.commit) * commits + of(&journal.alone) * alone;
        Cell { ops: sum(|cell| cell.ops), bytes: sum(|cell| cell.bytes) }
    }

    /// Commits that syncs of the case make, at most. `fsync` has the new times of the file committed. Other syncs have something to commit only
    /// where blocks are written for the first time, or where there is no journal.
    fn commits(&self, journal: &Journal) -> f64 {
        let overwrites = self.run.load().fill.as_ref().is_some_and(|fill| fill.passes > 0);
        let fsync = self.case.asked.streams.iter().any(|stream| matches!(stream.sync, Sync::Fsync(_)));
        let times = fsync || journal.times_by_any_sync;
        let most = match (overwrites, times) {
            (false, _) => self.syncs(),
            (true, true) => self.syncs().min(TICKS_PER_SECOND * stretch::length(self.stretches).as_secs()),
            (true, false) => 0.0,
        };
        let told = self.flushes_of_commits().filter(|_| !journal.times_by_any_sync);
        most.min(told.unwrap_or(most))
    }

    /// Flushes beyond one for each sync: one in each commit, where a drive with a volatile cache takes no FUA, so that what closes the commit is
    /// followed by a second flush. `None` if that cannot be told: several syncs at a time share flushes.
    //= linux 6.12, fs/jbd2/commit.c, journal_submit_commit_record(); block/blk-flush.c, blk_insert_flush()
    fn flushes_of_commits(&self) -> Option<f64> {
        let mut devices =
            devices(&self.run.load().targets).into_iter().filter(|d| self.names.contains(&d.name.as_str()));
        let twice = |d: &Device| d.write_cache.as_deref() == Some("write back") && d.fua == Some(false);
        if self.case.asked.in_flight() != 1 || !devices.all(twice) {
            return None;
        }
        let of = |name: &&str| {
            stretch::sum(self.stretches, |s| s.growth(|at| at.disks.iter().find(|d| d.name == **name)?.flushes))
        };
        let flushes = self.names.iter().map(of).sum::<Option<u64>>()?;
        Some((flushes as f64 - self.syncs()).max(0.0) + stretch::edges(self.stretches, Op::Write).ops)
    }

    /// The count without I/Os that were begun and refused because they would have had to wait: `io_uring` tries first without waiting, and
    /// a device that is made of others (dm, md) counts such a try as an I/O although nothing below it got one. What the devices right
    /// below got is what went through. `None` where these tell less than the case did, because something between holds data
    /// back, or where nothing was refused.
    //= linux 6.12, drivers/md/dm.c, dm_end_io_acct(); block/blk-mq.c, blk_mq_submit_bio(), bio_wouldblock_error()
    fn without_refused(&self, op: Op, found: Cell) -> Option<Cell> {
        let tries = self.case.counting.iter().any(|trial| trial.outcome.engine.backend.contains("io_uring"));
        let below =
            self.names.iter().map(|name| right_below(&self.run.load().targets, name)).collect::<Option<Vec<_>>>()?;
        let below = at_devices(self.stretches, &below.concat(), op).filter(|_| tries)?;
        let own = self.own(op);
        let (refused, arrived) = (found.bytes - below.bytes, own.bytes * (1.0 - FOREIGN_SHARE));
        let one = own.bytes / own.ops;
        (refused > 0.0 && below.bytes >= arrived && one > 0.0)
            .then(|| Cell { ops: found.ops - refused / one, bytes: found.bytes - refused })
    }
}

/// Devices right below one that is made of others; `None` if it is not, or none is visible.
fn right_below<'a>(targets: &'a [TargetFacts], name: &str) -> Option<Vec<&'a str>> {
    let target = targets.iter().find(|target| target.devices.iter().any(|device| device.name == name))?;
    let at = target.devices.iter().position(|device| device.name == name)?;
    let device = target.devices.get(at).filter(|device| matches!(device.kind.as_str(), "dm" | "md"))?;
    let under = target.devices.iter().skip(at + 1).take_while(|other| other.depth > device.depth);
    let names: Vec<&str> = under.filter(|d| d.depth == device.depth + 1).map(|d| d.name.as_str()).collect();
    (!names.is_empty()).then_some(names)
}

/// What devices did together for one operation.
fn at_devices(stretches: &[Stretch<'_>], names: &[&str], op: Op) -> Option<Cell> {
    let each = names.iter().map(|name| at_device(stretches, name, op));
    each.reduce(|sum, one| {
        let (sum, one) = (sum?, one?);
        Some(Cell { ops: sum.ops + one.ops, bytes: sum.bytes + one.bytes })
    })?
}

/// What a device did for one operation.
fn at_device(stretches: &[Stretch<'_>], name: &str, op: Op) -> Option<Cell> {
    let of = |read: fn(&DiskCounters) -> u64, write: fn(&DiskCounters) -> u64| {
        stretch::sum(stretches, |s| s.disk(name, if op == Op::Read { read } else { write }))
    };
    let (ops, bytes) = (of(|d| d.reads, |d| d.writes)?, of(|d| d.read_bytes, |d| d.write_bytes)?);
    Some(Cell { ops: ops as f64, bytes: bytes as f64 })
}

/// What the journal of a file system writes in place of, or beside, data.
#[derive(Debug, Clone, Copy)]
struct Journal {
    /// For a commit that new times of one file, or blocks that are written for the first time, make.
    commit: Cell,
    /// For a commit that comes without a sync.
    alone: Cell,
    /// How often that comes.
    every: Nanos,
    /// New times of a file are written by any sync, without a flush of their own.
    times_by_any_sync: bool,
}

impl Journal {
    /// As counted on Linux 6.18 under an overwriting load alone on loop devices: a commit of ext4 for `fsync` is a descriptor, a block of inodes
    /// and the block that closes it, 3 × 4 KiB in 2 I/Os, and what comes every 5 s 3 or 4 blocks; a log write of XFS is 1 KiB, and what
    /// comes every 30 s up to 35 KiB in 5 I/Os. Rounded up to blocks that came one by one, and for XFS to sectors of 4 KiB. ext4 without a
    /// journal writes the block of the inode, 4 KiB or less, with every sync that finds new times in it, `fdatasync` too.
    fn of(target: &TargetFacts) -> Option<Journal> {
        let cell = |ops: f64, size: Bytes| Cell { ops, bytes: size.0 as f64 };
        match target.file_system.as_deref()? {
            "ext3" | "ext4" if target.journal == Some(false) => Some(Journal {
                commit: cell(1.0, Bytes::kib(4)),
                alone: cell(1.0, Bytes::kib(4)),
                every: Nanos::secs(5),
                times_by_any_sync: true,
            }),
            "ext3" | "ext4" => Some(Journal {
                commit: cell(3.0, Bytes::kib(12)),
                alone: cell(4.0, Bytes::kib(16)),
                every: Nanos::secs(5),
                times_by_any_sync: false,
            }),
            "xfs" => Some(Journal {
                commit: cell(1.0, Bytes::kib(4)),
                alone: cell(8.0, Bytes::kib(64)),
                every: Nanos::secs(30),
                times_by_any_sync: false,
            }),
            _ => None,
        }
    }

    fn larger(self, other: Journal) -> Journal {
        let most = |a: Cell, b: Cell| Cell { ops: a.ops.max(b.ops), bytes: a.bytes.max(b.bytes) };
        Journal {
            commit: most(self.commit, other.commit),
            alone: most(self.alone, other.alone),
            every: self.every.min(other.every),
            times_by_any_sync: self.times_by_any_sync || other.times_by_any_sync,
        }
    }
}
