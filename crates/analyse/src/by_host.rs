//! The load hosts of a run apart: each is looked at as if it had been alone, and what is found there is put beside what is found of all.
//! Must not merge: what all did together is in the record.

use crate::check::{self, OfHost, Shared};
use crate::findings::{
    CaseFinding, CeilingFinding, ClockFinding, Estimate, Headline, HostFinding, HostsFinding, LoadHostFinding,
    LossFinding, ToolCost,
};
use crate::phrase::on_each;
use crate::trials::{CaseTrials, by_case};
use crate::{case, ceilings, charts, cost, rates, series};
use std::collections::BTreeMap;
use stend_base::{Bytes, Nanos};
use stend_plan::Plan;
use stend_record::targets::drives;
use stend_record::{EventKind, HostId, Role, RunRecord, TrialRecord};
use stend_spec::workload::Op;
use stend_stats::fairness;

/// What one of several load hosts did.
pub struct HostAlone {
    of_run: LoadHostFinding,
    cases: BTreeMap<u32, CaseAlone>,
}

struct CaseAlone {
    found: CaseFinding,
    is_limit: bool,
    /// Rates of its trials that count, (I/Os, bytes) per second.
    rates: Vec<(f64, f64)>,
}

/// What each load host did in the cases of a run; none where there is one.
pub fn apart(run: &RunRecord, plan: &Plan, trials: &[CaseTrials<'_>]) -> Vec<HostAlone> {
    run.several_loads().into_iter().filter_map(|(id, name)| alone(run, plan, trials, (id, name))).collect()
}

fn alone(run: &RunRecord, plan: &Plan, whole: &[CaseTrials<'_>], (id, name): (HostId, &str)) -> Option<HostAlone> {
    let mut view = run.of_host(id)?;
    over_windows_of_all(run, &mut view);
    let mut trials = by_case(&view);
    for (own, all) in trials.iter_mut().zip(whole) {
        own.counting.retain(|trial| all.counting.iter().any(|counts| counts.record.trial == trial.record.trial));
    }
    let labelled = |case: &CaseTrials<'_>| {
        let planned = plan.cases.get(case.case as usize);
        (planned.map_or(String::new(), |case| case.label()), planned.map_or(Vec::new(), |case| case.axes.clone()))
    };
    let mut cases: Vec<CaseFinding> = trials
        .iter()
        .map(|case| case::finding(&view, case, labelled(case), (charts::Charts::LeftOut, Nanos(0))))
        .collect();
    ceilings::insert(&view, plan, &trials, &mut cases);
    let of_case = |(case, found): (&CaseTrials<'_>, CaseFinding)| {
        let rate = |trial: &crate::trials::Counting<'_>| {
            let (ops, bytes) = trial.done(None, &Op::IO);
            (ops as f64 / trial.window.as_secs(), bytes as f64 / trial.window.as_secs())
        };
        let rates = case.counting.iter().map(rate).collect();
        (case.case, CaseAlone { is_limit: check::is_limit(case), rates, found })
    };
    let cost = cost::cost(&view);
    let of_run = LoadHostFinding {
        host: id,
        name: name.to_string(),
        cost,
        clock: clock(run, id),
        lost: loss(run, id),
        part: run.hosts().get(id.index()).and_then(|host| host.part),
    };
    Some(HostAlone { of_run, cases: trials.iter().zip(cases).map(of_case).collect() })
}

/// Lets the windows of a host be as long as those of all, so that rates of hosts add up to that of all. They differ by microseconds,
/// unless one of them was stopped.
fn over_windows_of_all(run: &RunRecord, view: &mut RunRecord) {
    for (own, all) in view.trials.iter_mut().zip(&run.trials) {
        if let (Some(own), Some(all)) = (&mut own.outcome, &all.outcome) {
            own.window_end = own.window_start + all.window_end.saturating_sub(all.window_start);
        }
    }
}

