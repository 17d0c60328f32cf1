//! What is done to the storage while a case is measured: at which moment, for how long, to which drive. Must not do it.

use crate::arm::line;
use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Lang, Millionths, Nanos, Say, format, say};

/// One event of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// When it comes, from the begin of the measuring window on.
    pub at: Nanos,
    /// When it is undone, counted from then; `None`: after the trial.
    pub lasts: Option<Nanos>,
    /// What is done.
    pub act: Act,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// A member of an array of md or of a pool of ZFS fails and is taken out. Undone, it comes back as a new one would, and is rebuilt.
    DriveFail(Which),
    /// A spare gets a copy of a member of an array of md or of a pool of ZFS, which works on meanwhile, and takes its place.
    DriveReplace(Which),
    /// Every I/O of a drive takes longer by this.
    DriveSlow(Which, Nanos),
    /// Every I/O of a drive fails.
    DriveError(Which),
    /// Bytes of a drive are overwritten behind the back of what keeps copies of them.
    DriveCorrupt {
        /// Which drive.
        drive: Which,
        /// Where, from the begin of what the drive keeps data in; `None`: in the middle.
        from: Option<Bytes>,
        /// How much.
        length: Bytes,
    },
    /// An array of md compares its copies, or its parity; a pool of ZFS or a btrfs all of its checksums.
    Scrub,
    /// A snapshot of what is measured is made, and stays until it is undone.
    Snapshot,
    /// The way of this number, from 1 on, to each disk that is reached over several.
    PathDown(u32),
    /// The file systems of the targets are filled up to this part.
    Fill(Millionths),
    /// A CPU of the machine is gone.
    CpuOffline(u32),
    /// A network interface is down.
    LinkDown(String),
    /// All that a network interface sends comes later by this.
    LinkDelay(String, Nanos),
    /// This part of what a network interface sends is lost.
    LinkLoss(String, Millionths),
    /// Every process of this name is killed; a command of the user starts it again.
    ProcessKill {
        /// Its name, as the kernel knows it.
        process: String,
        /// Words of the command that starts it again.
        undo: Vec<String>,
    },
    /// A command of the user; undone by another one.
    Command {
        /// Its words.
        command: Vec<String>,
        /// Words of the one that undoes it.
        undo: Vec<String>,
    },
    /// The power of the machine goes and comes back at once: whatever had not left it is gone. Nothing undoes it; the trial ends with it.
    PowerCut,
    /// A mirror of two hosts is disconnected from its peer. Undone, it connects, and the peer gets what it missed.
    PeerDown,
    /// The daemon that serves a drive is killed. Undone, it is started again with what is on the drive.
    DaemonKill(Which),
    /// The hypervisor makes a snapshot of the disks of virtual machines, which write into new files from then on. Undone, what they have
    /// written is merged into the disks.
    VmSnapshot {
        /// Which machines.
        machine: WhichMachine,
        /// Where the new files are; `None`: beside the disks.
        directory: Option<String>,
    },
    /// The hypervisor moves the disks of virtual machines, which go on meanwhile, to another directory. Undone, it moves them back.
    VmMove {
        /// Which machines.
        machine: WhichMachine,
        /// Where to.
        directory: String,
    },
    /// The hypervisor limits the disks of virtual machines otherwise. Undone, they have the limits of their file.
    VmLimit {
        /// Which machines.
        machine: WhichMachine,
        /// Most I/Os per second of each disk; `None`: any number.
        iops: Option<u32>,
        /// Most bytes per second of each disk; `None`: any number.
        bandwidth: Option<Bytes>,
    },
    /// Virtual machines move to another libvirt while they run. Undone, they move back.
    VmMigrate {
        /// Which machines.
        machine: WhichMachine,
        /// What the other libvirt is reached by.
        to: String,
        /// Most bytes per second that the memory is copied at; `None`: any number.
        bandwidth: Option<Bytes>,
        /// How long each may take; `None`: as long as its memory takes on a slow way.
        limit: Option<Nanos>,
    },
}

