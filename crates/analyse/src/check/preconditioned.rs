//! H20: was a solid-state drive written often enough before it was measured?
//!
//! As H21 to H23 only publishing needs it: what is missing appears once, in the banner of a screening run.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::PRECONDITIONED;
use crate::trials::CaseTrials;
use stend_base::{Say, format, say, say_in};
use stend_record::{Device, RunRecord, TargetFacts, TargetKind};
use stend_spec::workload::Op;

/// H20: before the first trial of a case that writes, the range was written twice.
pub fn preconditioned(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H20,
        limit: say!(|l| "≥ {n} × the range", "≥ {n} × область", n = format::fixed(PRECONDITIONED, 0, l)),
    };
    if !case.asked.writes() {
        return check.not_applicable(say!("the case does not write", "случай не пишет"));
    }
    if let Some(why) = run.load().targets.iter().find_map(not_concerned) {
        return check.not_applicable(why);
    }
    let range = case.asked.region.len.0;
    let written = run.load().fill.map_or(0, |fill| fill.written.0).saturating_add(by_rounds(run, case));
    if range == 0 || run.load().targets.is_empty() {
        return check.not_measurable(say!("the target is not known", "объект неизвестен"));
    }
    let times = written as f64 / range as f64;
    let measured = Say::both(|l| {
        let shown = format::near_limit::fixed(times, PRECONDITIONED, 1, l);
        say_in!(l, "{shown} × the range", "{shown} × область")
    });
    if times >= PRECONDITIONED {
        return check.pass(measured);
    }
    check.measured(measured).only_screening(say!(
        "A fresh drive writes faster than later on. For screening this is good enough; a published number needs a range that was written twice.",
        "Свежий накопитель пишет быстрее, чем потом. Предварительная оценка показывает как есть; для публикации область нужно записать дважды."
    ))
}

/// Bytes that the rounds of a case wrote before its first trial.
fn by_rounds(run: &RunRecord, case: &CaseTrials<'_>) -> u64 {
    let first = case.all.iter().map(|trial| trial.trial).min().unwrap_or(0);
    let rounds = run.rounds.iter().filter(|round| round.case == case.case && round.trial < first);
    let jobs = rounds.filter_map(|round| round.outcome.as_ref()).flat_map(|outcome| &outcome.jobs);
    jobs.fold(0, |sum: u64, job| sum.saturating_add(job.done[Op::Write.index()].1))
}

/// Why preconditioning says nothing about a target; `None` for a solid-state drive that can be seen.
fn not_concerned(target: &TargetFacts) -> Option<Say> {
    if target.kind == TargetKind::NullDevice {
        return Some(say!("No storage took part.", "Хранилище не участвовало."));
    }
    if target.kind != TargetKind::BlockDevice {
        return Some(say!(
            "the target is a file: the history of the drive below is unknown",
            "объект — файл: что раньше было с накопителем под ним, неизвестно"
        ));
    }
    let disks: Vec<&Device> = target.devices.iter().filter(|device| device.kind == "disk").collect();
    if disks.is_empty() || disks.iter().any(|disk| disk.is_virtual) {
        return Some(say!(
            "no drive is visible below the target: it is a file, memory, or belongs to a hypervisor",
            "накопителя под объектом не видно: это файл, память или он принадлежит гипервизору"
        ));
    }
    let solid = disks.iter().any(|disk| disk.rotational == Some(false));
    (!solid).then(|| say!("no solid-state drive is below the target", "под объектом нет твердотельных накопителей"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::fixture_rounds::settled;
    use crate::trials::by_case;
    use stend_base::{Bytes, Nanos};
    use stend_record::observed::FillOutcome;
    use stend_spec::workload::Sync;

    /// A write case on a whole solid-state drive of which so many bytes were written before, changed.
    fn check(fills: u64, change: impl FnOnce(&mut RunRecord)) -> CheckResult {
        let mut record = run_of(vec![case("w", 0, 4, Sync::None)]).trial(0).done().record();
        let range = record.trials[0].asked.region.len;
        record.load_mut().fill = Some(FillOutcome {
            written: Bytes(range.0 * fills),
            elapsed: Nanos(1),
            passes: 1,
            block_size: Bytes::mib(1),
            ..FillOutcome::default()
        });
        let target = &mut record.load_mut().targets[0];
        target.kind = TargetKind::BlockDevice;
        target.devices.iter_mut().for_each(|device| device.rotational = Some(false));
        change(&mut record);
        preconditioned(&record, &by_case(&record)[0])
    }

    #[test]
    fn h20_a_range_that_was_written_twice_passes_and_one_that_was_written_once_does_not_hold() {
        assert_eq!(check(2, |_| {}).status, CheckStatus::Pass);
        let once = check(1, |_| {});
        assert_eq!((once.status, once.measured.en.as_str()), (CheckStatus::ScreeningOnly, "1.0 × the range"));
        assert!(super::super::is_unmet(&once) && !super::super::is_unmet(&check(2, |_| {})));
        let never = check(1, |record| record.load_mut().fill = None);
        assert_eq!(never.measured.en, "0.0 × the range");
    }

    #[test]
    fn h20_counts_what_the_rounds_of_the_case_wrote_before_its_trials() {
        let mut record = settled(25, &[10_000.0; 5], &[10_000.0; 6]);
        record.trials.iter_mut().for_each(|trial| trial.asked.region.len = Bytes(5 * 2 * 10_000 * 4096 / 2));
        record.load_mut().fill = None;
        record.load_mut().targets[0].kind = TargetKind::BlockDevice;
        record.load_mut().targets[0].devices.iter_mut().for_each(|device| device.rotational = Some(false));
        let found = preconditioned(&record, &by_case(&record)[0]);
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "2.0 × the range"));
        record.rounds.pop();
        assert_eq!(preconditioned(&record, &by_case(&record)[0]).status, CheckStatus::ScreeningOnly);
    }

    #[test]
    fn h20_concerns_solid_state_drives_that_can_be_seen_and_cases_that_write() {
        let concerned = |change: fn(&mut RunRecord)| check(1, change).measured.en != "does not apply";
        assert!(concerned(|_| {}));
        assert!(!concerned(|r| r.load_mut().targets[0].kind = TargetKind::Directory));
        assert!(!concerned(|r| r.load_mut().targets[0].devices.iter_mut().for_each(|d| d.kind = "loop".into())));
        assert!(!concerned(|r| r.load_mut().targets[0].devices.iter_mut().for_each(|d| d.rotational = Some(true))));
        assert!(!concerned(|r| r.load_mut().targets[0].devices.iter_mut().for_each(|d| d.is_virtual = true)));
        assert!(!concerned(|r| r.trials[0].asked.streams[0].mix = stend_spec::workload::Mix::of_reads(100)));
        assert!(!super::super::is_unmet(&check(1, |r| r.load_mut().targets[0].kind = TargetKind::Directory)));
    }
}
