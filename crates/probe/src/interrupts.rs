//! Interrupts of the machine, and which of them belong to the target's devices. Must not follow a device
//! that was not named.

use crate::parse::field_columns;
use crate::parts::hardware;
use std::path::Path;
use stend_record::sample::{CpuInterrupts, InterruptLine, Interrupts, SoftInterrupts};

/// Deepest path of sysfs that is walked up from a device to its controller; real ones have about ten levels.
const DEPTH_MAX: usize = 32;
/// Most lines of devices that are kept: an NVMe drive has one per CPU.
const LINES_MAX: usize = 1024;

/// Largest table that is read, bytes: 10,000 lines of 128 CPUs are 15 MB, of 512 CPUs 57 MB.
pub const TABLE_MAX: usize = 64 << 20;

/// How to recognise the interrupt lines of the target's devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Owned {
    /// Their numbers: of the controllers that the devices hang on.
    numbers: Vec<u32>,
    /// What their names begin with: of the device itself or its driver, e.g. `nvme0q`.
    prefixes: Vec<String>,
}

impl Owned {
    /// Looks in sysfs for the lines of `devices` (kernel names).
    ///
    /// A controller with several drives has its lines counted as a whole: nobody can tell which drive they were for.
    pub fn find(root: &Path, devices: &[String]) -> Owned {
        let mut owned = Owned::default();
        for place in devices.iter().flat_map(|device| hardware(root, device)) {
            // `virtio1` for its `virtio1-req.0`, `nvme0` for its `nvme0q1`.
            if let Some(name) = place.file_name().and_then(|name| name.to_str()) {
                let ends = [format!("{name}-"), format!("{name}q")];
                owned.prefixes.extend(ends);
            }
            let levels = place.ancestors().take(DEPTH_MAX).take_while(|level| level.starts_with(root));
            owned.numbers.extend(levels.map(numbers_of).find(|numbers| !numbers.is_empty()).unwrap_or_default());
        }
        owned
    }

    fn has(&self, number: u32, names: &str) -> bool {
        // Drivers that share a line are listed with commas.
        let named = |prefix: &String| names.split(", ").any(|name| name.starts_with(prefix.as_str()));
        self.numbers.contains(&number) || self.prefixes.iter().any(named)
    }
}

/// Numbers of the interrupts of a PCI device: the message-signalled ones, or else the one that is wired.
fn numbers_of(level: &Path) -> Vec<u32> {
    let number = |name: &str| name.trim().parse::<u32>().ok();
    let entries = std::fs::read_dir(level.join("msi_irqs")).into_iter().flatten().flatten();
    let signalled: Vec<u32> = entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect();
    if !signalled.is_empty() {
        return signalled;
    }
    let wired = std::fs::read_to_string(level.join("irq")).ok();
    wired.and_then(|text| number(&text)).filter(|&number| number > 0).into_iter().collect()
}

/// Numbered lines of `/proc/interrupts`, summed by CPU. `None` without a header or with a malformed line.
pub fn hard(text: &str, owned: &Owned) -> Option<Interrupts> {
    let mut lines = text.lines();
    let mut cpus: Vec<CpuInterrupts> =
        cpu_columns(lines.next()?)?.into_iter().map(|cpu| CpuInterrupts { cpu, ..CpuInterrupts::default() }).collect();
    let mut found = Vec::new();
    for line in lines {
        let Some((head, rest)) = line.split_once(':') else { continue };
        // Lines with names (`LOC`, `RES`) are not of devices, and some have fewer columns.
        let Ok(number) = head.trim().parse::<u32>() else { continue };
        let mut fields = rest.split_ascii_whitespace();
        let counts = field_columns(&mut fields, cpus.len())?;
        let names = last_words(rest);
        let ours = owned.has(number, names);
        for (cpu, count) in cpus.iter_mut().zip(&counts) {
            cpu.all = cpu.all.saturating_add(*count);
            cpu.target = cpu.target.saturating_add(if ours { *count } else { 0 });
        }
        if ours && found.len() < LINES_MAX {
            let count = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
            found.push(InterruptLine { name: names.to_string(), count });
        }
    }
    Some(Interrupts { cpus, lines: found })
}

/// What a line says behind chip and trigger: the names of its drivers.
fn last_words(rest: &str) -> &str {
    // Columns are padded with at least two spaces; the names come last.
    rest.rsplit_once("  ").map_or(rest, |(_, names)| names).trim()
}

/// Soft interrupts by CPU from `/proc/softirqs`. `None` without a header or with a malformed line.
pub fn soft(text: &str) -> Option<Vec<SoftInterrupts>> {
    let mut lines = text.lines();
    let mut cpus: Vec<SoftInterrupts> = cpu_columns(lines.next()?)?
        .into_iter()
        .map(|cpu| SoftInterrupts { cpu, ..SoftInterrupts::default() })
        .collect();
    for line in lines {
        let (kind, rest) = line.split_once(':')?;
        let counts = field_columns(&mut rest.split_ascii_whitespace(), cpus.len())?;
        for (cpu, count) in cpus.iter_mut().zip(counts) {
            cpu.all = cpu.all.saturating_add(count);
            match kind.trim() {
                "BLOCK" => cpu.block = count,
                "NET_RX" => cpu.network_receive = count,
                _ => {}
            }
        }
    }
    Some(cpus)
}

