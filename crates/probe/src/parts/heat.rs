//! How fast the CPUs run, whether heat held them back, and how warm the drives are.
//= linux, Documentation/ABI/testing/sysfs-devices-system-cpu: scaling_cur_freq, thermal_throttle; hwmon/sysfs-interface.rst

use super::{hardware, names};
use crate::source::Source;
use std::path::{Path, PathBuf};
use stend_record::parts::Temperature;

/// CPUs whose frequency is read: each costs the kernel an interrupt on that CPU.
const CPUS_MAX: usize = 64;

/// Files about heat.
#[derive(Debug, Default)]
pub struct Heat {
    frequencies: Vec<Source>,
    throttled: Vec<Source>,
    drives: Vec<Drive>,
}

/// Thermometer of one drive.
#[derive(Debug)]
struct Drive {
    device: String,
    now: Source,
    warning: Option<i64>,
    critical: Option<i64>,
}

impl Heat {
    /// What there is of the CPUs, and of the drives among `devices`.
    pub fn find(root: &Path, devices: &[String]) -> Heat {
        let cpus = root.join("sys/devices/system/cpu");
        let is_cpu = |name: &str| name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok());
        let mut heat = Heat::default();
        let entries = std::fs::read_dir(&cpus).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> =
            entries.filter(|entry| entry.file_name().to_str().is_some_and(is_cpu)).map(|entry| entry.path()).collect();
        found.sort_by_key(|cpu| (cpu.as_os_str().len(), cpu.clone()));
        for cpu in found.into_iter().take(CPUS_MAX) {
            let open = |file: &str| Source::open(&cpu.join(file));
            let wanted = [
                (&mut heat.frequencies, open("cpufreq/scaling_cur_freq")),
                (&mut heat.throttled, open("thermal_throttle/core_throttle_count")),
            ];
            wanted.into_iter().filter(|(_, file)| file.exists()).for_each(|(list, file)| list.push(file));
        }
        heat.drives = devices.iter().filter_map(|device| drive(root, device)).collect();
        heat
    }

    /// Frequencies of the CPUs that tell theirs, kHz.
    pub fn frequencies(&mut self) -> Vec<u64> {
        self.frequencies.iter_mut().filter_map(number).filter_map(|khz| u64::try_from(khz).ok()).collect()
    }

    /// How often heat has held CPUs back so far; `None` where the kernel does not count it.
    pub fn throttled(&mut self) -> Option<u64> {
        let counts = self.throttled.iter_mut().filter_map(number).filter_map(|count| u64::try_from(count).ok());
        counts.reduce(u64::saturating_add)
    }

    /// Temperatures of the drives. Each costs the drive a command, so that they are only read at edges of trials.
    pub fn temperatures(&mut self) -> Vec<Temperature> {
        let one = |drive: &mut Drive| {
            Some(Temperature {
                device: drive.device.clone(),
                milli_celsius: number(&mut drive.now)?,
                warning: drive.warning,
                critical: drive.critical,
            })
        };
        self.drives.iter_mut().filter_map(one).collect()
    }
}

/// The first thermometer of a drive: of NVMe it is the composite one, of SATA that of `drivetemp`.
fn drive(root: &Path, device: &str) -> Option<Drive> {
    let above = hardware(root, device).into_iter().next()?;
    // With the controller itself (since Linux 5.18), below its PCI function, or below a SCSI device.
    let places = [above.clone(), above.join("device"), above.join("hwmon"), above.join("device/hwmon")];
    let monitors = places.iter().flat_map(|place| {
        let monitors =
            names(place).into_iter().filter(|name| name.strip_prefix("hwmon").is_some_and(|n| !n.is_empty()));
        monitors.map(|name| place.join(name)).collect::<Vec<_>>()
    });
    let monitor = monitors.into_iter().find(|monitor| monitor.join("temp1_input").exists())?;
    let limit = |file: &str| number(&mut Source::open(&monitor.join(file)));
    Some(Drive {
        device: device.to_string(),
        now: Source::open(&monitor.join("temp1_input")),
        warning: limit("temp1_max"),
        critical: limit("temp1_crit"),
    })
}

fn number(source: &mut Source) -> Option<i64> {
    source.read()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::put;

    #[test]
    fn frequencies_and_throttling_are_those_of_the_cpus_that_tell() {
        let dir = tempfile::tempdir().unwrap();
        let cpu = "sys/devices/system/cpu";
        for (number, khz) in [(0, "2000000\n"), (1, "2500000\n"), (10, "x\n")] {
            put(dir.path(), &format!("{cpu}/cpu{number}/cpufreq/scaling_cur_freq"), khz);
            put(dir.path(), &format!("{cpu}/cpu{number}/thermal_throttle/core_throttle_count"), "2\n");
        }
        put(dir.path(), &format!("{cpu}/cpufreq/x"), "");
        let mut heat = Heat::find(dir.path(), &[]);
        assert_eq!((heat.frequencies(), heat.throttled()), (vec![2_000_000, 2_500_000], Some(6)));
        let mut silent = Heat::find(&dir.path().join("absent"), &[]);
        assert_eq!((silent.frequencies(), silent.throttled(), silent.temperatures()), (vec![], None, vec![]));
    }

    #[test]
    fn a_drive_tells_its_temperature_wherever_its_driver_puts_it() {
        let dir = tempfile::tempdir().unwrap();
        let class = "sys/class/block";
        put(dir.path(), &format!("{class}/nvme0n1/device/hwmon1/temp1_input"), "45850\n");
        put(dir.path(), &format!("{class}/nvme0n1/device/hwmon1/temp1_max"), "81850\n");
        put(dir.path(), &format!("{class}/nvme0n1/device/hwmon1/temp1_crit"), "84850\n");
        put(dir.path(), &format!("{class}/sda/device/hwmon/hwmon3/temp1_input"), "-5000\n");
        put(dir.path(), &format!("{class}/sdb/device/hwmon/hwmon4/name"), "drivetemp\n");
        let mut heat = Heat::find(dir.path(), &["nvme0n1", "sda", "sdb"].map(String::from));
        let told = |device: &str, milli_celsius, warning, critical| Temperature {
            device: device.into(),
            milli_celsius,
            warning,
            critical,
        };
        let expected = [told("nvme0n1", 45_850, Some(81_850), Some(84_850)), told("sda", -5000, None, None)];
        assert_eq!(heat.temperatures(), expected);
    }
}
