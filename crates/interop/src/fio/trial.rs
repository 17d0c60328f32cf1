//! One group of jobs that ran together, as a trial: what was asked for, and what came of it. Pure.

use super::document::{Job, Side};
use super::options::{Options, Shape};
use crate::build::sum;
use std::collections::BTreeMap;
use stend_base::buckets::Buckets;
use stend_base::histogram::Sparse;
use stend_base::{Bytes, Nanos};
use stend_record::fio_bins::{self as bins, Exact};
use stend_record::observed::{EngineFacts, External, IoErrors, JobTotals, TrialOutcome, TrialStatus};
use stend_record::{ToolOp, ToolOutput};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{BlockShare, Engine, Mix, OPS, Op, Region, Stream, Trial};

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Jobs that ran at the same time, by section.
pub struct Group<'d> {
    sections: Vec<Section<'d>>,
}

/// Jobs of one name and with the same options.
struct Section<'d> {
    name: &'d str,
    options: &'d Options,
    jobs: Vec<&'d Job>,
}

/// Where the numbers of a trial stand.
pub struct Origin<'d> {
    /// Index of the file.
    pub file: u32,
    /// Line of the document.
    pub line: u32,
    /// Version of fio.
    pub version: &'d str,
}

impl<'d> Group<'d> {
    /// The jobs by section, in the order of the document.
    pub fn of(jobs: &[&'d Job]) -> Group<'d> {
        let mut sections: Vec<Section<'d>> = Vec::new();
        for job in jobs {
            let same = |section: &&mut Section<'_>| section.name == job.name && section.options == &job.options;
            match sections.iter_mut().find(same) {
                Some(section) => section.jobs.push(job),
                None => sections.push(Section { name: &job.name, options: &job.options, jobs: vec![job] }),
            }
        }
        Group { sections }
    }

    /// Every job.
    pub fn each(&self) -> impl Iterator<Item = &'d Job> + '_ {
        self.sections.iter().flat_map(|section| section.jobs.iter().copied())
    }

    /// From the start of the first to the end of the last.
    pub fn lasted(&self) -> Nanos {
        self.each().map(Job::lasted).max().unwrap_or_default()
    }

    /// Names of the sections.
    pub fn name(&self) -> String {
        self.sections.iter().map(|section| section.name).collect::<Vec<_>>().join(" + ")
    }

    /// The same text for trials that are repetitions of each other.
    pub fn key(&self, aside: &[&str]) -> String {
        let mut key = String::new();
        for section in &self.sections {
            let told = if section.options.given { String::new() } else { format!("{:?}", section.stream()) };
            key += &format!("{}\0{}\0{told}\0", section.name, section.jobs.len());
            for (name, value) in section.options.all.iter().filter(|(name, _)| !aside.contains(&name.as_str())) {
                key += &format!("{name}={value}\0");
            }
        }
        key
    }

    /// Options of all sections; those of several have the name of their section in front.
    pub fn options(&self, aside: &[&str]) -> BTreeMap<String, String> {
        let several = self.sections.len() > 1;
        let named = |section: &Section<'_>, name: &str| match several {
            true => format!("{} {name}", section.name),
            false => name.to_string(),
        };
        let of = |section: &Section<'d>| {
            let own = section.options.all.iter().filter(|(name, _)| !aside.contains(&name.as_str()));
            own.map(|(name, value)| (named(section, name), value.clone())).collect::<Vec<_>>()
        };
        self.sections.iter().flat_map(of).collect()
    }

    /// The longest of its jobs, ms: rates are over this.
    fn runtime(&self) -> Nanos {
        Nanos::millis(self.each().map(Job::runtime_ms).max().unwrap_or(0))
    }
}

