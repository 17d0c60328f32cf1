//! Findings for machines: a stable form of its own, so that findings may change inside. Numbers in base units that
//! their names have (ns, bytes, per second), a point for decimals, one schema version.

mod ceiling;
mod density;
mod faults;
pub mod gate;
mod hosts;
mod levels;
mod limits;
mod numa;
mod precision;
mod prober;
mod sources;
mod steady;
mod sweep;

use crate::figures;
pub use limits::{LimitOut, limits};
use serde::Serialize;
use stend_analyse::findings::{
    Basis, CaseFinding, Caveat, CheckResult, CheckStatus, Estimate, Headline, IoLogFinding, NotRun, OpFinding,
    Quantile, QuantileValue, ReplayFinding, SearchFinding, SearchedRate, TargetFinding,
};
use stend_analyse::gate::GateFinding;
use stend_analyse::{Chart, Findings};
use stend_base::{Kind, Say};
use stend_record::RunState;
use stend_record::observed::Submissions;
use stend_spec::workload::Op;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// Findings as JSON, indented, with a line feed at the end. A number that is not finite is `null`.
pub fn json(findings: &Findings) -> String {
    gated_json(findings, None)
}

/// The same with what a gate says of them.
pub fn gated_json(findings: &Findings, gate: Option<&GateFinding>) -> String {
    pretty(&Document { gate: gate.map(gate::gate), ..document(findings) })
}

/// Any document of ours, indented, with a line feed at the end.
pub fn pretty(document: &impl Serialize) -> String {
    // A tree of structs, strings and numbers has no case in which it cannot be written.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    run: &'a str,
    /// What the user calls the run (`--name`).
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    suite: &'a str,
    /// As the user named them, in the order in which they form the range.
    targets: &'a [String],
    /// Name of the stand that was put up for the run and made them.
    #[serde(skip_serializing_if = "Option::is_none")]
    stand: Option<&'a str>,
    started_unix_s: i64,
    elapsed_ns: u64,
    state: State<'a>,
    grade: stend_analyse::findings::GradeLevel,
    grade_banner: &'a Say,
    verdict: &'a Say,
    limits_version: &'a str,
    /// Every limit that a check, an interval or a caveat is decided by.
    limits: Vec<LimitOut>,
    caveats: Vec<CaveatOut<'a>>,
    searches: Vec<SearchOut<'a>>,
    /// How many load hosts hold their objective.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    host_searches: Vec<hosts::HostSearchOut<'a>>,
    /// The load hosts, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    load_hosts: Vec<hosts::LoadHostOut<'a>>,
    /// What was read beside the load where no worker ran (`--sources`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<sources::SourceOut<'a>>,
    /// What queue depth or jobs buy, where a closed loop was measured at four or more of them.
    sweeps: Vec<sweep::SweepOut<'a>>,
    /// How many instances of an application hold their objective.
    density: Vec<density::DensityOut<'a>>,
    /// What events did, of the cases that have some.
    faults: Vec<faults::FaultsOut<'a>>,
    /// What far NUMA nodes cost, of cases that run on every pair of nodes.
    numa: Vec<numa::NumaOut<'a>>,
    cases: Vec<Case<'a>>,
    not_run: Vec<NotRunOut<'a>>,
    cost: Cost,
    across: &'a [Chart],
    charts: &'a [Chart],
    /// What `--gate` and `--expect` say; absent without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<gate::GateOut<'a>>,
}

/// How far a run got, for machines.
#[derive(Default, Serialize)]
pub struct State<'a> {
    /// `open`, `complete`, `suspended` or `ended`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a Say>,
    /// Index of the arm before which a person is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    arm: Option<u32>,
    /// What the person is to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<&'a str>,
}

/// A reason to doubt, with its sentences.
#[derive(Serialize)]
pub struct CaveatOut<'a> {
    caveat: &'a Caveat,
    text: Say,
    advice: Say,
}

/// A case that does not run, and why.
#[derive(Serialize)]
pub struct NotRunOut<'a> {
    label: &'a str,
    reason: &'a Say,
}

