//! Which devices of a host LVM is to look at, and how its answers are read. It takes several paths to a drive for copies of one another,
//! and then changes nothing of what is on them, unless a filter says which to look at. Reads only.

use crate::devices::Devices;
use crate::node::Node;
use crate::roots::text;
use stend_record::STAND_PATHS;

/// The option that leaves paths out, if there are such; it stands behind the name of a program of LVM.
//= lvm(8), "--devices": "Restricts the devices that are visible and accessible to the command"
pub(crate) fn sees(devices: &Devices) -> Option<String> {
    let joins = |node: &&Node| text(node.sysfs.join("dm/uuid")).is_some_and(|uuid| uuid.starts_with(STAND_PATHS));
    let paths: Vec<&String> = devices.all().filter(joins).flat_map(|node| &node.slaves).collect();
    if paths.is_empty() {
        return None;
    }
    let seen = devices.all().filter(|node| node.size > 0 && !paths.contains(&&devices.disk(node).name));
    Some(only(seen.map(|node| devices.path(node).display().to_string())))
}

/// The same for devices that are known.
pub(crate) fn only(devices: impl Iterator<Item = String>) -> String {
    format!("--devices={}", devices.collect::<Vec<_>>().join(","))
}

/// Words of a command of LVM, with what it may see.
pub(crate) fn words(line: &[&str], sees: Option<String>) -> Vec<String> {
    let mut words: Vec<String> = line.iter().map(|word| word.to_string()).collect();
    if let Some(sees) = sees {
        words.insert(1.min(words.len()), sees);
    }
    words
}

/// Whether all volumes are active by what `lvs` prints of their `lv_name,lv_active`.
pub(crate) fn all_active(printed: &str) -> bool {
    // If a volume is not, its name stands alone.
    printed.lines().all(|line| line.split_whitespace().nth(1) == Some("active"))
}

/// The least of the percentages that `lvs` prints of `sync_percent`, one for each volume; `None` where no volume synchronises anything.
pub(crate) fn least_synchronised<'a>(printed: impl Iterator<Item = &'a str>) -> Option<f64> {
    printed.filter_map(|percent| percent.trim().parse::<f64>().ok()).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Tree;

    #[test]
    fn lvm_sees_everything_but_the_paths_below_what_a_stand_joined() {
        let tree = Tree::new();
        for (name, number) in [("sda", 0), ("sdb", 16), ("sdc", 32)] {
            tree.disk(name, &format!("8:{number}"), &format!("pci0/host{number}/{number}:0:0:0"), &[]);
        }
        tree.over("dm-0", "253:0", &["sda", "sdb"], &[("dm/uuid", "LVM-abc")]);
        assert_eq!(sees(&Devices::read(&tree.roots)), None);
        tree.over("dm-1", "253:1", &["sda", "sdb"], &[("dm/uuid", "STEND-mpath-1")]);
        let sees = sees(&Devices::read(&tree.roots)).unwrap();
        assert!(sees.starts_with("--devices=") && sees.ends_with("/dev/sdc"), "{sees}");
        assert!(!sees.contains("/dev/sda") && sees.contains("/dev/dm-1,"), "{sees}");
        assert_eq!(words(&["vgs", "x"], Some("--devices=/dev/a".into())), ["vgs", "--devices=/dev/a", "x"]);
        assert_eq!(words(&["vgs", "x"], None), ["vgs", "x"]);
    }

    #[test]
    fn a_group_is_active_when_each_of_its_volumes_is() {
        assert!(all_active("  main active\n  pool active\n") && all_active(""));
        assert!(!all_active("  main active\n  other\n"));
    }

    #[test]
    fn the_part_that_lags_behind_tells_how_far_a_group_is() {
        assert_eq!(least_synchronised("  100.00\n  \n  41.50\n".lines()), Some(41.5));
        assert_eq!(least_synchronised("  \n".lines()), None);
    }
}
