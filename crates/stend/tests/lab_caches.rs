//! Logical volumes with a cache, with snapshots and with checksums, and F2FS, in a machine of the lab: what they cost shows, they come back
//! after a restart with what is in them, and leave nothing. Not part of the usual tests because of its time; `make lab` has it.

use crate::support::lab::Machine;
use crate::support::*;
use std::path::Path;

const SUITE: &str = "suite: s\ndefaults: {ramp: 100ms, trial: 2s}\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  \
    - {name: w, streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 32, verify: {after: true}}]}\n";
/// Most I/Os per second of the slow drives and of the fast one.
const SLOW: f64 = 200.0;
const FAST: f64 = 2000.0;

impl Machine<'_> {
    /// A stand on so many of the slow drives, and on the fast one behind them.
    fn volume(&self, name: &str, slow: u32, fast: bool, lvm: &str) -> String {
        let serial = &self.serial;
        let mut drives: Vec<String> = (1..=slow).map(|number| format!("{{id: {serial}S{number}}}")).collect();
        drives.extend(fast.then(|| format!("{{id: {serial}F}}")));
        let text = format!("stand: {name}\ndrives: [{}]\nlayers: [lvm: {lvm}]\n", drives.join(", "));
        self.scratch.file(&format!("{name}.yaml"), &text)
    }

    /// Writes per second, each of which is found again as it was written; and the caveats of the run.
    fn writes(&self, stand: &str) -> (f64, String) {
        let (suite, file) = (self.scratch.file("suite.yaml", SUITE), self.scratch.join("run.stend"));
        drop(std::fs::remove_file(&file));
        let path = file.to_string_lossy().into_owned();
        self.stend(&["run", &suite, "--stand", stand, "--progress", "none", "-o", &path], 0);
        self.leaves_nothing();
        let found = show_json(self.scratch, Path::new(&path));
        let run = stend_record::store::read(&file).expect("a run file");
        let told = run.trials[0].outcome.as_ref().expect("an outcome").verification.as_ref().expect("verified").all();
        assert!(told.wrong() == 0 && told.ok > 0, "{told:?}");
        let rate = found["cases"][0]["iops"]["value"].as_f64().unwrap_or_else(|| panic!("{found}"));
        (rate, found["caveats"].to_string())
    }

    /// What is in it stays, although nothing of it is active, as after a restart of the machine.
    fn comes_back(&self, name: &str, stand: &str) {
        self.stend(&["stand", "up", stand], 0);
        let (group, path) = (format!("stend-{name}-lvm"), format!("/dev/mapper/stend--{name}--lvm-main"));
        self.guest(&format!(
            "printf kept | dd of={path} conv=fsync status=none && vgchange --quiet --activate n {group} >/dev/null"
        ));
        let (_, done) = self.stend(&["stand", "up", stand], 0);
        assert!(done.contains("vgchange") && !done.contains("lvcreate"), "{name}: {done}");
        assert_eq!(self.guest(&format!("head -c 4 {path}")), "kept", "{name}");
        self.stend(&["stand", "down", name], 0);
        self.leaves_nothing();
    }

    fn leaves_nothing(&self) {
        assert_eq!(self.guest("wipefs /dev/nvme?n1; dmsetup ls").trim(), "No devices found");
    }
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn caches_snapshots_and_checksums() {
    let scratch = Scratch::new();
    let machine = Machine::up(&scratch, "caches", |serial| {
        format!(
            "memory: 1GiB\ncpus: 2\ndrives: [{{serial: {serial}S, count: 2, size: 128MiB, iops: {SLOW}}}, {{serial: {serial}F, size: 128MiB, iops: {FAST}}}]\n"
        )
    });

    let of = |name: &str, slow, fast, lvm: &str| {
        let stand = machine.volume(name, slow, fast, lvm);
        machine.comes_back(name, &stand);
        machine.writes(&stand)
    };
    let (plain, caveats) = of("plain", 1, false, "{type: linear}");
    assert!((plain / SLOW - 1.0).abs() < 0.1, "{plain}");
    assert!(!caveats.contains("A cache of"), "{caveats}");
    // Each write waits for the slow drive.
    let (through, caveats) = of("through", 1, true, "{type: cache, mode: writethrough}");
    assert!(through < 1.3 * SLOW, "{through}");
    assert!(caveats.contains("A cache of"), "{caveats}");
    // None does, until half of the fast one is full.
    let (first, caveats) = of("first", 1, true, "{type: writecache}");
    assert!(first > 3.0 * SLOW, "{first}");
    assert!(caveats.contains("A cache of"), "{caveats}");
    of("back", 1, true, "{type: cache, mode: writeback}");

    // A file system that few kernels of hosts have, and machines of the lab do.
    let text = format!("stand: flash\ndrives: [{{id: {}F}}]\nlayers: [fs: {{type: f2fs}}]\n", machine.serial);
    machine.writes(&scratch.file("flash.yaml", &text));

    // The first write to each piece of it is a read and two writes.
    let (copied, _) = of("copied", 1, false, "{type: linear, size: 48MiB, snapshots: 1, chunk: 4KiB}");
    assert!(copied < 1.1 * SLOW, "{copied}");
    of("thin", 1, false, "{type: thin, virtual_size: 48MiB, snapshots: 1}");
    // Two drives, each with a journal of checksums.
    let (checked, _) = of("checked", 2, false, "{type: raid1, size: 32MiB, integrity: journal}");
    assert!(checked < SLOW, "{checked}");
}

