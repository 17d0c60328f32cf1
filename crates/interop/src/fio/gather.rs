//! From documents to trials: which jobs ran together, what is a snapshot of something later, and when it was. Pure.

use super::document::{Document, Job, Side};
use super::options;
use super::trial::{self, Group};
use crate::build::{Found, sum};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Lang, Nanos, format};

/// Options that say nothing of the load: repetitions with other seeds are repetitions.
const ASIDE: [&str; 14] = [
    "allrandrepeat",
    "description",
    "group_reporting",
    "log_avg_msec",
    "log_hist_msec",
    "new_group",
    "per_job_logs",
    "randrepeat",
    "randseed",
    "stonewall",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
];

/// Longest run, ms: a `job_start` further before its document is of another clock (`job_start_clock_id`), which counts from no date.
const RUN_MAX_MS: u64 = 366 * 86_400_000;

/// What the documents come to, for [`crate::build::run`].
pub(super) struct Gathered {
    /// Trials.
    pub found: Vec<Found>,
    /// What the jobs worked on.
    pub targets: Vec<String>,
    /// Documents that later ones hold.
    pub snapshots: u32,
}

/// A group of jobs, and when it ran.
struct Placed<'d> {
    file: u32,
    line: u32,
    version: &'d str,
    group: Group<'d>,
    started: Option<Nanos>,
}

pub(super) fn gather(documents: &[(u32, Document)]) -> Gathered {
    let (kept, snapshots) = without_snapshots(documents);
    let placed: Vec<Placed<'_>> = kept.into_iter().flat_map(|(file, document)| groups(file, document)).collect();
    Gathered { targets: targets(&placed), snapshots, found: placed.iter().map(found).collect() }
}

/// A group as a trial.
fn found(placed: &Placed<'_>) -> Found {
    let group = &placed.group;
    let (asked, outcome) =
        trial::outcome(group, &trial::Origin { file: placed.file, line: placed.line, version: placed.version });
    Found {
        name: group.name(),
        key: group.key(&ASIDE),
        options: group.options(&ASIDE),
        started: placed.started,
        lasted: group.lasted(),
        asked,
        outcome,
        slices: Vec::new(),
    }
}

/// Files and directories that the jobs name.
fn targets(placed: &[Placed<'_>]) -> Vec<String> {
    let jobs = placed.iter().flat_map(|trial| trial.group.each());
    let names: BTreeSet<&str> = jobs.filter_map(|job| job.options.target()).collect();
    names.into_iter().map(String::from).collect()
}

/// Groups of a document: one after the other, of each all jobs at the same time. Newer versions print when they began; else they end
/// with the document.
fn groups(file: u32, document: &Document) -> Vec<Placed<'_>> {
    let mut by_number: BTreeMap<u64, Vec<&Job>> = BTreeMap::new();
    for job in &document.jobs {
        by_number.entry(job.group).or_default().push(job);
    }
    let mut found: Vec<Placed<'_>> = Vec::new();
    let mut end = document.ended_ms.map(Nanos::millis);
    for jobs in by_number.into_values().rev() {
        let group = Group::of(&jobs);
        let told = first_start(jobs.iter().copied(), document.ended_ms).map(Nanos::millis);
        let started = told.or(end.map(|end| end.saturating_sub(group.lasted())));
        end = started;
        let (line, version) = (document.line, document.version.as_str());
        found.push(Placed { file, line, version, group, started });
    }
    found.reverse();
    found
}

/// With `--status-interval` fio prints everything so far again and again: of such documents only the last says something new. With
/// how many say nothing.
fn without_snapshots(documents: &[(u32, Document)]) -> (Vec<(u32, &Document)>, u32) {
    let (mut kept, mut snapshots): (Vec<(u32, &Document)>, u32) = (Vec::new(), 0);
    for (file, document) in documents {
        while kept.last().is_some_and(|(last, before)| last == file && goes_on(before, document)) {
            kept.pop();
            snapshots += 1;
        }
        kept.push((*file, document));
    }
    (kept, snapshots)
}

