//! What ZFS moves at its drives beside the I/Os of a case, and from when on it has written all that the run wrote before. Must not judge.

use super::stretch::{self, Stretch};
use crate::limits::{ZFS_PIECES, ZFS_RECORD, ZFS_SETTLED};
use crate::series::Cell;
use stend_base::{Bytes, Nanos, Say, say};
use stend_record::{RunRecord, TrialRecord};
use stend_spec::workload::Op;

/// An empty group of transactions: labels, the root of the pool and maps of its space, every five seconds (by eye).
//= OpenZFS 2.2, module/zfs/txg.c, zfs_txg_timeout
const GROUP: (Nanos, Cell) = (Nanos::secs(5), Cell { ops: 64.0, bytes: Bytes::mib(1).0 as f64 });

/// Whether a target is a directory or a file on ZFS. Volumes have counters of their own, above the pool.
pub(super) fn is_target(run: &RunRecord) -> bool {
    run.load().targets.iter().any(|target| target.file_system.as_deref() == Some("zfs"))
}

/// What it reads or writes beside the case, at most: for each I/O one more record, which it reads as a whole, also to change a part of it, with
/// the tables that lead to it, and groups of transactions that come by themselves.
pub(super) fn besides(stretches: &[Stretch<'_>], op: Op) -> Cell {
    let (every, group) = GROUP;
    match op {
        Op::Read => {
            let ios: f64 = Op::TRANSFERS.map(|op| stretch::application_and_prober(stretches, op).ops).into_iter().sum();
            Cell { ops: ios * ZFS_PIECES, bytes: ios * ZFS_RECORD.0 as f64 }
        }
        _ => {
            let groups = stretches.len() as f64 + stretch::length(stretches).as_secs() / every.as_secs();
            Cell { ops: groups * group.ops, bytes: groups * group.bytes }
        }
    }
}

pub(super) fn not_told() -> Say {
    say!(
        "zfs reads whole records with their tables, and writes for seconds what it was given before, which cannot be told from the I/O of others",
        "zfs читает записи целиком вместе с таблицами и ещё несколько секунд пишет полученное раньше, и этого не отличить от чужих операций"
    )
}

/// The part of these stretches after the run's own delayed writes have reached the drives, for a case that only reads.
pub(super) fn settled<'a>(run: &RunRecord, stretches: &[Stretch<'a>]) -> Vec<Stretch<'a>> {
    let later = stretches.iter().map(|stretch| {
        let begin = stretch.samples.first().map_or(Nanos(0), |sample| sample.at);
        stretch.from(last_write(run, begin) + ZFS_SETTLED)
    });
    later.filter(|stretch| stretch.length() > Nanos(0)).collect()
}

/// When the run last wrote before this moment: the fill is over when the first trial begins.
fn last_write(run: &RunRecord, before: Nanos) -> Nanos {
    let trials = || run.trials.iter().chain(&run.rounds).filter(|trial| trial.started < before);
    let end = |trial: &TrialRecord| trial.outcome.as_ref().map_or(before, |outcome| outcome.window_end);
    let writing = trials().filter(|trial| trial.asked.writes()).map(end).max();
    let filled = trials().map(|trial| trial.started).min().unwrap_or(before);
    writing.unwrap_or(Nanos(0)).max(filled)
}
