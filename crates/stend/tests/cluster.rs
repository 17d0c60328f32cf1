//! A Ceph on loop devices: copies against erasure coding, killed while it is put up, taken down. It needs Ceph's packages and minutes.

use crate::support::stand::{Stand, read};
use crate::support::*;
use std::time::Duration;

/// A stream and small writes, every block of which is read back.
const SUITE: &str = "suite: backup
defaults: {ramp: 200ms, trial: 3s}
fill: {size: 128MiB}
repeats: {blocks: 2}
cases:
  - name: stream
    streams: [{op: write, pattern: sequential, block_size: 4MiB, queue_depth: 1, verify: {after: true}}]
  - name: small
    streams: [{op: write, pattern: random, block_size: 16KiB, queue_depth: 4, verify: {after: true}}]
";

/// Five drives of a test.
fn drives(scratch: &Scratch) -> Vec<Loop> {
    (1..=5).map(|number| Loop::new(scratch, &format!("drive{number}"), 1 << 30)).collect()
}

/// Command lines of what runs for a stand.
fn processes(stand: &Stand) -> Vec<String> {
    let place = format!("/stands/{}/", stand.name);
    let all = tool(&["ps", "-eo", "args"]);
    all.lines().filter(|line| line.starts_with("ceph") && line.contains(&place)).map(str::to_string).collect()
}

fn is_gone(scratch: &Scratch, stand: &Stand, drives: &[Loop]) {
    stand.is_gone();
    assert!(processes(stand).is_empty(), "{:?}", processes(stand));
    for drive in drives {
        let (told, _) = expect_exit(&mut stend(scratch, &["inspect", &drive.device]), 0);
        assert!(told.contains("signatures    none found") && told.contains(&stand.name), "{told}");
    }
}

/// Bytes that all of these have written.
fn written(drives: &[Loop]) -> u64 {
    let sectors = |drive: &Loop| {
        let stat = read(&format!("/sys/block/{}/stat", drive.device.trim_start_matches("/dev/")));
        stat.split_whitespace().nth(6).expect("sectors written").parse::<u64>().expect("a number")
    };
    drives.iter().map(sectors).sum::<u64>() * 512
}

#[test]
#[ignore = "needs Ceph and three minutes: run by `make cluster`"]
fn copies_and_erasure_coding_are_measured_in_one_table_and_leave_clean_drives() {
    if !root("copies_and_erasure_coding_are_measured_in_one_table_and_leave_clean_drives") {
        return;
    }
    let scratch = Scratch::new();
    let drives = drives(&scratch);
    let ids: Vec<String> = drives.iter().map(|drive| format!("{{id: '{}'}}", drive.identity(&scratch))).collect();
    let with = |name: &str, pool: &str| {
        Stand::new(&scratch, name, &format!("drives: [{}]\nlayers:\n- ceph: {{{pool}}}", ids.join(", ")))
    };
    let copies = with("copies", "replicated: {size: 3}");
    let coded = with("coded", "ec: {k: 3, m: 2}");

    // Both in one table, each put up and taken down by the run, every write read back and compared.
    let suite = scratch.file("backup.yaml", SUITE);
    let words = ["run", &suite, "--stand", &copies.file, "--stand", &coded.file, "--progress", "none"];
    let (table, told) = expect_exit(&mut stend(&scratch, &words), 0);
    assert!(table.contains(&format!("Every stand relative to {}", copies.name)), "{table}{told}");
    assert!(table.lines().any(|line| line.trim_start().starts_with(&coded.name) && line.contains('%')), "{table}");
    is_gone(&scratch, &copies, &[]);
    is_gone(&scratch, &coded, &drives);

    // What a backup makes of a byte at the drives: the arithmetic, and a little for journals and metadata.
    for (stand, theory) in [(&copies, 3.0), (&coded, 5.0 / 3.0)] {
        stand.run("up", 0);
        let at = format!("/run/stend/stands/{}-ceph", stand.name);
        let before = written(&drives);
        tool(&["dd", "if=/dev/urandom", &format!("of={at}/backup"), "bs=4M", "count=40", "conv=fsync"]);
        let ratio = (written(&drives) - before) as f64 / f64::from(40 << 22);
        assert!((theory * 0.98..theory * 1.15).contains(&ratio), "{}: {ratio} for {theory}", stand.name);
        eprintln!("{}: {ratio:.2} bytes at the drives for each, {theory:.2} in theory", stand.name);
        stand.run("down", 0);
        is_gone(&scratch, stand, &drives);
    }
}

