//! H49 and H50: did the machine itself get in the way, by a hypervisor that took CPU time or by memory that
//! ran short?

use super::stretch::{self, Stretch, stretches};
use super::{Check, too_few_samples};
use crate::findings::{CheckResult, CheckStatus};
use crate::limits::{MEMORY_WAIT, STEAL_MEAN, STEAL_SECOND};
use crate::phrase::{both, pick};
use crate::trials::CaseTrials;
use stend_base::{Bytes, Nanos, format, say};
use stend_record::sample::CpuTimes;
use stend_record::{RunRecord, Sample};

/// Shortest time that is called a second: the kernel counts in ticks of 10 ms, and two samples may be close.
const NEARLY_A_SECOND: Nanos = Nanos::millis(900);

/// H49: the hypervisor took hardly any CPU time, on the whole and in every second.
pub fn steal(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: "H49",
        name: say!("no stolen CPU time", "процессор не отбирали"),
        limit: both(|l| {
            pick(l, "mean ≤ {m}, any second ≤ {s}", "в среднем ≤ {m}, за секунду ≤ {s}")
                .replace("{m}", &format::percent(STEAL_MEAN, l))
                .replace("{s}", &format::percent(STEAL_SECOND, l))
        }),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let stretches = stretches(run, case);
    let whole = stretches.iter().map(|s| Some((times(s.samples.last()?)?, times(s.samples.first()?)?)));
    let Some(whole) = whole.collect::<Option<Vec<_>>>().filter(|whole| !whole.is_empty()) else {
        return check.not_measurable(too_few_samples());
    };
    let (stolen, all) = whole.iter().fold((0u64, 0u64), |sum, (last, first)| {
        let (stolen, all) = (last.0.saturating_sub(first.0), last.1.saturating_sub(first.1));
        (sum.0.saturating_add(stolen), sum.1.saturating_add(all))
    });
    let mean = stolen as f64 / (all as f64).max(1.0);
    let worst = stretches.iter().flat_map(seconds).fold(mean, f64::max);
    let measured = both(|l| {
        pick(l, "mean {m}, worst second {w}", "в среднем {m}, худшая секунда {w}")
            .replace("{m}", &format::percent(mean, l))
            .replace("{w}", &format::percent(worst, l))
    });
    if mean <= STEAL_MEAN && worst <= STEAL_SECOND {
        return check.pass(measured);
    }
    check.result(
        CheckStatus::Warn,
        measured,
        say!(
            "The hypervisor gave this machine's CPU time to others: latencies include the wait for it. Measure on a quieter host or with CPUs reserved.",
            "Гипервизор отдавал процессорное время этой машины другим, и ожидание вошло в задержки. Меряйте на менее занятом хосте или с закреплёнными процессорами."
        ),
    )
}

/// (stolen, all) CPU time since boot, ns, summed over CPUs.
fn times(sample: &Sample) -> Option<(u64, u64)> {
    let cpus = sample.cpus.as_ref()?;
    let all = |c: &CpuTimes| {
        [c.user_ns, c.system_ns, c.idle_ns, c.iowait_ns, c.irq_ns, c.softirq_ns, c.steal_ns]
            .into_iter()
            .fold(0, u64::saturating_add)
    };
    let sum = |of: fn(&CpuTimes) -> u64| cpus.iter().map(of).fold(0, u64::saturating_add);
    Some((sum(|c| c.steal_ns), sum(all)))
}

/// Share of CPU time stolen in each second, or what is nearly one.
fn seconds(stretch: &Stretch<'_>) -> Vec<f64> {
    let mut found = Vec::new();
    let Some(mut from) = stretch.samples.first() else { return found };
    for sample in stretch.samples {
        if sample.at.saturating_sub(from.at) < NEARLY_A_SECOND {
            continue;
        }
        if let (Some(last), Some(first)) = (times(sample), times(from)) {
            let all = last.1.saturating_sub(first.1).max(1);
            found.push(last.0.saturating_sub(first.0) as f64 / all as f64);
        }
        from = sample;
    }
    found
}

/// What memory did during the load; `None` where the kernel does not say.
#[derive(Debug, Clone, Copy)]
struct MemoryTrouble {
    swapped: Option<u64>,
    killed: Option<u64>,
    /// Share of the time that some task waited for memory.
    waited: Option<f64>,
}

