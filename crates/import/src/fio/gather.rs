//! From documents to cases and trials: which jobs ran together, which trials are repetitions, and when they were. Pure.

use super::File;
use super::document::{Document, Job};
use super::options;
use super::trial::{self, Group};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use stend_base::{Error, Kind, Lang, Nanos, Result, Say, format, say};
use stend_record::Entry;
use stend_spec::plan::Case;

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
/// Jobs of one trial: more would not fit into a row of a run file.
const JOBS_PER_TRIAL: usize = 1000;

/// What the documents come to.
pub(super) struct Gathered {
    /// Cells, in the order in which they occur first.
    pub cases: Vec<Case>,
    /// Trials of the case that has most.
    pub blocks: u32,
    /// In the order of time.
    pub entries: Vec<Entry>,
    /// What the jobs worked on.
    pub targets: Vec<String>,
    /// Documents that later ones hold.
    pub snapshots: u32,
    /// What was left out.
    pub dropped: Vec<Say>,
    /// The jobs in the form of a job file.
    pub job_file: String,
    /// When the first trial began.
    pub started_unix_ns: Option<i64>,
}

/// A trial that was found.
struct Found<'d> {
    file: u32,
    line: u32,
    version: &'d str,
    group: Group<'d>,
    /// ms since 1970, or since nothing in particular.
    started: Nanos,
    dated: bool,
}

