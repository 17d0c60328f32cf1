//! Searches for a rate: whether one that was tried is served within its limit, and what a search found. The rule that
//! decides while a run goes on is the one by which its file is judged.

use crate::findings::{SearchFinding, SearchedRate};
use crate::limits::{OFFERED_DEVIATION, OFFERED_SIGMA};
use crate::objective;
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Lang, Millionths, Nanos, Say, Share, format, say_in};
use stend_plan::ladder::{Ladder, SearchTarget, look};
use stend_plan::{Outcome, Plan};
use stend_record::{RunRecord, TrialOutcome, TrialRecord, TrialStatus};
use stend_spec::load_hosts::HostSearch;
use stend_spec::search::Look;
use stend_spec::workload::{Op, Trial};
use stend_stats::distribution::Distribution;

/// How a trial ended: on all load hosts together, and on each.
pub struct Ended<'a> {
    /// On all of them.
    pub whole: &'a TrialOutcome,
    /// On each that made it.
    pub parts: Vec<&'a TrialOutcome>,
    /// A host that should have made it did not, or not to its end.
    pub lacks_hosts: bool,
}

impl<'a> Ended<'a> {
    /// On the only host.
    pub fn alone(outcome: &'a TrialOutcome) -> Ended<'a> {
        Ended { whole: outcome, parts: vec![outcome], lacks_hosts: false }
    }

    /// As it is recorded in a run of so many load hosts; `None` before it has ended.
    pub fn of(trial: &'a TrialRecord, hosts: usize) -> Option<Ended<'a>> {
        let whole = trial.outcome.as_ref()?;
        let parts: Vec<&TrialOutcome> = trial.by_host().into_iter().filter_map(|(.., outcome)| outcome).collect();
        let lacks_hosts = parts.len() < trial.hosts_asked(hosts);
        Some(Ended { whole, parts, lacks_hosts })
    }
}

/// What a trial means for what comes next. `case` is its index in the plan.
pub fn step(plan: &Plan, case: u32, ended: &Ended<'_>) -> Outcome {
    let outcome = ended.whole;
    match outcome.status {
        TrialStatus::Failed => Outcome::Failed,
        TrialStatus::Stalled => Outcome::Stalled,
        TrialStatus::Complete | TrialStatus::Interrupted | TrialStatus::Mismatch => match plan.rung(case) {
            Some((ladder, _)) => match &ladder.sought {
                // Fewer hosts would hold a rate on each that all of them do not.
                SearchTarget::Rate { .. } if ended.lacks_hosts => Outcome::Incomplete,
                SearchTarget::Rate { stream, search } => {
                    missed_unless(held((search.quantile, search.limit), *stream, outcome))
                }
                SearchTarget::Instances(_) => missed_unless(objective::held(plan, case, outcome)),
                SearchTarget::Hosts(search) => on_each(search, &plan.cases[case as usize].trial, ended),
            },
            None => Outcome::Ok,
        },
    }
}

/// What a trial on so many hosts means. Nothing of different hosts is merged: one that starves is a miss. Where some were lost it says
/// nothing of their number.
fn on_each(search: &HostSearch, trial: &Trial, ended: &Ended<'_>) -> Outcome {
    if trial.load_hosts.is_some_and(|count| count as usize != ended.parts.len()) {
        return Outcome::Incomplete;
    }
    let streams = || 0..trial.streams.len() as u16;
    let within = |stream, part| held((search.quantile, search.limit), stream, part);
    missed_unless(ended.parts.iter().all(|part| streams().all(|stream| within(stream, part))))
}

/// What a trial without a failure means.
fn missed_unless(held: bool) -> Outcome {
    if held { Outcome::Ok } else { Outcome::Missed }
}

/// Whether the rate was served and the quantile of the response is within the limit. What never began and what never ended
/// counts with its age. The quantile is that of the I/Os that there were (nearest rank), however few.
fn held((quantile, limit): (Millionths, Nanos), stream: u16, outcome: &TrialOutcome) -> bool {
    let open = || outcome.open.iter().filter(|open| open.stream == stream);
    // By the arrivals drawn, not the nominal rate: of a Poisson process one window in fifty has fewer of them than
    // that by more than is allowed, and one miss ends a climb.
    let due = open().map(|open| open.due).sum::<u64>() as f64;
    let own = || outcome.jobs.iter().filter(|job| job.stream == stream);
    let done = own().flat_map(|job| transfers().map(|op| job.done[op.index()].0)).sum::<u64>() as f64;
    let mut responses = Distribution::default();
    own().flat_map(|job| transfers().map(|op| &job.latency[op.index()])).for_each(|latency| responses.add(latency));
    let drained = outcome.drained.iter().filter(|drained| drained.stream == stream && drained.op != Op::Sync);
    drained.for_each(|drained| responses.add(&drained.latency));
    let censored = outcome.censored.iter().filter(|censored| censored.stream == stream);
    censored.for_each(|censored| responses.add_censored(censored.age));
    open().flat_map(|open| &open.never_begun).for_each(|ages| responses.add_never_begun(ages));
    let allowed = (due * OFFERED_DEVIATION).max(due.sqrt() * OFFERED_SIGMA).max(1.0);
    let within = responses.point(Share(quantile.as_share()), 0.0).is_some_and(|at| at <= limit);
    due - done <= allowed && within
}

fn transfers() -> impl Iterator<Item = Op> {
    Op::ALL.into_iter().filter(|op| *op != Op::Sync)
}

/// What the searches of a run found, those that began.
pub(crate) fn findings(run: &RunRecord, plan: &Plan) -> Vec<SearchFinding> {
    plan.ladders.iter().filter_map(|ladder| finding(run, plan, ladder)).collect()
}

/// Cases that a search tried and that did not hold: that they fail is what was looked for.
pub(crate) fn missed(run: &RunRecord, plan: &Plan) -> BTreeSet<u32> {
    let looks = plan.ladders.iter().flat_map(|ladder| looks(run, plan, ladder));
    looks.filter(|(_, look)| *look == Look::Missed).map(|(case, _)| case).collect()
}

/// (case, what it found) of every trial of a ladder that ended by itself, in order.
pub(crate) fn looks<'a>(
    run: &'a RunRecord,
    plan: &'a Plan,
    ladder: &'a Ladder,
) -> impl Iterator<Item = (u32, Look)> + 'a {
    let trials = run.trials.iter().filter(|trial| ladder.cells.contains(&trial.case));
    let hosts = run.loads().count();
    trials.filter_map(move |trial| {
        let found = match Ended::of(trial, hosts) {
            Some(ended) if ended.whole.status == TrialStatus::Interrupted => return None,
            Some(ended) => look(step(plan, trial.case, &ended)),
            // Hosts of it were lost, and the run went on. One that ended its session was repeated by the next.
            None if hosts > 1 && run.went_on_after(trial) => Look::Incomplete,
            None => return None,
        };
        Some((trial.case, found))
    })
}

