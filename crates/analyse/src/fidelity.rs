//! How faithful the replay of a trace was: how late its I/Os began, whether that grew, and how many were in flight beside the
//! original. What the target did with them is not judged here.

use crate::findings::ReplayFinding;
use crate::series::INTERVAL;
use crate::trials::{CaseTrials, Counting};
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Histogram, Lang, Nanos, Say, Share, format, say_in};
use stend_record::RunRecord;
use stend_spec::trace::Replay;
use stend_spec::workload::Op;
use stend_stats::line;

/// One for each stream of a case that replays a trace at a pace, over all trials that count.
pub fn of_case(run: &RunRecord, case: &CaseTrials<'_>) -> Vec<ReplayFinding> {
    let streams = case.asked.streams.iter().zip(0u16..);
    let timed = streams.filter(|(stream, _)| stream.replay.is_some() && stream.is_open());
    timed.filter_map(|(stream, index)| one(run, case, index, stream.replay?)).collect()
}

fn one(run: &RunRecord, case: &CaseTrials<'_>, stream: u16, replay: Replay) -> Option<ReplayFinding> {
    let facts = run.header.inputs.traces.get(replay.trace as usize)?;
    let (mut late, mut begun, mut never) = (Histogram::new(), 0u64, 0u64);
    for open in case.counting.iter().flat_map(|trial| &trial.outcome.open).filter(|open| open.stream == stream) {
        late.merge_sparse(&open.late);
        begun = begun.saturating_add(open.late.count());
        never = open.never_begun.iter().fold(never, |sum, ages| sum.saturating_add(ages.count()));
    }
    let drifts: Vec<f64> = case.counting.iter().filter_map(|trial| drift(trial, stream)).collect();
    let worst = drifts.into_iter().reduce(|a, b| if b.abs() > a.abs() { b } else { a });
    let parts: Vec<Part> = case.counting.iter().map(|trial| Part::of(trial, replay)).collect();
    let replayed: f64 = parts.iter().map(|part| part.length.0 as f64).sum();
    let busy: f64 = case.counting.iter().map(|trial| in_flight_ns(trial, stream)).sum();
    let original = facts.depth.filter(|_| facts.span > Nanos(0) && parts.iter().all(|part| part.is_whole));
    Some(ReplayFinding {
        stream,
        trace: facts.source.file.clone(),
        sha256: facts.sha256.clone(),
        begun,
        never_begun: never,
        late_p50: late.quantile(Share(0.5)),
        late_p99: late.quantile(Share(0.99)),
        late_max: late.max(),
        drift: worst,
        in_flight: (replayed > 0.0).then(|| busy / replayed),
        in_flight_original: original.map(|depth| depth.in_flight_sum_ns as f64 / facts.span.0 as f64),
    })
}

impl ReplayFinding {
    /// Its drift in words; what rounds to nothing has no sign.
    pub(crate) fn drift_in(&self, lang: Lang) -> String {
        let rounded = |drift: f64| if drift.abs() < 0.0005 { 0.0 } else { drift };
        let unknown = || say_in!(lang, "unknown", "неизвестен");
        self.drift.map_or_else(unknown, |drift| format::percent(rounded(drift), lang))
    }

    /// In one sentence.
    pub fn say(&self) -> Say {
        Say::both(|l| {
            let latency = |late: Option<Nanos>| late.map_or("—".to_string(), |late| format::latency(late, l));
            let number = |n: Option<f64>| {
                n.map_or(say_in!(l, "not measurable", "неизмеримо"), |n| format::number(n, l))
            };
            let drift = self.drift_in(l);
            say_in!(
                l,
                "Replay of {trace}: {n} {ios}, late by {p50} at p50, {p99} at p99, {most} at most; drift {drift}; {now} in flight, in the original {then}.",
                "Воспроизведение {trace}: {n} {ios}, опоздание {p50} в p50, {p99} в p99, не более {most}; уход {drift}; в очереди {now}, в исходной записи {then}.",
                trace = self.trace,
                n = format::count(self.begun),
                ios = ios(self.begun, l),
                p50 = latency(self.late_p50),
                p99 = latency(self.late_p99),
                most = latency(self.late_max),
                now = number(self.in_flight),
                then = number(self.in_flight_original)
            )
        })
    }
}

fn ios(count: u64, lang: Lang) -> &'static str {
    match lang {
        Lang::En => plural_en(count, "I/O", "I/Os"),
        Lang::Ru => plural_ru(count, "операция", "операции", "операций"),
    }
}

/// How much of a replay lies in the window of a trial.
struct Part {
    length: Nanos,
    is_whole: bool,
}

impl Part {
    fn of(trial: &Counting<'_>, replay: Replay) -> Part {
        let outcome = trial.outcome;
        let last = outcome.load_start + Nanos(replay.pace.due(replay.span).unwrap_or(0));
        Part {
            length: outcome.window_end.min(last).saturating_sub(outcome.window_start),
            is_whole: outcome.window_start <= outcome.load_start && last <= outcome.window_end,
        }
    }
}

/// By how much lateness grew in the time in which it did: the slope of the line through the mean lateness of each interval,
/// weighted by the I/Os that began in it. 0.01: the replay fell behind by 10 ms in every second. `None` with fewer
/// than two intervals in which I/Os began.
fn drift(trial: &Counting<'_>, stream: u16) -> Option<f64> {
    let slices = trial.record.slices.iter().filter(|slice| slice.stream == stream);
    let points = slices.filter_map(|slice| {
        let open = slice.open.as_ref().filter(|open| open.begun > 0)?;
        let middle = (f64::from(slice.interval) + f64::from(slice.span) / 2.0) * INTERVAL.0 as f64;
        Some((middle, open.late_sum_ns as f64 / open.begun as f64, open.begun as f64))
    });
    line::weighted_slope(&points.collect::<Vec<_>>())
}

