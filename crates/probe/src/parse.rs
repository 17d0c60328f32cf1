//! Texts of `/proc` to numbers in base units. Pure; anything that does not look as documented is `None`.
//!
//! Formats: Linux, Documentation/filesystems/proc.rst, admin-guide/iostats.rst and accounting/psi.rst.

use stend_record::sample::{CpuTimes, DiskCounters, Memory, ProcessCost};

/// `/proc` counts CPU time in USER_HZ, which is 100 on every architecture Stend is built for.
const TICK_NS: u64 = 10_000_000;

/// Sectors of diskstats are always 512 bytes, whatever the device's block size.
const SECTOR_BYTES: u64 = 512;

/// CPUs that are online, from `/proc/stat`. `None` if there is none or a line is malformed.
pub fn cpus(text: &str) -> Option<Vec<CpuTimes>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("cpu"));
    // The first line, without a number, is the sum.
    let cpus: Vec<CpuTimes> = lines.filter(|rest| !rest.starts_with(' ')).map(cpu).collect::<Option<_>>()?;
    (!cpus.is_empty()).then_some(cpus)
}

fn cpu(line: &str) -> Option<CpuTimes> {
    let mut fields = line.split_ascii_whitespace();
    let cpu = fields.next()?.parse().ok()?;
    let mut next = || fields.next()?.parse::<u64>().ok().map(|ticks| ticks.saturating_mul(TICK_NS));
    // In the order of the file; guest time, which follows, is part of user time.
    let (user, nice, system_ns, idle_ns) = (next()?, next()?, next()?, next()?);
    let (iowait_ns, irq_ns, softirq_ns, steal_ns) = (next()?, next()?, next()?, next()?);
    let user_ns = user.saturating_add(nice);
    Some(CpuTimes { cpu, user_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns, steal_ns })
}

/// Memory, from `/proc/meminfo`. `None` if any of the values is missing.
pub fn memory(text: &str) -> Option<Memory> {
    let [mut total, mut available, mut cached, mut dirty, mut swap_total, mut swap_free] = [None; 6];
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let slot = match name {
            "MemTotal" => &mut total,
            "MemAvailable" => &mut available,
            "Cached" => &mut cached,
            "Dirty" => &mut dirty,
            "SwapTotal" => &mut swap_total,
            "SwapFree" => &mut swap_free,
            _ => continue,
        };
        *slot = kibibytes(value);
    }
    Some(Memory {
        total_bytes: total?,
        available_bytes: available?,
        cached_bytes: cached?,
        dirty_bytes: dirty?,
        swap_used_bytes: swap_total?.saturating_sub(swap_free?),
    })
}

fn kibibytes(value: &str) -> Option<u64> {
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Total stall time of the line that begins with `word`, from a file of `/proc/pressure`, in ns.
pub fn stall(text: &str, word: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '))?;
    let total = line.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1000)
}

/// Counters of the named devices in the order of `devices`, from `/proc/diskstats`. A device without a
/// whole line is left out.
///
/// An NVMe drive with several paths counts nothing itself before about Linux 6.2: it has the sum of what its paths count.
pub fn disks(text: &str, devices: &[String]) -> Vec<DiskCounters> {
    let mut found: Vec<Option<DiskCounters>> = vec![None; devices.len()];
    let mut of_paths: Vec<Option<DiskCounters>> = vec![None; devices.len()];
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace().skip(2);
        let Some(name) = fields.next() else { continue };
        if let Some(index) = devices.iter().position(|device| same_device(device, name)) {
            found[index] = disk(&devices[index], fields);
            continue;
        }
        let drive = drive_of_path(name).and_then(|drive| devices.iter().position(|device| *device == drive));
        let Some((index, path)) = drive.and_then(|index| Some((index, disk(&devices[index], fields)?))) else {
            continue;
        };
        of_paths[index] = Some(match of_paths[index].take() {
            None => path,
            Some(sum) => added(sum, &path),
        });
    }
    let counts = |disk: DiskCounters, paths: Option<DiskCounters>| match (disk.reads, disk.writes, disk.in_flight) {
        (0, 0, 0) => paths.unwrap_or(disk),
        _ => disk,
    };
    found.into_iter().zip(of_paths).filter_map(|(disk, paths)| Some(counts(disk?, paths))).collect()
}

/// `nvme0n1` of its path `nvme0c1n1`.
//= linux, drivers/nvme/host/multipath.c, nvme_mpath_set_disk_name(): "nvme%dc%dn%d"
fn drive_of_path(name: &str) -> Option<String> {
    let (subsystem, rest) = name.strip_prefix("nvme")?.split_once('c')?;
    let (controller, namespace) = rest.split_once('n')?;
    let are_numbers =
        [subsystem, controller, namespace].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    are_numbers.then(|| format!("nvme{subsystem}n{namespace}"))
}

