//! Suite × repeats → what comes next. Pure: the same inputs, seed and history give the same decision.
#![forbid(unsafe_code)]

mod budget;
mod calibration;
mod cells;
mod confirm;
mod course;
mod decision;
#[cfg(test)]
mod external_tests;
pub mod fit;
#[cfg(test)]
mod fixture;
mod imported;
mod label;
pub mod ladder;
pub mod order;
mod per_target;
mod probing;
mod range;
mod replay;
mod steady;
#[cfg(test)]
mod suite_tests;
mod target;

pub use crate::decision::{Decision, Outcome, StopReason};
use crate::fit::{nothing_to_run, why_not};
use crate::ladder::Ladder;
pub use crate::target::{NullDevice, PlanTarget, Room};
use order::order;
use stend_spec::arm::Arm;
use stend_spec::calibration::Calibrate;
pub use stend_spec::case::Case;
use stend_spec::confirm::Confirming;
use stend_spec::external;
use stend_spec::files;
use stend_spec::io_log;
use stend_spec::precondition::Precondition;
use stend_spec::prober::{NoProber, Probing};
use stend_spec::steady::Steady;
use stend_spec::suite::{Suite, SuiteCase};
use stend_spec::topology::Misplaced;
use stend_spec::trace::TraceFacts;

use budget::stretch;
use course::Course;
use probing::{ProbeContext, probing};
use range::range;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stend_base::random::draw;
use stend_base::{Bytes, Error, Nanos, Result, Say, say};
use stend_spec::until::Until;
use stend_spec::workload::{Region, Trial};

/// Waiting longer for I/O in flight at the end of a trial is recorded as a stalled target.
const DRAIN_LIMIT: Nanos = Nanos::secs(30);
/// Most trials a plan may hold.
const TRIALS_MAX: usize = 100_000;
/// Most cells a suite may expand to.
const CASES_MAX: usize = stend_spec::keys::CASES.most;

/// Everything a plan follows from; stored in the run file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanInputs {
    /// The suite.
    pub suite: Suite,
    /// Seed of all random choices.
    pub seed: u64,
    /// What the plan must know of the target.
    pub target: PlanTarget,
    /// Wall time the run should take, if the user gave one.
    pub time_budget: Option<Nanos>,
    /// What is known of the traces of the suite, in the order of [`Suite::traces`].
    pub traces: Vec<TraceFacts>,
}

impl PlanInputs {
    /// A suite without traces, for as long as it takes.
    pub fn new(suite: Suite, seed: u64, target: PlanTarget) -> PlanInputs {
        PlanInputs { suite, seed, target, time_budget: None, traces: Vec::new() }
    }
}

/// A suite laid out for one target; stored in the run file, so that a later Stend reads the run by the plan that it followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Cells of the matrix, those that do not run included; with arms all of the first one, then all of the next.
    pub cases: Vec<Case>,
    /// Arms, as in the suite.
    pub arms: Vec<Arm>,
    /// Bytes written before measuring; `None` if nothing is.
    pub fill: Option<Bytes>,
    /// How that is done, if not once and plainly.
    pub precondition: Option<Precondition>,
    /// How many targets there are, at least 1. They form the range one behind the other.
    pub targets: u32,
    /// Bytes of the range on each target.
    pub share: Bytes,
    /// Sizes of the test files to make on each target, in the order of its share; none if the target itself is used.
    pub files: Vec<Bytes>,
    /// (block, case) in order of execution, searches not included; rounds come before the first trial of their case.
    pub order: Vec<(u32, u32)>,
    /// Searches, which come after everything in `order`, one after the other.
    pub ladders: Vec<Ladder>,
    /// What is known of the traces of the suite.
    pub traces: Vec<TraceFacts>,
    /// Precision at which a case is not repeated any more.
    pub until: Option<Until>,
    /// Ceilings that are measured first.
    pub calibrate: Calibrate,
    /// Searches that cannot run on the target.
    idle: Vec<Ladder>,
    /// Cells that test the cause of what others show, by index in an arm.
    pub(crate) confirming: Vec<(u32, Confirming)>,
    /// The same of cells that the suite has anyway.
    pub(crate) shared_tests: Vec<(u32, Confirming)>,
    pub(crate) seed: u64,
}

