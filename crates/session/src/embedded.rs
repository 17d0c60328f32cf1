//! Files inside the binary: stands, machines of the lab, published tables and what other monitors load. The name of each is its path in
//! the repository without the folder and the extension.

use std::path::{Component, Path, PathBuf};

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    /// What the command line takes.
    pub name: &'static str,
    /// Path in the repository, where relative paths in the file begin.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// A folder of them.
pub struct Embedded(&'static [File]);

/// The files of a folder by their names.
macro_rules! embedded {
    ($folder:literal, $extension:literal, [$($name:literal),* $(,)?]) => {
        Embedded(&[$(File {
            name: $name,
            path: concat!($folder, "/", $name, $extension),
            text: include_str!(concat!("../../../", $folder, "/", $name, $extension)),
        }),*])
    };
}

/// Stand files.
pub const STANDS: Embedded = embedded!(
    "stands",
    ".yaml",
    [
        "array-iscsi",
        "array-luns",
        "array-paths",
        "array/two-nodes",
        "btrfs-raid1",
        "cache/none",
        "cache/writeback",
        "cache/writecache",
        "cache/writethrough",
        "ceph/ec-3-2",
        "ceph/replicated",
        "checksums",
        "drbd/protocol-a",
        "drbd/protocol-b",
        "drbd/protocol-c",
        "iscsi",
        "iscsi-iser",
        "log-writes-ext4",
        "log-writes-lvm-thin",
        "log-writes-md-raid5",
        "log-writes-zfs",
        "nbd",
        "nfs",
        "nvme-paths",
        "nvme-rdma",
        "nvme-tcp",
        "partitions",
        "rehearse/md-raid5",
        "sectors",
        "snapshot/classic",
        "snapshot/none",
        "snapshot/thin",
        "soft-raid/lvm-raid5",
        "soft-raid/lvm-raid5-anywhere",
        "soft-raid/lvm-raid5-normal",
        "soft-raid/lvm-striped",
        "soft-raid/lvm-vdo-raid5",
        "soft-raid/lvm-vdo-stripe",
        "soft-raid/md-raid0",
        "soft-raid/md-raid10",
        "soft-raid/md-raid5",
        "soft-raid/md-raid5-log",
        "soft-raid/md-raid5-ppl",
        "soft-raid/md-raid6",
        "soft-raid/single",
        "soft-raid/zfs-files-raidz",
        "soft-raid/zfs-files-raidz-64k",
        "soft-raid/zfs-files-raidz-8k",
        "soft-raid/zfs-files-stripe",
        "soft-raid/zfs-files-stripe-64k",
        "soft-raid/zfs-files-stripe-8k",
        "soft-raid/zfs-mirrors",
        "soft-raid/zfs-raidz",
        "soft-raid/zfs-raidz-64k",
        "soft-raid/zfs-raidz-8k",
        "soft-raid/zfs-stripe",
        "soft-raid/zfs-stripe-64k",
        "soft-raid/zfs-stripe-8k",
        "soft-raid/zfs-stripe-cached",
        "soft-raid/zfs-stripe-dedup",
        "stripes-raid0",
        "stripes-raid5",
        "two/iscsi",
        "two/nbd",
        "two/nfs",
        "two/nvme-rdma",
        "two/nvme-tcp",
        "xfs",
    ]
);

/// Machine files.
pub const MACHINES: Embedded = embedded!(
    "lab",
    ".yaml",
    [
        "array/client",
        "array/node1",
        "array/node2",
        "cached",
        "drbd/a",
        "drbd/b",
        "numa",
        "nvme",
        "six-nvme",
        "soft-raid",
        "two-paths",
        "two/client",
        "two/storage",
        "zfs"
    ]
);

/// Published tables.
pub const TABLES: Embedded =
    embedded!("published", ".csv", ["elbrus-kernel54", "numa-upi", "nvme-soft-raid", "ssd-vs-sas", "vz-storage"]);

/// What other monitors load: dashboards of Grafana, alert rules of Prometheus, a template of Zabbix, a configuration of OpenTelemetry's collector. Their names keep the extension.
pub const MONITORING: Embedded = embedded!(
    "monitoring",
    "",
    [
        "grafana/en/drive.json",
        "grafana/en/host.json",
        "grafana/en/run.json",
        "grafana/ru/drive.json",
        "grafana/ru/host.json",
        "grafana/ru/run.json",
        "opentelemetry/collector.yaml",
        "prometheus/rules.yaml",
        "snmp/STEND-MIB.txt",
        "zabbix/en/stend.yaml",
        "zabbix/ru/stend.yaml",
    ]
);

impl Embedded {
    /// All of them, by name.
    pub fn all(&self) -> &'static [File] {
        self.0
    }

    /// The file of that name or path, unless the user has a file there: that comes first.
    pub fn find(&self, wanted: &str) -> Option<&'static File> {
        self.named(wanted).filter(|_| !Path::new(wanted).is_file())
    }

    /// The file of that name or path.
    pub fn named(&self, wanted: &str) -> Option<&'static File> {
        let path = in_repository(Path::new(wanted));
        self.0.iter().find(|file| file.name == wanted || path.as_deref() == Some(Path::new(file.path)))
    }
}

