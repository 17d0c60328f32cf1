//! H43: was an open loop offered as asked, and did the target keep up with it? A target that does not is
//! *saturated*: its latencies grow for as long as one measures, and say how long that was.

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::limits::{OFFERED_DEVIATION, OFFERED_SIGMA, OWN_LATENESS};
use crate::series;
use crate::trials::{CaseTrials, Counting};
use stend_base::{Histogram, Nanos, Say, Share, format, say, say_in};
use stend_spec::workload::Op;

/// What one stream of one trial was offered, and what became of it.
#[derive(Debug, Clone, Copy)]
struct Offer {
    due: f64,
    done: f64,
    /// Due and not begun at the end of the window.
    backlog: f64,
    seconds: f64,
    /// The largest part of the median or the 99th percentile that is our own delay, with that delay.
    own: (f64, Nanos),
    /// Another engine made the I/O, which does not tell what was due: what was asked for counts.
    by_other: bool,
}

/// H43: see the module.
pub fn offered(case: &CaseTrials<'_>) -> CheckResult {
    let mut check = Check { id: CheckId::H43, limit: limit(OFFERED_DEVIATION, false) };
    let open: Vec<u16> =
        case.asked.streams.iter().zip(0..).filter(|(stream, _)| stream.is_open()).map(|(_, i)| i).collect();
    if open.is_empty() {
        return check.not_applicable(say!("No load at a given rate.", "Нет нагрузки с заданной частотой."));
    }
    let offers: Vec<Offer> =
        case.counting.iter().flat_map(|trial| open.iter().filter_map(|&stream| offer(trial, stream))).collect();
    let Some(worst) = offers.iter().max_by(|a, b| a.excess().total_cmp(&b.excess())) else { return check.no_trials() };
    check.limit = limit(worst.allowed() / worst.due.max(1.0), worst.by_other);
    let measured = worst.measured();
    if worst.done - worst.due > worst.allowed() && worst.by_other {
        return check.measured(measured).fail(say!(
            "The engine ran faster than requested: the load differs from the table.",
            "Генератор работал быстрее заданного: нагрузка не та, что указана в таблице."
        ));
    }
    if worst.excess() > 1.0 {
        return check.measured(measured).fail(say!(
            "Saturated: the target did not keep up with the offered load, so waiting grew for as long as the trial lasted. The latency of such a trial depends on its length; it only means \"cannot serve this rate\".",
            "Насыщение: объект не успевал за предложенной нагрузкой, и ожидание росло всё время испытания. Задержка в таком испытании зависит от его длины; читайте её как «такую частоту не обслуживает»."
        ));
    }
    let late = offers.iter().map(|offer| offer.own).fold((0.0, Nanos(0)), |a, b| if b.0 > a.0 { b } else { a });
    if late.0 > OWN_LATENESS {
        return check.measured(say!(
            |l| "own delay {time}, {share} of the latency",
            "своё опоздание {time}, {share} задержки",
            time = format::latency(late.1, l),
            share = format::near_limit::percent(late.0, OWN_LATENESS, l)
        )).warn(say!(
            "I/Os began later than they were due although there was a place for them: part of the latency is that of this machine waking up. Use fewer programs, more CPUs, or a higher rate.",
            "Операции начинались позже срока, хотя место для них было: часть задержки — пробуждение самой этой машины. Нужно меньше других программ, больше процессоров или выше частота."
        ));
    }
    check.pass(measured)
}

/// What may be missing or still wait, as a share of what was due: of few I/Os chance takes away more. Another engine gives only the rate.
fn limit(deviation: f64, by_other: bool) -> Say {
    Say::both(|l| {
        let (off, late) = (format::percent(deviation, l), format::percent(OWN_LATENESS, l));
        match by_other {
            true => say_in!(l, "± {off}; own delay ≤ {late} of latency", "± {off}; своё опоздание ≤ {late} задержки"),
            false => say_in!(
                l,
                "missing or waiting ≤ {off}; own delay ≤ {late} of latency",
                "недостаёт или ждёт ≤ {off}; своё опоздание ≤ {late} задержки"
            ),
        }
    })
}

impl Offer {
    /// What was done of what was offered.
    fn measured(&self) -> Say {
        Say::both(|l| {
            let rate = |n: f64| format::iops(n / self.seconds, l);
            let allowed = if self.done < self.due { -self.allowed() } else { self.allowed() };
            let done = format::near_limit::number(self.done / self.seconds, (self.due + allowed) / self.seconds, l);
            let due = rate(self.due);
            match self.by_other {
                true => say_in!(
                    l,
                    "{done} of {due} per second; how many waited is not reported",
                    "{done} из {due} в секунду; сколько ждали, не сообщается"
                ),
                false => {
                    say_in!(
                        l,
                        "{done} of {due} per second, {b} waiting at the end",
                        "{done} из {due} в секунду, в конце ждали {b}",
                        b = format::count(self.backlog as u64)
                    )
                }
            }
        })
    }

    /// Deviation from what was offered, 1 at the most that is allowed. What was begun too much was due in the ramp.
    fn excess(&self) -> f64 {
        let missing = if self.by_other { (self.due - self.done).abs() } else { self.due - self.done };
        missing.max(self.backlog) / self.allowed()
    }

    fn allowed(&self) -> f64 {
        (self.due * OFFERED_DEVIATION).max(self.due.sqrt() * OFFERED_SIGMA).max(1.0)
    }
}

