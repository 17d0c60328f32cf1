//! Whether the programs that changes need are on this host.

use super::action::Action;
use stend_base::{Code, Error, Result, say};

/// Programs and the packages of Debian that have them.
const PACKAGES: [(&str, &str); 52] = [
    ("blkdiscard", "util-linux"),
    ("ceph", "ceph-common"),
    ("ceph-authtool", "ceph-common"),
    ("ceph-fuse", "ceph-fuse"),
    ("ceph-mds", "ceph-mds"),
    ("ceph-mgr", "ceph-mgr"),
    ("ceph-mon", "ceph-mon"),
    ("ceph-osd", "ceph-osd"),
    ("cmp", "diffutils"),
    ("dmsetup", "dmsetup"),
    ("drbdadm", "drbd-utils"),
    ("drbdmeta", "drbd-utils"),
    ("drbdsetup", "drbd-utils"),
    ("exportfs", "nfs-kernel-server"),
    ("fallocate", "util-linux"),
    ("integritysetup", "cryptsetup-bin"),
    ("ip", "iproute2"),
    ("iscsiadm", "open-iscsi"),
    ("iscsid", "open-iscsi"),
    ("ln", "coreutils"),
    ("losetup", "mount"),
    ("lvconvert", "lvm2"),
    ("lvcreate", "lvm2"),
    ("lvremove", "lvm2"),
    ("mdadm", "mdadm"),
    ("mkdir", "coreutils"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.f2fs", "f2fs-tools"),
    ("mkfs.xfs", "xfsprogs"),
    ("monmaptool", "ceph-common"),
    ("mount", "mount"),
    ("mv", "coreutils"),
    ("nbd-client", "nbd-client"),
    ("nbd-server", "nbd-server"),
    ("nvme", "nvme-cli"),
    ("partx", "util-linux"),
    ("prlimit", "util-linux"),
    ("pvcreate", "lvm2"),
    ("pvremove", "lvm2"),
    ("rdma", "iproute2"),
    ("rm", "coreutils"),
    ("rpc.mountd", "nfs-kernel-server"),
    ("rmdir", "coreutils"),
    ("sgdisk", "gdisk"),
    ("umount", "mount"),
    ("vgchange", "lvm2"),
    ("vgcreate", "lvm2"),
    ("vgremove", "lvm2"),
    ("wipefs", "util-linux"),
    ("zfs", "zfsutils-linux"),
    ("zpool", "zfsutils-linux"),
];
/// Refuses a stand whose programs are not here, before anything is changed: each with the package that has it.
pub(crate) fn must_have<'a>(actions: impl IntoIterator<Item = &'a Action>) -> Result<()> {
    let mut lacking: Vec<&str> =
        actions.into_iter().filter_map(Action::program).filter(|name| !is_there(name)).collect();
    lacking.sort_unstable();
    lacking.dedup();
    if lacking.is_empty() {
        return Ok(());
    }
    let mut packages: Vec<&str> =
        PACKAGES.iter().filter(|(program, _)| lacking.contains(program)).map(|p| p.1).collect();
    packages.sort_unstable();
    packages.dedup();
    let (lacking, packages) = (lacking.join("`, `"), packages.join(" "));
    Err(Error::new(
        Code::ProgramMissing,
        say!(
            "this host lacks the programs `{lacking}`, which the stand needs",
            "на этой машине нет программ, нужных стенду: `{lacking}`"
        ),
    )
    .hint(say!(
        "Debian and Ubuntu have them in: `apt-get install {packages}`",
        "в Debian и Ubuntu они в пакетах: `apt-get install {packages}`"
    )))
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::run;

    #[test]
    fn every_program_that_is_missing_is_named_with_its_package() {
        let actions = [run("no-such-program -x", &[]), run("mkdir --", &["/x"]), Action::Module("x".into())];
        let error = must_have(&actions).unwrap_err();
        assert!(error.message.en.contains("`no-such-program`") && !error.message.en.contains("mkdir"), "{error}");
        assert!(must_have(&actions[1..]).is_ok());
        for (program, package) in PACKAGES {
            assert!(!program.is_empty() && !package.is_empty());
        }
    }
}
