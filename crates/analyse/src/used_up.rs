//! What trials took of a host, as its samples tell, and of what nothing was left. Must not judge trials.

use crate::cost::stretch;
use crate::cpu::busy;
use crate::findings::{Checked, UsedUp};
use crate::limits::{BOUND_AT, MEMORY_WAIT};
use stend_base::{Lang, Nanos, Share, format, say_in};
use stend_record::Sample;
use stend_stats::mean;

/// Parts of the time of trials, the mean over them; `None`: the samples do not tell.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    /// In which CPUs had something to do.
    pub cpu: Option<Share>,
    /// In which the busiest drive had.
    pub drive: Option<Share>,
    /// In which something waited for memory.
    pub memory_wait: Option<Share>,
}

impl Used {
    /// In these windows on the host of these samples.
    pub fn of(samples: &[Sample], windows: &[(Nanos, Nanos)]) -> Used {
        let share = |of: &dyn Fn(&Sample, &Sample) -> Option<f64>| {
            let in_window = |(start, end): &(Nanos, Nanos)| {
                let inside = stretch(samples, *start, *end)?;
                of(inside.first()?, inside.last()?)
            };
            let each: Option<Vec<f64>> = windows.iter().map(in_window).collect();
            mean(&each?).map(|share| Share(share.clamp(0.0, 1.0)))
        };
        Used {
            cpu: share(&|a, b| busy(a.cpus.as_ref()?, b.cpus.as_ref()?)),
            drive: share(&drive),
            memory_wait: share(&|a, b| grown(a.pressure?.memory_some_ns, b.pressure?.memory_some_ns, (a, b))),
        }
    }

    /// What the samples tell of.
    pub fn checked(&self) -> Checked {
        let Used { cpu, drive, memory_wait } = self;
        Checked { cpu: cpu.is_some(), drive: drive.is_some(), memory: memory_wait.is_some(), own_cpu: false }
    }

    /// That of which nothing was left.
    pub fn up(&self) -> Vec<UsedUp> {
        let over = |share: Option<Share>, limit: f64| share.filter(|share| share.0 >= limit);
        let found = [
            over(self.cpu, BOUND_AT).map(UsedUp::Cpu),
            over(self.drive, BOUND_AT).map(UsedUp::Drive),
            over(self.memory_wait, MEMORY_WAIT).map(UsedUp::Memory),
        ];
        found.into_iter().flatten().collect()
    }
}

fn grown(before: Option<u64>, after: Option<u64>, (a, b): (&Sample, &Sample)) -> Option<f64> {
    Some(after?.checked_sub(before?)? as f64 / b.at.saturating_sub(a.at).0.max(1) as f64)
}

/// The busiest drive.
fn drive(a: &Sample, b: &Sample) -> Option<f64> {
    let of = |disk: &stend_record::sample::DiskCounters| {
        let after = b.disks.iter().find(|other| other.name == disk.name)?;
        grown(Some(disk.busy_ns), Some(after.busy_ns), (a, b))
    };
    a.disks.iter().filter_map(of).reduce(f64::max)
}

impl Checked {
    /// What both tell of.
    pub(crate) fn and(self, other: Checked) -> Checked {
        Checked {
            cpu: self.cpu && other.cpu,
            drive: self.drive && other.drive,
            memory: self.memory && other.memory,
            own_cpu: self.own_cpu && other.own_cpu,
        }
    }

    /// That nothing of it was used up at a number, as a sentence.
    pub(crate) fn nothing_used_up(self, at: u32, l: Lang) -> String {
        let names = [
            (self.cpu, l.pick("CPUs", "процессоры")),
            (self.drive, l.pick("drives", "накопители")),
            (self.memory, l.pick("memory", "память")),
            (self.own_cpu, l.pick("the CPU limit of the instances", "предел процессора у экземпляров")),
        ];
        let names: Vec<&str> = names.iter().filter(|(checked, _)| *checked).map(|(_, name)| *name).collect();
        if names.is_empty() {
            return say_in!(
                l,
                " There is no telemetry of the trials at {at}, so what limits is unknown.",
                " Телеметрии испытаний при {at} нет, поэтому неизвестно, чего не хватило."
            );
        }
        say_in!(
            l,
            " Telemetry shows nothing used up at {at}. Checked: {names}.",
            " По телеметрии при {at} ничего не исчерпано. Проверено: {names}.",
            names = names.join(", ")
        )
    }
}

impl UsedUp {
    pub(crate) fn words(self, l: Lang) -> String {
        let percent = |share: Share| format::percent(share.0, l);
        match self {
            UsedUp::Cpu(share) => {
                say_in!(l, "CPUs (busy {share})", "процессоры (заняты {share})", share = percent(share))
            }
            UsedUp::Drive(share) => say_in!(
                l,
                "a drive (had something to do {share} of the time)",
                "накопитель (был занят {share} времени)",
                share = percent(share)
            ),
            UsedUp::Memory(share) => say_in!(
                l,
                "memory (waited for {share} of the time)",
                "память (ждали её {share} времени)",
                share = percent(share)
            ),
            UsedUp::OwnCpu(share) => say_in!(
                l,
                "the CPU limit of the instances (held back in {share} of the periods of 100 ms)",
                "предел процессора у экземпляров (сдерживал в {share} периодов по 100 мс)",
                share = percent(share)
            ),
        }
    }
}
