//! Where the trials of a plan's order stand after a history. Pure.

use crate::Plan;
use crate::decision::{Decision, FAILURES_PER_CASE, Outcome};
use crate::steady::{self, Next};
use stend_base::random::draw;
use stend_base::{Bytes, Nanos};
use stend_spec::case::Case;
use stend_spec::workload::Trial;

/// Draws for the seeds of rounds are taken from here on, those of trials below.
const ROUND_DRAWS: u64 = 1 << 61;

/// What the outcomes so far say of each case.
pub(crate) struct Course {
    /// Trials and rounds with failed I/O.
    failures: Vec<usize>,
    /// Cases that are precise enough.
    narrow: Vec<bool>,
    /// The case whose rounds are over.
    settled: Option<u32>,
}

impl Course {
    /// Before the first trial of so many cases.
    pub(crate) fn new(cases: usize) -> Course {
        Course { failures: vec![0; cases], narrow: vec![false; cases], settled: None }
    }

    /// Whether I/O of a case failed so often that it is not tried again.
    pub(crate) fn gave_up(&self, case: u32) -> bool {
        self.failures[case as usize] >= FAILURES_PER_CASE
    }

    /// Goes on with the outcomes of a plan's order until they are used up: what comes next, or `None` at its end.
    pub(crate) fn next<'h>(&mut self, plan: &Plan, done: &mut impl Iterator<Item = &'h Outcome>) -> Option<Decision> {
        for &(block, case) in &plan.order {
            let mut measured = false;
            while !measured && !self.gave_up(case) && !self.narrow[case as usize] {
                if let Some(round) = self.round(plan, case, done) {
                    return Some(Decision::Round { case, round, seed: plan.round_seed(round, case) });
                }
                if self.gave_up(case) {
                    break;
                }
                measured = true;
                match done.next() {
                    Some(Outcome::Ok | Outcome::Missed | Outcome::Steady | Outcome::Incomplete) => {}
                    Some(Outcome::Narrow) => self.enough(plan, case),
                    Some(Outcome::Failed | Outcome::Stalled) => self.failures[case as usize] += 1,
                    Some(Outcome::Paused) => (self.settled, measured) = (None, false),
                    None => return Some(Decision::Trial { case, block, seed: plan.trial_seed(block, case) }),
                }
            }
        }
        None
    }

    /// A case is precise enough: with arms their difference is, so that it ends in all of them at once.
    fn enough(&mut self, plan: &Plan, case: u32) {
        let (cells, arms) = (plan.cells() as usize, plan.arms.len().max(1));
        (0..arms).for_each(|arm| self.narrow[arm * cells + case as usize % cells] = true);
    }

    /// The round that comes before the next trial of a case, if one does.
    fn round<'h>(&mut self, plan: &Plan, case: u32, done: &mut impl Iterator<Item = &'h Outcome>) -> Option<u32> {
        let steady = plan.cases[case as usize].steady.filter(|_| self.settled != Some(case))?;
        match steady::next(&steady, (&mut self.failures[case as usize], FAILURES_PER_CASE), done) {
            Next::Round(round) => return Some(round),
            Next::Trials => self.settled = Some(case),
            Next::GivenUp => {}
        }
        None
    }
}

impl Plan {
    /// What it is asked to do in a round: the same without ramp and log, because nothing of it counts, for as long as a round.
    pub fn round(&self, case: u32, seed: u64) -> Trial {
        let trial = self.trial(case, seed);
        let window = self.cases[case as usize].steady.map_or(trial.window, |steady| steady.round);
        Trial { ramp: Nanos(0), window, io_log: None, ..trial }
    }

    /// The seed of a round: none of a trial.
    pub fn round_seed(&self, round: u32, case: u32) -> u64 {
        let cells = self.cases.len() as u64;
        draw(self.seed, ROUND_DRAWS | (u64::from(round) * cells + u64::from(case)))
    }

    /// Bytes written before measuring, all passes together; 0 if nothing is.
    pub fn fill_bytes(&self) -> Bytes {
        let passes = self.precondition.map_or(1, |how| u64::from(how.passes));
        Bytes(self.fill.map_or(0, |len| len.0.saturating_mul(passes)))
    }

    /// Most time that the rounds of a case take.
    pub fn rounds_time(&self, case: u32) -> Nanos {
        let steady = self.cases.get(case as usize).and_then(Case::rounds);
        steady.map_or(Nanos(0), |steady| steady.longest())
    }

    /// Most rounds of all cases.
    pub fn rounds_most(&self) -> u32 {
        self.cases.iter().filter_map(Case::rounds).fold(0, |sum, steady| sum.saturating_add(steady.rounds))
    }
}
