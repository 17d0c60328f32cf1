//! How completions of the device below a file arrive: which CPUs take its interrupts, and whether it can be polled instead.
//! Reads only; must not choose where anything runs.

use crate::block::DevNo;
use crate::file::IoFile;
use rustix::fs::{FileType, Stat, fstat};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Levels between a disk and the PCI function that has its interrupts: two for virtio and NVMe, five for SAS.
const LEVELS: usize = 8;

/// CPUs that take the completion interrupts of the block devices below `file`, ascending. Empty where every CPU of the
/// machine has a queue and an interrupt of its own, so that it does not matter, and where it is unknown (stacked devices,
/// several file systems, devices without interrupts).
pub fn completion_cpus(file: &IoFile) -> Vec<u32> {
    let cpus = devices_of(file).into_iter().filter_map(|device| below(Path::new("/"), device)).flatten();
    cpus.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// The devices that its files are or lie on, each once.
fn devices_of(file: &IoFile) -> Vec<DevNo> {
    let number = |stat: Stat| {
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        if is_device { stat.st_rdev } else { stat.st_dev }
    };
    let numbers: BTreeSet<u64> = file.each().filter_map(|fd| fstat(fd).ok()).map(number).collect();
    numbers.into_iter().map(DevNo::from_raw).collect()
}

/// Whether every block device below `file` can be asked for completions, as its queue says.
pub(crate) fn is_polled(file: &IoFile) -> bool {
    let says = |disk: PathBuf| std::fs::read_to_string(disk.join("queue/io_poll")).is_ok_and(|text| text.trim() == "1");
    let devices = devices_of(file);
    !devices.is_empty() && devices.into_iter().all(|device| disk_of(Path::new("/"), device).is_some_and(says))
}

/// Directory of the whole disk that a device is or lies on.
fn disk_of(root: &Path, device: DevNo) -> Option<PathBuf> {
    let node = std::fs::canonicalize(root.join(format!("sys/dev/block/{device}"))).ok()?;
    Some(if node.join("partition").exists() { node.parent()?.to_path_buf() } else { node })
}

fn below(root: &Path, device: DevNo) -> Option<Vec<u32>> {
    let disk = disk_of(root, device)?;
    let queues = std::fs::read_dir(disk.join("mq")).ok()?.count();
    if queues >= cpus_in(&root.join("sys/devices/system/cpu/online"))?.len() {
        return None;
    }
    let interrupts = interrupts_of(&std::fs::canonicalize(disk.join("device")).ok()?)?;
    let named: Vec<(u32, String)> =
        interrupts.into_iter().filter_map(|number| Some((number, action(root, number)?))).collect();
    // Queues of requests, where the driver's names tell them from those for its configuration.
    let queues: Vec<u32> = named.iter().filter(|(_, name)| is_queue(name)).map(|(number, _)| *number).collect();
    let numbers = if queues.is_empty() { named.iter().map(|(number, _)| *number).collect() } else { queues };
    let mut cpus: Vec<u32> = numbers
        .iter()
        .filter_map(|number| cpus_in(&root.join(format!("proc/irq/{number}/effective_affinity_list"))))
        .flatten()
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// Numbers of the message-signalled interrupts of the nearest device above that has any.
fn interrupts_of(device: &Path) -> Option<Vec<u32>> {
    let places = device.ancestors().take(LEVELS).map(|place| place.join("msi_irqs"));
    let listed = places.filter_map(|place| std::fs::read_dir(place).ok()).next()?;
    let numbers = listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Some(numbers.collect())
}

/// Name under which a driver has asked for an interrupt: a directory beside the settings of the interrupt.
fn action(root: &Path, number: u32) -> Option<String> {
    let entries = std::fs::read_dir(root.join(format!("proc/irq/{number}"))).ok()?.flatten();
    let mut names =
        entries.filter(|entry| entry.path().is_dir()).filter_map(|entry| entry.file_name().into_string().ok());
    names.next()
}

/// virtio-blk and virtio-scsi call them `virtio1-req.0` and `virtio2-request`; NVMe `nvme0q1`, with `nvme0q0` for
/// administration.
fn is_queue(name: &str) -> bool {
    let numbered = name.strip_prefix("nvme").and_then(|rest| rest.split_once('q')).map(|(_, queue)| queue);
    name.contains("-req") || numbered.is_some_and(|queue| queue.parse::<u32>().is_ok_and(|queue| queue > 0))
}

/// CPUs of a list as the kernel writes it: `0-3,8`.
fn cpus_in(file: &Path) -> Option<Vec<u32>> {
    let list = std::fs::read_to_string(file).ok()?;
    let span = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.trim()
        .split(',')
        .filter(|part| !part.is_empty())
        .map(span)
        .collect::<Option<Vec<_>>>()
        .map(|spans| spans.into_iter().flatten().take(1024).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: &str = "sys/devices/pci0/0000:00:02.0/virtio1/block/vda";

    /// A machine of four CPUs with one disk of so many queues, each with an interrupt on the CPU of its number plus one.
    fn machine(queues: u32) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys/devices/system/cpu")).unwrap();
        std::fs::write(root.path().join("sys/devices/system/cpu/online"), "0-3\n").unwrap();
        let make = |path: &str| std::fs::create_dir_all(root.path().join(path)).unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(root.path().join(to), root.path().join(at)).unwrap();
        make(&format!("{DISK}/vda1"));
        make("sys/dev/block");
        link(DISK, "sys/dev/block/254:0");
        link(&format!("{DISK}/vda1"), "sys/dev/block/254:1");
        std::fs::write(root.path().join(format!("{DISK}/vda1/partition")), "1").unwrap();
        link("sys/devices/pci0/0000:00:02.0/virtio1", &format!("{DISK}/device"));
        let interrupt = |number: u32, name: &str, cpus: &str| {
            make(&format!("sys/devices/pci0/0000:00:02.0/msi_irqs/{number}"));
            make(&format!("proc/irq/{number}/{name}"));
            std::fs::write(root.path().join(format!("proc/irq/{number}/effective_affinity_list")), cpus).unwrap();
        };
        interrupt(35, "virtio1-config", "0\n");
        for queue in 0..queues {
            make(&format!("{DISK}/mq/{queue}"));
            interrupt(36 + queue, &format!("virtio1-req.{queue}"), &format!("{}\n", queue + 1));
        }
        root
    }

    fn cpus(root: &tempfile::TempDir, minor: u32) -> Option<Vec<u32>> {
        below(root.path(), DevNo { major: 254, minor })
    }

    #[test]
    fn the_interrupts_of_the_queues_count_also_for_a_partition() {
        let one = machine(1);
        assert_eq!((cpus(&one, 0), cpus(&one, 1)), (Some(vec![1]), Some(vec![1])));
        assert_eq!(cpus(&machine(2), 0), Some(vec![1, 2]));
    }

    #[test]
    fn with_a_queue_for_every_cpu_it_does_not_matter_and_without_a_device_it_cannot_be_told() {
        assert_eq!(cpus(&machine(4), 0), None);
        assert_eq!(cpus(&machine(1), 9), None);
        let file = IoFile::open_read(Path::new("/dev/null"), false).unwrap();
        assert_eq!(completion_cpus(&file), [] as [u32; 0]);
    }

    #[test]
    fn queues_of_nvme_are_told_from_its_administration() {
        let told = ["nvme0q0", "nvme0q1", "nvme1q12", "virtio2-request", "virtio1-config"].map(is_queue);
        assert_eq!(told, [false, true, true, true, false]);
    }
}