#[derive(Serialize)]
struct Cost {
    worker_cpus: Option<f64>,
    coordinator_cpus: Option<f64>,
    telemetry_cpus: Option<f64>,
    worker_memory_bytes: Option<u64>,
    coordinator_memory_bytes: Option<u64>,
}

/// The answer of a search for a rate.
#[derive(Serialize)]
struct SearchOut<'a> {
    label: &'a str,
    quantile: f64,
    limit_ns: u64,
    /// Load hosts, where there are several: the rates are those on each.
    #[serde(skip_serializing_if = "Option::is_none")]
    load_hosts: Option<u32>,
    held: Option<SearchedOut>,
    missed: Option<SearchedOut>,
    confirmed: bool,
    text: Say,
}

#[derive(Serialize)]
struct SearchedOut {
    rate_per_s: f64,
    trials: u32,
    trials_missed: u32,
}

#[derive(Serialize)]
struct Case<'a> {
    case: u32,
    label: &'a str,
    workload: &'a Say,
    headline: Headline,
    trials: u32,
    trials_left_out: u32,
    iops: Number,
    throughput_bytes_per_s: Number,
    precision: Option<precision::PrecisionOut>,
    /// `null` if the case has no rounds.
    steady: Option<steady::SteadyOut<'a>>,
    /// Both levels of its rate, where it fell from one to a lower one: I/Os or bytes per second, as `headline` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<levels::LevelsOut>,
    operations: Vec<Operation>,
    /// What bounds it and how near it is, where ceilings were measured or one is clearly reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    ceiling: Option<ceiling::CeilingOut<'a>>,
    /// By target, in the order of `targets` of the run, where every job works on one of several alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<TargetOut<'a>>,
    /// What each load host did, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    hosts: Option<hosts::HostsOut<'a>>,
    replays: Vec<ReplayOut<'a>>,
    io_logs: &'a [IoLogFinding],
    /// How I/Os were given to the kernel.
    submissions: Option<Submissions>,
    prober: Option<prober::ProberOut>,
    /// Why there is none, where one would expect it.
    no_prober: Option<&'a Say>,
    checks: Vec<Check<'a>>,
    charts: &'a [Chart],
}

/// What one of several targets did.
#[derive(Serialize)]
struct TargetOut<'a> {
    /// As the user named it.
    target: &'a str,
    iops: Number,
    throughput_bytes_per_s: Number,
    /// Without I/Os that ended after the window.
    operations: Vec<Operation>,
}

/// How faithful the replay of a trace was.
#[derive(Serialize)]
struct ReplayOut<'a> {
    stream: u16,
    trace: &'a str,
    sha256: &'a str,
    /// I/Os that began.
    ios: u64,
    never_begun: u64,
    late_ns_p50: Option<u64>,
    late_ns_p99: Option<u64>,
    late_ns_max: Option<u64>,
    /// Growth of lateness per time.
    drift: Option<f64>,
    in_flight_mean: Option<f64>,
    in_flight_mean_original: Option<f64>,
}

#[derive(Serialize)]
struct Number {
    value: f64,
    interval_95: Option<(f64, f64)>,
    basis: &'static str,
    n: u32,
}

#[derive(Serialize)]
struct Operation {
    stream: u16,
    operation: Op,
    iops: Number,
    throughput_bytes_per_s: Number,
    count: u64,
    censored: u64,
    /// `null` where an imported result does not tell it.
    latency_mean_ns: Option<f64>,
    /// `null` where an imported result does not tell it.
    latency_max_ns: Option<u64>,
    latency_quantiles: Vec<QuantileOut>,
    /// Latency from the begin of an I/O, for an open loop; the latencies above count from when it was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<ServiceOut>,
}

#[derive(Serialize)]
struct ServiceOut {
    latency_mean_ns: Option<f64>,
    latency_max_ns: Option<u64>,
    latency_quantiles: Vec<QuantileOut>,
}

#[derive(Serialize)]
struct QuantileOut {
    share: f64,
    /// `at`, `above` (a lower bound), `not_enough`, or `printed` by another tool, which cannot be merged.
    state: &'static str,
    value_ns: Option<u64>,
    /// The smallest and the largest of several that were printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    printed_range_ns: Option<(u64, u64)>,
    interval_95_ns: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    have: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    need: Option<u64>,
}