fn finding(run: &RunRecord, plan: &Plan, ladder: &Ladder) -> Option<SearchFinding> {
    let (stream, search) = ladder.rate()?;
    let mut climb = ladder.climb();
    // (trials of the curve, of these missed) by rung.
    let mut curve: BTreeMap<usize, (u32, u32)> = BTreeMap::new();
    let mut looks = looks(run, plan, ladder).peekable();
    looks.peek()?;
    for (case, look) in looks {
        let rung = ladder.cells.iter().position(|cell| *cell == case)?;
        if climb.measures_curve() {
            let (looks, missed) = curve.entry(rung).or_default();
            (*looks, *missed) = (*looks + 1, *missed + u32::from(look != Look::Held));
        }
        climb.learn(rung, look);
    }
    let answer = climb.answer();
    let rate = |rung: usize| {
        let (looks, missed) = climb.seen(rung);
        SearchedRate { rate: climb.rate(rung), looks, missed }
    };
    let asked =
        ladder.cells.first().and_then(|cell| plan.cases.get(*cell as usize)?.trial.streams.get(usize::from(stream)));
    let again =
        curve.into_iter().filter(|(rung, (_, missed))| *missed > 0 && answer.held.is_some_and(|held| *rung <= held));
    Some(SearchFinding {
        label: ladder.label.clone(),
        quantile: Share(search.quantile.as_share()),
        limit: search.limit,
        hosts: run.loads().count() as u32,
        held: answer.held.map(rate),
        missed: answer.missed.map(rate),
        confirmed: answer.confirmed,
        together: asked.is_some_and(|stream| stream.mix.shares().count() > 1),
        curve_missed: again
            .map(|(rung, (looks, missed))| SearchedRate { rate: climb.rate(rung), looks, missed })
            .collect(),
    })
}

