//! Checks of a run with several load hosts: each is asked of every host alone, and the worst answer counts, with the hosts that gave it.
//! What is of no single host is asked once. Must not ask anything itself.

use super::{BY_COUNTERS, worst_of};
use crate::findings::CheckId::{self, *};
use crate::findings::{CheckResult, CheckStatus};
use stend_base::{Lang, Say, format, say, say_in};

/// Checks of the run as a whole: its rounds, its pauses, its crashes.
const OF_THE_RUN: [CheckId; 3] = [H21, H78, H81];
/// Checks that look at the drives of a storage host if there is one: these serve all load hosts.
const OF_STORAGE_HOST: [CheckId; 3] = [H11, H30, H31];
/// Checks that look at watched hosts, or at all load hosts together, as well.
const OF_OTHERS: [CheckId; 3] = [H04, H25, H64];
/// Most hosts that are named; more are counted.
const NAMED_MAX: usize = 3;

/// What one load host answered.
#[derive(Debug, Clone, Copy)]
pub struct OfHost<'a> {
    /// How the user calls it.
    pub name: &'a str,
    /// Its answers, those of the whole run among them.
    pub checks: &'a [CheckResult],
    /// Its load threads had no spare CPU.
    pub is_limit: bool,
}

/// What hosts have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    /// There is a storage host: its drives serve all of them.
    pub storage: bool,
    /// They run on one kernel and use the same drives: its counters are of all of them.
    pub counters: bool,
}