fn clock(run: &RunRecord, host: HostId) -> Option<ClockFinding> {
    let told = run.events.iter().filter(|event| event.host == host).filter_map(|event| match event.kind {
        EventKind::HostClock { shift_ns, uncertainty_ns } => Some((event.at, shift_ns, uncertainty_ns)),
        _ => None,
    });
    let mut told: Vec<(Nanos, i64, u64)> = told.collect();
    let uncertainty_ns = told.iter().map(|clock| clock.2).max()?;
    // A clock that was started anew between sessions has not drifted.
    let session = run.last_session();
    told.retain(|clock| clock.0 >= session);
    let (first, last) = (told.first()?, told.last()?);
    let drift = (told.len() > 1).then(|| (last.1.saturating_sub(first.1), last.0.saturating_sub(first.0)));
    Some(ClockFinding { shift_ns: first.1, uncertainty_ns, drift })
}

fn loss(run: &RunRecord, host: HostId) -> Option<LossFinding> {
    let (at, _, why) = run.lost_loads().find(|(_, lost, _)| *lost == host)?;
    let all = run.loads().count();
    let lacks = |trial: &TrialRecord| match trial.by_host().iter().find(|(id, ..)| *id == host) {
        Some((_, _, end)) => end.is_none(),
        None => trial.parts.len() < trial.hosts_asked(all),
    };
    let session = run.session_of(at);
    let of_session = run.trials.iter().filter(|trial| run.session_of(trial.started) == session);
    let trials = of_session.filter(|trial| lacks(trial)).map(|trial| trial.trial).collect();
    Some(LossFinding { why: why.to_string(), after: at.saturating_sub(series::span(run).0), trials })
}

