//! H80: was a trace replayed as it was recorded? What begins late is another load than the one in the trace, and what falls
//! behind more and more has another length, too.

use super::Check;
use crate::fidelity;
use crate::findings::{CheckId, CheckResult, ReplayFinding};
use crate::limits::{REPLAY_DRIFT, REPLAY_LATE};
use crate::trials::CaseTrials;
use stend_base::{Nanos, Say, format, say, say_in};
use stend_record::RunRecord;

/// H80: see the module.
pub fn replayed(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H80,
        limit: say!(
            |l| "p99 of lateness ≤ {t}, drift ≤ {d}",
            "p99 опоздания ≤ {t}, уход ≤ {d}",
            t = format::latency(REPLAY_LATE, l),
            d = format::percent(REPLAY_DRIFT, l)
        ),
    };
    if case.asked.streams.iter().all(|stream| stream.replay.is_none() || !stream.is_open()) {
        return check.not_applicable(say!("No trace at a pace of its own.", "Нет трассы с собственным темпом."));
    }
    let found = fidelity::of_case(run, case);
    if case.counting.is_empty() || found.is_empty() {
        return check.no_trials();
    }
    let excess = |replay: &ReplayFinding| {
        let late = replay.late_p99.map_or(0.0, |late| late.0 as f64 / REPLAY_LATE.0 as f64);
        let drift = replay.drift.map_or(0.0, |drift| drift.abs() / REPLAY_DRIFT);
        if replay.never_begun > 0 { f64::INFINITY } else { late.max(drift) }
    };
    let worst = found.iter().max_by(|a, b| excess(a).total_cmp(&excess(b)));
    let Some(worst) = worst else { return check.no_trials() };
    let measured = measured(worst);
    if excess(worst) <= 1.0 {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "I/Os began later than in the trace, so the load differs from the recorded one: lighter where it was late, heavier where it caught up. Latencies count the waiting. Raise `queue_depth` or `jobs`, stop what else runs here, lower the `pace`; or the target is slower than the original.",
        "Операции начинались позже, чем в трассе, и нагрузка отличается от записанной: слабее, где опоздание, сильнее, где оно навёрстано. В задержках ожидание учтено. Увеличьте `queue_depth` или `jobs`, остановите лишнее на этой машине, уменьшите `pace`; либо объект медленнее исходного."
    ))
}

fn measured(replay: &ReplayFinding) -> stend_base::Say {
    Say::both(|l| {
        let latency = |late: Option<Nanos>| late.map_or("—".to_string(), |late| format::latency(late, l));
        let drift = replay.drift_in(l);
        let text = say_in!(
            l,
            "late by {m} at p50, {t} at p99; drift {drift}",
            "опоздание {m} в p50, {t} в p99; уход {drift}",
            m = latency(replay.late_p50),
            t = latency(replay.late_p99)
        );
        if replay.never_begun == 0 {
            return text;
        }
        text + &say_in!(l, "; {n} never began", "; не начались: {n}", n = format::count(replay.never_begun))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{run, run_of, traced_case};
    use crate::trials::by_case;
    use stend_base::Histogram;
    use stend_base::histogram::Sparse;
    use stend_record::{Slice, TrialOutcome};

    fn check(change: impl FnOnce(&mut TrialOutcome, &mut Vec<Slice>) + 'static) -> CheckResult {
        let record = run_of(vec![traced_case("db", "t.iolog")]).trial(0).done().trial(0).change(change).done().record();
        replayed(&record, &by_case(&record)[0])
    }

    fn all_at(late: Nanos) -> Sparse {
        let mut histogram = Histogram::new();
        (0..1000).for_each(|_| histogram.record(late));
        histogram.sparse()
    }

    #[test]
    fn a_replay_in_time_passes_and_a_load_without_times_has_none() {
        let found = check(|_, _| {});
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
        assert_eq!(found.measured.en, "late by 1.98 µs at p50, 2.99 µs at p99; drift 0.0 %");
        let plain = run().trial(0).done().record();
        assert_eq!(replayed(&plain, &by_case(&plain)[0]).status, CheckStatus::NotApplicable);
    }

    #[test]
    fn a_replay_that_was_late_warns() {
        let late = |us: u64| check(move |outcome, _| outcome.open[0].late = all_at(Nanos(us * 1000)));
        assert_eq!((late(900).status, late(1100).status), (CheckStatus::Pass, CheckStatus::Warn));
    }

    #[test]
    fn a_replay_that_fell_behind_or_did_not_begin_everything_warns() {
        let behind = |late_per_interval_us: u64| {
            check(move |_, slices| {
                for slice in slices {
                    let open = slice.open.as_mut().unwrap();
                    open.late_sum_ns = open.begun * u64::from(slice.interval) * late_per_interval_us * 1000;
                }
            })
        };
        // One percent of 100 ms is a millisecond.
        assert_eq!((behind(990).status, behind(1010).status), (CheckStatus::Pass, CheckStatus::Warn));
        let found = check(|outcome, _| outcome.open[0].never_begun[0] = all_at(Nanos::secs(1)));
        assert_eq!(found.status, CheckStatus::Warn);
        assert!(found.measured.en.ends_with("; 1000 never began"), "{found:?}");
    }
}
