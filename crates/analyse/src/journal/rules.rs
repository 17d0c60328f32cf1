//! The table of the journal's rules: what each is about, after how long a problem opens and closes, and what to do. Limits of a drive come
//! before ours.

use serde::Serialize;
use stend_base::{Nanos, Say, say};

/// Raised by any change of a rule, so that a problem can be traced to what found it.
pub const RULES_VERSION: &str = "8";

/// A disk that was asleep answers when it turns, which takes up to half a minute; the SCSI layer waits 30 s by default.
const SPINS_UP: Nanos = Nanos::secs(35);

/// What a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The machine: CPUs, memory.
    Node,
    /// A network interface.
    Port,
    /// A way to a drive, the link that it hangs on, or a share of another host.
    Path,
    /// A drive.
    Drive,
    /// An array of md.
    Array,
    /// A pool of ZFS.
    Pool,
    /// Temperatures.
    Temperature,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemSeverity {
    /// It costs performance or a reserve; look at it soon.
    Warning,
    /// Data or service are at risk; look at it now.
    Critical,
}

impl Category {
    /// All of them.
    pub const ALL: [Category; 7] = [
        Category::Node,
        Category::Port,
        Category::Path,
        Category::Drive,
        Category::Array,
        Category::Pool,
        Category::Temperature,
    ];

    /// Its stable word, as in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Category::Node => "node",
            Category::Port => "port",
            Category::Path => "path",
            Category::Drive => "drive",
            Category::Array => "array",
            Category::Pool => "pool",
            Category::Temperature => "temperature",
        }
    }
}

impl ProblemSeverity {
    /// Its stable word, as in JSON.
    pub fn key(self) -> &'static str {
        match self {
            ProblemSeverity::Warning => "warning",
            ProblemSeverity::Critical => "critical",
        }
    }
}

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalRule {
    /// An array lacks drives, is broken or stays inactive.
    ArrayDegraded,
    /// A device vanished.
    DriveGone,
    /// I/Os are in flight, and none completes.
    DriveStuck,
    /// Its latency departs from that of its siblings.
    DriveSlow,
    /// At or above the limit that the drive names itself.
    DriveHot,
    /// The drive itself says that it fails.
    DriveFailing,
    /// The kernel noted errors of I/Os.
    DriveErrors,
    /// Reads that could not be corrected became more.
    MediaErrors,
    /// Its rated endurance is almost used up.
    DriveWorn,
    /// No I/O can go this way.
    PathDown,
    /// A server of NFS answers nothing.
    NfsSilent,
    /// Fewer lanes than device and port could have.
    LinkNarrow,
    /// The link had to correct errors.
    LinkErrors,
    /// A pool is not as it should be.
    PoolUnhealthy,
    /// Bad packets.
    PortErrors,
    /// TCP segments have to be sent again.
    SentAgain,
    /// Almost no memory is left.
    MemoryLow,
    /// A process was killed for want of memory.
    MemoryKill,
    /// A hypervisor takes CPU time.
    CpuSteal,
}

/// What decides over a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// What it is about.
    pub category: Category,
    /// From this value on it is bad; of states, 0.
    pub from: f64,
    /// Below this value it is good again (hysteresis); of states, 0.
    pub until: f64,
    /// How long it must be bad before a problem opens.
    pub opens_after: Nanos,
    /// How long it must be good before the problem closes.
    pub closes_after: Nanos,
}

/// Every rule with its limits. Where no source is named they are chosen by eye.
pub const LIMITS: [(JournalRule, Limits); 19] = [
    // States of the kernel: there is nothing to wait for.
    (JournalRule::ArrayDegraded, state(Category::Array)),
    (JournalRule::DriveGone, state(Category::Drive)),
    (JournalRule::PathDown, state(Category::Path)),
    (JournalRule::LinkNarrow, state(Category::Path)),
    (JournalRule::PoolUnhealthy, state(Category::Pool)),
    // Half of the timeout of the SCSI layer (30 s): no healthy drive takes as long, an error handler does. A disk that turns has longer.
    (JournalRule::DriveStuck, limits(Category::Drive, 0.0, 0.0, 15, 60)),
    // As of a drive: a server that fails over may take as long, one that is well does not.
    (JournalRule::NfsSilent, limits(Category::Path, 0.0, 0.0, 15, 60)),
    // Latency as a multiple of the median of its siblings; drives of one model differ by tens of percent.
    (JournalRule::DriveSlow, limits(Category::Drive, 3.0, 2.0, 60, 300)),
    // Kelvin above the drive's own limit; it is over when it is three below.
    (JournalRule::DriveHot, limits(Category::Temperature, 0.0, -3.0, 0, 60)),
    // The word of the drive.
    (JournalRule::DriveFailing, state(Category::Drive)),
    // Percent of the rated endurance; wear does not go back, a drive that was replaced does.
    (JournalRule::DriveWorn, limits(Category::Drive, 90.0, 90.0, 0, 0)),
    // Errors are counted and do not go away: over an hour after the last one.
    (JournalRule::DriveErrors, limits(Category::Drive, 1.0, 1.0, 0, 3600)),
    (JournalRule::MediaErrors, limits(Category::Drive, 1.0, 1.0, 0, 3600)),
    // Within half a minute; now and then every link corrects one.
    (JournalRule::LinkErrors, limits(Category::Path, 10.0, 10.0, 0, 3600)),
    (JournalRule::MemoryKill, limits(Category::Node, 1.0, 1.0, 0, 3600)),
    // Per second; a cable that is bad makes many.
    (JournalRule::PortErrors, limits(Category::Port, 1.0, 0.1, 60, 600)),
    // Share of segments: from here on TCP halves its window again and again.
    (JournalRule::SentAgain, limits(Category::Port, 0.01, 0.005, 60, 600)),
    // Share of memory that is left.
    (JournalRule::MemoryLow, limits(Category::Node, 0.05, 0.08, 60, 300)),
    // Share of the time of all CPUs.
    (JournalRule::CpuSteal, limits(Category::Node, 0.1, 0.05, 60, 600)),
];