/// Numbers of the CPUs that the columns are of: `CPU0 CPU1 CPU3`.
fn cpu_columns(header: &str) -> Option<Vec<u32>> {
    let cpus: Vec<u32> =
        header.split_ascii_whitespace().map(|word| word.strip_prefix("CPU")?.parse().ok()).collect::<Option<_>>()?;
    (!cpus.is_empty()).then_some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const TEXT: &str = "           CPU0       CPU2       \n \
         36:          5          7 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n \
         40:          1          0  IO-APIC   5-fasteoi   ahci[0000:00:1f.2], snd\n\
        LOC:        900        800   Local timer interrupts\n\
        ERR:          3\n";

    fn owned(numbers: &[u32], prefixes: &[&str]) -> Owned {
        Owned { numbers: numbers.to_vec(), prefixes: prefixes.iter().map(|p| p.to_string()).collect() }
    }

    #[test]
    fn numbered_lines_are_summed_and_those_of_the_target_are_told_by_name_or_number() {
        let by_name = hard(TEXT, &owned(&[], &["virtio1-"])).unwrap();
        let cpus = [CpuInterrupts { cpu: 0, all: 6, target: 5 }, CpuInterrupts { cpu: 2, all: 7, target: 7 }];
        assert_eq!(by_name.cpus, cpus);
        assert_eq!(by_name.lines, [InterruptLine { name: "virtio1-req.0".into(), count: 12 }]);
        let by_number = hard(TEXT, &owned(&[40], &[])).unwrap();
        assert_eq!((by_number.lines[0].name.as_str(), by_number.cpus[0].target), ("ahci[0000:00:1f.2], snd", 1));
    }

    #[test]
    fn another_device_of_a_similar_name_is_not_the_target() {
        let text = TEXT.replace("virtio1-req", "virtio10-req");
        assert!(hard(&text, &owned(&[], &["virtio1-"])).unwrap().lines.is_empty());
    }

    #[test]
    fn a_table_without_header_or_with_a_bad_number_is_none() {
        assert_eq!(hard("", &Owned::default()), None);
        assert_eq!(hard(" 36: 5 7 x\n", &Owned::default()), None);
        assert_eq!(hard(&TEXT.replace("5          7", "5          x"), &Owned::default()), None);
    }

    #[test]
    fn soft_interrupts_are_told_by_kind() {
        let text = "  CPU0  CPU1\n  BLOCK:  4  5\n NET_RX:  1  2\n  TIMER:  10  20\n";
        let cpus = soft(text).unwrap();
        assert_eq!(cpus[1], SoftInterrupts { cpu: 1, block: 5, network_receive: 2, all: 27 });
        for bad in ["", "CPU0\nBLOCK: x\n", "CPU0 CPU1\nBLOCK: 1\n", "CPU0\nBLOCK 1\n"] {
            assert_eq!(soft(bad), None, "{bad}");
        }
    }

    /// A PCI device with a drive below it, as sysfs shows them.
    fn tree(name: &str, below: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let pci = root.path().join("sys/devices/pci0000:00/0000:00:02.0");
        let drive = pci.join(below);
        std::fs::create_dir_all(&drive).unwrap();
        let block = root.path().join("sys/class/block").join(name);
        std::fs::create_dir_all(&block).unwrap();
        symlink(&drive, block.join("device")).unwrap();
        (root, pci)
    }

    #[test]
    fn the_lines_of_a_device_are_those_of_the_nearest_controller_above_it() {
        let (root, pci) = tree("sda", "ata1/host0/target0:0:0/0:0:0:0");
        std::fs::create_dir_all(pci.join("msi_irqs")).unwrap();
        std::fs::write(pci.join("msi_irqs/40"), "msi\n").unwrap();
        std::fs::write(pci.join("irq"), "11\n").unwrap();
        let root_path = std::fs::canonicalize(root.path()).unwrap();
        assert_eq!(Owned::find(&root_path, &["sda".to_string(), "absent".to_string()]).numbers, [40]);
        std::fs::remove_dir_all(pci.join("msi_irqs")).unwrap();
        assert_eq!(Owned::find(&root_path, &["sda".to_string()]).numbers, [11]);
    }

    #[test]
    fn a_virtual_or_nvme_drive_is_known_by_its_drivers_name() {
        let (root, _) = tree("vda", "virtio1");
        let found = Owned::find(&std::fs::canonicalize(root.path()).unwrap(), &["vda".to_string()]);
        assert!(found.numbers.is_empty() && found.has(1, "virtio1-req.0") && !found.has(1, "virtio11-req.0"));
        let (root, _) = tree("nvme0n1", "nvme/nvme0");
        let found = Owned::find(&std::fs::canonicalize(root.path()).unwrap(), &["nvme0n1".to_string()]);
        assert!(found.has(1, "nvme0q1") && !found.has(1, "nvme01q1"));
    }
}
