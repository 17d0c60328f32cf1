//! H75: one number, printed twice and differently.

use super::{Found, Severity, doubt, is_setting, printed, same_load};
use stend_analyse::findings::CheckId;
use stend_base::say;
use stend_record::published::Claim;

pub(super) fn contradictions(rows: &[Claim]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for (i, claim) in rows.iter().enumerate() {
        let Some(number) = claim.value.filter(|_| !is_setting(&claim.metric)) else { continue };
        let Some(first) = rows[..i].iter().find(|other| same_cell(other, claim)) else { continue };
        places += 1;
        let Some(before) = first.value else { continue };
        if (number.value - before.value).abs() <= (number.step + before.step) / 2.0 {
            continue;
        }
        let (row, said) = (first.row, printed(first));
        let why = say!(
            |lang| "Row {r} gives {s} for the same thing.",
            "В строке {r} для того же указано {s}.",
            r = row,
            s = said
        );
        doubts.push(doubt(CheckId::H75, Severity::Warn, claim, &[first], why));
    }
    Found::new(CheckId::H75, places, doubts)
}

/// Whether both are a number of the same thing in the same unit's dimension.
fn same_cell(a: &Claim, b: &Claim) -> bool {
    let known = |claim: &Claim| !claim.test.is_empty() && !claim.layout.is_empty();
    known(a)
        && (&a.source, &a.experiment, &a.layout, &a.test, &a.metric)
            == (&b.source, &b.experiment, &b.layout, &b.test, &b.metric)
        && same_load(a, b)
        && a.baseline == b.baseline
        && a.value.map(|n| n.dimension) == b.value.map(|n| n.dimension)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{claim, of_layout};
    use super::*;

    #[test]
    fn the_same_number_may_be_rounded_and_not_be_another() {
        let with = |second: &str| {
            let rows = [claim(2, "rr", "iops", "IOPS", "371000"), claim(3, "rr", "iops", "IOPS", second)];
            contradictions(&rows)
        };
        assert_eq!((with("371000").places, with("371000").doubts.len()), (1, 0));
        let doubts = with("372000").doubts;
        assert_eq!((doubts.len(), doubts[0].row), (1, 3));
        assert!(doubts[0].why.en.contains("Row 2 gives 371000 IOPS"), "{}", doubts[0].why.en);
        let other = [claim(2, "rr", "iops", "IOPS", "1"), of_layout("lvm", claim(3, "rr", "iops", "IOPS", "2"))];
        assert_eq!(contradictions(&other).places, 0);
    }

    #[test]
    fn another_pattern_or_stand_is_another_number() {
        let other = |second: Claim| {
            let second = Claim { printed: "372000".into(), ..second };
            contradictions(&[claim(2, "4k", "iops", "IOPS", "371000"), second]).places
        };
        let second = claim(3, "4k", "iops", "IOPS", "372000");
        assert_eq!(other(second.clone()), 1);
        assert_eq!(other(Claim { pattern: "randwrite".into(), ..second.clone() }), 0);
        assert_eq!(other(Claim { stand: "b".into(), ..second.clone() }), 0);
        assert_eq!(other(Claim { jobs: Some(4), ..second }), 0);
    }

    #[test]
    fn settings_of_several_sections_do_not_contradict_each_other() {
        for metric in ["config_jobs", "fio_numjobs", "theoretical_pcie_total"] {
            let rows = [claim(2, "rr", metric, "count", "4"), claim(3, "rr", metric, "count", "8")];
            assert_eq!(contradictions(&rows).places, 0, "{metric}");
        }
    }
}
