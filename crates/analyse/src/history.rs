//! Many runs of the same cases, in the order of time: where a value changed and stayed so (method S8). States changes only; whether
//! one is good is seen by what the value is.

use crate::findings::{CaseFinding, CheckStatus, Findings, Headline};
use crate::limits::{CHANGE_LEAST, CHANGE_P};
use std::collections::BTreeMap;
use stend_base::{Say, Share, say};
use stend_spec::workload::Op;
use stend_stats::change_points::{SIDE_MIN, change_points};

/// Fewest runs in which a change can be seen: those of a side before it, and of one after it.
pub const RUNS_LEAST: usize = 2 * SIDE_MIN;

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
    values: Vec<Value>,
    /// Labels of the cases whose numbers no one should rely on.
    failed: Vec<String>,
}

/// One value of a case of a run.
#[derive(Debug, Clone, PartialEq)]
struct Value {
    label: String,
    workload: Say,
    followed: Followed,
    value: f64,
}

impl RunPoint {
    /// The values of a run that are followed: of each case its rate and the p99 of each operation, where there is one. A case with a failed
    /// check has none, as in a comparison of two runs.
    pub fn of(findings: &Findings) -> RunPoint {
        let measured = findings.cases.iter().filter(|case| case.trials > 0);
        let has_failed = |case: &&CaseFinding| case.checks.iter().any(|check| check.status == CheckStatus::Fail);
        let (failed, held): (Vec<_>, Vec<_>) = measured.partition(has_failed);
        RunPoint {
            run: findings.run.clone(),
            started_unix: findings.started_unix,
            values: held.into_iter().flat_map(values).collect(),
            failed: failed.into_iter().map(|case| case.label.clone()).collect(),
        }
    }
}

fn values(case: &CaseFinding) -> Vec<Value> {
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
    let (label, workload) = (&case.label, &case.workload);
    all.map(|(followed, value)| Value { label: label.clone(), workload: workload.clone(), followed, value }).collect()
}

/// Runs in the order of time, and how each value went.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The runs: id, and wall clock at the start.
    pub runs: Vec<(String, i64)>,
    /// By case, workload and value, in the order of labels.
    pub series: Vec<Series>,
    /// Cases of runs that are in no series because a check failed: label, and indices of the runs.
    pub left_out: Vec<(String, Vec<usize>)>,
}

/// One value over the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Label of the case.
    pub label: String,
    /// What it does, where cases of this label do not all do the same: each workload has a series of its own.
    pub workload: Option<Say>,
    /// The value.
    pub followed: Followed,
    /// (index of the run, value) of the runs that have it.
    pub points: Vec<(usize, f64)>,
    /// Where it changed and stayed so.
    pub changes: Vec<Change>,
}

impl Series {
    /// Whether it is too short for any change to be seen.
    pub fn is_short(&self) -> bool {
        self.points.len() < RUNS_LEAST
    }

    /// The label of the case, with what it does where labels alone do not tell.
    pub fn name(&self) -> Say {
        let label = &self.label;
        self.workload.as_ref().map_or_else(
            || Say::same(label.clone()),
            |workload| {
                let (en, ru) = (&workload.en, &workload.ru);
                say!("{label} ({en})", "{label} ({ru})")
            },
        )
    }
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

/// Label of a case, number of its workload, and what is followed.
type Key<'a> = (&'a str, usize, Followed);
/// (index of the run, value)
type Points = Vec<(usize, f64)>;

