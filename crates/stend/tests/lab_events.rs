//! Drives that fail every I/O for a while, one after the other, below what has copies, in a machine of the lab: what was missed in the
//! meantime is made up for, so that the other one may fail then, and no I/O fails. Not part of the usual tests because of its time;
//! `make lab` has it.

use crate::support::lab::Machine;
use crate::support::*;
use std::time::Duration;

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

/// A spare takes the place of a member, which works or is gone, once and then once more.
fn spared(event: &str) -> String {
    format!(
        "suite: spared\nfill: {{size: 16MiB}}\nrepeats: {{blocks: 2}}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 14s\n    \
        events: [{{at: 3s, do: {event}, drive: each}}]\n    streams:\n      \
        - {{op: {{read: 60, write: 40}}, pattern: random, block_size: 16KiB, rate: 60/s, queue_depth: 64, verify: {{after: true}}}}\n"
    )
}

/// Data of one drive are wrong, and everything is read back before that is mended.
fn wrong(length: &str) -> String {
    format!(
        "suite: wrong\nfill: {{size: 24MiB}}\nrepeats: {{blocks: 1}}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 8s\n    \
        events: [{{at: 3s, do: drive.corrupt, drive: 1, from: 0B, length: {length}}}]\n    streams:\n      \
        - {{op: {{read: 80, write: 20}}, pattern: random, block_size: 16KiB, rate: 60/s, queue_depth: 64, verify: {{after: true}}}}\n"
    )
}

/// All that the loopback carries is late for a while, and then some of it is lost.
const LINK: &str = "suite: link\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: mix\n    ramp: 500ms\n    trial: 16s\n    \
    events: [{at: 4s, for: 4s, do: link.delay, link: lo, delay: 20ms}, {at: 10s, for: 3s, do: link.loss, link: lo, loss: 2%}]\n    streams:\n      \
    - {op: {read: 60, write: 40}, pattern: random, block_size: 4KiB, rate: 40/s, queue_depth: 64, verify: {after: true}}\n";

/// What is thin gets full by writes alone.
const FULL: &str = "suite: full\nfill: {size: 8MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: reads\n    ramp: 500ms\n    trial: 20s\n    \
    events: [{at: 3s, for: 12s, do: fill, to: 60%}]\n    \
    streams: [{op: {read: 90, write: 10}, pattern: random, block_size: 4KiB, rate: 40/s, queue_depth: 64, verify: {after: true}}]\n";

