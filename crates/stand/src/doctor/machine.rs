//! The machine itself: its processor, our rights, and the programs at hand. Reads only.

use super::{cured, fine, wrong};
use crate::roots::{Roots, names, text};
use std::path::PathBuf;
use stend_base::{Say, say};
use stend_record::{CheckupItem, Level};
use stend_sys::obstacle::ShellCommand;

/// What x86-64-v2 adds to the baseline, as `/proc/cpuinfo` spells it (`pni` is SSE3). Released binaries are
/// built for it. Source: x86-64 psABI, "Micro-Architecture Levels".
const X86_64_V2: [&str; 7] = ["cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"];

/// Whether the kernel shows itself where everything looks.
pub(super) fn kernel_files(roots: &Roots) -> CheckupItem {
    const ID: &str = "kernel_files";
    let missing: Vec<&str> = [("/proc", roots.proc.join("self/stat")), ("/sys", roots.sys.join("class"))]
        .into_iter()
        .filter(|(_, file)| !file.exists())
        .map(|(root, _)| root)
        .collect();
    let list = missing.join(", ");
    let cure = match missing.as_slice() {
        [] => return fine(ID, say!("/proc and /sys are there", "/proc и /sys на месте")),
        ["/sys"] => ShellCommand::AsRoot("mount -t sysfs sysfs /sys"),
        _ => ShellCommand::AsRoot("mount -t proc proc /proc"),
    };
    let affects = say!(
        "Stend can recognise neither targets nor their users, and has no telemetry.",
        "Stend не может распознать ни объекты, ни тех, кто ими пользуется; телеметрии нет."
    );
    // Without `/proc` it cannot be told who we are; the command is given as root gives it.
    cured(wrong(ID, Level::Must, say!("not mounted: {list}", "не смонтировано: {list}"), affects), &cure, true)
}

/// Whether this binary runs on a processor that it was built for.
pub(super) fn processor(roots: &Roots, arch: &str) -> CheckupItem {
    const ID: &str = "processor";
    let machine = text(roots.proc.join("sys/kernel/arch"));
    if let Some(machine) = machine.filter(|machine| !same_family(machine, arch)) {
        return wrong(
            ID,
            Level::Must,
            say!(
                "this binary is for {arch}, the machine is {machine}",
                "программа собрана для {arch}, а машина — {machine}"
            ),
            say!(
                "Every instruction is emulated, so results would be those of the emulator. Take the binary for {machine}.",
                "Каждая команда эмулируется, и результаты относились бы к эмулятору. Возьмите программу для {machine}."
            ),
        );
    }
    let info = text(roots.proc.join("cpuinfo")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags")).unwrap_or_default();
    let missing: Vec<&str> =
        X86_64_V2.into_iter().filter(|flag| !flags.split_whitespace().any(|f| f == *flag)).collect();
    if arch == "x86_64" && !flags.is_empty() && !missing.is_empty() {
        let list = missing.join(", ");
        return wrong(
            ID,
            Level::Must,
            say!("the processor is below x86-64-v2: no {list}", "процессор ниже x86-64-v2: нет {list}"),
            say!(
                "The released binary does not run here; build it from source, or choose the CPU model `host` for this virtual machine.",
                "Готовая программа здесь не запустится; соберите её из исходного кода или выберите для виртуальной машины модель процессора `host`."
            ),
        );
    }
    fine(ID, say!("processor: {arch}", "процессор: {arch}"))
}

/// Whether a machine, as the kernel names it, runs programs of an architecture, as Rust names it, itself.
fn same_family(machine: &str, arch: &str) -> bool {
    let family = |name: &str| match name {
        "x86_64" | "x86" | "i386" | "i486" | "i586" | "i686" => "x86".to_string(),
        "aarch64" | "arm" | "armv7l" | "armv8l" => "arm".to_string(),
        "powerpc64" | "ppc64" | "ppc64le" => "ppc64".to_string(),
        other => other.to_string(),
    };
    family(machine) == family(arch)
}

/// What cannot be done without root.
pub(super) fn rights(root: bool) -> CheckupItem {
    const ID: &str = "rights";
    if root {
        return fine(ID, say!("running as root", "запущено от имени root"));
    }
    let affects = say!(
        "You can measure your own directories. To measure block devices, run as root: without it Stend can neither read nor claim them, nor see who uses them.",
        "Собственные каталоги измерять можно. Для блочных устройств нужен root: без него Stend не может ни прочитать их, ни занять, ни узнать, кто их использует."
    );
    // No command changes who runs this one: `sudo stend doctor` would be a checkup of root.
    wrong(ID, Level::Warn, say!("not running as root", "запущено не от имени root"), affects)
}

/// A program of others, and when it is worth having.
struct Tool {
    name: &'static str,
    without: Say,
    install: ShellCommand,
}

/// Programs that are useful beside a run; none is needed to measure.
pub(super) fn tools(roots: &Roots, path: &[PathBuf], root: bool) -> Vec<CheckupItem> {
    let disks = names(roots.sys.join("class/block"));
    let has = |prefix: &str| disks.iter().any(|disk| disk.starts_with(prefix));
    let mut tools = Vec::new();
    if has("sd") || has("nvme") {
        tools.push(Tool {
            name: "smartctl",
            without: say!(
                "Not needed to measure; you cannot look at wear and errors of drives before and after.",
                "Для измерений не нужна; нельзя посмотреть износ и ошибки накопителей до и после."
            ),
            install: ShellCommand::AsRoot("apt-get install smartmontools"),
        });
    }
    if has("nvme") {
        tools.push(Tool {
            name: "nvme",
            without: say!(
                "Not needed to measure; you cannot format an NVMe drive to its fresh state.",
                "Для измерений не нужна; нельзя отформатировать накопитель NVMe до исходного состояния."
            ),
            install: ShellCommand::AsRoot("apt-get install nvme-cli"),
        });
    }
    tools.push(Tool {
        name: "fio",
        without: say!(
            "Not needed to measure; you cannot check Stend against it.",
            "Для измерений не нужна; нельзя сверить с ней Stend."
        ),
        install: ShellCommand::AsRoot("apt-get install fio"),
    });
    tools.into_iter().map(|tool| installed(tool, path, root)).collect()
}

fn installed(tool: Tool, path: &[PathBuf], root: bool) -> CheckupItem {
    let name = tool.name;
    match path.iter().map(|place| place.join(name)).find(|file| file.is_file()) {
        Some(file) => {
            let file = file.display();
            fine("tool", stend_base::Say::same(format!("{name}: {file}")))
        }
        None => cured(
            wrong("tool", Level::Warn, say!("{name} is not installed", "{name} не установлена"), tool.without),
            &tool.install,
            root,
        ),
    }
}