/// A relative path without `.` and `..`; `None` where it leads out of the repository.
fn in_repository(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir if plain.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Paths of the files of a folder, and of the folders below it.
    fn below(root: &Path, folder: &str, extension: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for entry in std::fs::read_dir(root.join(folder)).unwrap().flatten() {
            let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
            match entry.path().is_dir() {
                true => found.extend(below(root, &path, extension)),
                false => found.extend(path.ends_with(extension).then_some(path)),
            }
        }
        found
    }

    #[test]
    fn every_file_of_the_folders_is_embedded_and_can_be_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (embedded, folder, extension) in [
            (STANDS, "stands", ".yaml"),
            (MACHINES, "lab", ".yaml"),
            (TABLES, "published", ".csv"),
            (MONITORING, "monitoring", ""),
        ] {
            let mut expected = below(&root, folder, extension);
            // Suites are built in as suites.
            expected.retain(|path| !path.starts_with("lab/suites/"));
            let paths: BTreeSet<String> = embedded.all().iter().map(|file| file.path.to_string()).collect();
            assert_eq!((paths, embedded.all().len()), (expected.clone(), expected.len()));
        }
        STANDS.all().iter().for_each(|file| drop(stend_spec::parse::stand(file.text, file.path).unwrap()));
        MACHINES.all().iter().for_each(|file| drop(stend_spec::parse::machine(file.text, file.path).unwrap()));
        TABLES.all().iter().for_each(|file| drop(stend_interop::read(file.text.as_bytes(), file.path).unwrap()));
    }

    /// `stend stand down NAME` takes the name of a stand, too: where it is that of a file, both are the same stand on this host.
    #[test]
    fn a_file_without_a_folder_has_the_name_of_its_stand() {
        for file in STANDS.all().iter().filter(|file| !file.name.contains('/')) {
            let stand = stend_spec::parse::stand(file.text, file.path).unwrap();
            assert_eq!((stand.name.as_str(), stand.machine, stand.hosts), (file.name, None, Vec::new()));
        }
    }

    #[test]
    fn a_file_is_found_by_its_name_and_by_its_path_in_the_repository() {
        let name = |embedded: &Embedded, wanted| embedded.find(wanted).map(|file| file.name);
        for wanted in ["cache/none", "stands/cache/none.yaml", "./stands/two/../cache/none.yaml"] {
            assert_eq!(name(&STANDS, wanted), Some("cache/none"), "{wanted}");
        }
        assert_eq!(name(&MACHINES, "./stands/rehearse/../../lab/six-nvme.yaml"), Some("six-nvme"));
        for other in ["", ".", "none", "cache/none.yaml", "/stands/cache/none.yaml", "../stands/cache/none.yaml"] {
            assert_eq!(name(&STANDS, other), None, "{other}");
        }
    }

    #[test]
    fn a_file_of_the_user_comes_first() {
        let own = tempfile::NamedTempFile::new().unwrap();
        let name: &'static str = own.path().to_string_lossy().into_owned().leak();
        let embedded = Embedded(vec![File { name, path: name, text: "" }].leak());
        assert_eq!(embedded.find(name), None);
        own.close().unwrap();
        assert!(embedded.find(name).is_some());
    }
}
