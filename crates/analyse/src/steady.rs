//! Rounds before a case: whether its rate is steady. The rule that decides while a run goes on is the one by which its file is judged.

use crate::findings::{CaseFinding, Headline, SteadyFinding};
use crate::limits::STEADY_ROUNDS;
use crate::phrase::headline;
use crate::pts::Window;
use stend_base::text::counted;
use stend_base::{Lang, Say, Share, format, say_in};
use stend_plan::Plan;
use stend_record::{RunRecord, TrialOutcome, TrialRecord, TrialStatus};
use stend_spec::workload::Op;

/// The rates of the rounds of a case, as they come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds {
    values: Vec<f64>,
}

impl Rounds {
    /// Takes the next round, of which number 0 begins anew, and says whether the load is steady with it.
    pub fn learn(&mut self, headline: Headline, round: u32, outcome: &TrialOutcome) -> bool {
        if round == 0 {
            self.values.clear();
        }
        match rate(headline, outcome) {
            Some(rate) => self.values.push(rate),
            None => self.values.clear(),
        }
        self.window().is_some_and(|window| window.is_steady())
    }

    /// The last five, if there are so many.
    pub fn window(&self) -> Option<Window> {
        Window::last(&self.values)
    }

    /// All since the last one with failed I/O.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// Rate of a round; `None` unless its whole length was measured without failed I/O.
fn rate(headline: Headline, outcome: &TrialOutcome) -> Option<f64> {
    let length = outcome.window_end.saturating_sub(outcome.window_start);
    let whole = matches!(outcome.status, TrialStatus::Complete | TrialStatus::Mismatch) && length.0 > 0;
    let done = outcome.jobs.iter().flat_map(|job| Op::IO.iter().map(|op| job.done[op.index()]));
    let done =
        done.fold(0u64, |sum, (ops, bytes)| sum.saturating_add(if headline == Headline::Iops { ops } else { bytes }));
    whole.then(|| done as f64 / length.as_secs())
}

/// The rounds that came before trials of a case without a pause between, by the times that they did.
pub(crate) fn series(run: &RunRecord, case: u32) -> Vec<Vec<&TrialRecord>> {
    let mut found: Vec<Vec<&TrialRecord>> = Vec::new();
    for round in run.rounds.iter().filter(|round| round.case == case) {
        match found.last_mut() {
            Some(last) if round.block > 0 => last.push(round),
            _ => found.push(vec![round]),
        }
    }
    let begins: Vec<u32> = found.iter().skip(1).map(|rounds| rounds[0].trial).chain([u32::MAX]).collect();
    let measured = |rounds: &[&TrialRecord], until: u32| {
        let last = rounds.last().map_or(0, |round| round.trial);
        run.trials.iter().any(|trial| trial.case == case && (last..until).contains(&trial.trial))
    };
    found.into_iter().zip(begins).filter(|(rounds, until)| measured(rounds, *until)).map(|(rounds, _)| rounds).collect()
}

/// The rates of such rounds.
pub(crate) fn rates(headline: Headline, rounds: &[&TrialRecord]) -> Rounds {
    let mut found = Rounds::default();
    for round in rounds {
        match &round.outcome {
            Some(outcome) => drop(found.learn(headline, round.block, outcome)),
            None => found.values.clear(),
        }
    }
    found
}

/// What the last five rounds were before the trials of a case, the first time that they were not steady, or else the last time;
/// `None` if it has no rounds. A window of `None` in it: there were fewer than five.
pub(crate) fn judged(run: &RunRecord, case: u32, headline: Headline) -> Option<Option<Window>> {
    let mut windows = series(run, case).iter().map(|rounds| rates(headline, rounds).window()).collect::<Vec<_>>();
    let last = windows.pop()?;
    let unsteady = |window: &Option<Window>| !window.is_some_and(|window| window.is_steady());
    Some(windows.into_iter().find(unsteady).unwrap_or(last))
}

/// Puts into each case what its rounds found.
pub(crate) fn insert(run: &RunRecord, plan: &Plan, cases: &mut [CaseFinding]) {
    for found in cases {
        let Some(planned) = plan.cases.get(found.case as usize) else { continue };
        let rounds = series(run, found.case);
        let (Some(steady), Some(last)) = (planned.steady, rounds.last()) else { continue };
        let headline = headline(&planned.trial);
        let (Rounds { values }, judged) = (rates(headline, last), judged(run, found.case, headline).flatten());
        found.steady = Some(SteadyFinding {
            rounds: last.len() as u32,
            rounds_most: steady.rounds,
            round: steady.round,
            values,
            range: judged.map(|window| Share(window.range)),
            slope: judged.map(|window| Share(window.excursion())),
            reached: judged.is_some_and(|window| window.is_steady()),
        });
    }
}

impl SteadyFinding {
    /// What was found, in a sentence.
    pub fn say(&self) -> Say {
        Say::both(|l| {
            let (rounds, time, window) = (rounds(self.rounds, l), format::duration(self.round, l), self.window(l));
            match self.reached {
                true => say_in!(
                    l,
                    "Steady after {rounds} of {time}: {window}.",
                    "Режим установился за {rounds} по {time}: {window}."
                ),
                false => say_in!(
                    l,
                    "Steady state not reached after {rounds} of {time}: {window}.",
                    "Установившийся режим не достигнут за {rounds} по {time}: {window}."
                ),
            }
        })
    }

    fn window(&self, l: Lang) -> String {
        let (Some(range), Some(slope)) = (self.range, self.slope) else {
            return say_in!(
                l,
                "fewer than {n} rounds in a row were whole",
                "подряд удалось меньше {n} раундов",
                n = STEADY_ROUNDS
            );
        };
        say_in!(
            l,
            "over the last {n} the rate spans {r} and moves by {s}",
            "за последние {n} размах скорости — {r}, сдвиг — {s}",
            n = STEADY_ROUNDS,
            r = format::percent(range.0, l),
            s = format::percent(slope.0, l)
        )
    }
}

/// `7 rounds`; in Russian as after "за".
pub(crate) fn rounds(count: u32, l: Lang) -> String {
    let n = u64::from(count);
    counted(n, ["round", "rounds"], ["раунд", "раунда", "раундов"]).get(l).to_string()
}

#[cfg(test)]
mod tests;
