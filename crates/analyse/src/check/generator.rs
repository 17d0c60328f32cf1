//! H40: was it the storage that was measured, or the CPU under the load threads?

use super::Check;
use super::stretch::{self, stretches};
use crate::findings::{CaseFinding, CheckId, CheckResult, CheckStatus};
use crate::limits::{LATE_STAMPS, RUN_DELAY_BOUND, RUN_DELAY_VISIBLE, THREAD_BUSY, TRIALS_SURE};
use crate::submitted;
use crate::trials::{CaseTrials, Counting};
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::{JobTotals, RunRecord, Sample};
use stend_stats::t_interval;

/// H40: load threads got a CPU when they wanted one, and none was busy all the time.
pub fn busy(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H40,
        limit: Say::both(|l| {
            let (waiting, late) = (format::percent(RUN_DELAY_VISIBLE, l), format::percent(LATE_STAMPS, l));
            say_in!(
                l,
                "waiting ≤ {waiting}, busy < {b} of a CPU, stamps late by ≤ {late} of the latency",
                "ожидание ≤ {waiting}, занятость < {b} процессора, опоздание отметок ≤ {late} задержки",
                b = format::percent(THREAD_BUSY, l)
            )
        }),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    if is_by(case, "io_uring_sqpoll") {
        return check.not_measurable(say!(
            "kernel threads submit the I/O, and their wait for a CPU is not recorded",
            "ввод-вывод подают потоки ядра, а сколько они ждут процессора, не записывается"
        ));
    }
    let Some(kept) = Kept::of(case) else {
        return check.not_measurable(say!(
            "this kernel does not say how long threads wait for a CPU",
            "это ядро не сообщает, сколько потоки ждут процессора"
        ));
    };
    let measured = Say::both(|l| kept.said(l));
    match kept.found(idle_cpus(run, case)) {
        Some(meaning) => check.measured(measured).warn(meaning),
        None => check.pass(measured),
    }
}

/// Whether the load threads had no spare CPU, so that the machine was the limit.
pub fn is_limit(case: &CaseTrials<'_>) -> bool {
    !is_by(case, "io_uring_sqpoll") && Kept::of(case).is_some_and(|kept| kept.is_limit())
}