impl Plan {
    /// Lays a suite out for a target. Errors are of kind `Spec`, `Preflight` or `Unsafe`.
    pub fn new(inputs: &PlanInputs) -> Result<Plan> {
        if !inputs.suite.imported.is_empty() {
            return imported::plan(inputs);
        }
        let range = range(inputs)?;
        let (region, pieces) = (range.region, &range.pieces);
        let (mut cases, mut ladders, mut idle) = (Vec::new(), Vec::new(), Vec::new());
        for case in &inputs.suite.cases {
            let first = cases.len();
            for cell in cells::expand(case, &inputs.traces, &inputs.target)? {
                cases.push(lay_out(case, cell, (region, pieces), inputs)?);
                cases_fit(cases.len() * inputs.suite.arms.len().max(1))?;
            }
            let often = (inputs.suite.blocks, inputs.target.hosts);
            let cells = |runs: bool| {
                let cells = (first as u32..).zip(&cases[first..]);
                Ladder::of(case, often, cells.filter(move |(_, cell)| cell.not_run.is_none() == runs))
            };
            ladders.extend(cells(true));
            idle.extend(cells(false));
        }
        let tests = confirm::cells(&inputs.suite, &cases, &inputs.target, pieces);
        let confirming = (cases.len() as u32..).zip(&tests.own).map(|(cell, (_, test))| (cell, *test)).collect();
        cases.extend(tests.own.into_iter().map(|(case, _)| case));
        cases_fit(cases.len() * inputs.suite.arms.len().max(1))?;
        label::unique(&cases)?;
        let rungs: BTreeSet<u32> = ladders.iter().flat_map(|ladder| ladder.cells.iter().copied()).collect();
        let runs = |i: &u32| cases[*i as usize].not_run.is_none() && !rungs.contains(i);
        let runnable: Vec<u32> = (0..cases.len() as u32).filter(runs).collect();
        if runnable.is_empty() && ladders.is_empty() {
            return Err(nothing_to_run(&cases, &inputs.target));
        }
        let arms = &inputs.suite.arms;
        let (settled, alternating): (Vec<u32>, Vec<u32>) =
            runnable.iter().partition(|cell| cases[**cell as usize].steady.is_some());
        let cells: Vec<Vec<u32>> = (0..arms.len().max(1) as u32)
            .map(|arm| alternating.iter().map(|cell| arm * cases.len() as u32 + cell).collect())
            .collect();
        let rounds = cases.iter().filter_map(Case::rounds).fold(0, |sum, s: Steady| sum + s.rounds as usize);
        let mut cases = in_arms(cases, arms);
        if let Some(budget) = inputs.time_budget {
            stretch(&mut cases, &ladders, inputs.suite.blocks, budget)?;
            probing::decide_again(&mut cases, inputs, pieces.len());
        }
        let searching: usize = ladders.iter().map(|ladder| ladder.usual_trials() as usize).sum();
        if cells.len() * runnable.len() * inputs.suite.blocks as usize + searching + rounds > TRIALS_MAX {
            return Err(too_many_trials());
        }
        range.must_have_room(inputs)?;
        let fill = inputs.suite.fill.and(inputs.target.is_fillable().then_some(region.len));
        Ok(Plan {
            order: order(&inputs.suite, &cells, &settled, inputs.seed),
            cases,
            ladders,
            idle,
            confirming,
            shared_tests: tests.shared,
            arms: arms.clone(),
            until: inputs.suite.until,
            precondition: inputs.suite.precondition.filter(|_| fill.is_some()),
            calibrate: inputs.suite.calibrate,
            fill,
            targets: inputs.target.count.max(1),
            share: range.share,
            files: range.files,
            traces: inputs.traces.clone(),
            seed: inputs.seed,
        })
    }

    /// Whether everything that it names by index is there, as in every plan that was laid out. One that was read from a file may be anything.
    pub fn holds_together(&self) -> bool {
        let known = |cell: &u32| (*cell as usize) < self.cases.len();
        let arms = self.arms.len().max(1);
        let in_arm = |cell: u32| (cell as usize) < self.cases.len() / arms;
        let searching: usize = self.ladders.iter().map(|ladder| ladder.usual_trials() as usize).sum();
        let tests = self.confirming.iter().chain(&self.shared_tests);
        self.targets > 0
            && self.cases.len().is_multiple_of(arms)
            && self.order.len() + searching <= TRIALS_MAX
            && self.order.iter().all(|(_, cell)| known(cell))
            && self.ladders.iter().chain(&self.idle).all(|ladder| ladder.holds_together(&self.cases))
            && tests.into_iter().all(|(cell, test)| in_arm(*cell) && in_arm(test.of))
    }