/// Puts what the hosts did into the cases, and lets each check say on which host it does not hold. Returns what is known of the hosts.
pub fn insert(
    run: &RunRecord,
    hosts: Vec<HostAlone>,
    trials: &[CaseTrials<'_>],
    cases: &mut [CaseFinding],
) -> Vec<LoadHostFinding> {
    if hosts.is_empty() {
        return Vec::new();
    }
    let shared = shared(run);
    for (case, all) in cases.iter_mut().zip(trials) {
        let (of_case, without): (Vec<&HostAlone>, Vec<&HostAlone>) =
            hosts.iter().partition(|host| all.is_of(host.of_run.host));
        let asked = of_case.iter().filter_map(|host| {
            let CaseAlone { found, is_limit, .. } = host.cases.get(&case.case)?;
            Some(OfHost { name: &host.of_run.name, checks: &found.checks, is_limit: *is_limit })
        });
        let asked: Vec<OfHost<'_>> = asked.collect();
        case.checks = check::joined(&case.checks, &asked, shared);
        case.workload = on_each(&case.workload, of_case.len());
        let lost = without.iter().filter(|host| all.lacks_hosts(hosts.len()) && host.of_run.lost.is_some());
        let without = lost.map(|host| host.of_run.name.clone()).collect();
        let found = HostsFinding { without, ..finding(case, all, &of_case) };
        case.ceiling = nearest(&found);
        case.hosts = Some(found);
    }
    hosts.into_iter().map(|host| host.of_run).collect()
}

/// The ceiling that is used most, of the host where it is.
fn nearest(found: &HostsFinding) -> Option<CeilingFinding> {
    let used = |ceiling: &CeilingFinding| ceiling.uses.first().map_or(0.0, |first| first.used.0);
    let known = found.hosts.iter().filter_map(|host| Some((host, host.ceiling.as_ref()?)));
    let (host, ceiling) = known.max_by(|(_, a), (_, b)| used(a).total_cmp(&used(b)))?;
    Some(CeilingFinding { host: Some(host.name.clone()), ..ceiling.clone() })
}

/// The most that Stend itself used on any host, quantity by quantity; `None` where there is one host.
pub fn most(hosts: &[LoadHostFinding]) -> Option<ToolCost> {
    let cpus = |of: fn(&ToolCost) -> Option<f64>| hosts.iter().filter_map(|host| of(&host.cost)).reduce(f64::max);
    let memory = |of: fn(&ToolCost) -> Option<Bytes>| hosts.iter().filter_map(|host| of(&host.cost)).max();
    (!hosts.is_empty()).then(|| ToolCost {
        worker_cpus: cpus(|cost| cost.worker_cpus),
        coordinator_cpus: cpus(|cost| cost.coordinator_cpus),
        telemetry_cpus: cpus(|cost| cost.telemetry_cpus),
        worker_memory: memory(|cost| cost.worker_memory),
        coordinator_memory: memory(|cost| cost.coordinator_memory),
    })
}

fn shared(run: &RunRecord) -> Shared {
    let mut seen = run.loads().map(|(_, host)| {
        let names: Vec<&str> = drives(&host.targets).iter().map(|drive| drive.name.as_str()).collect();
        (host.facts.as_ref().map_or("", |facts| facts.boot_id.as_str()), names)
    });
    let first = seen.next();
    let counters = first.is_some_and(|first| !first.0.is_empty() && seen.all(|other| other == first));
    Shared { storage: run.hosts().iter().any(|host| host.role == Role::Storage), counters }
}

fn finding(case: &CaseFinding, all: &CaseTrials<'_>, hosts: &[&HostAlone]) -> HostsFinding {
    let alone: Vec<Option<&CaseAlone>> = hosts.iter().map(|host| host.cases.get(&case.case)).collect();
    // A trial counts only if it did on every host.
    let trials = alone.iter().map(|host| host.map_or(0, |host| host.rates.len())).min().unwrap_or(0);
    let of_trial = |trial: usize| -> Vec<f64> {
        let rate = |host: &CaseAlone| match case.headline {
            Headline::Iops => host.rates[trial].0,
            Headline::Throughput => host.rates[trial].1,
        };
        alone.iter().map(|host| host.map_or(0.0, rate)).collect()
    };
    let by_trial: Vec<Vec<f64>> = (0..trials).map(of_trial).collect();
    let fair: Option<Vec<f64>> = by_trial.iter().map(|rates| fairness::jain(rates)).collect();
    let apart = |of: fn(&stend_record::TrialOutcome) -> Nanos| {
        let spread = all.counting.iter().filter_map(|trial| {
            let times = || trial.record.parts.iter().filter_map(|part| part.outcome.as_ref()).map(of);
            Some(times().max()?.saturating_sub(times().min()?))
        });
        spread.max().unwrap_or_default()
    };
    HostsFinding {
        hosts: hosts
            .iter()
            .zip(&alone)
            .filter_map(|(host, alone)| {
                let CaseFinding { total, ops, ceiling, .. } = alone.as_ref()?.found.clone();
                Some(HostFinding { host: host.of_run.host, name: host.of_run.name.clone(), total, ops, ceiling })
            })
            .collect(),
        without: Vec::new(),
        fairness: fair.filter(|fair| !fair.is_empty() && hosts.len() > 1).map(|fair| share_of(&fair)),
        slowest: slowest(&by_trial).filter(|_| hosts.len() > 1),
        began_apart: apart(|outcome| outcome.load_start),
        ended_apart: apart(|outcome| outcome.window_end),
        apart_uncertainty: apart_uncertainty(hosts),
    }
}

/// Two hosts are apart by no more than what is seen and what both clocks may be off.
fn apart_uncertainty(hosts: &[&HostAlone]) -> Nanos {
    let mut of: Vec<u64> = hosts.iter().filter_map(|host| Some(host.of_run.clock?.uncertainty_ns)).collect();
    of.sort_unstable();
    Nanos(of.into_iter().rev().take(2).fold(0, u64::saturating_add))
}

/// A part that is at most a whole, over trials.
fn share_of(values: &[f64]) -> Estimate {
    let mut found = rates::estimate(values, &[]);
    found.interval = found.interval.map(|(low, high)| (low, high.min(1.0)));
    found
}

/// The host with the lowest rate over all trials, and its rate in parts of the median host.
fn slowest(by_trial: &[Vec<f64>]) -> Option<(u32, Estimate)> {
    let hosts = by_trial.first()?.len();
    let sum = |host: usize| by_trial.iter().map(|rates| rates[host]).sum::<f64>();
    let slowest = (0..hosts).min_by(|a, b| sum(*a).total_cmp(&sum(*b)))?;
    let ratio = |rates: &Vec<f64>| {
        let median = fairness::median(rates).filter(|median| *median > 0.0)?;
        Some(rates[slowest] / median)
    };
    let ratios = by_trial.iter().map(ratio).collect::<Option<Vec<f64>>>()?;
    Some((slowest as u32, rates::estimate(&ratios, &[])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::fixture::{case, run_of, several};
    use stend_base::histogram::Sparse;
    use stend_record::{Event, JobTotals};
    use stend_spec::workload::Sync;

    /// Six trials of a mix on hosts with these rates.
    fn record(rates: &[f64]) -> RunRecord {
        let one = |(at, rate): (usize, &f64)| {
            (format!("h{at}"), run_of(vec![case("mix", 70, 8, Sync::None)]).six_blocks(&[*rate]).record())
        };
        several(rates.iter().enumerate().map(one).collect())
    }

    fn found(record: &RunRecord) -> (CaseFinding, HostsFinding) {
        let case = analyse(record).unwrap().cases.remove(0);
        let hosts = case.hosts.clone().unwrap();
        (case, hosts)
    }

    #[test]
    fn rates_of_hosts_add_up_to_the_total_and_their_latencies_are_merged_bucket_by_bucket() {
        let mut record = record(&[9_000.0, 3_000.0, 1_000.0]);
        // One window is a little longer than the others: it is that of all.
        record.trials[0].outcome.as_mut().unwrap().window_end =
            record.trials[0].outcome.as_ref().unwrap().window_end + Nanos(70_000);
        let (case, hosts) = found(&record);
        let sum: f64 = hosts.hosts.iter().map(|host| host.total.iops.value).sum();
        assert!((sum - case.total.iops.value).abs() < 1e-6 * sum, "{sum} {}", case.total.iops.value);
        for (at, op) in case.ops.iter().enumerate() {
            let of_hosts: u64 = hosts.hosts.iter().map(|host| host.ops[at].count).sum();
            let sum: f64 =
                hosts.hosts.iter().map(|host| host.ops[at].latency_mean_ns * host.ops[at].count as f64).sum();
            assert_eq!(of_hosts, op.count);
            assert!((sum / of_hosts as f64 / op.latency_mean_ns - 1.0).abs() < 1e-9);
            assert_eq!(hosts.hosts.iter().map(|host| host.ops[at].latency_max).max(), Some(op.latency_max));
        }
        let merged = |outcomes: Vec<&stend_record::TrialOutcome>| -> Sparse {
            let mut all = stend_base::Histogram::new();
            let jobs = outcomes.into_iter().flat_map(|outcome| &outcome.jobs);
            jobs.for_each(|job: &JobTotals| all.merge_sparse(&job.latency[0]));
            all.sparse()
        };
        let trial = &record.trials[0];
        let parts = trial.parts.iter().filter_map(|part| part.outcome.as_ref()).collect();
        assert_eq!(merged(vec![trial.outcome.as_ref().unwrap()]), merged(parts), "merged = sum");
    }

    #[test]
    fn the_straggler_is_named_with_its_ratio_to_the_median_and_fairness_says_how_alike_they_are() {
        let (case, hosts) = found(&record(&[1_000.0, 1_000.0, 500.0, 1_000.0]));
        let (slowest, ratio) = hosts.slowest.unwrap();
        assert_eq!((hosts.hosts[slowest as usize].name.as_str(), (ratio.value * 100.0).round()), ("h2", 50.0));
        assert!(ratio.interval.is_some());
        // (3.5)² / (4 · 3.25)
        assert!((hosts.fairness.unwrap().value - 12.25 / 13.0).abs() < 0.01);
        assert!(case.workload.en.ends_with(", on each of 4 load hosts"), "{}", case.workload.en);
        let (_, alike) = found(&record(&[1_000.0, 1_000.0]));
        let fair = alike.fairness.unwrap();
        assert!(fair.value == 1.0 && fair.interval.is_some_and(|(_, high)| high <= 1.0));
    }

    #[test]
    fn the_time_between_the_first_and_the_last_begin_and_end_is_the_longest_of_all_trials() {
        let mut record = record(&[1_000.0, 1_000.0]);
        let late = record.trials[3].parts[1].outcome.as_mut().unwrap();
        (late.load_start, late.window_end) = (late.load_start + Nanos(40_000), late.window_end + Nanos(90_000));
        let (_, hosts) = found(&record);
        assert_eq!((hosts.began_apart, hosts.ended_apart), (Nanos(40_000), Nanos(90_000)));
    }

    #[test]
    fn rates_of_hosts_that_did_not_load_at_the_same_time_are_doubted() {
        let h04 = |late: Nanos, uncertain: u64| {
            let mut record = record(&[1_000.0, 1_000.0]);
            let part = record.trials[3].parts[1].outcome.as_mut().unwrap();
            let late = Nanos((part.window_end.saturating_sub(part.window_start).0 as f64 * late.0 as f64 / 1e9) as u64);
            part.window_start = part.window_start + late;
            record.hosts_mut().iter_mut().for_each(|host| host.clock_uncertainty_ns = Some(uncertain));
            let (case, _) = found(&record);
            let check = case.checks.into_iter().find(|check| check.id == crate::findings::CheckId::H04).unwrap();
            (check.status, check.measured.en)
        };
        use crate::findings::CheckStatus::{Fail, Pass, Warn};
        // Parts of the window, in thousand-millionths.
        let [no, little, much] = [Nanos(5_000_000), Nanos(30_000_000), Nanos(330_000_000)];
        assert_eq!((h04(no, 0).0, h04(little, 0).0), (Pass, Warn));
        let (status, measured) = h04(much, 0);
        assert!(status == Fail && measured.contains("apart, 33.0 % of the window"), "{status:?} {measured}");
        assert_eq!(h04(little, u64::MAX / 4).0, Pass, "clocks that are known this badly show nothing");
    }

    #[test]
    fn a_trial_that_a_lost_host_did_not_end_counts_for_none_and_the_loss_is_told() {
        let mut record = record(&[1_000.0, 1_000.0]);
        (record.trials[5].parts[1].outcome, record.trials[5].outcome) = (None, None);
        let kind = EventKind::HostLost { detail: "connection reset".into() };
        record.events.push(Event { at: Nanos::secs(130), host: HostId(1), kind });
        let findings = analyse(&record).unwrap();
        assert_eq!((findings.cases[0].trials, findings.cases[0].trials_left_out), (5, 1));
        let hosts = findings.cases[0].hosts.as_ref().unwrap();
        let sum: f64 = hosts.hosts.iter().map(|host| host.total.iops.value).sum();
        assert!((sum - findings.cases[0].total.iops.value).abs() < 1e-6 * sum);
        let lost: Vec<_> = findings.hosts.iter().map(|host| host.lost.clone()).collect();
        let why = "connection reset".to_string();
        let after = Nanos::secs(130).saturating_sub(series::span(&record).0);
        assert_eq!(lost, [None, Some(LossFinding { why, after, trials: vec![5] })]);
    }

    #[test]
    fn a_loss_that_ended_a_session_is_none_of_a_run_that_went_on_with_all_hosts() {
        let mut record = record(&[1_000.0, 1_000.0]);
        let [cut, next] = [2, 3].map(|trial| record.trials[trial].started);
        for part in &mut record.trials[2].parts {
            part.outcome = None;
        }
        record.trials[2].outcome = None;
        let kind = EventKind::HostLost { detail: "connection reset".into() };
        record.events.push(Event { at: cut + Nanos(1), host: HostId(1), kind });
        let told = |record: &RunRecord| {
            let findings = analyse(record).unwrap();
            let caveat =
                |caveat: &crate::findings::Caveat| matches!(caveat, crate::findings::Caveat::LoadHostLost { .. });
            (findings.hosts[1].lost.is_some(), findings.caveats.iter().any(caveat), findings.cases[0].trials)
        };
        assert_eq!(told(&record), (true, true, 5), "the others would have gone on");
        let kind = EventKind::Resumed { host: Box::default(), shift_ns: 0, boot_id: String::new() };
        record.events.push(Event::new(next, kind));
        assert_eq!(told(&record), (false, false, 5));
    }

    #[test]
    fn the_only_host_that_is_left_is_held_against_none() {
        let mut record = record(&[1_000.0, 500.0]);
        let at = record.trials[0].started;
        record
            .trials
            .iter_mut()
            .for_each(|trial| trial.parts[1] = stend_record::TrialPart { host: HostId(1), ..Default::default() });
        let kind = EventKind::HostLost { detail: "connection reset".into() };
        record.apply(stend_record::Entry::Event(Event { at, host: HostId(1), kind }));
        let (case, hosts) = found(&record);
        assert_eq!((hosts.hosts.len(), hosts.slowest, hosts.fairness), (1, None, None));
        assert!(case.workload.en.ends_with(", on one load host"), "{}", case.workload.en);
    }

    /// The second of three hosts is lost before trial `first` begins, of six, and the others go on.
    fn gone_on(first: usize) -> RunRecord {
        let mut record = record(&[1_000.0, 1_000.0, 500.0]);
        let at = record.trials[first].started;
        for trial in &mut record.trials[first..] {
            trial.parts[1] = stend_record::TrialPart { host: HostId(1), ..Default::default() };
        }
        let kind = EventKind::HostLost { detail: "connection reset".into() };
        record.apply(stend_record::Entry::Event(Event { at, host: HostId(1), kind }));
        record
    }

    #[test]
    fn a_case_counts_trials_of_the_same_hosts_alone_and_names_those_that_are_missing() {
        for (first, of, trials, total) in [(1, 2, 5, 1_500.0), (4, 3, 4, 2_500.0), (3, 3, 3, 2_500.0)] {
            let findings = analyse(&gone_on(first)).unwrap();
            let case = &findings.cases[0];
            let hosts = case.hosts.as_ref().unwrap();
            assert_eq!((hosts.hosts.len(), case.trials, case.trials_left_out), (of, trials, 6 - trials), "{first}");
            assert!((case.total.iops.value / total - 1.0).abs() < 0.03, "{}", case.total.iops.value);
            let sum: f64 = hosts.hosts.iter().map(|host| host.total.iops.value).sum();
            assert!((sum - case.total.iops.value).abs() < 1e-6 * sum);
            let missing = if of == 2 { vec!["h1".to_string()] } else { Vec::new() };
            assert_eq!(hosts.without, missing);
            assert!(case.workload.en.ends_with(&format!(", on each of {of} load hosts")), "{}", case.workload.en);
            let lost = findings.hosts[1].lost.as_ref().unwrap();
            assert_eq!(lost.trials, (first as u32..6).collect::<Vec<_>>());
        }
    }

    #[test]
    fn clocks_are_told_with_their_largest_uncertainty_and_drift() {
        let mut record = record(&[1_000.0, 1_000.0]);
        for (at, shift_ns, uncertainty_ns) in [(100, -5_000_000, 80_000), (160, -5_003_000, 60_000)] {
            let kind = EventKind::HostClock { shift_ns, uncertainty_ns };
            record.events.push(Event { at: Nanos::secs(at), host: HostId(1), kind });
        }
        let findings = analyse(&record).unwrap();
        let drift = Some((-3_000, Nanos::secs(60)));
        let clock = ClockFinding { shift_ns: -5_000_000, uncertainty_ns: 80_000, drift };
        assert_eq!((findings.hosts[0].clock, findings.hosts[1].clock), (None, Some(clock)));
        assert_eq!(findings.cases[0].hosts.as_ref().unwrap().apart_uncertainty, Nanos(80_000));
    }

    #[test]
    fn the_drift_of_a_clock_is_that_of_the_last_session() {
        let mut record = record(&[1_000.0, 1_000.0]);
        for (at, shift_ns, uncertainty_ns) in
            [(100, -5_000_000, 80_000), (160, 77_000_000, 60_000), (190, 77_000_100, 50)]
        {
            let kind = EventKind::HostClock { shift_ns, uncertainty_ns };
            record.events.push(Event { at: Nanos::secs(at), host: HostId(1), kind });
        }
        let kind = EventKind::Resumed { host: Box::default(), shift_ns: 0, boot_id: String::new() };
        record.events.push(Event::new(Nanos::secs(150), kind));
        let clock = analyse(&record).unwrap().hosts[1].clock.unwrap();
        assert_eq!((clock.shift_ns, clock.drift), (77_000_000, Some((100, Nanos::secs(30)))));
        assert_eq!(clock.uncertainty_ns, 80_000, "of all, because trials of all sessions count");
    }

    #[test]
    fn the_ceiling_of_a_case_is_that_of_the_host_which_is_nearest_to_one() {
        let mut record = record(&[1_000.0, 1_000.0]);
        for trial in &mut record.trials {
            trial.parts[1].outcome.as_mut().unwrap().jobs[0].cpu_max_ns = Some(Nanos::secs(2).0);
        }
        let (case, _) = found(&record);
        let ceiling = case.ceiling.unwrap();
        assert_eq!(ceiling.host.as_deref(), Some("h1"));
        assert!(ceiling.say().en.starts_with("On load host h1: "), "{}", ceiling.say().en);
    }
}
