//! Where threads run and what it costs them: allowed CPUs, pinning, CPU time and run delay, and the
//! kernel threads that io_uring starts in our name. Must not choose CPUs: the load engine does.

use rustix::fs::{Mode, OFlags};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::io;

/// CPU numbers this process may run on, ascending. Fails where the kernel knows more than 1024 CPUs.
pub fn allowed() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

/// Keeps the calling thread on one CPU.
pub fn pin_current(cpu: u32) -> io::Result<()> {
    keep_current_on(&[cpu])
}

/// Keeps the calling thread on these CPUs.
pub fn keep_current_on(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Does something from where the process may run but the calling thread may not, so that a thread that comes of it and
/// inherits its CPUs is not in the way of the caller; from anywhere if there is no such place. The caller's CPUs are as
/// before afterwards.
pub(crate) fn elsewhere<T>(act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let own = sched_getaffinity(None)?;
    let mut others = sched_getaffinity(Some(rustix::process::getpid()))?;
    let all = others;
    (0..CpuSet::MAX_CPU).filter(|&cpu| own.is_set(cpu)).for_each(|cpu| others.unset(cpu));
    sched_setaffinity(None, if others.count() > 0 { &others } else { &all })?;
    let result = act();
    sched_setaffinity(None, &own)?;
    result
}

/// CPUs on which something was seen. Noting one neither allocates nor enters the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpusSeen(CpuSet);

impl CpusSeen {
    /// Notes the CPU that the calling thread runs on now; one beyond the 1024 that can be told is left out.
    pub fn note_current(&mut self) {
        let cpu = sched_getcpu();
        if cpu < CpuSet::MAX_CPU {
            self.0.set(cpu);
        }
    }

    /// Notes those of another set, too.
    pub fn add(&mut self, other: &CpusSeen) {
        (0..CpuSet::MAX_CPU).filter(|&cpu| other.0.is_set(cpu)).for_each(|cpu| self.0.set(cpu));
    }

    /// Their numbers, ascending.
    pub fn list(&self) -> Vec<u32> {
        (0..CpuSet::MAX_CPU).filter(|&cpu| self.0.is_set(cpu)).map(|cpu| cpu as u32).collect()
    }
}

/// What the scheduler gave a thread since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadTimes {
    /// Time on a CPU, ns; up to one scheduler tick old.
    pub cpu_ns: u64,
    /// Time it was runnable but waited for a CPU, ns.
    pub run_delay_ns: u64,
}

/// Times of the calling thread; `None` when the kernel does not keep them. Does not allocate.
pub fn thread_times() -> Option<ThreadTimes> {
    let file =
        rustix::fs::open(c"/proc/thread-self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = [0u8; 128];
    let len = rustix::io::read(&file, &mut text).ok()?;
    parse_schedstat(std::str::from_utf8(&text[..len]).ok()?)
}

/// Format: `<on CPU, ns> <run delay, ns> <timeslices>` (Linux, Documentation/scheduler/sched-stats.rst).
/// A kernel built without the accounting prints `0 0 0`; a thread that reads this has run.
fn parse_schedstat(text: &str) -> Option<ThreadTimes> {
    let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (cpu_ns, run_delay_ns, slices) = (fields.next()?.ok()?, fields.next()?.ok()?, fields.next()?.ok()?);
    (slices > 0 || cpu_ns > 0).then_some(ThreadTimes { cpu_ns, run_delay_ns })
}

/// Kernel threads that io_uring started for this process because it could not submit inline. They are
/// named `iou-wrk-<thread>` and come and go; 0 if the threads cannot be listed.
pub fn kernel_workers() -> u32 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let is_worker =
        |task: std::path::PathBuf| std::fs::read(task.join("comm")).is_ok_and(|name| name.starts_with(b"iou-wrk-"));
    tasks.flatten().filter(|task| is_worker(task.path())).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_is_allowed_exactly_its_cpu() {
        std::thread::spawn(|| {
            let cpu = *allowed().unwrap().last().unwrap();
            pin_current(cpu).unwrap();
            assert_eq!(allowed().unwrap(), [cpu]);
            let (mut seen, mut all) = (CpusSeen::default(), CpusSeen::default());
            seen.note_current();
            all.add(&seen);
            assert_eq!((all.list(), CpusSeen::default().list()), (vec![cpu], vec![]));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused() {
        assert!(pin_current(1023).is_err() || allowed().unwrap().contains(&1023));
        assert!(pin_current(u32::MAX).is_err());
    }

    #[test]
    fn schedstat_is_read_and_a_kernel_without_it_gives_nothing() {
        assert_eq!(parse_schedstat("84021 17 3\n"), Some(ThreadTimes { cpu_ns: 84_021, run_delay_ns: 17 }));
        assert_eq!(parse_schedstat("0 0 0\n"), None);
        assert_eq!(parse_schedstat("84021\n"), None);
        assert_eq!(parse_schedstat(""), None);
    }

    #[test]
    fn cpu_time_of_a_thread_never_shrinks() {
        let Some(first) = thread_times() else { return };
        assert!(thread_times().unwrap().cpu_ns >= first.cpu_ns);
    }
}
