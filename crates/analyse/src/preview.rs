//! What a run would do, from what is known before it. Pure; nothing here is measured, so what depends on
//! how fast the target is comes as examples, not as an estimate.

mod searched;

use crate::findings::{Caveat, NotRun};
use crate::{forewarn, phrase};
pub use searched::SearchedRange;
use serde::Serialize;
use std::collections::BTreeSet;
use stend_base::{Bytes, Nanos, Say};
use stend_plan::{Case, Plan, PlanInputs};
use stend_record::targets::calibrated;
use stend_record::{HostFacts, TargetFacts, TargetKind, WriteAccess};
use stend_spec::app::Program;
use stend_spec::calibration::Calibrate;
use stend_spec::confirm::Test;
use stend_spec::precondition::Precondition;
use stend_spec::steady::Steady;
use stend_spec::until::Until;
use stend_spec::workload::Region;

/// Rates in bytes per second for which times and amounts are worked out: about a disk at its inner edge and
/// an NVMe drive of the day (by eye).
pub const EXAMPLE_RATES: [u64; 2] = [100_000_000, 2_000_000_000];

/// What a run would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// Name of the suite.
    pub suite: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// The targets as they are now.
    pub targets: Vec<TargetFacts>,
    /// What is written.
    pub writes: Writes,
    /// Changes of the machine, the fill, and their undo.
    pub ahead: Ahead,
    /// Arms in the order of the suite; empty if it has none.
    pub arms: Vec<PlannedArm>,
    /// Commands that look at the host in every arm.
    pub observes: Vec<String>,
    /// Ceilings that are measured first; `None` if none is.
    pub calibration: Option<PlannedCalibration>,
    /// Bytes of the fill; `None` if nothing is filled.
    pub fill: Option<Bytes>,
    /// How often it is filled: before every block where targets alternate block by block, else once.
    pub fills: u32,
    /// How it is filled, if not once and plainly.
    pub precondition: Option<Precondition>,
    /// Passes over all cases; with `until` at most.
    pub blocks: u32,
    /// Precision at which a case is not repeated any more.
    pub until: Option<Until>,
    /// Trials in all.
    pub trials: u32,
    /// Cases that run, in the order of the suite.
    pub cases: Vec<PlannedCase>,
    /// Tests of cause (`confirm`) for which nothing is run, because a case of the suite is the test. With several arms it shows the first.
    pub tested_by_cases: Vec<PlannedTest>,
    /// Cases that do not.
    pub not_run: Vec<NotRun>,
    /// Time of all trials, ramps included, and of all rounds that there may be.
    pub trial_time: Nanos,
    /// Time of the trials that write, ramps included, and of their rounds.
    pub writing_time: Nanos,
    /// What `--time-budget` asked for.
    pub time_budget: Option<Nanos>,
    /// What the fill and the trials that write come to at [`EXAMPLE_RATES`].
    pub examples: Vec<Example>,
    /// Applications whose instances are started.
    pub programs: Vec<Program>,
    /// Most that logs of every I/O may take in the run file, over all trials; `None` if none is kept.
    pub io_log: Option<Bytes>,
    /// What is said before measuring, most serious first.
    pub caveats: Vec<Caveat>,
}

/// Ceilings that are measured before anything is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCalibration {
    /// Drives that are read, by kernel name; empty if none is visible.
    pub drives: Vec<String>,
    /// Loads that are run with nothing behind them.
    pub engine: u32,
    /// Time of all readings.
    pub time: Nanos,
}

/// What the caller knows about the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ahead {
    /// Each block is a session of its own, which prepares, fills and cleans up the target again.
    pub in_blocks: bool,
    /// Trials that earlier sessions of the run began, if it is resumed: the plan is that of all sessions.
    pub trials_before: Option<u32>,
    /// Changes of the machine before anything is measured, in order.
    pub steps: Vec<Say>,
    /// What undoes them afterwards.
    pub undo: Vec<Say>,
    /// Blocks are read at random first, to see whether they were ever written.
    pub samples_zeros: bool,
    /// Where the run file goes.
    pub run_file: String,
    /// Its expected size, which is reserved.
    pub run_file_size: Bytes,
    /// It would share a drive with the target, so that entries wait in memory while a trial runs.
    pub shares_drive: bool,
    /// Where the ledger of writes goes; `None` if none is kept.
    pub ledger: Option<String>,
    /// The load hosts, if they are several: jobs, queue depths and rates are those of each.
    pub hosts: Vec<LoadHostAhead>,
    /// What the run will warn of before it begins, beside caveats.
    pub warnings: Vec<Say>,
    /// Where the report goes.
    pub report: String,
    /// It takes the place of a file that is there.
    pub report_replaces: bool,
}

