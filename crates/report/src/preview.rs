//! What a run would do, for machines.

use crate::json::{CaveatOut, NotRunOut};
use serde::Serialize;
use stend_analyse::preview::{LoadHostAhead, PlannedArm, PlannedCase, PlannedTest, Preview, SearchedRange, Writes};
use stend_base::Say;
use stend_record::TargetFacts;
use stend_spec::app::{Density, Program};
use stend_spec::precondition::Purge;
use stend_spec::workload::Region;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    suite: &'a str,
    /// Seed of all random choices; `--seed` repeats them.
    seed: u64,
    /// The load hosts, if they are several: what is said of jobs, depths, rates, sizes and `targets` holds for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<LoadHostAheadOut<'a>>,
    /// In the order in which they form the range; of several hosts what holds for each.
    targets: &'a [TargetFacts],
    writes: WritesOut<'a>,
    /// Changes of the machine in order, in English, as the run will record them.
    steps: Vec<&'a str>,
    /// What undoes them at the end.
    undo: Vec<&'a str>,
    /// Blocks are read at random before the first trial, to see whether they were ever written.
    samples_zeros: bool,
    /// Arms in the order of the suite; empty if it has none.
    arms: Vec<ArmOut<'a>>,
    /// Commands that look at the host in every arm.
    observes: &'a [String],
    /// Ceilings that are measured before anything is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<CalibrationOut<'a>>,
    /// Bytes of the range that is written in order before measuring; `null` if nothing is filled.
    fill_bytes: Option<u64>,
    /// How often: before every block where targets of `--against` alternate, else once; 0 if nothing is filled.
    fills: u32,
    /// How, if not once and plainly.
    precondition: Option<PreconditionOut>,
    /// Passes over all cases.
    /// With `until` at most.
    blocks: u32,
    /// A case is not repeated any more once it is as precise as this.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<UntilOut>,
    /// Applications whose instances are started.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    applications: &'a [Program],
    trials: u32,
    /// Those of them that earlier sessions began, if the run is resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    trials_before: Option<u32>,
    cases: Vec<CaseOut<'a>>,
    /// Tests of cause for which nothing is run, because a case of the suite is the test; of several arms those of the first.
    tested_by_cases: &'a [PlannedTest],
    not_run: Vec<NotRunOut<'a>>,
    time: TimeOut,
    run_file: RunFileOut<'a>,
    report: ReportFileOut<'a>,
    caveats: Vec<CaveatOut<'a>>,
    /// What the run will warn of before it begins, beside caveats.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [Say],
}

/// One of several load hosts.
#[derive(Serialize)]
struct LoadHostAheadOut<'a> {
    host: &'a str,
    targets: &'a [TargetFacts],
    /// Its part of each, where hosts share their devices.
    part: Option<PartOut>,
}

impl LoadHostAheadOut<'_> {
    fn of(host: &LoadHostAhead) -> LoadHostAheadOut<'_> {
        LoadHostAheadOut { host: &host.name, targets: &host.targets, part: host.part.as_ref().map(PartOut::of) }
    }
}

/// A part of a device.
#[derive(Serialize)]
pub(crate) struct PartOut {
    start_bytes: u64,
    size_bytes: u64,
}

impl PartOut {
    pub(crate) fn of(part: &Region) -> PartOut {
        PartOut { start_bytes: part.start.0, size_bytes: part.len.0 }
    }
}

/// Ceilings that are measured first.
#[derive(Serialize)]
struct CalibrationOut<'a> {
    /// Kernel names of the drives that are read.
    drives: &'a [String],
    /// Loads that are run with nothing behind them.
    engine: u32,
    time_ns: u64,
}

/// What is written to, apart from the run file and the report.
#[derive(Serialize)]
#[serde(tag = "to", rename_all = "snake_case")]
enum WritesOut<'a> {
    /// Test files of the run's own, removed at the end.
    TestFiles {
        count: u32,
        /// Total.
        size_bytes: u64,
    },
    /// The targets themselves; what is on them is lost.
    Target {
        /// Bytes from the start of each target that may be written.
        range_bytes: u64,
        /// Signatures that are overwritten.
        signatures: &'a [String],
    },
    Nothing {},
}