/// Time that I/Os were in flight, from their begins, summed. Syncs are none of them: nor are they in what a trace says of the
/// original.
fn in_flight_ns(trial: &Counting<'_>, stream: u16) -> f64 {
    let jobs = trial.outcome.jobs.iter().filter(|job| job.stream == stream);
    let sum = |job: &stend_record::JobTotals| {
        let latency = job.service.as_ref().unwrap_or(&job.latency);
        Op::IO.iter().map(|op| latency[op.index()].sum_ns as f64).sum::<f64>()
    };
    jobs.map(sum).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{run_of, traced_case};
    use crate::trials::by_case;
    use stend_record::{Slice, TrialOutcome};

    #[test]
    fn lateness_that_grows_is_a_drift_and_the_depth_stands_beside_the_original() {
        let record = run_of(vec![traced_case("db", "t.blkparse")])
            .trial(0)
            .iops(1000.0)
            .change(|_, slices| {
                for slice in slices {
                    let open = slice.open.as_mut().unwrap();
                    open.late_sum_ns = open.begun * u64::from(slice.interval) * 1_000_000;
                }
            })
            .done()
            .record();
        let found = of_case(&record, &by_case(&record)[0]).remove(0);
        // One more millisecond in every tenth of a second.
        assert!((found.drift.unwrap() - 0.01).abs() < 1e-9, "{found:?}");
        assert_eq!((found.trace.as_str(), found.begun, found.never_begun), ("t.blkparse", 1000, 0));
        // The fixture's trace: two I/Os of 1 ms each, 2 s from the first to the last.
        assert!((found.in_flight_original.unwrap() - 0.001).abs() < 1e-9, "{found:?}");
        assert!(found.late_p50 <= found.late_p99 && found.late_p99 <= found.late_max && found.late_max.is_some());
    }

    /// Mean in flight of a replay of 2 s, and of the original, in a trial with these changes.
    fn depths(change: impl FnOnce(&mut TrialOutcome, &mut Vec<Slice>) + 'static) -> (Option<f64>, Option<f64>) {
        let run = run_of(vec![traced_case("db", "t.blkparse")]);
        let record = run.trial(0).iops(1000.0).change(change).done().record();
        let found = of_case(&record, &by_case(&record)[0]).remove(0);
        (found.in_flight.map(|mean| mean.round()), found.in_flight_original.map(|mean| (mean * 1e6).round()))
    }

    #[test]
    fn the_depth_is_a_mean_over_the_same_part_of_the_trace_as_that_of_the_original() {
        let second = Nanos::SECOND;
        // 1000 I/Os a second, each in flight for half of the 64 ms that a depth of 64 gives.
        assert_eq!(depths(|_, _| {}), (Some(32.0), Some(1000.0)));
        assert_eq!(
            depths(move |o, _| o.window_end = o.window_end + second),
            (Some(32.0), Some(1000.0)),
            "quiet behind"
        );
        // The fixture leaves the time in flight as it is, so half of the time has twice the depth.
        assert_eq!(depths(move |o, _| o.window_end = o.window_end - second), (Some(64.0), None), "its end is missing");
        assert_eq!(depths(move |o, _| o.window_start = o.window_start + second), (Some(64.0), None), "its begin is");
        let behind = |outcome: &mut TrialOutcome, _: &mut Vec<Slice>| {
            outcome.window_start = outcome.load_start + Nanos::secs(3);
            outcome.window_end = outcome.window_start + Nanos::SECOND;
        };
        assert_eq!(depths(behind), (None, None));
    }

    #[test]
    fn syncs_are_not_in_flight_because_in_the_original_they_are_not() {
        let with_syncs = |outcome: &mut TrialOutcome, _: &mut Vec<Slice>| {
            let mut syncs = Histogram::new();
            syncs.record_many(Nanos::SECOND, 500);
            outcome.jobs[0].service.as_mut().unwrap()[Op::Sync.index()] = syncs.sparse();
        };
        assert_eq!(depths(with_syncs).0, Some(32.0));
    }

    #[test]
    fn one_io_is_one_in_both_languages() {
        let record = run_of(vec![traced_case("db", "t.iolog")]).trial(0).done().record();
        let found = of_case(&record, &by_case(&record)[0]).remove(0);
        let say = |begun| ReplayFinding { begun, ..found.clone() }.say();
        for (begun, en, ru) in
            [(1, "1 I/O,", "1 операция,"), (454, "454 I/Os,", "454 операции,"), (11, "11 I/Os,", "11 операций,")]
        {
            let Say { en: is_en, ru: is_ru } = say(begun);
            assert!(is_en.contains(&format!(": {en}")) && is_ru.contains(&format!(": {ru}")), "{is_en} {is_ru}");
        }
    }

    #[test]
    fn an_iolog_does_not_say_what_was_in_flight_and_a_load_without_trace_has_no_fidelity() {
        let record = run_of(vec![traced_case("db", "t.iolog")]).trial(0).done().record();
        assert_eq!(of_case(&record, &by_case(&record)[0])[0].in_flight_original, None);
        let plain = crate::fixture::run().trial(0).done().record();
        assert_eq!(of_case(&plain, &by_case(&plain)[0]), []);
    }
}