/// One of several load hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadHostAhead {
    /// As the user calls it.
    pub name: String,
    /// Its targets as they are now.
    pub targets: Vec<TargetFacts>,
    /// Its part of each, where hosts share their devices.
    pub part: Option<Region>,
}

/// What a run writes to, apart from its own files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    /// Test files of its own, removed at the end.
    TestFiles {
        /// How many; usually one.
        count: u32,
        /// Their size together.
        size: Bytes,
    },
    /// The targets themselves, whose contents are lost.
    Target {
        /// Bytes from the start of each target that may be written.
        len: Bytes,
        /// Signatures that are overwritten.
        signatures: Vec<String>,
    },
    /// Nothing.
    Nothing,
}

/// An arm that is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedArm {
    /// Name.
    pub name: String,
    /// Commands that are executed and settings that are changed, those that undo it included.
    pub changes: Vec<String>,
    /// What a person does first.
    pub person: Option<String>,
}

/// A case that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCase {
    /// Name and axes.
    pub label: String,
    /// The workload in words.
    pub workload: Say,
    /// How often it runs.
    pub trials: u32,
    /// Load before the window of each trial.
    pub ramp: Nanos,
    /// What is measured of each trial.
    pub window: Nanos,
    /// It writes.
    pub writes: bool,
    /// What is searched; `trials` is then what that usually takes.
    pub searched: Option<SearchedRange>,
    /// Rounds that there may be before its trials.
    pub steady: Option<Steady>,
    /// What is done to the storage in each of its trials.
    pub events: Vec<Say>,
}

/// A case of the suite that is the test of cause of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedTest {
    /// Label of what is tested.
    pub of: String,
    /// Which test.
    pub test: Test,
    /// Label of the case that is the test.
    pub by: String,
}

/// What comes out if the target is that fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// Throughput, bytes per second.
    pub bytes_per_s: u64,
    /// How long the fill takes.
    pub fill: Nanos,
    /// What the trials that write come to if they write all the time at that rate.
    pub written_by_trials: Bytes,
}

/// Lays out what a run would do.
pub fn preview(inputs: &PlanInputs, plan: &Plan, host: &HostFacts, targets: &[TargetFacts], ahead: Ahead) -> Preview {
    // The lowest rate of a search stands for all of them.
    let trials_of = |index: usize| match plan.rung(index as u32) {
        Some((ladder, _)) => ladder.usual_trials(),
        None => plan.order.iter().filter(|&&(_, case)| case as usize == index).count() as u32,
    };
    let stands = |index: usize| plan.rung(index as u32).is_none_or(|(_, rung)| rung == 0);
    let running: Vec<(usize, &Case)> =
        plan.cases.iter().enumerate().filter(|(i, c)| c.not_run.is_none() && stands(*i)).collect();
    let cases = running.iter().map(|(index, case)| PlannedCase {
        label: plan.rung(*index as u32).map_or_else(|| case.label(), |(ladder, _)| ladder.label.clone()),
        workload: match case.trial.load_hosts.filter(|_| plan.rung(*index as u32).is_none()) {
            Some(hosts) => phrase::on_each(&phrase::workload(&case.trial), hosts as usize),
            None => phrase::workload(&case.trial),
        },
        searched: plan.rung(*index as u32).map(|(ladder, _)| SearchedRange::of(ladder)),
        trials: trials_of(*index),
        ramp: case.trial.ramp,
        window: case.trial.window,
        writes: case.trial.writes(),
        steady: case.steady,
        events: case.faults.iter().map(stend_spec::fault::Fault::say).collect(),
    });
    let cases: Vec<PlannedCase> = cases.collect();
    let writing = cases.iter().filter(|case| case.writes);
    let rounds = |case: &PlannedCase| case.steady.map_or(0, |steady| steady.longest().0);
    let trials = |case: &PlannedCase| (case.ramp.0 + case.window.0).saturating_mul(u64::from(case.trials));
    let writing_time = writing.map(|case| trials(case).saturating_add(rounds(case)));
    let writing_time = Nanos(writing_time.fold(0, u64::saturating_add));
    let not_run = plan.cases.iter().zip(0..).filter_map(|(case, i)| Some((plan.listed_as(i)?, case.not_run.clone()?)));
    let fills = if ahead.in_blocks { inputs.suite.blocks } else { 1 };
    let fill = Bytes(plan.fill_bytes().0.saturating_mul(u64::from(fills)));
    Preview {
        suite: inputs.suite.name.clone(),
        seed: inputs.seed,
        targets: targets.to_vec(),
        writes: writes(plan, targets, writing_time),
        ahead,
        arms: plan.arms.iter().map(arm).collect(),
        observes: inputs.suite.observe.iter().map(|o| stend_spec::arm::line(&o.command)).collect(),
        calibration: calibration(plan, targets),
        fill: plan.fill,
        fills,
        precondition: plan.precondition,
        blocks: inputs.suite.blocks,
        until: plan.until,
        trials: plan.usual_trials(),
        not_run: not_run.map(|(label, reason)| NotRun { label, reason }).collect(),
        cases,
        tested_by_cases: tested_by_cases(plan),
        trial_time: plan.trial_time(),
        writing_time,
        time_budget: inputs.time_budget,
        examples: EXAMPLE_RATES.iter().map(|&rate| example(rate, fill, writing_time)).collect(),
        programs: inputs.suite.programs(),
        io_log: io_log(&running, trials_of),
        caveats: forewarn(host, targets, plan).into_iter().map(|caveat| of_all_fills(caveat, fill)).collect(),
    }
}

