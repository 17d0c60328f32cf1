//! A device is in use by whatever way a process has it, or the file behind it: each way is one that the kernel really has, taken by
//! another program, and none of it may be written. When the program ends, it may.

use crate::bench::{Bench, run};
use crate::checks::{allowed, nothing_held, reasons, refused, refused_at_once};
use std::path::Path;
use std::process::Command;
use stend_record::Refusal;
use stend_stand::inspect;

fn is_held(reason: &Refusal) -> bool {
    matches!(reason, Refusal::HeldBy { pid: 1.., .. })
}

/// Perl reaches system calls by their number (x86-64). `$ARGV[0]` is the device or file; each says `ready` once it holds it.
fn perl(bench: &mut Bench, script: &str, what: &str) -> u32 {
    bench.start(Command::new("perl").args(["-e", script, what]))
}

/// A thread whose descriptors the first thread does not have: `unshare(CLONE_FILES)`.
const OWN_TABLE: &str = r#"use threads; $| = 1;
    threads->create(sub { syscall(272, 0x400) == 0 or die; open(my $f, '<', $ARGV[0]) or die; print "ready\n"; sleep 60 })->join"#;

/// The first thread ends by `exit`, not `exit_group`: the process goes on as a zombie with a thread.
const ENDED_LEADER: &str = r#"use threads; $| = 1;
    threads->create(sub {
        open(my $f, '<', $ARGV[0]) or die;
        for (1..500) { open(my $s, '<', "/proc/$$/stat"); last if <$s> =~ /\) Z /; select undef, undef, undef, 0.01 }
        print "ready\n"; sleep 60
    });
    syscall(60, 0)"#;

/// Mapped, and the descriptor closed.
const MAPPED: &str = r#"$| = 1; open(my $f, '<', $ARGV[0]) or die;
    syscall(9, 0, 4096, 1, 1, fileno $f, 0) > 0 or die; close $f; print "ready\n"; sleep 60"#;

/// Sent over a socket, closed, and not received: a message with one descriptor.
const IN_FLIGHT: &str = r#"use Socket; $| = 1; socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die;
    open(my $f, '<', $ARGV[0]) or die;
    my $data = "x"; my $iov = pack('PQ', $data, 1); my $control = pack('QiiiI', 20, 1, 1, fileno $f, 0);
    my $message = pack('QQPQPQQ', 0, 0, $iov, 1, $control, 24, 0);
    syscall(46, fileno $a, $message, 0) == 1 or die; close $f; print "ready\n"; sleep 60"#;

/// Registered with a ring of io_uring, and the descriptor closed.
const REGISTERED: &str = r#"$| = 1; my $parameters = "\0" x 120; my $ring = syscall(425, 4, $parameters); $ring >= 0 or die;
    open(my $f, '<', $ARGV[0]) or die; my $list = pack('i', fileno $f);
    syscall(427, $ring, 2, $list, 1) == 0 or die; close $f; print "ready\n"; sleep 60"#;

const WAYS: [(&str, &str); 5] = [
    ("a thread with descriptors of its own", OWN_TABLE),
    ("a process whose first thread has ended", ENDED_LEADER),
    ("a mapping whose descriptor is closed", MAPPED),
    ("a descriptor that was sent and not received", IN_FLIGHT),
    ("a file registered with io_uring", REGISTERED),
];

#[test]
fn a_device_is_in_use_by_whatever_way_a_process_has_it() {
    for (way, script) in WAYS {
        let Some(mut bench) = Bench::new(way) else { return };
        println!("{way}");
        let device = bench.disk(16);
        perl(&mut bench, script, &device);
        refused_at_once(&bench, &device, &is_held);
        if script == MAPPED {
            refused(&mut bench, &device, &is_held);
        }
        bench.undo_last();
        allowed(&bench, &device, &[]);
    }
}

#[test]
fn the_file_behind_a_loop_device_is_in_use_by_whatever_way_a_process_has_it() {
    let plain = r#"$| = 1; open(my $f, '+<', $ARGV[0]) or die; print "ready\n"; sleep 60"#;
    for (way, script) in WAYS.into_iter().chain([("a descriptor", plain)]) {
        let Some(mut bench) = Bench::new(way) else { return };
        println!("{way}");
        let image = bench.image(16);
        let device = bench.attach(&image, &[]);
        perl(&mut bench, script, image.to_str().unwrap());
        refused_at_once(&bench, &device, &is_held);
        bench.undo_last();
        allowed(&bench, &device, &[]);
    }
}

