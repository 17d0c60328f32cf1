//! Searches for a number of load hosts, walked on imagined storage, and what their files say.

use crate::findings::{CheckStatus, Findings};
use crate::fixture::{RunBuilder, open_case, run_of, several};
use crate::search::{Ended, step};
use crate::{Looks, analyse};
use stend_base::{Millionths, Nanos};
use stend_plan::{Decision, Outcome, Plan, StopReason};
use stend_record::{Entry, HostId, HostInfo, Role, RunRecord, Slice, TrialOutcome, TrialRecord};
use stend_spec::app::Density;
use stend_spec::load_hosts::{HostSearch, LoadHosts};
use stend_spec::suite::SuiteCase;

/// Offered by each host, per second.
const OFFERED: f64 = 1000.0;

/// Random reads at 1000/s on each of 1 to 64 hosts, 99 % within 50 ms.
fn searched() -> SuiteCase {
    let search =
        HostSearch { among: Density { from: 1, to: 64 }, quantile: Millionths::percent(99), limit: Nanos::millis(50) };
    SuiteCase { load_hosts: LoadHosts::Search(search), ..open_case("vms", OFFERED as u64) }
}

fn on_hosts(cases: Vec<SuiteCase>, hosts: u32) -> RunBuilder {
    run_of(cases).inputs(|inputs| inputs.target.hosts = hosts)
}

/// A trial in which a host served this.
fn served(run: RunBuilder, (case, block): (u32, u32), iops: f64) -> RunBuilder {
    let offered = move |outcome: &mut TrialOutcome, slices: &mut Vec<Slice>| {
        let due = OFFERED as u64 / 10;
        slices.iter_mut().filter_map(|slice| slice.open.as_mut()).for_each(|open| open.due = due);
        let window = outcome.window_end.saturating_sub(outcome.window_start);
        outcome.open.iter_mut().for_each(|open| open.due = due * window.0 / Nanos::millis(100).0);
    };
    run.trial(case).block(block).iops(iops).change(offered).done()
}

/// Walks the plan to its end on so many hosts; `of_host` says what each host serves where so many load.
fn walked(hosts: u32, of_host: impl Fn(u32, u32) -> f64) -> RunRecord {
    losing(hosts, of_host, |_| false)
}

/// The same; of the trials for which `loses` holds the last host is lost.
fn losing(hosts: u32, of_host: impl Fn(u32, u32) -> f64, loses: impl Fn(&TrialRecord) -> bool) -> RunRecord {
    let mut runs: Vec<RunBuilder> = (0..hosts).map(|_| on_hosts(vec![searched()], hosts)).collect();
    let plan = Plan::new(&runs[0].clone().record().header.inputs).unwrap();
    let mut history = vec![Outcome::Ok];
    let join = |runs: &[RunBuilder]| {
        let mut all = several((0..).zip(runs).map(|(at, run)| (format!("h{at}"), run.clone().record())).collect());
        for trial in all.trials.iter_mut().filter(|trial| loses(trial)) {
            trial.parts.pop();
            if trial.parts.is_empty() {
                trial.outcome = None;
            }
        }
        all
    };
    while let Decision::Trial { case, block, .. } = plan.next(&history) {
        let loading = plan.cases[case as usize].trial.load_hosts.unwrap();
        // No two trials are the same to the nanosecond.
        let wobble = 1.0 + 2e-4 * history.len() as f64;
        let each = (0..).zip(runs);
        runs = each.map(|(at, run)| served(run, (case, block), of_host(at, loading) * wobble)).collect();
        let record = join(&runs);
        let ended = Ended::of(record.trials.last().unwrap(), hosts as usize);
        history.push(ended.map_or(Outcome::Incomplete, |ended| step(&plan, case, &ended)));
        assert!(history.len() < 100);
    }
    assert_eq!(plan.next(&history), Decision::Stop(StopReason::Done));
    join(&runs)
}

/// Storage that serves so much in all, and each host an equal part.
fn shared(capacity: f64) -> impl Fn(u32, u32) -> f64 {
    move |_, loading| OFFERED.min(capacity / f64::from(loading))
}

fn found(record: &RunRecord) -> Findings {
    analyse(record).unwrap()
}

