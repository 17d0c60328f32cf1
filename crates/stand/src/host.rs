//! Facts of the machine: what a reader of a report needs to judge its numbers. Reads only.

use crate::owner::boot_id;
use crate::roots::{Roots, names, text};
use stend_base::Bytes;
use stend_record::HostFacts;

/// Facts of the machine that this process runs on.
pub fn host_facts() -> HostFacts {
    host_facts_under(&Roots::host())
}

pub(crate) fn host_facts_under(roots: &Roots) -> HostFacts {
    let kernel = |file: &str| text(roots.proc.join("sys/kernel").join(file)).unwrap_or_default();
    let cpuinfo = text(roots.proc.join("cpuinfo")).unwrap_or_default();
    let cpu = roots.sys.join("devices/system/cpu");
    let nodes = names(roots.sys.join("devices/system/node"));
    let is_node = |name: &&String| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok());
    HostFacts {
        hostname: kernel("hostname"),
        kernel: format!("{} {}", kernel("osrelease"), kernel("version")),
        os: os_release(roots).unwrap_or_default(),
        // x86 has `model name`; many ARM kernels only name the board.
        cpu_model: field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "Model")).unwrap_or_default(),
        cpus: text(cpu.join("online")).map_or(1, |list| count(&list)),
        numa_nodes: (nodes.iter().filter(is_node).count() as u32).max(1),
        memory: memory(roots),
        hypervisor: hypervisor(roots, &cpuinfo),
        clock_source: text(roots.sys.join("devices/system/clocksource/clocksource0/current_clocksource")),
        governor: text(cpu.join("cpu0/cpufreq/scaling_governor")),
        boot_id: boot_id(roots),
        kernel_command_line: text(roots.proc.join("cmdline")).unwrap_or_default(),
        stend_version: env!("CARGO_PKG_VERSION").to_string(),
        root: effective_user(roots) == Some(0),
    }
}

fn os_release(roots: &Roots) -> Option<String> {
    let release = text(roots.etc.join("os-release"))?;
    let line = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_string())
}

/// Value of the first `name : value` line.
fn field(text: &str, name: &str) -> Option<String> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.into_iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_string())
}

/// How many numbers a list such as `0-3,8` holds.
fn count(list: &str) -> u32 {
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => Some(to.parse::<u32>().ok()?.checked_sub(from.parse().ok()?)? + 1),
        None => part.parse::<u32>().ok().map(|_| 1),
    };
    list.split(',').filter_map(|part| range(part.trim())).sum()
}

fn memory(roots: &Roots) -> Bytes {
    let info = text(roots.proc.join("meminfo")).unwrap_or_default();
    let kib = field(&info, "MemTotal").and_then(|value| value.split(' ').next()?.parse::<u64>().ok());
    Bytes::kib(kib.unwrap_or(0))
}

/// Name of the hypervisor, `unknown` where only the CPU tells that there is one.
fn hypervisor(roots: &Roots, cpuinfo: &str) -> Option<String> {
    let board = |file: &str| text(roots.sys.join("class/dmi/id").join(file)).unwrap_or_default();
    let told = field(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let xen = text(roots.sys.join("hypervisor/type"));
    let name = format!("{} {}", board("sys_vendor"), board("product_name")).trim().to_string();
    match (xen, told) {
        (Some(kind), _) => Some(kind),
        (None, true) if name.is_empty() => Some("unknown".to_string()),
        (None, true) => Some(name),
        (None, false) => None,
    }
}

fn effective_user(roots: &Roots) -> Option<u32> {
    let status = text(roots.proc.join("self/status"))?;
    field(&status, "Uid")?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_counted() {
        assert_eq!([count("0"), count("0-3"), count("0-3,8,10-11"), count("")], [1, 4, 7, 0]);
    }

    #[test]
    fn this_machine_has_a_name_a_kernel_memory_and_a_boot() {
        let facts = host_facts();
        assert!(!facts.hostname.is_empty() && !facts.kernel.is_empty() && !facts.boot_id.is_empty());
        assert!(facts.memory > Bytes::mib(64) && facts.cpus >= 1 && facts.numa_nodes >= 1);
    }

    #[test]
    fn a_recorded_machine_is_read_from_its_files_and_what_is_missing_is_absent() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::under(dir.path());
        let put = |path: std::path::PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put(roots.proc.join("cpuinfo"), "model name\t: Example CPU 9000\nflags\t\t: fpu hypervisor\n");
        put(roots.proc.join("meminfo"), "MemTotal:       1024 kB\n");
        put(roots.etc.join("os-release"), "NAME=x\nPRETTY_NAME=\"Example OS 1\"\n");
        put(roots.sys.join("class/dmi/id/sys_vendor"), "QEMU\n");
        put(roots.sys.join("devices/system/node/node1/meminfo"), "");
        put(roots.sys.join("devices/system/node/node0/meminfo"), "");
        let facts = host_facts_under(&roots);
        assert_eq!((facts.cpu_model.as_str(), facts.os.as_str()), ("Example CPU 9000", "Example OS 1"));
        assert_eq!((facts.memory, facts.numa_nodes), (Bytes::mib(1), 2));
        assert_eq!((facts.hypervisor.as_deref(), facts.governor, facts.root), (Some("QEMU"), None, false));
    }
}
