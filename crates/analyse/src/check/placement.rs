//! H45 and H46: were threads and memory near the drives, and did more than one CPU take their completions?

use super::stretch::{self, Stretch, stretches};
use super::{Check, too_few_samples};
use crate::findings::{CheckId, CheckResult};
use crate::limits::{INTERRUPT_CPU_BUSY, INTERRUPT_SHARE, INTERRUPTS_JUDGED};
use crate::trials::CaseTrials;
use std::collections::BTreeSet;
use stend_base::{Lang, Say, format, say, say_in};
use stend_record::targets::drives;
use stend_record::{RunRecord, Sample};
use stend_spec::topology::NumaNode;

/// NUMA nodes of drives, threads and memory.
#[derive(Debug, Clone, PartialEq, Default)]
struct Nodes {
    drives: BTreeSet<u32>,
    threads: BTreeSet<u32>,
    memory: BTreeSet<u32>,
}

/// H45: drives, load threads and their memory are on one NUMA node.
pub fn numa(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H45,
        limit: say!("drives, threads and memory on one node", "накопители, потоки и память на одном узле"),
    };
    let nodes = run.load().facts.as_ref().map_or(&[][..], |host| &host.numa_nodes);
    if nodes.len() < 2 {
        return check.not_applicable(say!("The machine has one NUMA node.", "В машине один узел NUMA."));
    }
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let Some(found) = found(run, case, nodes) else {
        return check.not_measurable(say!(
            "the kernel does not report the node of every drive, or the engine where its threads ran",
            "ядро не сообщает узел каждого накопителя либо генератор — где шли его потоки"
        ));
    };
    let measured = Say::both(|l| in_words(&found, l));
    let all: BTreeSet<u32> = [&found.drives, &found.threads, &found.memory].into_iter().flatten().copied().collect();
    if all.len() == 1 {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "A part of the I/Os crossed the link between sockets, which costs latency and throughput. Place the load beside the drives (`numa: local` in the suite), and publish the near and the far number together.",
        "Часть операций шла через канал между сокетами: это стоит задержки и пропускной способности. Поместите нагрузку рядом с накопителями (`numa: local` в наборе) и публикуйте ближнее и дальнее числа вместе."
    ))
}

fn found(run: &RunRecord, case: &CaseTrials<'_>, nodes: &[NumaNode]) -> Option<Nodes> {
    let drives = drives(&run.load().targets);
    let of_drives = drives.iter().map(|drive| u32::try_from(drive.numa_node?).ok()).collect::<Option<_>>();
    let node_of = |cpu: &u32| nodes.iter().find(|node| node.cpus.contains(cpu)).map(|node| node.node);
    let cpus = case.counting.iter().flat_map(|trial| &trial.outcome.engine.cpus);
    let threads: BTreeSet<u32> = cpus.map(node_of).collect::<Option<_>>()?;
    let jobs = case.counting.iter().flat_map(|trial| &trial.outcome.engine.jobs);
    let memory = jobs.filter_map(|job| job.memory_node).collect();
    (!drives.is_empty() && !threads.is_empty()).then_some(Nodes { drives: of_drives?, threads, memory })
}

fn in_words(nodes: &Nodes, lang: Lang) -> String {
    let list = |nodes: &BTreeSet<u32>| nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let parts = [
        (lang.pick("drives", "накопители"), &nodes.drives),
        (lang.pick("threads", "потоки"), &nodes.threads),
        (lang.pick("memory", "память"), &nodes.memory),
    ];
    let parts = parts.into_iter().filter(|(_, nodes)| !nodes.is_empty());
    let text = parts.map(|(name, nodes)| format!("{name} {}", list(nodes))).collect::<Vec<_>>().join(", ");
    format!("{}: {text}", lang.pick("nodes", "узлы"))
}

