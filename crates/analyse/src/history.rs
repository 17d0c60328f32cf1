//! Many runs of the same cases, in the order of time: where a value changed and stayed so (method S8). States changes only; whether
//! one is good is seen by what the value is.

use crate::findings::{CaseFinding, Findings, Headline};
use crate::limits::{CHANGE_LEAST, CHANGE_P};
use std::collections::BTreeMap;
use stend_base::Share;
use stend_spec::workload::Op;
use stend_stats::change_points::change_points;

/// What of a case is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Followed {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// p99 of an operation of a stream, ns.
    P99 {
        /// Index of the stream.
        stream: u16,
        /// Index of the operation in [`Op::ALL`].
        op: usize,
    },
}

impl Followed {
    /// The operation, if it is about one.
    pub fn op(self) -> Option<Op> {
        match self {
            Followed::P99 { op, .. } => Op::ALL.get(op).copied(),
            Followed::Iops | Followed::Throughput => None,
        }
    }

    /// Whether more is better.
    pub fn is_rate(self) -> bool {
        !matches!(self, Followed::P99 { .. })
    }
}

/// What is kept of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPoint {
    /// Id.
    pub run: String,
    /// Wall clock at the start, seconds since 1970 UTC.
    pub started_unix: i64,
    values: Vec<((String, Followed), f64)>,
}

impl RunPoint {
    /// The values of a run that are followed: of each case its rate and the p99 of each operation, where there is one.
    pub fn of(findings: &Findings) -> RunPoint {
        RunPoint {
            run: findings.run.clone(),
            started_unix: findings.started_unix,
            values: findings.cases.iter().filter(|case| case.trials > 0).flat_map(values).collect(),
        }
    }
}

fn values(case: &CaseFinding) -> Vec<((String, Followed), f64)> {
    let rate = match case.headline {
        Headline::Iops => (Followed::Iops, case.total.iops.value),
        Headline::Throughput => (Followed::Throughput, case.total.throughput.value),
    };
    let p99 = case.ops.iter().filter_map(|op| {
        let found = op.quantiles.iter().find(|q| q.q == Share(0.99))?;
        let value = found.value.single()?;
        Some((Followed::P99 { stream: op.stream, op: op.op.index() }, value.0 as f64))
    });
    let all = [rate].into_iter().chain(p99).filter(|(_, value)| value.is_finite());
    all.map(|(followed, value)| ((case.label.clone(), followed), value)).collect()
}

/// Runs in the order of time, and how each value went.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The runs: id, and wall clock at the start.
    pub runs: Vec<(String, i64)>,
    /// By case and value, in the order of labels.
    pub series: Vec<Series>,
}

/// One value over the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Label of the case.
    pub label: String,
    /// The value.
    pub followed: Followed,
    /// (index of the run, value) of the runs that have it.
    pub points: Vec<(usize, f64)>,
    /// Where it changed and stayed so.
    pub changes: Vec<Change>,
}

/// A lasting change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the last run before it.
    pub last: usize,
    /// Index of the first run after it.
    pub first: usize,
    /// Mean of the runs before, back to the change before it.
    pub before: f64,
    /// Mean of the runs after, up to the next change.
    pub after: f64,
}

impl Change {
    /// After over before.
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// Follows every value over the runs, which are put in the order of time.
pub fn history(mut points: Vec<RunPoint>) -> History {
    points.sort_by(|a, b| (a.started_unix, &a.run).cmp(&(b.started_unix, &b.run)));
    let mut series: BTreeMap<(String, Followed), Vec<(usize, f64)>> = BTreeMap::new();
    for (index, point) in points.iter().enumerate() {
        for (key, value) in &point.values {
            series.entry(key.clone()).or_default().push((index, *value));
        }
    }
    let one = |((label, followed), points): ((String, Followed), Vec<(usize, f64)>)| {
        let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
        let changes = change_points(&values, CHANGE_P, CHANGE_LEAST).into_iter().map(|found| Change {
            last: points[found.at - 1].0,
            first: points[found.at].0,
            before: found.before,
            after: found.after,
        });
        Series { label, followed, changes: changes.collect(), points }
    };
    History {
        runs: points.iter().map(|point| (point.run.clone(), point.started_unix)).collect(),
        series: series.into_iter().map(one).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::fixture::run;

    /// The point of a run with this rate, which began at that second.
    fn point(second: i64, iops: f64) -> RunPoint {
        let mut record = run().six_blocks(&[iops]).record();
        record.header.id = format!("R-{second:04}");
        record.header.started_unix = second;
        RunPoint::of(&analyse(&record).unwrap())
    }

    #[test]
    fn a_change_is_told_between_the_runs_where_it_happened_whatever_their_order() {
        let mut points: Vec<RunPoint> = (0..12)
            .map(|i| point(i, if i < 7 { 10_000.0 } else { 8_000.0 } * (1.0 + 0.001 * (i % 3) as f64)))
            .collect();
        points.reverse();
        let found = history(points);
        assert_eq!(found.runs[0], ("R-0000".to_string(), 0));
        let rate = found.series.iter().find(|series| series.followed == Followed::Iops).unwrap();
        let [change] = rate.changes[..] else { panic!("{:?}", rate.changes) };
        assert_eq!((change.last, change.first), (6, 7));
        assert!((change.ratio() - 0.8).abs() < 0.01, "{change:?}");
        // In a closed loop latency is the inverse, and changes with it.
        let p99 = found.series.iter().find(|series| !series.followed.is_rate()).unwrap();
        assert_eq!((p99.changes.len(), p99.changes[0].first), (1, 7));
        assert_eq!(p99.followed.op(), Some(Op::Read));
    }

    #[test]
    fn a_steady_series_and_a_few_runs_have_no_change() {
        let steady = history((0..8).map(|i| point(i, 10_000.0 + (i % 3) as f64)).collect());
        assert!(steady.series.iter().all(|series| series.changes.is_empty()), "{:?}", steady.series);
        assert_eq!(history(Vec::new()).series, []);
        assert_eq!(history(vec![point(1, 1000.0), point(2, 9000.0)]).series[0].changes, []);
    }
}
