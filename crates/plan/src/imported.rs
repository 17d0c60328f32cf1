//! The plan of an imported run: its cells as the tool printed them, and nothing left to decide.

use super::label;
use super::{CASES_MAX, Plan, PlanInputs};
use stend_base::{Bytes, Error, Result, say};
use stend_spec::calibration::Calibrate;

/// Cells as another tool ran them. Errors are of kind `Spec`: too many, or two with one label.
pub(super) fn plan(inputs: &PlanInputs) -> Result<Plan> {
    let cases = inputs.suite.imported.clone();
    if cases.len() > CASES_MAX {
        return Err(Error::spec(say!(
            "the results have more than {CASES_MAX} cases",
            "результаты относятся более чем к {CASES_MAX} случаям"
        )));
    }
    label::unique(&cases)?;
    Ok(Plan {
        cases,
        arms: Vec::new(),
        fill: None,
        precondition: None,
        targets: inputs.target.count.max(1),
        share: Bytes(0),
        files: Vec::new(),
        order: Vec::new(),
        ladders: Vec::new(),
        traces: Vec::new(),
        until: None,
        calibrate: Calibrate::None,
        confirming: Vec::new(),
        shared_tests: Vec::new(),
        idle: Vec::new(),
        seed: inputs.seed,
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::{Plan, PlanInputs};
    use stend_base::Nanos;
    use stend_spec::suite::Suite;

    /// A run that another tool made of the cells of a suite.
    fn told(stream: &str, twice: bool) -> PlanInputs {
        let mut told = fixture::plan(&format!("  - {{name: a, streams: [{{{stream}}}]}}\n")).unwrap().cases;
        if twice {
            told.push(told[0].clone());
        }
        fixture::inputs(Suite { imported: told, ..Suite::default() })
    }

    #[test]
    fn what_another_tool_ran_is_listed_and_nothing_is_left_to_run() {
        let plan = Plan::new(&told("op: read, pattern: random, block_size: 4KiB, queue_depth: [1, 8]", false)).unwrap();
        let labels: Vec<String> = plan.cases.iter().map(|case| case.label()).collect();
        assert_eq!(labels, ["a, queue_depth 1", "a, queue_depth 8"]);
        assert_eq!((plan.usual_trials(), plan.trial_time(), plan.fill), (0, Nanos(0), None));
    }

    #[test]
    fn two_cells_of_one_name_are_refused() {
        let refused = Plan::new(&told("op: read, pattern: random, block_size: 4KiB", true)).unwrap_err();
        assert_eq!(refused.message.en, "two cases are called `a`");
    }
}
