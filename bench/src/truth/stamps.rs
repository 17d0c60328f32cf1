//! How late a completion is stamped: from when the block layer is done with a request, as a trace point of the kernel tells, to the time
//! that Stend gives it. Needs tracefs.

use crate::loop_device::LoopDevice;
use crate::stend::{self, End, Stend};
use crate::{Outcome, Settings, say};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use stend_base::{Bytes, Histogram, Nanos, Share};
use stend_spec::workload::{Backend, Mix, Op, Pattern, Region, Stream, Trial};

/// Range of the device.
const RANGE: Bytes = Bytes::mib(512);
/// Window of each trial.
const WINDOW: Nanos = Nanos::SECOND;
/// The log of a trial: more than a loop device does in the window.
const LOG: Bytes = Bytes::gib(1);
/// Depths.
pub const DEPTHS: [u32; 5] = [1, 32, 128, 512, 4096];
const TRACING: &str = "/sys/kernel/tracing";
/// Memory of the trace for each CPU, KiB.
const BUFFER: &str = "131072";

/// One depth.
#[derive(Debug)]
pub struct Row {
    /// I/Os in flight.
    pub depth: u32,
    /// I/Os whose end both have told, and all of the window.
    pub found: (u64, u64),
    /// Median latency, ns.
    pub latency: f64,
    /// How late they were stamped; µs are what the trace resolves.
    pub late: Histogram,
    /// How late they were at most on the mean, as Stend tells it, ns.
    pub told: f64,
}

impl Row {
    /// How late they were on the mean, ns.
    pub fn mean(&self) -> f64 {
        self.late.sum_ns() as f64 / self.late.count().max(1) as f64
    }

    /// Whether Stend tells no less, but for one wake-up, which the first depth shows.
    pub fn is_bounded(&self, wake_up: f64) -> bool {
        self.mean() <= self.told + wake_up
    }
}

/// Ends of requests by their first byte, in order, ns.
type Ends = HashMap<u64, Vec<u64>>;

/// Random reads of a loop device over memory, as deep as each of [`DEPTHS`].
pub fn measure(settings: &Settings) -> Outcome<Vec<Row>> {
    let device = LoopDevice::make(RANGE, true)?;
    let trace = Trace::of(device.path())?;
    let mut stend = Stend::on_device(settings, device.path(), RANGE)?;
    let mut rows = Vec::new();
    for depth in DEPTHS {
        say(&format!("stamps, depth {depth}"));
        trace.run(true)?;
        let (outcome, ends) = stend.trial_with_log(trial(depth))?;
        trace.run(false)?;
        stend::whole(&outcome)?;
        let mut all = Histogram::new();
        outcome.jobs.iter().flat_map(|job| &job.latency).for_each(|of| all.merge_sparse(of));
        let latency = all.quantile(Share(0.5)).map_or(0.0, |median| median.0 as f64);
        let (late, found) = lateness(&trace.ends()?, &ends);
        let done = outcome.jobs.iter().filter_map(|job| job.submissions);
        let (late_ns, ios) = done.fold((0, 0), |(late, ios), done| (late + done.late_ns, ios + done.ios));
        let told = late_ns as f64 / ios.max(1) as f64;
        rows.push(Row { depth, found: (found, ends.len() as u64), latency, late, told });
    }
    stend.end()?;
    Ok(rows)
}

fn trial(depth: u32) -> Trial {
    let stream = Stream { queue_depth: depth, ..Stream::new(Mix::only(Op::Read), Pattern::Random, Bytes::kib(4)) };
    let region = Region { start: Bytes(0), len: RANGE };
    Trial { backend: Backend::IoUring, io_log: Some(LOG), ..Trial::new(vec![stream], WINDOW, region) }
}

/// How much later each was stamped than the last request of its place ended before that; how many had one.
fn lateness(requests: &Ends, ends: &[End]) -> (Histogram, u64) {
    let (mut late, mut found) = (Histogram::new(), 0);
    for end in ends {
        let Some(times) = requests.get(&end.offset) else { continue };
        if let Some(ended) = times.partition_point(|&time| time <= end.at.0).checked_sub(1) {
            late.record(Nanos(end.at.0 - times[ended]));
            found += 1;
        }
    }
    (late, found)
}

/// A trace of our own beside whatever else is traced; gone when it is dropped.
struct Trace(PathBuf);