#[test]
#[ignore = "needs Ceph and two minutes: run by `make cluster`"]
fn a_cluster_goes_on_after_kills_survives_a_lost_osd_and_drives_of_another_one_are_refused() {
    if !root("a_cluster_goes_on_after_kills_survives_a_lost_osd_and_drives_of_another_one_are_refused") {
        return;
    }
    let scratch = Scratch::new();
    let drives = drives(&scratch);
    let ids: Vec<String> = drives.iter().map(|drive| format!("{{id: '{}'}}", drive.identity(&scratch))).collect();
    let text = format!("drives: [{}]\nlayers:\n- ceph: {{ec: {{k: 3, m: 2}}}}", ids.join(", "));
    let stand = Stand::new(&scratch, "killed", &text);
    let place = format!("/var/lib/stend/stands/{}/cluster-ceph", stand.name);
    // Killed where half of an OSD is there, and where half of them are.
    for there in ["osd.0.new", "osd.2"] {
        let mut up = Running::new(&mut stend(&scratch, &["stand", "up", &stand.file]));
        let begun = || std::path::Path::new(&format!("{place}/{there}")).exists();
        eventually(there, Duration::from_secs(120), begun);
        up.kill();
    }
    stand.run("up", 0);
    let status = stand.status();
    let layer = &status["layers"][0];
    assert_eq!(layer["done"], layer["steps"], "{status}");
    assert!(layer["health"].as_str().expect("health").contains("OSDs up 5 of 5"), "{status}");

    // Its drives are those of another cluster for every other stand.
    let other = Stand::new(&scratch, "other", &text);
    let (_, told) = other.run("up", 5);
    assert!(told.contains("ceph_bluestore"), "{told}");

    // One OSD is lost: what was written is there, and `up` starts it again.
    let at = format!("/run/stend/stands/{}-ceph", stand.name);
    let file = format!("{at}/data");
    tool(&["dd", "if=/dev/urandom", &format!("of={file}"), "bs=1M", "count=16", "conv=fsync"]);
    let sum = tool(&["sha256sum", &file]);
    tool(&["pkill", "--signal", "KILL", "--pidfile", &format!("{place}/osd.3.pid")]);
    eventually("the loss to be told", Duration::from_secs(60), || stand.status()["layers"][0]["degraded"] == 1);
    tool(&["dd", "if=/dev/urandom", &format!("of={at}/more"), "bs=1M", "count=8", "conv=fsync"]);
    assert_eq!(tool(&["sha256sum", &file]), sum);
    stand.run("up", 0);
    assert_eq!(stand.status()["layers"][0]["degraded"], 0);
    assert_eq!(tool(&["sha256sum", &file]), sum);
    stand.run("down", 0);
    is_gone(&scratch, &stand, &drives);
}

