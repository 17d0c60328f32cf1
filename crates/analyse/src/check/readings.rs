//! What parts of the machine said of themselves around the load of each trial. Must not judge.

use crate::trials::CaseTrials;
use stend_base::{Say, say};
use stend_record::{Parts, RunRecord, Sample};

/// Readings by trial: the last one before its load, those during it, and the first one after its window. Empty if a trial lacks
/// the first or the last: nothing is then known of the time between.
pub fn readings<'a>(run: &'a RunRecord, case: &CaseTrials<'_>) -> Vec<Vec<&'a Parts>> {
    readings_in(&run.load().samples, case)
}

/// The same of these samples, which may be of another host.
pub(super) fn readings_in<'a>(samples: &'a [Sample], case: &CaseTrials<'_>) -> Vec<Vec<&'a Parts>> {
    let told: Vec<(&Sample, &Parts)> = samples.iter().filter_map(|s| Some((s, s.parts.as_deref()?))).collect();
    let mut found = Vec::new();
    for trial in &case.counting {
        let before = told.partition_point(|(sample, _)| sample.at <= trial.outcome.load_start);
        let after = told.partition_point(|(sample, _)| sample.at < trial.outcome.window_end);
        match before.checked_sub(1).and_then(|first| told.get(first..=after)) {
            Some(readings) => found.push(readings.iter().map(|(_, parts)| *parts).collect()),
            None => return Vec::new(),
        }
    }
    found
}

/// The answer to a check that needs readings of which there are none around every trial.
pub fn no_readings() -> Say {
    say!(
        "there are no readings of this from before and after the load of every trial",
        "нет показаний об этом до и после нагрузки в каждом испытании"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_base::Nanos;

    #[test]
    fn a_reading_before_and_one_after_each_load_are_needed() {
        let mut record = run().trial(0).done().record();
        record.load_mut().samples.iter_mut().for_each(|sample| sample.parts = None);
        let of = |record: &RunRecord| readings(record, &by_case(record)[0]).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(of(&record), [] as [usize; 0]);
        record.load_mut().samples.first_mut().unwrap().parts = Some(Box::default());
        assert_eq!(of(&record), [] as [usize; 0], "nobody looked afterwards");
        let at = record.trials[0].outcome.as_ref().unwrap().window_end + Nanos::secs(2);
        record.load_mut().samples.push(Sample { at, parts: Some(Box::default()), ..Sample::default() });
        assert_eq!(of(&record), [2]);
        record.load_mut().samples[2].parts = Some(Box::default());
        assert_eq!(of(&record), [3]);
    }
}
