//! What a comparison says of each cell of its table. All cells are judged together, because among many some differ by
//! chance (method S5).

use super::{CaseComparison, Comparison, Doubt, Judged, Metric, Ratio, RatioBasis, RatioValue, Rule, Verdict};
use crate::findings::CheckId;
use crate::limits::{FALSE_DIFFERENCE, MARGIN};
use stend_spec::keys::repeats::BLOCKS;
use stend_spec::workload::Op;
use stend_stats::{holm, sign_flip, t_interval};

/// Most blocks that are suggested for all cells: half an hour of a short suite (by eye).
const BLOCKS_WAITED_FOR: u32 = 60;

/// What is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Good {
    More,
    Less,
}

/// Judges every cell, and says by which rule.
pub(super) fn judge(comparison: &mut Comparison, declared: Option<f64>) -> Rule {
    let floor = |metric| comparison.floor.as_ref().and_then(|floor| Some(floor.of(metric)?.share));
    let beyond = |metric| declared.unwrap_or_else(|| floor(metric).map_or(MARGIN, |floor| floor.max(MARGIN)));
    let p: Vec<f64> = cells(comparison).filter_map(|cell| cell.p).collect();
    let adjusted = holm::adjusted(&p);
    let mut adjusted = adjusted.into_iter();
    let together = cells(comparison)
        .filter(|cell| cell.p.is_some() || cell.has_too_few(sign_flip::fewest(FALSE_DIFFERENCE)))
        .count() as u32;
    let rule = Rule {
        margin: declared.unwrap_or(MARGIN),
        rate: beyond(Metric::Rate),
        latency: beyond(Metric::P99(Op::Read)),
        cells: p.len() as u32,
        together,
        needed: sign_flip::fewest(FALSE_DIFFERENCE / f64::from(together.max(1))),
        suggested: None,
        block: None,
    };
    let open: Vec<Candidate<'_>> =
        cells(comparison).filter(|cell| cell.has_too_few(rule.needed) || cell.is_wide(&rule)).collect();
    let all = open.iter().map(|cell| cell.blocks(&rule)).try_fold(rule.needed, |most, n| Some(most.max(n?)));
    // That some are equal may take hours to show: then those are asked that look different.
    let differing = open.iter().filter(|cell| cell.looks_different()).filter_map(|cell| cell.blocks(&rule)).max();
    let suggested = all.filter(|blocks| *blocks <= BLOCKS_WAITED_FOR).or(differing).or(all);
    let rule = Rule { suggested, ..rule };
    let judged: Vec<Judged> = cells(comparison)
        .map(|cell| {
            let p = cell.p.and_then(|_| adjusted.next());
            one(cell, p, &rule)
        })
        .collect();
    let mut judged = judged.into_iter();
    for ratio in comparison.cases.iter_mut().flat_map(CaseComparison::ratios_mut) {
        if let Some(found) = judged.next() {
            ratio.judged = found;
        }
    }
    rule
}

/// One ratio with what decides about it.
struct Candidate<'a> {
    ratio: &'a Ratio,
    metric: Metric,
    /// How far a configuration is from itself; 0 where that is not known.
    floor: f64,
    /// Why it is not looked at, whatever its value.
    excluded: Option<Doubt>,
    /// Two-sided p, if it is one of those that are judged together.
    p: Option<f64>,
}

/// Every ratio of the table, in the order of [`CaseComparison::ratios_mut`].
fn cells(comparison: &Comparison) -> impl Iterator<Item = Candidate<'_>> {
    comparison.cases.iter().flat_map(move |case| {
        case.cells().map(move |super::Cell { run, metric, ratio, .. }| {
            let floor = comparison.floor.as_ref().and_then(|floor| floor.of(metric)).map_or(0.0, |noise| noise.share);
            Candidate { p: None, ratio, metric, floor, excluded: excluded(case, run) }.with_p()
        })
    })
}

