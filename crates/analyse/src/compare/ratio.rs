//! The ratio of a case in two runs, or in two arms of one run. Most runs were made one after the other, so their
//! trials are two independent sets. Arms, and stands that are built for each block, alternated: there the trials of a block are a pair, and
//! what drifted over the run cancels (method S4, S5).

use super::{ByBlock, Doubt, Judged, P, Pairing, QUANTILE, Ratio, RatioBasis, RatioValue, Robust, Test};
use crate::by_trial::figures_of;
use crate::findings::{Headline, OpFinding, QuantileValue, Rates};
use crate::stats::{mean, order_statistic, paired, signed_rank, welch};
use crate::trials::CaseTrials;
use std::collections::BTreeMap;
use stend_spec::workload::Op;

/// I/Os that the rate of a case counts.
const COUNTED: [Op; 4] = Op::IO;

/// A case of one side: what is found over its trials, and these.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// Rates over all trials.
    pub total: &'a Rates,
    /// Operations over all trials.
    pub ops: &'a [OpFinding],
    /// The trials.
    pub trials: &'a CaseTrials<'a>,
}

/// A case in the baseline and in another run.
pub struct Sides<'a> {
    baseline: OneSide<'a>,
    other: OneSide<'a>,
    pairing: Pairing,
}

struct OneSide<'a> {
    total: &'a Rates,
    ops: &'a [OpFinding],
    trials: &'a CaseTrials<'a>,
    /// What is found about each counting trial alone.
    by_trial: Vec<Vec<OpFinding>>,
}

impl<'a> OneSide<'a> {
    fn new(Seen { total, ops, trials }: Seen<'a>) -> OneSide<'a> {
        let by_trial = trials.counting.iter().map(|trial| figures_of(trials, *trial)).collect();
        OneSide { total, ops, trials, by_trial }
    }

    /// The rate of each counting trial, per second: of `ops` of one stream, or of all.
    fn rates(&self, stream: Option<u16>, ops: &[Op], headline: Headline) -> Vec<f64> {
        let rate = |trial: &crate::trials::Counting<'_>| {
            let (ops, bytes) = trial.done(stream, ops);
            let done = match headline {
                Headline::Iops => ops,
                Headline::Throughput => bytes,
            };
            done as f64 / trial.window.as_secs()
        };
        self.trials.counting.iter().map(rate).collect()
    }

    /// Values by counting trial, sorted into the blocks of these trials.
    fn by_block(&self, values: &[f64]) -> BTreeMap<u32, Vec<f64>> {
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (trial, value) in self.trials.counting.iter().zip(values) {
            blocks.entry(trial.record.block).or_default().push(*value);
        }
        blocks
    }

    fn op(&self, stream: u16, op: Op) -> Option<&OpFinding> {
        self.ops.iter().find(|o| (o.stream, o.op) == (stream, op))
    }

