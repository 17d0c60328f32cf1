//! Which block devices a host has. Must not open one.

use std::path::Path;

/// Most devices that are followed: a shelf of 240 drives with multipath on top; beyond, a sample would be larger than what it tells.
const DEVICES_MAX: usize = 512;

/// Block devices of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockDevices {
    /// Kernel names of those that are followed, at most 512.
    pub names: Vec<String>,
    /// How many more there are.
    pub left_out: usize,
}

/// The whole devices below `root` that have a size, in the order in which people count them: partitions are
/// counted with their disk, paths below NVMe multipath with their drive, and RAM disks and unused loop devices do nothing.
pub fn block_devices(root: &Path) -> BlockDevices {
    let class = root.join("sys/class/block");
    let entries = std::fs::read_dir(&class).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with("ram"))
        .filter(|name| {
            let of = |file: &str| std::fs::read_to_string(class.join(name).join(file)).ok();
            let size = of("size").and_then(|size| size.trim().parse::<u64>().ok());
            let is_path = of("hidden").is_some_and(|hidden| hidden.trim() == "1");
            of("partition").is_none() && !is_path && size.is_some_and(|sectors| sectors > 0)
        })
        .collect();
    // What a program made has no hardware behind it. It comes last, so that a new mapping never pushes out a drive, which would look gone.
    let is_made = |name: &String| !class.join(name).join("device").exists();
    names.sort_by_cached_key(|name| (is_made(name), parts(name)));
    let left_out = names.len().saturating_sub(DEVICES_MAX);
    names.truncate(DEVICES_MAX);
    names.sort_by_cached_key(|name| parts(name));
    BlockDevices { names, left_out }
}

/// What a name is sorted by, so that `sdb` comes before `sdaa` and `nvme2n1` before `nvme10n1`: its family, the length of one that is
/// letters alone, its numbers.
fn parts(name: &str) -> (String, usize, Vec<u64>, String) {
    let letters = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect();
    match letters == name.len() {
        // `sd` and `vd` have letters instead of numbers.
        true => (name.chars().take(2).collect(), letters, Vec::new(), name.to_string()),
        false => (name[..letters].to_string(), 0, numbers, name.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_whole_have_a_size_and_come_in_the_order_in_which_people_count() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, file: &str, text: &str| {
            let place = dir.path().join("sys/class/block").join(name);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join(file), text).unwrap();
        };
        for name in ["sdaa", "nvme10n1", "sdb", "nvme2n1", "md0", "sda1", "ram0", "sda"] {
            put(name, "size", "1953525168\n");
        }
        put("sda1", "partition", "1\n");
        put("loop0", "size", "0\n");
        put("sr0", "size", "x\n");
        assert_eq!(block_devices(dir.path()).names, ["md0", "nvme2n1", "nvme10n1", "sda", "sdb", "sdaa"]);
        assert_eq!(block_devices(&dir.path().join("absent")), BlockDevices::default());
    }

    #[test]
    fn a_path_below_nvme_multipath_is_no_drive() {
        let dir = tempfile::tempdir().unwrap();
        for (name, hidden) in [("nvme0n1", "0\n"), ("nvme0c0n1", "1\n"), ("nvme0c1n1", "1\n")] {
            crate::fixture::put(dir.path(), &format!("sys/class/block/{name}/size"), "8\n");
            crate::fixture::put(dir.path(), &format!("sys/class/block/{name}/hidden"), hidden);
        }
        assert_eq!(block_devices(dir.path()).names, ["nvme0n1"]);
    }

    #[test]
    fn where_there_are_too_many_devices_none_that_a_program_made_takes_the_place_of_a_drive() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..DEVICES_MAX {
            crate::fixture::put(dir.path(), &format!("sys/class/block/dm-{number}/size"), "8\n");
        }
        crate::fixture::put(dir.path(), "sys/class/block/sda/size", "8\n");
        crate::fixture::put(dir.path(), "sys/class/block/sda/device/state", "running\n");
        let BlockDevices { names: found, left_out } = block_devices(dir.path());
        assert_eq!(left_out, 1);
        assert_eq!((found.len(), found.last().map(String::as_str)), (DEVICES_MAX, Some("sda")));
        assert_eq!(found[..3], ["dm-0", "dm-1", "dm-2"]);
    }
}