impl Trace {
    /// Ends of the requests of a device.
    fn of(device: &Path) -> Outcome<Trace> {
        let instances = Path::new(TRACING).join("instances");
        let made = instances.join(format!("stend-bench-{}", std::process::id()));
        let hint = format!("mount -t tracefs nodev {TRACING}");
        fs::create_dir(&made).map_err(|e| format!("cannot trace in `{}`: {e} (`{hint}`?)", made.display()))?;
        let trace = Trace(made);
        let name = device.file_name().unwrap_or_default().to_string_lossy();
        let numbers = format!("/sys/block/{name}/dev");
        let text = fs::read_to_string(&numbers).map_err(|e| format!("cannot read `{numbers}`: {e}"))?;
        let number = text.trim().split_once(':').and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
        let (major, minor) = number.ok_or_else(|| format!("cannot understand `{numbers}`"))?;
        trace.set("tracing_on", "0")?;
        // The clock of the stamps.
        trace.set("trace_clock", "mono")?;
        trace.set("buffer_size_kb", BUFFER)?;
        //= linux, include/linux/kdev_t.h: MINORBITS
        trace.set("events/block/block_rq_complete/filter", &format!("dev == {}", major << 20 | minor))?;
        trace.set("events/block/block_rq_complete/enable", "1")?;
        Ok(trace)
    }

    /// Begins anew, or ends.
    fn run(&self, on: bool) -> Outcome<()> {
        if on {
            self.set("trace", "")?;
        }
        self.set("tracing_on", if on { "1" } else { "0" })
    }

    fn set(&self, key: &str, value: &str) -> Outcome<()> {
        let path = self.0.join(key);
        fs::write(&path, value).map_err(|e| format!("cannot write `{value}` to `{}`: {e}", path.display()))
    }

    fn ends(&self) -> Outcome<Ends> {
        let path = self.0.join("trace");
        let text = fs::read_to_string(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?;
        let mut ends = Ends::new();
        for (sector, time) in text.lines().filter_map(request) {
            ends.entry(sector * 512).or_default().push(time);
        }
        ends.values_mut().for_each(|times| times.sort_unstable());
        Ok(ends)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        drop(fs::remove_dir(&self.0));
    }
}

/// First sector and time, ns, of a request that ended.
//= linux, include/trace/events/block.h: block_rq_completion prints `MAJOR,MINOR KIND (COMMAND) SECTOR + SECTORS …`
fn request(line: &str) -> Option<(u64, u64)> {
    let (before, told) = line.split_once(": block_rq_complete: ")?;
    let (seconds, micros) = before.rsplit(' ').next()?.split_once('.')?;
    let sector = told.split_once(") ")?.1.split(' ').next()?;
    Some((number(sector)?, (number(seconds)? * 1_000_000 + number(micros)?) * 1000))
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        "   kworker/u9:2-311     [001] ..s1.  4711.000042: block_rq_complete: 7,0 R () 80 + 8 none,0,0 [0]";

    #[test]
    fn a_request_is_read_with_its_time_and_place() {
        assert_eq!(request(LINE), Some((80, 4_711_000_042_000)));
        for other in ["# tracer: nop", "", &LINE.replace("complete", "issue"), &LINE.replace("80", "x")] {
            assert_eq!(request(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_told_bounds_what_was_traced_but_for_one_wake_up() {
        let mut late = Histogram::new();
        for ns in [4000, 6000] {
            late.record(Nanos(ns));
        }
        let row = |told| Row { depth: 32, found: (2, 2), latency: 1e5, late: late.clone(), told };
        assert_eq!([0.0, 900.0, 1000.0].map(|told| row(told).is_bounded(4000.0)), [false, false, true]);
    }

    #[test]
    fn a_stamp_that_is_delayed_is_found_to_be_late() {
        let requests = Ends::from([(4096, vec![1000, 9000]), (8192, vec![5000])]);
        let end = |at, offset| End { at: Nanos(at), offset };
        // On time, 700 ns late after the second request of its place, before any request, and of a place without one.
        let (late, found) = lateness(&requests, &[end(1000, 4096), end(9700, 4096), end(4000, 8192), end(1, 0)]);
        assert_eq!((found, late.count(), late.min(), late.max()), (2, 2, Some(Nanos(0)), Some(Nanos(700))));
    }
}
