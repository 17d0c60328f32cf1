//! What sources beside the load answered: values on the axis of the run, and what they were while trials were measured. A value that is missing
//! stays missing; nothing is put in between.

use crate::findings::{SourceFinding, SourceValueFinding, Spread};
use crate::trials::CaseTrials;
use stend_base::Nanos;
use stend_record::{RunRecord, SourceAnswer, SourceReading, SourceRecord, SourceValueInfo};

/// What each source answered.
pub fn findings(run: &RunRecord, trials: &[CaseTrials<'_>]) -> Vec<SourceFinding> {
    run.sources.iter().map(|source| finding(source, trials)).collect()
}

fn finding(source: &SourceRecord, trials: &[CaseTrials<'_>]) -> SourceFinding {
    let count =
        |of: fn(&SourceAnswer) -> bool| source.readings.iter().filter(|reading| of(&reading.answer)).count() as u32;
    let why = source.readings.iter().find_map(|reading| match &reading.answer {
        SourceAnswer::Failed { why } => Some(why.clone()),
        _ => None,
    });
    let answered = source.readings.iter().filter(|reading| matches!(reading.answer, SourceAnswer::Values(_)));
    let mut took: Vec<Nanos> = answered.map(|reading| Nanos(reading.took_ns)).collect();
    took.sort();
    let value = |(at, info): (usize, &SourceValueInfo)| value(source, (at, info), trials);
    SourceFinding {
        name: source.info.name.clone(),
        way: source.info.way,
        place: source.info.place.clone(),
        every: source.info.every,
        asked: source.readings.len() as u32,
        late: count(|answer| *answer == SourceAnswer::Late),
        failed: count(|answer| matches!(answer, SourceAnswer::Failed { .. })),
        why,
        took: took.get(took.len() / 2).copied().zip(took.last().copied()),
        values: source.info.values.iter().enumerate().map(value).collect(),
    }
}

fn value(
    source: &SourceRecord,
    (at, info): (usize, &SourceValueInfo),
    trials: &[CaseTrials<'_>],
) -> SourceValueFinding {
    let points: Vec<SourcePoint> = stretches(source, at).concat();
    let within = |case: &CaseTrials<'_>| -> Vec<f64> {
        let windows = case.counting.iter().map(|trial| (trial.outcome.window_start, trial.outcome.window_end));
        let windows: Vec<(Nanos, Nanos)> = windows.collect();
        let inside = |point: &&SourcePoint| windows.iter().any(|(from, to)| (*from..=*to).contains(&point.at));
        points.iter().filter(inside).map(|point| point.value).collect()
    };
    let by_case: Vec<(u32, Vec<f64>)> = trials.iter().map(|case| (case.case, within(case))).collect();
    let all: Vec<f64> = by_case.iter().flat_map(|(_, values)| values.iter().copied()).collect();
    let missing = source.readings.iter().filter(|reading| match &reading.answer {
        SourceAnswer::Values(values) => values.get(at).is_none_or(Option::is_none),
        SourceAnswer::Late | SourceAnswer::Failed { .. } => false,
    });
    SourceValueFinding {
        name: info.name.clone(),
        unit: info.unit.clone(),
        meaning: info.meaning.clone(),
        counter: info.counter,
        missing: missing.count() as u32,
        measured: spread(&all),
        cases: by_case.iter().filter_map(|(case, values)| Some((*case, spread(values)?))).collect(),
    }
}

fn spread(values: &[f64]) -> Option<Spread> {
    let count = values.len() as u32;
    (count > 0).then(|| Spread {
        mean: values.iter().sum::<f64>() / f64::from(count),
        least: values.iter().copied().fold(f64::INFINITY, f64::min),
        most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        count,
    })
}

/// A value of a source at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SourcePoint {
    /// In the middle between question and answer; of a rate in the middle between two of these. On the axis of the run.
    pub at: Nanos,
    /// In the unit of the value; of a counter per second.
    pub value: f64,
    /// Index of the answer that it is of, or that it ends with.
    pub reading: usize,
}

/// The values with this index of a source, in stretches between which some are missing.
pub fn stretches(source: &SourceRecord, index: usize) -> Vec<Vec<SourcePoint>> {
    let Some(info) = source.info.values.get(index) else { return Vec::new() };
    let factor = f64::from(info.multiply) / f64::from(info.divide.max(1));
    let mut stretches = vec![Vec::new()];
    let mut before: Option<(Nanos, &str)> = None;
    for (which, reading) in source.readings.iter().enumerate() {
        let read = printed(reading, index).map(|text| (middle(reading), text));
        let point = match (read, before) {
            (Some((at, text)), _) if !info.counter => text.parse::<f64>().ok().map(|value| (at, value)),
            (Some(now), Some(before)) => rate(before, now),
            _ => None,
        };
        // The first reading of a counter begins a stretch and has no rate yet.
        let begins = info.counter && before.is_none() && read.is_some();
        let scaled = |(at, value)| SourcePoint { at, value: value * factor, reading: which };
        match point.map(scaled).filter(|point| point.value.is_finite()) {
            Some(point) => stretches.last_mut().into_iter().for_each(|stretch| stretch.push(point)),
            None if begins => {}
            None => stretches.push(Vec::new()),
        }
        before = read;
    }
    stretches.retain(|stretch| !stretch.is_empty());
    stretches
}

/// A number as it was printed.
pub fn printed(reading: &SourceReading, index: usize) -> Option<&str> {
    match &reading.answer {
        SourceAnswer::Values(values) => values.get(index)?.as_deref(),
        SourceAnswer::Late | SourceAnswer::Failed { .. } => None,
    }
}

fn middle(reading: &SourceReading) -> Nanos {
    reading.asked + Nanos(reading.took_ns / 2)
}

/// How fast a counter grew between two readings, and when; `None` where it fell, as after a restart.
fn rate(before: (Nanos, &str), now: (Nanos, &str)) -> Option<(Nanos, f64)> {
    let elapsed = now.0.saturating_sub(before.0);
    // Whole numbers of 64 bits have more digits than a fraction keeps.
    let whole = |text: &str| text.parse::<i128>().ok();
    let grown = match (whole(before.1), whole(now.1)) {
        (Some(before), Some(now)) => now.checked_sub(before)? as f64,
        _ => now.1.parse::<f64>().ok()? - before.1.parse::<f64>().ok()?,
    };
    let at = before.0 + Nanos(elapsed.0 / 2);
    (elapsed.0 > 0 && grown >= 0.0).then(|| (at, grown / elapsed.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::source;
    use crate::trials::by_case;
    use stend_base::say;

    fn points(source: &SourceRecord) -> Vec<Vec<(f64, f64)>> {
        let of = |stretch: Vec<SourcePoint>| stretch.iter().map(|point| (point.at.as_secs(), point.value)).collect();
        stretches(source, 0).into_iter().map(of).collect()
    }

    #[test]
    fn what_is_missing_is_a_gap() {
        let values = source(false, &[(1, Some("10")), (2, None), (3, Some("30")), (4, Some("40.5"))]);
        assert_eq!(points(&values), [vec![(1.0, 10.0)], vec![(3.0, 30.0), (4.0, 40.5)]]);
    }

    #[test]
    fn a_counter_becomes_a_rate_and_falls_into_a_gap() {
        let big = u64::MAX - 9;
        let (first, second) = (big.to_string(), u64::MAX.to_string());
        let values = source(
            true,
            &[(1, Some(&first)), (4, Some(&second)), (5, Some("0")), (6, Some("7")), (7, None), (8, Some("9"))],
        );
        assert_eq!(points(&values), [vec![(2.5, 3.0)], vec![(5.5, 7.0)]], "no digit is lost at 2^64");
    }

    #[test]
    fn factors_and_the_time_of_an_answer_count() {
        let mut values = source(false, &[(1, Some("1234"))]);
        (values.info.values[0].multiply, values.info.values[0].divide) = (8, 100);
        values.readings[0].took_ns = 500_000_000;
        assert_eq!(points(&values), [vec![(1.25, 98.72)]]);
    }

    #[test]
    fn only_answers_within_windows_that_count_are_of_a_case() {
        let mut record = crate::fixture::run().six_blocks(&[1000.0]).record();
        let (from, to) = {
            let case = &by_case(&record)[0];
            let outcome = case.counting[0].outcome;
            (outcome.window_start, outcome.window_end)
        };
        let mut asked = source(false, &[(0, Some("1")), (0, Some("20")), (0, Some("40")), (0, Some("900"))]);
        let times = [from.saturating_sub(Nanos(1)), from, to, to + Nanos(1)];
        asked.readings.iter_mut().zip(times).for_each(|(reading, at)| reading.asked = at);
        asked.readings.push(SourceReading { answer: SourceAnswer::Late, ..asked.readings[0].clone() });
        let why = say!("no way", "нет пути");
        let failed = SourceAnswer::Failed { why: why.clone() };
        asked.readings.push(SourceReading { answer: failed, ..asked.readings[0].clone() });
        record.sources.push(asked);
        let found = &findings(&record, &by_case(&record))[0];
        assert_eq!((found.asked, found.late, found.failed, &found.why), (6, 1, 1, &Some(why)));
        let spread = Spread { mean: 30.0, least: 20.0, most: 40.0, count: 2 };
        assert_eq!((found.values[0].measured, &found.values[0].cases), (Some(spread), &vec![(0, spread)]));
    }
}