#[derive(Serialize)]
struct PreconditionOut {
    /// The range is discarded first, or zeroed where the target takes no discards.
    discards: bool,
    /// How often it is then written.
    passes: u32,
    block_size_bytes: u64,
}

/// Half-widths of 95 % intervals, relative to their values.
#[derive(Serialize)]
struct UntilOut {
    /// Precision of the rate of a case.
    width: f64,
    /// Precision of the p99 of every operation; `null`: not checked.
    p99: Option<f64>,
}

#[derive(Serialize)]
struct ArmOut<'a> {
    arm: &'a str,
    /// Commands that are executed and settings that are changed, those that undo it included.
    changes: &'a [String],
    /// What a person does before the run goes on.
    person: Option<&'a str>,
}

#[derive(Serialize)]
struct CaseOut<'a> {
    label: &'a str,
    workload: &'a Say,
    trials: u32,
    ramp_ns: u64,
    window_ns: u64,
    writes: bool,
    /// Its rate is searched; `trials` is what that usually takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<SearchOut>,
    /// Its number of instances is searched, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    instances: Option<NumbersOut>,
    /// What is searched, in words; then `trials` is what that usually takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<Say>,
    /// Its number of load hosts is searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    load_hosts: Option<NumbersOut>,
    /// Rounds of its load before it is measured, until its rate is steady.
    #[serde(skip_serializing_if = "Option::is_none")]
    steady: Option<RoundsOut>,
    /// What is done to the storage in each of its trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<&'a Say>,
}

#[derive(Serialize)]
struct RoundsOut {
    /// As many there may be.
    rounds_most: u32,
    round_ns: u64,
}

#[derive(Serialize)]
struct NumbersOut {
    from: u32,
    to: u32,
}

#[derive(Serialize)]
struct SearchOut {
    from_per_s: f64,
    to_per_s: f64,
}

/// Times that are known before. How long a fill takes and how much is written follows from how fast the
/// target is, which nobody knows yet: `examples` work them out for two rates.
#[derive(Serialize)]
struct TimeOut {
    /// All trials, ramps included, and all rounds that there may be.
    trials_ns: u64,
    /// Those trials that write, ramps included, and their rounds.
    writing_trials_ns: u64,
    time_budget_ns: Option<u64>,
    examples: Vec<ExampleOut>,
}

#[derive(Serialize)]
struct ExampleOut {
    throughput_bytes_per_s: u64,
    fill_ns: u64,
    /// If every trial that writes did nothing else at that rate.
    written_by_trials_bytes: u64,
}

#[derive(Serialize)]
struct RunFileOut<'a> {
    path: &'a str,
    /// Expected size; so much is reserved before the first trial.
    size_bytes: u64,
    /// Most that logs of every I/O may take in it; `null` if none is kept.
    io_log_bytes: Option<u64>,
    /// It lies on a drive of the target: what is recorded waits in memory while a trial runs.
    shares_drive: bool,
    /// Where the ledger of writes goes; `null` if none is kept.
    ledger: Option<&'a str>,
}

/// The report that is written at the end.
#[derive(Serialize)]
struct ReportFileOut<'a> {
    path: &'a str,
    /// It takes the place of a file that is there.
    replaces: bool,
}

/// A preview as JSON, indented, with a line feed at the end.
pub fn preview_json(preview: &Preview) -> String {
    crate::json::pretty(&document(preview))
}