/// What is written, with all fills and not only that of one session.
fn of_all_fills(caveat: Caveat, fill: Bytes) -> Caveat {
    match caveat {
        Caveat::WillWrite { trials, drive, .. } => Caveat::WillWrite { fill, trials, drive },
        other => other,
    }
}

/// What the runs of several targets take together: the first of them, with the sums of their times and bytes. `None` of nothing.
pub fn together(previews: &[Preview]) -> Option<Preview> {
    let (first, others) = previews.split_first()?;
    let mut all = first.clone();
    for other in others {
        all.trials = all.trials.saturating_add(other.trials);
        all.fills = all.fills.saturating_add(other.fills);
        all.fill = all.fill.or(other.fill);
        all.trial_time = Nanos(all.trial_time.0.saturating_add(other.trial_time.0));
        all.writing_time = Nanos(all.writing_time.0.saturating_add(other.writing_time.0));
        for (sum, one) in all.examples.iter_mut().zip(&other.examples) {
            sum.fill = Nanos(sum.fill.0.saturating_add(one.fill.0));
            sum.written_by_trials = Bytes(sum.written_by_trials.0.saturating_add(one.written_by_trials.0));
        }
    }
    let written = previews.iter().flat_map(|preview| &preview.caveats).filter_map(|caveat| match caveat {
        Caveat::WillWrite { fill, trials, .. } => Some((fill.0, trials.0)),
        _ => None,
    });
    let written = written.reduce(|(a, b), (fill, trials)| (a.saturating_add(fill), b.saturating_add(trials)));
    all.caveats = written
        .map(|(fill, trials)| Caveat::WillWrite { fill: Bytes(fill), trials: Nanos(trials), drive: None })
        .into_iter()
        .collect();
    Some(all)
}

fn tested_by_cases(plan: &Plan) -> Vec<PlannedTest> {
    let label = |cell: u32| plan.cases.get(cell as usize).map(Case::label_in_arm);
    let first = (0..plan.cases.len() as u32).take_while(|cell| plan.arm_of(*cell).is_none_or(|arm| arm == 0));
    let tests = first.flat_map(|of| plan.tests_of(of).filter(|test| test.is_case).map(move |test| (of, test)));
    tests
        .filter_map(|(of, test)| Some(PlannedTest { of: label(of)?, test: test.test, by: label(test.cell)? }))
        .collect()
}

fn calibration(plan: &Plan, targets: &[TargetFacts]) -> Option<PlannedCalibration> {
    let drives: Vec<String> = calibrated(targets).iter().map(|drive| drive.name.clone()).collect();
    (plan.calibrate != Calibrate::None).then(|| PlannedCalibration {
        engine: plan.engine_trials().len() as u32,
        time: plan.calibration_time(drives.len() as u32),
        drives,
    })
}