const fn state(category: Category) -> Limits {
    limits(category, 0.0, 0.0, 0, 0)
}

const fn limits(category: Category, from: f64, until: f64, opens: u64, closes: u64) -> Limits {
    Limits { category, from, until, opens_after: Nanos::secs(opens), closes_after: Nanos::secs(closes) }
}

impl JournalRule {
    /// Its limits.
    pub fn limits(self) -> Limits {
        // Every rule is in the table, which a test counts.
        LIMITS.iter().find(|(rule, _)| *rule == self).map_or(state(Category::Node), |(_, limits)| *limits)
    }

    /// How long an object must be bad before a problem opens.
    pub(super) fn opens_after(self, spins: bool) -> Nanos {
        match (self, spins) {
            (JournalRule::DriveStuck, true) => SPINS_UP,
            _ => self.limits().opens_after,
        }
    }

    /// The rule of a stable word.
    pub fn of(key: &str) -> Option<JournalRule> {
        LIMITS.iter().map(|(rule, _)| *rule).find(|rule| rule.key() == key)
    }

    /// Its stable word, as in JSON.
    pub fn key(self) -> &'static str {
        match self {
            JournalRule::ArrayDegraded => "array_degraded",
            JournalRule::DriveGone => "drive_gone",
            JournalRule::DriveStuck => "drive_stuck",
            JournalRule::DriveSlow => "drive_slow",
            JournalRule::DriveHot => "drive_hot",
            JournalRule::DriveFailing => "drive_failing",
            JournalRule::DriveErrors => "drive_errors",
            JournalRule::MediaErrors => "media_errors",
            JournalRule::DriveWorn => "drive_worn",
            JournalRule::PathDown => "path_down",
            JournalRule::NfsSilent => "nfs_silent",
            JournalRule::LinkNarrow => "link_narrow",
            JournalRule::LinkErrors => "link_errors",
            JournalRule::PoolUnhealthy => "pool_unhealthy",
            JournalRule::PortErrors => "port_errors",
            JournalRule::SentAgain => "sent_again",
            JournalRule::MemoryLow => "memory_low",
            JournalRule::MemoryKill => "memory_kill",
            JournalRule::CpuSteal => "cpu_steal",
        }
    }

    /// What it calls a problem, in few words.
    pub fn name(self) -> Say {
        match self {
            JournalRule::ArrayDegraded => say!("array without redundancy", "массив без избыточности"),
            JournalRule::DriveGone => say!("drive gone", "накопитель пропал"),
            JournalRule::DriveStuck => say!("drive does not answer", "накопитель не отвечает"),
            JournalRule::DriveSlow => say!("drive slower than its siblings", "накопитель медленнее соседей"),
            JournalRule::DriveHot => say!("drive too warm", "накопитель перегрет"),
            JournalRule::DriveFailing => say!("drive fails by its own word", "накопитель сам сообщает о неисправности"),
            JournalRule::DriveErrors => say!("I/O errors", "ошибки ввода-вывода"),
            JournalRule::MediaErrors => say!("media errors", "ошибки носителя"),
            JournalRule::DriveWorn => say!("drive worn", "износ накопителя"),
            JournalRule::PathDown => say!("path down", "путь не работает"),
            JournalRule::NfsSilent => say!("NFS server does not answer", "сервер NFS не отвечает"),
            JournalRule::LinkNarrow => say!("link narrower than possible", "шина уже возможной"),
            JournalRule::LinkErrors => say!("errors on the link", "ошибки на шине"),
            JournalRule::PoolUnhealthy => say!("pool not healthy", "пул неисправен"),
            JournalRule::PortErrors => say!("bad packets", "повреждённые пакеты"),
            JournalRule::SentAgain => say!("segments sent again", "повторные передачи"),
            JournalRule::MemoryLow => say!("memory almost used up", "память почти исчерпана"),
            JournalRule::MemoryKill => say!("process killed for want of memory", "процесс убит из-за нехватки памяти"),
            JournalRule::CpuSteal => say!("CPU time taken by the hypervisor", "гипервизор отнимает процессор"),
        }
    }

    /// What to do, in one sentence.
    pub fn advice(self) -> Say {
        match self {
            JournalRule::ArrayDegraded => say!(
                "Replace the failed drive and watch the rebuild with `cat /proc/mdstat`.",
                "Замените отказавший накопитель и следите за восстановлением: `cat /proc/mdstat`."
            ),
            JournalRule::DriveGone => say!(
                "Look for its last errors with `dmesg`, and check its slot, cable and power.",
                "Посмотрите последние ошибки в `dmesg`, проверьте слот, кабель и питание."
            ),
            JournalRule::DriveStuck => say!(
                "Look into `dmesg` for timeouts and resets, and take the drive out of service if they repeat.",
                "Посмотрите в `dmesg` таймауты и сбросы; если они повторяются, выведите накопитель из работы."
            ),
            JournalRule::DriveSlow => say!(
                "Compare its health with that of its siblings: `stend inspect` shows wear, errors and temperature.",
                "Сравните его состояние с соседями: `stend inspect` покажет износ, ошибки и температуру."
            ),
            JournalRule::DriveHot => say!(
                "Check fans and airflow; above its limit the drive slows itself down.",
                "Проверьте вентиляторы и обдув: выше предела накопитель сам себя замедляет."
            ),
            JournalRule::DriveFailing => say!(
                "Save what is on it and replace it; `smartctl -a` shows what it reports.",
                "Сохраните данные и замените накопитель; подробности покажет `smartctl -a`."
            ),
            JournalRule::DriveErrors => say!(
                "Look at `dmesg` and `smartctl -a`; check cable and power, replace the drive if errors go on.",
                "Посмотрите `dmesg` и `smartctl -a`; проверьте кабель и питание, при новых ошибках замените накопитель."
            ),
            JournalRule::MediaErrors => say!(
                "Scrub the array or pool above it, and replace the drive if the number grows again.",
                "Проверьте массив или пул над ним; если число вырастет ещё, замените накопитель."
            ),
            JournalRule::DriveWorn => say!(
                "Plan its replacement; the warranty ends at 100 %.",
                "Запланируйте замену; при 100 % заканчивается гарантия."
            ),
            JournalRule::PoolUnhealthy => say!(
                "`zpool status` names the device and what to do.",
                "`zpool status` назовёт устройство и нужное действие."
            ),
            JournalRule::MemoryLow | JournalRule::MemoryKill => say!(
                "See in `top` or, after a kill, in `dmesg` what took the memory; give the machine more or the programs less.",
                "Посмотрите в `top`, а после завершения процесса в `dmesg`, кто занял память; добавьте её или ограничьте программы."
            ),
            JournalRule::CpuSteal => say!(
                "Move the machine to a less busy host or reserve CPUs for it: its latencies include these waits.",
                "Перенесите машину на менее занятый хост или закрепите за ней процессоры: задержки включают это ожидание."
            ),
            JournalRule::PathDown
            | JournalRule::NfsSilent
            | JournalRule::LinkNarrow
            | JournalRule::LinkErrors
            | JournalRule::PortErrors
            | JournalRule::SentAgain => self.advice_about_ways(),
        }
    }

    /// The same for rules about what leads to drives and to other hosts; the last one is about segments that are sent again.
    fn advice_about_ways(self) -> Say {
        match self {
            JournalRule::PathDown => say!(
                "Check cable, port and target of this path; the drive has one way less.",
                "Проверьте кабель, порт и цель этого пути: у накопителя одним путём меньше."
            ),
            JournalRule::NfsSilent => say!(
                "Check server and network; programs that use the share wait until the server answers.",
                "Проверьте сервер и сеть: программы, которым нужен этот ресурс, ждут ответа сервера."
            ),
            JournalRule::LinkNarrow | JournalRule::LinkErrors => say!(
                "Reseat the drive or its adapter, and check slot, riser and cable.",
                "Переставьте накопитель или адаптер; проверьте слот, переходник и кабель."
            ),
            JournalRule::PortErrors => say!(
                "Replace cable or transceiver, and compare with the counters of the switch.",
                "Замените кабель или трансивер и сравните со счётчиками коммутатора."
            ),
            _ => say!(
                "Look for losses on the way: errors and drops of ports, full buffers of switches, a wrong MTU.",
                "Ищите потери по пути: ошибки и отбросы на портах, полные буферы коммутаторов, неверный MTU."
            ),
        }
    }
}
