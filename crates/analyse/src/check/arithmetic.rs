//! H01 and H08: do the numbers agree with each other?

use super::{Check, worst};
use crate::findings::{CheckId, CheckResult};
use crate::io_log;
use crate::limits::{BANDWIDTH_DEVIATION, MIX_SIGMA, SUM_DEVIATION, WINDOW_DEVIATION};
use crate::series::INTERVAL;
use crate::trials::{CaseTrials, Counting};
use stend_base::{Lang, Nanos, Say, format, say, say_in};
use stend_spec::workload::Op;

/// H01: bytes equal I/Os times block size.
pub fn bandwidth(case: &CaseTrials<'_>) -> CheckResult {
    let check =
        Check { id: CheckId::H01, limit: Say::both(|l| format!("± {}", format::percent(BANDWIDTH_DEVIATION, l))) };
    if case.asked.streams.iter().all(|stream| stream.replay.is_some()) {
        return check.not_applicable(say!(
            "The trial does not record the sizes of the trace's I/Os that end inside the window.",
            "Размеры операций трассы, закончившихся внутри окна, в испытании не записаны."
        ));
    }
    if case.counting.iter().any(|trial| trial.outcome.tool_output.as_ref().is_some_and(|told| !told.sizes_known)) {
        return check.not_measurable(say!("sizes of the I/Os are not given", "размеры операций не указаны"));
    }
    let Some((deviation, _)) = worst(case, bandwidth_deviation) else { return check.no_trials() };
    let measured = Say::both(|l| {
        let shown = format::near_limit::percent(deviation, BANDWIDTH_DEVIATION, l);
        say_in!(l, "differ by ", "расходятся на ") + &shown
    });
    if deviation <= BANDWIDTH_DEVIATION {
        return check.pass(measured);
    }
    if let Some((_, trial)) = worst(case, bandwidth_deviation)
        && is_possible(trial)
    {
        return check.measured(measured).fail(say!(
            "Block sizes were not mixed by the shares that the suite gives: the number belongs to another load. Report this as a defect.",
            "Размеры блоков смешаны не в тех долях, что заданы в наборе: число относится к другой нагрузке. Сообщите об этом как о дефекте."
        ));
    }
    let slip = unit_slip(deviation);
    check.measured(measured).fail(Say::both(|l| {
        let text = l.pick(
            "The counters of I/Os and of bytes contradict each other; neither can be used.",
            "Счётчики операций и байтов противоречат друг другу; нельзя верить ни одному.",
        );
        format!("{text}{}", slip.as_ref().map_or(String::new(), |s| format!(" {}", s.get(l))))
    }))
}

/// Largest relative deviation over the streams of a trial.
fn bandwidth_deviation(trial: &Counting<'_>) -> f64 {
    let streams = trial.record.asked.streams.iter().enumerate();
    let deviation = |(index, stream): (usize, &stend_spec::workload::Stream)| {
        let (ops, bytes) = trial.done(Some(index as u16), &Op::IO);
        // One beside streams of known sizes; a case of replays alone was not asked at all.
        if stream.replay.is_some() {
            return 0.0;
        }
        let size = sizes(stream);
        let deviation = relative(bytes as f64, ops as f64 * size.mean);
        // What chance explains of a mixture is no contradiction, nor that larger blocks take longer, so that there are more of them
        // among those in flight at an edge of the window; with one size there is neither.
        let chance = MIX_SIGMA * size.deviation / size.mean / (ops.max(1) as f64).sqrt();
        let in_flight = f64::from(stream.queue_depth) * f64::from(stream.jobs);
        let edges = in_flight * (size.most - size.least) / (ops.max(1) as f64 * size.mean);
        if size.holds(ops, bytes) { (deviation - chance - edges).max(0.0) } else { deviation }
    };
    streams.map(deviation).fold(0.0, f64::max)
}

/// Whether I/Os of the sizes of each stream can have so many bytes, so that the counters do not contradict each other.
fn is_possible(trial: &Counting<'_>) -> bool {
    let streams = trial.record.asked.streams.iter().zip(0..).filter(|(stream, _)| stream.replay.is_none());
    streams.into_iter().all(|(stream, index)| {
        let (ops, bytes) = trial.done(Some(index), &Op::IO);
        ops == 0 || sizes(stream).holds(ops, bytes)
    })
}

/// Bytes per I/O of a stream.
struct Sizes {
    least: f64,
    most: f64,
    mean: f64,
    deviation: f64,
}

impl Sizes {
    /// Whether so many I/Os can have so many bytes.
    fn holds(&self, ops: u64, bytes: u64) -> bool {
        ops > 0 && (ops as f64 * self.least..=ops as f64 * self.most).contains(&(bytes as f64))
    }
}

