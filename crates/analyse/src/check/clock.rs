//! H44: can the clock be trusted: its source, its cost beside the latencies, and steps of the wall clock?

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{BATCH_SPAN, CLOCK_COST, CLOCK_SLEW, CLOCK_SOURCES, CLOCK_STEP};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Histogram, Nanos, Say, Share, format, say, say_in};
use stend_record::{JobTotals, RunRecord};
use stend_spec::workload::Op;

/// Readings of the clock that a latency includes: one at its start, one at its end.
const READINGS: f64 = 2.0;

/// H44: a source that is read without the kernel, at little cost, and no step during a trial.
pub fn clock(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H44,
        limit: say!(
            |l| "cost ≤ {c}, shared over ≤ {b} of latency, steps ≤ {s}",
            "цена ≤ {c}, одна отметка на ≤ {b} задержки, скачки ≤ {s}",
            c = format::percent(CLOCK_COST, l),
            b = format::percent(BATCH_SPAN, l),
            s = format::latency(CLOCK_STEP, l)
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let Some(source) = run.load().facts.as_ref().and_then(|host| host.clock_source.as_deref()) else {
        return check
            .not_measurable(say!("the kernel does not name its clock source", "ядро не называет источник времени"));
    };
    let cost = case.counting.iter().filter_map(cost).max_by(f64::total_cmp);
    let shared = case.counting.iter().filter_map(shared).max_by(f64::total_cmp);
    let step = case.counting.iter().filter_map(|t| step(&t.outcome.clocks)).max_by_key(|step| step.unsigned_abs());
    let measured = Say::both(|l| {
        let mut text = source.to_string();
        if let Some(cost) = cost {
            text +=
                &say_in!(l, ", {c} of latency", ", {c} задержки", c = format::near_limit::percent(cost, CLOCK_COST, l));
        }
        if let Some(shared) = shared {
            text += &say_in!(
                l,
                ", shared over {c} of latency",
                ", одна отметка на {c} задержки",
                c = format::near_limit::percent(shared, BATCH_SPAN, l)
            );
        }
        if let Some(step) = step {
            let size = Nanos(u64::try_from(step.unsigned_abs()).unwrap_or(u64::MAX));
            text +=
                &say_in!(l, ", a step of {s}", ", скачок на {s}", s = format::near_limit::latency(size, CLOCK_STEP, l));
        }
        text
    });
    match meaning(source, cost, shared, step) {
        None => check.pass(measured),
        Some(meaning) => check.measured(measured).warn(meaning),
    }
}

fn meaning(source: &str, cost: Option<f64>, shared: Option<f64>, step: Option<i128>) -> Option<Say> {
    if step.is_some() {
        return Some(say!(
            "The wall clock was set during a trial. Latencies use another clock and are correct; dates of events may be wrong.",
            "Во время испытания перевели часы. Задержки измеряются другими часами и верны; даты событий могут быть неверны."
        ));
    }
    if shared.is_some_and(|shared| shared > BATCH_SPAN) {
        return Some(say!(
            "One clock reading covers I/Os that began over a visible part of the latency: latencies may be too long by that much. Use smaller batches or `stamps: each`.",
            "Одна отметка времени относится к операциям, начавшимся на протяжении заметной части задержки: на столько задержки могут быть завышены. Нужны пачки меньше или `stamps: each`."
        ));
    }
    if cost.is_some_and(|cost| cost > CLOCK_COST) {
        return Some(say!(
            "Reading the clock is a visible part of the latency. Find out why the kernel does not use a faster source (`dmesg | grep -i clocksource`).",
            "Чтение часов составляет заметную часть задержки. Выясните, почему ядро не взяло источник быстрее (`dmesg | grep -i clocksource`)."
        ));
    }
    (!CLOCK_SOURCES.contains(&source)).then(|| {
        say!(
            "This clock source is slow or coarse: the kernel rejected a better one. Short latencies are too long by its cost; see `dmesg | grep -i clocksource`.",
            "Этот источник времени медленный или грубый: от лучшего ядро отказалось. Короткие задержки завышены на его цену; см. `dmesg | grep -i clocksource`."
        )
    })
}

/// Cost of the readings relative to the mean latency of the fastest operation; `None` if it was not measured.
fn cost(trial: &Counting<'_>) -> Option<f64> {
    let reading = trial.outcome.engine.clock_read_ns;
    let means = Op::IO.into_iter().filter_map(|op| {
        let histograms = || trial.outcome.jobs.iter().map(|job| &job.latency[op.index()]);
        let count: f64 = histograms().map(|h| h.count() as f64).sum();
        let sum: f64 = histograms().map(|h| h.sum_ns as f64).sum();
        (count > 0.0 && sum > 0.0).then(|| sum / count)
    });
    let fastest = means.min_by(f64::total_cmp)?;
    (reading > 0).then(|| READINGS * f64::from(reading) / fastest)
}

/// Longest sharing of one reading by a batch relative to the median latency of its job; `None` if each I/O has its own.
fn shared(trial: &Counting<'_>) -> Option<f64> {
    let of = |job: &JobTotals| {
        let (span, mut all) = (job.batch_span_ns?, Histogram::new());
        Op::IO.iter().for_each(|op| all.merge_sparse(&job.latency[op.index()]));
        let median = all.quantile(Share(0.5)).filter(|median| median.0 > 0)?;
        Some(span as f64 / median.0 as f64)
    };
    trial.outcome.jobs.iter().filter_map(of).max_by(f64::total_cmp)
}

/// Step of the wall clock against the monotonic one between two readings, ns, beyond what steering explains.
/// Readings are (monotonic, boottime, realtime).
pub fn step(pair: &[(u64, u64, u64)]) -> Option<i128> {
    let [before, .., after] = pair else { return None };
    let elapsed = i128::from(after.0) - i128::from(before.0);
    let step = i128::from(after.2) - i128::from(before.2) - elapsed;
    let allowed = CLOCK_STEP.0 as f64 + elapsed.unsigned_abs() as f64 * CLOCK_SLEW;
    (step.unsigned_abs() as f64 > allowed).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_record::TrialOutcome;

    fn check(source: Option<&str>, change: fn(&mut TrialOutcome)) -> CheckResult {
        let mut record = run().trial(0).change(move |o, _| change(o)).done().record();
        record.load_mut().facts.as_mut().unwrap().clock_source = source.map(String::from);
        clock(&record, &by_case(&record)[0])
    }

    #[test]
    fn a_fast_source_without_steps_passes() {
        let found = check(Some("kvm-clock"), |_| {});
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, "kvm-clock, 0.0 % of latency"));
    }

    #[test]
    fn a_slow_source_a_dear_reading_and_a_step_are_warnings() {
        assert_eq!(check(Some("hpet"), |_| {}).status, CheckStatus::Warn);
        // 3.2 ms of latency at 10,000 IOPS and 32 in flight.
        assert_eq!(check(Some("tsc"), |o| o.engine.clock_read_ns = 40_000).status, CheckStatus::Warn);
        let stepped = check(Some("tsc"), |o| o.clocks[1].2 -= 50_000_000);
        assert_eq!((stepped.status, stepped.measured.en.contains("a step of 50.0 ms")), (CheckStatus::Warn, true));
    }

    #[test]
    fn one_reading_for_a_batch_is_told_and_warns_where_it_shows() {
        // The median is 3.2 ms.
        let short = check(Some("tsc"), |o| o.jobs[0].batch_span_ns = Some(32_000));
        assert_eq!(short.status, CheckStatus::Pass);
        assert!(short.measured.en.contains("shared over 1.0 % of latency"), "{}", short.measured.en);
        let long = check(Some("tsc"), |o| o.jobs[0].batch_span_ns = Some(320_000));
        assert_eq!((long.status, long.meaning.en.contains("`stamps: each`")), (CheckStatus::Warn, true));
    }

    #[test]
    fn steering_is_not_a_step() {
        assert_eq!(step(&[(0, 0, 0), (10_000_000_000, 0, 10_005_500_000)]), None);
        assert_eq!(step(&[(0, 0, 0), (10_000_000_000, 0, 10_006_500_000)]), Some(6_500_000));
        assert_eq!(step(&[(0, 0, 0)]), None);
    }

    #[test]
    fn a_cost_that_was_not_measured_is_left_out_and_no_source_is_not_measurable() {
        assert_eq!(check(Some("tsc"), |o| o.engine.clock_read_ns = 0).measured.en, "tsc");
        assert_eq!(check(None, |_| {}).status, CheckStatus::NotMeasurable);
    }
}
