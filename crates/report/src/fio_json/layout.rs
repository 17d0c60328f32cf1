//! The document itself, key by key.
//!
//! Source: fio 3.33, stat.c (`show_thread_status_json`, `add_ddir_status_json`, `plat_idx_to_val`).

use super::options;
use serde::ser::{Serialize, SerializeMap, Serializer};
use stend_analyse::as_fio::{GroupAsFio, JobAsFio, LatencyAsFio, Marks, Samples, SideAsFio};
use stend_base::{Nanos, Say};
use stend_record::RunRecord;
use stend_record::fio_bins::{self, Bins};
use stend_spec::workload::Op;

/// Pairs in their own order: percentiles and buckets ascend as numbers, which is not the order of their names.
struct Ordered<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// One document, as one process of fio prints it.
#[derive(serde::Serialize)]
pub(super) struct Document {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: u64,
    timestamp_ms: u64,
    stend: Origin,
    jobs: Vec<Job>,
}

/// What no fio prints: where the numbers are from, and what of them is not as fio would have it.
#[derive(serde::Serialize)]
struct Origin {
    run: String,
    notes: Vec<Say>,
}

#[derive(serde::Serialize)]
struct Job {
    jobname: String,
    groupid: usize,
    job_start: u64,
    error: i32,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: Ordered<String>,
    // These three are always there: readers ask for them.
    read: Side,
    write: Side,
    trim: Side,
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<Side>,
    job_runtime: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    usr_cpu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sys_cpu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_err: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ns: Option<Ordered<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_us: Option<Ordered<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<Ordered<f64>>,
}

/// One kind of I/O; of one that did not occur there are zeros and no latency.
#[derive(Default, serde::Serialize)]
struct Side {
    #[serde(flatten)]
    rates: Option<Rates>,
    total_ios: u64,
    #[serde(flatten)]
    iops_samples: Option<IopsSamples>,
    #[serde(flatten)]
    bw_samples: Option<BwSamples>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clat_ns: Option<Latency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_ns: Option<Latency>,
}

/// What fio tells of everything but syncs. `bw` is in KiB per second.
#[derive(Default, serde::Serialize)]
struct Rates {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
}

#[derive(serde::Serialize)]
struct IopsSamples {
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

#[derive(serde::Serialize)]
struct BwSamples {
    bw_min: u64,
    bw_max: u64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
}

#[derive(serde::Serialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stddev: Option<f64>,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Ordered<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Ordered<u64>>,
}

impl Document {
    /// Groups of jobs as one document.
    pub(super) fn new(run: &RunRecord, groups: &[GroupAsFio], notes: Vec<Say>) -> Document {
        let ended_ms = groups.iter().map(|group| group.ended_unix_ms).max().unwrap_or(0);
        let jobs = groups.iter().enumerate().flat_map(|(number, group)| {
            let several = group.jobs.len() > 1;
            group.jobs.iter().map(move |job| {
                let stream = u32::from(job.stream) + 1;
                let name = if several { format!("{} stream {stream}", group.label) } else { group.label.clone() };
                self::job(run, group, job, name, number)
            })
        });
        Document {
            version: format!("stend-{}", run.header.stend_version),
            timestamp: ended_ms / 1000,
            timestamp_ms: ended_ms,
            stend: Origin { run: run.header.id.clone(), notes },
            jobs: jobs.collect(),
        }
    }
}