/// Sizes of the logs of all trials together.
fn io_log(running: &[(usize, &Case)], trials_of: impl Fn(usize) -> u32) -> Option<Bytes> {
    let sizes = running
        .iter()
        .filter_map(|(index, case)| Some(case.trial.io_log?.0.saturating_mul(u64::from(trials_of(*index)))));
    sizes.reduce(u64::saturating_add).map(Bytes)
}

fn arm(arm: &stend_spec::arm::Arm) -> PlannedArm {
    PlannedArm {
        name: arm.name.clone(),
        changes: arm.switch.changes(),
        person: arm.switch.instruction().map(String::from),
    }
}

fn writes(plan: &Plan, targets: &[TargetFacts], writing_time: Nanos) -> Writes {
    if !plan.files.is_empty() {
        let each: u64 = plan.files.iter().map(|file| file.0).sum();
        let size = Bytes(each.saturating_mul(u64::from(plan.targets)));
        return Writes::TestFiles { count: (plan.files.len() as u32).saturating_mul(plan.targets), size };
    }
    let directory = targets.iter().any(|target| target.kind == TargetKind::Directory);
    if directory || plan.fill.is_none() && writing_time == Nanos(0) {
        return Writes::Nothing;
    }
    let on = |target: &TargetFacts| match &target.access {
        WriteAccess::Confirm { signatures, .. } => signatures.clone(),
        WriteAccess::OwnDirectory | WriteAccess::Nowhere | WriteAccess::Refused(_) => Vec::new(),
    };
    let signatures: BTreeSet<String> = targets.iter().flat_map(on).collect();
    let ends = plan.cases.iter().filter(|case| case.not_run.is_none()).map(|case| case.trial.region);
    let end = ends.map(|region| region.start.0.saturating_add(region.len.0)).max().unwrap_or_default();
    let len = end / targets.len().max(1) as u64;
    Writes::Target { len: Bytes(len), signatures: signatures.into_iter().collect() }
}