/// Which virtual machines of those that load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhichMachine {
    /// All of them.
    All,
    /// The one at this place among them, from 1 on.
    Number(u32),
    /// In each block the next one.
    Each,
}

impl WhichMachine {
    /// Whether the machine at this place, from 0 on, of so many is meant in a block.
    pub fn means(self, at: usize, of: usize, block: u32) -> bool {
        match self {
            WhichMachine::All => true,
            WhichMachine::Number(number) => at + 1 == number as usize,
            WhichMachine::Each => block as usize % of.max(1) == at,
        }
    }

    fn shown(self) -> Say {
        match self {
            WhichMachine::All => say!("all virtual machines", "все виртуальные машины"),
            WhichMachine::Number(number) => say!("virtual machine {number}", "виртуальная машина {number}"),
            WhichMachine::Each => {
                say!("a virtual machine, in each block the next", "виртуальная машина, в каждом блоке следующая")
            }
        }
    }
}

/// Which drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// The one with this number, from 1 on.
    Number(u32),
    /// In each block the next one.
    Each,
}

/// The file by which a CPU goes and comes.
//= linux, Documentation/ABI/testing/sysfs-devices-system-cpu
pub fn cpu_switch(cpu: u32) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/online")
}

/// A part as people wrote it, without the sign.
pub fn percent(part: Millionths) -> Say {
    let plain = part.as_percent().to_string();
    Say { ru: plain.replace('.', ","), en: plain }
}

/// Words for `tc` that have packets come later.
//= iproute2, tc-netem(8): "delay TIME", in any unit of time
pub fn delayed(by: Nanos) -> String {
    format!("delay {}ms", by.0 / Nanos::millis(1).0)
}

/// Words for `tc` that have packets be lost.
//= iproute2, tc-netem(8): "loss random PERCENT"
pub fn lossy(part: Millionths) -> String {
    format!("loss random {}%", part.as_percent())
}

impl Which {
    /// Number of the drive in a block, of so many drives, from 0 on.
    pub fn index(self, block: u32, drives: usize) -> usize {
        match self {
            Which::Number(number) => (number as usize).saturating_sub(1),
            Which::Each => block as usize % drives.max(1),
        }
    }

    fn shown(self) -> Say {
        match self {
            Which::Number(number) => say!("drive {number}", "накопитель {number}"),
            Which::Each => say!("a drive, in each block the next", "накопитель, в каждом блоке следующий"),
        }
    }
}

impl Act {
    /// The drive that it is done to, if it is one.
    pub fn drive(&self) -> Option<Which> {
        match self {
            Act::DriveFail(which)
            | Act::DriveReplace(which)
            | Act::DriveSlow(which, _)
            | Act::DriveError(which)
            | Act::DaemonKill(which)
            | Act::DriveCorrupt { drive: which, .. } => Some(*which),
            Act::Scrub
            | Act::Snapshot
            | Act::PathDown(_)
            | Act::PeerDown
            | Act::CpuOffline(_)
            | Act::PowerCut
            | Act::Fill(_)
            | Act::LinkDown(_)
            | Act::LinkDelay(..)
            | Act::LinkLoss(..)
            | Act::ProcessKill { .. }
            | Act::VmSnapshot { .. }
            | Act::VmMove { .. }
            | Act::VmMigrate { .. }
            | Act::VmLimit { .. }
            | Act::Command { .. } => None,
        }
    }

    /// The virtual machines that the hypervisor does it to, if it is one of its.
    pub fn machine(&self) -> Option<WhichMachine> {
        match self {
            Act::VmSnapshot { machine, .. }
            | Act::VmMove { machine, .. }
            | Act::VmMigrate { machine, .. }
            | Act::VmLimit { machine, .. } => Some(*machine),
            _ => None,
        }
    }