/// What two paths did together.
fn added(one: DiskCounters, other: &DiskCounters) -> DiskCounters {
    let both = |one: Option<u64>, other: Option<u64>| one.zip(other).map(|(one, other)| one.saturating_add(other));
    DiskCounters {
        reads: one.reads.saturating_add(other.reads),
        read_bytes: one.read_bytes.saturating_add(other.read_bytes),
        read_ns: one.read_ns.saturating_add(other.read_ns),
        writes: one.writes.saturating_add(other.writes),
        write_bytes: one.write_bytes.saturating_add(other.write_bytes),
        write_ns: one.write_ns.saturating_add(other.write_ns),
        in_flight: one.in_flight.saturating_add(other.in_flight),
        busy_ns: one.busy_ns.saturating_add(other.busy_ns),
        weighted_ns: one.weighted_ns.saturating_add(other.weighted_ns),
        flushes: both(one.flushes, other.flushes),
        flush_ns: both(one.flush_ns, other.flush_ns),
        name: one.name,
    }
}

/// `/sys` writes `!` where the kernel's name has a slash (`cciss!c0d0`); diskstats has the slash.
fn same_device(device: &str, name: &str) -> bool {
    device.len() == name.len()
        && device.bytes().zip(name.bytes()).all(|(ours, theirs)| ours == theirs || (ours == b'!' && theirs == b'/'))
}

fn disk<'a>(name: &str, mut fields: impl Iterator<Item = &'a str>) -> Option<DiskCounters> {
    let mut next = || fields.next()?.parse::<u64>().ok();
    let millis = |ms: u64| ms.saturating_mul(1_000_000);
    let (reads, _merged, read_sectors, read_ms) = (next()?, next()?, next()?, next()?);
    let (writes, _merged, write_sectors, write_ms) = (next()?, next()?, next()?, next()?);
    let (in_flight, busy_ms, weighted_ms) = (next()?, next()?, next()?);
    // Discards since 4.18 (four fields), flushes since 5.5 (two).
    let _discards = [next(), next(), next(), next()];
    Some(DiskCounters {
        name: name.to_string(),
        reads,
        read_bytes: read_sectors.saturating_mul(SECTOR_BYTES),
        read_ns: millis(read_ms),
        writes,
        write_bytes: write_sectors.saturating_mul(SECTOR_BYTES),
        write_ns: millis(write_ms),
        in_flight,
        busy_ns: millis(busy_ms),
        weighted_ns: millis(weighted_ms),
        flushes: next(),
        flush_ns: next().map(millis),
    })
}

/// CPU time and memory of a process, from `/proc/PID/stat`.
///
/// Its times are those of the whole thread group, of threads that ended too. Since Linux 5.12 the kernel
/// workers of io_uring (`iou-wrk`) are threads of the process that made the ring, so they are included.
pub fn process(text: &str, page_bytes: u64) -> Option<ProcessCost> {
    // The name in brackets may hold brackets and spaces: fields are counted from the last bracket.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let mut number = |skip: usize| fields.nth(skip)?.parse::<u64>().ok();
    // Fields 14, 15 and 24 of proc_pid_stat(5); the first one after the bracket is 3.
    let (user, system, pages) = (number(11)?, number(0)?, number(8)?);
    let cpu_ns = user.saturating_add(system).saturating_mul(TICK_NS);
    Some(ProcessCost { cpu_ns, resident_bytes: pages.saturating_mul(page_bytes) })
}