fn sizes(stream: &stend_spec::workload::Stream) -> Sizes {
    let mean_of = |of: &dyn Fn(f64) -> f64| {
        stream.sizes().map(|s| of(s.size.0 as f64) * f64::from(s.percent) / 100.0).sum::<f64>()
    };
    let mean = mean_of(&|size| size);
    let deviation = mean_of(&|size| (size - mean).powi(2)).sqrt();
    Sizes { least: stream.block_size_min().0 as f64, most: stream.block_size.0 as f64, mean, deviation }
}

/// The mistake that a deviation of this size is known for.
fn unit_slip(deviation: f64) -> Option<Say> {
    // 2^20 / 10^6 = 1.0486, 2^30 / 10^9 = 1.0737; seen from the other side 0.0463 and 0.0687.
    let near = |value: f64| (deviation - value).abs() < 0.0005;
    if near(0.048_576) || near(0.046_326) {
        return Some(say!("This is the ratio of MiB to MB.", "Это отношение МиБ к МБ."));
    }
    (near(0.073_742) || near(0.068_677)).then(|| say!("This is the ratio of GiB to GB.", "Это отношение ГиБ к ГБ."))
}

/// |a / b − 1|; 0 if both are zero, 1 if only one is.
fn relative(a: f64, b: f64) -> f64 {
    match (a == 0.0, b == 0.0) {
        (true, true) => 0.0,
        (true, false) | (false, true) => 1.0,
        (false, false) => (a / b - 1.0).abs(),
    }
}

/// H08: interval counters, job totals and histograms count the same I/Os, over the planned window.
pub fn sums(case: &CaseTrials<'_>) -> CheckResult {
    let (sum, window) = (SUM_DEVIATION, WINDOW_DEVIATION);
    let check = Check {
        id: CheckId::H08,
        limit: say!(
            |l| "sums ± {s}, window ± {w}",
            "суммы ± {s}, окно ± {w}",
            s = format::percent(sum, l),
            w = format::percent(window, l)
        ),
    };
    let Some((sums_off, _)) = worst(case, sums_deviation) else { return check.no_trials() };
    let Some((window_off, worst_window)) = worst(case, window_deviation) else { return check.no_trials() };
    let (is, planned) = (worst_window.window, worst_window.record.asked.window);
    let measured = say!(
        |l| "sums differ by {s}; window {is} of {planned}",
        "суммы расходятся на {s}; окно {is} из {planned}",
        s = format::near_limit::percent(sums_off, sum, l),
        is = seconds(is, l),
        planned = seconds(planned, l)
    );
    if let Some((log, counted)) = case.counting.iter().find_map(io_log::contradiction) {
        return check
            .measured(say!(
                "the log accounts for {log} of {counted} I/Os",
                "журнал объясняет операций: {log} из {counted}"
            ))
            .fail(say!(
                "The log of every I/O and the counters do not count the same I/Os. Report this as a defect.",
                "Журнал операций и счётчики насчитали разное. Сообщите об этом как о дефекте."
            ));
    }
    if sums_off <= sum && window_off <= window {
        return check.pass(measured);
    }
    let meaning = if sums_off > sum {
        say!(
            "Interval counters, job totals and histograms do not count the same I/Os: part of the data is lost or double.",
            "Счётчики интервалов, итоги заданий и гистограммы насчитали разное: часть данных потеряна или удвоена."
        )
    } else {
        say!(
            "The measuring window was not as long as planned; trials of this case cannot be compared with each other.",
            "Окно измерения не той длины, что в плане; испытания этого случая нельзя сравнивать между собой."
        )
    };
    check.measured(measured).fail(meaning)
}

fn seconds(span: Nanos, lang: Lang) -> String {
    format!("{} {}", format::fixed(span.as_secs(), 2, lang), lang.pick("s", "с"))
}

/// How far the window is from the planned one. That of another engine lasts until the last I/O has ended, which began
/// within the planned one.
fn window_deviation(trial: &Counting<'_>) -> f64 {
    let planned = trial.record.asked.window.0 as f64;
    let longest = trial.outcome.jobs.iter().flat_map(|job| &job.latency).map(|latency| latency.max_ns).max();
    let until = trial.outcome.engine.external.as_ref().and(longest).unwrap_or(0) as f64;
    outside(trial.window.0 as f64, planned, planned + until)
}

