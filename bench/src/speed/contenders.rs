//! Runs the rounds of an experiment.

use super::experiment::{BLOCK, Experiment, Goal, Load, Peer, Place, Quantity, RANGE};
use super::measured::Measured;
use super::{Extent, bare, t_io_uring};
use crate::fio::Fio;
use crate::loop_device::LoopDevice;
use crate::stend::Stend;
use crate::{Outcome, Settings, say, schedule};
use std::path::Path;
use std::time::Duration;
use stend_base::{Histogram, Nanos, Share};
use stend_record::TrialStatus;
use stend_stats::{mean, paired};

/// fio is started this often to learn what a start costs.
const STARTS: u32 = 10;

/// Files of the load on many.
const FILES: u64 = 1000;

/// Share of the I/Os of a log that may be missing from it: leaving one out costs less than keeping it.
const LOG_MISSED_MAX: f64 = 0.05;

/// An experiment with its numbers.
pub struct Found {
    /// What was run.
    pub experiment: Experiment,
    /// One per goal.
    pub compared: Vec<Compared>,
    /// What `Auto` chose, or what was asked for.
    pub backend: String,
    /// Latencies of those who measure them, the median of the rounds: `None` is Stend.
    pub latencies: Vec<(Option<Peer>, (f64, f64))>,
}

/// One goal with its numbers.
pub struct Compared {
    /// The goal.
    pub goal: Goal,
    /// Mean over Stend's trials.
    pub stend: f64,
    /// Mean over the peer's trials.
    pub peer: f64,
    /// Stend relative to the peer.
    pub middle: paired::Middle,
    /// 95th percentile of how far Stend is from itself, as a share.
    pub floor: f64,
}

/// CPU time of fio before and after its I/O: it is taken off, in its favour.
pub fn start_up(fio: &Fio) -> Outcome<Duration> {
    let words = ["--name=start", "--thread", "--ioengine=null", "--rw=read", "--bs=4k", "--size=4k"].map(String::from);
    let total = (0..STARTS).try_fold(Duration::ZERO, |sum, _| Ok::<_, String>(sum + fio.run(&words)?.cpu))?;
    Ok(total / STARTS)
}

/// All rounds of an experiment. Contenders: Stend, its peers, and Stend again.
pub fn run(
    settings: &Settings,
    extent: Extent,
    fio: &Fio,
    start_up: Duration,
    experiment: &Experiment,
) -> Outcome<Found> {
    say(&experiment.name);
    let device = match experiment.place {
        Place::LoopDevice => Some(LoopDevice::make(RANGE, true)?),
        _ => None,
    };
    let mut stend = match experiment.place {
        Place::Nothing | Place::DevNull => Stend::on_null(settings, Path::new("/dev/null"))?,
        Place::HotFile | Place::Disk => Stend::in_directory(settings, &settings.directory, RANGE)?,
        Place::Files => Stend::in_files(settings, &settings.directory, FILES, RANGE)?,
        Place::Tmpfs => Stend::in_directory(settings, Path::new("/dev/shm"), RANGE)?,
        Place::LoopDevice => {
            let path = device.as_ref().map(LoopDevice::path).unwrap_or(Path::new(""));
            Stend::on_device(settings, path, RANGE)?
        }
    };
    if experiment.place == Place::HotFile {
        heat(&stend.target)?;
    }
    let aside = tempfile::tempdir_in(&settings.directory).map_err(|e| format!("cannot make a directory: {e}"))?;
    let mut one_file = match experiment.place {
        // A directory is taken by one run at a time.
        Place::Files => Some(Stend::in_directory(settings, aside.path(), RANGE)?),
        _ => None,
    };
    let peers = experiment.peers();
    let last = peers.len() + 1;
    let mut rounds: Vec<Vec<Measured>> = Vec::new();
    let mut backend = String::new();
    for round in 0..extent.rounds {
        let mut measured = vec![Measured { iops: 0.0, per_cpu: 0.0, latency: None }; last + 1];
        for contender in schedule::alternating(last + 1, round) {
            let seed = (round * (last + 1) + contender) as u64 + 1;
            measured[contender] = match contender.checked_sub(1).and_then(|peer| peers.get(peer)) {
                None => by_stend(&mut stend, extent, experiment, seed, &mut backend)?,
                Some(peer @ (Peer::Bare | Peer::BareTogether)) => {
                    bare::run(experiment, &stend.target, extent, seed, *peer == Peer::BareTogether)?
                }
                Some(Peer::TIoUring) => {
                    let program = settings.t_io_uring.as_ref().ok_or("a peer that nobody named")?;
                    t_io_uring::run(program, experiment, &stend.target, extent.window)?
                }
                Some(peer @ (Peer::OneThread | Peer::OneJob | Peer::OneFile | Peer::NoLog)) => {
                    let stend = one_file.as_mut().unwrap_or(&mut stend);
                    by_stend(stend, extent, &otherwise(experiment, *peer), seed, &mut backend)?
                }
                Some(&peer) => {
                    let ran = fio.run(&fio_arguments(experiment, peer, &stend.target, extent.window, seed))?;
                    let side = if experiment.load.writes { ran.write } else { ran.read };
                    let cpu = ran.cpu.saturating_sub(start_up).as_secs_f64();
                    Measured { iops: side.iops, per_cpu: side.ios as f64 / cpu, latency: side.quantiles_ns }
                }
            };
        }
        rounds.push(measured);
    }
    stend.end()?;
    one_file.map_or(Ok(()), Stend::end)?;
    let compared = experiment.goals.iter().map(|goal| compare(*goal, &peers, &rounds)).collect::<Outcome<_>>()?;
    let latencies = latencies(&peers, &rounds);
    Ok(Found { experiment: experiment.clone(), compared, backend, latencies })
}