/// One OSD is killed and comes back, a drive is lost and replaced, and two OSDs are away together, each under writes that are read back.
const LOSSES: &str = "suite: losses
defaults: {direct: true, ramp: 1s, trial: 75s}
fill: {size: 96MiB}
repeats: {blocks: 1}
cases:
  - name: killed
    events: [{at: 10s, for: 30s, do: daemon.kill, drive: 4}]
    streams: [{op: write, pattern: random, block_size: 64KiB, rate: 5/s, queue_depth: 64, verify: {after: true}}]
  - name: lost
    events: [{at: 10s, for: 30s, do: drive.fail, drive: each}]
    streams: [{op: write, pattern: random, block_size: 64KiB, rate: 5/s, queue_depth: 64, verify: {after: true}}]
  - name: two
    events: [{at: 10s, for: 35s, do: daemon.kill, drive: 1}, {at: 11s, for: 30s, do: daemon.kill, drive: 2}]
    streams: [{op: write, pattern: random, block_size: 64KiB, rate: 5/s, queue_depth: 64, verify: {after: true}}]
";

#[test]
#[ignore = "needs Ceph and eight minutes: run by `make cluster`"]
fn lost_osds_cost_time_and_no_data_and_the_cluster_is_whole_again() {
    if !root("lost_osds_cost_time_and_no_data_and_the_cluster_is_whole_again") {
        return;
    }
    let scratch = Scratch::new();
    let drives = drives(&scratch);
    let ids: Vec<String> = drives.iter().map(|drive| format!("{{id: '{}'}}", drive.identity(&scratch))).collect();
    let text = format!("drives: [{}]\nlayers:\n- ceph: {{ec: {{k: 3, m: 2}}}}", ids.join(", "));
    let stand = Stand::new(&scratch, "losses", &text);
    let (suite, file) = (scratch.file("losses.yaml", LOSSES), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--stand", &stand.file, "-o", &path, "--progress", "none"];
    let (told, _) = expect_exit(&mut stend(&scratch, &words), 0);
    eprintln!("{told}");
    let found = show_json(&scratch, &file);
    let faults = found["faults"].as_array().expect("faults");
    assert_eq!(faults.len(), 3, "{found}");
    for fault in faults {
        let trial = &fault["trials"][0];
        assert_eq!((&trial["errors"], &trial["mismatches"]), (&0.into(), &0.into()), "{fault}");
        let again = trial["redundant_again_ns"].as_u64().expect("whole again");
        // It was away for half a minute.
        assert!(again > 30_000_000_000, "{fault}");
    }
    is_gone(&scratch, &stand, &drives);

    // What the pool cannot lose is not taken.
    let three =
        "[{at: 1s, do: drive.fail, drive: 1}, {at: 2s, do: drive.fail, drive: 2}, {at: 3s, do: drive.fail, drive: 3}]";
    let lost = scratch.file("three.yaml", &LOSSES.replace("[{at: 10s, for: 30s, do: drive.fail, drive: each}]", three));
    let words = ["run", &lost, "--stand", &stand.file, "--progress", "none"];
    let (_, refused) = expect_exit(&mut stend(&scratch, &words), 4);
    assert!(one_line(&refused).contains("the pool survives the loss of 2 drives"), "{refused}");
    is_gone(&scratch, &stand, &drives);
}

#[test]
fn programs_of_a_cluster_that_are_missing_are_named_with_their_packages() {
    if !root("programs_of_a_cluster_that_are_missing_are_named_with_their_packages") {
        return;
    }
    let scratch = Scratch::new();
    let layers = format!("layers:\n- loop: {{directory: {}, size: 1GiB, count: 5}}\n", scratch.path().display());
    let stand = Stand::new(&scratch, "lacking", &format!("{layers}- ceph: {{ec: {{k: 3, m: 2}}}}"));
    let mut command = stend(&scratch, &["stand", "up", &stand.file]);
    let (_, told) = expect_exit(command.env("PATH", scratch.directory("none")), 4);
    let told = one_line(&told);
    for program in ["ceph-osd`", "monmaptool`", "ceph-fuse`"] {
        assert!(told.contains(program), "{told}");
    }
    assert!(told.contains("ceph-common ceph-fuse ceph-mds ceph-mgr ceph-mon ceph-osd"), "{told}");
    stand.is_gone();
}