    /// The network interface that it is done to, if it is one.
    pub fn link(&self) -> Option<&str> {
        match self {
            Act::LinkDown(link) | Act::LinkDelay(link, _) | Act::LinkLoss(link, _) => Some(link),
            Act::DriveFail(_)
            | Act::DriveReplace(_)
            | Act::DriveSlow(..)
            | Act::DriveError(_)
            | Act::DriveCorrupt { .. }
            | Act::Scrub
            | Act::Snapshot
            | Act::PathDown(_)
            | Act::PeerDown
            | Act::CpuOffline(_)
            | Act::PowerCut
            | Act::DaemonKill(_)
            | Act::Fill(_)
            | Act::ProcessKill { .. }
            | Act::VmSnapshot { .. }
            | Act::VmMove { .. }
            | Act::VmMigrate { .. }
            | Act::VmLimit { .. }
            | Act::Command { .. } => None,
        }
    }

    /// What it is, e.g. `drive 3 fails`.
    pub fn say(&self) -> Say {
        match self {
            Act::DriveFail(which) => {
                let Say { en, ru } = which.shown();
                say!("{en} fails and is taken out", "{ru} отказывает и изъят")
            }
            Act::DriveReplace(which) => {
                let Say { en, ru } = which.shown();
                say!("{en} is replaced by a spare", "{ru} заменяется запасным")
            }
            Act::DriveSlow(which, by) => {
                let Say { en, ru } = which.shown();
                let (by, by_ru) = (format::latency(*by, Lang::En), format::latency(*by, Lang::Ru));
                say!("{en} is slower by {by}", "{ru} замедлен на {by_ru}")
            }
            Act::DriveError(which) => {
                let Say { en, ru } = which.shown();
                say!("{en} fails every I/O", "{ru} отвечает ошибкой на каждую операцию")
            }
            Act::DriveCorrupt { drive, length, .. } => {
                let Say { en, ru } = drive.shown();
                let (size, size_ru) = (format::bytes(*length, Lang::En), format::bytes(*length, Lang::Ru));
                say!("{en} has {size} of its data overwritten", "{ru}: затёрто {size_ru} данных")
            }
            Act::Scrub => say!("the array is scrubbed", "идёт проверка массива"),
            Act::Snapshot => say!("a snapshot is made", "сделан снимок"),
            Act::PathDown(number) => say!("path {number} is down", "путь {number} пропал"),
            Act::PeerDown => say!("the mirror loses its peer", "зеркало теряет вторую машину"),
            Act::CpuOffline(cpu) => say!("CPU {cpu} is offline", "процессор {cpu} отключён"),
            Act::PowerCut => say!("the power of the machine is cut", "питание машины отключено"),
            Act::Fill(to) => {
                let Say { en: to, ru: to_ru } = percent(*to);
                say!("the file system is filled to {to} %", "файловая система заполнена до {to_ru} %")
            }
            Act::LinkDown(link) => say!("link {link} is down", "интерфейс {link} отключён"),
            Act::LinkDelay(link, by) => {
                let (by, by_ru) = (format::latency(*by, Lang::En), format::latency(*by, Lang::Ru));
                say!("link {link} sends with a delay of {by}", "отправка через интерфейс {link} задержана на {by_ru}")
            }
            Act::LinkLoss(link, part) => {
                let Say { en: part, ru: part_ru } = percent(*part);
                say!("link {link} loses {part} % of what it sends", "интерфейс {link} теряет {part_ru} % отправляемого")
            }
            Act::ProcessKill { process, .. } => say!("`{process}` is killed", "убит процесс `{process}`"),
            Act::Command { command, .. } => Say::same(format!("`{}`", line(command))),
            Act::DaemonKill(which) => {
                let Say { en, ru } = which.shown();
                say!("{en}: its daemon is killed", "{ru}: убит обслуживающий его демон")
            }
            Act::VmSnapshot { machine, .. } => {
                let Say { en, ru } = machine.shown();
                say!("{en}: a snapshot of the disks", "{ru}: снимок дисков")
            }
            Act::VmMove { machine, directory } => {
                let Say { en, ru } = machine.shown();
                say!("{en}: the disks move to `{directory}`", "{ru}: диски переезжают в `{directory}`")
            }
            Act::VmMigrate { machine, to, .. } => {
                let Say { en, ru } = machine.shown();
                say!("{en}: live migration to `{to}`", "{ru}: живая миграция в `{to}`")
            }
            Act::VmLimit { machine, iops, bandwidth } => {
                let Say { en, ru } = machine.shown();
                let [limit, limit_ru] = [Lang::En, Lang::Ru].map(|lang| disk_limit((*iops, *bandwidth), lang));
                say!("{en}: each disk does {limit} at most", "{ru}: предел каждого диска — {limit_ru}")
            }
        }
    }

