//! How precise a case is, whether that is enough, and what it takes to be: the rule by which a run stops repeating a case is
//! the one by which its file is judged.

use crate::findings::{CaseFinding, Headline, OpFinding, PrecisionFinding};
use crate::limits::{PRECISION, RUN_SHORTER, TRIALS_PUBLISHABLE, WINDOW_SUGGESTED};
use crate::operations::{latencies, op_finding};
use crate::search::Ended;
use crate::series::{Cell, INTERVAL};
use crate::steady::Rounds;
use crate::trials::{CaseTrials, Counting};
use crate::widths::{at_look, widths};
use crate::{between_arms, phrase, rates, search};
use std::collections::BTreeMap;
use stend_base::histogram::Histogram;
use stend_base::{Lang, Nanos, Say, Share, format, say_in};
use stend_plan::{Outcome, Plan};
use stend_record::{JobTotals, TrialOutcome, TrialRecord};
use stend_spec::keys::repeats::BLOCKS;
use stend_spec::until::{Until, is_look};
use stend_spec::workload::Op;
use stend_stats::{batch_means, levels, mean, variance};

/// What a run remembers of the trials of each case, to tell when they are enough.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    trials: BTreeMap<u32, Vec<TrialRecord>>,
    rounds: BTreeMap<u32, Rounds>,
}

impl Looks {
    /// What a round of a case means for what comes next. Rounds must come in the order of the run.
    pub fn round(&mut self, plan: &Plan, (case, round): (u32, u32), ended: &Ended<'_>) -> Outcome {
        let headline = phrase::headline(&plan.cases[case as usize].trial);
        let steady = self.rounds.entry(case).or_default().learn(headline, round, ended.whole);
        match search::step(plan, case, ended) {
            Outcome::Ok if steady => Outcome::Steady,
            plain => plain,
        }
    }

    /// What a trial of (case, block) means for what comes next. Trials must come in the order of the run.
    pub fn step(&mut self, plan: &Plan, (case, block): (u32, u32), ended: &Ended<'_>) -> Outcome {
        let (plain, outcome) = (search::step(plan, case, ended), ended.whole);
        let Some(until) = plan.until.filter(|_| plan.rung(case).is_none()) else { return plain };
        let trials = self.trials.entry(case).or_default();
        let asked = plan.trial(case, plan.trial_seed(block, case));
        let begun = TrialRecord::new(trials.len() as u32, (case, block), asked, outcome.load_start);
        let outcome = TrialOutcome { jobs: by_stream(&outcome.jobs), probes: None, ..outcome.clone() };
        trials.push(TrialRecord { outcome: Some(outcome), ..begun });
        let enough = || match plan.arms.is_empty() {
            true => {
                let own = &self.trials[&case];
                let seen = CaseTrials::of(case, &own[0].asked, own);
                let trials = seen.counting.len() as u32;
                is_look(trials) && narrow(&seen, &at_look(until, trials))
            }
            // What is asked of arms is how they differ.
            false => self.in_arms(plan, case).is_some_and(|arms| between_arms::is_narrow(&arms, block, until)),
        };
        if plain == Outcome::Ok && enough() { Outcome::Narrow } else { plain }
    }

    /// Begins anew with a case: from here on it is the load of other hosts, of which nothing is known yet.
    pub fn forget(&mut self, case: u32) {
        self.trials.remove(&case);
        self.rounds.remove(&case);
    }

    /// The trials so far of a case in every arm; `None` before each has one.
    fn in_arms(&self, plan: &Plan, case: u32) -> Option<Vec<CaseTrials<'_>>> {
        let one = |cell: u32| {
            let trials = self.trials.get(&cell).filter(|trials| !trials.is_empty())?;
            Some(CaseTrials::of(cell, &trials[0].asked, trials))
        };
        between_arms::in_arms(plan, case).map(one).collect()
    }
}

fn narrow(case: &CaseTrials<'_>, until: &Until) -> bool {
    let ops: Vec<OpFinding> = latencies(case).iter().map(|latency| op_finding(case, latency)).collect();
    widths(phrase::headline(case.asked), &rates::rates(case, None, &Op::IO), &ops).hold(until)
}

/// The jobs of each stream as one: all that is kept of a trial until the run ends.
fn by_stream(jobs: &[JobTotals]) -> Vec<JobTotals> {
    let mut streams: BTreeMap<u16, Vec<&JobTotals>> = BTreeMap::new();
    jobs.iter().for_each(|job| streams.entry(job.stream).or_default().push(job));
    let merged =
        |jobs: &[&JobTotals], of: fn(&JobTotals, usize) -> Option<&stend_base::histogram::Sparse>, op: usize| {
            let mut all = Histogram::new();
            jobs.iter().filter_map(|job| of(job, op)).for_each(|part| all.merge_sparse(part));
            all.sparse()
        };
    let one = |(stream, jobs): (u16, Vec<&JobTotals>)| {
        let mut done = [(0u64, 0u64); stend_spec::workload::OPS];
        for (sum, op) in done.iter_mut().zip(0..) {
            for job in &jobs {
                *sum = (sum.0.saturating_add(job.done[op].0), sum.1.saturating_add(job.done[op].1));
            }
        }
        JobTotals {
            done,
            latency: std::array::from_fn(|op| merged(&jobs, |job, op| Some(&job.latency[op]), op)),
            ..JobTotals::empty(stream, 0)
        }
    };
    streams.into_iter().map(one).collect()
}