/// Paths of iSCSI of which one is the first choice: I/Os go over that alone, over the other while it is gone, and over the first again.
fn alua(machine: &Machine, suite: &str, (left, before): (&str, &str)) {
    let stand = machine.stand("alua", 1, "iscsi: {paths: 2, active: 1}");
    machine.stend(&["stand", "up", &stand], 0);
    let by_port = "for s in /sys/class/iscsi_session/session*; do n=${s##*session}; \
                   echo $(cat /sys/class/iscsi_connection/connection$n:0/persistent_port) $(ls -d $s/device/target*/*/block/*); done | sort | cut -d' ' -f2";
    let disks: Vec<String> = machine.guest(by_port).lines().map(str::to_string).collect();
    let [near, far] = &disks[..] else { panic!("{disks:?}") };
    let states = format!("cat {near}/device/access_state {far}/device/access_state");
    assert_eq!(machine.guest(&states), "active/optimized\nactive/non-optimized\n");
    // Sectors that were read over each path, and a MiB read over both together, past the cache of pages.
    let read = format!(
        "sectors() {{ cut -c 1- $1/stat | tr -s ' ' | sed 's/^ //' | cut -d' ' -f3; }}; a=$(sectors {near}); b=$(sectors {far}); \
        dd if=/dev/mapper/stend-alua-iscsi-1 of=/dev/null bs=64k count=16 iflag=direct status=none; \
        echo $(($(sectors {near}) - a)) $(($(sectors {far}) - b))"
    );
    assert_eq!(machine.guest(&read), "2048 0\n");
    let path = "dmsetup message stend-alua-iscsi-1 0 fail_path $(cat NEAR/dev)".replace("NEAR", near);
    machine.guest(&path);
    assert_eq!(machine.guest(&read), "0 2048\n");
    machine.guest(&path.replace("fail_path", "reinstate_path"));
    machine.guest("dmsetup message stend-alua-iscsi-1 0 switch_group 1");
    assert_eq!(machine.guest(&read), "2048 0\n");
    machine.stend(&["stand", "down", "alua"], 0);
    assert_eq!(machine.guest(left), before);

    let file = machine.scratch.join("alua.stend").to_string_lossy().into_owned();
    drop(std::fs::remove_file(&file));
    machine.stend(&["run", suite, "--stand", &stand, "--progress", "none", "-o", &file], 0);
    let found = &show_json(machine.scratch, Path::new(&file))["faults"][0]["trials"][0];
    let moments = found["moments"].as_array().expect("moments").iter().filter_map(|one| one["what"]["en"].as_str());
    assert_eq!(moments.take(2).collect::<Vec<_>>(), ["path 1 is down", "path 1 is back"], "{found}");
    assert_eq!((&found["errors"], &found["mismatches"]), (&0.into(), &0.into()));
    assert_eq!(machine.guest(left), before);
}

