//! An audit of published numbers: sentences that its terminal text, its JSON and its page share.

pub mod json;

use stend_audit::{Audit, Checked, Doubt, Severity};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Say, say};

/// What was found, in a sentence.
pub fn summary(audit: &Audit) -> Say {
    let wrong = audit.doubts.iter().filter(|doubt| doubt.severity == Severity::Wrong).count() as u64;
    // A check may list only a part of what it counts; what is wrong is always listed.
    let found = audit.checks.iter().map(|checked| checked.doubts as u64).sum::<u64>().max(wrong);
    let (doubtful, numbers) = (found - wrong, audit.numbers as u64);
    let (en, ru) = (plural_en(numbers, "number", "numbers"), plural_ru(numbers, "число", "числа", "чисел"));
    let (finding, remark) =
        (plural_en(found, "finding", "findings"), plural_ru(found, "замечание", "замечания", "замечаний"));
    match (wrong, doubtful) {
        (0, 0) => say!(
            "{numbers} {en}: no contradiction was found, which does not prove them right.",
            "{numbers} {ru}: противоречий не найдено, но это не доказывает, что числа верны."
        ),
        _ => say!(
            "{numbers} {en}, {found} {finding}: {wrong} cannot be true as printed, {doubtful} need an explanation.",
            "{numbers} {ru}, {found} {remark}: не могут быть верны в напечатанном виде — {wrong}, требуют объяснения — {doubtful}."
        ),
    }
}

/// Where a number stands: `row 46 (line 261)`.
pub fn place(doubt: &Doubt) -> Say {
    let row = doubt.row;
    match doubt.line {
        Some(line) => say!("row {row} (line {line})", "строка {row} (в тексте строка {line})"),
        None => say!("row {row}", "строка {row}"),
    }
}

/// `11827.20 MB/s, should be 11538.44 MB/s`.
pub fn values(doubt: &Doubt) -> Say {
    let printed = &doubt.printed;
    match &doubt.right {
        Some(right) => say!("{printed}, should be {right}", "{printed}, должно быть {right}"),
        None => Say::same(printed.clone()),
    }
}

/// How far a check got.
pub fn looked(checked: &Checked) -> Say {
    let Checked { places, doubts, .. } = checked;
    match (places, doubts) {
        (0, _) => say!("cannot be checked: the table lacks the data", "проверить нельзя: в таблице нет нужных данных"),
        (_, 0) => say!("{places} checked, none doubtful", "проверено: {places}, сомнений нет"),
        _ => say!("{places} checked, {doubts} doubtful", "проверено: {places}, сомнительно: {doubts}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_check_counts_and_does_not_list_is_in_the_summary() {
        let (mut audit, _) = crate::fixture::audit::audited();
        let listed = audit.doubts.len();
        assert!(summary(&audit).en.contains(&format!(" {listed} findings")), "{}", summary(&audit).en);
        audit.checks.last_mut().expect("a check").doubts += 7;
        assert!(summary(&audit).en.contains(&format!(" {} findings", listed + 7)), "{}", summary(&audit).en);
    }
}