    /// What comes after `history`, the outcomes of all decisions so far in order.
    pub fn next(&self, history: &[Outcome]) -> Decision {
        let fill_steps = usize::from(self.fill.is_some());
        if let (Some(len), true) = (self.fill, history.is_empty()) {
            return Decision::Fill { len };
        }
        if fill_steps == 1 && history[0] != Outcome::Ok || history.last() == Some(&Outcome::Stalled) {
            return Decision::Stop(StopReason::TargetFailed);
        }
        let (mut course, mut done) = (Course::new(self.cases.len()), history[fill_steps..].iter());
        if let Some(decision) = course.next(self, &mut done) {
            return decision;
        }
        let mut searched = done.clone();
        for ladder in &self.ladders {
            if let Some((rung, block)) = ladder.next(&mut done) {
                let case = ladder.cells[rung];
                return Decision::Trial { case, block, seed: self.trial_seed(block, case) };
            }
        }
        let given_up = self.order.iter().all(|&(_, case)| course.gave_up(case));
        let every_case_failed = given_up && searched.all(|outcome| *outcome == Outcome::Failed);
        Decision::Stop(if every_case_failed { StopReason::AllCasesFailed } else { StopReason::Done })
    }

    /// The same for a case in every arm: arms are compared with the same offsets.
    pub fn trial_seed(&self, block: u32, case: u32) -> u64 {
        let (cell, tests) = (case % self.cells(), self.confirming.len() as u32);
        // Tests of cause are the last cells, with seeds of their own: cases go to the places that they would go to without them.
        let own = self.cells() - tests;
        match cell.checked_sub(own) {
            None => draw(self.seed, u64::from(block) * u64::from(own) + u64::from(cell)),
            Some(test) => draw(draw(self.seed, u64::MAX), u64::from(block) * u64::from(tests) + u64::from(test)),
        }
    }

    /// Cells of one arm: a case in arm *n* is that many behind the same in the arm before.
    pub fn cells(&self) -> u32 {
        (self.cases.len() / self.arms.len().max(1)) as u32
    }

    /// Index of the arm that a case is measured in; `None` without arms.
    pub fn arm_of(&self, case: u32) -> Option<u32> {
        (!self.arms.is_empty()).then(|| case / self.cells())
    }

    /// The arm of the first trial after the fill, the outcome of which may or may not be in `history` yet.
    pub fn arm_after_fill(&self, history: &[Outcome]) -> Option<u32> {
        let filled = if history.is_empty() { &[Outcome::Ok] } else { history };
        match self.next(filled) {
            Decision::Trial { case, .. } | Decision::Round { case, .. } => self.arm_of(case),
            Decision::Fill { .. } | Decision::Stop(_) => None,
        }
    }

    /// What the engine is asked to do in a trial.
    pub fn trial(&self, case: u32, seed: u64) -> Trial {
        Trial { seed, ..self.cases[case as usize].trial.clone() }
    }

    /// Time of all trials, without the fill and the steps between; of a search those that it usually takes, and all rounds that
    /// there may be.
    pub fn trial_time(&self) -> Nanos {
        let time = |&(_, case): &(u32, u32)| {
            let trial = &self.cases[case as usize].trial;
            trial.ramp.0.saturating_add(trial.window.0)
        };
        let searching =
            |ladder: &Ladder| ladder.trial_time(&self.cases).0.saturating_mul(u64::from(ladder.usual_trials()));
        let rounds = (0..self.cases.len() as u32).map(|case| self.rounds_time(case).0);
        let times = self.order.iter().map(time).chain(self.ladders.iter().map(searching)).chain(rounds);
        Nanos(times.fold(0, u64::saturating_add))
    }

    /// Trials, of a search those that it usually takes; without rounds.
    pub fn usual_trials(&self) -> u32 {
        let searching: u32 = self.ladders.iter().map(Ladder::usual_trials).sum();
        searching.saturating_add(self.order.len() as u32)
    }