/// The results of a case by those of the run as a whole and of each load host, in the same order.
pub fn joined(whole: &[CheckResult], hosts: &[OfHost<'_>], shared: Shared) -> Vec<CheckResult> {
    let of_check = |whole: &CheckResult| {
        let once = OF_THE_RUN.contains(&whole.id)
            || (shared.storage && OF_STORAGE_HOST.contains(&whole.id))
            || (shared.counters && BY_COUNTERS.contains(&whole.id));
        let answers: Option<Vec<(OfHost<'_>, &CheckResult)>> =
            hosts.iter().map(|host| Some((*host, host.checks.iter().find(|check| check.id == whole.id)?))).collect();
        let Some(answers) = answers.filter(|answers| !once && !answers.is_empty()) else { return whole.clone() };
        let found = worst(&answers);
        let elsewhere = OF_OTHERS.contains(&whole.id) && worst_of(whole.status) > worst_of(found.status);
        if elsewhere { whole.clone() } else { found }
    };
    whole.iter().map(of_check).collect()
}

/// The worst answer, with the hosts that gave it.
fn worst(answers: &[(OfHost<'_>, &CheckResult)]) -> CheckResult {
    let status = answers.iter().map(|(_, found)| found.status).max_by_key(|status| worst_of(*status));
    let status = status.unwrap_or(CheckStatus::NotApplicable);
    let concerned: Vec<_> = answers.iter().filter(|(_, found)| found.status == status).copied().collect();
    let (_, first) = concerned[0];
    let is_all = concerned.len() == answers.len();
    let is_good = matches!(status, CheckStatus::Pass | CheckStatus::NotApplicable);
    let alike = concerned.iter().all(|(_, other)| other.measured == first.measured);
    let measured = if alike && (is_all || is_good) { first.measured.clone() } else { each(&concerned) };
    let limits: Vec<&str> = concerned.iter().filter(|(host, _)| host.is_limit).map(|(host, _)| host.name).collect();
    let meaning = match status {
        CheckStatus::Warn if first.id == H40 && !limits.is_empty() => limited(&limits, answers.len()),
        _ if is_good || first.meaning.en.is_empty() => first.meaning.clone(),
        _ => {
            let names: Vec<&str> = concerned.iter().map(|(host, _)| host.name).collect();
            Say::both(|l| format!("{}: {}", on(&names, answers.len(), l), first.meaning.get(l)))
        }
    };
    CheckResult { measured, meaning, ..first.clone() }
}

/// What was measured on each: `a: 7 %; b: 9 %`.
fn each(of: &[(OfHost<'_>, &CheckResult)]) -> Say {
    let more = of.len().saturating_sub(NAMED_MAX);
    Say::both(|l| {
        let shown = of.iter().take(NAMED_MAX).map(|(host, found)| format!("{}: {}", host.name, found.measured.get(l)));
        let rest = (more > 0)
            .then(|| say_in!(l, "{n} more load hosts", "и ещё нагружающих машин: {n}", n = format::count(more as u64)));
        shown.chain(rest).collect::<Vec<_>>().join("; ")
    })
}

/// `On load host b`, `On load hosts b, c (2 of 16)`, `On each of 4 load hosts`.
fn on(names: &[&str], all: usize, lang: Lang) -> String {
    let (count, listed) = (names.len(), listed(names, lang));
    match count {
        _ if count == all && all > 1 => {
            say_in!(lang, "On each of {all} load hosts", "На каждой из {all} нагружающих машин")
        }
        1 => say_in!(lang, "On load host {listed}", "На нагружающей машине {listed}"),
        _ => say_in!(
            lang,
            "On load hosts {listed} ({count} of {all})",
            "На нагружающих машинах {listed} ({count} из {all})"
        ),
    }
}

fn listed(names: &[&str], lang: Lang) -> String {
    let shown = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => {
            say_in!(lang, "{shown} and {more} more", "{shown} и ещё {more}")
        }
    }
}

/// H40 for the whole: these load hosts were the limit.
fn limited(names: &[&str], all: usize) -> Say {
    let (count, en, ru) = (names.len(), listed(names, Lang::En), listed(names, Lang::Ru));
    say!(
        "The load hosts were the limit, not the storage: load threads had no spare CPU on {en} ({count} of {all}). Use more load hosts, or treat the rate as a lower bound.",
        "Пределом были нагружающие машины, а не хранилище: потокам нагрузки не хватало процессора на {ru} ({count} из {all}). Добавьте нагружающих машин или считайте скорость нижней границей."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::findings::CaseFinding;
    use crate::fixture::{RunBuilder, loads_mut, run, several, watching};
    use stend_base::Nanos;
    use stend_record::parts::ArrayState;
    use stend_record::{IoErrors, RunRecord, TrialOutcome};
    use stend_spec::workload::Op;

    /// Two trials on each of these hosts; no two did exactly the same.
    fn hosts(names: &[&str], change: fn(&str, &mut TrialOutcome)) -> RunRecord {
        let one = |(at, name): (usize, &&str)| {
            let name = name.to_string();
            let trial = |run: RunBuilder, number: usize| {
                let name = name.clone();
                let rate = 10_000.0 + 100.0 * (2 * at + number) as f64;
                run.trial(0).iops(rate).change(move |o, _| change(&name, o)).done()
            };
            let record = trial(trial(run(), 0), 1).record();
            (name, record)
        };
        several(names.iter().enumerate().map(one).collect())
    }

    fn check(record: &RunRecord, id: CheckId) -> CheckResult {
        let case: CaseFinding = analyse(record).unwrap().cases.remove(0);
        case.checks.into_iter().find(|check| check.id == id).unwrap()
    }

    #[test]
    fn a_clean_run_on_several_hosts_has_no_check_that_warns_or_fails() {
        let record = hosts(&["a", "b", "c", "d", "e"], |_, _| ());
        for check in &analyse(&record).unwrap().cases[0].checks {
            assert!(!matches!(check.status, CheckStatus::Warn | CheckStatus::Fail), "{check:?}");
        }
        let alike = check(&record, H40);
        assert_eq!(
            alike.measured.en, "worst thread waited 0.1 %, busiest used 10.0 %",
            "said once where all are alike"
        );
    }

    #[test]
    fn a_check_that_fails_on_one_host_names_it() {
        let failed = |name: &str, o: &mut TrialOutcome| {
            let error = IoErrors { stream: 0, op: Op::Read, errno: 5, count: 3, first_offset: Some(0) };
            o.errors.extend((name == "b").then_some(error));
        };
        let found = check(&hosts(&["a", "b", "c"], failed), H76);
        assert_eq!(found.status, CheckStatus::Fail);
        assert!(found.meaning.en.starts_with("On load host b: "), "{}", found.meaning.en);
        assert!(found.meaning.ru.starts_with("На нагружающей машине b: "), "{}", found.meaning.ru);
        assert!(found.measured.en.starts_with("b: "), "{}", found.measured.en);
        assert_eq!(check(&hosts(&["a", "b"], |_, _| ()), H76).status, CheckStatus::Pass);
    }

    #[test]
    fn load_hosts_without_spare_cpus_are_the_limit_and_are_named() {
        let some = |name: &str, o: &mut TrialOutcome| {
            o.jobs[0].cpu_max_ns = Some(if name == "a" { 0 } else { Nanos::secs(2).0 });
        };
        let found = check(&hosts(&["a", "b"], some), H40);
        assert_eq!(found.status, CheckStatus::Warn);
        assert!(
            found.meaning.en.starts_with("The load hosts were the limit, not the storage:"),
            "{}",
            found.meaning.en
        );
        assert!(found.meaning.en.contains("no spare CPU on b (1 of 2)"), "{}", found.meaning.en);
        let many = check(&hosts(&["a", "b", "c", "d", "e", "f"], some), H40);
        assert!(many.meaning.en.contains("on b, c, d and 2 more (5 of 6)"), "{}", many.meaning.en);
        assert!(many.measured.en.ends_with("; 2 more load hosts"), "{}", many.measured.en);
        // One that only waited is slow, and no limit of the whole.
        let waited = |name: &str, o: &mut TrialOutcome| {
            o.jobs[0].run_delay_ns = Some(if name == "b" { Nanos::millis(200).0 } else { 0 });
        };
        let slow = check(&hosts(&["a", "b"], waited), H40);
        assert!(slow.meaning.en.starts_with("On load host b: Load threads waited"), "{}", slow.meaning.en);
    }

    #[test]
    fn what_is_wrong_at_a_watched_host_is_not_said_of_a_load_host() {
        let array = ArrayState {
            name: "md0".into(),
            level: "raid5".into(),
            action: Some("resync".into()),
            ..ArrayState::default()
        };
        let record = watching(hosts(&["a", "b"], |_, _| ()), |_, sample| {
            sample.parts.get_or_insert_default().arrays = vec![array.clone()];
        });
        let found = check(&record, H25);
        assert_eq!(found.status, CheckStatus::Fail);
        assert!(found.measured.en.starts_with("switch1: "), "{}", found.measured.en);
        assert!(!found.meaning.en.contains("load host"), "{}", found.meaning.en);
    }

    #[test]
    fn hosts_on_one_kernel_with_the_same_drives_share_their_counters() {
        // Each sees what both moved.
        let seen = |boot: [&str; 2]| {
            let mut record = hosts(&["a", "b"], |_, _| ());
            for (host, boot) in loads_mut(&mut record).zip(boot) {
                host.facts.as_mut().unwrap().boot_id = boot.into();
                for disk in host.samples.iter_mut().flat_map(|sample| &mut sample.disks) {
                    disk.reads *= 2;
                    disk.read_bytes = (disk.read_bytes - (7 << 40)) * 2 + (7 << 40);
                }
            }
            check(&record, H26).status
        };
        assert_eq!(seen(["one", "one"]), CheckStatus::Pass, "the other host is no stranger");
        assert_ne!(seen(["one", "two"]), CheckStatus::Pass, "on a machine of its own it would be one");
    }
}
