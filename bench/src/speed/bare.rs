//! A bare ring as a contender: the same I/O with nothing measured, the floor below which nobody comes. Must not look at a
//! clock per I/O, count latencies, or draw anything but offsets.

use super::Extent;
use super::experiment::{BLOCK, Experiment, Place, RANGE};
use super::measured::Measured;
use crate::{Outcome, cpu};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stend_base::Nanos;
use stend_base::random::{below, mix};
use stend_sys::buffer::Pages;
use stend_sys::claim::Claim;
use stend_sys::file::IoFile;
use stend_sys::queue::{Queue, Request, Slots};
use stend_sys::uring::{Polling, Ring};

/// The clock is read once for so many calls.
const CALLS: usize = 64;
/// Longer than any I/O here takes.
const PATIENCE: Nanos = Nanos::SECOND;

/// Loads `target` for a window as the experiment does, one thread, and counts; I/Os that begin at the same time are submitted
/// `together`, or each by itself.
pub fn run(experiment: &Experiment, target: &Path, extent: Extent, seed: u64, together: bool) -> Outcome<Measured> {
    let file = Arc::new(open(experiment, target)?);
    let measure =
        move || load(experiment, file, extent.window, seed, together).map_err(|e| format!("a bare ring: {e}"));
    std::thread::scope(|scope| scope.spawn(measure).join()).map_err(|_| "a bare ring panicked".to_string())?
}

fn open(experiment: &Experiment, target: &Path) -> Outcome<IoFile> {
    if experiment.place == Place::DevNull {
        let claim = Claim::null_device(target).map_err(|e| format!("`{}`: {e:?}", target.display()))?;
        return claim.open_write(false).map_err(|e| format!("`{}`: {e:?}", target.display()));
    }
    IoFile::open_read(target, experiment.direct()).map_err(|e| format!("`{}`: {e}", target.display()))
}

fn load(
    experiment: &Experiment,
    file: Arc<IoFile>,
    window: Duration,
    seed: u64,
    together: bool,
) -> std::io::Result<Measured> {
    let (depth, batch, len) = (experiment.load.depth, experiment.load.batch.size, BLOCK.0 as usize);
    let request = if experiment.load.writes { Request::Write } else { Request::Read };
    let mut ring = Ring::new(file, Slots::new(depth, len, Pages::Ordinary)?, Polling::Off)?;
    let (mut free, mut done): (Vec<u32>, _) = ((0..depth).collect(), Vec::with_capacity(depth as usize));
    let (mut state, mut ios) = (mix(seed), 0u64);
    let (began, before) = (Instant::now(), cpu::of_process(std::process::id()).map_err(std::io::Error::other)?);
    while began.elapsed() < window {
        for _ in 0..CALLS {
            for (slot, before) in free.drain(..).zip(0..) {
                // The last goes with the call that waits.
                if before > 0 && !together {
                    ring.submit()?;
                }
                state = mix(state);
                ring.push(slot, request, 0, len, below(state, RANGE.0 / BLOCK.0) * BLOCK.0);
            }
            ring.submit_and_wait(batch, PATIENCE)?;
            ring.reap(&mut done);
            ios += done.len() as u64;
            if let Some(failed) = done.iter().find(|completion| completion.result != len as i32) {
                return Err(std::io::Error::other(format!("{failed:?}")));
            }
            free.extend(done.drain(..).map(|completion| completion.slot));
        }
    }
    let (elapsed, after) = (began.elapsed(), cpu::of_process(std::process::id()).map_err(std::io::Error::other)?);
    while ring.in_flight() > 0 {
        ring.submit_and_wait(1, PATIENCE)?;
        ring.reap(&mut done);
    }
    let cpu = after.saturating_sub(before).as_secs_f64();
    Ok(Measured { iops: ios as f64 / elapsed.as_secs_f64(), per_cpu: ios as f64 / cpu, latency: None })
}

#[cfg(test)]
mod tests {
    use super::super::experiment;
    use super::*;

    #[test]
    fn it_counts_what_dev_null_takes() {
        let experiment = experiment::all().into_iter().find(|e| e.name == "write /dev/null, depth 32").unwrap();
        let extent = Extent { rounds: 1, window: Duration::from_millis(200) };
        for together in [false, true] {
            let measured = run(&experiment, Path::new("/dev/null"), extent, 1, together).unwrap();
            assert!(measured.iops > 1000.0 && measured.per_cpu > 1000.0, "{measured:?}");
        }
    }
}
