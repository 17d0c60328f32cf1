//! PCIe links of the drives below the targets, or of the controllers that they hang on.
//= linux, Documentation/ABI/testing/sysfs-bus-pci: current_link_speed, max_link_speed, aer_dev_correctable

use super::hardware;
use crate::source::Source;
use std::path::{Path, PathBuf};
use stend_record::parts::{Link, LinkState};

/// Levels of sysfs between a drive and its PCI function: two for NVMe, seven for SAS behind an expander.
const LEVELS: usize = 16;

/// Files of one link.
#[derive(Debug)]
pub struct LinkFiles {
    device: String,
    address: String,
    speed: Source,
    width: Source,
    best: Link,
    corrected: Source,
}

/// The link nearest to each of the devices, each once.
pub fn find(root: &Path, devices: &[String]) -> Vec<LinkFiles> {
    let mut found: Vec<LinkFiles> = Vec::new();
    for (device, place) in
        devices.iter().flat_map(|device| hardware(root, device).into_iter().map(move |p| (device, p)))
    {
        let above = place.ancestors().take(LEVELS).take_while(|level| level.starts_with(root));
        let Some(function) = above.map(Path::to_path_buf).find(|level| level.join("current_link_speed").exists())
        else {
            continue;
        };
        let Some(files) = files(device, &function) else { continue };
        if !found.iter().any(|known| known.address == files.address) {
            found.push(files);
        }
    }
    found
}

fn files(device: &str, function: &Path) -> Option<LinkFiles> {
    let own = best(function)?;
    // The port that it is plugged into; the first function of a bus has none that tells.
    let port = function.parent().and_then(best);
    let least = port.map_or(own, |port| Link {
        speed_mt_per_s: own.speed_mt_per_s.min(port.speed_mt_per_s),
        width: own.width.min(port.width),
    });
    Some(LinkFiles {
        device: device.to_string(),
        address: function.file_name()?.to_string_lossy().into_owned(),
        speed: Source::open(&function.join("current_link_speed")),
        width: Source::open(&function.join("current_link_width")),
        best: least,
        corrected: Source::open(&function.join("aer_dev_correctable")),
    })
}

/// What one end of a link can do.
fn best(end: &Path) -> Option<Link> {
    let text = |file: &str| std::fs::read_to_string(PathBuf::from(end).join(file)).ok();
    link(&text("max_link_speed")?, &text("max_link_width")?)
}

impl LinkFiles {
    /// Its state; `None` if the kernel does not know it now, as while a link is trained.
    pub fn read(&mut self) -> Option<LinkState> {
        let speed = self.speed.read()?.to_string();
        Some(LinkState {
            device: self.device.clone(),
            address: self.address.clone(),
            now: link(&speed, self.width.read()?)?,
            best: self.best,
            corrected: self.corrected.read().and_then(corrected),
        })
    }
}

/// `8.0 GT/s PCIe` (before Linux 5.5 without the last word) and `4`.
fn link(speed: &str, width: &str) -> Option<Link> {
    let (number, _) = speed.trim().split_once(" GT/s")?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let tenths: u32 = part.get(..1)?.parse().ok()?;
    let speed_mt_per_s = whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(tenths * 100)?;
    let width = width.trim().parse::<u32>().ok().filter(|&width| width > 0)?;
    Some(Link { speed_mt_per_s, width })
}

/// The last line of a table: `TOTAL_ERR_COR 3`.
fn corrected(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("TOTAL_ERR_COR"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::put;
    use std::os::unix::fs::symlink;

    const PORT: &str = "sys/devices/pci0000:00/0000:00:01.0";

    #[test]
    fn a_drive_of_four_lanes_in_a_slot_of_two_is_told_with_what_both_ends_can_do() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let drive = format!("{PORT}/0000:01:00.0");
        for (end, speed, width) in [(PORT, "8.0 GT/s PCIe", "2"), (drive.as_str(), "16.0 GT/s PCIe", "4")] {
            put(&root, &format!("{end}/max_link_speed"), speed);
            put(&root, &format!("{end}/max_link_width"), width);
        }
        put(&root, &format!("{drive}/current_link_speed"), "2.5 GT/s PCIe\n");
        put(&root, &format!("{drive}/current_link_width"), "1\n");
        put(&root, &format!("{drive}/aer_dev_correctable"), "RxErr 0\nBadTLP 2\nTOTAL_ERR_COR 2\n");
        std::fs::create_dir_all(root.join(&drive).join("nvme/nvme0")).unwrap();
        for name in ["nvme0n1", "nvme0n2"] {
            std::fs::create_dir_all(root.join("sys/class/block").join(name)).unwrap();
            symlink(root.join(&drive).join("nvme/nvme0"), root.join("sys/class/block").join(name).join("device"))
                .unwrap();
        }
        let mut found = find(&root, &["nvme0n1", "nvme0n2", "absent"].map(String::from));
        assert_eq!(found.len(), 1, "two namespaces have one link");
        let expected = LinkState {
            device: "nvme0n1".into(),
            address: "0000:01:00.0".into(),
            now: Link { speed_mt_per_s: 2500, width: 1 },
            best: Link { speed_mt_per_s: 8000, width: 2 },
            corrected: Some(2),
        };
        assert_eq!(found[0].read(), Some(expected));
        put(&root, &format!("{drive}/current_link_speed"), "Unknown\n");
        assert_eq!(found[0].read(), None);
    }

    #[test]
    fn a_drive_with_two_ports_has_a_link_for_each_path() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
        std::fs::create_dir_all(root.join(subsystem)).unwrap();
        for number in [0, 1] {
            let function = format!("{PORT}/0000:0{number}:00.0");
            for file in ["max_link_speed", "current_link_speed"] {
                put(&root, &format!("{function}/{file}"), "16.0 GT/s PCIe");
            }
            for file in ["max_link_width", "current_link_width"] {
                put(&root, &format!("{function}/{file}"), "2");
            }
            let controller = format!("{function}/nvme/nvme{number}");
            put(&root, &format!("{controller}/hwmon0/temp1_input"), &format!("{number}000\n"));
            symlink(root.join(controller), root.join(subsystem).join(format!("nvme{number}"))).unwrap();
        }
        std::fs::create_dir_all(root.join("sys/class/block/nvme0n1")).unwrap();
        symlink(root.join(subsystem), root.join("sys/class/block/nvme0n1/device")).unwrap();
        let devices = ["nvme0n1".to_string()];
        let addresses: Vec<String> =
            find(&root, &devices).iter_mut().map(|link| link.read().unwrap().address).collect();
        assert_eq!(addresses, ["0000:00:00.0", "0000:01:00.0"]);
        let warm = super::super::heat::Heat::find(&root, &devices).temperatures();
        assert_eq!(warm.len(), 1, "one drive, whichever way it is asked");
    }

    #[test]
    fn speeds_are_read_with_and_without_the_last_word() {
        let of = |speed: &str, width: &str| link(speed, width).map(|link| (link.speed_mt_per_s, link.width));
        assert_eq!(of("2.5 GT/s", "16\n"), Some((2500, 16)));
        assert_eq!(of("64.0 GT/s PCIe", "8"), Some((64_000, 8)));
        for (speed, width) in [("Unknown", "4"), ("8.0 GT/s", "0"), ("x GT/s", "4"), ("8. GT/s", "4"), ("", "")] {
            assert_eq!(of(speed, width), None, "{speed} {width}");
        }
    }
}
