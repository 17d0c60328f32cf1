//! H25: did arrays and pools under the target do work of their own while they were measured?

use super::Check;
use super::lower_devices::LowerDevices;
use super::readings::no_readings;
use crate::findings::{CheckId, CheckResult};
use crate::trials::CaseTrials;
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::parts::{ArrayState, PoolState};
use stend_record::{Parts, RunRecord};

/// What md calls no work: `frozen` is work that somebody holds back.
const AT_REST: [&str; 2] = ["idle", "frozen"];
/// What btrfs calls no work: a balance that is paused does not go on.
const NOTHING: [&str; 2] = ["none", "balance paused"];

/// One kind of work of one part, as the reading said that found it furthest.
#[derive(Debug, Clone, PartialEq)]
struct Work {
    /// `md0: recover`.
    what: String,
    /// Part of it that was done.
    done: Option<f64>,
    /// Readings that found it.
    seen: usize,
}

/// H25: no reading around or during the load found a resync, rebuild, check, reshape, balance or replacement.
pub fn background(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    LowerDevices::at_each(run, |below| at(below, case))
}

fn at(below: &LowerDevices<'_>, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H25, limit: say!("none in any reading", "ни в одном показании") };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let readings: Vec<&Parts> = below.readings(case).into_iter().flatten().collect();
    if readings.is_empty() {
        return check.not_measurable(no_readings());
    }
    let telling = |parts: &&Parts| parts.arrays.iter().any(tells) || parts.pools.iter().any(|p| p.operation.is_some());
    if !readings.iter().any(telling) {
        return check.not_applicable(say!(
            "Below the target there is neither an md array nor btrfs, whose work the kernel reports.",
            "Под объектом нет ни массива md, ни btrfs, о работе которых сообщает ядро."
        ));
    }
    let found = works(&readings);
    if found.is_empty() {
        return check.pass(say!(|l| "nothing in {n} readings", "ничего, показаний: {n}", n = readings.len()));
    }
    check.measured(measured(&found, readings.len())).fail(meaning())
}

fn meaning() -> Say {
    say!(
        "The storage did background work on its drives, so this is not its throughput at rest. Wait for its end (`cat /proc/mdstat`, `btrfs balance status`) and repeat, or measure it as a case of its own.",
        "Хранилище выполняло на накопителях фоновую работу: это не его скорость в покое. Дождитесь конца (`cat /proc/mdstat`, `btrfs balance status`) и повторите либо измерьте это отдельным случаем."
    )
}

fn tells(array: &ArrayState) -> bool {
    array.action.is_some()
}

fn works(readings: &[&Parts]) -> Vec<Work> {
    let mut found: Vec<Work> = Vec::new();
    for (what, done) in readings.iter().flat_map(|parts| now(parts)) {
        match found.iter_mut().find(|work| work.what == what) {
            Some(work) => {
                work.seen += 1;
                work.done = work.done.into_iter().chain(done).reduce(f64::max);
            }
            None => found.push(Work { what, done, seen: 1 }),
        }
    }
    found
}

/// What one reading found.
fn now(parts: &Parts) -> Vec<(String, Option<f64>)> {
    let array = |array: &ArrayState| {
        let action = array.action.as_deref().filter(|action| !AT_REST.contains(action))?;
        let share = array.progress.filter(|(_, all)| *all > 0).map(|(done, all)| done as f64 / all as f64);
        Some((format!("{}: {action}", array.name), share))
    };
    let pool = |pool: &PoolState| {
        let operation = pool.operation.as_deref().filter(|operation| !NOTHING.contains(operation))?;
        Some((format!("{} {:.8}: {operation}", pool.kind, pool.name), None))
    };
    parts.arrays.iter().filter_map(array).chain(parts.pools.iter().filter_map(pool)).collect()
}