fn example(bytes_per_s: u64, fill: Bytes, writing: Nanos) -> Example {
    let per = u128::from(bytes_per_s);
    let second = u128::from(Nanos::SECOND.0);
    let narrow = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
    Example {
        bytes_per_s,
        fill: Nanos(narrow(u128::from(fill.0) * second / per)),
        written_by_trials: Bytes(narrow(u128::from(writing.0) * per / second)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run_of};
    use stend_record::RunRecord;
    use stend_spec::workload::Sync;

    fn of(change: impl FnOnce(&mut RunRecord)) -> Preview {
        let mut record = run_of(vec![case("r", 100, 4, Sync::None), case("w", 0, 4, Sync::None)]).record();
        change(&mut record);
        let plan = Plan::new(&record.header.inputs).unwrap();
        let (host, targets) = (record.load().facts.as_ref().unwrap(), record.load().targets.as_slice());
        preview(&record.header.inputs, &plan, host, targets, Ahead::default())
    }

    #[test]
    fn times_and_bytes_follow_from_the_plan_and_the_arithmetic_is_shown_by_examples() {
        let found = of(|_| {});
        let [read, write] = &found.cases[..] else { panic!("{found:?}") };
        assert_eq!((read.writes, write.writes), (false, true));
        assert_eq!(found.trials, read.trials + write.trials);
        let each = read.ramp + read.window;
        assert_eq!(found.trial_time.0, each.0 * u64::from(found.trials));
        assert_eq!(found.writing_time.0, each.0 * u64::from(write.trials));
        let slow = found.examples[0];
        assert_eq!(slow.bytes_per_s, 100_000_000);
        assert_eq!(slow.fill.0 / 10, found.fill.unwrap().0);
        assert_eq!(slow.written_by_trials.0, found.writing_time.0 / 10);
        assert!(matches!(found.caveats.last(), Some(Caveat::WillWrite { .. })), "{:?}", found.caveats);
    }

    #[test]
    fn the_most_that_logs_may_take_is_told_for_all_trials_that_keep_one() {
        assert_eq!(of(|_| {}).io_log, None);
        let found = of(|record| record.header.inputs.suite.cases[1].io_log = Some(Bytes::mib(64)));
        assert_eq!(found.io_log, Some(Bytes::mib(64 * u64::from(found.cases[1].trials))));
    }

    #[test]
    fn targets_that_alternate_are_filled_before_every_block_and_cost_the_sum() {
        let record = run_of(vec![case("r", 100, 4, Sync::None), case("w", 0, 4, Sync::None)]).record();
        let plan = Plan::new(&record.header.inputs).unwrap();
        let (host, targets) = (record.load().facts.as_ref().unwrap(), record.load().targets.as_slice());
        let of =
            |in_blocks| preview(&record.header.inputs, &plan, host, targets, Ahead { in_blocks, ..Ahead::default() });
        let (once, turns) = (of(false), of(true));
        let blocks = record.header.inputs.suite.blocks;
        assert!(blocks > 1);
        assert_eq!((once.fills, turns.fills, turns.fill), (1, blocks, once.fill));
        let written = |preview: &Preview| match preview.caveats.last() {
            Some(Caveat::WillWrite { fill, trials, .. }) => (fill.0, trials.0),
            other => panic!("{other:?}"),
        };
        let (fill, trials) = written(&once);
        assert_eq!(written(&turns), (fill * u64::from(blocks), trials));
        let each = turns.examples[0].fill.0;
        assert_eq!(each, once.examples[0].fill.0 * u64::from(blocks));
        let both = together(&[turns.clone(), turns.clone()]).unwrap();
        assert_eq!((both.trials, both.fills, both.examples[0].fill.0), (2 * turns.trials, 2 * blocks, 2 * each));
        assert_eq!(
            (both.trial_time.0, written(&both)),
            (2 * turns.trial_time.0, (2 * fill * u64::from(blocks), 2 * trials))
        );
        assert_eq!(together(&[]), None);
    }

    #[test]
    fn ceilings_are_told_with_their_drives_and_their_time() {
        assert_eq!(of(|_| {}).calibration, None);
        let found = of(|record| record.header.inputs.suite.calibrate = Calibrate::Members).calibration.unwrap();
        assert_eq!((found.drives, found.engine), (vec!["sda".to_string()], 2));
        assert_eq!(found.time, Nanos::millis(2 * 3_500 + 2 * 1_200));
    }

    #[test]
    fn cases_that_are_the_test_of_others_are_told_once_for_all_arms() {
        use stend_spec::arm::{Arm, Switch};
        let of = |depths: Vec<u32>| {
            let arm = |name: &str| Arm { name: name.into(), switch: Switch::None, expect: Vec::new() };
            of(|record| {
                let suite = &mut record.header.inputs.suite;
                suite.cases[0].streams[0].queue_depth = depths;
                (suite.confirm, suite.arms) = (vec![Test::Depth], vec![arm("x"), arm("y")]);
            })
            .tested_by_cases
        };
        let (of_it, by) = ("r, queue_depth 4".to_string(), "r, queue_depth 8".to_string());
        assert_eq!(of(vec![4, 8]), [PlannedTest { of: of_it, test: Test::Depth, by }]);
        assert_eq!(of(vec![4, 9]), []);
    }

    #[test]
    fn what_is_written_to_is_told_apart() {
        let file = of(|_| {});
        assert_eq!(file.writes, Writes::TestFiles { count: 1, size: file.fill.unwrap() });
        let device = |record: &mut RunRecord| {
            let target = &mut record.load_mut().targets[0];
            target.kind = TargetKind::BlockDevice;
            target.access = WriteAccess::Confirm { identity: "serial:X".into(), signatures: vec!["ext4".into()] };
            record.header.inputs.target.room = None;
            record.header.inputs.target.size = Bytes::gib(1);
        };
        let Writes::Target { len, signatures } = of(device).writes else { panic!("not the target") };
        assert_eq!((len, signatures), (Bytes::gib(1), vec!["ext4".to_string()]));
        let unconfirmed = of(|record| {
            device(record);
            record.header.inputs.target.writes = Err(Say::same("needs --confirm"));
        });
        assert_eq!(unconfirmed.writes, Writes::Nothing);
        assert_eq!(unconfirmed.not_run, [NotRun { label: "w".into(), reason: Say::same("needs --confirm") }]);
        assert_eq!((unconfirmed.fill, unconfirmed.writing_time), (None, Nanos(0)));
    }

    #[test]
    fn absurd_sizes_and_times_do_not_overflow() {
        let found = example(2_000_000_000, Bytes(u64::MAX), Nanos(u64::MAX));
        assert_eq!(found.written_by_trials, Bytes(u64::MAX));
        assert_eq!(found.fill, Nanos(u64::MAX / 2));
    }
}
