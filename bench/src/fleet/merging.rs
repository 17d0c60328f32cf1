//! Can one core take in what a thousand load hosts send? Frames as workers send them are read and merged on one thread, as a coordinator
//! reads and merges them; processor time, because a busy machine stretches the clock, and the largest memory. No network takes part, and no
//! run file is written.

use super::reached;
use crate::{Outcome, Settings, cpu, say};
use std::time::Duration;
use stend_base::histogram::{Histogram, Sparse};
use stend_base::random::{Random, draw};
use stend_base::{Bytes, Nanos};
use stend_record::{JobTotals, Slice, TrialOutcome, together};
use stend_spec::workload::Op;
use stend_wire::Reply;
use stend_wire::protocol::{frame, read_frame};

/// Load hosts.
const HOSTS: u64 = 1000;
/// Jobs of each, with slices and a histogram of their own.
const JOBS: u16 = 8;
/// I/Os that a job completes in a second: as many as fill the buckets of several octaves.
const IOPS: u64 = 20_000;
/// Slices of a job in a second.
const SLICES: u32 = 10;
/// Seconds of load of a round, and ends of trials: the kernel counts processor time in hundredths of a second.
const REPEATS: u32 = 20;
/// Rounds; the middle one counts.
const ROUNDS: usize = 5;
/// Latencies of different shape, drawn once: hosts are not alike.
const SHAPES: u64 = 64;
/// Most memory.
const MEMORY_MAX: Bytes = Bytes::gib(2);
/// A second of load takes at most so long, or the coordinator falls behind.
const SECOND_MAX: Duration = Duration::from_secs(1);
/// All outcomes of a trial are one within this, before the next trial is asked for (by eye).
const TRIAL_MAX: Duration = Duration::from_secs(5);

/// What was measured.
struct Measured {
    /// Processor time of a second of load.
    second: Duration,
    /// That of the end of a trial.
    trial: Duration,
    /// Bytes that arrive in a second of load, and at the end of a trial.
    arriving: (Bytes, Bytes),
    /// Buckets that a histogram uses.
    buckets: usize,
    /// Largest resident memory.
    memory: Bytes,
}

/// Reads and merges. First of all parts: its memory is the most that this program ever had.
pub fn measure(_: &Settings) -> Outcome<String> {
    say(&format!("making what {HOSTS} hosts send"));
    let shapes: Vec<Sparse> = (0..SHAPES).map(shape).collect();
    let frames = HOSTS_ALL.map(|host| encoded(&second_of(host, &shapes))).collect::<Outcome<Vec<_>>>()?;
    let ends = HOSTS_ALL.map(|host| encoded(&end_of(host, &shapes))).collect::<Outcome<Vec<_>>>()?;
    let size = |frames: &[Vec<u8>]| Bytes(frames.iter().map(|frame| frame.len() as u64).sum());
    say("reading and merging");
    let mut seconds = Vec::new();
    let mut trials = Vec::new();
    for _ in 0..ROUNDS {
        let ios = u64::from(REPEATS) * HOSTS * u64::from(JOBS) * IOPS;
        let (found, took) = timed(|| (0..REPEATS).map(|_| merged(&frames)).collect::<Outcome<Vec<_>>>())?;
        must_be(found?.iter().flatten().map(Histogram::count).sum(), ios)?;
        seconds.push(took / REPEATS);
        let count = |outcome: TrialOutcome| outcome.jobs.iter().map(|job| job.latency[Op::Read.index()].count()).sum();
        let (found, took) = timed(|| (0..REPEATS).map(|_| joined(&ends).map(count)).collect::<Outcome<Vec<u64>>>())?;
        must_be(found?.iter().sum(), ios)?;
        trials.push(took / REPEATS);
    }
    let middle = |mut took: Vec<Duration>| {
        took.sort();
        took[ROUNDS / 2]
    };
    let found = Measured {
        second: middle(seconds),
        trial: middle(trials),
        arriving: (size(&frames), size(&ends)),
        buckets: shapes[0].dense().buckets().count(),
        memory: Bytes::mib(crate::analysis::peak(std::process::id())),
    };
    Ok(text(&found))
}

const HOSTS_ALL: std::ops::Range<u64> = 0..HOSTS;

/// Latencies of a second of a job around 100 µs, over several octaves.
fn shape(seed: u64) -> Sparse {
    let mut random = Random::new(draw(seed, 1));
    let mut histogram = Histogram::new();
    for _ in 0..IOPS {
        // The sum of eight is close to a bell; its exponent makes the tail.
        let bell = (0..8).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 4.0;
        histogram.record(Nanos((100_000.0 * 2f64.powf(bell * 1.5)) as u64));
    }
    histogram.sparse()
}

fn shape_of(host: u64, job: u16, shapes: &[Sparse]) -> Sparse {
    shapes[(draw(host, u64::from(job)) % SHAPES) as usize].clone()
}

/// What a host sends in a second of load.
fn second_of(host: u64, shapes: &[Sparse]) -> Reply {
    let slice = |job: u16, interval: u32| Slice {
        interval,
        span: 1,
        stream: job,
        op: Op::Read,
        ops: IOPS / u64::from(SLICES),
        bytes: IOPS / u64::from(SLICES) * 4096,
        errors: 0,
        latency_max_ns: 800_000,
        latency: (interval + 1 == SLICES).then(|| shape_of(host, job, shapes)),
        open: None,
    };
    let slices = (0..SLICES).flat_map(|interval| (0..JOBS).map(move |job| slice(job, interval))).collect();
    Reply::Slices { ordinal: 0, slices }
}

