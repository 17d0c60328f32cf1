//! btrfs on the targets' devices (`/sys/fs/btrfs`), and pools of ZFS (`/proc/spl/kstat/zfs`).

use super::{names, word};
use crate::source::Source;
use std::path::Path;
use stend_record::parts::PoolState;

/// Files of one pool.
#[derive(Debug)]
pub struct Pool {
    kind: &'static str,
    name: String,
    operation: Source,
    health: Source,
}

/// Each btrfs that has one of the devices, and every pool of ZFS.
pub fn find(root: &Path, devices: &[String]) -> Vec<Pool> {
    let place = root.join("sys/fs/btrfs");
    let ours = |id: &String| names(&place.join(id).join("devices")).iter().any(|member| devices.contains(member));
    let of_btrfs = names(&place).into_iter().filter(ours).map(|name| Pool {
        kind: "btrfs",
        operation: Source::open(&place.join(&name).join("exclusive_operation")),
        health: Source::absent(),
        name,
    });
    let stats = root.join("proc/spl/kstat/zfs");
    // Beside the pools lie files of counters.
    let of_zfs = names(&stats).into_iter().filter(|name| stats.join(name).is_dir()).map(|name| Pool {
        kind: "zfs",
        operation: Source::absent(),
        health: Source::open(&stats.join(&name).join("state")),
        name,
    });
    of_btrfs.chain(of_zfs).collect()
}

impl Pool {
    /// Its state now.
    pub fn read(&mut self) -> PoolState {
        PoolState {
            kind: self.kind.to_string(),
            name: self.name.clone(),
            operation: self.operation.read().and_then(word),
            health: self.health.read().and_then(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_btrfs_counts_if_it_has_a_device_of_the_target_and_pools_of_zfs_always() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("sys/fs/btrfs/aaaa/devices/sda/size", "1");
        put("sys/fs/btrfs/aaaa/exclusive_operation", "balance\n");
        put("sys/fs/btrfs/bbbb/devices/sdb/size", "1");
        put("sys/fs/btrfs/features/raid56", "0");
        put("proc/spl/kstat/zfs/arcstats", "1 2\n");
        put("proc/spl/kstat/zfs/tank/state", "DEGRADED\n");
        put("proc/spl/kstat/zfs/old/txgs", "");
        let mut found = find(dir.path(), &["sda".to_string()]);
        let told: Vec<PoolState> = found.iter_mut().map(Pool::read).collect();
        let pool = |kind: &str, name: &str, operation: Option<&str>, health: Option<&str>| PoolState {
            kind: kind.into(),
            name: name.into(),
            operation: operation.map(String::from),
            health: health.map(String::from),
        };
        let expected = [
            pool("btrfs", "aaaa", Some("balance"), None),
            pool("zfs", "old", None, None),
            pool("zfs", "tank", None, Some("DEGRADED")),
        ];
        assert_eq!(told, expected);
    }
}
