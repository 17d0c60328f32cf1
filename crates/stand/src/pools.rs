//! Pools of ZFS that are imported: the kernel opens their devices without a holder and tells nobody which they are, so that its own
//! tool is asked. Reads only.

use crate::roots::{Roots, names, text};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the tool may take: a pool whose devices hang would keep it for ever.
const PATIENCE: Duration = Duration::from_secs(10);
/// Deepest nesting of datasets that volumes are looked for in; ZFS itself takes 50.
const DEPTH_MAX: u32 = 50;

/// Headings under which devices stand that keep no data of their own.
const HELPERS: [&str; 3] = ["logs", "cache", SPARES];
/// The heading of spares in what `zpool list` prints; that of `zpool status` has an s at its end.
const SPARES: &str = "spare";

/// An imported pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pool {
    pub name: String,
    pub devices: Vec<Device>,
    /// Its volumes: name of the dataset, and kernel name of the device.
    pub volumes: Vec<(String, String)>,
}

/// A device of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    /// Path below `/dev`, as the pool knows it: it takes no other name.
    pub path: String,
    /// What it belongs to: `mirror-0`, `raidz1-0`, …; nothing in a stripe; `logs`, `cache` and the like if it keeps no data.
    pub group: String,
}

impl Device {
    /// Whether it keeps data, and is no log, cache or spare.
    pub fn keeps_data(&self) -> bool {
        !HELPERS.contains(&self.group.as_str())
    }

    /// Whether it is a spare; one that stands in for a member is listed twice, and is one, too.
    pub fn is_spare(&self) -> bool {
        self.group == SPARES
    }

    /// Whether others have what it has.
    pub fn is_redundant(&self) -> bool {
        ["mirror-", "raidz", "draid", "spare-"].iter().any(|word| self.group.starts_with(word))
    }
}

/// Whether a pool of this name is imported.
pub(crate) fn is_imported(roots: &Roots, name: &str) -> bool {
    !name.is_empty() && stats(roots).join(name).is_dir()
}

/// Every imported pool.
pub(crate) fn all(roots: &Roots) -> Vec<Pool> {
    let known: Vec<String> = names(stats(roots)).into_iter().filter(|name| is_imported(roots, name)).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let mut pools = members(&ask(&["zpool", "list", "-vHP"]));
    pools.retain(|pool| known.contains(&pool.name));
    for pool in &mut pools {
        let place = roots.dev.join("zvol").join(&pool.name);
        volumes(&place, &pool.name, 0, &mut pool.volumes);
    }
    pools
}

/// What a tool of ZFS prints; nothing where it is not there, fails, or takes too long.
pub(crate) fn ask(words: &[&str]) -> String {
    let since = Instant::now();
    let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
    crate::command::execute_plainly(&words, &|| since.elapsed() > PATIENCE, &mut |_| {}).unwrap_or_default()
}

fn stats(roots: &Roots) -> std::path::PathBuf {
    roots.proc.join("spl/kstat/zfs")
}

/// Pools and their devices: a line of a pool begins with its name, lines of what it consists of with a tab, devices have paths, and
/// headings such as `logs` are padded with spaces.
//= OpenZFS, zpool-list(8): "-H: do not print headers and separate fields by a single tab", "-P: display full paths"
fn members(told: &str) -> Vec<Pool> {
    let mut pools: Vec<Pool> = Vec::new();
    let mut group = String::new();
    for line in told.lines() {
        let mut fields = line.split('\t');
        match (fields.next(), fields.next()) {
            (Some(""), Some(path)) if path.starts_with("/dev/") => {
                if let Some(pool) = pools.last_mut() {
                    pool.devices.push(Device { path: path.to_string(), group: group.clone() });
                }
            }
            // Below a heading mirrors are still logs.
            (Some(""), Some(name)) if !HELPERS.contains(&group.as_str()) => group = name.to_string(),
            (Some(""), Some(_)) => {}
            (Some(name), Some(_)) => {
                group.clear();
                pools.push(Pool { name: name.to_string(), devices: Vec::new(), volumes: Vec::new() });
            }
            (Some(heading), None) => group = heading.split(' ').next().unwrap_or_default().to_string(),
            (None, _) => {}
        }
    }
    pools
}

