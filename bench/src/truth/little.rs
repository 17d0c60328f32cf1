//! Little's law: mean latency times rate is what is in flight. It must be the depth that was asked for. The block layer counts for
//! itself, and less: only what is in its queue. It must not have seen more, or Stend's latencies leave something out.

use crate::loop_device::LoopDevice;
use crate::stend::{self, Stend};
use crate::{Outcome, Settings, say};
use std::path::Path;
use stend_base::{Bytes, Nanos};
use stend_spec::workload::{Backend, Mix, Op, Pattern, Region, Stream, Trial};

/// Range of the device.
const RANGE: Bytes = Bytes::mib(512);
/// Window of each trial.
const WINDOW: Nanos = Nanos::secs(4);
/// Time in the queue times requests, ms: the 11th number of /sys/block/NAME/stat (Linux, Documentation/block/stat.rst).
const WEIGHTED: usize = 10;

/// One depth.
pub struct Row {
    /// Asked for.
    pub depth: u32,
    /// Mean latency times rate.
    pub by_latency: f64,
    /// Mean number that waited for those before them to be submitted.
    pub waiting: f64,
    /// Mean in flight as the block layer counts: from when it has a request to when the device is done with it.
    pub by_device: f64,
}

/// Random reads of a loop device over memory, which has one queue and nothing below it that could hold requests.
pub fn measure(settings: &Settings) -> Outcome<Vec<Row>> {
    let device = LoopDevice::make(RANGE, true)?;
    let mut stend = Stend::on_device(settings, device.path(), RANGE)?;
    let mut rows = Vec::new();
    for depth in [1, 8, 32, 128] {
        say(&format!("in flight, depth {depth}"));
        let before = weighted(device.path())?;
        let (outcome, _) = stend.trial(trial(depth))?;
        let after = weighted(device.path())?;
        stend::whole(&outcome)?;
        let window = outcome.window_end.saturating_sub(outcome.window_start).as_secs();
        let latencies = outcome.jobs.iter().flat_map(|job| &job.latency);
        let total: u128 = latencies.map(|latency| latency.sum_ns).sum();
        let waited: u64 = outcome.jobs.iter().filter_map(|job| job.submissions).map(|done| done.waited_ns).sum();
        // The counter ran from order to answer, but load only in the window: there is no ramp, and the drain is of a few I/Os.
        let by_device = after.saturating_sub(before) as f64 / 1e3 / window;
        rows.push(Row {
            depth,
            by_latency: total as f64 / 1e9 / window,
            waiting: waited as f64 / 1e9 / window,
            by_device,
        });
    }
    stend.end()?;
    Ok(rows)
}

fn weighted(device: &Path) -> Outcome<u64> {
    let name = device.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let path = format!("/sys/block/{name}/stat");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    let number = text.split_whitespace().nth(WEIGHTED).and_then(|number| number.parse().ok());
    number.ok_or_else(|| format!("cannot understand `{path}`"))
}

fn trial(depth: u32) -> Trial {
    let stream = Stream { queue_depth: depth, ..Stream::new(Mix::only(Op::Read), Pattern::Random, Bytes::kib(4)) };
    let region = Region { start: Bytes(0), len: RANGE };
    Trial { backend: Backend::IoUring, ..Trial::new(vec![stream], WINDOW, region) }
}
