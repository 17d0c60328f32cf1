//! A file system is frozen for a second in the middle of a load at a fixed rate. Whoever arrived meanwhile had to wait; who
//! tells?

use crate::fio::Fio;
use crate::loop_device::LoopDevice;
use crate::stend::Stend;
use crate::{Outcome, Settings, say};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use stend_base::{Bytes, Histogram, MilliIops, Nanos, Share};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Backend, Mix, Op, Pattern, Region, Stream, Trial};

/// I/Os per second.
const RATE: u64 = 1000;
/// Length of the load.
const WINDOW: Duration = Duration::from_secs(10);
/// From the order to the freeze, and from there to the thaw.
const BEFORE: Duration = Duration::from_secs(4);
const FROZEN: Duration = Duration::from_secs(1);
/// Trials of each.
const TRIALS: usize = 3;
/// Range of the test file.
const RANGE: Bytes = Bytes::mib(256);
/// What is compared.
pub const QUANTILES: [Share; 3] = [Share(0.95), Share(0.99), Share(0.999)];

/// What one tool told of one stall.
pub struct Row {
    /// Which tool.
    pub tool: &'static str,
    /// How long the file system was frozen: at least and at most, by the stamps around the two commands.
    pub stall: (Duration, Duration),
    /// What it says for each of [`QUANTILES`], ms.
    pub told: [f64; 3],
}

impl Row {
    /// What is true for a quantile, ms: of `RATE` arrivals in each second of the window those in the stall waited until
    /// its end, the last one hardly, the first one for all of it. At least and at most.
    pub fn truth(&self, quantile: Share) -> (f64, f64) {
        let slower = (1.0 - quantile.0) * WINDOW.as_secs_f64() * 1e3;
        let of = |stall: Duration| stall.as_secs_f64() * 1e3 - slower;
        (of(self.stall.0), of(self.stall.1))
    }
}

/// A file system that can be frozen.
struct Place {
    mount: PathBuf,
    _device: LoopDevice,
}

impl Place {
    fn make() -> Outcome<Place> {
        let device = LoopDevice::make(Bytes::gib(1), true)?;
        let mount = std::env::temp_dir().join(format!("stend-bench-{}", std::process::id()));
        std::fs::create_dir(&mount).map_err(|e| format!("cannot make `{}`: {e}", mount.display()))?;
        // From here on dropping it cleans up; unmounting what is not mounted only fails.
        let place = Place { mount, _device: device };
        let node = place._device.path().to_string_lossy().into_owned();
        run("mkfs.ext4", &["-q", &node])?;
        run("mount", &[&node, &place.mount.to_string_lossy()])?;
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mount = self.mount.to_string_lossy();
        drop(run("umount", &[&mount]));
        drop(std::fs::remove_dir(&self.mount));
    }
}

/// Freezes and thaws after the given times; how long it was frozen.
fn stall(mount: &Path) -> Outcome<(Duration, Duration)> {
    let path = mount.to_string_lossy();
    std::thread::sleep(BEFORE);
    let asked = Instant::now();
    run("fsfreeze", &["--freeze", &path])?;
    let frozen = Instant::now();
    std::thread::sleep(FROZEN);
    let thawing = Instant::now();
    run("fsfreeze", &["--unfreeze", &path])?;
    Ok((thawing - frozen, asked.elapsed()))
}

/// Both tools in turn.
pub fn measure(settings: &Settings, fio: &Fio) -> Outcome<Vec<Row>> {
    let place = Place::make()?;
    let mut stend = Stend::in_directory(settings, &place.mount, RANGE)?;
    let mut rows = Vec::new();
    for trial in 0..TRIALS {
        say(&format!("stall, {} of {TRIALS}", trial + 1));
        let mount = place.mount.clone();
        let freezer = std::thread::spawn(move || stall(&mount));
        let told = by_stend(&mut stend, trial as u64)?;
        rows.push(Row { tool: "Stend", stall: joined(freezer)?, told });
        for (tool, depth, process) in
            [("fio, depth 4096, poisson", 4096, "poisson"), ("fio, depth 1, linear", 1, "linear")]
        {
            let mount = place.mount.clone();
            let freezer = std::thread::spawn(move || stall(&mount));
            let told = by_fio(fio, &stend.target, depth, process)?;
            rows.push(Row { tool, stall: joined(freezer)?, told });
        }
    }
    stend.end()?;
    rows.sort_by_key(|row| row.tool != "Stend");
    Ok(rows)
}

fn joined(freezer: std::thread::JoinHandle<Outcome<(Duration, Duration)>>) -> Outcome<(Duration, Duration)> {
    freezer.join().map_err(|_| "the thread that freezes is gone".to_string())?
}

fn by_stend(stend: &mut Stend, seed: u64) -> Outcome<[f64; 3]> {
    let stream = Stream {
        queue_depth: 64,
        rate: Some(Rate::constant(MilliIops::per_second(RATE), Gaps::Even)),
        ..Stream::new(Mix::only(Op::Write), Pattern::Random, Bytes::kib(4))
    };
    let (window, region) = (Nanos(WINDOW.as_nanos() as u64), Region { start: Bytes(0), len: RANGE });
    let backend = Backend::IoUring;
    let (outcome, _) = stend.trial(Trial { seed, backend, ..Trial::new(vec![stream], window, region) })?;
    let mut all = Histogram::new();
    outcome.jobs.iter().flat_map(|job| &job.latency).for_each(|latency| all.merge_sparse(latency));
    outcome.drained.iter().for_each(|drained| all.merge_sparse(&drained.latency));
    Ok(QUANTILES.map(|q| all.quantile(q).map_or(0.0, |at| at.0 as f64 / 1e6)))
}

fn by_fio(fio: &Fio, target: &Path, depth: u32, process: &str) -> Outcome<[f64; 3]> {
    let words = [
        "--name=stall",
        "--thread",
        "--ioengine=io_uring",
        "--rw=randwrite",
        "--bs=4k",
        "--direct=1",
        "--overwrite=1",
        "--norandommap=1",
        "--time_based",
        "--lat_percentiles=1",
        &format!("--filename={}", target.display()),
        &format!("--size={}", RANGE.0),
        &format!("--runtime={}ms", WINDOW.as_millis()),
        &format!("--rate_iops={RATE}"),
        &format!("--rate_process={process}"),
        &format!("--iodepth={depth}"),
    ]
    .map(String::from);
    let (document, _) = fio.document(&words)?;
    let percentiles = &document["jobs"][0]["write"]["lat_ns"]["percentile"];
    let at = |name: &str| percentiles[name].as_f64().map(|ns| ns / 1e6);
    match (at("95.000000"), at("99.000000"), at("99.900000")) {
        (Some(a), Some(b), Some(c)) => Ok([a, b, c]),
        _ => Err("fio printed no percentiles".to_string()),
    }
}

fn run(program: &str, arguments: &[&str]) -> Outcome<()> {
    let output = Command::new(program).args(arguments).output().map_err(|e| format!("cannot run {program}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{program} failed: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// performance.md of the method: of 10,000 arrivals in 10 s those of 1.03 s meet the stall.
    #[test]
    fn a_second_in_ten_has_its_percentiles() {
        let row = Row { tool: "x", stall: (Duration::from_millis(1030), Duration::from_millis(1035)), told: [0.0; 3] };
        let (least, most) = row.truth(Share(0.99));
        assert!((least - 930.0).abs() < 1e-6 && (most - 935.0).abs() < 1e-6);
        assert!((row.truth(Share(0.999)).0 - 1020.0).abs() < 1e-6);
    }
}