impl Machine<'_> {
    /// What the events of a run did to its one trial. Nothing fails, and all data are as they were written.
    fn events(&self, name: &str, drives: u32, layers: &str, suite: &str) -> serde_json::Value {
        let found = self.run(name, drives, layers, suite, 0);
        assert_eq!((&found["errors"], &found["mismatches"]), (&0.into(), &0.into()), "{name}: {found}");
        found
    }

    /// What a run says that ends with this code.
    fn told(&self, name: &str, drives: u32, layers: &str, suite: &str, exit: i32) -> String {
        let stand = self.stand(name, drives, layers);
        let (suite, file) = (self.scratch.file("suite.yaml", suite), self.scratch.join("run.stend"));
        drop(std::fs::remove_file(&file));
        let path = file.to_string_lossy().into_owned();
        let words = ["run", &suite, "--stand", &stand, "--progress", "none", "-o", &path, "--allow-commands"];
        self.stend(&words, exit).1
    }

    /// What the events of a run that ends so did to its first trial. Nothing stays.
    fn run(&self, name: &str, drives: u32, layers: &str, suite: &str, exit: i32) -> serde_json::Value {
        self.told(name, drives, layers, suite, exit);
        assert_eq!(self.guest("wipefs /dev/nvme?n1; dmsetup ls").trim(), "No devices found", "{name}");
        self.trial(0)
    }

    /// What the events of the last run did to one of its trials.
    fn trial(&self, index: usize) -> serde_json::Value {
        show_json(self.scratch, &self.scratch.join("run.stend"))["faults"][0]["trials"][index].clone()
    }

    /// The spare takes the place of a member while the load goes on, and there is one for the next trial.
    fn spares(&self, name: &str, drives: u32, layer: &str, event: &str, words: [&str; 2]) {
        self.run(name, drives, layer, &spared(event), 0);
        for (number, found) in [1, 2].map(|number| (number, self.trial(number - 1))) {
            let moments = found["moments"].as_array().expect("moments").iter();
            let moments: Vec<&str> = moments.filter_map(|one| one["what"]["en"].as_str()).collect();
            let [begins, whole, undone] = moments[..] else { panic!("{name}: {moments:?}") };
            assert!(begins.contains(words[0]), "{name}: {moments:?}");
            assert_eq!((whole, undone), ("arrays are whole", words[1]), "{name}, trial {number}");
            assert_eq!((&found["errors"], &found["mismatches"]), (&0.into(), &0.into()), "{name}: {found}");
            let again = found["redundant_again_ns"].as_u64().unwrap_or_else(|| panic!("{name}: {found}"));
            assert!(again > 0, "{name}: {found}");
            assert!(found["rebuilt_ns"].is_null(), "{name}: {found}");
        }
    }

    /// A run that is stopped while a spare gets what a member has calls that off before it takes the stand down.
    fn is_stopped_amid_a_copy(&self, layer: &str) {
        let limit = |speed: u32| format!("echo {speed} > /proc/sys/dev/raid/speed_limit_max");
        // A copy of 64 MiB would take two minutes.
        self.guest(&format!("echo 100 > /proc/sys/dev/raid/speed_limit_min; {}", limit(500)));
        let stand = self.stand("stopped", 4, layer);
        let (suite, file) = (self.scratch.file("suite.yaml", &spared("drive.replace")), self.scratch.join("run.stend"));
        drop(std::fs::remove_file(&file));
        let path = file.to_string_lossy().into_owned();
        let words =
            ["run", &suite, "--stand", &stand, "--progress", "none", "-o", &path, "--allow-commands", "--lab", "ill"];
        let mut run = Running::new(&mut self.command(&words));
        // Md marks the one that gets what another one has.
        let copies = || self.guest("grep -c '(R)' /proc/mdstat || true").trim() == "1";
        eventually("the spare is copied to", Duration::from_secs(120), copies);
        tool(&["kill", "-INT", &run.child.id().to_string()]);
        assert_eq!(run.wait(Duration::from_secs(60)), Some(130));
        self.guest(&limit(200_000));
        let left = self.guest("grep -c ^md /proc/mdstat; wipefs /dev/nvme?n1; dmsetup ls");
        assert_eq!(left.trim(), "0\nNo devices found");
        let done = |begin: &str| self.printed(&format!("mdadm --quiet /dev/md127 {begin}")).len();
        assert_eq!(["--replace", "--fail", "--remove", "--add"].map(done), [1; 4], "the spare is a spare again");
    }

    /// What a command of the last run printed whose words begin so.
    fn printed(&self, begin: &str) -> Vec<String> {
        let run = stend_record::store::read(&self.scratch.join("run.stend")).expect("a run file");
        let told = run.events.into_iter().filter_map(|event| match event.kind {
            stend_record::EventKind::Command { argv, output, .. } if argv.join(" ").starts_with(begin) => Some(output),
            _ => None,
        });
        told.collect()
    }

    /// An array of md does not know that data are wrong, and hands them out; afterwards the member is rebuilt.
    fn is_deceived(&self) {
        let found = self.run("deceived", 2, "md: {level: 1, member_size: 64MiB}", &wrong("32MiB"), 7);
        assert!(found["errors"] == 0 && found["mismatches"].as_u64().is_some_and(|wrong| wrong > 0), "{found}");
        let moments = found["moments"].as_array().expect("moments");
        assert_eq!(moments.last().map(|one| &one["what"]["en"]), Some(&"arrays are whole".into()), "{found}");
    }

    /// What goes over the loopback is late, and the queue that did it is gone.
    fn links(&self) {
        let found = self.events("link", 1, "{nvme_of: {transport: tcp}}", LINK);
        let (before, after) = (&found["p99_before_ns"], &found["p99_after_ns"]);
        // Question and answer both wait.
        let later = after.as_u64().zip(before.as_u64()).map(|(after, before)| after.saturating_sub(before));
        assert!(later.is_some_and(|later| later > 35_000_000), "{found}");
        assert!(self.guest("tc qdisc show dev lo").starts_with("qdisc noqueue 0:"), "{found}");
    }

    /// A pool of LVM gets full by what is written to the file system on it, and empty again.
    fn fills(&self) {
        let layers = "{lvm: {type: thin, virtual_size: 64MiB}}, {fs: {type: ext4}}";
        let found = self.events("full", 1, layers, FULL);
        let moments = found["moments"].as_array().expect("moments").iter();
        let moments: Vec<&str> = moments.filter_map(|one| one["what"]["en"].as_str()).collect();
        assert!(moments.get(1).is_some_and(|told| told.contains("were written in")), "{moments:?}");
        assert!(self.printed("fstrim").len() == 1, "the pool has its blocks again: {moments:?}");
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
        format!("memory: 1GiB\ncpus: 2\n{more}drives: [{{serial: {serial}, count: 4, size: 160MiB}}]\n")
    });
    match more.is_empty() {
        true => {
            machine.mends("md", "md: {level: 1, member_size: 64MiB}");
            machine.mends("btrfs", "btrfs: {data: raid1, metadata: raid1}");
            machine.events("scrubbed", 2, "btrfs: {data: raid1, metadata: raid1}", SCRUB);
            machine.is_deceived();
            let spare = "md: {level: 5, chunk: 64KiB, spares: 1, member_size: 64MiB}";
            machine.spares(
                "replaced",
                4,
                spare,
                "drive.replace",
                ["is replaced by a spare (nvme", "there is a spare again"],
            );
            let replaced = machine.printed("mdadm --quiet /dev/md127 --replace").len();
            assert_eq!((replaced, machine.printed("mdadm --quiet /dev/md127 --add").len()), (2, 2));
            machine.is_stopped_amid_a_copy(
                "md: {level: 5, chunk: 64KiB, spares: 1, member_size: 64MiB, initial_sync: skip}",
            );
            machine.spares(
                "stood-in",
                4,
                spare,
                "drive.fail",
                ["fails and is taken out (nvme", "a new drive is put in"],
            );
            let (text, none) = (spared("drive.replace"), "md: {level: 1, member_size: 64MiB}");
            let refused = machine.told("spareless", 2, none, &text, 4);
            assert!(refused.contains("has no spare: give the layer `md: {spares: 1}`"), "{refused}");
            machine.links();
            machine.fills();
        }
        false => {
            let mirror =
                "zfs: {layout: mirror, ashift: 12, volume: 64MiB, volblocksize: 16KiB, primarycache: metadata}";
            machine.mends("zfs", mirror);
            machine.events("scrubbed", 2, mirror, SCRUB);
            // Wherever the pool keeps the data on the drive, they are in the part that is overwritten.
            machine.events("healed", 2, mirror, &wrong("128MiB"));
            let status = machine.printed("zpool status");
            assert!(status.len() == 1 && !status[0].contains("repaired 0B"), "{status:?}");
            assert!(status[0].contains("with 0 errors"), "{status:?}");
            let spare = "zfs: {layout: mirror, spares: 1, ashift: 12, volume: 64MiB, volblocksize: 16KiB, primarycache: metadata}";
            machine.spares(
                "replaced",
                3,
                spare,
                "drive.replace",
                ["is replaced by a spare (nvme", "there is a spare again"],
            );
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