/// Follows every value over the runs, which are put in the order of time.
pub fn history(mut points: Vec<RunPoint>) -> History {
    points.sort_by(|a, b| (a.started_unix, &a.run).cmp(&(b.started_unix, &b.run)));
    let mut workloads: BTreeMap<&str, Vec<&Say>> = BTreeMap::new();
    let mut series: BTreeMap<Key, Points> = BTreeMap::new();
    let mut left_out: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, point) in points.iter().enumerate() {
        for Value { label, workload, followed, value } in &point.values {
            let known = workloads.entry(label).or_default();
            let number = known.iter().position(|one| *one == workload).unwrap_or_else(|| {
                known.push(workload);
                known.len() - 1
            });
            series.entry((label, number, *followed)).or_default().push((index, *value));
        }
        point.failed.iter().for_each(|label| left_out.entry(label).or_default().push(index));
    }
    let one = |((label, number, followed), points): (Key, Points)| {
        let of = &workloads[label];
        let workload = (of.len() > 1).then(|| of[number].clone());
        Series { label: label.to_string(), workload, followed, changes: changes(&points), points }
    };
    History {
        runs: points.iter().map(|point| (point.run.clone(), point.started_unix)).collect(),
        series: series.into_iter().map(one).collect(),
        left_out: left_out.into_iter().map(|(label, runs)| (label.to_string(), runs)).collect(),
    }
}

fn changes(points: &[(usize, f64)]) -> Vec<Change> {
    let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
    let change = |found: stend_stats::change_points::ChangePoint| Change {
        last: points[found.at - 1].0,
        first: points[found.at].0,
        before: found.before,
        after: found.after,
    };
    change_points(&values, CHANGE_P, CHANGE_LEAST).into_iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::fixture::{case, run, run_of};
    use stend_record::ZeroSample;
    use stend_spec::workload::Sync;

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
    fn numbers_whose_checks_failed_are_left_out_and_counted() {
        let point = |second: i64, zero: u32| {
            let mut record = run().six_blocks(&[if zero > 0 { 30_000.0 } else { 10_000.0 }]).record();
            (record.header.id, record.header.started_unix) = (format!("R-{second:04}"), second);
            record.load_mut().zeros = Some(ZeroSample { sampled: 1000, zero, contents: None });
            RunPoint::of(&analyse(&record).unwrap())
        };
        let found = history((0..12).map(|i| point(i, if i < 6 { 0 } else { 400 })).collect());
        assert_eq!((found.runs.len(), found.left_out.len()), (12, 1));
        assert_eq!(found.left_out[0].1, [6, 7, 8, 9, 10, 11]);
        for series in &found.series {
            assert_eq!((series.points.len(), series.changes.len()), (6, 0), "{series:?}");
        }
        assert_eq!(history((0..4).map(|i| point(i, 400)).collect()).series, []);
    }

    #[test]
    fn a_case_that_does_something_else_from_a_run_on_has_not_changed() {
        let point = |second: i64, depth: u32| {
            let mut record =
                run_of(vec![case("r", 100, depth, Sync::None)]).six_blocks(&[1_000.0 * f64::from(depth)]).record();
            (record.header.id, record.header.started_unix) = (format!("R-{second:04}"), second);
            RunPoint::of(&analyse(&record).unwrap())
        };
        // The label is that of the suite, which was edited.
        let mut points: Vec<RunPoint> = (0..12).map(|i| point(i, if i < 6 { 1 } else { 32 })).collect();
        points.iter_mut().flat_map(|point| &mut point.values).for_each(|value| value.label = "r".into());
        let found = history(points);
        assert!(found.series.iter().all(|series| series.changes.is_empty() && series.points.len() == 6), "{found:?}");
        let workloads: Vec<&str> = found
            .series
            .iter()
            .filter(|series| series.followed.is_rate())
            .map(|series| series.workload.as_ref().unwrap().en.as_str())
            .collect();
        assert!(workloads[0].contains("1 in flight") && workloads[1].contains("32 in flight"), "{workloads:?}");
    }

    #[test]
    fn a_steady_series_and_a_few_runs_have_no_change() {
        let steady = history((0..8).map(|i| point(i, 10_000.0 + (i % 3) as f64)).collect());
        assert!(steady.series.iter().all(|series| series.changes.is_empty()), "{:?}", steady.series);
        assert_eq!(history(Vec::new()).series, []);
        assert_eq!(history(vec![point(1, 1000.0), point(2, 9000.0)]).series[0].changes, []);
    }
}