    /// p99 of each counting trial, ns; else the reason why some trial has none.
    fn p99s(&self, stream: u16, op: Op) -> Result<Vec<f64>, RatioBasis> {
        let need = order_statistic::least_count(QUANTILE);
        let value = |ops: &Vec<OpFinding>| {
            let found = ops.iter().find(|o| (o.stream, o.op) == (stream, op));
            match found.and_then(p99) {
                Some(value) if value.single().is_some() => Ok(value.single().map_or(0.0, |value| value.0 as f64)),
                Some(QuantileValue::Above(_) | QuantileValue::At(_)) => Err(RatioBasis::NotANumber),
                Some(QuantileValue::Printed(_)) => Err(RatioBasis::NotMergeable),
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
    pub fn new(baseline: Seen<'a>, other: Seen<'a>, pairing: Pairing) -> Sides<'a> {
        Sides { baseline: OneSide::new(baseline), other: OneSide::new(other), pairing }
    }

    /// The ratio of values by trial, as the trials belong together; otherwise `shown`.
    fn over(&self, a: &[f64], b: &[f64], shown: RatioValue) -> Ratio {
        let blocks = (self.baseline.by_block(a), self.other.by_block(b));
        let ratio = match self.pairing {
            Pairing::None => over_trials(a, b, shown),
            Pairing::Blocks => over_blocks(&blocks.0, &blocks.1, shown),
        };
        let by_block = ratio.interval.map(|_| ByBlock { baseline: logs(&blocks.0), other: logs(&blocks.1) });
        Ratio { by_block, ..ratio }
    }

    /// Ratio of the headline rate.
    pub fn rate(&self, headline: Headline) -> Ratio {
        let shown = [self.baseline.total, self.other.total];
        self.rate_of(None, &COUNTED, headline, shown)
    }

    /// Ratio of a rate of one operation; `None` if a side does not have the operation.
    pub fn part(&self, stream: u16, op: Op, headline: Headline) -> Option<Ratio> {
        let shown = [&self.baseline.op(stream, op)?.rates, &self.other.op(stream, op)?.rates];
        Some(self.rate_of(Some(stream), &[op], headline, shown))
    }

    fn rate_of(&self, stream: Option<u16>, ops: &[Op], headline: Headline, shown: [&Rates; 2]) -> Ratio {
        let [a, b] = [&self.baseline, &self.other].map(|side| side.rates(stream, ops, headline));
        let [from, to] = shown.map(|rates| rates.of(headline).value);
        self.over(&a, &b, quotient(from, to))
    }

    /// Ratio of the p99 of one operation; `None` if the baseline does not have the operation.
    pub fn p99(&self, stream: u16, op: Op) -> Option<Ratio> {
        let a = p99(self.baseline.op(stream, op)?)?;
        let b = p99(self.other.op(stream, op)?)?;
        let alone = |value: QuantileValue| value.single().map_or(value, QuantileValue::At);
        let value = match (alone(a), alone(b)) {
            (QuantileValue::At(a), QuantileValue::At(b)) => quotient(a.0 as f64, b.0 as f64),
            (QuantileValue::At(a), QuantileValue::Above(b)) => above(a.0 as f64, b.0 as f64),
            (QuantileValue::Above(a), QuantileValue::At(b)) => below(a.0 as f64, b.0 as f64),
            (QuantileValue::Above(_), QuantileValue::Above(_)) => RatioValue::Unknown,
            (QuantileValue::Printed(_), _) | (_, QuantileValue::Printed(_)) => {
                return Some(Ratio::bare(RatioValue::Unknown, RatioBasis::NotMergeable));
            }
            (QuantileValue::NotEnough { .. }, _) | (_, QuantileValue::NotEnough { .. }) => {
                return Some(Ratio::bare(RatioValue::Unknown, RatioBasis::NotEnough));
            }
        };
        if !matches!(value, RatioValue::At(_)) {
            return Some(Ratio::bare(value, RatioBasis::NotANumber));
        }
        let by_trial = self.baseline.p99s(stream, op).and_then(|a| Ok((a, self.other.p99s(stream, op)?)));
        Some(match by_trial {
            Ok((a, b)) => self.over(&a, &b, value),
            Err(basis) => Ratio::bare(value, basis),
        })
    }
}

/// The ratio over blocks where that can be told, otherwise `shown`, which has no interval.
fn over_blocks(a: &BTreeMap<u32, Vec<f64>>, b: &BTreeMap<u32, Vec<f64>>, shown: RatioValue) -> Ratio {
    let both: Vec<(&Vec<f64>, &Vec<f64>)> = a.iter().filter_map(|(block, a)| Some((b.get(block)?, a))).collect();
    if both.len() < 2 {
        return Ratio::bare(shown, RatioBasis::TooFewTrials);
    }
    let effects: Option<Vec<f64>> = both.iter().map(|(above, below)| paired::effect(above, below)).collect();
    let effects = effects.unwrap_or_default();
    match paired::ratio(&effects) {
        Some(found) => Ratio {
            value: RatioValue::At(found.ratio),
            interval: Some(found.interval),
            basis: RatioBasis::Blocks { n: found.blocks as u32 },
            p: found.p.map(P::from),
            robust: signed_rank::centre(&effects).map(robust),
            judged: Judged::doubtful(Doubt::NoInterval),
            by_block: None,
        },
        None => Ratio::bare(shown, RatioBasis::NotANumber),
    }
}

/// The ratio over trials where that can be told, otherwise `shown`, which has no interval.
fn over_trials(a: &[f64], b: &[f64], shown: RatioValue) -> Ratio {
    if a.len() < 2 || b.len() < 2 {
        return Ratio::bare(shown, RatioBasis::TooFewTrials);
    }
    match welch::log_ratio(a, b) {
        Some(found) => Ratio {
            value: RatioValue::At(found.ratio),
            interval: Some(found.interval),
            basis: RatioBasis::Trials { baseline: a.len() as u32, other: b.len() as u32 },
            p: Some(P { p: found.p, test: Test::Welch }),
            robust: None,
            judged: Judged::doubtful(Doubt::NoInterval),
            by_block: None,
        },
        None => Ratio::bare(shown, RatioBasis::NotANumber),
    }
}

/// Mean logarithm of each block. Where there is an interval all values are above 0.
fn logs(blocks: &BTreeMap<u32, Vec<f64>>) -> BTreeMap<u32, f64> {
    let log = |values: &Vec<f64>| mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>());
    blocks.iter().filter_map(|(block, values)| Some((*block, log(values)?))).collect()
}

fn robust(centre: signed_rank::Centre) -> Robust {
    Robust { value: centre.value.exp(), interval: centre.interval.map(|(low, high)| (low.exp(), high.exp())) }
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