impl Section<'_> {
    /// Jobs that ran: several may be reported as one.
    fn job_count(&self) -> u32 {
        match self.jobs[..] {
            [one] => one.threads.unwrap_or(self.options.jobs()),
            _ => self.jobs.len() as u32,
        }
    }

    fn sides(&self) -> impl Iterator<Item = &(Op, Side)> {
        self.jobs.iter().flat_map(|job| &job.sides)
    }

    /// What its I/Os are; what the options do not tell follows from what was done.
    fn stream(&self) -> Stream {
        let told = self.options.given && !self.options.of_one_section;
        let Shape { mix, pattern } = self.options.shape();
        let (mix, pattern) = if told { (mix, pattern) } else { (None, Pattern::Sequential) };
        let (size, shares) = self.options.sizes().unwrap_or_else(|| self.done_sizes());
        Stream {
            block_mix: shares,
            // 0: not known.
            queue_depth: self.options.depth().unwrap_or(0),
            jobs: self.job_count(),
            sync: self.options.sync(),
            ..Stream::new(mix.unwrap_or_else(|| self.done_mix()), pattern, size)
        }
    }

    /// Sizes of what was done: the mean, or of each kind of I/O its own, where they differ and are whole sectors.
    fn done_sizes(&self) -> (Bytes, Vec<BlockShare>) {
        let mix = self.done_mix();
        let of = |op: Op| {
            let of = || self.sides().filter(move |(own, _)| *own == op).map(|(_, side)| side);
            let (ios, bytes) = (sum(of().map(|side| side.ios)), sum(of().map(|side| side.bytes)));
            let size = Bytes(bytes.checked_div(ios).unwrap_or(0));
            let whole = size.0 > 0 && size.0.is_multiple_of(SECTOR) && size.0.checked_mul(ios) == Some(bytes);
            (whole, BlockShare { size, percent: mix.share(op) })
        };
        let kinds: Vec<(bool, BlockShare)> = Op::IO.map(of).into_iter().filter(|(_, own)| own.percent > 0).collect();
        let largest = kinds.iter().map(|(_, own)| own.size).max().unwrap_or(Bytes(0));
        let differ = kinds.iter().any(|(_, own)| own.size != largest);
        if !differ || kinds.iter().any(|(whole, _)| !whole) {
            return (largest, Vec::new());
        }
        let mut shares: Vec<BlockShare> = Vec::new();
        for (_, own) in kinds {
            match shares.iter_mut().find(|known| known.size == own.size) {
                Some(known) => known.percent += own.percent,
                None => shares.push(own),
            }
        }
        shares.sort_by_key(|share| share.size);
        (largest, shares)
    }

    /// Shares of what was done, in whole percent.
    fn done_mix(&self) -> Mix {
        let ios = |op: Op| sum(self.sides().filter(|(own, _)| *own == op).map(|(_, side)| side.ios));
        let all = sum(Op::IO.iter().map(|op| ios(*op))).max(1);
        let share = |op: Op| (ios(op) as f64 / all as f64 * 100.0).round() as u8;
        let (write, discard) = (share(Op::Write), share(Op::Discard));
        Mix { read: 100u8.saturating_sub(write).saturating_sub(discard), write, discard, write_zeroes: 0 }
    }
}

/// What the jobs were asked for.
pub fn asked(group: &Group<'_>) -> Trial {
    let starts = group.sections.iter().map(|section| section.options.range().0).min().unwrap_or(Bytes(0));
    let length = |section: &Section<'_>| {
        // Jobs that name a file share it; others have one each.
        let each = if section.options.all.contains_key("filename") { 1 } else { u64::from(section.job_count()) };
        section.options.range().1.0.saturating_mul(each)
    };
    let region = Region { start: starts, len: Bytes(group.sections.iter().map(length).fold(0, u64::saturating_add)) };
    Trial {
        ramp: group.sections.iter().map(|section| section.options.ramp()).max().unwrap_or_default(),
        direct: group.sections.iter().all(|section| section.options.direct()),
        pages: group.sections.first().map(|section| section.options.pages()).unwrap_or_default(),
        engine: Engine::Fio,
        ..Trial::new(group.sections.iter().map(Section::stream).collect(), group.runtime(), region)
    }
}