/// Largest relative difference between the ways to count the I/Os of a trial.
fn sums_deviation(trial: &Counting<'_>) -> f64 {
    let per_op = Op::ALL.into_iter().map(|op| {
        let (ops, bytes) = trial.done(None, &[op]);
        let in_histograms = trial.sum(None, |job| job.latency[op.index()].count());
        let (inside, touching) = slices(trial, op);
        relative(in_histograms as f64, ops as f64).max(outside(ops as f64, inside.0, touching.0)).max(outside(
            bytes as f64,
            inside.1,
            touching.1,
        ))
    });
    per_op.fold(0.0, f64::max)
}

/// How far a value is outside of a range, relative to the nearer end; 0 inside.
fn outside(value: f64, low: f64, high: f64) -> f64 {
    if value < low {
        relative(value, low)
    } else if value > high {
        relative(value, high)
    } else {
        0.0
    }
}

/// (I/Os, bytes) of the slices that lie inside the window as a whole, and of those that touch it:
/// equal where the window's edges are edges of intervals.
fn slices(trial: &Counting<'_>, op: Op) -> ((f64, f64), (f64, f64)) {
    let start = trial.outcome.load_start.0;
    let (from, to) = (trial.outcome.window_start.0, trial.outcome.window_end.0);
    let (mut inside, mut touching) = ((0.0, 0.0), (0.0, 0.0));
    for slice in trial.record.slices.iter().filter(|s| s.op == op) {
        let intervals = |n: u64| start.saturating_add(n.saturating_mul(INTERVAL.0));
        let first = intervals(u64::from(slice.interval));
        let last = intervals(u64::from(slice.interval) + u64::from(slice.span.max(1)));
        let (ops, bytes) = (slice.ops as f64, slice.bytes as f64);
        if first < to && last > from {
            touching = (touching.0 + ops, touching.1 + bytes);
        }
        if first >= from && last <= to {
            inside = (inside.0 + ops, inside.1 + bytes);
        }
    }
    (inside, touching)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{by_fio, run};
    use crate::trials::by_case;
    use stend_base::Bytes;
    use stend_record::{IoLogTotals, Slice, TrialOutcome};
    use stend_spec::workload::BlockShare;

    fn check(of: fn(&CaseTrials<'_>) -> CheckResult, change: fn(&mut TrialOutcome, &mut Vec<Slice>)) -> CheckResult {
        let record = run().trial(0).done().trial(0).change(change).done().record();
        of(&by_case(&record)[0])
    }

    #[test]
    fn h01_holds_when_bytes_are_ios_times_block_size() {
        assert_eq!(check(bandwidth, |_, _| {}).status, CheckStatus::Pass);
    }

    #[test]
    fn h01_fails_on_a_unit_slip_and_names_it() {
        let found = check(bandwidth, |outcome, _| {
            outcome.jobs[0].done[0].1 = (outcome.jobs[0].done[0].1 as f64 * 1.048_576) as u64;
        });
        assert_eq!(found.status, CheckStatus::Fail);
        assert!(found.meaning.en.contains("MiB") && found.meaning.ru.contains("МиБ"));
    }

    #[test]
    fn h01_allows_a_mixture_of_sizes_what_chance_explains_and_no_more() {
        let checked = |mean_kib: f64| {
            let mut record = run().trial(0).change(|_, _| {}).done().record();
            let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
            let stream = &mut record.trials[0].asked.streams[0];
            (stream.block_size, stream.block_mix) = (Bytes::kib(64), vec![share(4, 60), share(64, 40)]);
            for done in record.trials[0].outcome.iter_mut().flat_map(|o| &mut o.jobs).flat_map(|job| &mut job.done) {
                done.1 = (done.0 as f64 * mean_kib * 1024.0) as u64;
            }
            bandwidth(&by_case(&record)[0]).status
        };
        // 0.6 x 4 + 0.4 x 64 = 28 KiB.
        assert_eq!(checked(28.0), CheckStatus::Pass);
        assert_eq!(checked(28.1), CheckStatus::Pass);
        // What a load really did that cut its cycle of sizes off at the end of a small range.
        assert_eq!(checked(26.7), CheckStatus::Fail);
        assert_eq!(checked(36.0), CheckStatus::Fail);
        assert_eq!(checked(65.0), CheckStatus::Fail);
    }

    #[test]
    fn h01_does_not_pass_where_it_could_not_fail() {
        let replay = crate::fixture::run_of(vec![crate::fixture::traced_case("db", "t.iolog")]).trial(0).done();
        let mut record = replay.record();
        let found = bandwidth(&by_case(&record)[0]);
        assert_eq!(found.status, CheckStatus::NotApplicable);
        assert!(found.meaning.en.contains("trace") && found.meaning.ru.contains("трассы"), "{found:?}");
        // Beside a load of blocks of 4 KiB that load is asked.
        let load = run().trial(0).done().record();
        let mut other = load.header.inputs.suite.cases[0].streams.clone();
        let suite = &mut record.header.inputs.suite;
        suite.cases[0].streams.append(&mut other);
        let asked = &mut record.trials[0].asked;
        asked.streams.extend(load.trials[0].asked.streams.clone());
        let mut jobs = load.trials[0].outcome.clone().unwrap().jobs;
        jobs.iter_mut().for_each(|job| job.stream = 1);
        jobs[0].done[0].1 *= 2;
        record.trials[0].outcome.as_mut().unwrap().jobs.extend(jobs);
        assert_eq!(bandwidth(&by_case(&record)[0]).status, CheckStatus::Fail);
    }

    #[test]
    fn h08_holds_when_every_count_agrees() {
        let found = check(sums, |_, _| {});
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
        assert_eq!(found.measured.en, "sums differ by 0.0 %; window 2.00 s of 2.00 s");
    }

    #[test]
    fn h08_fails_when_a_log_of_every_io_does_not_account_for_all() {
        fn log(o: &mut TrialOutcome, missing: u64) {
            let done: u64 = o.jobs[0].done.iter().map(|done| done.0).sum();
            o.io_log = Some(IoLogTotals { recorded: done - missing, ..IoLogTotals::default() });
        }
        assert_eq!(check(sums, |o, _| log(o, 0)).status, CheckStatus::Pass);
        let found = check(sums, |o, _| log(o, 2));
        assert!(
            found.status == CheckStatus::Fail && found.measured.en.starts_with("the log accounts for"),
            "{found:?}"
        );
    }

    #[test]
    fn h08_fails_when_slices_are_lost() {
        assert_eq!(check(sums, |_, slices| slices.retain(|s| s.interval != 12)).status, CheckStatus::Fail);
    }

    /// Changes the latencies of the first job.
    fn change(outcome: &mut TrialOutcome, how: impl FnOnce(&mut Vec<(u32, u64)>)) {
        let buckets = &mut outcome.jobs[0].latency[0].buckets;
        let mut pairs = buckets.iter().collect();
        how(&mut pairs);
        *buckets = pairs.into();
    }

    #[test]
    fn h08_fails_when_a_histogram_misses_io() {
        assert_eq!(check(sums, |o, _| change(o, |pairs| pairs.truncate(50))).status, CheckStatus::Fail);
    }

    #[test]
    fn h08_fails_when_the_window_is_short() {
        let found = check(sums, |o, slices| {
            o.window_end = o.window_end.saturating_sub(Nanos::millis(100));
            slices.retain(|s| s.interval < 24);
            let lost = o.jobs[0].done[0].0 / 20;
            o.jobs[0].done[0].0 -= lost;
            o.jobs[0].done[0].1 -= lost * 4096;
        });
        assert_eq!(found.status, CheckStatus::Fail);
    }

    #[test]
    fn h08_takes_a_window_of_another_engine_that_lasts_as_long_as_its_longest_io() {
        // The window is 5 % longer than planned.
        let checked = |external: bool, longest: Nanos| {
            let record = run()
                .trial(0)
                .change(move |o, slices| {
                    o.window_end = o.window_end + Nanos::millis(100);
                    o.jobs[0].latency[0].max_ns = longest.0;
                    if external {
                        by_fio(Nanos(0))(o, slices);
                    }
                })
                .done()
                .record();
            sums(&by_case(&record)[0]).status
        };
        assert_eq!(checked(true, Nanos::millis(100)), CheckStatus::Pass);
        assert_eq!(checked(true, Nanos::millis(20)), CheckStatus::Fail);
        assert_eq!(checked(false, Nanos::millis(100)), CheckStatus::Fail);
    }

    #[test]
    fn h08_takes_a_window_that_cuts_intervals() {
        let found = check(sums, |o, _| {
            // Half an interval into the ramp: the jobs counted half of the interval more.
            o.window_start = o.window_start.saturating_sub(Nanos::millis(20));
            let job = &mut o.jobs[0];
            let more = job.done[0].0 / 100;
            job.done[0] = (job.done[0].0 + more, job.done[0].1 + more * 4096);
            change(o, |pairs| pairs[0].1 += more);
        });
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
    }

    #[test]
    fn without_a_whole_trial_neither_can_be_measured() {
        let record = run().trial(0).unfinished().record();
        let case = &by_case(&record)[0];
        assert_eq!([bandwidth(case).status, sums(case).status], [CheckStatus::NotMeasurable; 2]);
    }
}
