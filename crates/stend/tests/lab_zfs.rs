//! Stands of ZFS in a machine of the lab, with the modules that `lab build` made for its kernel. Not part of the usual tests: its
//! image takes ten minutes to build, and the test itself some more under emulation. `make lab` does both.

use crate::support::lab::Machine;
use crate::support::*;
use std::path::Path;
use stend_record::RunRecord;

const SUITE: &str = "suite: s\ndefaults: {ramp: 100ms, trial: 2s}\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  \
    - {name: v, streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 16KiB, verify: {after: true}}]}\n";
/// What lies on the drives at one moment is put back after the pool was let go: as a cut of power would have left it.
const POWER_CUT: &str = "set -e; mkdir /dev/shm/then\n\
    for d in /dev/nvme?n1; do dd if=$d of=/dev/shm/then/${d##*/} bs=1M conv=sparse iflag=direct status=none; done\n\
    zpool export stend-volume-zfs\n\
    for d in /dev/nvme?n1; do dd if=/dev/shm/then/${d##*/} of=$d bs=1M conv=notrunc oflag=direct status=none; done\n\
    rm -r /dev/shm/then; zdb -l /dev/nvme0n1p1 | grep -w state";

impl Machine<'_> {
    /// A run on a stand: everything that it wrote is read again as it should be, and its bytes are found at these drives.
    fn verified(&self, stand: &str, drives: &[&str]) -> RunRecord {
        let (suite, file) = (self.scratch.file("suite.yaml", SUITE), self.scratch.join("run.stend"));
        drop(std::fs::remove_file(&file));
        let path = file.to_string_lossy().into_owned();
        self.stend(&["run", &suite, "--stand", stand, "--progress", "none", "-o", &path], 0);
        let run = stend_record::store::read(&file).expect("a run file");
        let told = run.trials[0].outcome.as_ref().expect("an outcome").verification.as_ref().expect("verified").all();
        assert!(told.wrong() == 0 && told.ok > 0, "{told:?}");
        let found = show_json(self.scratch, Path::new(&path));
        let checks = found["cases"][0]["checks"].as_array().expect("checks");
        let bytes = checks.iter().find(|check| check["id"] == "H11").expect("H11")["measured"]["en"].to_string();
        assert!(drives.iter().all(|drive| bytes.contains(drive)), "{bytes}");
        run
    }

    fn no_pool_is_left(&self) {
        assert_eq!(self.guest("wipefs /dev/nvme?n1; ls /dev/nvme?n1p* 2>/dev/null; zpool list -H"), "");
    }
}

#[test]
#[ignore = "needs the image with ZFS: `make lab` builds it"]
fn zfs() {
    let scratch = Scratch::new();
    let machine = Machine::up(&scratch, "pools", |serial| {
        format!(
            "memory: 1GiB\ncpus: 2\nzfs: true\nkernel: [zfs.zfs_arc_max=67108864]\ndrives: [{{serial: {serial}, count: 4, size: 128MiB}}]\n"
        )
    });
    let all = ["nvme0n1", "nvme1n1", "nvme2n1", "nvme3n1"];

    let stand = machine.stand(
        "volume",
        4,
        "zfs: {layout: raidz1, log: 1, ashift: 12, volume: 64MiB, volblocksize: 16KiB, primarycache: metadata}",
    );
    let (_, done) = machine.stend(&["stand", "up", &stand], 0);
    assert!(done.contains("zpool create") && !done.contains("import"), "{done}");
    machine.verified(&stand, &all);
    assert!(machine.stend(&["stand", "status", "volume"], 0).0.contains("ONLINE"));

    // Its drives are nobody else's, whatever signatures another stand gives up.
    let other = machine.stand("other", 4, "zfs: {layout: stripe}");
    std::fs::write(&other, std::fs::read_to_string(&other).expect("a stand") + "overwrite: [gpt, zfs_member]\n")
        .expect("written");
    let (_, refused) = machine.stend(&["stand", "up", &other], 5);
    assert!(refused.contains("`zfs_member` signature"), "{refused}");

    machine.guest("printf kept | dd of=/dev/zvol/stend-volume-zfs/main conv=fsync status=none");
    assert!(machine.guest(POWER_CUT).contains("state: 0"), "the pool was in use");
    assert!(machine.stend(&["stand", "status", "volume"], 0).0.contains("not there"));
    let (_, done) = machine.stend(&["stand", "up", &stand], 0);
    assert!(done.contains("zpool import") && !done.contains("create"), "{done}");
    assert_eq!(machine.guest("head -c 4 /dev/zvol/stend-volume-zfs/main"), "kept");

    let second = machine.guest("zpool list -vHP | grep -o '/dev/disk.*2-part1'");
    machine.guest(&format!("zpool offline stend-volume-zfs {}", second.trim()));
    let (told, _) = machine.stend(&["stand", "status", "volume"], 0);
    assert!(told.contains("DEGRADED; degraded: 1 members are missing"), "{told}");
    machine.stend(&["stand", "down", "volume"], 0);
    machine.no_pool_is_left();

    let stand = machine.stand(
        "files",
        4,
        "zfs: {layout: mirror, log: 1, cache: 1, recordsize: 16KiB, atime: false, compression: lz4}",
    );
    let run = machine.verified(&stand, &all);
    assert_eq!(run.load().targets[0].file_system.as_deref(), Some("zfs"));
    machine.no_pool_is_left();
}
