//! A file system is frozen for a second in the middle of a load at a fixed rate. I/Os that arrived meanwhile had to wait;
//! which tool shows it?

use super::{QUANTILES, RANGE, RATE, WINDOW, elbencho};
use crate::fio::Fio;
use crate::loop_device::LoopDevice;
use crate::stend::{self, Stend};
use crate::{Outcome, Settings, say};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use stend_base::{Bytes, Histogram, MilliIops, Nanos, Share};
use stend_record::TrialOutcome;
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Backend, Mix, Op, Pattern, Region, Stream, Trial};

/// From the order to the freeze, and from there to the thaw.
const BEFORE: Duration = Duration::from_secs(4);
const FROZEN: Duration = Duration::from_secs(1);
/// Trials of each.
const TRIALS: usize = 3;

/// What one tool told of one stall.
pub struct Row {
    /// Which tool.
    pub tool: &'static str,
    /// How long the file system was frozen: at least and at most, by the stamps around the two commands.
    pub stall: (Duration, Duration),
    /// What it says for each of [`QUANTILES`], ms; `None`: nothing.
    pub told: [Option<f64>; 3],
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

/// At least and at most.
type Span = (Duration, Duration);

/// Freezes and thaws after the given times; how long it was frozen.
fn stall(mount: &Path) -> Outcome<Span> {
    let path = mount.to_string_lossy();
    std::thread::sleep(BEFORE);
    // By its name `fsfreeze` would freeze whatever lies there: without the mount the machine's own file system.
    is_mounted(mount)?;
    let asked = Instant::now();
    run("fsfreeze", &["--freeze", &path])?;
    let frozen = Instant::now();
    std::thread::sleep(FROZEN);
    let thawing = Instant::now();
    run("fsfreeze", &["--unfreeze", &path])?;
    Ok((thawing - frozen, asked.elapsed()))
}

/// Whether something is mounted at a directory: it is then on another device than what it lies in.
fn is_mounted(directory: &Path) -> Outcome<()> {
    let device = |path: &Path| {
        let facts = std::fs::metadata(path).map_err(|e| format!("cannot look at `{}`: {e}", path.display()))?;
        Ok::<u64, String>(facts.dev())
    };
    match device(directory)? == device(&directory.join(".."))? {
        true => Err(format!("nothing is mounted at `{}`, so it is not frozen", directory.display())),
        false => Ok(()),
    }
}

/// What a load tells, and the stall meanwhile. However the load ends, nothing is frozen any more afterwards.
fn beside<T>(stall: impl FnOnce() -> Outcome<Span> + Send, load: impl FnOnce() -> Outcome<T>) -> Outcome<(T, Span)> {
    std::thread::scope(|scope| {
        let freezer = scope.spawn(stall);
        let told = load();
        let stalled = freezer.join().map_err(|_| "the thread that freezes is gone".to_string())?;
        Ok((told?, stalled?))
    })
}

/// Both tools in turn.
pub fn measure(settings: &Settings, fio: &Fio) -> Outcome<Vec<Row>> {
    let place = Place::make()?;
    let mut stend = Stend::in_directory(settings, &place.mount, RANGE)?;
    let mut rows = Vec::new();
    for trial in 0..TRIALS {
        say(&format!("stall, {} of {TRIALS}", trial + 1));
        let freeze = || stall(&place.mount);
        let (told, stall) = beside(freeze, || by_stend(&mut stend, trial as u64))?;
        rows.push(Row { tool: "Stend", stall, told: told.map(Some) });
        for (tool, depth, process) in
            [("fio, depth 4096, poisson", 4096, "poisson"), ("fio, depth 1, linear", 1, "linear")]
        {
            let (told, stall) = beside(freeze, || by_fio(fio, &stend.target, depth, process))?;
            rows.push(Row { tool, stall, told: told.map(Some) });
        }
        if let Some(program) = &settings.elbencho {
            let (told, stall) = beside(freeze, || elbencho::run(program, &stend.target))?;
            rows.push(Row { tool: "elbencho, depth 1", stall, told });
        }
    }
    stend.end()?;
    rows.sort_by_key(|row| row.tool != "Stend");
    Ok(rows)
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
    quantiles(&outcome)
}

/// The p99 of a trial that leaves nothing out; ms.
fn quantiles(outcome: &TrialOutcome) -> Outcome<[f64; 3]> {
    stend::whole(outcome)?;
    let mut all = Histogram::new();
    outcome.jobs.iter().flat_map(|job| &job.latency).for_each(|latency| all.merge_sparse(latency));
    outcome.drained.iter().for_each(|drained| all.merge_sparse(&drained.latency));
    let told = QUANTILES.map(|q| all.quantile(q).map(|at| at.0 as f64 / 1e6));
    match told {
        [Some(a), Some(b), Some(c)] => Ok([a, b, c]),
        _ => Err("a trial of Stend did nothing".to_string()),
    }
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
        let row = Row { tool: "x", stall: (Duration::from_millis(1030), Duration::from_millis(1035)), told: [None; 3] };
        let (least, most) = row.truth(Share(0.99));
        assert!((least - 930.0).abs() < 1e-6 && (most - 935.0).abs() < 1e-6);
        assert!((row.truth(Share(0.999)).0 - 1020.0).abs() < 1e-6);
    }

    #[test]
    fn only_what_is_mounted_is_frozen() {
        assert_eq!(is_mounted(Path::new("/proc")), Ok(()));
        let plain = std::env::temp_dir().join(format!("stend-bench-plain-{}", std::process::id()));
        std::fs::create_dir(&plain).unwrap();
        let found = is_mounted(&plain);
        std::fs::remove_dir(&plain).unwrap();
        assert!(found.is_err_and(|why| why.starts_with("nothing is mounted")));
        assert!(is_mounted(&plain).is_err_and(|why| why.starts_with("cannot look")));
    }

    /// Without the wait the caller went on to unmount what was frozen.
    #[test]
    fn a_load_that_fails_waits_for_the_thaw() {
        let thawed = std::sync::atomic::AtomicBool::new(false);
        let (tell, told) = std::sync::mpsc::channel();
        let (flag, told) = (&thawed, told);
        let stall = move || {
            told.recv().unwrap();
            flag.store(true, std::sync::atomic::Ordering::SeqCst);
            Ok((FROZEN, FROZEN))
        };
        let load = || {
            tell.send(()).unwrap();
            Err::<(), _>("fio is gone".to_string())
        };
        assert_eq!(beside(stall, load), Err("fio is gone".to_string()));
        assert!(thawed.load(std::sync::atomic::Ordering::SeqCst));
        assert_eq!(beside(|| Ok((FROZEN, FROZEN)), || Ok(7)), Ok((7, (FROZEN, FROZEN))));
        assert!(beside(|| Err("no freeze".to_string()), || Ok(7)).is_err());
    }

    #[test]
    fn a_trial_that_leaves_something_out_tells_nothing() {
        let whole = stend::tests::outcome(10);
        assert!(quantiles(&whole).is_ok());
        let told = |change: fn(&mut TrialOutcome)| {
            let mut outcome = whole.clone();
            change(&mut outcome);
            quantiles(&outcome).is_ok()
        };
        assert!(!told(|outcome| outcome.status = stend_record::TrialStatus::Interrupted));
        assert!(!told(|outcome| outcome.open[0].never_begun = stend::tests::latencies(1)));
        assert!(!told(|outcome| outcome.censored.push(stend::tests::censored())));
        assert!(!told(|outcome| outcome.jobs.clear()));
    }
}
