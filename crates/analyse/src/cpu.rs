//! How busy the CPUs of a machine were between two looks.

use stend_record::sample::CpuTimes;

/// Busy part of the time that passed on all CPUs; waiting for I/O is idle.
pub fn busy(before: &[CpuTimes], after: &[CpuTimes]) -> Option<f64> {
    let total = |cpus: &[CpuTimes], of: fn(&CpuTimes) -> [u64; 7], from: usize| -> f64 {
        cpus.iter().flat_map(|c| of(c).into_iter().skip(from)).map(|ns| ns as f64).sum()
    };
    // Idle states first, so that they can be skipped.
    let states: fn(&CpuTimes) -> [u64; 7] =
        |c| [c.idle_ns, c.iowait_ns, c.user_ns, c.system_ns, c.irq_ns, c.softirq_ns, c.steal_ns];
    let all = total(after, states, 0) - total(before, states, 0);
    let busy = total(after, states, 2) - total(before, states, 2);
    (before.len() == after.len() && all > 0.0).then(|| (busy / all).clamp(0.0, 1.0))
}

/// Part of the time of all CPUs that went into one state.
pub fn share_of(before: &[CpuTimes], after: &[CpuTimes], state: fn(&CpuTimes) -> u64) -> Option<f64> {
    let all = |c: &CpuTimes| {
        let states = [c.idle_ns, c.iowait_ns, c.user_ns, c.system_ns, c.irq_ns, c.softirq_ns, c.steal_ns];
        states.iter().map(|ns| *ns as f64).sum::<f64>()
    };
    let grown = |of: &dyn Fn(&CpuTimes) -> f64| -> f64 {
        after.iter().map(of).sum::<f64>() - before.iter().map(of).sum::<f64>()
    };
    let (time, part) = (grown(&all), grown(&|c| state(c) as f64));
    (before.len() == after.len() && time > 0.0).then(|| (part / time).clamp(0.0, 1.0))
}
