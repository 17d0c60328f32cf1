//! H75: one number, printed twice and differently.

use super::{Found, Severity, doubt};
use stend_analyse::findings::CheckId;
use stend_base::say;
use stend_record::published::Claim;

pub(super) fn contradictions(rows: &[Claim]) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for (i, claim) in rows.iter().enumerate() {
        let Some(number) = claim.value.filter(|_| !claim.metric.starts_with("config")) else { continue };
        let Some(first) = rows[..i].iter().find(|other| same_cell(other, claim)) else { continue };
        places += 1;
        let Some(before) = first.value else { continue };
        if (number.value - before.value).abs() <= (number.step + before.step) / 2.0 {
            continue;
        }
        let (row, said) = (first.row, format!("{} {}", first.printed, first.unit));
        let why = say!(
            |lang| "Row {r} gives {s} for the same thing.",
            "В строке {r} для того же указано {s}.",
            r = row,
            s = said.trim()
        );
        doubts.push(doubt(CheckId::H75, Severity::Warn, claim, &[first], why));
    }
    Found { id: CheckId::H75, places, doubts }
}

/// Whether both are a number of the same thing in the same unit's dimension.
fn same_cell(a: &Claim, b: &Claim) -> bool {
    let known = |claim: &Claim| !claim.test.is_empty() && !claim.layout.is_empty();
    known(a)
        && (&a.source, &a.experiment, &a.layout, &a.test, &a.metric)
            == (&b.source, &b.experiment, &b.layout, &b.test, &b.metric)
        && (a.block_size, a.queue_depth, a.jobs, &a.baseline) == (b.block_size, b.queue_depth, b.jobs, &b.baseline)
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
}