/// Medians over the rounds of what contenders measured of their latencies.
fn latencies(peers: &[Peer], rounds: &[Vec<Measured>]) -> Vec<(Option<Peer>, (f64, f64))> {
    let who = std::iter::once(None).chain(peers.iter().copied().map(Some));
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let of = |(index, who): (usize, Option<Peer>)| {
        let found = || rounds.iter().filter_map(|round| round[index].latency);
        Some((who, (middle(found().map(|(p50, _)| p50).collect())?, middle(found().map(|(_, p99)| p99).collect())?)))
    };
    who.enumerate().filter_map(of).collect()
}

/// The load as another Stend makes it.
fn otherwise(experiment: &Experiment, peer: Peer) -> Experiment {
    let mut other = experiment.clone();
    match peer {
        Peer::OneThread => other.load.jobs = 1,
        Peer::OneJob => (other.load.depth, other.load.jobs) = (other.load.depth * other.load.jobs, 1),
        Peer::OneFile => {}
        _ => other.load.log = false,
    }
    other
}

fn by_stend(
    stend: &mut Stend,
    extent: Extent,
    experiment: &Experiment,
    seed: u64,
    backend: &mut String,
) -> Outcome<Measured> {
    let window = Nanos(extent.window.as_nanos() as u64);
    let (outcome, cost) = stend.trial(experiment.trial(window, experiment.load.jobs, seed))?;
    if outcome.status != TrialStatus::Complete || !outcome.errors.is_empty() {
        return Err(format!("a trial of Stend ended as {:?}: {:?}", outcome.status, outcome.errors));
    }
    if let Some(log) = outcome.io_log
        && (log.dropped + log.beyond) as f64 > LOG_MISSED_MAX * log.recorded as f64
    {
        return Err(format!("the log of a trial of Stend misses too much to say what it costs: {log:?}"));
    }
    *backend = outcome.engine.backend.clone();
    let window = outcome.window_end.saturating_sub(outcome.window_start).as_secs();
    let done: u64 = outcome.jobs.iter().flat_map(|job| job.done).map(|(ops, _)| ops).sum();
    let mut all = Histogram::new();
    outcome.jobs.iter().flat_map(|job| &job.latency).for_each(|of| all.merge_sparse(of));
    let latency =
        all.quantile(Share(0.5)).zip(all.quantile(Share(0.99))).map(|(p50, p99)| (p50.0 as f64, p99.0 as f64));
    Ok(Measured { iops: done as f64 / window, per_cpu: cost.ios as f64 / cost.cpu.as_secs_f64(), latency })
}

/// Reads a file once, so that all its pages are in memory.
fn heat(path: &Path) -> Outcome<()> {
    let read = std::fs::File::open(path).and_then(|mut file| std::io::copy(&mut file, &mut std::io::sink()));
    read.map(drop).map_err(|e| format!("cannot read `{}`: {e}", path.display()))
}

fn compare(goal: Goal, peers: &[Peer], rounds: &[Vec<Measured>]) -> Outcome<Compared> {
    let quantity = |m: &Measured| match goal.quantity {
        Quantity::Iops | Quantity::Time => m.iops,
        Quantity::PerCpu => m.per_cpu,
    };
    let at = 1 + peers.iter().position(|peer| *peer == goal.peer).ok_or("a goal without its peer")?;
    let column = |contender: usize| -> Vec<f64> { rounds.iter().map(|round| quantity(&round[contender])).collect() };
    let (stend, peer, again) = (column(0), column(at), column(peers.len() + 1));
    let (middle, floor) = relative((&stend, &peer), (&again, &stend))?;
    let of = |values: &[f64]| mean(values).unwrap_or_default();
    Ok(Compared { goal, stend: of(&stend), peer: of(&peer), middle, floor })
}

