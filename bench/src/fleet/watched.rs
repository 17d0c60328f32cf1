//! What a host that is watched does to the latency of the load: short runs at a fixed rate with and without it, in turn. It is a worker of
//! the machine that makes the load, so that reading its telemetry takes CPU time there: more than a host elsewhere would.

use super::{reached, workers};
use crate::{Outcome, Settings, say, schedule, speed, stend};
use std::path::Path;
use std::time::Duration;
use stend_base::{Histogram, Lang, Share};
use stend_record::{RunRecord, TrialOutcome, store};
use stend_stats::paired::Middle;

/// Rounds: ten give an interval of the median from the 2nd to the 9th.
const ROUNDS: usize = 10;
/// Window of each run: at this rate 25 I/Os are above the 99th percentile.
const WINDOW: Duration = Duration::from_secs(5);
/// I/Os per second: few enough for any disk.
const RATE: u32 = 500;
/// The group of the load host alone, and that with the watched one.
const ALONE: &str = "alone";
/// See [`ALONE`].
const BESIDE: &str = "beside";
/// Contenders of a round: without, with, and without again.
const CONTENDERS: [&str; 3] = [ALONE, BESIDE, ALONE];

/// Runs all rounds and compares.
pub fn measure(settings: &Settings) -> Outcome<String> {
    let place = tempfile::tempdir_in(&settings.directory).map_err(|e| format!("cannot make a directory: {e}"))?;
    let (rounds, window) = (settings.blocks.unwrap_or(ROUNDS).max(6), settings.window.unwrap_or(WINDOW));
    let hosts = [
        ("load", workers::host(place.path(), "load", "load", &[ALONE, BESIDE])?),
        ("watched", workers::host(place.path(), "watched", "observe", &[BESIDE])?),
    ];
    workers::write(place.path(), &hosts, &suite(window))?;
    let mut measured: [Vec<f64>; CONTENDERS.len()] = Default::default();
    for round in 0..rounds {
        say(&format!("round {} of {rounds}", round + 1));
        for contender in schedule::alternating(CONTENDERS.len(), round) {
            measured[contender].push(once(settings, place.path(), CONTENDERS[contender])?);
        }
    }
    let [alone, beside, again] = measured;
    let (middle, floor) = speed::relative((&beside, &alone), (&again, &alone))?;
    Ok(text((rounds, window), (median(alone), median(beside)), &middle, floor))
}

fn suite(window: Duration) -> String {
    format!(
        "suite: watched\n\
         defaults: {{ramp: 500ms, trial: {}ms}}\n\
         fill: {{size: 256MiB}}\n\
         repeats: {{blocks: 1}}\n\
         cases:\n  \
         - name: read\n    \
         streams: [{{op: read, pattern: random, block_size: 4KiB, queue_depth: 32, rate: {RATE}/s}}]\n",
        window.as_millis()
    )
}

/// The 99th percentile of one run, ns.
fn once(settings: &Settings, place: &Path, group: &str) -> Outcome<f64> {
    let file = place.join("watched.stend");
    workers::run(settings, place, group, &file)?;
    let run = store::read(&file).map_err(|e| e.render(Lang::En))?;
    std::fs::remove_file(&file).map_err(|e| format!("cannot remove `{}`: {e}", file.display()))?;
    must_watch(&run, group == BESIDE)?;
    let outcome = run.trials.first().and_then(|trial| trial.outcome.as_ref()).ok_or("a run without its trial")?;
    stend::whole(outcome)?;
    p99(outcome).ok_or_else(|| "a run without I/Os".to_string())
}

/// Refuses a run in which a host was watched that should not have been, or none was.
fn must_watch(run: &RunRecord, wanted: bool) -> Outcome<()> {
    let watched = run.observed().any(|(_, host)| !host.samples.is_empty());
    match watched == wanted {
        true => Ok(()),
        false => Err(format!("a host was watched: {watched}, and should have been: {wanted}")),
    }
}

fn p99(outcome: &TrialOutcome) -> Option<f64> {
    let mut all = Histogram::new();
    outcome.jobs.iter().flat_map(|job| &job.latency).for_each(|latency| all.merge_sparse(latency));
    outcome.drained.iter().for_each(|drained| all.merge_sparse(&drained.latency));
    all.quantile(Share(0.99)).map(|p99| p99.0 as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Whether the change is below the floor: by the whole interval, or by no part of it.
fn within(middle: &Middle, floor: f64) -> &'static str {
    let (least, most) = (1.0 / (1.0 + floor), 1.0 + floor);
    match middle.interval {
        (low, high) if low > most || high < least => reached(false),
        (low, high) if low >= least && high <= most => reached(true),
        _ => "undecided",
    }
}

fn text((rounds, window): (usize, Duration), (alone, beside): (f64, f64), middle: &Middle, floor: f64) -> String {
    let (low, high) = middle.interval;
    format!(
        "A load host reads a file of the disk at {RATE} I/Os per second, with and without a watched host beside it: {rounds} rounds of three runs of {} s, their order reversed\n\
         every other round. The watched host is another worker of the same machine, so it costs more here than elsewhere. The ratio is the median of the rounds' own ratios\n\
         with its 95 % interval by order statistics; the A/A floor is the 95th percentile of the distance of runs without a watched host from each other in the same rounds.\n\
         The goal is reached if the whole interval is within the floor, missed if no part of it is, and undecided between.\n\n\
         | p99 without, µs | p99 with, µs | ratio | 95 % interval | A/A floor | below the floor |\n|--:|--:|--:|---|--:|---|\n\
         | {:.1} | {:.1} | {:.3} | {low:.3} to {high:.3} | ±{:.1} % | {} |\n\n",
        window.as_secs_f64(),
        alone / 1e3,
        beside / 1e3,
        middle.ratio,
        floor * 100.0,
        within(middle, floor)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stend::tests::outcome;
    use stend_base::Nanos;
    use stend_record::observed::Drained;
    use stend_spec::workload::Op;
    use stend_stats::paired;

    #[test]
    fn the_whole_interval_must_be_within_the_floor() {
        let of = |effects: [f64; 6]| within(&paired::middle(&effects).unwrap(), 0.1);
        assert_eq!(of([0.02, -0.02, 0.01, 0.0, 0.05, -0.05]), reached(true));
        assert_eq!(of([0.3; 6]), reached(false));
        assert_eq!(of([-0.3; 6]), reached(false), "a change for the better is a change");
        assert_eq!(of([0.0, 0.0, 0.0, 0.0, 0.0, 0.3]), "undecided");
    }

    #[test]
    fn the_percentile_is_of_all_ios_those_that_ended_after_the_window_included() {
        let mut of = outcome(98);
        let near = |value: Option<f64>, ns: f64| value.is_some_and(|value| (value / ns - 1.0).abs() < 0.01);
        assert!(near(p99(&of), 1e6), "{:?}", p99(&of));
        let mut late = Histogram::new();
        late.record_many(Nanos(50_000_000), 2);
        of.drained = vec![Drained { stream: 0, op: Op::Write, latency: late.sparse(), service: None }];
        assert!(near(p99(&of), 5e7), "{:?}", p99(&of));
        assert_eq!(p99(&outcome(0)), None);
    }

    #[test]
    fn the_suite_is_understood_and_the_middle_of_values_is_their_median() {
        let text = suite(WINDOW);
        stend_spec::parse::suite(&text, "watched.yaml").unwrap_or_else(|error| panic!("{error}:\n{text}"));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
