//! States in which the power of a device could have gone, rebuilt from a log of its writes, in a machine of the lab: file systems,
//! arrays, volumes and pools that ask for what they need lose nothing in any of them; one with flushes switched off, or on storage
//! that lies, loses what it acknowledged. Not part of the usual tests because of its time; `make lab` has it.

use crate::support::lab::Machine;
use crate::support::*;
use std::path::Path;

/// Durable writes, few enough that a replay of all of them takes no time.
fn suite(fill: &str, stream: &str) -> String {
    format!(
        "suite: cut\ndefaults: {{ramp: 0s, trial: 4s}}\nfill: {{size: {fill}}}\nrepeats: {{blocks: 1}}\ncases:\n  - name: log\n    \
         streams: [{{op: write, pattern: random, {stream}, sync: {{fdatasync: 1}}, verify: {{crash: true}}}}]\n"
    )
}

const FEW: &str = "block_size: 4KiB, queue_depth: 4, rate: 50/s";

/// States of a stand that are looked at: half of them behind flushes, half at marks.
const POINTS: u32 = 8;

impl Machine<'_> {
    /// A run on what lies on the first of two devices in memory, with a log on the second: its check, and what it printed.
    fn replayed(
        &self,
        name: &str,
        sizes: (&str, &str),
        above: &str,
        suite: &str,
        exit: i32,
    ) -> (serde_json::Value, String) {
        let (data, log) = sizes;
        let text = format!(
            "stand: {name}\nlayers:\n- {{name: data, zram: {{size: {data}}}}}\n- {{name: log, zram: {{size: {log}}}}}\n\
             - {{on: [data, log], dm: {{log_writes: {{points: {POINTS}}}}}}}\n{above}"
        );
        let stand = self.scratch.file(&format!("{name}.yaml"), &text);
        let (suite, file) = (self.scratch.file("suite.yaml", suite), self.scratch.join(&format!("{name}.stend")));
        let path = file.to_string_lossy().into_owned();
        let (_, told) = self.stend(&["run", &suite, "--stand", &stand, "--progress", "plain", "-o", &path], exit);
        let left =
            "dmsetup ls; ls /sys/block | grep -c 'zram[1-9]\\|^md'; ls /run/stend/stands 2>/dev/null | wc -l; true";
        assert_eq!(self.guest(left).trim(), "No devices found\n0\n0", "{name}");
        let findings = show_json(self.scratch, Path::new(&path));
        let checks = findings["cases"][0]["checks"].as_array().expect("checks").clone();
        (checks.into_iter().find(|check| check["id"] == "H81").expect("H81"), told)
    }

    fn keeps(&self, name: &str, sizes: (&str, &str), above: &str) {
        let (check, told) = self.replayed(name, sizes, above, &suite("8MiB", FEW), 0);
        assert_eq!(check["status"], "pass", "{name}: {check}");
        let measured = check["measured"]["en"].as_str().expect("words");
        assert!(measured.starts_with(&format!("in {POINTS} of ")), "{name}: {measured}");
        assert!(told.contains("replaying the log of writes: state "), "{name}: {told}");
    }

    /// It acknowledges what it has not made durable.
    fn loses(&self, name: &str, sizes: (&str, &str), above: &str) {
        let (check, told) = self.replayed(name, sizes, above, &suite("8MiB", FEW), 7);
        assert_eq!(check["status"], "fail", "{name}: {check}");
        let measured = check["measured"]["en"].as_str().expect("words");
        assert!(measured.contains("lost") && measured.contains("of the log"), "{name}: {measured}");
        assert!(told.contains("data read back differ from data written"), "{name}: {told}");
    }
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn what_asks_for_flushes_loses_nothing_at_any_of_them_and_what_does_not_is_told() {
    let scratch = Scratch::new();
    let machine = Machine::up(&scratch, "replay", |serial| {
        format!(
            "memory: 2GiB\ncpus: 2\nzfs: true\nkernel: [zfs.zfs_arc_max=67108864]\ndrives: [{{serial: {serial}, size: 64MiB}}]\n"
        )
    });
    let small = ("64MiB", "192MiB");
    machine.keeps("ext4", small, "- fs: {type: ext4}\n");
    machine.keeps("crypt", small, "- {name: crypt, dm: {crypt: aes-128-xts}}\n- fs: {type: ext4}\n");
    machine.keeps("bare", small, "");
    machine.keeps("xfs", ("320MiB", "640MiB"), "- fs: {type: xfs}\n");
    machine.keeps("btrfs", ("256MiB", "512MiB"), "- luns: {count: 2}\n- btrfs: {data: raid1, metadata: raid1}\n");

    // Members are parts of one device: each state is one moment of all of them.
    let (parts, ext4) = (("96MiB", "320MiB"), "- fs: {type: ext4}\n");
    let md = |kept| format!("- luns: {{count: 4}}\n- md: {{level: 5, chunk: 64KiB, consistency: {kept}}}\n");
    machine.keeps("md", parts, &format!("{}{ext4}", md("ppl")));
    machine.keeps("thin", parts, &format!("- luns: {{count: 2}}\n- lvm: {{type: thin, virtual_size: 64MiB}}\n{ext4}"));
    machine.keeps("zfs", ("200MiB", "512MiB"), "- luns: {count: 3}\n- zfs: {layout: raidz1}\n");

    machine.loses("lies", small, "- fs: {type: ext4, options: [nobarrier]}\n");
    // Not with `ppl`: there md itself flushes its members, so that nothing is missed.
    machine.loses("md-lies", parts, &format!("{}- fs: {{type: ext4, options: [nobarrier]}}\n", md("bitmap")));
    machine.loses("zfs-lies", ("200MiB", "512MiB"), "- luns: {count: 3}\n- zfs: {layout: raidz1, sync: disabled}\n");
    // Every other second its writes are dropped, and the others are there.
    machine.loses("drops", small, "- {name: drops, dm: {flakey: {up: 1s, down: 1s, drop: writes}}}\n");
    let run = stend_record::store::read(&scratch.join("drops.stend")).expect("a run file");
    let last = run.crashes().last().expect("states");
    assert!(last.wrong() > 10 && last.checked.ok > 10, "a part of it: {last:?}");

    // What the log could not take was not logged, so nothing can be said.
    let twice = "fill: {size: 40MiB}\nprecondition: {passes: 2}";
    let many = suite("40MiB", FEW).replace("fill: {size: 40MiB}", twice);
    let (check, told) = machine.replayed("full", ("64MiB", "64MiB"), "- fs: {type: ext4}\n", &many, 4);
    assert!(told.contains("the log of writes on `/dev/zram") && told.contains("was full"), "{told}");
    assert_eq!(check["status"], "not_applicable", "{check}");
    machine.down();
}