/// What a drive is reached over: paths of NVMe that come and go, and a card for RDMA that the kernel imitates.
#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn ways_to_a_drive_come_and_go_and_leave_nothing() {
    let scratch = Scratch::new();
    let machine = Machine::up(&scratch, "ways", |serial| {
        format!("memory: 1GiB\ncpus: 2\ndrives: [{{serial: {serial}, count: 2, size: 96MiB, iops: 400}}]\n")
    });
    let suite = "suite: s\nfill: {size: 16MiB}\nrepeats: {blocks: 1}\ncases:\n  - name: w\n    ramp: 500ms\n    trial: 8s\n    \
        events: [{at: 2s, for: 3s, do: path.down, path: 1}]\n    streams:\n      \
        - {op: write, pattern: random, block_size: 4KiB, rate: 100/s, queue_depth: 64, verify: {after: true}}\n";
    let suite = scratch.file("ways-suite.yaml", suite);
    let left = "ls /sys/class/net /sys/class/infiniband /sys/kernel/config/nvmet/ports /sys/kernel/config/nvmet/subsystems; \
                ls /sys/class/iscsi_session 2>/dev/null; wipefs /dev/nvme?n1";
    machine.guest(
        "modprobe --all nvmet rdma_rxe; mountpoint --quiet /sys/kernel/config || mount -t configfs configfs /sys/kernel/config",
    );
    let before = machine.guest(left);

    let stand = machine.stand("paths", 1, "nvme_of: {transport: tcp, paths: 2, active: 1, policy: round-robin}");
    machine.stend(&["stand", "up", &stand], 0);
    let told = machine.guest(
        "cat /sys/class/nvme/nvme*/nvme*c*n*/ana_state; cat /sys/class/nvme-subsystem/*/iopolicy | sort | tail -1",
    );
    assert_eq!(told, "optimized\nnon-optimized\nround-robin\n");
    machine.stend(&["stand", "down", "paths"], 0);
    assert_eq!(machine.guest(left), before);

    let file = scratch.join("ways.stend").to_string_lossy().into_owned();
    machine.stend(&["run", &suite, "--stand", &stand, "--progress", "none", "-o", &file], 0);
    let document = show_json(&scratch, Path::new(&file));
    let found = &document["faults"][0]["trials"][0];
    let moments = found["moments"].as_array().expect("moments").iter().filter_map(|one| one["what"]["en"].as_str());
    assert_eq!(moments.take(2).collect::<Vec<_>>(), ["path 1 is down", "path 1 is back"], "{found}");
    assert_eq!((&found["errors"], &found["mismatches"]), (&0.into(), &0.into()));
    assert_eq!(machine.guest(left), before);

    alua(&machine, &suite, (left, &before));

    for (name, layer, over) in [
        ("rdma", "nvme_of: {transport: rdma}", "cat /sys/class/nvme/nvme*/transport | sort | tail -1"),
        ("iser", "iscsi: {transport: iser}", "iscsiadm -m session | cut -d: -f1"),
    ] {
        let stand = machine.stand(name, 1, layer);
        machine.stend(&["stand", "up", &stand], 0);
        assert_eq!(machine.guest(over).trim(), name);
        machine.stend(&["stand", "down", name], 0);
        assert_eq!(machine.guest(left), before, "{name}");
        machine.writes(&stand);
        assert_eq!(machine.guest(left), before, "{name}");
    }
}