    /// Longest time that removing the data of instances takes, besides everything else that is undone.
    pub fn removal_limit(&self) -> Nanos {
        let apps = self.cases.iter().filter_map(|case| case.trial.app);
        apps.map(|app| app.removal_limit()).max().unwrap_or(Nanos(0))
    }

    /// The search that a case is a rung of, and which one.
    pub fn rung(&self, case: u32) -> Option<(&Ladder, usize)> {
        self.ladders.iter().find_map(|ladder| ladder.rung(case))
    }

    /// Under which name a case is listed among others: that of its search, for which its lowest rate stands; `None` for
    /// the other rates.
    pub fn listed_as(&self, case: u32) -> Option<String> {
        match self.idle.iter().chain(&self.ladders).find_map(|ladder| ladder.rung(case)) {
            Some((ladder, rung)) => (rung == 0).then(|| ladder.label.clone()),
            None => self.cases.get(case as usize).map(Case::label),
        }
    }
}

fn too_many_trials() -> Box<Error> {
    Error::spec(say!("the plan has more than {TRIALS_MAX} trials", "в плане более {TRIALS_MAX} испытаний"))
}

/// Whether a plan may have so many cells.
fn cases_fit(cells: usize) -> Result<()> {
    if cells <= CASES_MAX {
        return Ok(());
    }
    Err(Error::spec(say!(
        "the suite expands to more than {CASES_MAX} cases",
        "набор разворачивается более чем в {CASES_MAX} случаев"
    )))
}

fn lay_out(case: &SuiteCase, cell: cells::Cell, range: (Region, &[Bytes]), inputs: &PlanInputs) -> Result<Case> {
    let (region, pieces) = range;
    let target = &inputs.target;
    let parts = per_target::parts(case, target.count);
    let of_a_part = region.part(parts.as_ref().map_or(1, |parts| *parts), 0);
    let (mut streams, mut misplaced) = (cell.streams, None);
    for ((stream, spec), placement) in streams.iter_mut().zip(&case.streams).zip(&cell.placements) {
        stream.region = spec.region.map(|part| part.of(of_a_part));
        match placement.on(&target.topology) {
            Ok(place) => stream.place = place,
            Err(Misplaced::NotHere(why)) => misplaced = Some(why),
            Err(Misplaced::Missing(Say { en, ru })) => {
                let name = &case.name;
                return Err(Error::preflight(say!("case `{name}`: {en}", "случай `{name}`: {ru}")));
            }
        }
    }
    let mut trial = Trial {
        ramp: replay::ramp(case, &streams),
        window: replay::window(case, &streams),
        app: cell.app,
        streams,
        drain_limit: DRAIN_LIMIT,
        seed: 0,
        direct: case.direct,
        pages: case.pages,
        backend: case.backend,
        engine: case.engine,
        io_log: case.io_log,
        region,
        probing: Probing::None(NoProber::Off),
        parts: parts.as_ref().map_or(1, |parts| *parts),
        load_hosts: cell.load_hosts,
    };
    let context = ProbeContext { target, filled: inputs.suite.fill.is_some(), files: pieces.len() };
    trial.probing = probing(case, &trial, &context);
    external::check(case, &trial)?;
    io_log::check(case, &trial)?;
    let not_run = why_not(&trial, target).or_else(|| files::why_not(&trial, pieces, target.count));
    let not_run = not_run.or_else(|| replay::why_not(&trial, target, &inputs.traces)).or(misplaced).or(parts.err());
    let not_run = not_run.or_else(|| replay::too_short(case, &trial));
    Ok(Case {
        name: case.name.clone(),
        axes: cell.axes,
        trial,
        not_run,
        arm: None,
        steady: case.steady,
        faults: case.faults.clone(),
    })
}

/// Every cell once per arm; without arms as they are.
fn in_arms(cells: Vec<Case>, arms: &[Arm]) -> Vec<Case> {
    if arms.is_empty() {
        return cells;
    }
    let in_arm = |arm: &Arm| {
        let name = arm.name.clone();
        cells.iter().map(move |cell| Case { arm: Some(name.clone()), ..cell.clone() }).collect::<Vec<_>>()
    };
    arms.iter().flat_map(in_arm).collect()
}

#[cfg(test)]
mod tests;