/// That the load threads were the limit of one of these cases, in the words of its check.
pub fn engine_limit(trials: &[CaseTrials<'_>], cases: &[CaseFinding]) -> Option<Say> {
    let limited = |case: &&CaseFinding| trials.iter().any(|trials| trials.case == case.case && is_limit(trials));
    let mut checks = cases.iter().filter(limited).flat_map(|case| &case.checks);
    let found = checks.find(|check| check.id == CheckId::H40 && check.status == CheckStatus::Warn)?;
    Some(found.meaning.clone())
}

fn is_by(case: &CaseTrials<'_>, backend: &str) -> bool {
    case.counting.iter().any(|trial| trial.outcome.engine.backend == backend)
}

/// CPUs that must be idle on the mean for another job to help: one job keeps one busy at most.
const IDLE_CPUS: f64 = 1.0;

/// How many CPUs were idle on the mean while the load ran, waiting for I/O included; `None` where samples do not show it.
fn idle_cpus(run: &RunRecord, case: &CaseTrials<'_>) -> Option<f64> {
    let idle_ns = |sample: &Sample| {
        let cpus = sample.cpus.as_ref()?;
        Some(cpus.iter().map(|cpu| cpu.idle_ns.saturating_add(cpu.iowait_ns)).fold(0, u64::saturating_add))
    };
    let stretches = stretches(run, case);
    let idle = stretch::sum(&stretches, |of| of.growth(idle_ns))?;
    let lasted = stretch::sum(&stretches, |of| Some(of.length().0))?;
    Some(idle as f64 / lasted.max(1) as f64)
}

/// Late stamps below this share of the latency are not mentioned.
const LATE_TOLD: f64 = 0.005;

/// How the load threads kept up.
struct Kept {
    /// Time they waited for a CPU.
    waited: Shares,
    /// Time the busiest of them was on one in a single trial, where that means something.
    busy: Option<f64>,
    /// How late completions were stamped at most, of the mean latency.
    late: Option<Shares>,
}

impl Kept {
    /// `None` where the kernel does not say how long threads wait.
    fn of(case: &CaseTrials<'_>) -> Option<Kept> {
        let waited = Shares::of(case, |job| job.run_delay_ns)?;
        // Who polls is always busy.
        let busy = Shares::of(case, |job| job.cpu_max_ns).filter(|_| !is_by(case, "io_uring_iopoll"));
        let late: Vec<f64> = case.counting.iter().filter_map(submitted::late).collect();
        Some(Kept { waited, busy: busy.map(|busy| busy.most()), late: (!late.is_empty()).then_some(Shares(late)) })
    }

    fn is_limit(&self) -> bool {
        self.waited.most() > RUN_DELAY_BOUND || self.busy.is_some_and(|busy| busy >= THREAD_BUSY)
    }

    fn said(&self, l: Lang) -> String {
        let mut said =
            say_in!(l, "worst thread waited {w}", "худший поток ждал {w}", w = self.waited.said(RUN_DELAY_VISIBLE, l));
        if let Some(busy) = self.busy {
            said += &say_in!(
                l,
                ", busiest used {b}",
                ", самый занятый работал {b}",
                b = format::near_limit::percent(busy, THREAD_BUSY, l)
            );
        }
        if let Some(late) = self.late.as_ref().filter(|late| late.most() >= LATE_TOLD) {
            said += &say_in!(
                l,
                ", stamps late by at most {s} of the latency",
                ", отметки опаздывали не больше чем на {s} задержки",
                s = late.said(LATE_STAMPS, l)
            );
        }
        said
    }

    /// That the wait for a CPU was the limit: of the mean where that decides, else of the worst trial.
    fn waited_too_long(&self) -> Say {
        let sure = self.waited.0.len() >= TRIALS_SURE && self.waited.surely_above(RUN_DELAY_VISIBLE);
        let mean = stend_stats::mean(&self.waited.0).filter(|_| sure);
        let most = self.waited.most();
        let share = mean.unwrap_or(most);
        let limit = if mean.is_none() && most > RUN_DELAY_BOUND { RUN_DELAY_BOUND } else { RUN_DELAY_VISIBLE };
        let told = |l| [share, limit].map(|share| format::percent(share, l));
        let ([share, limit], [share_ru, limit_ru]) = (told(Lang::En), told(Lang::Ru));
        let (once, once_ru) =
            if mean.is_none() { (" in one trial", " в одном испытании") } else { ("", "") };
        say!(
            "The load threads waited for a CPU {share} of the time{once} (limit {limit}): the storage can do more. Stop other programs or use a machine with more CPUs.",
            "Потоки нагрузки ждали процессор {share_ru} времени{once_ru} (предел {limit_ru}): хранилище может больше. Остановите другие программы или возьмите машину с бо́льшим числом процессоров."
        )
    }

    /// What is wrong, the worst first, where so many CPUs were idle.
    fn found(&self, idle_cpus: Option<f64>) -> Option<Say> {
        let waited = self.waited.surely_above(RUN_DELAY_VISIBLE);
        if self.waited.most() > RUN_DELAY_BOUND || self.is_limit() && waited {
            return Some(self.waited_too_long());
        }
        if let Some(busy) = self.busy.filter(|busy| *busy >= THREAD_BUSY) {
            return Some(busy_thread(busy, idle_cpus));
        }
        if waited {
            return Some(say!(
                "Load threads waited for a CPU; latencies include that wait. Stop other programs on this machine; if there are none, it has too few CPUs for this load.",
                "Потоки нагрузки ждали процессора, и это ожидание вошло в задержки. Остановите на машине всё лишнее; если лишнего нет, процессоров для такой нагрузки мало."
            ));
        }
        self.late.as_ref().filter(|late| late.surely_above(LATE_STAMPS)).map(|_| match idle_cpus {
            Some(idle) if idle < IDLE_CPUS => say!(
                "Completed I/Os waited while their thread was busy, and latencies may include that wait. Use a machine with more CPUs, or fewer I/Os in flight.",
                "Завершённые операции ждали, пока занятый поток их прочтёт, и это ожидание могло войти в задержки. Возьмите машину с бо́льшим числом процессоров или уменьшите очередь."
            ),
            _ => say!(
                "Completed I/Os waited while their thread was busy, and latencies may include that wait. Use more jobs with fewer I/Os in flight each.",
                "Завершённые операции ждали, пока занятый поток их прочтёт, и это ожидание могло войти в задержки. Возьмите больше заданий с меньшей очередью в каждом."
            ),
        })
    }
}

/// That a load thread was the limit, which was busy for this share of the time, and what helps.
fn busy_thread(busy: f64, idle_cpus: Option<f64>) -> Say {
    let told = |l| [busy, THREAD_BUSY].map(|share| format::percent(share, l));
    let ([busy, limit], [busy_ru, limit_ru]) = (told(Lang::En), told(Lang::Ru));
    match idle_cpus {
        Some(idle) if idle >= IDLE_CPUS => say!(
            "Limited by the engine, not by the storage: one load thread was busy {busy} of the time (limit {limit}), and CPUs were free. Use more jobs, or treat the rate as a lower bound.",
            "Упёрлись в генератор, а не в хранилище: один поток нагрузки был занят {busy_ru} времени (предел {limit_ru}), а процессоры были свободны. Возьмите больше заданий или считайте скорость нижней границей."
        ),
        Some(_) => say!(
            "Limited by the CPUs, not by the storage: one load thread was busy {busy} of the time (limit {limit}), and less than one CPU was free. Use a machine with more CPUs, or treat the rate as a lower bound.",
            "Упёрлись в процессоры, а не в хранилище: один поток нагрузки был занят {busy_ru} времени (предел {limit_ru}), а свободно было меньше одного процессора. Возьмите машину с бо́льшим числом процессоров или считайте скорость нижней границей."
        ),
        None => say!(
            "Limited by the engine, not by the storage: one load thread was busy {busy} of the time (limit {limit}). If CPUs are free, use more jobs; else treat the rate as a lower bound.",
            "Упёрлись в генератор, а не в хранилище: один поток нагрузки был занят {busy_ru} времени (предел {limit_ru}). Если есть свободные процессоры, возьмите больше заданий, иначе считайте скорость нижней границей."
        ),
    }
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

    /// What [`surely_above`](Self::surely_above) looks at: the mean, with its interval where that reaches across the limit, else with the largest
    /// where it is another number.
    fn said(&self, limit: f64, lang: Lang) -> String {
        let percent = |share: f64| format::near_limit::percent(share, limit, lang);
        let most = percent(self.most());
        let Some(mean) = stend_stats::mean(&self.0).filter(|_| self.0.len() >= TRIALS_SURE) else { return most };
        let shown = percent(mean);
        match t_interval::interval(&self.0) {
            Some((low, high)) if mean > limit && shown != format::percent(limit, lang) && low <= limit => {
                let (low, high) = (percent(low.max(0.0)), percent(high));
                say_in!(lang, "{shown} (from {low} to {high})", "{shown} (от {low} до {high})")
            }
            _ if shown == most => most,
            _ => say_in!(lang, "{shown} (up to {most})", "{shown} (до {most})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_base::Nanos;
    use stend_record::observed::Submissions;
    use stend_record::sample::CpuTimes;

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
        of_record(&record)
    }

    fn of_record(record: &RunRecord) -> CheckResult {
        super::busy(record, &by_case(record)[0])
    }

    #[test]
    fn polling_is_no_sign_of_a_limit_and_threads_of_the_kernel_are_not_seen() {
        let by = |backend: &'static str, waited| {
            let polled = move |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| {
                o.engine.backend = backend.into();
                o.jobs[0].run_delay_ns = Some(waited);
                o.jobs[0].cpu_max_ns = Some(Nanos::secs(2).0);
            };
            of_record(&run().trial(0).change(polled).done().record()).status
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
        assert!(!some.meaning.en.contains("the storage can do more"));
        let much = check(Some(Nanos::millis(420)), None);
        assert_eq!(much.status, CheckStatus::Warn);
        let told = "The load threads waited for a CPU 21.0 % of the time in one trial (limit 20.0 %): the storage can do more.";
        assert!(much.meaning.en.starts_with(told) && !much.meaning.en.contains("more jobs"), "{}", much.meaning.en);
    }

    /// Check of trials with windows of 2 s in which a thread waited for these per mille of them.
    fn of_trials(waited: &[u64]) -> CheckResult {
        let builder = waited.iter().fold(run(), |builder, &waited| {
            builder.trial(0).change(move |o, _| o.jobs[0].run_delay_ns = Some(waited * Nanos::millis(2).0)).done()
        });
        of_record(&builder.record())
    }

    #[test]
    fn a_wait_about_the_limit_is_told_when_the_trials_are_sure_of_it() {
        let often = of_trials(&[250, 180, 200, 190, 150, 170]).meaning.en;
        assert!(often.contains("19.0 % of the time (limit 5.0 %): the storage can do more."), "{often}");
        let status = |waited: &[u64]| of_trials(waited).status;
        assert_eq!(status(&[30, 40, 35, 30, 60, 55]), CheckStatus::Pass, "4.2 %, with two trials above the limit");
        assert_eq!(status(&[40, 70, 45, 60, 55, 50]), CheckStatus::Pass, "5.3 % ± 1.1 %");
        assert_eq!(status(&[70, 80, 75, 60, 65, 70]), CheckStatus::Warn, "7.0 % ± 0.7 %");
        assert_eq!(status(&[40, 70]), CheckStatus::Warn, "two trials have no interval");
        let once = of_trials(&[10, 10, 250, 10, 10, 10]);
        assert_eq!(once.status, CheckStatus::Warn);
        assert!(once.meaning.en.contains("25.0 % of the time in one trial (limit 20.0 %)"), "{}", once.meaning.en);
        assert_eq!(once.measured.en, "worst thread waited 5.0 % (up to 25.0 %), busiest used 10.0 %");
    }

    #[test]
    fn completions_that_waited_to_be_read_are_told_and_above_a_fifth_of_the_latency_warned_of() {
        let late = |share: f64| {
            let stamped = move |o: &mut stend_record::TrialOutcome, _: &mut Vec<_>| {
                let job = &mut o.jobs[0];
                let (sum, ios) = job.latency.iter().fold((0, 0), |(sum, n), of| (sum + of.sum_ns, n + of.count()));
                // Twice as many as the window has: the ramp counts.
                let late_ns = (2.0 * share * sum as f64) as u64;
                job.submissions = Some(Submissions { calls: 1, ios: 2 * ios, late_ns, ..Submissions::default() });
            };
            of_record(&run().trial(0).change(stamped).done().record())
        };
        assert!(!late(0.001).measured.en.contains("late"), "nothing worth a word");
        let (some, much) = (late(0.19), late(0.21));
        assert_eq!((some.status, much.status), (CheckStatus::Pass, CheckStatus::Warn));
        assert!(some.measured.en.ends_with(", stamps late by at most 19.0 % of the latency"), "{}", some.measured.en);
        assert!(much.meaning.en.contains("Completed I/Os waited"), "{}", much.meaning.en);
    }

    #[test]
    fn a_thread_that_fills_a_cpu_is_the_limit() {
        let found = check(Some(Nanos(0)), Some(Nanos::millis(1800)));
        assert!(found.status == CheckStatus::Warn && found.meaning.en.contains("CPUs were free. Use more jobs"));
        let both = check(Some(Nanos::millis(200)), Some(Nanos::millis(1800)));
        assert!(both.meaning.en.contains("waited for a CPU 10.0 %") && !both.meaning.en.contains("Use more jobs"));
    }

    /// Two jobs of which each is busy for 1.95 s of 2 s, on two CPUs that are idle for this share of the time; `None`: nothing shows it.
    fn two_busy_jobs(idle: Option<f64>) -> String {
        let mut record = run()
            .trial(0)
            .change(|o, _| {
                o.jobs[0].cpu_max_ns = Some(Nanos::millis(1950).0);
                let second = JobTotals { job: 1, ..o.jobs[0].clone() };
                o.jobs.push(second);
            })
            .done()
            .record();
        for sample in &mut record.load_mut().samples {
            let times = |idle: f64| {
                let idle_ns = (sample.at.0 as f64 * idle) as u64;
                let cpu = |cpu| CpuTimes { cpu, idle_ns, user_ns: sample.at.0 - idle_ns, ..CpuTimes::default() };
                vec![cpu(0), cpu(1)]
            };
            sample.cpus = idle.map(times);
        }
        of_record(&record).meaning.en
    }

    #[test]
    fn more_jobs_are_advised_only_where_cpus_were_free() {
        for idle in [0.0, 0.45] {
            let full = two_busy_jobs(Some(idle));
            assert!(full.contains("less than one CPU was free. Use a machine with more CPUs"), "{full}");
            assert!(!full.contains("CPUs were free") && !full.contains("more jobs"), "{full}");
        }
        let free = two_busy_jobs(Some(0.55));
        assert!(free.contains("and CPUs were free. Use more jobs"), "{free}");
        let unknown = two_busy_jobs(None);
        assert!(unknown.contains("If CPUs are free, use more jobs") && !unknown.contains("were free"), "{unknown}");
    }

    #[test]
    fn a_kernel_without_the_counter_is_not_measurable() {
        assert_eq!(check(None, None).status, CheckStatus::NotMeasurable);
    }
}
