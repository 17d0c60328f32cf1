//! The part of a trial's load that lies between two samples: what the application did in it, and what the
//! counters of the machine did. Must not judge.

use crate::limits::{EDGE_SIGMA, SAMPLES_COVER, START_UNCERTAIN};
use crate::series::{self, Cell};
use crate::trials::{CaseTrials, Counting};
use stend_base::Nanos;
use stend_record::sample::DiskCounters;
use stend_record::{RunRecord, Sample};
use stend_spec::workload::{Op, Stream};

/// The samples of one trial from the start of its load to the end of its window, at least two.
#[derive(Debug, Clone, Copy)]
pub struct Stretch<'a> {
    trial: Counting<'a>,
    /// In order of time.
    pub samples: &'a [Sample],
}

/// Stretches of the trials that count; empty if the samples cover too little of the load to speak for it, or it is not
/// known when it was.
pub fn stretches<'a>(run: &'a RunRecord, case: &CaseTrials<'a>) -> Vec<Stretch<'a>> {
    stretches_in(&run.load().samples, case)
}

/// The same between these samples, which may be of another host.
pub(super) fn stretches_in<'a>(samples: &'a [Sample], case: &CaseTrials<'a>) -> Vec<Stretch<'a>> {
    let (mut covered, mut load) = (0.0, 0.0);
    let mut found = Vec::new();
    for trial in &case.counting {
        let (start, end) = (trial.outcome.load_start, trial.outcome.window_end);
        load += end.saturating_sub(start).as_secs();
        if !placed(trial) {
            continue;
        }
        let from = samples.partition_point(|s| s.at < start);
        let to = samples.partition_point(|s| s.at <= end);
        let stretch = Stretch { trial: *trial, samples: samples.get(from..to).unwrap_or_default() };
        if stretch.length() > Nanos(0) {
            covered += stretch.length().as_secs();
            found.push(stretch);
        }
    }
    if covered < load * SAMPLES_COVER { Vec::new() } else { found }
}

/// Whether it is known well enough when a trial was: another engine does not tell it.
fn placed(trial: &Counting<'_>) -> bool {
    let uncertain = trial.outcome.engine.external.as_ref().map_or(0, |other| other.start_uncertainty_ns);
    uncertain as f64 <= trial.window.0 as f64 * START_UNCERTAIN
}

impl<'a> Stretch<'a> {
    /// From the first to the last sample.
    pub fn length(&self) -> Nanos {
        match self.samples {
            [first, .., last] => last.at.saturating_sub(first.at),
            _ => Nanos(0),
        }
    }

