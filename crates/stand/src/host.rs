//! Facts of the machine: what a reader of a report needs to judge its numbers. Reads only.

use crate::owner::boot_id;
use crate::roots::{Roots, names, text};
use std::collections::BTreeSet;
use std::path::Path;
use stend_base::Bytes;
use stend_record::HostFacts;
use stend_spec::topology;

/// Most CPUs of a kernel (CONFIG_NR_CPUS of x86).
const CPUS_MAX: u32 = 8191;

/// Facts of the machine that this process runs on.
pub fn host_facts() -> HostFacts {
    host_facts_under(&Roots::host())
}

pub(crate) fn host_facts_under(roots: &Roots) -> HostFacts {
    let kernel = |file: &str| text(roots.proc.join("sys/kernel").join(file)).unwrap_or_default();
    let cpuinfo = text(roots.proc.join("cpuinfo")).unwrap_or_default();
    let cpu = roots.sys.join("devices/system/cpu");
    HostFacts {
        hostname: kernel("hostname"),
        kernel: format!("{} {}", kernel("osrelease"), kernel("version")),
        os: os_release(roots).unwrap_or_default(),
        // x86 has `model name`; many ARM kernels only name the board.
        cpu_model: field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "Model")).unwrap_or_default(),
        cpus: text(cpu.join("online")).map_or(1, |list| numbers(&list).len() as u32),
        numa_nodes: nodes(roots),
        memory: memory(roots, "MemTotal"),
        huge_pages: memory(roots, "Hugetlb"),
        hypervisor: hypervisor(roots, &cpuinfo),
        clock_source: text(roots.sys.join("devices/system/clocksource/clocksource0/current_clocksource")),
        governor: governors(&cpu),
        boot_id: boot_id(roots),
        kernel_command_line: text(roots.proc.join("cmdline")).unwrap_or_default(),
        stend_version: env!("CARGO_PKG_VERSION").to_string(),
        root: effective_user(roots) == Some(0),
    }
}

/// Network interfaces of this machine with hardware behind them.
pub fn ports() -> Vec<String> {
    ports_under(&Roots::host())
}

fn ports_under(roots: &Roots) -> Vec<String> {
    let class = roots.sys.join("class/net");
    names(&class).into_iter().filter(|name| class.join(name).join("device").exists()).collect()
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

/// NUMA nodes with their CPUs that are online; without NUMA one node with all of them.
fn nodes(roots: &Roots) -> Vec<topology::NumaNode> {
    let place = roots.sys.join("devices/system");
    let mut found: Vec<topology::NumaNode> = Vec::new();
    for name in names(place.join("node")) {
        if let Some(Ok(node)) = name.strip_prefix("node").map(str::parse) {
            let cpus = text(place.join("node").join(&name).join("cpulist")).unwrap_or_default();
            found.push(topology::NumaNode { node, cpus: numbers(&cpus) });
        }
    }
    found.sort_by_key(|node| node.node);
    if found.is_empty() {
        let cpus = numbers(&text(place.join("cpu/online")).unwrap_or_default());
        found.push(topology::NumaNode { node: 0, cpus });
    }
    found
}

/// The numbers of a list such as `0-3,8`; none beyond what a kernel has CPUs.
fn numbers(list: &str) -> Vec<u32> {
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => Some(from.parse::<u32>().ok()?..=to.parse::<u32>().ok()?.min(CPUS_MAX)),
        None => part.parse::<u32>().ok().map(|n| n..=n),
    };
    list.split(',').filter_map(|part| range(part.trim())).flatten().collect()
}

/// A line of what the kernel says of its memory; 0 without one.
fn memory(roots: &Roots, name: &str) -> Bytes {
    let info = text(roots.proc.join("meminfo")).unwrap_or_default();
    let kib = field(&info, name).and_then(|value| value.split(' ').next()?.parse::<u64>().ok());
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

/// Frequency governors of all CPUs, each once, in the order of their names.
fn governors(cpus: &Path) -> Option<String> {
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok());
    let governor = |name: String| text(cpus.join(name).join("cpufreq/scaling_governor"));
    let found: BTreeSet<String> = names(cpus).into_iter().filter(is_cpu).filter_map(governor).collect();
    (!found.is_empty()).then(|| found.into_iter().collect::<Vec<_>>().join(", "))
}

pub(crate) fn effective_user(roots: &Roots) -> Option<u32> {
    let status = text(roots.proc.join("self/status"))?;
    field(&status, "Uid")?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!((numbers("0"), numbers("0-3,8,10-11"), numbers("")), (vec![0], vec![0, 1, 2, 3, 8, 10, 11], vec![]));
        assert_eq!((numbers("x,2,3-"), numbers("5-4"), numbers("0-4294967295").len()), (vec![2], vec![], 8192));
    }

    #[test]
    fn this_machine_has_a_name_a_kernel_memory_and_a_boot() {
        let facts = host_facts();
        assert!(!facts.hostname.is_empty() && !facts.kernel.is_empty() && !facts.boot_id.is_empty());
        assert!(facts.memory > Bytes::mib(64) && facts.cpus >= 1 && !facts.numa_nodes[0].cpus.is_empty());
    }

    #[test]
    fn an_interface_with_hardware_is_a_port_and_a_bond_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::under(dir.path());
        for name in ["eth1/device", "eth0/device", "bond0", "lo"] {
            std::fs::create_dir_all(roots.sys.join("class/net").join(name)).unwrap();
        }
        assert_eq!(ports_under(&roots), ["eth0", "eth1"]);
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
        put(roots.sys.join("devices/system/node/node1/cpulist"), "\n");
        put(roots.sys.join("devices/system/node/node0/cpulist"), "0-1,4\n");
        put(roots.sys.join("devices/system/node/online"), "0-1\n");
        let facts = host_facts_under(&roots);
        assert_eq!((facts.cpu_model.as_str(), facts.os.as_str()), ("Example CPU 9000", "Example OS 1"));
        let node = |node, cpus: &[u32]| topology::NumaNode { node, cpus: cpus.to_vec() };
        assert_eq!((facts.memory, facts.numa_nodes), (Bytes::mib(1), vec![node(0, &[0, 1, 4]), node(1, &[])]));
        assert_eq!((facts.hypervisor.as_deref(), facts.governor, facts.root), (Some("QEMU"), None, false));
        for (cpu, governor) in [(0, "performance\n"), (1, "powersave\n"), (2, "performance\n")] {
            put(roots.sys.join(format!("devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor")), governor);
        }
        put(roots.sys.join("devices/system/cpu/cpufreq/boost"), "1\n");
        assert_eq!(host_facts_under(&roots).governor.as_deref(), Some("performance, powersave"));
    }
}