/// H50: nothing was swapped, nobody was killed, and hardly anybody waited for memory.
pub fn memory(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: "H50",
        name: say!("memory was enough", "памяти хватало"),
        limit: both(|l| {
            pick(l, "no swapping, waiting ≤ {w}", "без подкачки, ожидание ≤ {w}")
                .replace("{w}", &format::percent(MEMORY_WAIT, l))
        }),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let found = trouble(&stretches(run, case));
    if found.swapped.is_none() && found.waited.is_none() {
        return check.not_measurable(say!(
            "there are no readings of swapping or memory pressure during the load",
            "во время нагрузки нет показаний подкачки и нехватки памяти"
        ));
    }
    let measured = both(|l| {
        let swapped = found
            .swapped
            .map(|bytes| pick(l, "{b} swapped", "подкачка {b}").replace("{b}", &format::bytes(Bytes(bytes), l)));
        let waited =
            found.waited.map(|share| pick(l, "waiting {w}", "ожидание {w}").replace("{w}", &format::percent(share, l)));
        let killed = found
            .killed
            .filter(|&n| n > 0)
            .map(|n| pick(l, "{n} processes killed", "убито процессов: {n}").replace("{n}", &format::count(n)));
        [swapped, waited, killed].into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    let some = |n: Option<u64>| n.is_some_and(|n| n > 0);
    if !some(found.swapped) && !some(found.killed) && found.waited.is_none_or(|share| share <= MEMORY_WAIT) {
        return check.pass(measured);
    }
    check.result(
        CheckStatus::Fail,
        measured,
        say!(
            "The machine was short of memory during the load: swapping is I/O of its own, and reclaim stops the load threads. Free memory, or use fewer jobs, and repeat.",
            "Во время нагрузки машине не хватало памяти: подкачка — это свой ввод-вывод, а возврат памяти останавливает потоки нагрузки. Освободите память или возьмите меньше заданий и повторите."
        ),
    )
}

fn trouble(stretches: &[Stretch<'_>]) -> MemoryTrouble {
    let of = |of: fn(&Sample) -> Option<u64>| stretch::sum(stretches, |s| s.growth(of));
    let swapped = of(|sample| {
        let paging = sample.paging?;
        Some(paging.swap_in_bytes?.saturating_add(paging.swap_out_bytes?))
    });
    // A kernel that counts pages but has no swap swaps nothing.
    let swapped = swapped.or_else(|| of(|sample| sample.paging.map(|_| 0)));
    let waited = of(|sample| sample.pressure?.memory_some_ns);
    MemoryTrouble {
        swapped,
        killed: of(|sample| sample.paging?.oom_kills),
        waited: waited.map(|ns| ns as f64 / (stretch::length(stretches).0 as f64).max(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_record::sample::Pressure;

    /// A record with its samples changed, given the half seconds since the first.
    fn with(change: fn(u64, &mut Sample)) -> RunRecord {
        let mut record = run().trial(0).done().record();
        record.samples.iter_mut().enumerate().for_each(|(at, sample)| change(at as u64, sample));
        record
    }

    fn h49(record: &RunRecord) -> CheckStatus {
        steal(record, &by_case(record)[0]).status
    }

    fn h50(record: &RunRecord) -> CheckResult {
        memory(record, &by_case(record)[0])
    }

    fn stolen(sample: &mut Sample, ns: u64) {
        sample.cpus.as_mut().unwrap()[0].steal_ns = ns;
    }

    #[test]
    fn h49_a_machine_of_its_own_passes() {
        assert_eq!(h49(&with(|_, _| {})), CheckStatus::Pass);
        // 5 ms in half a second of eight CPUs: 0.1 %.
        assert_eq!(h49(&with(|at, s| stolen(s, at * 5_000_000))), CheckStatus::Pass);
    }

    #[test]
    fn h49_steal_all_the_time_or_in_one_second_is_a_warning() {
        assert_eq!(h49(&with(|at, s| stolen(s, at * 50_000_000))), CheckStatus::Warn);
        let burst = with(|at, s| stolen(s, if at >= 4 { 900_000_000 } else { 0 }));
        assert_eq!(h49(&burst), CheckStatus::Warn);
    }

    #[test]
    fn h49_without_cpu_times_is_not_measurable() {
        assert_eq!(h49(&with(|_, s| s.cpus = None)), CheckStatus::NotMeasurable);
    }

    #[test]
    fn h50_memory_to_spare_passes() {
        assert_eq!(h50(&with(|_, _| {})).status, CheckStatus::Pass);
    }

    #[test]
    fn h50_swapping_a_kill_and_waiting_fail() {
        let swapped = with(|at, s| s.paging.as_mut().unwrap().swap_in_bytes = Some(at * 4096));
        assert_eq!(h50(&swapped).status, CheckStatus::Fail);
        let killed = with(|at, s| s.paging.as_mut().unwrap().oom_kills = Some(at / 3));
        assert!(h50(&killed).measured.en.contains("processes killed"));
        assert_eq!(h50(&killed).status, CheckStatus::Fail);
        let waited = |at, s: &mut Sample| {
            let memory_some_ns = Some(at * 10_000_000);
            s.pressure = Some(Pressure { memory_some_ns, ..Pressure::default() });
        };
        assert_eq!(h50(&with(waited)).status, CheckStatus::Fail);
    }

    #[test]
    fn h50_is_judged_by_what_there_is() {
        let no_swap = with(|_, s| s.paging.as_mut().unwrap().swap_in_bytes = None);
        assert_eq!((h50(&no_swap).status, h50(&no_swap).measured.en.as_str()), (CheckStatus::Pass, "0 B swapped"));
        assert_eq!(h50(&with(|_, s| s.paging = None)).status, CheckStatus::NotMeasurable);
    }
}
