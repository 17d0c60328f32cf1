//! How many instances of an application hold their objective (method §5.5), and what is used up where they do not. The rule
//! that decides while a run goes on is the one by which its file is judged. Percentiles are those that clients printed: the
//! worst is reported, none is averaged.

use crate::findings::{Caveat, Checked, Decisive, DensityFinding, DensityPoint, UsedUp};
use crate::limits::HELD_BACK;
use crate::objective::{holds, needed, windows};
use crate::search::{self, Ended};
use crate::used_up::Used;
use stend_base::{Lang, Nanos, Say, Share, format, say_in};
use stend_plan::Plan;
use stend_plan::ladder::Ladder;
use stend_record::app::Instance;
use stend_record::{RunRecord, TrialOutcome, TrialRecord, TrialStatus};
use stend_spec::app::{App, CPU_PERIOD};
use stend_stats::mean;

/// What the searches for instances found, those that began.
pub(crate) fn findings(run: &RunRecord, plan: &Plan) -> Vec<DensityFinding> {
    plan.ladders.iter().filter_map(|ladder| finding(run, plan, ladder)).collect()
}

fn finding(run: &RunRecord, plan: &Plan, ladder: &Ladder) -> Option<DensityFinding> {
    ladder.instances()?;
    let app = plan.cases.get(*ladder.cells.first()? as usize)?.trial.app?;
    let mut climb = ladder.climb();
    for (case, look) in search::looks(run, plan, ladder) {
        climb.learn(ladder.cells.iter().position(|cell| *cell == case)?, look);
    }
    let points: Vec<DensityPoint> = ladder.cells.iter().filter_map(|cell| point(run, plan, *cell)).collect();
    if points.is_empty() {
        return None;
    }
    let answer = climb.answer();
    let count = |rung: Option<usize>| rung.map(|rung| climb.value(rung) as u32);
    let missed = count(answer.missed);
    let above = |point: &&DensityPoint| missed.is_some_and(|missed| point.instances >= missed);
    let failed = points.iter().filter(above).find(|point| point.held == 0).map(|point| point.instances);
    let at_limit = points.iter().find(|point| Some(point.instances) == missed);
    let at_missed = |trial: &&TrialRecord| missed.is_some() && trial.asked.app.map(|app| app.instances) == missed;
    let broke = run.trials.iter().filter(|trial| ladder.cells.contains(&trial.case)).filter(at_missed);
    let broke = broke.filter_map(|trial| trial.outcome.as_ref()).filter(|outcome| counts(outcome));
    let mut broke = broke.filter_map(|outcome| outcome.app.as_ref()).flat_map(|app| &app.instances);
    let first = run.trials.iter().filter(|trial| ladder.cells.contains(&trial.case));
    let first = first.filter_map(|trial| trial.outcome.as_ref()?.app.as_ref()).next();
    Some(DensityFinding {
        label: ladder.label.clone(),
        program: app.program,
        slo: app.slo,
        offered: app.rate,
        limits: app.limits,
        groups: first.and_then(|app| app.groups),
        versions: first.map(|app| app.versions.clone()).unwrap_or_default(),
        held: count(answer.held),
        missed,
        failed,
        confirmed: answer.confirmed,
        disordered: points.iter().any(|point| point.held > 0 && missed.is_some_and(|missed| point.instances > missed)),
        used_up: at_limit.map(used_up).unwrap_or_default(),
        broke: broke.find(|one| !one.failed.is_empty()).map(|one| one.failed.clone()),
        points,
    })
}

/// Whether a trial says anything about its number; one that was interrupted does not.
fn counts(outcome: &TrialOutcome) -> bool {
    outcome.status == TrialStatus::Complete
}

