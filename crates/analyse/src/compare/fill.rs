//! H27: file systems that are compared must be as full: allocation and the drive below are slower with less room.

use crate::findings::{CheckId, CheckResult, CheckStatus, Findings};
use crate::limits::FILL_DIFFERENCE;
use stend_base::{Say, format, say};
use stend_record::{RunRecord, TargetKind};

/// Whether the file systems under the targets were as full at the start of each run, or when each arm was entered.
pub(super) fn check(runs: &[(&RunRecord, &Findings)]) -> CheckResult {
    let result = |status, measured, meaning| {
        let limit = say!(|l| "± {n} points", "± {n} п.п.", n = format::fixed(FILL_DIFFERENCE * 100.0, 0, l));
        CheckResult::new(CheckId::H27, status, measured, limit, meaning)
    };
    let sides: Vec<Vec<f64>> = runs.iter().map(|(record, _)| used(record)).collect();
    let Some(first) = sides.first().filter(|first| !first.is_empty()) else {
        return result(
            CheckStatus::NotApplicable,
            say!("does not apply", "не относится"),
            say!("The baseline is not on a file system.", "База сравнения не на файловой системе."),
        );
    };
    if sides.iter().any(|side| side.len() != first.len()) {
        return result(
            CheckStatus::NotMeasurable,
            say!("not measurable", "неизмеримо"),
            say!("the sides are not on as many file systems each", "у сторон разное число файловых систем"),
        );
    }
    let one = |side: &Vec<f64>, l| side.iter().map(|share| format::percent(*share, l)).collect::<Vec<_>>().join(", ");
    let measured = Say::both(|l| sides.iter().map(|side| one(side, l)).collect::<Vec<_>>().join(" / "));
    let distance = |side: &Vec<f64>| side.iter().zip(first).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if sides.iter().map(distance).fold(0.0, f64::max) <= FILL_DIFFERENCE {
        return result(CheckStatus::Pass, measured, Say::same(""));
    }
    let meaning = say!(
        "The file systems were not as full when measuring began: with less room, allocation and the drive below are slower, so that a part of the difference may be that. Free or fill them alike and repeat.",
        "К началу измерений файловые системы были заполнены по-разному: когда места мало, выделение и накопитель под ним медленнее, и часть различия может быть отсюда. Освободите или заполните их одинаково и повторите."
    );
    result(CheckStatus::Warn, measured, meaning)
}

/// Used share of the file system under each target that is a directory.
fn used(record: &RunRecord) -> Vec<f64> {
    let directories =
        record.load().targets.iter().filter(|target| target.kind == TargetKind::Directory && target.size.0 > 0);
    directories.map(|target| 1.0 - (target.free.0 as f64 / target.size.0 as f64).min(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use crate::analyse;
    use crate::compare::{Options, compare};
    use crate::findings::{CheckResult, CheckStatus};
    use crate::fixture::run;
    use stend_base::Bytes;
    use stend_record::{RunRecord, TargetKind};

    /// The baseline is half full; the other side is changed so.
    fn check(change: fn(&mut RunRecord)) -> CheckResult {
        let a = run().six_blocks(&[1000.0]).record();
        let mut b = a.clone();
        change(&mut b);
        let (of_a, of_b) = (analyse(&a).unwrap(), analyse(&b).unwrap());
        let compared = compare(&[(&a, &of_a), (&b, &of_b)], &Options::default());
        compared.checks.into_iter().find(|check| check.id == crate::findings::CheckId::H27).unwrap()
    }

    #[test]
    fn as_full_within_two_points_passes() {
        let found = check(|other| other.load_mut().targets[0].free = Bytes::gib(49));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "50.0 % / 51.0 %"));
    }

    #[test]
    fn a_fuller_file_system_is_a_warning() {
        let found = check(|other| other.load_mut().targets[0].free = Bytes::gib(20));
        assert_eq!((found.status, found.measured.ru.as_str()), (CheckStatus::Warn, "50,0 % / 80,0 %"));
        assert_eq!(found.limit.ru, "± 2 п.п.");
    }

    #[test]
    fn what_is_not_on_file_systems_cannot_be_held_against_each_other() {
        assert_eq!(
            check(|other| other.load_mut().targets[0].kind = TargetKind::BlockDevice).status,
            CheckStatus::NotMeasurable
        );
        let mut device = run().six_blocks(&[1000.0]).record();
        device.load_mut().targets[0].kind = TargetKind::BlockDevice;
        let findings = analyse(&device).unwrap();
        let compared = compare(&[(&device, &findings), (&device, &findings)], &Options::default());
        let found = compared.checks.iter().find(|check| check.id == crate::findings::CheckId::H27).unwrap();
        assert_eq!(found.status, CheckStatus::NotApplicable);
    }
}