#[test]
fn the_largest_number_of_hosts_that_hold_is_found_and_told_first() {
    let record = walked(8, shared(5000.0));
    let found = found(&record);
    let [answer] = &found.host_searches[..] else { panic!("{:?}", found.host_searches) };
    let (held, missed) = (answer.held.unwrap(), answer.missed.unwrap());
    assert_eq!((held.hosts, held.looks, held.missed), (5, 3, 0));
    assert_eq!((missed.hosts, missed.looks, missed.missed), (6, 3, 3));
    assert!(answer.confirmed);
    let first = "vms: 5 (3 of 3 trials) of 8 load hosts hold the objective, 6 (0 of 3 trials) do not: on each its rate is served";
    assert!(found.verdict.en.starts_with(first), "{}", found.verdict.en);
    let headline =
        "vms: 5 of 8 load hosts hold the objective, 6 do not (99\u{a0}% of the I/Os of each within 50.0 ms).";
    assert_eq!(found.headline.en.replace('\u{a0}', " "), headline.replace('\u{a0}', " "));
    let nothing = ["There is no telemetry of the trials at 6", "Checked: CPUs"];
    assert!(nothing.iter().any(|words| answer.say().en.contains(words)), "{}", answer.say().en);
    // Their rates and their failed checks are what was looked for.
    assert!(!found.verdict.en.contains("does not hold"), "{}", found.verdict.en);
    let of_five = found.cases.iter().find(|case| case.label == "vms, load_hosts 5").unwrap();
    assert!(of_five.workload.en.ends_with(", on each of 5 load hosts"), "{}", of_five.workload.en);
    assert!(of_five.checks.iter().all(|check| check.status != CheckStatus::Fail));
    assert_eq!(of_five.hosts.as_ref().unwrap().without, [] as [String; 0], "those that rest are not missing");
    assert!((of_five.total.iops.value / 5000.0 - 1.0).abs() < 0.02, "{:?}", of_five.total.iops);
    assert!(found.caveats.is_empty(), "{:?}", found.caveats);
    assert!(answer.say().en.contains(" and 99\u{a0}% of the I/Os end within"), "{}", answer.say().en);
}

#[test]
fn one_host_that_starves_is_a_miss_whatever_the_sum_is() {
    // From four hosts on the last one gets a tenth, and the others more than they need.
    let unfair = |at: u32, loading: u32| if loading >= 4 && at + 1 == loading { OFFERED / 10.0 } else { OFFERED };
    let answer = found(&walked(8, unfair)).host_searches.remove(0);
    assert_eq!((answer.held.unwrap().hosts, answer.missed.unwrap().hosts), (3, 4));
    let few = found(&walked(2, shared(500.0))).host_searches.remove(0);
    assert!(few.say().en.contains("not even 1 (0 of 3 trials) of 2 load hosts hold"), "{}", few.say().en);
    let all = found(&walked(3, shared(1e9))).host_searches.remove(0);
    assert!(all.say().en.contains("every number of load hosts that was tried"), "{}", all.say().en);
    assert!(all.say().ru.contains("вплоть до 3 (испытаний: 3 из 3) из 3"), "{}", all.say().ru);
}

#[test]
fn a_trial_that_lacks_a_host_says_nothing_of_its_number() {
    let mut record = walked(2, shared(1e9));
    let plan = record.plan().unwrap().into_owned();
    let trial = record.trials.iter_mut().find(|trial| trial.parts.len() == 2).unwrap();
    trial.parts.pop();
    let ended = Ended::of(trial, 2).unwrap();
    assert_eq!(step(&plan, trial.case, &ended), Outcome::Incomplete);
    assert_eq!(Looks::default().step(&plan, (trial.case, 0), &ended), Outcome::Incomplete);
    // Four hosts never loaded together: nothing is known of four.
    let never_four = losing(4, shared(1e9), |trial| trial.asked.load_hosts == Some(4));
    let answer = found(&never_four).host_searches.remove(0);
    assert_eq!((answer.held.unwrap().hosts, answer.missed, answer.confirmed), (2, None, false));
    let [short, whole] = [answer.in_short().en, answer.say().en];
    assert!(short.ends_with("The search did not finish.") && !whole.contains("4 do not"), "{short} {whole}");
    // One loss is looked at once more, and does not count.
    let once = losing(8, shared(1e9), |trial| trial.asked.load_hosts == Some(4) && trial.trial == 2);
    assert_eq!(found(&once).host_searches[0].held.unwrap().hosts, 8);
    let none = losing(2, shared(1e9), |trial| trial.asked.load_hosts == Some(1));
    let answer = found(&none).host_searches.remove(0);
    assert!(answer.say().en.contains("no trial had all the load hosts"), "{}", answer.say().en);
}