fn measured(found: &[Work], readings: usize) -> Say {
    let one = |work: &Work, lang: Lang| {
        let at = work.done.map(|share| format!(" {}", format::percent(share, lang))).unwrap_or_default();
        let seen = say_in!(lang, "in {k} of {readings} readings", "показаний: {k} из {readings}", k = work.seen);
        format!("{}{at} ({seen})", work.what)
    };
    Say::both(|l| found.iter().map(|work| one(work, l)).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{over_storage, run, watching};
    use crate::trials::by_case;

    /// A check of a run in which the parts are as given in every reading but the third, where they are as given last.
    fn check(usual: Parts, third: Parts) -> CheckResult {
        let mut record = run().trial(0).done().record();
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            sample.parts = Some(Box::new(if at == 2 { third.clone() } else { usual.clone() }));
        }
        background(&record, &by_case(&record)[0])
    }

    fn array(action: &str, progress: Option<(u64, u64)>) -> Parts {
        let array = ArrayState { name: "md0".into(), action: Some(action.into()), progress, ..ArrayState::default() };
        Parts { arrays: vec![array], ..Parts::default() }
    }

    fn btrfs(operation: Option<&str>) -> Parts {
        let name = "0123456789abcdef".into();
        let operation = operation.map(String::from);
        let pool = PoolState { kind: "btrfs".into(), name, operation, ..PoolState::default() };
        Parts { pools: vec![pool], ..Parts::default() }
    }

    #[test]
    fn an_array_at_rest_passes_and_frozen_is_at_rest() {
        let found = check(array("idle", None), array("frozen", None));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "nothing in 6 readings"));
        assert_eq!(check(btrfs(Some("none")), btrfs(Some("balance paused"))).status, CheckStatus::Pass);
    }

    #[test]
    fn a_rebuild_in_one_reading_fails_and_is_told_with_its_progress() {
        let found = check(array("idle", None), array("recover", Some((512, 2048))));
        assert_eq!(found.status, CheckStatus::Fail);
        assert_eq!(found.measured.en, "md0: recover 25.0 % (in 1 of 6 readings)");
        assert_eq!(found.measured.ru, "md0: recover 25,0 % (показаний: 1 из 6)");
    }

    #[test]
    fn a_balance_of_btrfs_fails() {
        let found = check(btrfs(Some("balance")), btrfs(Some("balance")));
        assert_eq!(found.status, CheckStatus::Fail);
        assert_eq!(found.measured.en, "btrfs 01234567: balance (in 6 of 6 readings)");
    }

    #[test]
    fn work_on_the_storage_host_fails_as_work_here_does() {
        let at_both = |here: &Parts, there: &Parts| {
            let mut record = over_storage(run().trial(0).done().record());
            let storage = record.storage_mut().unwrap();
            storage.samples.iter_mut().for_each(|sample| sample.parts = Some(Box::new(there.clone())));
            record.load_mut().samples.iter_mut().for_each(|sample| sample.parts = Some(Box::new(here.clone())));
            let found = background(&record, &by_case(&record)[0]);
            (found.status, found.measured.en)
        };
        let (none, rest, work) = (Parts::default(), array("idle", None), array("recover", None));
        let told = "array1: md0: recover (in 6 of 6 readings)".to_string();
        assert_eq!(at_both(&none, &work), (CheckStatus::Fail, told.clone()));
        assert_eq!(at_both(&rest, &work), (CheckStatus::Fail, told));
        assert_eq!(at_both(&work, &rest), (CheckStatus::Fail, "md0: recover (in 6 of 6 readings)".into()));
        let both = "nothing in 6 readings; array1: nothing in 6 readings".to_string();
        assert_eq!(at_both(&rest, &rest), (CheckStatus::Pass, both));
        assert_eq!(at_both(&none, &none).0, CheckStatus::NotApplicable);
        let mut unwatched = run().trial(0).done().record();
        crate::fixture::unwatched(&mut unwatched);
        assert_eq!(background(&unwatched, &by_case(&unwatched)[0]).status, CheckStatus::NotMeasurable);
    }

    #[test]
    fn work_on_a_watched_host_fails_and_what_is_not_known_of_it_takes_nothing_away() {
        let beside = |parts: Option<Parts>| {
            let mut record = run().trial(0).done().record();
            record.load_mut().samples.iter_mut().for_each(|sample| sample.parts = Some(Box::new(array("idle", None))));
            let record = watching(record, |_, sample| sample.parts = parts.clone().map(Box::new));
            let found = background(&record, &by_case(&record)[0]);
            (found.status, found.measured.en)
        };
        let told = "switch1: md0: recover (in 6 of 6 readings)".to_string();
        assert_eq!(beside(Some(array("recover", None))), (CheckStatus::Fail, told));
        assert_eq!(beside(None), (CheckStatus::Pass, "nothing in 6 readings".into()));
    }

    #[test]
    fn without_anything_that_tells_it_does_not_apply_and_without_readings_nobody_knows() {
        let old_kernel = check(btrfs(None), btrfs(None));
        assert_eq!(old_kernel.status, CheckStatus::NotApplicable);
        let mut record = run().trial(0).done().record();
        record.load_mut().samples.iter_mut().for_each(|sample| sample.parts = None);
        assert_eq!(background(&record, &by_case(&record)[0]).status, CheckStatus::NotMeasurable);
    }
}