/// Volumes by the links that udev makes: `/dev/zvol/POOL/DATASET` leads to `../../zd0`.
fn volumes(place: &Path, dataset: &str, depth: u32, found: &mut Vec<(String, String)>) {
    for name in names(place) {
        let (path, dataset) = (place.join(&name), format!("{dataset}/{name}"));
        match std::fs::read_link(&path) {
            Ok(target) => {
                let device = target.file_name().map(|name| name.to_string_lossy().into_owned());
                // Links to partitions of volumes stand beside theirs.
                found.extend(device.filter(|device| !device.contains('p')).map(|device| (dataset, device)));
            }
            Err(_) if depth < DEPTH_MAX => volumes(&path, &dataset, depth + 1, found),
            Err(_) => {}
        }
    }
}

/// Health of a pool as its tool tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Health {
    /// `ONLINE`, `DEGRADED`, …
    pub state: String,
    /// Devices that are not as they should be.
    pub missing: u64,
    /// How far a resilver is, percent.
    pub resilver: Option<u64>,
}

/// What the kernel says of an imported pool, without asking any tool: `ONLINE`, `DEGRADED`, …
pub(crate) fn state(roots: &Roots, name: &str) -> Option<String> {
    text(stats(roots).join(name).join("state"))
}

/// How a pool is; `None` if it is not imported, or its tool does not answer.
pub(crate) fn health(roots: &Roots, name: &str) -> Option<Health> {
    is_imported(roots, name).then(|| told_health(&ask(&["zpool", "status", "-P", name]))).flatten()
}

/// The tool waits for the pool, and says nothing while that stands still.
fn told_health(told: &str) -> Option<Health> {
    let field = |name: &str| told.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
    let sick = |line: &&str| {
        let mut words = line.split_whitespace();
        let (name, state) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        // A device that is gone stands there by a number. Those of a cache and spares have no or another word when they are well.
        let leaf = name.starts_with('/') || name.bytes().all(|byte| byte.is_ascii_digit());
        leaf && matches!(state, "DEGRADED" | "FAULTED" | "OFFLINE" | "REMOVED" | "UNAVAIL")
    };
    let far = || {
        let line = told.lines().find(|line| line.contains("% done"))?;
        let percent = line.split('%').next()?.rsplit([' ', ',']).next()?;
        percent.parse::<f64>().ok().map(|percent| percent as u64)
    };
    let resilvers = field("scan:").is_some_and(|scan| scan.starts_with("resilver in progress"));
    Some(Health {
        state: field("state:")?.to_string(),
        missing: told.lines().filter(sick).count() as u64,
        resilver: resilvers.then(|| far().unwrap_or(0)),
    })
}

/// The comment of an imported pool.
pub(crate) fn comment(roots: &Roots, name: &str) -> Option<String> {
    let comment = || ask(&["zpool", "get", "-H", "-o", "value", "comment", name]);
    is_imported(roots, name).then(comment).filter(|comment| !comment.is_empty())
}

/// Whether an imported pool has a dataset.
pub(crate) fn has_dataset(roots: &Roots, pool: &str, dataset: &str) -> bool {
    let told = || ask(&["zfs", "list", "-H", "-o", "name", dataset]);
    is_imported(roots, pool) && told().lines().any(|line| line.trim() == dataset)
}

