//! A machine of the lab that stays up between commands: what is done in it and to it, and that nothing stays of it. One
//! machine for all of that, because a start takes several seconds.

use crate::support::lab::{cached, emulators, identity, ready, served};
use crate::support::*;
use std::cell::RefCell;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use stend_base::Bytes;

/// A machine that is up.
struct Up<'a> {
    scratch: &'a Scratch,
    place: String,
    serial: String,
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        // A test that failed leaves it up.
        drop(output(&mut self.command(&["lab", "down", "tested"])));
    }
}

impl Up<'_> {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = stend(self.scratch, words);
        command.env("XDG_RUNTIME_DIR", &self.place);
        command
    }

    /// The command of this machine with this exit code; its standard output and error.
    fn lab(&self, words: &[&str], code: i32) -> (String, String) {
        expect_exit(&mut self.command(words), code)
    }

    /// What a script prints in the guest; it must succeed.
    fn guest(&self, script: &str) -> String {
        self.lab(&["lab", "shell", "tested", "--", "sh", "-c", script], 0).0
    }

    /// The n-th drive by its serial number, in the guest.
    fn drive(&self, number: u32) -> String {
        format!("/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{}{number}", self.serial)
    }

    fn succeeds(&self, script: &str) -> bool {
        let output: Output = output(&mut self.command(&["lab", "shell", "tested", "--", "sh", "-c", script]));
        output.status.success()
    }
}

const SUITE: &str = "suite: s\ndefaults: {ramp: 100ms, trial: 500ms}\nfill: {size: 4MiB}\nrepeats: {blocks: 1}\ncases:\n  \
    - {name: v, streams: [{op: {read: 50, write: 50}, pattern: random, block_size: 4KiB, verify: {after: true}}]}\n";

#[test]
fn a_machine_stays_up_for_runs_commands_and_faults_until_it_is_ended() {
    let scratch = Scratch::new();
    if !ready(&scratch, "a_machine_stays_up_for_runs_commands_and_faults_until_it_is_ended") {
        return;
    }
    let before = cached();
    let up = Up { place: scratch.directory("run"), serial: format!("T{}U", std::process::id()), scratch: &scratch };
    let drive =
        |node: u32| format!("  - {{serial: {}, count: 2, node: {node}, size: 64MiB, latency: 1ms}}\n", up.serial);
    let text = format!(
        "machine: tested\nnuma: [{{cpus: 1, memory: 512MiB}}, {{cpus: 1, memory: 512MiB}}]\ndrives:\n{}{}",
        drive(0),
        drive(1).replace(&up.serial, &format!("{}F", up.serial))
    );
    let file = scratch.file("tested.yaml", &text);
    up.lab(&["lab", "up", &file], 0);
    assert!(up.lab(&["lab", "up", &file], 4).1.contains("is already running"));
    let listed: serde_json::Value = serde_json::from_str(&up.lab(&["lab", "list", "--json"], 0).0).expect("JSON");
    assert_eq!((&listed[0]["machine"], listed[0]["drives"].as_array().map(Vec::len)), (&"tested".into(), Some(4)));

    // One for each drive: they have a service time.
    let served = || served(&up.place);
    assert_eq!(served().len(), 4);
    commands(&up);
    a_machine_like_it(&up);
    layers_and_nodes(&up);
    runs(&up);
    faults(&up);
    cut(&up);

    up.lab(&["lab", "down", "tested"], 0);
    assert!(up.lab(&["lab", "shell", "tested", "--", "true"], 4).1.contains("the machine `tested` is not running"));
    assert!(
        up.lab(&["run", "quick", "--lab", "tested", "--on", "/dev/nvme0n1"], 4).1.contains("neither a machine file")
    );
    assert!(up.lab(&["lab", "list"], 0).0.contains("no machine is running"));
    assert_eq!((emulators(&up.serial), cached()), (Vec::new(), before));
    // What served its drives ends when the emulator has let go of them.
    eventually("no nbdkit", Duration::from_secs(60), || served().is_empty());
    let left: Vec<_> =
        std::fs::read_dir(std::path::Path::new(&up.place).join("stend/lab")).expect("a directory").collect();
    assert_eq!(left.len(), 1, "the lock alone: {left:?}");
}

