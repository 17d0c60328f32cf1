//! What the kernel allows and how it is set: io_uring, limits, frequency governor, clock source. Reads only.

use super::{cured, fine, wrong};
use crate::roots::{Roots, names, number, text};
use stend_base::{Bytes, Lang, Say, format, say};
use stend_record::{CheckupItem, Level};
use stend_sys::Obstacle;
use stend_sys::obstacle::{MORE_LOCKED_MEMORY, MORE_OPEN_FILES, ShellCommand};

/// Locked memory from which buffers of the built-in suite are registered with room to spare: its largest
/// case has 8 MiB in flight, which a limit of 8 MiB, the default of systemd, no longer takes.
const LOCKED_MEMORY: Bytes = Bytes::mib(16);
/// Open files that are the default everywhere: a job needs two and the rest of the tool about thirty.
const OPEN_FILES: u64 = 1024;
/// Requests of kernel AIO that a case of 32 jobs with 128 in flight needs.
const AIO_REQUESTS: u64 = 4096;

/// Whether io_uring can be used.
pub(super) fn ring(probed: &Result<(), Obstacle>, root: bool) -> CheckupItem {
    let Err(obstacle) = probed else {
        return fine("io_uring", say!("io_uring works", "io_uring работает"));
    };
    let affects = say!(
        "Load goes through another interface, which costs more CPU per I/O: fast drives show less than they can.",
        "Нагрузка пойдёт через другой интерфейс, который дороже для процессора: быстрые накопители покажут меньше, чем могут."
    );
    let item = wrong("io_uring", Level::Warn, obstacle.cause.clone(), affects);
    match &obstacle.cure {
        Some(cure) => cured(item, cure, root),
        None => item,
    }
}

/// Soft limit of this process by its name in `/proc/PID/limits`; `u64::MAX` is unlimited.
fn limit(roots: &Roots, name: &str) -> Option<u64> {
    let limits = text(roots.proc.join("self/limits"))?;
    let values = limits.lines().find_map(|line| line.strip_prefix(name))?;
    match values.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        value => value.parse().ok(),
    }
}

/// Memory that may be registered with the kernel. Root is not limited by it.
pub(super) fn locked_memory(roots: &Roots, root: bool) -> CheckupItem {
    const ID: &str = "locked_memory";
    let Some(limit) = limit(roots, "Max locked memory") else {
        return fine(ID, say!("RLIMIT_MEMLOCK cannot be seen", "RLIMIT_MEMLOCK не виден"));
    };
    if root || limit == u64::MAX {
        return fine(ID, say!("RLIMIT_MEMLOCK does not limit", "RLIMIT_MEMLOCK не ограничивает"));
    }
    let size = |lang| format::bytes(Bytes(limit), lang);
    let (en, ru) = (size(Lang::En), size(Lang::Ru));
    let found = say!("RLIMIT_MEMLOCK is {en}", "RLIMIT_MEMLOCK равен {ru}");
    if limit >= LOCKED_MEMORY.0 {
        return fine(ID, found);
    }
    let affects = say!(
        "Large buffers cannot be registered: each I/O costs more CPU.",
        "Большие буферы не удастся зарегистрировать: каждая операция обойдётся процессору дороже."
    );
    cured(wrong(ID, Level::Warn, found, affects), &MORE_LOCKED_MEMORY, root)
}

/// Files that may be open at once.
pub(super) fn open_files(roots: &Roots, root: bool) -> CheckupItem {
    const ID: &str = "open_files";
    let Some(limit) = limit(roots, "Max open files") else {
        return fine(ID, say!("RLIMIT_NOFILE cannot be seen", "RLIMIT_NOFILE не виден"));
    };
    let shown = if limit == u64::MAX { "∞".to_string() } else { limit.to_string() };
    let found = say!("RLIMIT_NOFILE is {shown}", "RLIMIT_NOFILE равен {shown}");
    if limit >= OPEN_FILES {
        return fine(ID, found);
    }
    let affects = say!("Cases with hundreds of jobs will not start.", "Случаи с сотнями заданий не запустятся.");
    cured(wrong(ID, Level::Warn, found, affects), &MORE_OPEN_FILES, root)
}