fn job(run: &RunRecord, group: &GroupAsFio, job: &JobAsFio, jobname: String, groupid: usize) -> Job {
    let side = |op: Op| job.sides.iter().find(|side| side.op == op).map(|side| self::side(side, group.runtime));
    let always = |op| side(op).unwrap_or_else(|| Side { rates: Some(Rates::default()), ..Side::default() });
    let percent =
        |classes: &[(String, f64)]| Ordered(classes.iter().map(|(end, share)| (end.clone(), share * 100.0)).collect());
    let marks = |of: fn(&Marks) -> &Vec<(String, f64)>| job.marks.as_ref().map(|marks| percent(of(marks)));
    // With `group_reporting` fio adds up the run times of all jobs: 100 % is one CPU for each of them.
    let jobs = group.asked.streams.get(usize::from(job.stream)).map_or(1, |stream| stream.jobs.max(1));
    let runtime = Nanos(group.runtime.0.saturating_mul(jobs.into()));
    let cpu = job.cpu_ns.filter(|_| runtime > Nanos(0)).map(|cpu| cpu as f64 / runtime.0 as f64 * 100.0);
    Job {
        jobname,
        groupid,
        job_start: group.began_unix_ms,
        error: 0,
        elapsed: group.runtime.0.div_ceil(1_000_000_000),
        options: Ordered(options::options(run, group, job.stream)),
        read: always(Op::Read),
        write: always(Op::Write),
        trim: always(Op::Discard),
        sync: side(Op::Sync),
        job_runtime: millis(runtime),
        usr_cpu: cpu,
        sys_cpu: cpu.map(|_| 0.0),
        total_err: (job.failed > 0).then_some(job.failed),
        latency_ns: marks(|marks| &marks.ns),
        latency_us: marks(|marks| &marks.us),
        latency_ms: marks(|marks| &marks.ms),
    }
}

fn side(side: &SideAsFio, runtime: Nanos) -> Side {
    let rates = Rates {
        io_bytes: side.bytes,
        io_kbytes: side.bytes / 1024,
        bw_bytes: side.throughput as u64,
        bw: (side.throughput / 1024.0) as u64,
        iops: side.iops,
        runtime: millis(runtime),
    };
    let io = side.op != Op::Sync;
    let latency = |kind| side.latency.as_ref().filter(|latency| latency.kind == kind).map(latency);
    Side {
        rates: io.then_some(rates),
        total_ios: side.ios,
        iops_samples: side.iops_samples.filter(|_| io).map(iops_samples),
        bw_samples: side.throughput_samples.filter(|_| io).map(bw_samples),
        clat_ns: latency("clat"),
        lat_ns: latency("lat"),
    }
}

fn iops_samples(samples: Samples) -> IopsSamples {
    let Samples { count, least, most, mean, deviation } = samples;
    IopsSamples {
        iops_min: least as u64,
        iops_max: most as u64,
        iops_mean: mean,
        iops_stddev: deviation,
        iops_samples: count,
    }
}

fn bw_samples(samples: Samples) -> BwSamples {
    let Samples { count, least, most, mean, deviation } = samples;
    BwSamples {
        bw_min: (least / 1024.0) as u64,
        bw_max: (most / 1024.0) as u64,
        bw_mean: mean / 1024.0,
        bw_dev: deviation / 1024.0,
        bw_samples: count,
    }
}

fn latency(latency: &LatencyAsFio) -> Latency {
    let percentile = || latency.percentiles.iter().map(|(share, at)| (format!("{:.6}", share.0 * 100.0), at.0));
    Latency {
        min: latency.least_ns,
        max: latency.most_ns,
        mean: latency.mean_ns,
        stddev: latency.deviation_ns,
        count: latency.count,
        percentile: (!latency.percentiles.is_empty()).then(|| Ordered(percentile().collect())),
        bins: (!latency.bins.is_empty()).then(|| bins(&latency.bins)),
    }
}

/// A bucket is named by its middle.
fn bins(bins: &Bins) -> Ordered<u64> {
    let middle = |bin: u32| {
        let (lower, upper) = fio_bins::edges(bin);
        lower + (upper - lower).div_ceil(2)
    };
    Ordered(bins.iter().map(|(bin, count)| (middle(*bin).to_string(), *count)).collect())
}

/// Milliseconds, fio's unit of time.
fn millis(time: Nanos) -> u64 {
    time.0.saturating_add(500_000) / 1_000_000
}