/// Whether a document holds all that an earlier one held, of the same jobs, and is of the same process.
fn goes_on(before: &Document, after: &Document) -> bool {
    let grows = |(a, b): (&Job, &Job)| {
        // Before 3.30 fio adds the time since its start to the run time of every job in a snapshot, also of one that has ended: then
        // it has a longer one there than at the end.
        //= fio, stat.c of 3.29: __show_running_run_stats()
        let longer = done(a) == done(b) || a.runtime_ms() <= b.runtime_ms();
        a.name == b.name && a.options == b.options && done(a).0 <= done(b).0 && longer && same_start(a, b)
    };
    // The later one began before the earlier one was printed: they overlap.
    let overlap = before.ended_ms.zip(after.ended_ms).is_some_and(|(first, second)| began_ms(after, second) < first);
    before.jobs.len() == after.jobs.len()
        && before.jobs.iter().any(|job| job.runtime_ms() > 0)
        && before.jobs.iter().zip(&after.jobs).all(grows)
        && (overlap || adds_to(before, after))
}

/// I/Os and bytes of a job.
fn done(job: &Job) -> (u64, u64) {
    let total = |of: fn(&Side) -> u64| sum(job.sides.iter().map(|(_, side)| of(side)));
    (total(|side| side.ios), total(|side| side.bytes))
}

/// Whether two documents can be of one process by what they tell of the start of a job. It begins anew after its ramp, a tenth of which is
/// for what comes between.
//= fio, libfio.c: reset_all_stats() calls set_epoch_time()
fn same_start(a: &Job, b: &Job) -> bool {
    let ramp_ms = a.options.ramp().0 / 1_000_000;
    a.started_ms.zip(b.started_ms).is_none_or(|(a, b)| a.abs_diff(b) <= ramp_ms + ramp_ms / 10)
}

/// Whether a document has a job of the earlier one with the same numbers, each of them, and more of another one: a group that had ended
/// long before the next one began (`startdelay`). Without anything more it would be the same result twice.
fn adds_to(before: &Document, after: &Document) -> bool {
    let numbers = |job: &Job| -> Vec<String> {
        let all = job.sides.iter().flat_map(|(_, side)| &side.numbers);
        all.map(|number| format!("{}={}", number.name, number.printed)).collect()
    };
    let pairs = || before.jobs.iter().zip(&after.jobs);
    pairs().any(|(a, b)| done(a) != done(b))
        && pairs().any(|(a, b)| done(a).0 > 0 && done(a) == done(b) && numbers(a) == numbers(b))
}

/// The first start of these jobs, ms since 1970; `None` if they tell none, or by another clock than that of the document.
fn first_start<'j>(jobs: impl Iterator<Item = &'j Job>, ended_ms: Option<u64>) -> Option<u64> {
    let start = jobs.filter_map(|job| job.started_ms).min()?;
    ended_ms.is_none_or(|end| start <= end && end - start <= RUN_MAX_MS).then_some(start)
}

/// When the first job of a document began, ms since 1970: as the jobs tell it, else as long before its end as its groups lasted, one
/// after the other.
fn began_ms(document: &Document, ended_ms: u64) -> u64 {
    if let Some(began) = first_start(document.jobs.iter(), Some(ended_ms)) {
        return began;
    }
    let mut longest: BTreeMap<u64, Nanos> = BTreeMap::new();
    for job in &document.jobs {
        let group = longest.entry(job.group).or_default();
        *group = job.lasted().max(*group);
    }
    let lasted = longest.into_values().fold(Nanos(0), |all, group| all + group);
    ended_ms.saturating_sub(lasted.0 / 1_000_000)
}

/// An option as an axis: what suites have, too, is called as there, so that sweeps are seen and labels agree.
pub(super) fn axis(name: &str, value: String, all: &BTreeMap<String, String>) -> (String, String) {
    match name {
        "iodepth" => ("queue_depth".to_string(), value),
        "numjobs" => ("jobs".to_string(), value),
        "bs" | "blocksize" => {
            let size = options::size(&value, options::kb_base(all)).map(|bytes| format::bytes(bytes, Lang::En));
            ("block_size".to_string(), size.unwrap_or(value))
        }
        _ => (name.to_string(), value),
    }
}