/// H46: no CPU takes far more completions than its share, or is busy with interrupts.
pub fn interrupts(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let mut check = Check {
        id: CheckId::H46,
        limit: say!(
            |l| "a CPU ≤ {b} busy with interrupts",
            "процессор занят прерываниями ≤ {b}",
            b = format::percent(INTERRUPT_CPU_BUSY, l)
        ),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let stretches = stretches(run, case);
    let busiest = stretches.iter().filter_map(busiest).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((cpu, busy)) = busiest else { return check.not_measurable(too_few_samples()) };
    // A thread that the scheduler moves about is no more than one at a time.
    let threads = case.counting.iter().map(|t| (t.outcome.engine.cpus.len() as u64).min(t.outcome.engine.threads()));
    let fair = 1.0 / threads.max().unwrap_or(0).max(1) as f64;
    let largest = largest_share(&stretches);
    if largest.is_some() {
        check.limit = say!(
            |l| "a CPU ≤ {b} busy with interrupts, ≤ {n} of the drives'",
            "процессор занят прерываниями ≤ {b}, прерываний накопителей ему ≤ {n}",
            n = format::percent((INTERRUPT_SHARE * fair).min(1.0), l),
            b = format::percent(INTERRUPT_CPU_BUSY, l)
        );
    }
    let measured = Say::both(|l| {
        let busy = say_in!(
            l,
            "CPU {cpu} busy with interrupts {b}",
            "процессор {cpu} занят прерываниями {b}",
            b = format::near_limit::percent(busy, INTERRUPT_CPU_BUSY, l)
        );
        match largest {
            Some((cpu, share)) => {
                let share = format::near_limit::percent(share, (INTERRUPT_SHARE * fair).min(1.0), l);
                busy + &say_in!(
                    l,
                    "; CPU {cpu} took {share} of the drives'",
                    "; процессору {cpu} досталось {share} прерываний накопителей"
                )
            }
            None => busy,
        }
    });
    let uneven = largest.is_some_and(|(_, share)| share > INTERRUPT_SHARE * fair);
    if !uneven && busy < INTERRUPT_CPU_BUSY {
        return check.pass(measured);
    }
    check.measured(measured).warn(say!(
        "One CPU takes the completions for many load threads: the rate may be that of this CPU. Look at /proc/interrupts and `irqbalance`, and at the number of queues of the driver.",
        "Один процессор принимает завершения для многих потоков нагрузки: скорость может быть его скоростью. Посмотрите /proc/interrupts, `irqbalance` и число очередей драйвера."
    ))
}

/// The CPU that spent the largest part of a stretch in interrupts, with that part.
fn busiest(stretch: &Stretch<'_>) -> Option<(u32, f64)> {
    let [first, .., last] = stretch.samples else { return None };
    let length = stretch.length().0 as f64;
    let before = first.cpus.as_ref()?;
    let spent = last.cpus.as_ref()?.iter().filter_map(|cpu| {
        let earlier = before.iter().find(|known| known.cpu == cpu.cpu)?;
        let of = |now: u64, then: u64| now.saturating_sub(then) as f64;
        Some((cpu.cpu, (of(cpu.irq_ns, earlier.irq_ns) + of(cpu.softirq_ns, earlier.softirq_ns)) / length))
    });
    spent.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The CPU that took most interrupts of the drives over all stretches, with its share; `None` where they cannot be told, or are few.
fn largest_share(stretches: &[Stretch<'_>]) -> Option<(u32, f64)> {
    let told = |sample: &Sample| sample.interrupts.as_ref().filter(|found| !found.lines.is_empty()).cloned();
    let cpus: BTreeSet<u32> = told(stretches.first()?.samples.first()?)?.cpus.iter().map(|cpu| cpu.cpu).collect();
    let taken = |cpu: u32| {
        let of = |sample: &Sample| Some(told(sample)?.cpus.iter().find(|c| c.cpu == cpu)?.target);
        Some((cpu, stretch::sum(stretches, |stretch| stretch.growth(of))?))
    };
    let taken: Vec<(u32, u64)> = cpus.into_iter().filter_map(taken).collect();
    let all = taken.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    let (cpu, most) = taken.into_iter().max_by_key(|(_, count)| *count)?;
    (all >= INTERRUPTS_JUDGED).then(|| (cpu, most as f64 / all as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::run;
    use crate::trials::by_case;
    use stend_record::observed::TrialOutcome;
    use stend_record::sample::{CpuInterrupts, InterruptLine, Interrupts};

    /// A machine of two nodes of four CPUs, with the drive on the first; threads and memory are as given.
    fn on_two_nodes(drive: Option<i32>, cpus: &[u32], memory: u32) -> CheckResult {
        let cpus = cpus.to_vec();
        let mut record = run()
            .trial(0)
            .change(move |outcome, _| {
                outcome.engine.cpus = cpus;
                outcome.engine.jobs[0].memory_node = Some(memory);
            })
            .done()
            .record();
        let node = |node: u32| NumaNode { node, cpus: (node * 4..node * 4 + 4).collect() };
        record.load_mut().facts.as_mut().unwrap().numa_nodes = vec![node(0), node(1)];
        record.load_mut().targets[0].devices.iter_mut().for_each(|device| device.numa_node = drive);
        numa(&record, &by_case(&record)[0])
    }

    #[test]
    fn h45_everything_on_one_node_passes() {
        let found = on_two_nodes(Some(0), &[1, 3], 0);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Pass, "nodes: drives 0, threads 0, memory 0")
        );
    }

    #[test]
    fn h45_threads_or_memory_beyond_the_link_are_a_warning() {
        let threads = on_two_nodes(Some(0), &[1, 5], 0);
        assert_eq!((threads.status, threads.measured.ru.contains("потоки 0, 1")), (CheckStatus::Warn, true));
        assert_eq!(on_two_nodes(Some(0), &[1], 1).status, CheckStatus::Warn);
        assert_eq!(on_two_nodes(Some(1), &[1], 0).status, CheckStatus::Warn);
    }

    #[test]
    fn h45_an_unknown_node_is_not_measurable_and_one_node_does_not_ask() {
        assert_eq!(on_two_nodes(None, &[1], 0).status, CheckStatus::NotMeasurable);
        assert_eq!(on_two_nodes(Some(0), &[], 0).status, CheckStatus::NotMeasurable);
        let one = run().trial(0).done().record();
        assert_eq!(numa(&one, &by_case(&one)[0]).status, CheckStatus::NotApplicable);
    }

    /// A run of so many load threads in which CPU n took `share(n)` interrupts per sample, and spent `softirq_ms` in each half second.
    fn h46(threads: u32, share: fn(u32) -> u64, softirq_ms: u64) -> CheckResult {
        h46_on((0..threads).collect(), threads, share, softirq_ms)
    }

    /// The same of threads that were seen on these CPUs.
    fn h46_on(cpus: Vec<u32>, threads: u32, share: fn(u32) -> u64, softirq_ms: u64) -> CheckResult {
        let engine = move |outcome: &mut TrialOutcome| {
            let job = outcome.engine.jobs[0];
            outcome.engine.cpus = cpus;
            outcome.engine.jobs = vec![job; threads as usize];
        };
        let mut record = run().trial(0).change(move |outcome, _| engine(outcome)).done().record();
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            let at = at as u64;
            let cpus = (0..8).map(|cpu| CpuInterrupts { cpu, all: 0, target: at * share(cpu) }).collect();
            sample.interrupts =
                Some(Interrupts { cpus, lines: vec![InterruptLine { name: "nvme0q1".into(), count: 0 }] });
            sample.cpus.as_mut().unwrap()[3].softirq_ns = at * softirq_ms * 1_000_000;
        }
        interrupts(&record, &by_case(&record)[0])
    }

    #[test]
    fn h46_completions_on_all_cpus_pass_and_one_thread_needs_one_cpu() {
        assert_eq!(h46(8, |_| 1000, 10).status, CheckStatus::Pass);
        let alone = h46(1, |cpu| if cpu == 2 { 5000 } else { 0 }, 10);
        assert_eq!(alone.status, CheckStatus::Pass);
        let moved = h46_on((0..8).collect(), 1, |cpu| if cpu == 2 { 5000 } else { 0 }, 10);
        assert_eq!(moved.status, CheckStatus::Pass, "one thread, wherever the scheduler takes it");
        assert!(alone.measured.en.ends_with("CPU 2 took 100.0 % of the drives'"), "{}", alone.measured.en);
    }

    #[test]
    fn h46_one_cpu_for_eight_threads_or_one_drowned_in_interrupts_is_a_warning() {
        assert_eq!(h46(8, |cpu| if cpu == 2 { 5000 } else { 100 }, 10).status, CheckStatus::Warn);
        assert_eq!(h46(1, |_| 1000, 480).status, CheckStatus::Warn);
    }

    #[test]
    fn h46_a_few_interrupts_say_nothing_and_without_cpu_times_nobody_knows() {
        assert_eq!(h46(8, |cpu| if cpu == 2 { 5 } else { 0 }, 10).status, CheckStatus::Pass);
        let mut record = run().trial(0).done().record();
        record.load_mut().samples.iter_mut().for_each(|sample| sample.cpus = None);
        assert_eq!(interrupts(&record, &by_case(&record)[0]).status, CheckStatus::NotMeasurable);
    }
}