impl SearchFinding {
    /// The answer as a sentence.
    pub fn say(&self) -> Say {
        Say::both(|l| self.sentence(l))
    }

    fn sentence(&self, l: Lang) -> String {
        let share = share(self.quantile, l);
        let limit = format::latency(self.limit, l);
        let held = |at: &SearchedRate| {
            let (rate, of, held) = (format::rate(at.rate, l), at.looks, at.looks - at.missed);
            say_in!(l, "{rate} ({held} of {of} trials)", "{rate} (испытаний: {held} из {of})")
        };
        // The table has percentiles of each operation.
        let kinds = match self.together {
            true => l.pick(", all operations together,", " (всех видов вместе)"),
            false => "",
        };
        let label = &self.label;
        let text = match (&self.held, &self.missed) {
            (Some(good), Some(bad)) => say_in!(
                l,
                "{label}: {share} of the I/Os{kinds} end within {limit} up to {good}, and not at {bad}.",
                "{label}: {share} операций{kinds} укладываются в {limit} вплоть до {good}, а при {bad} — нет.",
                good = held(good),
                bad = held(bad)
            ),
            (Some(good), None) => say_in!(
                l,
                "{label}: {share} of the I/Os{kinds} end within {limit} at every rate that was tried, up to {good}.",
                "{label}: {share} операций{kinds} укладываются в {limit} при всех испытанных частотах, вплоть до {good}.",
                good = held(good)
            ),
            (None, bad) => say_in!(
                l,
                "{label}: not even at the lowest rate tried, {bad}, do {share} of the I/Os{kinds} end within {limit}.",
                "{label}: даже при низшей испытанной частоте, {bad}, {share} операций{kinds} не укладываются в {limit}.",
                bad = bad.as_ref().map(held).unwrap_or_default()
            ),
        };
        let open = l.pick(" The search did not finish.", " Поиск не завершён.");
        let end = if self.confirmed { "" } else { open };
        let each = match self.hosts {
            ..=1 => String::new(),
            hosts => say_in!(
                l,
                " These are the rates on each of {hosts} load hosts; the limit is held by the I/Os of all together.",
                " Частоты — на каждой из {hosts} нагружающих машин; предел проверен по операциям всех машин вместе."
            ),
        };
        format!("{text}{each}{}{end}", self.missed_again(l))
    }

    /// Where trials of the curve missed what the search had found to hold; empty if none did.
    fn missed_again(&self, l: Lang) -> String {
        if self.curve_missed.is_empty() {
            return String::new();
        }
        let one = |at: &SearchedRate| {
            say_in!(
                l,
                "{rate} in {n} of {m} trials",
                "{rate} — в {n} из {m} испытаний",
                rate = format::rate(at.rate, l),
                n = at.missed,
                m = at.looks
            )
        };
        let all = self.curve_missed.iter().map(one).collect::<Vec<_>>().join(", ");
        say_in!(
            l,
            " Measured again for the curve, it was missed at {all}.",
            " При повторном измерении, для кривой, предел нарушен: {all}."
        )
    }
}

/// As people write it: 99 %, 99.9 %.
pub(crate) fn share(q: Share, l: Lang) -> String {
    let digits = (0..3).find(|digits| {
        let scaled = q.0 * 100.0 * 10f64.powi(*digits);
        (scaled - scaled.round()).abs() < 1e-6
    });
    format!("{}\u{a0}%", format::fixed(q.0 * 100.0, digits.unwrap_or(3) as usize, l))
}

#[cfg(test)]
mod tests;
