//! H13: did the cache of ZFS answer for the drives?

use super::Check;
use super::drives::asked;
use super::readings::{no_readings, readings};
use crate::findings::{CheckId, CheckResult};
use crate::limits::ARC_HITS;
use crate::trials::CaseTrials;
use stend_base::{Bytes, Say, format, say};
use stend_record::parts::ArcCounters;
use stend_record::{RunRecord, TargetFacts};
use stend_spec::workload::Op;

/// Whether a target lies on ZFS.
pub(super) fn is_on_zfs(target: &TargetFacts) -> bool {
    target.file_system.as_deref() == Some("zfs") || target.devices.iter().any(|device| device.kind == "zvol")
}

/// H13: share of the reads of data that were answered from the ARC.
pub fn arc(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H13, limit: Say::both(|l| format!("≤ {}", format::percent(ARC_HITS, l))) };
    if !run.load().targets.iter().any(is_on_zfs) {
        return check.not_applicable(say!("No target lies on ZFS.", "Ни один объект не лежит на ZFS."));
    }
    if !asked(case, Op::Read) {
        return check.not_applicable(say!("The case reads nothing.", "Случай ничего не читает."));
    }
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let ends = readings(run, case).into_iter().map(|trial| Some((trial.first()?.arc?, trial.last()?.arc?)));
    let Some(ends) = ends.collect::<Option<Vec<_>>>().filter(|ends| !ends.is_empty()) else {
        return check.not_measurable(no_readings());
    };
    let growth = |of: fn(&ArcCounters) -> u64| {
        ends.iter().fold(0u64, |sum, (first, last)| sum.saturating_add(of(last).saturating_sub(of(first))))
    };
    let (hits, misses) = (growth(|arc| arc.demand_hits), growth(|arc| arc.demand_misses));
    if hits.saturating_add(misses) == 0 {
        return check.not_measurable(say!(
            "ZFS counted no reads of data during the trials",
            "за время испытаний ZFS не насчитала чтений данных"
        ));
    }
    let share = hits as f64 / hits.saturating_add(misses) as f64;
    let size = ends.iter().map(|(_, last)| last.size_bytes).max().unwrap_or(0);
    let most = ends.iter().map(|(_, last)| last.size_max_bytes).max().unwrap_or(0);
    let measured = say!(
        |l| "{s} of the reads from the ARC ({a} of at most {m})",
        "{s} чтений из ARC ({a} из не более {m})",
        s = format::near_limit::percent(share, ARC_HITS, l),
        a = format::bytes(Bytes(size), l),
        m = format::bytes(Bytes(most), l)
    );
    if share <= ARC_HITS {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "The in-memory cache of ZFS answered some of the reads, even direct ones: the result is not of the drives alone. Use a larger range, `primarycache=metadata`, or mention this with the result.",
        "На часть чтений, даже прямых, ответил кэш ZFS в памяти: результат относится не только к накопителям. Возьмите область больше, `primarycache=metadata` или оговорите это в отчёте."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_record::Parts;
    use stend_spec::workload::Sync;

    /// Reads on ZFS of which in each half second so many were hits and misses.
    fn check(hits: u64, misses: u64, change: fn(&mut RunRecord)) -> CheckResult {
        let mut record = run_of(vec![case("r", 100, 32, Sync::None)]).trial(0).done().record();
        record.load_mut().targets[0].file_system = Some("zfs".into());
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            let at = at as u64;
            let (demand_hits, demand_misses) = (900 + at * hits, at * misses);
            let arc = ArcCounters { demand_hits, demand_misses, size_bytes: 1 << 30, size_max_bytes: 4 << 30 };
            sample.parts = Some(Box::new(Parts { arc: Some(arc), ..Parts::default() }));
        }
        change(&mut record);
        arc(&record, &by_case(&record)[0])
    }

    #[test]
    fn reads_that_miss_pass_whatever_was_hit_before() {
        let found = check(3, 97, |_| {});
        assert_eq!(found.status, CheckStatus::Pass);
        assert_eq!(found.measured.en, "3.0 % of the reads from the ARC (1 GiB of at most 4 GiB)");
    }

    #[test]
    fn reads_that_hit_are_labelled() {
        let found = check(60, 40, |_| {});
        assert_eq!((found.status, found.measured.ru.starts_with("60,0 % чтений")), (CheckStatus::Warn, true));
    }

    #[test]
    fn without_zfs_it_does_not_apply_and_without_counters_nobody_knows() {
        let elsewhere = check(60, 40, |record| record.load_mut().targets[0].file_system = Some("xfs".into()));
        assert_eq!(elsewhere.status, CheckStatus::NotApplicable);
        let hidden = check(60, 40, |r| r.load_mut().samples.iter_mut().for_each(|s| s.parts = Some(Box::default())));
        assert_eq!(hidden.status, CheckStatus::NotMeasurable);
        assert_eq!(check(0, 0, |_| {}).status, CheckStatus::NotMeasurable);
        let volume = check(60, 40, |record| {
            record.load_mut().targets[0].file_system = None;
            record.load_mut().targets[0].devices[0].kind = "zvol".into();
        });
        assert_eq!(volume.status, CheckStatus::Warn);
    }
}