/// The first `columns` fields as numbers. `None` if there are fewer, or one is no number.
pub fn field_columns<'a>(fields: &mut impl Iterator<Item = &'a str>, columns: usize) -> Option<Vec<u64>> {
    let counts: Vec<u64> = fields.take(columns).map(|field| field.parse().ok()).collect::<Option<_>>()?;
    (counts.len() == columns).then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cpu_lines_that_are_cut_or_not_numbers_are_none() {
        assert_eq!(cpus("cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8\n").unwrap()[0].steal_ns, 8 * TICK_NS);
        for text in ["", "cpu  1 2 3 4 5 6 7 8\n", "cpu0 1 2 3\n", "cpu0 1 2 3 4 5 6 7 x\n", "cpux 1 2 3 4 5 6 7 8\n"] {
            assert_eq!(cpus(text), None, "{text}");
        }
    }

    #[test]
    fn memory_without_one_of_its_values_is_none() {
        let whole = "MemTotal: 8 kB\nMemAvailable: 4 kB\nCached: 2 kB\nDirty: 1 kB\nSwapTotal: 3 kB\nSwapFree: 1 kB\n";
        assert_eq!(memory(whole).unwrap().swap_used_bytes, 2048);
        for line in whole.lines() {
            assert_eq!(memory(&whole.replace(line, "")), None, "without {line}");
            assert_eq!(memory(&whole.replace(line, &line.replace(" kB", " MB"))), None, "{line}");
        }
    }

    #[test]
    fn a_stall_is_the_total_of_its_own_line() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n";
        assert_eq!((stall(text, "some"), stall(text, "full")), (Some(7000), Some(3000)));
        assert_eq!(stall("some avg10=0.00 total=x\n", "some"), None);
        assert_eq!(stall("something total=7\n", "some"), None);
    }

    #[test]
    fn a_device_is_found_by_its_whole_name_only() {
        let text =
            "8 0 sda 1 0 2 3 4 0 5 6 7 8 9\n8 1 sda1 1 0 2 3 4 0 5 6 7 8 9\n104 0 cciss/c0d0 1 0 2 3 4 0 5 6 7 8 9\n";
        let names = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|name| name.to_string()).collect();
            disks(text, &wanted).into_iter().map(|disk| disk.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["sda1", "sda"]), ["sda1", "sda"]);
        assert_eq!(names(&["sd", "sdb", "cciss!c0d0"]), ["cciss!c0d0"]);
    }

    #[test]
    fn a_drive_whose_paths_count_for_it_has_their_sum() {
        let paths = "259 1 nvme0c0n1 1 0 2 3 4 0 5 6 7 8 9 0 0 0 0 2 1\n259 2 nvme0c1n1 10 0 20 30 40 0 50 60 70 80 90 0 0 0 0 3 1\n";
        let head = |counts: &str| {
            let text = format!("259 0 nvme0n1 {counts}\n{paths}259 3 nvme0c0n2 1 0 2 3 4 0 5 6 7 8 9 0 0 0 0 2 1\n");
            let found = disks(&text, &["nvme0n1".to_string()]);
            assert_eq!(found.len(), 1, "{found:?}");
            found[0].clone()
        };
        let silent = head("0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
        assert_eq!(
            (silent.name.as_str(), silent.reads, silent.read_bytes, silent.writes),
            ("nvme0n1", 11, 22 * 512, 44)
        );
        assert_eq!((silent.in_flight, silent.weighted_ns, silent.flushes), (77, 99_000_000, Some(5)));
        // Since Linux 6.2 it counts by itself.
        assert_eq!(head("7 0 14 1 0 0 0 0 0 1 1 0 0 0 0 0 0").reads, 7);
        assert_eq!(disks("259 0 nvme0n1 0 0 0 0 0 0 0 0 0 0 0\n", &["nvme0n1".to_string()])[0].reads, 0, "idle");
    }

    #[test]
    fn a_disk_line_that_is_cut_is_left_out() {
        assert!(disks("8 0 sda 1 0 2 3 4 0 5 6 7 8\n", &["sda".to_string()]).is_empty());
        assert!(disks("8 0 sda 1 0 2 -3 4 0 5 6 7 8 9\n", &["sda".to_string()]).is_empty());
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let stat = |name: &str| format!("7 ({name}) S 1 7 7 0 -1 4 98 0 0 0 20 11 0 0 20 0 1 0 32 31 358 18 1");
        for name in ["x", "a b", ") (", "1 2 3) S 4 (5"] {
            let cost = process(&stat(name), 4096).unwrap();
            assert_eq!(cost, ProcessCost { cpu_ns: 31 * TICK_NS, resident_bytes: 358 * 4096 }, "{name}");
        }
        assert_eq!(process("7 (x) S 1 7 7 0 -1 4 98 0 0 0 20", 4096), None);
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "\\PC*", word in "[a-z0-9 .:=\n()-]{0,300}", huge in "(cpu0|8 0 sda|MemTotal:|some total=|7 \\(x\\) S)( [0-9]{1,22}){0,25}( kB)?") {
            for text in [text, word, huge] {
                cpus(&text);
                memory(&text);
                stall(&text, "some");
                disks(&text, &["sda".to_string(), String::new()]);
                process(&text, 1 << 16);
                crate::kernel::paging(&text, 1 << 16);
                crate::kernel::networks(&text, |_| false);
                crate::kernel::tcp(&text);
                crate::nfs::mounts(&text);
                crate::nfs::server(&text);
                crate::interrupts::hard(&text, &crate::interrupts::Owned::default());
                crate::interrupts::soft(&text);
            }
        }
    }
}