#[test]
fn a_machine_whose_start_is_interrupted_does_not_stay() {
    let scratch = Scratch::new();
    if !ready(&scratch, "a_machine_whose_start_is_interrupted_does_not_stay") {
        return;
    }
    let before = cached();
    let up = Up { place: scratch.directory("run"), serial: format!("T{}I", std::process::id()), scratch: &scratch };
    let file =
        scratch.file("tested.yaml", &format!("machine: tested\ndrives: [{{serial: {}, size: 64MiB}}]\n", up.serial));
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut starting = Running::new(&mut up.command(&["lab", "up", &file]));
        eventually("QEMU", Duration::from_secs(60), || !emulators(&up.serial).is_empty());
        tool(&["kill", signal, &starting.child.id().to_string()]);
        assert_eq!(starting.wait_as_shell(Duration::from_secs(60)), Some(code));
        assert_eq!((emulators(&up.serial), cached()), (Vec::new(), before.clone()));
    }
    assert!(up.lab(&["lab", "list"], 0).0.contains("no machine is running"));
}

/// Exit codes, both outputs and the input of a command are those of the guest.
fn commands(up: &Up) {
    let (told, complained) = up.lab(&["lab", "shell", "tested", "--", "sh", "-c", "echo a; echo b >&2; exit 7"], 7);
    assert_eq!((told.as_str(), complained.as_str()), ("a\n", "b\n"));
    assert!(up.lab(&["lab", "shell", "tested", "--", "/nowhere/tool"], 127).1.contains("/nowhere/tool"));
    let mut child =
        up.command(&["lab", "shell", "tested"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell");
    std::io::Write::write_all(&mut child.stdin.take().expect("its input"), b"uname -r; exit 3").expect("told");
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("6.12."), "{output:?}");
}

/// What the guest says of itself makes a machine like it.
fn a_machine_like_it(up: &Up) {
    let inventory = up.scratch.file("inventory.json", &up.guest("stend inspect --json --quick"));
    let (text, _) = up.lab(&["lab", "like", &inventory], 0);
    let machine = stend_spec::parse::machine(&text, "like.yaml").expect("a machine file");
    let drives: Vec<_> = machine.drives.iter().map(|drive| (drive.serial.clone(), drive.size, drive.node)).collect();
    let is = |end: &str, node| (format!("{}{end}", up.serial), Bytes::mib(64), Some(node));
    let mut sorted = drives;
    sorted.sort();
    assert_eq!(sorted, [is("1", 0), is("2", 0), is("F1", 1), is("F2", 1)], "{text}");
    assert_eq!(machine.numa.iter().map(|node| node.cpus).collect::<Vec<_>>(), [1, 1]);
    let (_, refused) = up.lab(&["lab", "like", "--largest", "1 furlong", &inventory], 2);
    assert!(refused.contains("--largest"), "{refused}");
    let torn = up.scratch.file("torn.json", "{\"host\": {");
    assert!(up.lab(&["lab", "like", &torn], 2).1.contains("is not an inventory"));
}

/// Real tools make layers of real kernels, and drives are on the nodes of the machine file.
fn layers_and_nodes(up: &Up) {
    let node = "for d in /sys/class/nvme/nvme*; do echo $(cat $d/serial) $(cat $d/device/numa_node); done | sort";
    let serial = &up.serial;
    assert_eq!(up.guest(node), format!("{serial}1 0\n{serial}2 0\n{serial}F1 1\n{serial}F2 1\n"));
    let (one, two) = (up.drive(1), up.drive(2));
    let made = up.guest(&format!(
        "vgcreate -q vg {one} {two} && lvcreate -qq -y -i 2 -n v -L 64M vg && mkfs.xfs -q -f /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{serial}F2 && \
         mount /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_{serial}F2 /mnt 2>&1; lvs --noheadings -o stripes vg/v; umount /mnt; vgremove -qq -f vg; pvremove -qq {one} {two}; \
         for drive in {one} {two}; do dd if=/dev/zero of=$drive bs=1M count=1 conv=fsync status=none; done"
    ));
    assert!(made.contains(" 2\n"), "{made}");
}

/// A run uses the machine as one that was started for it; a second one waits for its turn, and a killed one leaves it usable.
fn runs(up: &Up) {
    let (suite, file) = (up.scratch.file("suite.yaml", SUITE), up.scratch.join("up.stend"));
    let path = file.to_string_lossy().into_owned();
    let (drive, identity) = (up.drive(1), identity(&format!("{}1", up.serial)));
    let words = ["run", &suite, "--lab", "tested", "--on", &drive, "--progress", "none"];
    up.lab(&[&words[..], &["--confirm", &identity, "-o", &path]].concat(), 0);
    let run = stend_record::store::read(&file).expect("a run file");
    let verification =
        run.trials[0].outcome.as_ref().expect("an outcome").verification.as_ref().expect("verified").all();
    assert!(verification.wrong() == 0 && verification.ok > 0, "{verification:?}");

    let long = up.scratch.file("long.yaml", &SUITE.replace("trial: 500ms", "trial: 10min"));
    let mut running =
        Running::new(&mut up.command(&["run", &long, "--lab", "tested", "--on", &drive, "--confirm", &identity]));
    eventually("a worker", Duration::from_secs(60), || up.succeeds("pgrep -f 'stend worker'"));
    assert!(up.lab(&words, 4).1.contains("another run is using the machine"));
    running.child.kill().expect("killed");
    running.child.wait().expect("reaped");
    // The process between them ends with it, and the guest hears of that; the next one finds a worker of its own.
    let last = RefCell::new((4, String::new()));
    eventually("the machine is free", Duration::from_secs(60), || {
        let (code, _, stderr) =
            texts(&output(&mut up.command(&[&words[..], &["--dry-run", "--confirm", &identity]].concat())));
        *last.borrow_mut() = (code, stderr);
        code != 4
    });
    assert_eq!(last.borrow().0, 0, "{}", last.borrow().1);
}

/// Its power goes and comes back: what was in memory is gone, what was on drives and of its own is there.
fn cut(up: &Up) {
    let boot = || up.guest("cat /proc/sys/kernel/random/boot_id");
    let (before, one) = (boot(), up.drive(1));
    up.guest("echo kept > /var/lib/stend/kept; sync /var/lib/stend/kept; echo gone > /opt/gone; mdadm --stop /dev/md0 2>&1; true");
    up.guest(&format!("printf kept | dd of={one} conv=fsync 2>&1"));
    let (told, _) = up.lab(&["lab", "cut", "tested", "--json"], 0);
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert!(told["up"] == true && told["answered_after_ns"].as_u64().is_some_and(|took| took > 0), "{told}");
    assert_ne!(boot(), before);
    assert_eq!(up.guest("cat /var/lib/stend/kept; ls /opt"), "kept\n");
    assert_eq!(up.guest(&format!("head -c 4 {one}")), "kept");
    assert!(up.lab(&["lab", "cut", "nobody"], 4).1.contains("the machine `nobody` is not running"));
}

/// Drives complain, fail, and go away under an array, and come back.
fn faults(up: &Up) {
    let (first, second) = (format!("{}1", up.serial), format!("{}2", up.serial));
    let (one, two) = (up.drive(1), up.drive(2));
    let fault = |words: &[&str], code: i32| up.lab(&[&["lab", "fault", "tested"], words].concat(), code);

    let (told, _) = fault(&[&first, "warn"], 0);
    assert!(told.contains(&format!("it ends by `stend lab fault tested {first} warn --end`")), "{told}");
    assert!(!up.succeeds(&format!("smartctl -H {one}")));
    fault(&[&first, "warn", "--end"], 0);
    assert!(up.succeeds(&format!("smartctl -H {one}")));

    let read = |offset: u32| format!("dd if={one} of=/dev/null bs=4k count=1 skip={offset} iflag=direct");
    let (told, _) = fault(&[&first, "fail-reads", "--at", "40KiB", "--json"], 0);
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let expected = serde_json::json!({"machine": "tested", "drive": first, "fault": "fail-reads", "active": true});
    assert_eq!(told, expected);
    assert!(!up.succeeds(&read(10)) && up.succeeds(&read(11)), "one place");
    fault(&[&first, "fail-reads", "--end"], 0);
    assert!(up.succeeds(&read(10)));
    fault(&[&first, "freeze"], 0);
    fault(&[&first, "freeze", "--end"], 0);

    up.guest(&format!("mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --assume-clean {one} {two} 2>&1"));
    fault(&[&second, "unplug"], 0);
    assert!(!up.succeeds(&format!("test -e {two}")));
    up.guest("dd if=/dev/zero of=/dev/md0 bs=4k count=8 oflag=direct 2>&1");
    assert!(up.guest("cat /proc/mdstat").contains("[2/1] [U_]"));
    fault(&[&second, "unplug", "--end"], 0);
    eventually("the drive", Duration::from_secs(60), || up.succeeds(&format!("test -e {two}")));
    up.guest(&format!("mdadm --manage /dev/md0 --add {two} 2>&1; mdadm --wait /dev/md0 2>&1; true"));
    assert!(up.guest("cat /proc/mdstat").contains("[2/2] [UU]"));
    up.guest("mdadm --stop /dev/md0 2>&1");

    let (_, refused) = fault(&["NOBODY", "unplug"], 2);
    assert!(refused.contains("has no drive `NOBODY`") && refused.contains(&first), "{refused}");
    let (_, refused) = fault(&[&first, "fail", "--at", "40"], 2);
    assert!(refused.contains("--at: ") && refused.contains("no unit"), "{refused}");
    let (_, refused) = fault(&[&first, "unplug", "--at", "40KiB"], 2);
    assert!(refused.contains("`--at` belongs to the beginning of `fail`"), "{refused}");
}

#[test]
#[ignore = "takes minutes under emulation: `make lab` runs it"]
fn a_stand_that_makes_its_machine_starts_it_and_takes_it_down_with_itself() {
    let scratch = Scratch::new();
    if !ready(&scratch, "a_stand_that_makes_its_machine") {
        return;
    }
    let serial = format!("M{}", std::process::id());
    let place = scratch.directory("run");
    let up = Up { scratch: &scratch, place, serial: serial.clone() };
    scratch.file(
        "m.yaml",
        &format!("machine: tested\nmemory: 512MiB\ndrives: [{{serial: {serial}, count: 1, size: 64MiB}}]\n"),
    );
    let text =
        format!("stand: own\nmachine: m.yaml\ndrives: [{{id: {serial}1}}]\nlayers: [{{dm: {{linear: whole}}}}]\n");
    let stand = scratch.file("own.yaml", &text);
    let suite = scratch.file("s.yaml", SUITE);
    let (_, told) = up.lab(&["stand", "down", &stand], 4);
    assert!(told.contains("the machine `tested` of the stand is not running"), "{told}");
    let (_, told) = up.lab(&["stand", "up", &stand, "--lab", "other"], 2);
    assert!(told.contains("starts its own machine, but another one is named"), "{told}");
    // What cannot be put up leaves no machine.
    let lacks = scratch.file("lacks.yaml", &text.replace(&format!("{serial}1"), "NOBODY"));
    let (_, told) = up.lab(&["stand", "up", &lacks], 4);
    assert!(told.contains("NOBODY") && told.contains("the machine `tested` is down"), "{told}");
    assert_eq!(emulators(&serial), [0; 0]);
    // For a run alone: nothing is up behind it.
    up.lab(&["run", &suite, "--stand", &stand, "--progress", "none"], 0);
    assert_eq!(emulators(&serial), [0; 0]);
    // Until it is taken down; a run leaves both.
    let (told, _) = up.lab(&["stand", "up", &stand], 0);
    assert!(told.contains(&format!("stend stand down {stand}\n")) && told.contains("--lab tested\n"), "{told}");
    up.lab(&["run", &suite, "--stand", &stand, "--progress", "none"], 0);
    assert!(up.lab(&["stand", "status", &stand], 0).0.contains("up"));
    let (_, told) = up.lab(&["stand", "down", &stand], 0);
    assert!(told.contains("the machine `tested` is down"), "{told}");
    assert_eq!(emulators(&serial), [0; 0]);
    // A machine that somebody else started stays.
    up.lab(&["lab", "up", &scratch.join("m.yaml").to_string_lossy()], 0);
    up.lab(&["stand", "up", &stand], 0);
    up.lab(&["stand", "down", &stand], 0);
    assert_eq!(emulators(&serial).len(), 1);
}
