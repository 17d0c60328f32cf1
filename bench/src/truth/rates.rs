//! Does the rate come that was asked for? On the null backend and on `/dev/null`, where nothing but the engine can be late.

use crate::fio::Fio;
use crate::stend::Stend;
use crate::{Outcome, Settings, say};
use std::path::Path;
use std::time::Duration;
use stend_base::{Bytes, MilliIops, Nanos};
use stend_record::{TrialOutcome, TrialStatus};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Backend, Mix, Op, Pattern, Region, Stream, Trial};

/// Rates, I/Os per second.
const RATES: [u64; 6] = [1_000, 10_000, 100_000, 300_000, 600_000, 1_000_000];
/// Window of each trial.
const WINDOW: Duration = Duration::from_secs(4);

/// One rate.
pub struct Row {
    /// Asked for.
    pub rate: u64,
    /// How arrivals are spread.
    pub gaps: Gaps,
    /// What Stend made of it on `/dev/null`, as a share of what was asked.
    pub stend: f64,
    /// I/Os that were due in the window by the arrivals drawn, and those of them that were made.
    pub due: (u64, u64),
    /// What fio made of it on its null engine, as a share of what was asked.
    pub fio: f64,
}

impl Row {
    /// How far the share may be from 1 by chance: of a Poisson process twice its standard deviation; else 0.1 %.
    pub fn allowed(&self) -> f64 {
        let arrivals = self.rate as f64 * WINDOW.as_secs_f64();
        match self.gaps {
            Gaps::Even => 0.001,
            Gaps::Poisson => (2.0 / arrivals.sqrt()).max(0.001),
        }
    }
}

/// All rates, evenly and as a Poisson process.
pub fn measure(settings: &Settings, fio: &Fio) -> Outcome<Vec<Row>> {
    let mut stend = Stend::on_null(settings, Path::new("/dev/null"))?;
    let mut rows = Vec::new();
    for gaps in [Gaps::Even, Gaps::Poisson] {
        for rate in RATES {
            say(&format!("rate {rate}/s, {gaps:?}"));
            let (outcome, _) = stend.trial(trial(rate, gaps))?;
            if outcome.status != TrialStatus::Complete {
                return Err(format!("a trial of Stend ended as {:?}", outcome.status));
            }
            let window = outcome.window_end.saturating_sub(outcome.window_start).as_secs();
            let done: u64 = outcome.jobs.iter().flat_map(|job| job.done).map(|(ops, _)| ops).sum();
            rows.push(Row {
                rate,
                gaps,
                stend: done as f64 / window / rate as f64,
                due: due_and_made(&outcome),
                fio: by_fio(fio, rate, gaps)? / rate as f64,
            });
        }
    }
    stend.end()?;
    Ok(rows)
}

/// What was due comes from the arrivals, what was made from the completions, so that a lost I/O shows.
fn due_and_made(outcome: &TrialOutcome) -> (u64, u64) {
    let done: u64 = outcome.jobs.iter().flat_map(|job| job.done).map(|(ops, _)| ops).sum();
    let drained: u64 = outcome.drained.iter().map(|drained| drained.latency.count()).sum();
    (outcome.open.iter().map(|open| open.due).sum(), done + drained)
}

fn trial(rate: u64, gaps: Gaps) -> Trial {
    let stream = Stream {
        queue_depth: 64,
        rate: Some(Rate::constant(MilliIops::per_second(rate), gaps)),
        ..Stream::new(Mix::only(Op::Write), Pattern::Random, Bytes::kib(4))
    };
    let (window, region) = (Nanos(WINDOW.as_nanos() as u64), Region { start: Bytes(0), len: Bytes::gib(4) });
    let backend = Backend::IoUring;
    Trial { seed: rate, direct: false, backend, ..Trial::new(vec![stream], window, region) }
}

/// I/Os per second that fio makes of the rate.
fn by_fio(fio: &Fio, rate: u64, gaps: Gaps) -> Outcome<f64> {
    let process = if gaps == Gaps::Poisson { "poisson" } else { "linear" };
    let words = [
        "--name=rate",
        "--thread",
        "--ioengine=null",
        "--rw=randread",
        "--bs=4k",
        "--size=4g",
        "--time_based",
        "--norandommap=1",
        &format!("--runtime={}ms", WINDOW.as_millis()),
        &format!("--rate_iops={rate}"),
        &format!("--rate_process={process}"),
    ]
    .map(String::from);
    Ok(fio.run(&words)?.read.iops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stend::tests::{latencies, outcome};

    #[test]
    fn a_lost_io_is_told() {
        let whole = outcome(10);
        assert_eq!(due_and_made(&whole), (10, 10));
        let mut lost = whole.clone();
        lost.jobs[0].done[1].0 -= 1;
        assert_eq!(due_and_made(&lost), (10, 9));
        // One that never began is due, too, and was not made.
        lost.open[0].never_begun = latencies(1);
        assert_eq!(due_and_made(&lost), (10, 9));
    }
}