/// One check, for machines.
#[derive(Serialize)]
pub struct Check<'a> {
    id: &'a str,
    name: &'a Say,
    status: CheckStatus,
    measured: &'a Say,
    limit: &'a Say,
    meaning: &'a Say,
}

/// A check as it is printed.
pub fn check(check: &CheckResult) -> Check<'_> {
    Check {
        id: check.id.code(),
        name: &check.name,
        status: check.status,
        measured: &check.measured,
        limit: &check.limit,
        meaning: &check.meaning,
    }
}

fn document(findings: &Findings) -> Document<'_> {
    let cost = findings.cost;
    Document {
        schema: "stend-findings",
        schema_version: SCHEMA_VERSION,
        run: &findings.run,
        label: findings.label.as_deref(),
        suite: &findings.suite,
        targets: &findings.targets,
        stand: findings.stand.as_deref(),
        started_unix_s: findings.started_unix,
        elapsed_ns: findings.elapsed.0,
        state: state(&findings.state),
        grade: findings.grade.level,
        grade_banner: &findings.grade.banner,
        verdict: &findings.verdict,
        limits_version: &findings.limits_version,
        limits: limits(),
        caveats: findings.caveats.iter().map(caveat).collect(),
        searches: findings.searches.iter().map(search).collect(),
        host_searches: findings.host_searches.iter().map(hosts::searched).collect(),
        load_hosts: findings.hosts.iter().map(hosts::of_run).collect(),
        sources: findings.sources.iter().map(sources::out).collect(),
        sweeps: findings.sweeps.iter().map(sweep::out).collect(),
        density: findings.density.iter().map(density::out).collect(),
        faults: findings.faults.iter().map(faults::out).collect(),
        numa: findings.numa.iter().map(numa::out).collect(),
        cases: findings.cases.iter().map(case).collect(),
        not_run: findings.not_run.iter().map(not_run).collect(),
        cost: Cost {
            worker_cpus: cost.worker_cpus,
            coordinator_cpus: cost.coordinator_cpus,
            telemetry_cpus: cost.telemetry_cpus,
            worker_memory_bytes: cost.worker_memory.map(|b| b.0),
            coordinator_memory_bytes: cost.coordinator_memory.map(|b| b.0),
        },
        across: &findings.across,
        charts: &findings.charts,
        gate: None,
    }
}

fn search(found: &SearchFinding) -> SearchOut<'_> {
    let searched =
        |at: SearchedRate| SearchedOut { rate_per_s: at.rate.as_iops(), trials: at.looks, trials_missed: at.missed };
    SearchOut {
        label: &found.label,
        quantile: found.quantile.0,
        limit_ns: found.limit.0,
        load_hosts: Some(found.hosts).filter(|hosts| *hosts > 1),
        held: found.held.map(searched),
        missed: found.missed.map(searched),
        confirmed: found.confirmed,
        text: found.say(),
    }
}

/// How far a run got.
pub fn state(state: &RunState) -> State<'_> {
    let named = |state| State { state, ..State::default() };
    match state {
        RunState::Open => named("open"),
        RunState::Complete => named("complete"),
        RunState::Suspended { arm, instruction } => {
            State { arm: Some(*arm), instruction: Some(instruction), ..named("suspended") }
        }
        RunState::Ended { kind, reason } => State { kind: Some(*kind), reason: Some(reason), ..named("ended") },
    }
}

/// A case that does not run.
pub fn not_run(case: &NotRun) -> NotRunOut<'_> {
    NotRunOut { label: &case.label, reason: &case.reason }
}

/// A reason to doubt.
pub fn caveat(caveat: &Caveat) -> CaveatOut<'_> {
    CaveatOut { caveat, text: caveat.say(), advice: caveat.advice() }
}

fn replay(replay: &ReplayFinding) -> ReplayOut<'_> {
    ReplayOut {
        stream: replay.stream,
        trace: &replay.trace,
        sha256: &replay.sha256,
        ios: replay.begun,
        never_begun: replay.never_begun,
        late_ns_p50: replay.late_p50.map(|late| late.0),
        late_ns_p99: replay.late_p99.map(|late| late.0),
        late_ns_max: replay.late_max.map(|late| late.0),
        drift: replay.drift,
        in_flight_mean: replay.in_flight,
        in_flight_mean_original: replay.in_flight_original,
    }
}

