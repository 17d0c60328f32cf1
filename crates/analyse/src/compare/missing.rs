//! H73: is everything that was planned in the table, or only what suited?

use super::Comparison;
use crate::findings::{CheckId, CheckResult, CheckStatus, Findings};
use std::collections::{BTreeMap, BTreeSet};
use stend_base::{Say, say};
use stend_plan::Plan;
use stend_record::RunRecord;

/// Most omissions that are named.
const NAMED_MAX: usize = 3;

/// H73: every cell that any of the runs planned is in the table, for all of them. Which rates a search tries depends on what it
/// finds, so its rungs are no such cells, and neither are tests of cause, which belong to the case that they test.
pub(super) fn check(comparison: &Comparison, runs: &[(&RunRecord, &Findings)]) -> CheckResult {
    let shown =
        |label: &str| comparison.cases.iter().any(|case| case.label == label && case.sides.iter().all(Option::is_some));
    let mut planned: BTreeMap<&str, Say> = BTreeMap::new();
    for (run, found) in runs {
        let plan = run.plan().ok();
        let rung = |case: u32| plan.as_ref().is_some_and(|plan| plan.rung(case).is_some());
        for case in found.cases.iter().filter(|case| !rung(case.case)) {
            let lacks = || say!("another run does not have it", "в другом прогоне его нет");
            planned.entry(&case.label).or_insert_with(lacks);
        }
        let tests: BTreeSet<String> = plan.iter().flat_map(|plan| tests_of_cause(plan)).collect();
        // Why it did not run says more than that it is missing.
        let not_run = found.not_run.iter().filter(|missing| !tests.contains(&missing.label));
        planned.extend(not_run.map(|missing| (missing.label.as_str(), missing.reason.clone())));
    }
    let all = planned.len();
    let omitted: Vec<(&str, Say)> = planned.into_iter().filter(|(label, _)| !shown(label)).collect();
    let here = all - omitted.len();
    let result = |status, measured, meaning| {
        let limit = say!("all that was planned", "всё, что было в плане");
        CheckResult::new(CheckId::H73, status, measured, limit, meaning)
    };
    if omitted.is_empty() {
        return result(CheckStatus::Pass, say!("{here} of {all} cases", "случаев {here} из {all}"), Say::same(""));
    }
    let names = |pick: fn(&Say) -> &str| {
        let one = |(label, why): &(&str, Say)| format!("{label} ({})", pick(why));
        let mut names: Vec<String> = omitted.iter().take(NAMED_MAX).map(one).collect();
        if omitted.len() > NAMED_MAX {
            names.push("…".into());
        }
        names.join("; ")
    };
    let (en, ru) = (names(|say| &say.en), names(|say| &say.ru));
    result(
        CheckStatus::Warn,
        say!("{here} of {all} cases; missing: {en}", "случаев {here} из {all}; нет: {ru}"),
        say!(
            "An incomplete table may look better or worse than the planned one. Measure the rest, or publish why it is missing.",
            "Неполная таблица может выглядеть лучше или хуже задуманной. Измерьте остальное или опубликуйте, почему его нет."
        ),
    )
}

/// Labels of the cells that are there for another one.
fn tests_of_cause(plan: &Plan) -> Vec<String> {
    let cells = 0..plan.cases.len() as u32;
    cells.filter(|cell| plan.confirming(*cell).is_some()).filter_map(|cell| plan.listed_as(cell)).collect()
}
