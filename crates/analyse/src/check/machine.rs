//! H49 and H50: did the machine itself get in the way, by a hypervisor that took CPU time or by memory that
//! ran short?

use super::stretch::{self, Stretch, stretches};
use super::{Check, too_few_samples};
use crate::findings::{CheckId, CheckResult};
use crate::limits::{MEMORY_TO_SPARE, MEMORY_WAIT, STEAL_MEAN, STEAL_SECOND, SWAPPED_SHARE};
use crate::trials::CaseTrials;
use stend_base::{Bytes, Nanos, Say, format, say, say_in};
use stend_record::sample::CpuTimes;
use stend_record::{RunRecord, Sample};
use stend_spec::workload::Op;

/// Shortest time that is called a second: the kernel counts in ticks of 10 ms, and two samples may be close.
const NEARLY_A_SECOND: Nanos = Nanos::millis(900);

/// H49: the hypervisor took hardly any CPU time, on the whole and in every second.
pub fn steal(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H49,
        limit: say!(
            |l| "mean ≤ {m}, any second ≤ {s}",
            "в среднем ≤ {m}, за секунду ≤ {s}",
            m = format::percent(STEAL_MEAN, l),
            s = format::percent(STEAL_SECOND, l)
        ),
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
    let measured = say!(
        |l| "mean {m}, worst second {w}",
        "в среднем {m}, худшая секунда {w}",
        m = format::near_limit::percent(mean, STEAL_MEAN, l),
        w = format::near_limit::percent(worst, STEAL_SECOND, l)
    );
    if mean <= STEAL_MEAN && worst <= STEAL_SECOND {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "The hypervisor gave this machine's CPU time to others: latencies include the wait for it. Measure on a quieter host or with CPUs reserved.",
        "Гипервизор отдавал процессорное время этой машины другим, и ожидание вошло в задержки. Меряйте на менее занятом хосте или с закреплёнными процессорами."
    ))
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
    /// Kills and waits were in other control groups, at limits of their own.
    elsewhere: bool,
}

