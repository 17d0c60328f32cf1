//! What checks may say of a run that another tool made: only what its printed numbers are enough for.

use crate::findings::{CheckId, CheckResult, CheckStatus};
use stend_base::say;
use stend_record::RunRecord;

/// Checks that counts, bytes and latencies of whole trials are enough for: arithmetic, Little's law, copies, errors.
const ANSWERED: [CheckId; 4] = [CheckId::H01, CheckId::H02, CheckId::H05, CheckId::H76];

/// The result, unless the run was imported and the answer would need what was not seen. What does not concern the case still does not.
pub fn answered(run: &RunRecord, result: CheckResult) -> CheckResult {
    let Some(imported) = &run.header.imported else { return result };
    if ANSWERED.contains(&result.id) || matches!(result.status, CheckStatus::NotApplicable | CheckStatus::ScreeningOnly)
    {
        return result;
    }
    let tool = &imported.tool;
    CheckResult {
        status: CheckStatus::NotMeasurable,
        measured: say!("not measurable", "неизмеримо"),
        meaning: say!(
            "The run was imported: the output of {tool} does not show this.",
            "Прогон импортирован: в выводе {tool} этого нет."
        ),
        ..result
    }
}

#[cfg(test)]
mod tests {
    use crate::findings::{CheckId, CheckResult, CheckStatus};
    use crate::fixture::{imported, run};
    use crate::{Findings, analyse};
    use stend_record::{RunRecord, TrialOutcome};

    fn checks(change: impl Fn(&mut TrialOutcome)) -> Vec<CheckResult> {
        let mut record = imported(run().six_blocks(&[9_870.0]).record(), true);
        record.trials.iter_mut().filter_map(|trial| trial.outcome.as_mut()).for_each(change);
        let Findings { mut cases, .. } = analyse(&record).unwrap();
        cases.remove(0).checks
    }

    fn status(checks: &[CheckResult], id: CheckId) -> CheckStatus {
        checks.iter().find(|check| check.id == id).unwrap().status
    }

    #[test]
    fn what_printed_numbers_are_enough_for_is_judged_and_the_rest_is_not_measurable() {
        let found = checks(|_| ());
        for check in &found {
            // H24 and H75 are about what was found: how much the trials differ, and whether there is a p99.
            let judged = [CheckId::H01, CheckId::H02, CheckId::H05, CheckId::H24, CheckId::H75, CheckId::H76]
                .contains(&check.id);
            let expected = if judged { CheckStatus::Pass } else { CheckStatus::NotMeasurable };
            let aside = matches!(check.status, CheckStatus::NotApplicable | CheckStatus::ScreeningOnly);
            assert!(check.status == expected || aside, "{check:?}");
        }
        assert!(found.iter().filter(|check| check.status == CheckStatus::NotMeasurable).count() > 9);
    }

    #[test]
    fn what_was_not_told_makes_no_check_pass() {
        let found = checks(|outcome| {
            let told = outcome.tool_output.as_mut().unwrap();
            (told.depth_known, told.sizes_known) = (false, false);
        });
        assert_eq!(
            (status(&found, CheckId::H01), status(&found, CheckId::H02)),
            (CheckStatus::NotMeasurable, CheckStatus::NotMeasurable)
        );
        let no_lat = checks(|outcome| outcome.tool_output.as_mut().unwrap().ops[0].occupied_ns = None);
        assert_eq!(status(&no_lat, CheckId::H02), CheckStatus::NotMeasurable);
    }

    #[test]
    fn a_queue_that_was_held_back_may_be_empty_but_never_too_full() {
        let with = |paced: bool, factor: u128| {
            let found = checks(|outcome| {
                let told = outcome.tool_output.as_mut().unwrap();
                told.paced = paced;
                told.ops[0].occupied_ns = told.ops[0].occupied_ns.map(|ns| ns * factor / 10);
            });
            status(&found, CheckId::H02)
        };
        assert_eq!(
            [with(false, 10), with(false, 5), with(true, 5)],
            [CheckStatus::Pass, CheckStatus::Warn, CheckStatus::Pass]
        );
        assert_eq!(with(true, 15), CheckStatus::Fail);
    }

    #[test]
    fn numbers_that_contradict_each_other_fail_as_ever() {
        let bytes = checks(|outcome| outcome.jobs[0].done[0].1 *= 2);
        assert_eq!(status(&bytes, CheckId::H01), CheckStatus::Fail);
        let copied = imported(run().six_blocks(&[9_870.0]).record(), false);
        let mut twice: RunRecord = copied.clone();
        twice.trials[1].outcome = copied.trials[0].outcome.clone();
        assert_eq!(status(&analyse(&twice).unwrap().cases[0].checks, CheckId::H05), CheckStatus::Fail);
    }
}