fn point(run: &RunRecord, plan: &Plan, cell: u32) -> Option<DensityPoint> {
    let trial = &plan.cases.get(cell as usize)?.trial;
    let (app, windows) = (trial.app?, windows(&trial.app?, trial.window));
    let outcomes: Vec<&TrialOutcome> = run
        .trials
        .iter()
        .filter(|trial| trial.case == cell)
        .filter_map(|trial| trial.outcome.as_ref())
        .filter(|outcome| counts(outcome) && outcome.app.is_some())
        .collect();
    let found = || outcomes.iter().filter_map(|outcome| outcome.app.as_ref());
    let rates: Vec<Vec<f64>> =
        found().map(|app| app.instances.iter().map(|one| rate(one, windows)).collect()).collect();
    let within = found().map(|told| {
        let good = told.instances.iter().filter(|one| holds(&app, windows, one)).count();
        good as f64 / f64::from(app.instances.max(1))
    });
    let latencies = || {
        found()
            .flat_map(|app| &app.instances)
            .flat_map(|one| &one.windows)
            .filter(|w| w.rate_thousandths > 0)
            .filter_map(|w| w.latency)
    };
    let is_held =
        |outcome: &&&TrialOutcome| search::step(plan, cell, &Ended::alone(outcome)) == stend_plan::Outcome::Ok;
    let held = outcomes.iter().filter(is_held);
    let windows_of_all: Vec<_> = outcomes.iter().map(|outcome| (outcome.window_start, outcome.window_end)).collect();
    let used = Used::of(&run.load().samples, &windows_of_all);
    let middles: Vec<f64> =
        found().filter_map(|told| held_back(told.instances.iter(), trial.ramp + trial.window)).collect();
    let totals: Vec<f64> = rates.iter().map(|each| each.iter().fold(0.0, |sum, rate| sum + rate)).collect();
    Some(DensityPoint {
        instances: app.instances,
        trials: outcomes.len() as u32,
        held: held.count() as u32,
        within: Share(within.reduce(f64::min)?),
        rate: mean(&totals)?,
        rates: (totals.iter().copied().reduce(f64::min)?, totals.iter().copied().reduce(f64::max)?),
        decisive: decisive(found().map(|told| decided(&app, windows, &told.instances)).collect()),
        fairness: rates.iter().filter_map(|each| fairness(each)).reduce(f64::min),
        latency: latencies().min().zip(latencies().max()),
        cpu: used.cpu,
        drive: used.drive,
        memory_wait: used.memory_wait,
        held_back: mean(&middles).map(|share| Share(share.min(1.0))),
    })
}

/// Mean over the windows that were asked for, per second: rates of equal windows may be averaged, and in those that an instance did
/// not live to see it did nothing.
fn rate(instance: &Instance, windows: u64) -> f64 {
    let all = instance.windows.iter().fold(0.0, |sum, window| sum + window.rate_thousandths as f64 / 1000.0);
    all / windows.max(1) as f64
}

fn fairness(rates: &[f64]) -> Option<f64> {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = *sorted.get(sorted.len() / 2)?;
    (middle > 0.0).then(|| sorted[0] / middle)
}

/// The latency within which each instance has as many windows as must hold.
fn decided(app: &App, windows: u64, instances: &[Instance]) -> Option<Nanos> {
    let needed = needed(app, windows) as usize;
    let of = |one: &Instance| {
        let told = one.windows.iter().filter(|window| window.rate_thousandths > 0);
        let mut latencies: Vec<Nanos> = told.filter_map(|window| window.latency).collect();
        latencies.sort_unstable();
        latencies.get(needed - 1).copied()
    };
    instances.iter().map(of).collect::<Option<Vec<Nanos>>>()?.into_iter().max()
}

fn decisive(trials: Option<Vec<Nanos>>) -> Option<Decisive> {
    let mut sorted = trials?;
    sorted.sort_unstable();
    Some(Decisive { middle: *sorted.get(sorted.len() / 2)?, least: *sorted.first()?, most: *sorted.last()? })
}

/// Part of the periods in which the instance in the middle was held back.
fn held_back<'a>(instances: impl Iterator<Item = &'a Instance>, time: Nanos) -> Option<f64> {
    let mut parts: Vec<u64> = instances.map(|one| one.throttled_periods).collect::<Option<_>>()?;
    parts.sort_unstable();
    let periods = *parts.get(parts.len() / 2)? as f64;
    (time.0 > 0).then_some(periods * CPU_PERIOD.0 as f64 / time.0 as f64)
}

fn checked(point: &DensityPoint) -> Checked {
    let DensityPoint { cpu, drive, memory_wait, .. } = *point;
    Checked { own_cpu: point.held_back.is_some(), ..Used { cpu, drive, memory_wait }.checked() }
}