#[test]
fn a_partition_and_a_device_over_a_device_are_in_use_where_the_file_below_is() {
    let Some(mut bench) = Bench::new("a_partition_and_a_device_over_a_device") else { return };
    let (disk, first, _) = bench.partitioned(32, "gpt");
    let image = bench.dir().join("image0");
    let over = bench.attach(Path::new(&first), &[]);
    let hold = r#"$| = 1; open(my $f, '<', $ARGV[0]) or die; print "ready\n"; sleep 60"#;
    perl(&mut bench, hold, image.to_str().unwrap());
    for device in [&disk, &first, &over] {
        refused_at_once(&bench, device, &is_held);
    }
    bench.undo_last();
    allowed(&bench, &over, &[]);
    // Below, a reader does no harm; a writer there writes here.
    perl(&mut bench, hold, &disk);
    nothing_held(&over);
    bench.undo_last();
    perl(&mut bench, &hold.replace("'<'", "'+<'"), &disk);
    refused_at_once(&bench, &over, &is_held);
}

#[test]
fn a_device_is_the_same_by_a_node_of_any_name_and_in_other_namespaces() {
    let Some(mut bench) = Bench::new("a_device_is_the_same_by_a_node_of_any_name") else { return };
    let device = bench.disk(16);
    let number = run(&["stat", "-c", "%Hr %Lr", &device]);
    let node = bench.dir().join("another name");
    let (major, minor) = number.trim().split_once(' ').unwrap();
    run(&["mknod", node.to_str().unwrap(), "b", major, minor]);
    // Memory in /dev/shm may forbid device nodes: then a mount of our own has it.
    perl(&mut bench, MAPPED, node.to_str().unwrap());
    refused_at_once(&bench, &device, &is_held);
    bench.undo_last();
    let line = format!(
        "mkdir -p /run/x; mount -t tmpfs x /run; mknod /run/d b {major} {minor}; exec 3</run/d; echo ready; exec sleep 60"
    );
    bench.start(Command::new("unshare").args([
        "-mpf",
        "--propagation",
        "slave",
        "--mount-proc",
        "--kill-child",
        "sh",
        "-c",
        &line,
    ]));
    refused_at_once(&bench, &device, &is_held);
    bench.undo_last();
    allowed(&bench, &device, &[]);
}

#[test]
fn the_file_behind_a_loop_device_is_the_same_in_an_overlay_and_below_it() {
    let Some(mut bench) = Bench::on_disk("the_file_behind_a_loop_device_is_the_same_in_an_overlay") else { return };
    let hold = r#"$| = 1; open(my $f, '<', $ARGV[0]) or die; print "ready\n"; sleep 60"#;
    let at = |name: &str| bench.dir().join(name);
    let (upper, lower, merged, work) = (at("upper"), at("lower"), at("merged"), at("work"));
    for directory in [&upper, &lower, &merged, &work] {
        std::fs::create_dir(directory).unwrap();
    }
    for file in [upper.join("up"), lower.join("low")] {
        std::fs::File::create(&file).unwrap().set_len(16 << 20).unwrap();
        bench.adopt(&file);
    }
    let options = format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
    run(&["mount", "-t", "overlay", "overlay", "-o", &options, merged.to_str().unwrap()]);
    bench.undo_with(&["umount", merged.to_str().unwrap()]);
    for (behind, held) in [
        (upper.join("up"), merged.join("up")),
        (merged.join("up"), upper.join("up")),
        (lower.join("low"), merged.join("low")),
    ] {
        println!("{} held as {}", behind.display(), held.display());
        let device = bench.attach(&behind, &[]);
        perl(&mut bench, hold, held.to_str().unwrap());
        refused_at_once(&bench, &device, &is_held);
        bench.undo_last();
        nothing_held(&device);
        // The same file by its other name is the same storage.
        if held != merged.join("low") {
            let other = bench.attach(&held, &[]);
            for one in [&device, &other] {
                let facts = inspect(one).unwrap();
                let same = |r: &Refusal| matches!(r, Refusal::DuplicateIdentity { .. });
                assert!(reasons(&facts).iter().any(same), "{:?}", facts.access);
            }
            bench.undo_last();
        }
        bench.undo_last();
    }
}

#[test]
fn a_loop_device_over_an_active_swap_file_is_refused() {
    let Some(mut bench) = Bench::on_disk("a_loop_device_over_an_active_swap_file_is_refused") else { return };
    let file = bench.dir().join("swap");
    run(&["dd", "if=/dev/zero", &format!("of={}", file.display()), "bs=1M", "count=16", "status=none"]);
    run(&["chmod", "600", file.to_str().unwrap()]);
    run(&["mkswap", "-q", file.to_str().unwrap()]);
    bench.adopt(&file);
    // The kernel refuses a loop device over a file that is swapped to, and swapping to one behind a loop device it allows.
    let device = bench.attach(&file, &[]);
    run(&["swapon", file.to_str().unwrap()]);
    bench.undo_with(&["swapoff", file.to_str().unwrap()]);
    refused_at_once(
        &bench,
        &device,
        &|r| matches!(r, Refusal::Swap { device } if *device == file.display().to_string()),
    );
    bench.undo_last();
    allowed(&bench, &device, &["swap"]);
}