fn offer(trial: &Counting<'_>, stream: u16) -> Option<Offer> {
    let length = series::INTERVAL.0;
    let since_start = |at: Nanos| at.saturating_sub(trial.outcome.load_start).0;
    // Intervals that lie wholly inside the window.
    let (first, end) =
        (since_start(trial.outcome.window_start).div_ceil(length), since_start(trial.outcome.window_end) / length);
    // Elsewhere a sync belongs to the write before it.
    let asked = trial.record.asked.streams.get(usize::from(stream));
    let syncs_arrive = asked.is_some_and(|stream| stream.replay.is_some());
    let (mut due, mut done, mut backlog) = (0u64, 0u64, 0i128);
    for slice in trial.record.slices.iter().filter(|slice| slice.stream == stream) {
        let (from, to) = (u64::from(slice.interval), u64::from(slice.interval) + u64::from(slice.span));
        let inside = first <= from && to <= end;
        if (slice.op != Op::Sync || syncs_arrive) && inside {
            done = done.saturating_add(slice.ops);
        }
        if let Some(open) = &slice.open {
            due = due.saturating_add(if inside { open.due } else { 0 });
            backlog += i128::from(open.due) - i128::from(open.begun);
        }
    }
    let by_other = trial.outcome.engine.external.is_some();
    let seconds = Nanos((end.saturating_sub(first)) * length).as_secs();
    let wanted = asked.and_then(|stream| stream.rate.as_ref()?.level()).filter(|_| by_other);
    (end > first).then(|| Offer {
        due: wanted.map_or(due as f64, |rate| rate.as_iops() * seconds),
        done: done as f64,
        backlog: backlog.max(0) as f64,
        seconds,
        own: own(trial, stream),
        by_other,
    })
}

/// The largest part of a quantile of the latency that is our own lateness at the same quantile.
fn own(trial: &Counting<'_>, stream: u16) -> (f64, Nanos) {
    let Some(open) = trial.outcome.open.iter().find(|open| open.stream == stream) else { return (0.0, Nanos(0)) };
    let (late, mut latency) = (open.own_late.dense(), Histogram::new());
    for job in trial.outcome.jobs.iter().filter(|job| job.stream == stream) {
        Op::IO.iter().for_each(|op| latency.merge_sparse(&job.latency[op.index()]));
    }
    let part = |q: f64| {
        let (late, latency) = (late.quantile(Share(q))?, latency.quantile(Share(q))?);
        Some((late.0 as f64 / latency.0.max(1) as f64, late))
    };
    [0.5, 0.99].into_iter().filter_map(part).fold((0.0, Nanos(0)), |a, b| if b.0 > a.0 { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{open_case, run, run_of};
    use crate::trials::by_case;
    use stend_record::{Slice, TrialOutcome};

    fn check(change: impl FnOnce(&mut TrialOutcome, &mut Vec<Slice>) + 'static) -> CheckResult {
        let record = run_of(vec![open_case("open", 10_000)]).trial(0).done().trial(0).change(change).done().record();
        offered(&by_case(&record)[0])
    }

    #[test]
    fn a_load_that_was_served_passes_and_a_closed_loop_has_none() {
        let found = check(|_, _| {});
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Pass, "10\u{a0}000 of 10\u{a0}000 per second, 0 waiting at the end")
        );
        assert_eq!(offered(&by_case(&run().trial(0).done().record())[0]).status, CheckStatus::NotApplicable);
    }

    #[test]
    fn a_target_that_falls_behind_is_saturated() {
        let found = check(|_, slices| {
            for slice in slices {
                slice.ops = slice.ops * 9 / 10;
                let open = slice.open.as_mut().unwrap();
                open.begun = open.begun * 9 / 10;
            }
        });
        assert_eq!(found.status, CheckStatus::Fail);
        assert_eq!(found.measured.en, "9000 of 10\u{a0}000 per second, 2500 waiting at the end");
        assert!(found.meaning.en.starts_with("Saturated") && found.meaning.ru.starts_with("Насыщение"));
    }

    #[test]
    fn a_queue_that_only_grows_in_flight_is_saturated_too() {
        let found = check(|_, slices| slices.iter_mut().for_each(|slice| slice.ops = slice.ops * 9 / 10));
        assert_eq!(found.status, CheckStatus::Fail);
    }

    #[test]
    fn chance_is_not_saturation() {
        // 20,000 were due: two standard deviations are 283.
        let of = |missing: u64| check(move |_, slices| slices[10].ops -= missing).status;
        assert_eq!((of(250), of(300)), (CheckStatus::Pass, CheckStatus::Fail));
    }

    #[test]
    fn an_engine_that_does_not_keep_to_the_rate_is_told_whichever_way_it_errs() {
        let of = |share: u64| {
            check(move |outcome, slices| {
                crate::fixture::by_fio(Nanos(0))(outcome, slices);
                for slice in slices.iter_mut() {
                    (slice.open, slice.ops) = (None, slice.ops * share / 100);
                }
                outcome.open.clear();
            })
        };
        assert_eq!(of(100).status, CheckStatus::Pass);
        let (fast, slow) = (of(105), of(90));
        assert_eq!((fast.status, slow.status), (CheckStatus::Fail, CheckStatus::Fail));
        assert_eq!(fast.measured.en, "10\u{a0}500 of 10\u{a0}000 per second; how many waited is not reported");
        assert!(fast.meaning.en.contains("faster than requested") && slow.meaning.en.starts_with("Saturated"));
    }

    #[test]
    fn our_own_lateness_is_told_where_it_shows() {
        let of = |factor: u64| {
            let late = move |o: &mut TrialOutcome, _: &mut Vec<Slice>| {
                let mut late = Histogram::new();
                (0..1000).for_each(|_| late.record(Nanos(100_000 * factor)));
                o.open[0].own_late = late.sparse();
            };
            check(late)
        };
        // The median latency is 3.2 ms.
        assert_eq!(of(1).status, CheckStatus::Pass);
        let found = of(5);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Warn, "own delay 500 µs, 15.6 % of the latency")
        );
    }
}
