//! H40: was it the storage that was measured, or the CPU under the load threads?

use super::Check;
use crate::findings::{CheckResult, CheckStatus};
use crate::limits::{RUN_DELAY_BOUND, RUN_DELAY_VISIBLE, THREAD_BUSY, TRIALS_SURE};
use crate::phrase::{both, pick};
use crate::stats::{self, t_interval};
use crate::trials::{CaseTrials, Counting};
use stend_base::{Lang, format, say};
use stend_record::JobTotals;

/// H40: load threads got a CPU when they wanted one, and none was busy all the time.
pub fn busy(case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: "H40",
        name: say!("the engine kept up", "генератор успевал"),
        limit: both(|l| {
            pick(l, "waiting ≤ {w}, busy < {b} of a CPU", "ожидание ≤ {w}, занятость < {b} процессора")
                .replace("{w}", &format::percent(RUN_DELAY_VISIBLE, l))
                .replace("{b}", &format::percent(THREAD_BUSY, l))
        }),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let is_by = |name: &str| case.counting.iter().any(|trial| trial.outcome.engine.backend == name);
    if is_by("io_uring_sqpoll") {
        return check.not_measurable(say!(
            "threads of the kernel submit, and how long those wait for a CPU is not recorded",
            "ввод-вывод подают потоки ядра, а сколько они ждут процессора, не записывается"
        ));
    }
    let waited = Shares::of(case, |job| job.run_delay_ns);
    // Who polls is always busy.
    let busy = Shares::of(case, |job| job.cpu_max_ns).filter(|_| !is_by("io_uring_iopoll")).map(|busy| busy.most());
    let Some(waited) = waited else {
        return check.not_measurable(say!(
            "this kernel does not say how long threads wait for a CPU",
            "это ядро не сообщает, сколько потоки ждут процессора"
        ));
    };
    let measured = both(|l| {
        let said = pick(l, "worst thread waited {w}", "худший поток ждал {w}").replace("{w}", &waited.said(l));
        match &busy {
            Some(busy) => {
                let busy = format::percent(*busy, l);
                said + &pick(l, ", busiest used {b}", ", самый занятый работал {b}").replace("{b}", &busy)
            }
            None => said,
        }
    });
    if waited.most() > RUN_DELAY_BOUND || busy.is_some_and(|busy| busy >= THREAD_BUSY) {
        return check.result(
            CheckStatus::Warn,
            measured,
            say!(
                "Engine-bound: the load threads had no CPU to spare, so this is the limit of the machine, not of the storage. Use more jobs, free the CPUs, or read the rate as a lower bound.",
                "Упёрлись в генератор: потокам нагрузки не хватало процессора, так что это предел машины, а не хранилища. Возьмите больше заданий, освободите процессоры или считайте скорость нижней границей."
            ),
        );
    }
    if waited.surely_above(RUN_DELAY_VISIBLE) {
        return check.result(
            CheckStatus::Warn,
            measured,
            say!(
                "Load threads waited for a CPU; latencies include that wait. Stop what else runs on this machine; if nothing does, it has too few CPUs for this load.",
                "Потоки нагрузки ждали процессора, и это ожидание вошло в задержки. Остановите на машине всё лишнее; если лишнего нет, процессоров для такой нагрузки мало."
            ),
        );
    }
    check.pass(measured)
}

/// Shares of the windows that the worst job of each trial spent.
#[derive(Debug, Clone)]
struct Shares(Vec<f64>);

