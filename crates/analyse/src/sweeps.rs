//! What queue depth, jobs or load hosts buy: where the rate bends, what the Universal Scalability Law says of it, and what the last step
//! costs in latency. `docs/method/ceilings.md` has the rules.

use crate::charts::family::{Family, Kind, Member, Parameter, families};
use crate::findings::{CaseFinding, Headline, QuantileValue, Scaling, ScalingModel, SweepFinding, SweepOf, SweepPoint};
use crate::limits::{SWEEP_LEVEL, USL_DEVIATION, USL_SPREAD};
use stend_base::{Lang, Nanos, Say, Share, format, say_in};
use stend_plan::Plan;
use stend_spec::workload::Op;
use stend_stats::{knee, usl};

/// Most sweeps of a run that are described; the others are in its charts.
const SWEEPS_MAX: usize = 24;
/// Index of p99 in the quantiles of an operation.
const P99: usize = 1;

impl Scaling {
    /// Rate at a value.
    pub(crate) fn rate(&self, value: f64) -> f64 {
        usl::Usl { gamma: self.gamma, alpha: self.alpha, beta: self.beta }.rate(value)
    }
}

/// Sweeps of all families of a run.
pub(crate) fn findings(plan: &Plan, cases: &[CaseFinding]) -> Vec<SweepFinding> {
    let mut found = Vec::new();
    for family in &families(plan, cases) {
        for (index, parameter) in family.parameters.iter().enumerate() {
            let lines = family.lines(&[index]);
            found.extend(lines.iter().filter_map(|(name, members)| of_line(family, (index, parameter), name, members)));
        }
    }
    found.truncate(SWEEPS_MAX);
    found
}

