//! The ratio of a case in two runs. The runs were made one after the other, not in interleaved blocks,
//! so their trials are two independent sets: nothing is paired.

use super::{QUANTILE, Ratio, RatioBasis, RatioValue};
use crate::by_trial::figures_of;
use crate::findings::{CaseFinding, Estimate, Headline, OpFinding, QuantileValue};
use crate::stats::{order_statistic, welch};
use crate::trials::CaseTrials;
use stend_spec::workload::Op;

/// I/Os that the rate of a case counts.
const COUNTED: [Op; 2] = [Op::Read, Op::Write];

/// A case in the baseline and in another run.
pub struct Sides<'a> {
    baseline: OneSide<'a>,
    other: OneSide<'a>,
}

struct OneSide<'a> {
    finding: &'a CaseFinding,
    trials: &'a CaseTrials<'a>,
    /// What is found about each counting trial alone.
    by_trial: Vec<Vec<OpFinding>>,
}

impl<'a> OneSide<'a> {
    fn new((finding, trials): (&'a CaseFinding, &'a CaseTrials<'a>)) -> OneSide<'a> {
        let by_trial = trials.counting.iter().map(|trial| figures_of(trials, *trial)).collect();
        OneSide { finding, trials, by_trial }
    }

    /// The rate of each counting trial, per second.
    fn rates(&self, headline: Headline) -> Vec<f64> {
        let rate = |trial: &crate::trials::Counting<'_>| {
            let (ops, bytes) = trial.done(None, &COUNTED);
            let done = match headline {
                Headline::Iops => ops,
                Headline::Throughput => bytes,
            };
            done as f64 / trial.window.as_secs()
        };
        self.trials.counting.iter().map(rate).collect()
    }

    fn op(&self, stream: u16, op: Op) -> Option<&OpFinding> {
        self.finding.ops.iter().find(|o| (o.stream, o.op) == (stream, op))
    }

    /// p99 of each counting trial, ns; else the reason why some trial has none.
    fn p99s(&self, stream: u16, op: Op) -> Result<Vec<f64>, RatioBasis> {
        let need = order_statistic::least_count(QUANTILE);
        let value = |ops: &Vec<OpFinding>| {
            let found = ops.iter().find(|o| (o.stream, o.op) == (stream, op));
            match found.and_then(p99) {
                Some(QuantileValue::At(value)) => Ok(value.0 as f64),
                Some(QuantileValue::Above(_)) => Err(RatioBasis::NotANumber),
                Some(QuantileValue::NotEnough { .. }) | None => {
                    Err(RatioBasis::TrialsTooShort { have: found.map_or(0, |f| f.count), need })
                }
            }
        };
        self.by_trial.iter().map(value).collect()
    }
}

impl<'a> Sides<'a> {
    /// Both sides of a case.
    pub fn new(
        baseline: (&'a CaseFinding, &'a CaseTrials<'a>),
        other: (&'a CaseFinding, &'a CaseTrials<'a>),
    ) -> Sides<'a> {
        Sides { baseline: OneSide::new(baseline), other: OneSide::new(other) }
    }

    /// Ratio of the headline rate.
    pub fn rate(&self, headline: Headline) -> Ratio {
        let (a, b) = (self.baseline.rates(headline), self.other.rates(headline));
        let shown = |side: &OneSide<'_>| -> Estimate {
            match headline {
                Headline::Iops => side.finding.total.iops.clone(),
                Headline::Throughput => side.finding.total.throughput.clone(),
            }
        };
        let value = quotient(shown(&self.baseline).value, shown(&self.other).value);
        over_trials(&a, &b, value)
    }

    /// Ratio of the p99 of one operation; `None` if the baseline does not have the operation.
    pub fn p99(&self, stream: u16, op: Op) -> Option<Ratio> {
        let a = p99(self.baseline.op(stream, op)?)?;
        let b = p99(self.other.op(stream, op)?)?;
        let value = match (a, b) {
            (QuantileValue::At(a), QuantileValue::At(b)) => quotient(a.0 as f64, b.0 as f64),
            (QuantileValue::At(a), QuantileValue::Above(b)) => above(a.0 as f64, b.0 as f64),
            (QuantileValue::Above(a), QuantileValue::At(b)) => below(a.0 as f64, b.0 as f64),
            (QuantileValue::Above(_), QuantileValue::Above(_)) => RatioValue::Unknown,
            (QuantileValue::NotEnough { .. }, _) | (_, QuantileValue::NotEnough { .. }) => {
                return Some(Ratio { value: RatioValue::Unknown, interval: None, basis: RatioBasis::NotEnough });
            }
        };
        if !matches!(value, RatioValue::At(_)) {
            return Some(Ratio { value, interval: None, basis: RatioBasis::NotANumber });
        }
        let by_trial = self.baseline.p99s(stream, op).and_then(|a| Ok((a, self.other.p99s(stream, op)?)));
        Some(match by_trial {
            Ok((a, b)) => over_trials(&a, &b, value),
            Err(basis) => Ratio { value, interval: None, basis },
        })
    }
}

/// The ratio over trials where that can be told, otherwise `shown`, which has no interval.
fn over_trials(a: &[f64], b: &[f64], shown: RatioValue) -> Ratio {
    if a.len() < 2 || b.len() < 2 {
        return Ratio { value: shown, interval: None, basis: RatioBasis::TooFewTrials };
    }
    match welch::log_ratio(a, b) {
        Some((ratio, interval)) => Ratio {
            value: RatioValue::At(ratio),
            interval: Some(interval),
            basis: RatioBasis::Trials { baseline: a.len() as u32, other: b.len() as u32 },
        },
        None => Ratio { value: shown, interval: None, basis: RatioBasis::NotANumber },
    }
}

fn p99(op: &OpFinding) -> Option<QuantileValue> {
    op.quantiles.iter().find(|q| q.q == QUANTILE).map(|q| q.value)
}

fn quotient(a: f64, b: f64) -> RatioValue {
    if a > 0.0 { RatioValue::At(b / a) } else { RatioValue::Unknown }
}

fn above(a: f64, b: f64) -> RatioValue {
    if a > 0.0 { RatioValue::Above(b / a) } else { RatioValue::Unknown }
}

fn below(a: f64, b: f64) -> RatioValue {
    if a > 0.0 { RatioValue::Below(b / a) } else { RatioValue::Unknown }
}