fn document(preview: &Preview) -> Document<'_> {
    let ahead = &preview.ahead;
    let example = |e: &stend_analyse::preview::Example| ExampleOut {
        throughput_bytes_per_s: e.bytes_per_s,
        fill_ns: e.fill.0,
        written_by_trials_bytes: e.written_by_trials.0,
    };
    Document {
        schema: "stend-preview",
        schema_version: SCHEMA_VERSION,
        suite: &preview.suite,
        seed: preview.seed,
        hosts: ahead.hosts.iter().map(LoadHostAheadOut::of).collect(),
        targets: &preview.targets,
        writes: match &preview.writes {
            Writes::TestFiles { count, size } => WritesOut::TestFiles { count: *count, size_bytes: size.0 },
            Writes::Target { len, signatures } => WritesOut::Target { range_bytes: len.0, signatures },
            Writes::Nothing => WritesOut::Nothing {},
        },
        steps: ahead.steps.iter().map(|step| step.en.as_str()).collect(),
        undo: ahead.undo.iter().map(|step| step.en.as_str()).collect(),
        samples_zeros: ahead.samples_zeros,
        arms: preview.arms.iter().map(arm).collect(),
        observes: &preview.observes,
        calibration: preview.calibration.as_ref().map(|found| CalibrationOut {
            drives: &found.drives,
            engine: found.engine,
            time_ns: found.time.0,
        }),
        fill_bytes: preview.fill.map(|fill| fill.0),
        fills: preview.fill.map_or(0, |_| preview.fills),
        precondition: preview.precondition.map(|how| PreconditionOut {
            discards: how.purge == Purge::Discard,
            passes: how.passes,
            block_size_bytes: how.block_size.0,
        }),
        blocks: preview.blocks,
        until: preview
            .until
            .map(|until| UntilOut { width: until.width.as_share(), p99: until.p99.map(|p99| p99.as_share()) }),
        applications: &preview.programs,
        trials: preview.trials,
        trials_before: ahead.trials_before,
        cases: preview.cases.iter().map(case).collect(),
        tested_by_cases: &preview.tested_by_cases,
        not_run: preview.not_run.iter().map(crate::json::not_run).collect(),
        time: TimeOut {
            trials_ns: preview.trial_time.0,
            writing_trials_ns: preview.writing_time.0,
            time_budget_ns: preview.time_budget.map(|budget| budget.0),
            examples: preview.examples.iter().map(example).collect(),
        },
        run_file: RunFileOut {
            path: &ahead.run_file,
            size_bytes: ahead.run_file_size.0,
            io_log_bytes: preview.io_log.map(|size| size.0),
            shares_drive: ahead.shares_drive,
            ledger: ahead.ledger.as_deref(),
        },
        report: ReportFileOut { path: &ahead.report, replaces: ahead.report_replaces },
        caveats: preview.caveats.iter().map(crate::json::caveat).collect(),
        warnings: &ahead.warnings,
    }
}

fn arm(arm: &PlannedArm) -> ArmOut<'_> {
    ArmOut { arm: &arm.name, changes: &arm.changes, person: arm.person.as_deref() }
}

fn case(case: &PlannedCase) -> CaseOut<'_> {
    CaseOut {
        label: &case.label,
        workload: &case.workload,
        trials: case.trials,
        ramp_ns: case.ramp.0,
        window_ns: case.window.0,
        writes: case.writes,
        steady: case.steady.map(|s| RoundsOut { rounds_most: s.rounds, round_ns: s.round.0 }),
        events: case.events.iter().collect(),
        searched: case.searched.map(|range| range.say()),
        instances: match case.searched {
            Some(SearchedRange::Instances(Density { from, to })) => Some(NumbersOut { from, to }),
            _ => None,
        },
        load_hosts: match case.searched {
            Some(SearchedRange::LoadHosts(Density { from, to })) => Some(NumbersOut { from, to }),
            _ => None,
        },
        search: match case.searched {
            Some(SearchedRange::Rate(from, to)) => {
                Some(SearchOut { from_per_s: from.as_iops(), to_per_s: to.as_iops() })
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use expect_test::expect_file;

    #[test]
    fn the_machine_form_of_a_preview_is_stable() {
        expect_file!["../tests/golden/preview.json"].assert_eq(&preview_json(&fixture::preview()));
    }
}