/// One line of a family; `None` where nothing can be told: fewer than four values, an open loop, several streams.
pub(crate) fn of_line(
    family: &Family<'_>,
    (index, parameter): (usize, &Parameter),
    line: &Say,
    members: &[&Member<'_>],
) -> Option<SweepFinding> {
    let of = match parameter.kind {
        Kind::QueueDepth => SweepOf::QueueDepth,
        Kind::Jobs => SweepOf::Jobs,
        Kind::LoadHosts => SweepOf::LoadHosts,
        Kind::BlockSize => return None,
    };
    if members.len() < knee::POINTS_LEAST || !family.closed {
        return None;
    }
    let headline = members.first()?.case.headline;
    let points: Vec<SweepPoint> = members.iter().map(|m| point(m.case, m.values[index], headline)).collect();
    let curve: Vec<(f64, f64)> = points.iter().map(|p| (p.value as f64, p.rate)).collect();
    let parts = [family.name.as_str(), line.en.as_str()];
    Some(SweepFinding {
        label: parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "),
        of,
        headline,
        knee: knee::knee(&curve).map(|at| points[at].value),
        model: model(members, &points, headline),
        points,
    })
}

fn point(case: &CaseFinding, value: u64, headline: Headline) -> SweepPoint {
    let p99 = |op: &crate::findings::OpFinding| match op.quantiles.get(P99)?.value {
        QuantileValue::At(value) => Some(value),
        QuantileValue::Above(_) | QuantileValue::NotEnough { .. } | QuantileValue::Printed(_) => None,
    };
    let transfers = || case.ops.iter().filter(|op| op.op != Op::Sync);
    let all: Option<Vec<Nanos>> = transfers().map(p99).collect();
    SweepPoint { value, rate: case.total.of(headline).value, p99: all.and_then(|all| all.into_iter().max()) }
}

/// Weighted by how precise each rate is; one without an interval, or with a very narrow one, as if it were known to [`USL_SPREAD`].
fn model(members: &[&Member<'_>], points: &[SweepPoint], headline: Headline) -> ScalingModel {
    let observed: Vec<usl::Observed> = members
        .iter()
        .zip(points)
        .map(|(member, point)| {
            let half = member.case.total.of(headline).half_width().unwrap_or(0.0);
            let weight = (half.max(USL_SPREAD) * point.rate).powi(-2);
            usl::Observed { n: point.value as f64, rate: point.rate, weight }
        })
        .collect();
    let Some(found) = usl::fit(&observed) else { return ScalingModel::TooFew { have: points.len() as u32 } };
    let off = |p: &usl::Observed| (found.rate(p.n) / p.rate - 1.0).powi(2);
    let deviation = (observed.iter().map(off).sum::<f64>() / observed.len() as f64).sqrt();
    if deviation > USL_DEVIATION {
        return ScalingModel::Deviates { deviation: Share(deviation) };
    }
    let peak = found.peak();
    let bound = (found.alpha > 0.0).then(|| found.gamma / found.alpha);
    let last = points.last().map_or(0.0, |p| p.value as f64);
    ScalingModel::Fits(Scaling {
        gamma: found.gamma,
        alpha: found.alpha,
        beta: found.beta,
        peak,
        peak_rate: peak.map(|n| found.rate(n)).or(bound),
        extrapolated: peak.is_none_or(|n| n > last),
        deviation: Share(deviation),
    })
}

impl SweepFinding {
    /// What it says, in one or two sentences.
    pub fn say(&self) -> Say {
        Say::both(|l| self.bend(l) + &self.law(l))
    }

    /// Where the rate bends, alone.
    pub fn in_short(&self) -> Say {
        Say::both(|l| self.bend(l))
    }

    fn name(&self, l: Lang) -> &'static str {
        match self.of {
            SweepOf::QueueDepth => l.pick("queue depth", "глубина очереди"),
            SweepOf::Jobs => l.pick("jobs", "заданий"),
            SweepOf::LoadHosts => l.pick("load hosts", "нагружающих машин"),
        }
    }

    fn told(&self, rate: f64, l: Lang) -> String {
        match self.headline {
            Headline::Iops => format!("{} IOPS", format::iops(rate, l)),
            Headline::Throughput => format::throughput(rate, l),
        }
    }

    /// A value with its rate and p99.
    fn at(&self, point: &SweepPoint, l: Lang) -> String {
        let p99 = point.p99.map_or(String::new(), |p99| format!(", p99 {}", format::latency(p99, l)));
        let value = format::count(point.value);
        format!("{} {value}: {}{p99}", self.name(l), self.told(point.rate, l))
    }

    fn bend(&self, l: Lang) -> String {
        let (Some(last), Some(best)) =
            (self.points.last(), self.points.iter().max_by(|a, b| a.rate.total_cmp(&b.rate)))
        else {
            return String::new();
        };
        let Some(knee) = self.knee.and_then(|knee| self.points.iter().find(|p| p.value == knee)) else {
            return say_in!(
                l,
                "The rate has no clear bend up to {last}.",
                "Явного перегиба нет вплоть до наибольшего значения ({last}).",
                last = self.at(last, l)
            );
        };
        let share = format::percent(knee.rate / best.rate, l);
        if knee.value == best.value || knee.rate >= best.rate * (1.0 - SWEEP_LEVEL) {
            return say_in!(
                l,
                "The rate bends at {knee}; beyond, it does not grow, only latency does (at {last}).",
                "Перегиб — {knee}; дальше скорость не растёт, растёт только задержка ({last}).",
                knee = self.at(knee, l),
                last = self.at(last, l)
            );
        }
        say_in!(
            l,
            "The rate bends at {knee}, {share} of the largest ({best}).",
            "Перегиб — {knee}, это {share} наибольшей скорости ({best}).",
            knee = self.at(knee, l),
            best = self.at(best, l)
        )
    }

    /// What the law says; nothing where there are too few values for it.
    fn law(&self, l: Lang) -> String {
        let found = match &self.model {
            ScalingModel::TooFew { .. } => return String::new(),
            ScalingModel::Deviates { deviation } => {
                return say_in!(
                    l,
                    " It does not follow the Universal Scalability Law (off by {off}), so there is no extrapolation.",
                    " Универсальному закону масштабируемости скорость не следует (отклонение {off}), поэтому экстраполяции нет.",
                    off = format::percent(deviation.0, l)
                );
            }
            ScalingModel::Fits(found) => found,
        };
        let text = say_in!(
            l,
            " Universal Scalability Law: contention {alpha}, coherence {beta}",
            " Универсальный закон масштабируемости: борьба за ресурс {alpha}, согласование {beta}",
            alpha = fraction(found.alpha, l),
            beta = fraction(found.beta, l)
        );
        let rate = found.peak_rate.map(|rate| self.told(rate, l)).unwrap_or_default();
        let beyond = l.pick(" (extrapolated beyond what was measured)", " (экстраполяция за пределы измеренного)");
        let end = match (found.peak.map(|peak| format::count(peak.round() as u64)), found.peak_rate) {
            (Some(peak), Some(_)) => {
                say_in!(l, "; largest near {peak} at {rate}", "; наибольшая около {peak}: {rate}")
            }
            (None, Some(_)) => say_in!(l, "; comes nearer to {rate}", "; приближается к {rate}"),
            (_, None) => return text + l.pick("; no bound is seen.", "; предела не видно."),
        };
        text + &end + if found.extrapolated { beyond } else { "" } + "."
    }
}

/// A coefficient in percent with two digits that mean something.
fn fraction(value: f64, l: Lang) -> String {
    let digits = if value > 0.0 { (-(value * 100.0).log10()).ceil().clamp(0.0, 5.0) as usize + 1 } else { 0 };
    format!("{}\u{a0}%", format::fixed(value * 100.0, digits, l))
}

#[cfg(test)]
mod tests;