/// Requests of kernel AIO that are left.
pub(super) fn aio_requests(roots: &Roots, root: bool) -> CheckupItem {
    const ID: &str = "aio_requests";
    let setting = |name: &str| number(roots.proc.join("sys/fs").join(name));
    let Some(max) = setting("aio-max-nr") else {
        return fine(ID, say!("this kernel has no kernel AIO", "в этом ядре нет AIO"));
    };
    let used = setting("aio-nr").unwrap_or(0);
    let found = say!("fs.aio-max-nr is {max}, {used} in use", "fs.aio-max-nr — {max}, занято {used}");
    if max.saturating_sub(used) >= AIO_REQUESTS {
        return fine(ID, found);
    }
    let affects = say!(
        "The backend `libaio` may not start; io_uring does not need it.",
        "Способ `libaio` может не запуститься; io_uring это не касается."
    );
    cured(wrong(ID, Level::Warn, found, affects), &ShellCommand::AsRoot("sysctl -w fs.aio-max-nr=1048576"), root)
}

/// How the frequency of the CPUs is chosen.
pub(super) fn governor(roots: &Roots, root: bool) -> CheckupItem {
    const ID: &str = "governor";
    let cpus = roots.sys.join("devices/system/cpu");
    let mut set: Vec<String> =
        names(&cpus).iter().filter_map(|cpu| text(cpus.join(cpu).join("cpufreq/scaling_governor"))).collect();
    set.sort();
    set.dedup();
    let list = set.join(", ");
    if set.is_empty() {
        return fine(
            ID,
            say!(
                "the CPU frequency is not governed from here (usual in a virtual machine)",
                "частота процессора отсюда не управляется (обычно для виртуальной машины)"
            ),
        );
    }
    let found = say!("CPU frequency governor: {list}", "управление частотой процессора: {list}");
    if set == ["performance"] {
        return fine(ID, found);
    }
    let affects = say!(
        "Latency at low queue depth depends on how fast the CPUs wake up, and differs from run to run.",
        "Задержка при малой глубине очереди зависит от того, как быстро просыпаются процессоры, и меняется от прогона к прогону."
    );
    let cure = ShellCommand::AsRoot(
        "sh -c 'for g in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > $g; done'",
    );
    cured(wrong(ID, Level::Warn, found, affects), &cure, root)
}

/// Clock sources that are read by a system call or through a slow device, not in user space.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "xen", "jiffies", "refined-jiffies"];

/// What the clock is read from.
pub(super) fn clock_source(roots: &Roots, root: bool) -> CheckupItem {
    const ID: &str = "clock_source";
    let clock = roots.sys.join("devices/system/clocksource/clocksource0");
    let Some(current) = text(clock.join("current_clocksource")) else {
        return fine(ID, say!("the clock source cannot be seen", "источник времени не виден"));
    };
    let found: Say = say!("clock source: {current}", "источник времени: {current}");
    if !SLOW_CLOCKS.contains(&current.as_str()) {
        return fine(ID, found);
    }
    let affects = say!(
        "Each reading of the clock costs a microsecond or so: it adds to latency and limits the rate.",
        "Каждое чтение часов стоит порядка микросекунды: это добавляется к задержке и ограничивает скорость."
    );
    let item = wrong(ID, Level::Warn, found, affects);
    let available = text(clock.join("available_clocksource")).unwrap_or_default();
    // Where the kernel has rejected the TSC, no command brings it back.
    if !available.split_whitespace().any(|name| name == "tsc") {
        return item;
    }
    let cure =
        ShellCommand::AsRoot("sh -c 'echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource'");
    cured(item, &cure, root)
}
