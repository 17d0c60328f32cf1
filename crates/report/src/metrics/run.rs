//! A run that goes on, for Prometheus: counters that only grow, and a classic histogram of latency. For watching; results are computed
//! from the run file. Must not compute a rate or a percentile.

use super::page::{Page, seconds};
use std::collections::HashMap;
use stend_base::{Histogram, Nanos};
use stend_record::observed::Phase;
use stend_record::{RunRecord, Slice};
use stend_spec::workload::OPS;

/// Upper edges of the buckets in ns: 1, 2 and 5 of each decade from 10 µs to 10 s. A native histogram would need the binary format.
const EDGES: [u64; 19] = [
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// How an operation is called in a label.
const OP_NAMES: [&str; OPS] = ["read", "write", "discard", "write_zeroes", "sync"];

const PHASES: [(Phase, &str); 8] = [
    (Phase::Preflight, "preflight"),
    (Phase::Provision, "provision"),
    (Phase::Calibrate, "calibrate"),
    (Phase::Fill, "fill"),
    (Phase::Arm, "arm"),
    (Phase::Measure, "measure"),
    (Phase::CleanUp, "clean_up"),
    (Phase::Replay, "replay"),
];

/// What the coordinator of a run says of it now.
#[derive(Debug, Clone, Copy)]
pub struct RunNow {
    /// What is going on.
    pub phase: Phase,
    /// Share of the planned work that is done, 0 to 1.
    pub done: f64,
    /// Time left; `None`: too early to tell.
    pub left: Option<Nanos>,
}

/// What one operation did so far.
#[derive(Debug, Clone, Default)]
struct Done {
    ops: u64,
    bytes: u64,
    errors: u64,
    latency: Histogram,
}

/// Counters of a run, ramps and rounds included, which take what is new in its record.
#[derive(Debug, Default)]
pub struct RunMetrics {
    /// By trial, how many of its slices were taken.
    taken: HashMap<u32, usize>,
    done: [Done; OPS],
}

impl RunMetrics {
    /// The page of a run as its record shows it now.
    pub fn page(&mut self, run: &RunRecord, now: &RunNow, version: &str) -> String {
        for trial in run.executed() {
            let taken = self.taken.entry(trial.trial).or_default();
            let new = trial.slices.get(*taken..).unwrap_or_default();
            *taken = trial.slices.len();
            new.iter().for_each(|slice| take(&mut self.done[slice.op.index()], slice));
        }
        let mut page = Page::default();
        let id = ("run", run.header.id.as_str());
        let name = "stend_run_info";
        page.family((name, "gauge", "The run that goes on."));
        page.sample(name, &[id, ("suite", &run.header.inputs.suite.name), ("version", version)], 1.0);
        let name = "stend_run_phase";
        page.family((name, "gauge", "1: the run is in this phase."));
        for (phase, key) in PHASES {
            page.sample(name, &[id, ("phase", key)], f64::from(u8::from(phase == now.phase)));
        }
        let name = "stend_run_progress_ratio";
        page.family((name, "gauge", "Share of the planned work that is done."));
        page.sample(name, &[id], now.done);
        if let Some(left) = now.left {
            let name = "stend_run_eta_seconds";
            page.family((name, "gauge", "Time left, as far as it can be told."));
            page.sample(name, &[id], seconds(left.0));
        }
        self.operations(&mut page, id);
        page.text()
    }

    fn operations(&self, page: &mut Page, id: (&str, &str)) {
        let used = || OP_NAMES.iter().zip(&self.done).filter(|(_, done)| done.ops + done.errors > 0);
        let mut counter = |name, what, of: fn(&Done) -> u64| {
            page.family((name, "counter", what));
            used().for_each(|(op, done)| page.sample(name, &[id, ("op", op)], of(done) as f64));
        };
        counter("stend_io_operations_total", "I/Os of the load that completed.", |done| done.ops);
        counter("stend_io_bytes_total", "Bytes that they moved.", |done| done.bytes);
        counter("stend_io_errors_total", "I/Os of the load that failed.", |done| done.errors);
        page.family(("stend_io_latency_seconds", "histogram", "Latency of the I/Os of the load."));
        for (op, done) in used().filter(|(_, done)| done.latency.count() > 0) {
            for (edge, count) in EDGES.iter().zip(below(&done.latency)) {
                let edge = seconds(*edge).to_string();
                page.sample("stend_io_latency_seconds_bucket", &[id, ("op", op), ("le", &edge)], count as f64);
            }
            let count = done.latency.count() as f64;
            page.sample("stend_io_latency_seconds_bucket", &[id, ("op", op), ("le", "+Inf")], count);
            page.sample("stend_io_latency_seconds_sum", &[id, ("op", op)], done.latency.sum_ns() as f64 / 1e9);
            page.sample("stend_io_latency_seconds_count", &[id, ("op", op)], count);
        }
    }
}

fn take(done: &mut Done, slice: &Slice) {
    done.ops = done.ops.saturating_add(slice.ops);
    done.bytes = done.bytes.saturating_add(slice.bytes);
    done.errors = done.errors.saturating_add(slice.errors);
    if let Some(latency) = &slice.latency {
        done.latency.merge_sparse(latency);
    }
}

/// How many values lie at or below each edge. A bucket of ours counts where its upper edge lies, so that it is at most 1/128 too far up.
fn below(latency: &Histogram) -> [u64; EDGES.len()] {
    let mut counts = [0u64; EDGES.len()];
    for (_, upper, count) in latency.buckets() {
        let first = EDGES.partition_point(|edge| *edge < upper.0);
        counts[first..].iter_mut().for_each(|sum| *sum = sum.saturating_add(count));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use stend_base::Bytes;
    use stend_plan::{PlanInputs, PlanTarget};
    use stend_record::{Entry, RunHeader};
    use stend_spec::suite::Suite;
    use stend_spec::workload::{Mix, Op, Pattern, Region, Stream, Trial};

    fn slice(op: Op, ops: u64, latency: Nanos) -> Slice {
        let mut histogram = Histogram::new();
        histogram.record_many(latency, ops);
        let (interval, span, stream, bytes) = (0, 1, 0, ops * 4096);
        let latency_max_ns = latency.0;
        Slice {
            interval,
            span,
            stream,
            op,
            ops,
            bytes,
            errors: 1,
            latency_max_ns,
            open: None,
            latency: Some(histogram.sparse()),
        }
    }

    #[test]
    fn counters_of_a_run_take_each_slice_once_and_latency_is_cumulative() {
        let target = PlanTarget::device(Bytes(0));
        let suite = Suite { name: "quick \"x\"".into(), ..Suite::default() };
        let inputs = PlanInputs { suite, seed: 0, target, time_budget: None, traces: Vec::new() };
        let mut run = RunRecord::new(RunHeader::new("R-1", inputs));
        let stream = Stream::new(Mix::of_reads(100), Pattern::Random, Bytes::kib(4));
        let asked = Trial::new(vec![stream], Nanos::SECOND, Region { start: Bytes(0), len: Bytes::mib(1) });
        run.apply(Entry::TrialStart {
            trial: 0,
            case: 0,
            block: 0,
            round: false,
            asked: Box::new(asked),
            at: Nanos(1),
        });
        run.apply(Entry::slices(0, vec![slice(Op::Read, 10, Nanos(150_000))]));
        let now = RunNow { phase: Phase::Measure, done: 0.25, left: Some(Nanos::secs(90)) };
        let mut metrics = RunMetrics::default();
        metrics.page(&run, &now, "1");
        run.apply(Entry::slices(0, vec![slice(Op::Read, 5, Nanos::secs(30)), slice(Op::Sync, 2, Nanos(15_000))]));
        let page = metrics.page(&run, &now, "1");
        assert_eq!(page, metrics.page(&run, &now, "1"), "nothing new came");
        let has = |line: &str| assert!(page.lines().any(|other| other == line), "{line} is not in\n{page}");
        has(r#"stend_run_info{run="R-1",suite="quick \"x\"",version="1"} 1"#);
        has(r#"stend_run_phase{run="R-1",phase="measure"} 1"#);
        has(r#"stend_run_phase{run="R-1",phase="fill"} 0"#);
        has(r#"stend_run_progress_ratio{run="R-1"} 0.25"#);
        has(r#"stend_run_eta_seconds{run="R-1"} 90"#);
        has(r#"stend_io_operations_total{run="R-1",op="read"} 15"#);
        has(r#"stend_io_bytes_total{run="R-1",op="sync"} 8192"#);
        has(r#"stend_io_errors_total{run="R-1",op="read"} 2"#);
        has(r#"stend_io_latency_seconds_bucket{run="R-1",op="read",le="0.0001"} 0"#);
        has(r#"stend_io_latency_seconds_bucket{run="R-1",op="read",le="0.0002"} 10"#);
        has(r#"stend_io_latency_seconds_bucket{run="R-1",op="read",le="10"} 10"#);
        has(r#"stend_io_latency_seconds_bucket{run="R-1",op="read",le="+Inf"} 15"#);
        has(r#"stend_io_latency_seconds_bucket{run="R-1",op="sync",le="0.00002"} 2"#);
        has(r#"stend_io_latency_seconds_count{run="R-1",op="sync"} 2"#);
        assert!(!page.contains("op=\"write\""));
        expect_file!["../../tests/golden/metrics/run.prom"].assert_eq(&page);
    }
}