/// What was asked for and what came of it; times count from the start of the trial.
pub fn outcome(group: &Group<'_>, place: &Origin<'_>) -> (Trial, TrialOutcome) {
    let asked = asked(group);
    let (mut jobs, mut ops, mut errors, mut short) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (stream, section) in (0u16..).zip(&group.sections) {
        for (index, job) in (0u32..).zip(&section.jobs) {
            jobs.push(totals(job, stream, index));
            ops.extend(job.sides.iter().map(|(op, side)| told(job, *op, side, (stream, index))));
            let op = job.sides.first().map_or(Op::Read, |(op, _)| *op);
            let class = |errno, count| IoErrors { stream, op, errno, count, first_offset: None };
            if job.error != 0 || job.failed > 0 {
                errors.push(class(job.error, job.failed.max(1)));
            }
            short.extend(job.sides.iter().filter(|(_, side)| side.short > 0).map(|(_, side)| class(0, side.short)));
        }
    }
    // One whose errors were let pass ran to its end.
    let ended = group.each().any(|job| job.error != 0 && job.failed == 0);
    errors.extend(short);
    let known = |of: fn(&Options) -> bool| group.sections.iter().all(|section| of(section.options));
    let start = asked.ramp;
    let outcome = TrialOutcome {
        status: if ended { TrialStatus::Failed } else { TrialStatus::Complete },
        // Nothing is known of the ramp, so the load begins with the window.
        engine: engine(group, place, asked.direct),
        jobs,
        errors,
        tool_output: Some(ToolOutput {
            file: place.file,
            line: place.line,
            paced: group.sections.iter().any(|section| section.options.paced()),
            depth_known: known(|options| options.depth().is_some()),
            sizes_known: known(|options| options.sizes().is_some()),
            ops,
        }),
        ..TrialOutcome::empty(start, (start, start + asked.window))
    };
    (asked, outcome)
}

fn engine(group: &Group<'_>, place: &Origin<'_>, direct: bool) -> EngineFacts {
    let mut names: Vec<&str> = group.sections.iter().map(|section| section.options.engine()).collect();
    names.dedup();
    let mut job_file = String::new();
    // Empty where options are not told: then it is not known either whether the page cache was used.
    for section in group.sections.iter().filter(|section| section.options.given) {
        job_file += &format!("[{}]\n", section.name);
        for (name, value) in &section.options.all {
            job_file += &if value.is_empty() { format!("{name}\n") } else { format!("{name}={value}\n") };
        }
    }
    let version = if place.version.is_empty() { "fio".to_string() } else { place.version.to_string() };
    EngineFacts {
        backend: names.join(", "),
        direct,
        external: Some(External { version, job_file, start_uncertainty_ns: 0 }),
        ..EngineFacts::default()
    }
}

fn totals(job: &Job, stream: u16, index: u32) -> JobTotals {
    let (mut done, mut latency) = ([(0, 0); OPS], Op::ALL.map(|_| Sparse::default()));
    for (op, side) in &job.sides {
        done[op.index()] = (side.ios, side.bytes);
        latency[op.index()] = stored(side);
    }
    JobTotals { done, latency, cpu_ns: job.cpu_ns, ..JobTotals::empty(stream, index) }
}

/// The histogram, if there is one; else nothing but sum and extremes.
fn stored(side: &Side) -> Sparse {
    let latency = &side.latency;
    let exact = Exact { min_ns: latency.min_ns, max_ns: latency.max_ns, mean_ns: latency.mean_ns };
    match latency.bins.is_empty() {
        false => bins::sparse_in(&latency.bins, Some(exact), latency.unit_ns),
        true => Sparse {
            buckets: Buckets::default(),
            sum_ns: latency.sum_ns(),
            min_ns: latency.min_ns,
            max_ns: latency.max_ns,
        },
    }
}

fn told(job: &Job, op: Op, side: &Side, (stream, index): (u16, u32)) -> ToolOp {
    let latency = &side.latency;
    let mut numbers = side.numbers.clone();
    // Those of the job stand with its first kind of I/O.
    if job.sides.first().is_some_and(|(first, _)| *first == op) {
        numbers.extend(job.numbers.iter().cloned());
    }
    ToolOp {
        stream,
        job: index,
        op,
        latency: latency.name.to_string(),
        count: latency.count,
        sum_ns: latency.sum_ns(),
        min_ns: latency.min_ns,
        max_ns: latency.max_ns,
        occupied_ns: side.occupied_ns,
        mergeable: !latency.bins.is_empty(),
        percentiles: latency.percentiles.clone(),
        numbers,
    }
}