    /// What it changes of the host beyond the storage, as lines for people: only with permission.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Act::CpuOffline(cpu) => vec![format!("echo 0 > {}", cpu_switch(*cpu))],
            Act::LinkDown(link) => vec![format!("ip link set dev {link} down")],
            Act::LinkDelay(link, by) => vec![format!("tc qdisc add dev {link} root netem {}", delayed(*by))],
            Act::LinkLoss(link, part) => vec![format!("tc qdisc add dev {link} root netem {}", lossy(*part))],
            Act::ProcessKill { process, undo } => vec![format!("pkill -KILL -x {process}"), line(undo)],
            Act::Command { command, undo } => vec![line(command), line(undo)],
            Act::DriveFail(_)
            | Act::DriveReplace(_)
            | Act::DriveSlow(..)
            | Act::DriveError(_)
            | Act::DriveCorrupt { .. }
            | Act::Scrub
            | Act::Snapshot
            | Act::PathDown(_)
            | Act::PeerDown
            | Act::PowerCut
            | Act::DaemonKill(_)
            | Act::VmSnapshot { .. }
            | Act::VmMove { .. }
            | Act::VmMigrate { .. }
            | Act::VmLimit { .. }
            | Act::Fill(_) => Vec::new(),
        }
    }

    /// What undoing it is called.
    pub fn say_undone(&self) -> Say {
        match self {
            Act::DriveFail(_) => say!("a new drive is put in", "вставлен новый накопитель"),
            Act::DriveReplace(_) => say!("there is a spare again", "запасной накопитель снова есть"),
            Act::DriveSlow(..) | Act::DriveError(_) => {
                say!("the drive is as it was", "накопитель снова прежний")
            }
            Act::DriveCorrupt { .. } => {
                say!("the data of the drive are rewritten", "данные накопителя переписываются заново")
            }
            Act::DaemonKill(_) => say!("the daemon is started again", "демон снова запущен"),
            Act::Scrub => say!("the scrub ends", "проверка массива прекращена"),
            Act::Snapshot => say!("the snapshot is removed", "снимок удалён"),
            Act::PathDown(number) => say!("path {number} is back", "путь {number} вернулся"),
            Act::PeerDown => say!("the peer is back", "вторая машина вернулась"),
            Act::CpuOffline(cpu) => say!("CPU {cpu} is back", "процессор {cpu} снова включён"),
            Act::PowerCut => say!("the power is back", "питание снова есть"),
            Act::Fill(_) => say!("the file that filled it is removed", "заполнивший её файл удалён"),
            Act::LinkDown(link) => say!("link {link} is up", "интерфейс {link} снова включён"),
            Act::LinkDelay(link, _) | Act::LinkLoss(link, _) => {
                say!("link {link} is as it was", "интерфейс {link} снова прежний")
            }
            Act::ProcessKill { undo, .. } | Act::Command { undo, .. } => Say::same(format!("`{}`", line(undo))),
            Act::VmSnapshot { .. } => {
                say!("the snapshot is merged into the disks", "снимок сливается с дисками")
            }
            Act::VmMove { .. } => say!("the disks move back", "диски переезжают обратно"),
            Act::VmMigrate { .. } => say!("the machines migrate back", "машины мигрируют обратно"),
            Act::VmLimit { .. } => say!("the disks have their own limits again", "у дисков снова свои пределы"),
        }
    }

    /// What the hypervisor has done, or undone, and in which time where it is one that counts.
    pub fn say_hypervised(&self, undone: bool, took: Nanos) -> Say {
        let [took, took_ru] = [Lang::En, Lang::Ru].map(|lang| format::latency(took, lang));
        match (self, undone) {
            (Act::VmSnapshot { .. }, false) => say!("the snapshot was taken in {took}", "снимок сделан за {took_ru}"),
            (Act::VmSnapshot { .. }, true) => {
                say!("the snapshot was merged in {took}", "снимок слит с дисками за {took_ru}")
            }
            (Act::VmMove { .. }, false) => say!("the disks were moved in {took}", "диски перенесены за {took_ru}"),
            (Act::VmMove { .. }, true) => say!("the disks were moved back in {took}", "диски возвращены за {took_ru}"),
            (Act::VmMigrate { .. }, false) => {
                say!("the machines migrated in {took}", "машины мигрировали за {took_ru}")
            }
            (Act::VmMigrate { .. }, true) => {
                say!("the machines migrated back in {took}", "машины мигрировали обратно за {took_ru}")
            }
            (act, false) => act.say(),
            (act, true) => act.say_undone(),
        }
    }
}