fn used_up(point: &DensityPoint) -> Vec<UsedUp> {
    let mut found = Used { cpu: point.cpu, drive: point.drive, memory_wait: point.memory_wait }.up();
    found.extend(point.held_back.filter(|share| share.0 >= HELD_BACK).map(UsedUp::OwnCpu));
    found
}

impl DensityFinding {
    /// The answer as a sentence or two.
    pub fn say(&self) -> Say {
        Say::both(|l| self.sentence(l))
    }

    /// The objective in words.
    pub fn objective(&self) -> Say {
        Say::both(|l| {
            let slo = &self.slo;
            let served = self.offered.map_or(String::new(), |rate| {
                say_in!(
                    l,
                    ", at least {share} of the offered {rate} served",
                    ", обслужено не менее {share} от предложенных {rate}",
                    share = format::percent(slo.served.as_share(), l),
                    rate = format::rate(rate, l)
                )
            });
            say_in!(
                l,
                "p{q} of each instance within {limit}{served}, no errors, in {part} of the windows of {window}",
                "p{q} каждого экземпляра не более {limit}{served}, без ошибок, в {part} окон по {window}",
                q = slo.quantile.0 / 10_000,
                limit = format::latency(slo.limit, l),
                part = format::percent(slo.windows.as_share(), l),
                window = format::duration(slo.window, l)
            )
        })
    }

    fn sentence(&self, l: Lang) -> String {
        let told = |count: u32| {
            let point = self.points.iter().find(|point| point.instances == count);
            let (held, trials) = point.map_or((0, 0), |point| (point.held, point.trials));
            say_in!(l, "{count} ({held} of {trials} trials)", "{count} (испытаний: {held} из {trials})")
        };
        let label = &self.label;
        let mut text = match (self.held, self.missed) {
            (Some(held), Some(missed)) => say_in!(
                l,
                "{label}: {held} instances hold the objective, {missed} do not.",
                "{label}: цель выполняется при числе экземпляров {held}, а при {missed} — нет.",
                held = told(held),
                missed = told(missed)
            ),
            (Some(held), None) => say_in!(
                l,
                "{label}: every number of instances that was tried holds the objective, up to {held}.",
                "{label}: цель выполняется при всех испытанных числах экземпляров, вплоть до {held}.",
                held = told(held)
            ),
            (None, missed) => say_in!(
                l,
                "{label}: not even {missed} instances hold the objective.",
                "{label}: цель не выполняется даже при числе экземпляров {missed}.",
                missed = missed.map(told).unwrap_or_default()
            ),
        };
        if let Some(missed) = self.missed {
            text += &self.why(missed, l);
        }
        if self.disordered {
            text += l.pick(
                " A larger number held although a smaller one missed: chance decides here, so this is the cautious answer.",
                " Большее число выдержало там, где меньшее не выдержало: здесь решает случай, и ответ осторожный.",
            );
        }
        if !self.confirmed {
            text += l.pick(" The search did not finish.", " Поиск не дошёл до конца.");
        }
        text
    }

    fn why(&self, missed: u32, l: Lang) -> String {
        let broke = self.broke.as_ref().map(|words| {
            say_in!(
                l,
                " At {missed} an instance failed: {words}.",
                " При {missed} отказал экземпляр: {words}.",
                words = words.trim_end_matches('.')
            )
        });
        if self.used_up.is_empty() {
            return broke.unwrap_or_else(|| {
                let point = self.points.iter().find(|point| point.instances == missed);
                point.map_or_else(Checked::default, checked).nothing_used_up(missed, l)
            });
        }
        let words: Vec<String> = self.used_up.iter().map(|one| one.words(l)).collect();
        let used =
            say_in!(l, " Used up at {missed}: {what}.", " При {missed} исчерпано: {what}.", what = words.join(", "));
        broke.unwrap_or_default() + &used
    }
}

/// The run in a few sentences: the answers, then the most serious reason to doubt.
pub(crate) fn verdict(found: &[DensityFinding], caveats: &[Caveat]) -> Say {
    Say::both(|l| {
        let answers = found.iter().map(|found| found.sentence(l));
        let doubt = caveats.first().map(|caveat| caveat.say().get(l).to_string());
        answers.chain(doubt).collect::<Vec<_>>().join(" ")
    })
}

#[cfg(test)]
mod tests;