    /// What of it comes at this moment or later.
    pub fn from(&self, at: Nanos) -> Stretch<'a> {
        let before = self.samples.partition_point(|sample| sample.at < at);
        Stretch { samples: &self.samples[before..], ..*self }
    }

    /// How much a counter grew; `None` if it is missing at either end, or went back.
    pub fn growth(&self, of: impl Fn(&Sample) -> Option<u64>) -> Option<u64> {
        match self.samples {
            [first, .., last] => of(last)?.checked_sub(of(first)?),
            _ => None,
        }
    }

    /// How much a counter of one disk grew.
    pub fn disk(&self, name: &str, of: impl Fn(&DiskCounters) -> u64) -> Option<u64> {
        self.growth(|sample| sample.disks.iter().find(|disk| disk.name == name).map(&of))
    }

    /// What the application completed.
    pub fn application(&self, op: Op) -> Cell {
        let [first, .., last] = self.samples else { return Cell::default() };
        let cells: Vec<Cell> = series::cells(&self.trial.record.slices, |s| s.op == op);
        let start = self.trial.outcome.load_start;
        series::between(&cells, first.at.saturating_sub(start), last.at.saturating_sub(start))
    }

    /// By how much counts of the application and of the kernel over this stretch may differ because of its edges alone.
    ///
    /// At an edge one of them has counted I/Os that the other has not counted yet: 0 to the queue depth, so their growths differ by
    /// no more than the queue depth. Beside that the moment of a reading is known to within what the reading took, and the count of
    /// the application at this moment to within its interval.
    fn edge(&self, op: Op) -> Cell {
        let [first, .., last] = self.samples else { return Cell::default() };
        let asked = &self.trial.record.asked;
        let cells: Vec<Cell> = series::cells(&self.trial.record.slices, |s| s.op == op);
        let start = self.trial.outcome.load_start;
        let shift = first.cost_ns.max(last.cost_ns) as f64 / self.length().0.max(1) as f64;
        let done = self.application(op);
        let of = |cell: fn(&Cell) -> f64, one: fn(&Stream) -> f64| {
            let streams = asked.streams.iter().filter(|stream| stream.mix.share(op) > 0);
            let in_flight = streams.map(|s| f64::from(s.queue_depth) * f64::from(s.jobs) * one(s)).sum::<f64>();
            let within = [first, last].map(|at| series::uncertainty(&cells, at.at.saturating_sub(start), cell));
            in_flight + within.iter().sum::<f64>() + cell(&done) * shift
        };
        let largest = |s: &Stream| s.sizes().map(|part| part.size.0).max().unwrap_or(0) as f64;
        Cell { ops: of(|cell| cell.ops, |_| 1.0), bytes: of(|cell| cell.bytes, largest) }
    }

    /// What the prober completed, on the mean over the window.
    fn probes(&self, op: Op) -> Cell {
        let outcome = self.trial.outcome;
        let prober = self.trial.record.asked.prober().filter(|prober| prober.op == op);
        let (Some(prober), Some(probes)) = (prober, &outcome.probes) else { return Cell::default() };
        let bytes = probes.bytes as f64 * self.length().as_secs() / self.trial.window.as_secs();
        Cell { ops: bytes / prober.block.0.max(1) as f64, bytes }
    }
}

/// Sum of a growth over all stretches; `None` if any of them lacks it, or there are none.
pub fn sum<'a>(stretches: &[Stretch<'a>], of: impl Fn(&Stretch<'a>) -> Option<u64>) -> Option<u64> {
    let sums = stretches.iter().map(of).collect::<Option<Vec<u64>>>()?;
    sums.into_iter().reduce(u64::saturating_add)
}

/// What the application completed over all stretches.
pub fn application(stretches: &[Stretch<'_>], op: Op) -> Cell {
    stretches
        .iter()
        .map(|stretch| stretch.application(op))
        .fold(Cell::default(), |sum, part| Cell { ops: sum.ops + part.ops, bytes: sum.bytes + part.bytes })
}

/// The same with what the prober completed: all that devices below should have seen.
pub fn application_and_prober(stretches: &[Stretch<'_>], op: Op) -> Cell {
    let parts = stretches.iter().map(|stretch| stretch.probes(op));
    parts.fold(application(stretches, op), |sum, part| Cell { ops: sum.ops + part.ops, bytes: sum.bytes + part.bytes })
}

/// By how much counts of the application and of the kernel over all stretches may differ because of their edges alone.
///
/// Edges are independent of each other: over many stretches no more is allowed than [`EDGE_SIGMA`] standard deviations of the sum. The
/// difference of two values that may be anywhere between 0 and N has one of N / √6.
pub fn edges(stretches: &[Stretch<'_>], op: Op) -> Cell {
    let each: Vec<Cell> = stretches.iter().map(|stretch| stretch.edge(op)).collect();
    let of = |value: fn(&Cell) -> f64| {
        let (sum, squares) = each.iter().map(value).fold((0.0, 0.0), |(a, b), one| (a + one, b + one * one));
        f64::min(sum, EDGE_SIGMA * f64::sqrt(squares / 6.0))
    };
    Cell { ops: of(|cell| cell.ops), bytes: of(|cell| cell.bytes) }
}

/// Time of all stretches.
pub fn length(stretches: &[Stretch<'_>]) -> Nanos {
    stretches.iter().fold(Nanos(0), |sum, stretch| sum + stretch.length())
}