/// Puts into each case how precise it is and what more would take; not into rates that a search tried, which have a rule
/// of their own.
pub(crate) fn insert(plan: &Plan, trials: &[CaseTrials<'_>], cases: &mut [CaseFinding]) {
    for (case, found) in trials.iter().zip(cases) {
        if plan.rung(case.case).is_none() {
            // With arms `until` asks how precise their difference is.
            found.precision = finding(plan.until.as_ref().filter(|_| plan.arms.is_empty()), case, found);
        }
    }
}

fn finding(until: Option<&Until>, case: &CaseTrials<'_>, found: &CaseFinding) -> Option<PrecisionFinding> {
    let half_width = found.total.of(found.headline).half_width().filter(|_| case.counting.len() >= 2)?;
    let goal = until.map_or(PRECISION, |until| until.width.as_share());
    let rate = |trial: &Counting<'_>| {
        let (ops, bytes) = trial.done(None, &Op::IO);
        (if found.headline == Headline::Iops { ops } else { bytes }) as f64 / trial.window.as_secs()
    };
    let values: Vec<f64> = case.counting.iter().map(rate).collect();
    let (centre, spread) = (mean(&values)?, variance(&values)?);
    let needed = needed(spread, goal * centre);
    Some(PrecisionFinding {
        trials: found.trials,
        half_width: Share(half_width),
        goal: Share(goal),
        needed,
        window: case.asked.window,
        better: inside(case, found.headline).and_then(|split| better(&split, case, goal * centre, needed)),
    })
}

/// Blocks for this half-width: at least as many as may be published, and pairs of an order and its mirror.
fn needed(spread: f64, goal: f64) -> Option<u32> {
    let n = levels::needed(spread, goal, BLOCKS.most as usize)? as u32;
    Some(n.max(TRIALS_PUBLISHABLE).next_multiple_of(2))
}

/// The spread of a case by level.
struct Split {
    /// Length of a batch, s.
    batch: f64,
    levels: Vec<levels::Level>,
}

/// Splits the spread into that inside trials and that between them; `None` where a trial is too short for its own
/// autocorrelation, or two are not alike long.
fn inside(case: &CaseTrials<'_>, headline: Headline) -> Option<Split> {
    let of: fn(&Cell) -> f64 = match headline {
        Headline::Iops => |cell| cell.ops,
        Headline::Throughput => |cell| cell.bytes,
    };
    let series: Vec<Vec<f64>> =
        case.counting.iter().map(|trial| rates::window_series(trial, None, &Op::IO, of)).collect();
    let found: Option<Vec<batch_means::Batches>> =
        series.iter().map(|series| batch_means::batches(series, 1)).collect();
    let length = found?.iter().map(|batches| batches.length).max()?;
    let count = series.iter().map(|series| series.len() / length).min()?;
    let batches = series.iter().flat_map(|s| s[s.len() - count * length..].chunks_exact(length).filter_map(mean));
    let levels = levels::components(&batches.collect::<Vec<f64>>(), &[count, series.len()])?;
    Some(Split { batch: length as f64 * INTERVAL.as_secs(), levels })
}

/// Longer trials that reach the goal in clearly less time, with the blocks that they take.
fn better(split: &Split, case: &CaseTrials<'_>, goal: f64, now: Option<u32>) -> Option<(Nanos, u32)> {
    let ramp = case.asked.ramp.as_secs();
    let best = *levels::best_repeats(&split.levels, &[split.batch, ramp]).first()?;
    let seconds = (best * split.batch).ceil().clamp(1.0, WINDOW_SUGGESTED.as_secs());
    let [inside, between] = [split.levels.first()?, split.levels.get(1)?].map(|level| level.own.max(0.0));
    if seconds <= case.asked.window.as_secs() {
        return None;
    }
    let blocks = needed(between + inside * split.batch / seconds, goal)?;
    let time = |blocks: u32, window: f64| f64::from(blocks) * (window + ramp);
    let shorter = now.is_none_or(|now| time(blocks, seconds) <= RUN_SHORTER * time(now, case.asked.window.as_secs()));
    shorter.then_some((Nanos::secs(seconds as u64), blocks))
}

impl PrecisionFinding {
    /// Whether the goal is reached.
    pub fn is_reached(&self) -> bool {
        self.half_width.0 <= self.goal.0
    }

    /// How precise it is, and what it takes to be as precise as it should.
    pub fn say(&self) -> Say {
        Say::both(|l| self.sentence(l))
    }

    fn sentence(&self, l: Lang) -> String {
        let (half, goal) = (self.half_width.0, self.goal.0);
        let (half, goal) = (format::near_limit::plus_minus(half, goal, l), format::plus_minus(goal, l));
        let (n, most, window) = (self.trials, BLOCKS.most, format::duration(self.window, l));
        let now = say_in!(l, "{half} over {n} trials of {window}", "{half}, испытаний по {window}: {n}");
        if self.is_reached() {
            return now + ".";
        }
        let more = match self.needed {
            Some(blocks) => say_in!(
                l,
                "{goal} needs about {blocks} blocks of such trials.",
                "для {goal} нужно блоков таких испытаний: около {blocks}."
            ),
            None => say_in!(
                l,
                "{goal} needs more than {most} blocks of such trials.",
                "для {goal} нужно более {most} блоков таких испытаний."
            ),
        };
        let better = self.better.map(|(window, blocks)| (format::duration(window, l), blocks));
        let better = better.map_or(String::new(), |(window, blocks)| {
            say_in!(
                l,
                " Trials of {window} would do with {blocks} blocks and less time.",
                " При испытаниях по {window} хватило бы блоков: {blocks}, и времени ушло бы меньше."
            )
        });
        format!("{now}; {more}{better}")
    }
}

#[cfg(test)]
mod tests;