impl Candidate<'_> {
    fn with_p(self) -> Self {
        // What is left out is chosen by what does not depend on the difference: marks and numbers of trials.
        let enough = self.ratio.basis.independent() >= sign_flip::fewest(FALSE_DIFFERENCE);
        let p = match (&self.excluded, enough, self.ratio.interval) {
            (None, true, Some(_)) => self.ratio.p.map(|p| p.p),
            _ => None,
        };
        Candidate { p, ..self }
    }

    /// Whether it would be judged if it had so many blocks.
    fn has_too_few(&self, needed: u32) -> bool {
        let is_number = self.ratio.interval.is_some() || matches!(self.ratio.basis, RatioBasis::TooFewTrials);
        self.excluded.is_none() && is_number && self.ratio.basis.independent() < needed
    }

    /// Its interval holds 100 % and reaches beyond the margin: with the blocks that there are nothing can be said.
    fn is_wide(&self, rule: &Rule) -> bool {
        let interval = self.ratio.interval.filter(|_| self.excluded.is_none());
        interval.is_some_and(|interval| self.verdict(interval, rule) == Verdict::Inconclusive)
    }

    /// What its interval alone would say.
    fn verdict(&self, interval: (f64, f64), rule: &Rule) -> Verdict {
        let (good, beyond) = match self.metric {
            Metric::Rate => (Good::More, rule.rate),
            Metric::P99(_) => (Good::Less, rule.latency),
        };
        of_interval(interval, good, (rule.margin, beyond))
    }

    /// Its interval leaves out 100 %.
    fn looks_different(&self) -> bool {
        self.ratio.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }

    /// Blocks with which the ratio, if it is as it looks and its blocks spread as they do, gets a verdict: its interval clear of the margin
    /// on either side, and p small enough among all cells. `None`: more than 1000.
    fn blocks(&self, rule: &Rule) -> Option<u32> {
        // A single block shows only that it is too few.
        let (Some((low, high)), RatioValue::At(value)) = (self.ratio.interval, self.ratio.value) else {
            return Some(rule.needed);
        };
        let have = self.ratio.basis.independent().max(2) as usize;
        // On logarithms, where the interval is that of a mean: half of it is t · deviation / √n.
        let half = (high / low).ln() / 2.0;
        let deviation = half * (have as f64).sqrt() / t_interval::quantile_975(have - 1);
        let (distance, margin) = (value.ln().abs(), rule.margin.ln_1p());
        let level = 1.0 - FALSE_DIFFERENCE / f64::from(rule.together.max(1)) / 2.0;
        let enough = |n: u32| {
            let error = deviation / f64::from(n).sqrt();
            let within = |level: f64| t_interval::quantile(n as usize - 1, level) * error;
            within(0.975) <= (distance - margin).abs() && (distance <= margin || within(level) <= distance)
        };
        let most = BLOCKS.most;
        let (mut low, mut high) = (rule.needed.max(2), most);
        if !enough(high) {
            return None;
        }
        while low < high {
            let middle = (low + high) / 2;
            if enough(middle) { high = middle } else { low = middle + 1 }
        }
        Some(low)
    }

    /// It is no further from equal than a configuration is from itself.
    fn is_noise(&self) -> bool {
        matches!(self.ratio.value, RatioValue::At(value) if value.ln().abs() <= self.floor.ln_1p())
    }
}

fn excluded(case: &CaseComparison, run: usize) -> Option<Doubt> {
    let sides = [0, run].into_iter().filter_map(|i| case.sides.get(i)?.as_ref());
    let mut failed: Vec<CheckId> = sides.flat_map(|side| side.failed.iter().copied()).collect();
    failed.sort();
    failed.dedup();
    if !failed.is_empty() {
        return Some(Doubt::Failed(failed));
    }
    let (base, own) = (case.workloads.first(), case.workloads.get(run));
    (base != own).then_some(Doubt::OtherWorkload)
}

fn one(cell: Candidate<'_>, p_adjusted: Option<f64>, rule: &Rule) -> Judged {
    if let Some(doubt) = cell.excluded {
        return Judged::doubtful(doubt);
    }
    let Some(interval) = cell.ratio.interval else { return Judged::doubtful(Doubt::NoInterval) };
    let have = cell.ratio.basis.independent();
    let too_few = Doubt::TooFew { have, need: rule.needed };
    let Some(p) = p_adjusted else { return Judged::doubtful(too_few) };
    let verdict = cell.verdict(interval, rule);
    let doubt = match verdict {
        Verdict::Equivalent => None,
        Verdict::Inconclusive => Some(Doubt::Wide),
        _ if cell.is_noise() => Some(Doubt::InsideFloor),
        _ if p <= FALSE_DIFFERENCE => None,
        _ if have < rule.needed => Some(too_few),
        _ => Some(Doubt::Chance),
    };
    let verdict = if doubt.is_some() { Verdict::Inconclusive } else { verdict };
    let alternating = matches!(cell.ratio.basis, RatioBasis::Blocks { .. });
    let coloured = alternating && matches!(verdict, Verdict::Better | Verdict::Worse);
    Judged { verdict, doubt, p_adjusted: Some(p), coloured }
}

/// What an interval alone would say, of the margin and of what it must be beyond. Either is as wide upwards as downwards: by a factor, so that the verdict of B
/// against A is the mirror of that of A against B.
fn of_interval((low, high): (f64, f64), good: Good, (margin, beyond): (f64, f64)) -> Verdict {
    let (low, high) = match good {
        Good::More => (low, high),
        Good::Less => (1.0 / high, 1.0 / low),
    };
    match () {
        () if low > 1.0 + beyond => Verdict::Better,
        () if high < 1.0 / (1.0 + beyond) => Verdict::Worse,
        () if low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin => Verdict::Equivalent,
        () if low > 1.0 || high < 1.0 => Verdict::Differs,
        () => Verdict::Inconclusive,
    }
}

#[cfg(test)]
mod tests;