fn case(case: &CaseFinding) -> Case<'_> {
    Case {
        case: case.case,
        label: &case.label,
        workload: &case.workload,
        headline: case.headline,
        trials: case.trials,
        trials_left_out: case.trials_left_out,
        iops: number(&case.total.iops),
        throughput_bytes_per_s: number(&case.total.throughput),
        precision: case.precision.as_ref().map(precision::out),
        steady: case.steady.as_ref().map(steady::out),
        levels: case.levels.as_ref().map(levels::out),
        operations: case.ops.iter().map(operation).collect(),
        ceiling: case.ceiling.as_ref().map(ceiling::out),
        targets: case.targets.iter().map(target).collect(),
        hosts: case.hosts.as_ref().map(hosts::of_case),
        replays: case.replays.iter().map(replay).collect(),
        io_logs: &case.io_logs,
        submissions: case.submissions,
        prober: case.prober.as_ref().map(prober::out),
        no_prober: case.no_prober.as_ref(),
        checks: case.checks.iter().map(check).collect(),
        charts: &case.charts,
    }
}

fn target(found: &TargetFinding) -> TargetOut<'_> {
    TargetOut {
        target: &found.target,
        iops: number(&found.total.iops),
        throughput_bytes_per_s: number(&found.total.throughput),
        operations: found.ops.iter().map(operation).collect(),
    }
}

fn number(estimate: &Estimate) -> Number {
    let (basis, n) = match estimate.basis {
        Basis::Trials { n } => ("trials", n),
        Basis::Batches { n } => ("batches", n),
        Basis::TooFew { n } => ("too_few", n),
    };
    Number { value: estimate.value, interval_95: estimate.interval, basis, n }
}

fn operation(op: &OpFinding) -> Operation {
    Operation {
        stream: op.stream,
        operation: op.op,
        iops: number(&op.rates.iops),
        throughput_bytes_per_s: number(&op.rates.throughput),
        count: op.count,
        censored: op.censored,
        latency_mean_ns: figures::known(op, op.latency_mean_ns),
        latency_max_ns: figures::largest(op).map(|max| max.0),
        latency_quantiles: op.quantiles.iter().map(quantile).collect(),
        service: op.service.as_ref().map(|service| ServiceOut {
            latency_mean_ns: figures::known(op, service.mean_ns),
            latency_max_ns: figures::known(op, service.max.0),
            latency_quantiles: service.quantiles.iter().map(quantile).collect(),
        }),
    }
}

fn quantile(quantile: &Quantile) -> QuantileOut {
    let (state, value_ns, have, need) = match quantile.value {
        QuantileValue::At(v) => ("at", Some(v.0), None, None),
        QuantileValue::Above(v) => ("above", Some(v.0), None, None),
        QuantileValue::NotEnough { have, need } => ("not_enough", None, Some(have), Some(need)),
        QuantileValue::Printed(_) => ("printed", quantile.value.single().map(|v| v.0), None, None),
    };
    let interval_95_ns = quantile.interval.map(|(low, high)| (low.0, high.0));
    let printed_range_ns = quantile.value.range().map(|(least, most)| (least.0, most.0));
    QuantileOut { share: quantile.q.0, state, value_ns, printed_range_ns, interval_95_ns, have, need }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use expect_test::expect_file;

    #[test]
    fn the_machine_form_is_stable() {
        let mut findings = fixture::findings();
        findings.across.clear();
        findings.charts.truncate(0);
        findings.cases.truncate(2);
        findings.cases.iter_mut().for_each(|c| c.charts.clear());
        expect_file!["../tests/golden/findings.json"].assert_eq(&json(&findings));
    }

    #[test]
    fn any_findings_give_valid_json() {
        for findings in [fixture::findings(), fixture::hostile_findings()] {
            let value: serde_json::Value = serde_json::from_str(&json(&findings)).unwrap();
            assert_eq!(value["schema_version"], 1);
            assert_eq!(value["cases"].as_array().map(Vec::len), Some(findings.cases.len()));
        }
    }
}