/// One contender relative to another, round by round, and the A/A floor: how far one is from itself in the same rounds.
///
/// Errors: fewer than six rounds.
pub fn relative((above, below): (&[f64], &[f64]), (again, once): (&[f64], &[f64])) -> Outcome<(paired::Middle, f64)> {
    let effects = |above: &[f64], below: &[f64]| -> Vec<f64> {
        above.iter().zip(below).filter_map(|(a, b)| paired::effect(&[*a], &[*b])).collect()
    };
    let middle = paired::middle(&effects(above, below)).ok_or("too few rounds")?;
    let floor = paired::floor(&effects(again, once)).ok_or("no rounds")?;
    Ok((middle, floor))
}

/// The command line of a peer.
pub fn fio_arguments(experiment: &Experiment, peer: Peer, target: &Path, window: Duration, seed: u64) -> Vec<String> {
    let Load { writes, depth, jobs, .. } = experiment.load;
    let engine = match peer {
        Peer::FioNull => "null",
        Peer::FioPsync => "psync",
        _ => "io_uring",
    };
    let mut words = vec![
        "--name=speed".to_string(),
        "--thread".to_string(),
        "--time_based".to_string(),
        format!("--ioengine={engine}"),
        format!("--rw=rand{}", if writes { "write" } else { "read" }),
        format!("--bs={}", BLOCK.0),
        format!("--size={}", RANGE.0),
        format!("--runtime={}ms", window.as_millis()),
        format!("--randseed={seed}"),
        format!("--iodepth={depth}"),
        format!("--numjobs={jobs}"),
    ];
    if experiment.place != Place::Nothing {
        words.push(format!("--filename={}", target.display()));
    }
    if experiment.place == Place::HotFile {
        words.push("--invalidate=0".to_string());
    }
    if experiment.direct() {
        words.push("--direct=1".to_string());
    }
    let more: &[&str] = match peer {
        Peer::FioSame | Peer::FioBatches => {
            &["--norandommap=1", "--registerfiles=1", "--fixedbufs=1", "--lat_percentiles=1", "--clat_percentiles=0"]
        }
        Peer::FioNull => &["--norandommap=1", "--disable_slat=1", "--disable_lat=1"],
        Peer::FioPsync => &["--norandommap=1"],
        _ => &[],
    };
    words.extend(more.iter().map(|word| word.to_string()));
    match peer {
        Peer::FioSame => words.push("--iodepth_batch_complete_min=1".to_string()),
        Peer::FioBatches => words.extend(["submit", "complete_min"].map(|what| format!("--iodepth_batch_{what}=16"))),
        _ => {}
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_stend_differs_in_one_thing() {
        let all = super::super::experiment::all();
        let named = |name: &str| all.iter().find(|e| e.name == name).unwrap();
        assert!(!otherwise(named("no I/O, depth 32, with a log"), Peer::NoLog).load.log);
        assert_eq!(otherwise(named("no I/O, depth 32, 2 threads"), Peer::OneThread).load.jobs, 1);
        let one = otherwise(named("read the disk, 64 jobs"), Peer::OneJob).load;
        assert_eq!((one.jobs, one.depth), (1, 64));
    }

    #[test]
    fn a_goal_is_compared_with_its_own_peer_inside_rounds_only() {
        let (goals, peers) = (super::super::experiment::all(), [Peer::FioSame, Peer::FioDefault]);
        let goal = goals.iter().find(|e| e.name == "write /dev/null, depth 32").unwrap().goals[1];
        assert_eq!(goal.peer, Peer::FioDefault);
        // Everything doubles from round to round; inside a round Stend has three times the second peer.
        let round = |r: i32| {
            let m =
                |factor: f64| Measured { iops: factor * 2f64.powi(r), per_cpu: 1.0, latency: Some((factor, factor)) };
            vec![m(300.0), m(200.0), m(100.0), m(300.0)]
        };
        let compared = compare(goal, &peers, &(0..15).map(round).collect::<Vec<_>>()).unwrap();
        assert!((compared.middle.ratio - 3.0).abs() < 1e-9 && compared.floor.abs() < 1e-9);
        let told = latencies(&peers, &(0..15).map(round).collect::<Vec<_>>());
        assert_eq!(told.iter().map(|(who, _)| *who).collect::<Vec<_>>(), [None, Some(peers[0]), Some(peers[1])]);
        assert_eq!(told[1].1, (200.0, 200.0));
    }
}