/// The pool of a dataset: what stands before the first `/`.
pub(crate) fn of_dataset(dataset: &str) -> &str {
    dataset.split(['/', '@']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_a_pool_have_paths_and_groups_have_none() {
        let told = "tank\t1.98G\t600K\t1.98G\t-\t-\t0%\t0%\t1.00x\tONLINE\t-\n\tmirror-0\t496M\t140K\t496M\t-\t-\t0%\t0.02%\t-\tONLINE\n\
                    \t/dev/nvme0n1p1\t511M\t-\t-\t-\t-\t-\t-\t-\tONLINE\n\t/dev/nvme1n1p1\t511M\t-\t-\t-\t-\t-\t-\t-\tONLINE\n\
                    logs                    -      -      -\n\t/dev/sdb\t511M\t0\t511M\t-\t-\t0%\t0%\t-\tONLINE\n\
                    spare                   -      -      -      -        -         -      -      -      -  -\n\t/dev/sdd\t-\t-\t-\t-\t-\t-\t-\t-\tAVAIL\t-\nother\t1G\t0\t1G\n\t/dev/sdc\t1G\n";
        let found = members(told);
        let device = |d: &Device| format!("{}({}{})", d.path, d.group, if d.keeps_data() { "" } else { ", helps" });
        let shown = found
            .iter()
            .map(|pool| format!("{}: {}", pool.name, pool.devices.iter().map(device).collect::<Vec<_>>().join(" ")));
        let shown: Vec<String> = shown.collect();
        assert_eq!(
            shown,
            [
                "tank: /dev/nvme0n1p1(mirror-0) /dev/nvme1n1p1(mirror-0) /dev/sdb(logs, helps) /dev/sdd(spare, helps)",
                "other: /dev/sdc()"
            ]
        );
        assert!(found[0].devices[0].is_redundant() && !found[1].devices[0].is_redundant());
    }

    #[test]
    fn volumes_are_found_by_their_links_at_any_depth_and_their_partitions_are_not() {
        let tree = tempfile::tempdir().unwrap();
        let place = tree.path().join("tank");
        std::fs::create_dir_all(place.join("deep")).unwrap();
        for (link, target) in [("main", "../../zd0"), ("main-part1", "../../zd0p1"), ("deep/v", "../../../zd16")] {
            std::os::unix::fs::symlink(target, place.join(link)).unwrap();
        }
        let mut found = Vec::new();
        volumes(&place, "tank", 0, &mut found);
        assert_eq!(found, [("tank/deep/v".into(), "zd16".into()), ("tank/main".to_string(), "zd0".to_string())]);
    }

    #[test]
    fn a_pool_tells_how_it_is() {
        let well = "  pool: t\n state: ONLINE\nconfig:\n\n\tNAME STATE READ WRITE CKSUM\n\tt ONLINE 0 0 0\n\t  /dev/sda ONLINE 0 0 0\n";
        assert_eq!(told_health(well), Some(Health { state: "ONLINE".into(), missing: 0, resilver: None }));
        let sick = "  pool: t\n state: DEGRADED\n  scan: resilver in progress since Mon Nov 23 18:00:00 2026\n\
                    \t1.00G / 2.00G scanned, 512M / 2.00G issued at 10M/s\n\t512M resilvered, 25.61% done, 00:02:30 to go\nconfig:\n\n\
                    \tNAME STATE\n\tt DEGRADED 0 0 0\n\t  mirror-0 DEGRADED 0 0 0\n\t    /dev/sda ONLINE 0 0 0\n\
                    \t    9213 UNAVAIL 0 0 0 was /dev/sdb\n";
        assert_eq!(told_health(sick), Some(Health { state: "DEGRADED".into(), missing: 1, resilver: Some(25) }));
    }

    #[test]
    fn a_pool_that_does_not_answer_is_not_called_whole() {
        assert_eq!(told_health(""), None);
        assert_eq!(told_health("cannot open 't': pool I/O is currently suspended\n"), None);
    }

    #[test]
    fn without_zfs_there_is_no_pool() {
        let tree = tempfile::tempdir().unwrap();
        let roots = Roots::under(tree.path());
        assert!(all(&roots).is_empty() && health(&roots, "tank").is_none() && comment(&roots, "tank").is_none());
        assert_eq!((of_dataset("tank/a/b"), of_dataset("tank")), ("tank", "tank"));
    }
}