pub(super) fn gather(documents: &[(u32, Document)], files: &[File<'_>]) -> Result<Gathered> {
    let (kept, snapshots) = without_snapshots(documents);
    let mut dropped = Vec::new();
    let mut found: Vec<Found<'_>> = kept.into_iter().flat_map(|(file, document)| groups(file, document)).collect();
    refuse_copies(&found, files)?;
    found.retain(|trial| {
        let fits = trial.group.jobs() <= JOBS_PER_TRIAL;
        if !fits {
            let (name, line) = (files[trial.file as usize].name, trial.line);
            dropped.push(say!(
                "{name}:{line}: a group of more than {JOBS_PER_TRIAL} jobs",
                "{name}:{line}: группа более чем из {JOBS_PER_TRIAL} заданий"
            ));
        }
        fits
    });
    let dated = found.iter().all(|trial| trial.dated);
    if dated {
        found.sort_by_key(|trial| trial.started);
    } else {
        // Without dates one after the other, as they were named.
        let mut at = Nanos(0);
        for trial in &mut found {
            trial.started = at;
            at = at + trial.group.lasted();
        }
    }
    let first = found.iter().map(|trial| trial.started).min().unwrap_or_default();
    let mut cases = Cases::default();
    let mut entries = Vec::new();
    for (number, trial) in (0u32..).zip(&found) {
        let (case, block) = cases.place(&trial.group);
        let at = trial.started.saturating_sub(first);
        let told = trial::Place { file: trial.file, line: trial.line, version: trial.version };
        let (asked, outcome) = trial::outcome(&trial.group, &told, at);
        entries.push(Entry::TrialStart { trial: number, case, block, round: false, asked: Box::new(asked), at });
        entries.push(Entry::TrialEnd { trial: number, outcome: Box::new(outcome) });
    }
    Ok(Gathered {
        blocks: cases.trials.iter().copied().max().unwrap_or(0),
        job_file: cases.job_file(),
        cases: cases.named(),
        entries,
        targets: targets(&found),
        snapshots,
        dropped,
        started_unix_ns: dated.then(|| i64::try_from(first.0).unwrap_or(0)),
    })
}

/// Files and directories that the jobs name.
fn targets(found: &[Found<'_>]) -> Vec<String> {
    let jobs = found.iter().flat_map(|trial| trial.group.each());
    let names: BTreeSet<&str> = jobs.filter_map(|job| job.options.target()).collect();
    names.into_iter().map(String::from).collect()
}

/// Groups of a document: one after the other, of each all jobs at the same time. When they began is told by newer versions; else they
/// end with the document.
fn groups(file: u32, document: &Document) -> Vec<Found<'_>> {
    let mut by_number: BTreeMap<u64, Vec<&Job>> = BTreeMap::new();
    for job in &document.jobs {
        by_number.entry(job.group).or_default().push(job);
    }
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut end = document.ended_ms.map(Nanos::millis);
    for jobs in by_number.into_values().rev() {
        let group = Group::of(&jobs);
        let told = jobs.iter().filter_map(|job| job.started_ms).min().map(Nanos::millis);
        let started = told.or(end.map(|end| end.saturating_sub(group.lasted())));
        end = started;
        found.push(Found {
            file,
            line: document.line,
            version: &document.version,
            group,
            started: started.unwrap_or_default(),
            dated: started.is_some(),
        });
    }
    found.reverse();
    found
}

/// With `--status-interval` fio prints everything so far again and again: of such documents only the last says something new. With
/// how many say nothing.
fn without_snapshots(documents: &[(u32, Document)]) -> (Vec<(u32, &Document)>, u32) {
    let (mut kept, mut snapshots): (Vec<(u32, &Document)>, u32) = (Vec::new(), 0);
    for (file, document) in documents {
        if kept.last().is_some_and(|(last, before)| last == file && goes_on(before, document)) {
            kept.pop();
            snapshots += 1;
        }
        kept.push((*file, document));
    }
    (kept, snapshots)
}

/// Whether a document holds all that an earlier one held, of the same jobs, and more of it by no more than the time between them.
fn goes_on(before: &Document, after: &Document) -> bool {
    let (Some(first), Some(second)) = (before.ended_ms, after.ended_ms) else { return false };
    let grows = |(a, b): (&Job, &Job)| {
        let ios = |job: &Job| job.sides.iter().map(|(_, side)| side.ios).sum::<u64>();
        a.name == b.name && a.options == b.options && ios(a) <= ios(b) && a.runtime_ms() <= b.runtime_ms()
    };
    let ran = after.jobs.iter().map(Job::runtime_ms).max().unwrap_or(0);
    // The later one began before the earlier one was printed: they overlap, so they are of one process.
    before.jobs.len() == after.jobs.len()
        && second.saturating_sub(ran) < first
        && before.jobs.iter().any(|job| job.runtime_ms() > 0)
        && before.jobs.iter().zip(&after.jobs).all(grows)
}

/// Two trials whose numbers are all the same are one that was named twice.
fn refuse_copies(found: &[Found<'_>], files: &[File<'_>]) -> Result<()> {
    let mut seen: HashMap<(String, Vec<&str>), &Found<'_>> = HashMap::new();
    for trial in found {
        let numbers: Vec<&str> = trial.group.each().flat_map(Job::printed).collect();
        let Some(first) = seen.insert((trial.group.key(&ASIDE), numbers), trial) else { continue };
        let place = |trial: &Found<'_>| format!("{}:{}", files[trial.file as usize].name, trial.line);
        let (one, other) = (place(first), place(trial));
        return Err(Error::new(
            Kind::Spec,
            say!("{other} holds the same results as {one}", "{other} содержит те же результаты, что и {one}"),
        )
        .hint(say!("name each result once", "укажите каждый результат один раз")));
    }
    Ok(())
}

/// An option as an axis: what suites have, too, is called as there, so that sweeps are seen and labels agree.
fn axis(name: &str, value: String) -> (String, String) {
    match name {
        "iodepth" => ("queue_depth".to_string(), value),
        "numjobs" => ("jobs".to_string(), value),
        "bs" | "blocksize" => {
            let size = options::size(&value).map(|bytes| format::bytes(bytes, Lang::En));
            ("block_size".to_string(), size.unwrap_or(value))
        }
        _ => (name.to_string(), value),
    }
}

/// Cases by what makes trials the same.
#[derive(Default)]
struct Cases {
    cases: Vec<Case>,
    /// Options of each, for its label.
    options: Vec<BTreeMap<String, String>>,
    trials: Vec<u32>,
    by_key: HashMap<String, u32>,
}

impl Cases {
    /// The case of a trial, and which trial of it this is.
    fn place(&mut self, group: &Group<'_>) -> (u32, u32) {
        let key = group.key(&ASIDE);
        let case = *self.by_key.entry(key).or_insert_with(|| {
            self.cases.push(Case {
                name: group.name(),
                axes: Vec::new(),
                trial: trial::asked(group),
                not_run: None,
                arm: None,
                steady: None,
            });
            self.options.push(group.options(&ASIDE));
            self.trials.push(0);
            self.cases.len() as u32 - 1
        });
        let count = &mut self.trials[case as usize];
        *count += 1;
        (case, *count - 1)
    }

    /// The cases, those of one name told apart by the options in which they differ.
    fn named(mut self) -> Vec<Case> {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, case) in self.cases.iter().enumerate() {
            by_name.entry(case.name.clone()).or_default().push(index);
        }
        for alike in by_name.into_values().filter(|alike| alike.len() > 1) {
            let names: BTreeSet<&String> = alike.iter().flat_map(|index| self.options[*index].keys()).collect();
            let of = |index: usize, name: &str| self.options[index].get(name).cloned().unwrap_or("default".to_string());
            let differ = |name: &&&String| alike.iter().any(|index| of(*index, name) != of(alike[0], name));
            let axes: Vec<&String> = names.iter().filter(differ).copied().collect();
            for (count, index) in alike.iter().enumerate() {
                let told = axes.iter().map(|name| axis(name, of(*index, name))).collect();
                // What differs without a name that tells it is counted.
                let counted = || vec![("variant".to_string(), (count + 1).to_string())];
                self.cases[*index].axes = if axes.is_empty() { counted() } else { told };
            }
        }
        self.cases
    }

    /// The jobs of all cases, as their options are repeated.
    fn job_file(&self) -> String {
        let mut text = String::new();
        for (case, options) in self.cases.iter().zip(&self.options) {
            text += &format!("[{}]\n", case.name);
            for (name, value) in options {
                text += &if value.is_empty() { format!("{name}\n") } else { format!("{name}={value}\n") };
            }
        }
        text
    }
}