/// Limits of a disk for people.
fn disk_limit((iops, bandwidth): (Option<u32>, Option<Bytes>), lang: Lang) -> String {
    let iops = iops.map(|iops| format!("{iops}\u{a0}IOPS"));
    let second = if lang == Lang::Ru { "/с" } else { "/s" };
    let bandwidth = bandwidth.map(|bytes| format::bytes(bytes, lang) + second);
    iops.into_iter().chain(bandwidth).collect::<Vec<_>>().join(", ")
}

impl Fault {
    /// When it is over, from the begin of the measuring window on; without an end of its own that is when it comes.
    pub fn end(&self) -> Nanos {
        Nanos(self.at.0.saturating_add(self.lasts.unwrap_or_default().0))
    }

    /// Whether the trial ends with it.
    pub fn is_cut(&self) -> bool {
        self.act == Act::PowerCut
    }

    /// When and what, e.g. `20 s: drive 3 fails, for 30 s`.
    pub fn say(&self) -> Say {
        let Say { en, ru } = self.act.say();
        let span = |span: Nanos, lang| format::exact(span, lang);
        let (at, at_ru) = (span(self.at, Lang::En), span(self.at, Lang::Ru));
        match self.lasts {
            None => say!("at {at}: {en}", "на {at_ru}: {ru}"),
            Some(lasts) => {
                let (lasts, lasts_ru) = (span(lasts, Lang::En), span(lasts, Lang::Ru));
                say!("at {at}: {en}, for {lasts}", "на {at_ru}: {ru}, длительность {lasts_ru}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_meant_by_its_place_or_in_its_turn() {
        let meant = |which: WhichMachine, block| (0..3).filter(|at| which.means(*at, 3, block)).collect::<Vec<_>>();
        assert_eq!(meant(WhichMachine::All, 1), [0, 1, 2]);
        assert_eq!((meant(WhichMachine::Number(2), 0), meant(WhichMachine::Number(4), 0)), (vec![1], vec![]));
        assert_eq!((0..4).map(|block| meant(WhichMachine::Each, block)).collect::<Vec<_>>(), [[0], [1], [2], [0]]);
    }

    #[test]
    fn each_takes_the_drives_in_turn_and_a_number_is_always_the_same() {
        assert_eq!((0..5).map(|block| Which::Each.index(block, 3)).collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
        assert_eq!((0..3).map(|block| Which::Number(2).index(block, 3)).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(Which::Each.index(7, 0), 0);
    }
}
