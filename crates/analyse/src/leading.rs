//! The one number that stands for a run where there is room for no more, such as in a list of runs. It is that of the case which the
//! sentence about the run names first, computed of the outcomes of trials alone.

use crate::findings::{Headline, Rates};
use crate::{phrase, rates, trials, verdict};
use stend_base::{Result, Say};
use stend_record::RunRecord;
use stend_spec::workload::Op;

/// A case and its rates.
#[derive(Debug, Clone, PartialEq)]
pub struct Leading {
    /// Label of the case.
    pub label: String,
    /// Its workload in words.
    pub workload: Say,
    /// Which of both rates it shows first.
    pub headline: Headline,
    /// Its rates. The intervals of a single trial are not known here: they follow from what was measured within it.
    pub total: Rates,
}

/// The case that tells most of a run; `None` if no trial counts, or if the run has no cases of ours (applications).
///
/// Errors: those of [`Plan::new`].
pub fn leading(run: &RunRecord) -> Result<Option<Leading>> {
    let plan = run.plan()?;
    let mut all = trials::by_case(run);
    all.retain(|case| plan.confirming(case.case).is_none());
    let first = verdict::named(&verdict::measured_alone(&all, &plan)).first().copied();
    Ok(all.iter().find(|case| Some(case.case) == first).map(|case| Leading {
        label: plan.cases.get(case.case as usize).map(|known| known.label()).unwrap_or_default(),
        workload: phrase::workload(case.asked),
        headline: phrase::headline(case.asked),
        total: rates::rates(case, None, &Op::IO),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{case, run, run_of};
    use crate::judge;
    use stend_base::Nanos;
    use stend_spec::workload::Sync;

    #[test]
    fn it_is_the_number_of_the_sentence_and_needs_the_outcomes_only() {
        let cases = vec![
            case("shallow", 100, 1, Sync::None),
            case("deep", 100, 32, Sync::None),
            case("durable", 0, 1, Sync::Fdatasync(1)),
        ];
        let mut record = run_of(cases).six_blocks(&[9_000.0, 84_200.0, 1_234.0]).record();
        let findings = judge(&record).unwrap();
        record.trials.iter_mut().for_each(|trial| trial.slices.clear());
        record.events.clear();
        let found = leading(&record).unwrap().unwrap();
        let shown = findings.cases.iter().find(|case| case.label == "deep").unwrap();
        assert!(findings.headline.en.starts_with("Random read, 4 KiB, 32 in flight: 84"), "{}", findings.headline.en);
        assert_eq!((&found.label, &found.total, found.headline), (&shown.label, &shown.total, shown.headline));
    }

    #[test]
    fn a_single_trial_without_its_intervals_does_not_say_how_far_it_is_off() {
        let mut record = run().trial(0).iops(1000.0).window(Nanos::secs(60)).done().record();
        record.trials.iter_mut().for_each(|trial| trial.slices.clear());
        let found = leading(&record).unwrap().unwrap().total.iops;
        assert_eq!((found.value, found.interval), (1000.0, None));
    }

    #[test]
    fn a_run_without_a_whole_trial_has_none() {
        assert_eq!(leading(&run().trial(0).unfinished().record()).unwrap(), None);
    }
}
