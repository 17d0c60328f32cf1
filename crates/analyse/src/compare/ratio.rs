//! The ratio of a case in two runs, or in two arms of one run. Most runs were made one after the other, so their
//! trials are two independent sets. Arms, and stands that are built for each block, alternated: there the trials of a block are a pair, and
//! what drifted over the run cancels (method S4, S5).

use super::{ByBlock, Doubt, Judged, P, Pairing, QUANTILE, Ratio, RatioBasis, RatioValue, Robust, Test};
use crate::by_trial::figures_of;
use crate::findings::{Headline, OpFinding, QuantileValue, Rates};
use crate::operations::{OpLatency, latencies};
use crate::trials::CaseTrials;
use std::collections::{BTreeMap, BTreeSet};
use stend_spec::workload::Op;
use stend_stats::quotient::{self, Figure};
use stend_stats::{order_statistic, signed_rank};

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
    /// Latencies over all counting trials.
    latencies: Vec<OpLatency>,
    /// What is found about each counting trial alone.
    by_trial: Vec<Vec<OpFinding>>,
    /// Trials that stand or fall together, by their places among those that count: those of a block.
    units: BTreeMap<u32, Vec<usize>>,
    /// Places of trials in blocks that the other side lacks: what drifted would not cancel.
    unpaired: Vec<usize>,
}

impl<'a> OneSide<'a> {
    fn new(Seen { total, ops, trials }: Seen<'a>, pairing: Pairing) -> OneSide<'a> {
        let by_trial = trials.counting.iter().map(|trial| figures_of(trials, *trial)).collect();
        OneSide {
            total,
            ops,
            trials,
            latencies: latencies(trials),
            by_trial,
            units: units(trials, pairing),
            unpaired: Vec::new(),
        }
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

    /// Leaves out the blocks that are not `common`.
    fn keep(&mut self, common: &BTreeSet<u32>) {
        let (kept, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.units).into_iter().partition(|(unit, _)| common.contains(unit));
        self.units = kept;
        self.unpaired = left.into_values().flatten().collect();
    }

    /// The p99 that is `told` over all trials, unless some have no partner.
    fn p99_figure(&self, told: f64, (stream, op): (u16, Op), by_trial: &[f64]) -> Option<Figure> {
        let of = self.latencies.iter().find(|latency| (latency.stream, latency.op) == (stream, op))?;
        let without = |left_out: &[usize]| {
            let gone = [left_out, &self.unpaired].concat();
            Some(of.distribution.quantile_without(&gone, QUANTILE)?.0 as f64)
        };
        let all = if self.unpaired.is_empty() { told } else { without(&[])? };
        Figure::new(all, &self.units, by_trial, without)
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
        let (mut baseline, mut other) = (OneSide::new(baseline, pairing), OneSide::new(other, pairing));
        if pairing == Pairing::Blocks {
            let common = baseline.units.keys().filter(|unit| other.units.contains_key(unit)).copied().collect();
            baseline.keep(&common);
            other.keep(&common);
        }
        Sides { baseline, other, pairing }
    }

    /// The quotient of two printed figures, by trials that belong together; `told` alone where it has no interval.
    fn over(&self, figures: Option<[Figure; 2]>, told: RatioValue) -> Ratio {
        let units = [&self.baseline.units, &self.other.units];
        let both = units.map(BTreeMap::len).into_iter().min().unwrap_or(0);
        if both < 2 {
            return Ratio::bare(told, RatioBasis::TooFewTrials);
        }
        let Some([baseline, other]) = figures else { return Ratio::bare(told, RatioBasis::NotANumber) };
        let found = match self.pairing {
            Pairing::None => quotient::of_independent(&baseline, &other),
            Pairing::Blocks => quotient::of_pairs(&baseline, &other),
        };
        let Some(found) = found else { return Ratio::bare(told, RatioBasis::NotANumber) };
        let (basis, robust) = match self.pairing {
            Pairing::None => {
                let [baseline, other] = units.map(|units| units.len() as u32);
                (RatioBasis::Trials { baseline, other }, None)
            }
            Pairing::Blocks => {
                let centre = signed_rank::centre(&quotient::effects(&baseline, &other));
                (RatioBasis::Blocks { n: both as u32 }, centre.map(robust))
            }
        };
        let p = found.p.map(|found| match self.pairing {
            Pairing::None => P { p: found.p, test: Test::Welch },
            Pairing::Blocks => P::from(found),
        });
        Ratio {
            value: RatioValue::At(found.ratio),
            interval: Some(found.interval),
            basis,
            p,
            robust,
            judged: Judged::doubtful(Doubt::NoInterval),
            by_block: Some(ByBlock { baseline, other }),
        }
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
        let [from, to] = shown.map(|rates| rates.of(headline).value);
        let figure = |side: &OneSide<'_>| Figure::of_mean(&side.units, &side.rates(stream, ops, headline));
        let figures = figure(&self.baseline).zip(figure(&self.other));
        self.over(figures.map(<[Figure; 2]>::from), quotient_of(from, to))
    }

    /// Ratio of the p99 of one operation; `None` if the baseline does not have the operation.
    pub fn p99(&self, stream: u16, op: Op) -> Option<Ratio> {
        let a = p99(self.baseline.op(stream, op)?)?;
        let b = p99(self.other.op(stream, op)?)?;
        let alone = |value: QuantileValue| value.single().map_or(value, QuantileValue::At);
        let value = match (alone(a), alone(b)) {
            (QuantileValue::At(a), QuantileValue::At(b)) => quotient_of(a.0 as f64, b.0 as f64),
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
        let by_trial = match by_trial {
            Ok(by_trial) => by_trial,
            Err(basis) => return Some(Ratio::bare(value, basis)),
        };
        let figure = |side: &OneSide<'_>, all: QuantileValue, by_trial: &[f64]| match alone(all) {
            QuantileValue::At(all) => side.p99_figure(all.0 as f64, (stream, op), by_trial),
            _ => None,
        };
        let figures = figure(&self.baseline, a, &by_trial.0).zip(figure(&self.other, b, &by_trial.1));
        Some(self.over(figures.map(<[Figure; 2]>::from), value))
    }
}

/// Trials by block. Where sides are two sets and a block has several, each trial is one of its own.
fn units(trials: &CaseTrials<'_>, pairing: Pairing) -> BTreeMap<u32, Vec<usize>> {
    let mut units: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, trial) in trials.counting.iter().enumerate() {
        units.entry(trial.record.block).or_default().push(place);
    }
    match pairing == Pairing::None && units.len() < trials.counting.len() {
        true => (0..trials.counting.len()).map(|place| (place as u32, vec![place])).collect(),
        false => units,
    }
}

fn robust(centre: signed_rank::Centre) -> Robust {
    Robust { value: centre.value.exp(), interval: centre.interval.map(|(low, high)| (low.exp(), high.exp())) }
}

fn p99(op: &OpFinding) -> Option<QuantileValue> {
    op.quantiles.iter().find(|q| q.q == QUANTILE).map(|q| q.value)
}

fn quotient_of(a: f64, b: f64) -> RatioValue {
    if a > 0.0 { RatioValue::At(b / a) } else { RatioValue::Unknown }
}

fn above(a: f64, b: f64) -> RatioValue {
    if a > 0.0 { RatioValue::Above(b / a) } else { RatioValue::Unknown }
}

fn below(a: f64, b: f64) -> RatioValue {
    if a > 0.0 { RatioValue::Below(b / a) } else { RatioValue::Unknown }
}
