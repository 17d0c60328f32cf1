//! Drives that fail every I/O for a while, one after the other, below what has copies, in a machine of the lab: what was missed in the
//! meantime is made up for, so that the other one may fail then, and no I/O fails. Not part of the usual tests because of its time;
//! `make lab` has it.

mod support;

use std::path::Path;
use support::lab::Machine;
use support::*;

/// Reads and writes everywhere while the second drive is away, and then while the first one is.
const SUITE: &str = "suite: ill\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 30s\n    \
    events: [{at: 3s, for: 4s, do: drive.error, drive: 2}, {at: 22s, for: 4s, do: drive.error, drive: 1}]\n    streams:\n      \
    - {op: {read: 60, write: 40}, pattern: random, block_size: 16KiB, rate: 60/s, queue_depth: 64, verify: {after: true}}\n";
/// All of it is read and compared, beside the load.
const SCRUB: &str = "suite: scrub\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 6s\n    \
    events: [{at: 2s, for: 2s, do: scrub}]\n    streams:\n      \
    - {op: {read: 60, write: 40}, pattern: random, block_size: 16KiB, rate: 60/s, queue_depth: 64, verify: {after: true}}\n";

/// A member goes, and a new one comes.
const LOSS: &str = "suite: loss\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 16s\n    \
    events: [{at: 3s, for: 4s, do: drive.fail, drive: 2}]\n    streams:\n      \
    - {op: {read: 60, write: 40}, pattern: random, block_size: 16KiB, rate: 60/s, queue_depth: 64, verify: {after: true}}\n";

impl Machine<'_> {
    /// What the events of a run did to its one trial. Nothing fails, and all data are as they were written.
    fn events(&self, name: &str, drives: u32, layers: &str, suite: &str) -> serde_json::Value {
        let stand = self.stand(name, drives, layers);
        let (suite, file) = (self.scratch.file("suite.yaml", suite), self.scratch.join("run.stend"));
        drop(std::fs::remove_file(&file));
        let path = file.to_string_lossy().into_owned();
        self.stend(&["run", &suite, "--stand", &stand, "--progress", "none", "-o", &path], 0);
        let found = show_json(self.scratch, Path::new(&path))["faults"][0]["trials"][0].clone();
        assert_eq!((&found["errors"], &found["mismatches"]), (&0.into(), &0.into()), "{name}: {found}");
        assert_eq!(self.guest("wipefs /dev/nvme?n1; dmsetup ls").trim(), "No devices found", "{name}");
        found
    }

    /// One drive after the other, each made up for.
    fn mends(&self, name: &str, layer: &str) {
        let found = self.events(name, 2, &format!("{{dm: {{linear: whole}}}}, {{{layer}}}"), SUITE);
        let moments = found["moments"].as_array().expect("moments").iter();
        let moments: Vec<&str> = moments.filter_map(|one| one["what"]["en"].as_str()).collect();
        let whole = moments.iter().filter(|what| **what == "arrays are whole").count();
        assert!(whole >= 2 && moments.last() == Some(&"arrays are whole"), "{name}: {moments:?}");
        assert!(found["redundant_again_ns"].as_u64().is_some(), "{name}: {found}");
    }
}

fn machine(scratch: &Scratch, name: &'static str, more: &str) {
    let machine = Machine::up(scratch, name, |serial| {
        format!("memory: 1GiB\ncpus: 2\n{more}drives: [{{serial: {serial}, count: 3, size: 160MiB}}]\n")
    });
    match more.is_empty() {
        true => {
            machine.mends("md", "md: {level: 1, member_size: 64MiB}");
            machine.mends("btrfs", "btrfs: {data: raid1, metadata: raid1}");
            machine.events("scrubbed", 2, "btrfs: {data: raid1, metadata: raid1}", SCRUB);
        }
        false => {
            let mirror =
                "zfs: {layout: mirror, ashift: 12, volume: 64MiB, volblocksize: 16KiB, primarycache: metadata}";
            machine.mends("zfs", mirror);
            machine.events("scrubbed", 2, mirror, SCRUB);
            let parity =
                "zfs: {layout: raidz1, ashift: 12, volume: 64MiB, volblocksize: 16KiB, primarycache: metadata}";
            let found = machine.events("lost", 3, parity, LOSS);
            let after = found["redundant_again_ns"].as_u64().unwrap_or_else(|| panic!("{found}"));
            assert!(after > 4_000_000_000, "{found}");
        }
    }
    machine.down();
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn a_drive_that_failed_for_a_while_is_brought_up_to_date_before_the_other_one_fails() {
    machine(&Scratch::new(), "ill", "");
}

#[test]
#[ignore = "needs the image with ZFS: `make lab` builds it"]
fn so_it_is_in_a_pool_of_zfs() {
    machine(&Scratch::new(), "pool", "zfs: true\nkernel: [zfs.zfs_arc_max=67108864]\n");
}