impl Shares {
    /// `None` if it was never recorded.
    fn of(case: &CaseTrials<'_>, spent: fn(&JobTotals) -> Option<u64>) -> Option<Shares> {
        let share = |trial: &Counting<'_>| {
            let most = trial.outcome.jobs.iter().filter_map(spent).max()?;
            Some(most as f64 / trial.window.0 as f64)
        };
        let shares: Vec<f64> = case.counting.iter().filter_map(share).collect();
        (!shares.is_empty()).then_some(Shares(shares))
    }

    /// Whether the mean over the trials is above the limit with its whole 95 % interval; below three trials, of which an interval says nothing,
    /// whether one of them is.
    fn surely_above(&self, limit: f64) -> bool {
        match t_interval::interval(&self.0).filter(|_| self.0.len() >= TRIALS_SURE) {
            Some((low, _)) => low > limit,
            None => self.most() > limit,
        }
    }

    /// The largest of a single trial.
    fn most(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// What [`surely_above`](Self::surely_above) looks at, with the largest where it is another number.
    fn said(&self, lang: Lang) -> String {
        let most = format::percent(self.most(), lang);
        match stats::mean(&self.0).filter(|_| self.0.len() >= TRIALS_SURE).map(|mean| format::percent(mean, lang)) {
            Some(mean) if mean != most => {
                pick(lang, "{m} (up to {t})", "{m} (до {t})").replace("{m}", &mean).replace("{t}", &most)
            }
            _ => most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_base::Nanos;

    /// Check of a window of 2 s.
    fn check(waited: Option<Nanos>, busy: Option<Nanos>) -> CheckResult {
        let record = run()
            .trial(0)
            .done()
            .trial(0)
            .change(move |o, _| {
                o.jobs[0].run_delay_ns = waited.map(|n| n.0);
                o.jobs[0].cpu_max_ns = busy.map(|n| n.0);
            })
            .done()
            .record();
        let mut record = record;
        if waited.is_none() {
            record.trials.remove(0);
        }
        super::busy(&by_case(&record)[0])
    }

    #[test]
    fn polling_is_no_sign_of_a_limit_and_threads_of_the_kernel_are_not_seen() {
        let by = |backend: &'static str, waited| {
            let polled = move |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| {
                o.engine.backend = backend.into();
                o.jobs[0].run_delay_ns = Some(waited);
                o.jobs[0].cpu_max_ns = Some(Nanos::secs(2).0);
            };
            super::busy(&by_case(&run().trial(0).change(polled).done().record())[0]).status
        };
        assert_eq!((by("io_uring", 0), by("io_uring_iopoll", 0)), (CheckStatus::Warn, CheckStatus::Pass));
        assert_eq!(by("io_uring_iopoll", Nanos::millis(200).0), CheckStatus::Warn);
        assert_eq!(by("io_uring_sqpoll", 0), CheckStatus::NotMeasurable);
    }

    #[test]
    fn threads_with_a_cpu_at_hand_pass() {
        let found = check(Some(Nanos::millis(100)), Some(Nanos::millis(1700)));
        assert_eq!(found.status, CheckStatus::Pass);
        assert_eq!(found.measured.en, "worst thread waited 5.0 %, busiest used 85.0 %");
    }

    #[test]
    fn waiting_for_a_cpu_is_visible_from_five_percent_and_decides_from_twenty() {
        let some = check(Some(Nanos::millis(120)), None);
        assert_eq!(some.status, CheckStatus::Warn);
        assert!(!some.meaning.en.contains("Engine-bound"));
        let much = check(Some(Nanos::millis(420)), None);
        assert_eq!(much.status, CheckStatus::Warn);
        assert!(much.meaning.en.contains("Engine-bound"));
    }

    /// Check of trials with windows of 2 s in which a thread waited for these per mille of them.
    fn of_trials(waited: &[u64]) -> CheckResult {
        let builder = waited.iter().fold(run(), |builder, &waited| {
            builder.trial(0).change(move |o, _| o.jobs[0].run_delay_ns = Some(waited * Nanos::millis(2).0)).done()
        });
        super::busy(&by_case(&builder.record())[0])
    }

    #[test]
    fn a_wait_about_the_limit_is_told_when_the_trials_are_sure_of_it() {
        let status = |waited: &[u64]| of_trials(waited).status;
        assert_eq!(status(&[30, 40, 35, 30, 60, 55]), CheckStatus::Pass, "4.2 %, with two trials above the limit");
        assert_eq!(status(&[40, 70, 45, 60, 55, 50]), CheckStatus::Pass, "5.3 % ± 1.1 %");
        assert_eq!(status(&[70, 80, 75, 60, 65, 70]), CheckStatus::Warn, "7.0 % ± 0.7 %");
        assert_eq!(status(&[40, 70]), CheckStatus::Warn, "two trials have no interval");
        let once = of_trials(&[10, 10, 250, 10, 10, 10]);
        assert_eq!((once.status, once.meaning.en.contains("Engine-bound")), (CheckStatus::Warn, true));
        assert_eq!(once.measured.en, "worst thread waited 5.0 % (up to 25.0 %), busiest used 10.0 %");
    }

    #[test]
    fn a_thread_that_fills_a_cpu_is_the_limit() {
        let found = check(Some(Nanos(0)), Some(Nanos::millis(1800)));
        assert!(found.status == CheckStatus::Warn && found.meaning.en.contains("Engine-bound"));
    }

    #[test]
    fn a_kernel_without_the_counter_is_not_measurable() {
        assert_eq!(check(None, None).status, CheckStatus::NotMeasurable);
    }
}