#[test]
fn a_number_of_hosts_that_were_not_all_there_stands_in_no_curve() {
    let three = || SuiteCase { load_hosts: LoadHosts::Counts(vec![1, 2, 3]), ..open_case("steps", OFFERED as u64) };
    let run = |_| (0..3).fold(on_hosts(vec![three()], 3), |run, cell| served(run, (cell, 0), OFFERED));
    let mut record = several((0..3).map(|at| (format!("h{at}"), run(at).record())).collect());
    assert_eq!(analyse(&record).unwrap().across.len(), 1);
    record.trials[2].parts.pop();
    assert_eq!(analyse(&record).unwrap().across.len(), 0, "two numbers are left");
}

#[test]
fn a_drive_is_used_up_in_the_trials_that_its_host_made_and_hosts_without_samples_hide_nothing() {
    let record = walked(4, shared(2500.0));
    let busy = |record: &RunRecord| found(record).host_searches[0].used_up.iter().map(|one| one.host.clone()).collect();
    let none: Vec<String> = busy(&record);
    assert!(none.is_empty(), "{none:?}");
    let told = |record: &RunRecord| found(record).host_searches[0].say().en;
    let mut silent = record.clone();
    silent.apply(Entry::Host {
        host: HostId(4),
        info: Box::new(HostInfo { name: "hypervisor".into(), role: Role::Observe, ..HostInfo::default() }),
    });
    assert_eq!(told(&silent), told(&record));
}

#[test]
fn cells_with_numbers_of_hosts_have_the_first_of_them() {
    let case = SuiteCase { load_hosts: LoadHosts::Counts(vec![1, 3]), ..open_case("steps", OFFERED as u64) };
    let run = |_| served(served(on_hosts(vec![case.clone()], 3), (0, 0), OFFERED), (1, 0), OFFERED);
    let record = several((0..3).map(|at| (format!("h{at}"), run(at).record())).collect());
    let hosts: Vec<Vec<HostId>> =
        record.trials.iter().map(|trial| trial.parts.iter().map(|part| part.host).collect()).collect();
    assert_eq!(hosts, [vec![HostId(0)], vec![HostId(0), HostId(1), HostId(2)]]);
    let found = found(&record);
    let told: Vec<(&str, f64)> =
        found.cases.iter().map(|case| (case.label.as_str(), (case.total.iops.value / 100.0).round())).collect();
    assert_eq!(told, [("steps, load_hosts 1", 10.0), ("steps, load_hosts 3", 30.0)]);
    assert!(found.cases[0].workload.en.ends_with(", on one load host"));
    let of_hosts = |case: usize| {
        found.cases[case].charts.iter().find(|chart| chart.id.ends_with("-hosts")).map(|chart| chart.summary.en.clone())
    };
    assert_eq!(of_hosts(0), None, "those that rest are not drawn");
    assert!(of_hosts(1).unwrap().starts_with("Load hosts: 3"));
    assert_eq!(found.across.len(), 0, "two values are no curve");
    let three = || SuiteCase { load_hosts: LoadHosts::Counts(vec![1, 2, 3]), ..open_case("steps", OFFERED as u64) };
    let run = |_| (0..3).fold(on_hosts(vec![three()], 3), |run, cell| served(run, (cell, 0), OFFERED));
    let curve = analyse(&several((0..3).map(|at| (format!("h{at}"), run(at).record())).collect())).unwrap().across;
    let [chart] = &curve[..] else { panic!("{curve:?}") };
    assert_eq!(chart.title.en, "steps: the effect of load hosts");
    let too_many = SuiteCase { load_hosts: LoadHosts::Counts(vec![1, 4]), ..open_case("steps", 10) };
    let plan = Plan::new(&on_hosts(vec![too_many], 3).record().header.inputs).unwrap();
    assert_eq!(plan.cases[0].not_run, None);
    assert_eq!(plan.cases[1].not_run.as_ref().unwrap().en, "it needs 4 load hosts; the run has 3");
}