/// What it sends when the trial ends.
fn end_of(host: u64, shapes: &[Sparse]) -> Reply {
    let job = |job: u16| {
        let mut totals = JobTotals::empty(job, 0);
        totals.done[Op::Read.index()] = (IOPS, IOPS * 4096);
        totals.latency[Op::Read.index()] = shape_of(host, job, shapes);
        totals
    };
    let window = (Nanos(host), Nanos::secs(60));
    let outcome = TrialOutcome { jobs: (0..JOBS).map(job).collect(), ..TrialOutcome::empty(Nanos(host), window) };
    Reply::TrialDone { ordinal: 0, outcome: Box::new(outcome) }
}

fn encoded(reply: &Reply) -> Outcome<Vec<u8>> {
    frame(reply).map_err(|e| format!("cannot encode a frame: {e}"))
}

fn read(frame: &[u8]) -> Outcome<Reply> {
    let found = read_frame(&mut &*frame).map_err(|e| format!("cannot read a frame: {e}"))?;
    found.ok_or_else(|| "a frame is empty".to_string())
}

/// A second of load of all hosts: the latencies of each job number, merged.
fn merged(frames: &[Vec<u8>]) -> Outcome<Vec<Histogram>> {
    let mut all = vec![Histogram::new(); usize::from(JOBS)];
    for frame in frames {
        let Reply::Slices { slices, .. } = read(frame)? else { return Err("another reply".to_string()) };
        for slice in &slices {
            if let Some(latency) = &slice.latency {
                all[usize::from(slice.stream)].merge_sparse(latency);
            }
        }
    }
    Ok(all)
}

/// The outcome of a trial on all hosts.
fn joined(frames: &[Vec<u8>]) -> Outcome<TrialOutcome> {
    let outcome = |frame: &Vec<u8>| match read(frame)? {
        Reply::TrialDone { outcome, .. } => Ok(*outcome),
        _ => Err("another reply".to_string()),
    };
    let all = frames.iter().map(outcome).collect::<Outcome<Vec<TrialOutcome>>>()?;
    together(&all.iter().collect::<Vec<_>>()).ok_or_else(|| "no host".to_string())
}

/// What this does, and the processor time that it takes.
fn timed<T>(work: impl FnOnce() -> T) -> Outcome<(T, Duration)> {
    let pid = std::process::id();
    let before = cpu::of_process(pid)?;
    let done = work();
    Ok((done, cpu::of_process(pid)?.saturating_sub(before)))
}

fn must_be(found: u64, wanted: u64) -> Outcome<()> {
    if found == wanted { Ok(()) } else { Err(format!("{found} I/Os were merged of {wanted}")) }
}

fn text(found: &Measured) -> String {
    let mib = |bytes: Bytes| bytes.0 as f64 / f64::from(1 << 20);
    let mut text = format!(
        "{HOSTS} simulated hosts send frames as workers do: {JOBS} jobs each, every job a stream of its own. In a second each job has {SLICES} slices\n\
         and a histogram of all its I/Os with {} buckets in use; at the end of a trial it has another one. One thread reads the frames and\n\
         merges them bucket by bucket, and every I/O must be there. Times are of the processor, the middle of {ROUNDS} rounds. The network, `ssh`\n\
         and the run file take no part.\n\n\
         | what | arriving, MiB | CPU time, ms | goal, ms | reached |\n|---|---|---|---|---|\n",
        found.buckets
    );
    let rows = [
        ("a second of load, read and merged", found.arriving.0, found.second, SECOND_MAX),
        ("the end of a trial, read and made one outcome", found.arriving.1, found.trial, TRIAL_MAX),
    ];
    for (what, arriving, took, most) in rows {
        let (took_ms, most_ms) = (took.as_secs_f64() * 1e3, most.as_millis());
        text +=
            &format!("| {what} | {:.1} | {took_ms:.1} | ≤ {most_ms} | {} |\n", mib(arriving), reached(took <= most));
    }
    text += &format!(
        "\nLargest memory, what is sent included: {:.0} MiB; goal: below {:.0} MiB {}\n\n",
        mib(found.memory),
        mib(MEMORY_MAX),
        reached(found.memory < MEMORY_MAX)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hosts_send_arrives_whole_and_every_io_is_merged() {
        let shapes: Vec<Sparse> = (0..SHAPES).map(shape).collect();
        let of = |reply: fn(u64, &[Sparse]) -> Reply| -> Vec<Vec<u8>> {
            (0..3).map(|host| encoded(&reply(host, &shapes)).unwrap()).collect()
        };
        let all: Vec<u64> = merged(&of(second_of)).unwrap().iter().map(Histogram::count).collect();
        assert_eq!(all, vec![3 * IOPS; usize::from(JOBS)]);
        let outcome = joined(&of(end_of)).unwrap();
        assert_eq!(outcome.jobs.len(), 3 * usize::from(JOBS));
        assert!(outcome.jobs.iter().all(|job| job.latency[Op::Read.index()].count() == IOPS));
        assert!(must_be(1, 2).is_err());
    }

    #[test]
    fn a_histogram_is_a_full_one() {
        let used = shape(3).dense().buckets().count();
        assert!(used > 400, "{used} buckets");
    }
}
