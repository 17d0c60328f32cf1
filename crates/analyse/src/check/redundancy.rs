//! H64: had the storage all its drives and ways all the time, as at the start?

use super::Check;
use super::arc::is_on_zfs;
use super::lower_devices::LowerDevices;
use super::readings::no_readings;
use crate::findings::{CheckId, CheckResult};
use crate::trials::CaseTrials;
use stend_base::{Say, say};
use stend_record::parts::{ArrayState, PathState, PoolState};
use stend_record::{Parts, RunRecord};

/// What ZFS calls a pool with everything that it should have.
const WHOLE: &str = "ONLINE";

/// H64: members, paths and states in every reading are those of the first one, and nothing is missing.
pub fn redundancy(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    // Where arms change what is measured, only what is of the same case is alike.
    let of_case = !run.header.inputs.suite.arms.is_empty();
    LowerDevices::at_each(run, |below| at(below, case, of_case))
}

fn at(below: &LowerDevices<'_>, case: &CaseTrials<'_>, of_case: bool) -> CheckResult {
    let check = Check {
        id: CheckId::H64,
        limit: say!("complete and as at the start", "в полном составе и как в начале"),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let readings: Vec<&Parts> = below.readings(case).into_iter().flatten().collect();
    let Some(planned) = planned(below, &readings, of_case) else { return check.not_measurable(no_readings()) };
    if told(below, planned).is_empty() {
        return check.not_applicable(say!(
            "Below the target the kernel reports nothing redundant: no md array, no ZFS pool, no drive with several paths.",
            "Под объектом ядро не сообщает ни о чём с избыточностью: ни массива md, ни пула ZFS, ни накопителя с несколькими путями."
        ));
    }
    let changed = readings.iter().find(|parts| told(below, parts) != told(below, planned));
    if let Some(parts) = changed {
        return check.measured(differences(&told(below, planned), &told(below, parts))).fail(lost());
    }
    let missing: Vec<&str> = missing(below, planned);
    let measured =
        Say::same(told(below, planned).iter().map(|(_, state)| state.as_str()).collect::<Vec<_>>().join("; "));
    if missing.is_empty() {
        return check.pass(measured);
    }
    check.measured(measured).warn(incomplete())
}

/// What the rest is held against: the first reading of the run, or the first of the case.
fn planned<'a>(below: &LowerDevices<'a>, readings: &[&'a Parts], of_case: bool) -> Option<&'a Parts> {
    let first = readings.first().copied()?;
    if of_case { Some(first) } else { below.first_reading().or(Some(first)) }
}

/// (Name, state in words of the kernel) of everything redundant. A state leaves out what changes with the load: md says `clean`
/// and `active` in turn.
fn told(below: &LowerDevices<'_>, parts: &Parts) -> Vec<(String, String)> {
    let array = |array: &ArrayState| {
        let lacks = array.degraded?;
        let state =
            if matches!(array.state.as_str(), "inactive" | "suspended" | "readonly") { &array.state } else { "" };
        let text =
            format!("{} {} {}/{} {state}", array.name, array.level, array.disks.saturating_sub(lacks), array.disks);
        Some((array.name.clone(), text.trim_end().to_string()))
    };
    let pool = |pool: &PoolState| {
        let health = pool.health.as_ref()?;
        Some((pool.name.clone(), format!("{} {} {health}", pool.kind, pool.name)))
    };
    let path = |path: &PathState| {
        let state = path.state.as_deref().unwrap_or("–");
        (format!("{} {}", path.device, path.path), format!("{} {}: {state}", path.device, path.path))
    };
    let pools = parts.pools.iter().filter(|_| on_zfs(below)).filter_map(pool);
    parts.arrays.iter().filter_map(array).chain(pools).chain(parts.paths.iter().map(path)).collect()
}

/// Whether a target lies on ZFS. Which pool it is in the kernel does not tell, so that all count.
fn on_zfs(below: &LowerDevices<'_>) -> bool {
    below.targets.iter().any(is_on_zfs)
}

/// Names of what is not complete.
fn missing<'a>(below: &LowerDevices<'_>, parts: &'a Parts) -> Vec<&'a str> {
    let arrays = parts.arrays.iter().filter(|array| array.degraded.is_some_and(|lacks| lacks > 0));
    let pools = parts.pools.iter().filter(|_| on_zfs(below));
    let pools = pools.filter(|pool| pool.health.as_deref().is_some_and(|health| health != WHOLE));
    let paths = parts.paths.iter().filter(|path| !path.is_usable());
    let arrays = arrays.map(|array| array.name.as_str());
    arrays.chain(pools.map(|pool| pool.name.as_str())).chain(paths.map(|path| path.path.as_str())).collect()
}

fn differences(before: &[(String, String)], after: &[(String, String)]) -> Say {
    let state = |list: &[(String, String)], name: &str| {
        list.iter().find(|(known, _)| known == name).map_or("–".to_string(), |(_, state)| state.clone())
    };
    let names = before.iter().chain(after).map(|(name, _)| name.as_str());
    let names: std::collections::BTreeSet<&str> = names.collect();
    let differ = names.into_iter().filter(|name| state(before, name) != state(after, name));
    let pairs: Vec<(String, String)> = differ.map(|name| (state(before, name), state(after, name))).collect();
    Say::both(|l| {
        let one = |(before, after): &(String, String)| format!("{before}{}{after}", l.pick(", then ", ", затем "));
        pairs.iter().map(one).collect::<Vec<_>>().join("; ")
    })
}

fn lost() -> Say {
    say!(
        "Drives or paths were lost or came back while the case was measured: its trials measure two different things. Repair it and repeat. To measure an outage, use events.",
        "Пока случай измерялся, накопители или пути пропадали или возвращались: испытания измеряют разное. Почините и повторите. Чтобы измерить сам отказ, задайте события."
    )
}

fn incomplete() -> Say {
    say!(
        "The storage was degraded from the start: these are results of a degraded array, pool or path. Repair it and repeat, or mention this with the result.",
        "Хранилище с самого начала было неисправно: это результаты массива, пула или пути с отказом. Почините и повторите или оговорите это в отчёте."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{over_storage, run};
    use crate::trials::by_case;

    /// A check of a run of which the first reading is the first of these, and so on; the last goes on.
    fn check(readings: &[Parts], change: fn(&mut RunRecord)) -> CheckResult {
        let mut record = run().trial(0).done().record();
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            sample.parts = readings.get(at).or(readings.last()).map(|parts| Box::new(parts.clone()));
        }
        change(&mut record);
        redundancy(&record, &by_case(&record)[0])
    }

    fn array(degraded: u32, state: &str) -> Parts {
        let (name, level) = ("md0".into(), "raid5".into());
        let state = state.into();
        let array = ArrayState { name, level, state, disks: 4, degraded: Some(degraded), ..ArrayState::default() };
        Parts { arrays: vec![array], ..Parts::default() }
    }

    fn ways(second: Option<&str>) -> Parts {
        let way = |path: &str, state: Option<&str>| PathState {
            device: "dm-0".into(),
            path: path.into(),
            state: state.map(String::from),
        };
        Parts { paths: vec![way("sda", Some("running")), way("sdb", second)], ..Parts::default() }
    }

    fn zfs(health: &str) -> Parts {
        let pool = PoolState { kind: "zfs".into(), name: "tank".into(), health: Some(health.into()), operation: None };
        Parts { pools: vec![pool], ..Parts::default() }
    }

    fn on_zfs(record: &mut RunRecord) {
        record.load_mut().targets[0].file_system = Some("zfs".into());
    }

    #[test]
    fn an_array_of_the_storage_host_counts_as_one_of_this_host_does() {
        let there = |readings: &[Parts]| {
            let mut record = over_storage(run().trial(0).done().record());
            for (at, sample) in record.storage_mut().unwrap().samples.iter_mut().enumerate() {
                sample.parts = readings.get(at).or(readings.last()).map(|parts| Box::new(parts.clone()));
            }
            let found = redundancy(&record, &by_case(&record)[0]);
            (found.status, found.measured.en)
        };
        let (whole, less) = (array(0, "clean"), array(1, "clean"));
        assert_eq!(there(std::slice::from_ref(&whole)), (CheckStatus::Pass, "array1: md0 raid5 4/4".into()));
        assert_eq!(there(std::slice::from_ref(&less)), (CheckStatus::Warn, "array1: md0 raid5 3/4".into()));
        let lost = "array1: md0 raid5 4/4, then md0 raid5 3/4".to_string();
        assert_eq!(there(&[whole.clone(), whole, less]), (CheckStatus::Fail, lost));
    }

    #[test]
    fn everything_there_all_the_time_passes_whatever_the_array_does_with_its_load() {
        let found = check(&[array(0, "clean"), array(0, "active"), array(0, "clean")], |_| {});
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "md0 raid5 4/4"));
        assert_eq!(check(&[ways(Some("running"))], |_| {}).status, CheckStatus::Pass);
        assert_eq!(check(&[zfs("ONLINE")], on_zfs).status, CheckStatus::Pass);
    }

    #[test]
    fn a_drive_that_is_lost_or_comes_back_fails() {
        let found = check(&[array(0, "clean"), array(0, "clean"), array(1, "clean")], |_| {});
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Fail, "md0 raid5 4/4, then md0 raid5 3/4")
        );
        assert_eq!(check(&[array(1, "clean"), array(0, "clean")], |_| {}).status, CheckStatus::Fail);
    }

    #[test]
    fn a_path_that_goes_and_a_pool_that_degrades_fail() {
        let found = check(&[ways(Some("running")), ways(None)], |_| {});
        assert_eq!(found.measured.ru, "dm-0 sdb: running, затем dm-0 sdb: –");
        assert_eq!(found.status, CheckStatus::Fail);
        assert_eq!(check(&[zfs("ONLINE"), zfs("DEGRADED")], on_zfs).status, CheckStatus::Fail);
    }

    #[test]
    fn what_is_incomplete_from_the_start_is_a_label() {
        assert_eq!(check(&[array(1, "clean")], |_| {}).status, CheckStatus::Warn);
        assert_eq!(check(&[ways(Some("offline"))], |_| {}).status, CheckStatus::Warn);
        assert_eq!(check(&[zfs("DEGRADED")], on_zfs).status, CheckStatus::Warn);
    }

    #[test]
    fn where_nothing_is_redundant_it_does_not_apply_and_without_readings_nobody_knows() {
        assert_eq!(check(&[Parts::default()], |_| {}).status, CheckStatus::NotApplicable);
        assert_eq!(check(&[zfs("DEGRADED")], |_| {}).status, CheckStatus::NotApplicable, "a pool of somebody else");
        assert_eq!(check(&[], |_| {}).status, CheckStatus::NotMeasurable);
    }
}