/// H50: hardly anything was swapped beside the I/O of the load, and for want of the machine's memory no process was killed and hardly any task
/// waited.
pub fn memory(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H50,
        limit: say!(
            |l| "swapping ≤ {s} of the load's bytes, waiting ≤ {w}",
            "подкачка ≤ {s} байт нагрузки, ожидание ≤ {w}",
            s = format::percent(SWAPPED_SHARE, l),
            w = format::percent(MEMORY_WAIT, l)
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let stretches = stretches(run, case);
    let huge_pages = run.load().facts.as_ref().map_or(0, |facts| facts.huge_pages.0);
    let found = trouble(&stretches, huge_pages);
    if found.swapped.is_none() && found.waited.is_none() {
        return check.not_measurable(say!(
            "there are no readings of swapping or memory pressure during the load",
            "во время нагрузки нет показаний подкачки и нехватки памяти"
        ));
    }
    let measured = Say::both(|l| {
        let swapped =
            found.swapped.map(|bytes| say_in!(l, "{b} swapped", "подкачка {b}", b = format::bytes(Bytes(bytes), l)));
        let percent = |share: f64| format::near_limit::percent(share, MEMORY_WAIT, l);
        let waited = found.waited.map(|share| say_in!(l, "waiting {w}", "ожидание {w}", w = percent(share)));
        let killed = found
            .killed
            .filter(|&n| n > 0)
            .map(|n| say_in!(l, "{n} processes killed", "убито процессов: {n}", n = format::count(n)));
        [swapped, waited, killed].into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    let some = |n: Option<u64>| n.is_some_and(|n| n > 0);
    let short = some(found.killed) || found.waited.is_some_and(|share| share > MEMORY_WAIT);
    // Pages of a program at rest come and go on any machine: as I/O of others they are little, and that no task waits shows that it is not ours.
    let load: f64 = Op::TRANSFERS.into_iter().map(|op| stretch::application(&stretches, op).bytes).sum();
    let swaps = found.swapped.is_some_and(|bytes| bytes as f64 > SWAPPED_SHARE * load);
    if !swaps && !short && some(found.swapped) && found.waited.is_none() {
        return check.measured(measured).warn(say!(
            "A little was swapped during the load, and this kernel does not count who waited for memory (PSI).",
            "Во время нагрузки была небольшая подкачка, а ожидание памяти (PSI) это ядро не считает."
        ));
    }
    if !swaps && (!short || found.elsewhere) {
        let measured = if short {
            Say::both(|l| {
                format!(
                    "{}{}",
                    measured.get(l),
                    l.pick(" (in other control groups)", " (в других контрольных группах)")
                )
            })
        } else {
            measured
        };
        return check.pass(measured);
    }
    check.measured(measured).fail(say!(
        "The machine was short of memory during the load: swapping adds I/O, and reclaim stalls the load threads. Free memory, or use fewer jobs, and repeat.",
        "Во время нагрузки машине не хватало памяти: подкачка добавляет ввод-вывод, а возврат памяти останавливает потоки нагрузки. Освободите память или возьмите меньше заданий и повторите."
    ))
}

fn trouble(stretches: &[Stretch<'_>], huge_pages: u64) -> MemoryTrouble {
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
        elsewhere: is_elsewhere(stretches, huge_pages),
    }
}

/// Whether only other control groups can have been short of memory. The kernel counts kills and waits of the whole machine, those of groups
/// at limits of their own among them; but before it kills for want of the machine's memory an allocation has tried to free some itself, which
/// it counts for the machine alone. A worker in a group with a limit may be the one that was short.
//= linux 6.18, mm/vmscan.c: do_try_to_free_pages counts ALLOCSTALL unless it reclaims for a control group
fn is_elsewhere(stretches: &[Stretch<'_>], huge_pages: u64) -> bool {
    let samples = || stretches.iter().flat_map(|stretch| stretch.samples);
    let to_spare = |sample: &Sample| {
        let memory = sample.memory.filter(|memory| memory.total_bytes > 0);
        let all = |total: u64| total.saturating_sub(huge_pages) as f64;
        memory.is_some_and(|m| m.available_bytes as f64 >= MEMORY_TO_SPARE * all(m.total_bytes))
    };
    let unlimited = |sample: &Sample| sample.limits.as_ref().is_some_and(|limits| limits.memory_bytes.is_none());
    let stalls = stretch::sum(stretches, |s| s.growth(|sample| sample.paging?.allocation_stalls));
    stalls == Some(0) && samples().all(to_spare) && samples().all(unlimited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_record::sample::{GroupLimits, Memory, Pressure};

    /// A record with its samples changed, given the half seconds since the first.
    fn with(change: fn(u64, &mut Sample)) -> RunRecord {
        let mut record = run().trial(0).done().record();
        record.load_mut().samples.iter_mut().enumerate().for_each(|(at, sample)| change(at as u64, sample));
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
        // 5 % of 10,000 I/Os of 4 KiB a second.
        let swapped = with(|at, s| s.paging.as_mut().unwrap().swap_in_bytes = Some(at << 20));
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
    fn h50_a_few_pages_of_another_program_fail_nothing() {
        let pages = |pressure: bool| {
            h50(&with(match pressure {
                true => |at, s| {
                    s.paging.as_mut().unwrap().swap_in_bytes = Some(at * 4096);
                    s.pressure = Some(Pressure { memory_some_ns: Some(at * 100_000), ..Pressure::default() });
                },
                false => |at, s| {
                    s.paging.as_mut().unwrap().swap_in_bytes = Some(at * 4096);
                    s.pressure = None;
                },
            }))
        };
        let found = pages(true);
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
        assert!(found.measured.en.contains("KiB swapped"), "{found:?}");
        assert_eq!(pages(false).status, CheckStatus::Warn, "no reading of waits");
    }

    /// As counted on a machine of 23 GB with 20 GB available while three processes in a control group limited to 64 MiB were killed: `oom_kill` grew
    /// by 3, the sum of `allocstall_*` stayed at 3,747. That tasks of that group waited for memory 4 % of the time is made up.
    fn beside_a_small_group(at: u64, sample: &mut Sample, stalls: u64, available_bytes: u64, limit: Option<u64>) {
        let paging = sample.paging.as_mut().unwrap();
        (paging.oom_kills, paging.allocation_stalls) = (Some(7 + at / 2), Some(3747 + stalls * at));
        let memory_some_ns = Some(at * 20_000_000);
        sample.pressure = Some(Pressure { memory_some_ns, ..Pressure::default() });
        sample.memory = Some(Memory { total_bytes: 24 << 30, available_bytes, ..Memory::default() });
        sample.limits = Some(GroupLimits { memory_bytes: limit, ..GroupLimits::default() });
    }

    #[test]
    fn h50_kills_and_waits_in_other_groups_at_their_limits_are_told_and_not_blamed_on_the_run() {
        let found = h50(&with(|at, s| beside_a_small_group(at, s, 0, 20 << 30, None)));
        assert_eq!(found.status, CheckStatus::Pass, "{found:?}");
        assert!(found.measured.en.contains("processes killed (in other control groups)"), "{found:?}");
        assert!(found.measured.ru.contains("в других контрольных группах"), "{found:?}");
    }

    #[test]
    fn h50_a_short_machine_and_a_short_group_of_the_worker_fail_as_ever() {
        let status = |record: &RunRecord| h50(record).status;
        assert_eq!(status(&with(|at, s| beside_a_small_group(at, s, 1, 20 << 30, None))), CheckStatus::Fail, "stalls");
        assert_eq!(
            status(&with(|at, s| beside_a_small_group(at, s, 0, 1 << 30, None))),
            CheckStatus::Fail,
            "little left"
        );
        let limited = with(|at, s| beside_a_small_group(at, s, 0, 20 << 30, Some(1 << 30)));
        assert_eq!(status(&limited), CheckStatus::Fail, "the worker's group has a limit");
    }

    #[test]
    fn h50_is_judged_by_what_there_is() {
        let no_swap = with(|_, s| s.paging.as_mut().unwrap().swap_in_bytes = None);
        assert_eq!((h50(&no_swap).status, h50(&no_swap).measured.en.as_str()), (CheckStatus::Pass, "0 B swapped"));
        assert_eq!(h50(&with(|_, s| s.paging = None)).status, CheckStatus::NotMeasurable);
    }
}
