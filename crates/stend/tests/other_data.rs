//! A device that is not blank is never free: what somebody else wrote is asked for, what Stend wrote is not.

use crate::support::stand::Stand;
use crate::support::*;
use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const MIB: u64 = 1 << 20;
const FLAG: &str = "--overwrite-signature=unknown-data";

/// Data as they are of somebody else: nothing in them repeats, and nothing tells what they are.
fn foreign(len: u64) -> Vec<u8> {
    let mut data = vec![0; len as usize];
    stend_base::random::Random::new(0xF0E1).fill(&mut data);
    data
}

/// Writes past every cache, so that readers of the device see it.
fn put(device: &Loop, offset: u64, data: &[u8]) {
    let file = std::fs::OpenOptions::new().write(true).open(&device.device).expect("a device");
    file.write_all_at(data, offset).and_then(|()| file.sync_all()).expect("a write");
}

fn sum(device: &Loop) -> String {
    tool(&["sha256sum", &device.backing.to_string_lossy()])
}

struct Bench {
    scratch: Scratch,
    device: Loop,
    confirm: String,
    suite: String,
}

impl Bench {
    fn new(size: u64) -> Bench {
        let scratch = Scratch::new();
        let device = Loop::new(&scratch, "disk.img", size);
        let confirm = format!("--confirm={}", device.identity(&scratch));
        let suite = scratch.file("small.yaml", SMALL);
        Bench { scratch, device, confirm, suite }
    }

    fn run(&self, suite: &str, more: &[&str], code: i32) -> String {
        let words = [&["run", suite, "--on", &self.device.device, "--progress", "none", &self.confirm], more].concat();
        expect_exit(&mut stend(&self.scratch, &words), code).1
    }

    fn inspect(&self) -> Value {
        inspected(&self.scratch, &self.device)
    }

    fn asks(&self) -> bool {
        asks(&self.inspect())
    }
}

fn inspected(scratch: &Scratch, device: &Loop) -> Value {
    let words = ["inspect", &device.device, "--json"];
    serde_json::from_str(&expect_exit(&mut stend(scratch, &words), 0).0).expect("JSON")
}

fn contents_of(bench: &Bench) -> Value {
    bench.inspect()["contents"].clone()
}

fn asks(facts: &Value) -> bool {
    facts["access"]["confirm"]["signatures"].as_array().expect("a list").contains(&"unknown-data".into())
}

#[test]
fn data_that_nobody_knows_are_refused_wherever_they_lie_and_written_over_only_when_they_are_named() {
    if !root("data_that_nobody_knows_are_refused_wherever_they_lie_and_written_over_only_when_they_are_named") {
        return;
    }
    let size = 96 * MIB + 8192;
    // A stretch of two parts in 1024 is never missed, nor is a byte of the first and last 4 MiB.
    for (offset, len) in [(41 * MIB, 256 << 10), (0, 512), (4 * MIB - 512, 512), (size - 512, 512), (size - 4 * MIB, 1)]
    {
        let bench = Bench::new(size);
        put(&bench.device, offset, &foreign(len));
        let before = sum(&bench.device);
        let told = bench.run(&bench.suite, &[], 5);
        assert!(told.contains("data that Stend did not write") && told.contains(FLAG), "{offset}: {told}");
        let dry = bench.run(&bench.suite, &["--dry-run"], 5);
        assert!(dry.contains(FLAG), "{dry}");
        assert_eq!(sum(&bench.device), before, "{offset}: it was written to");
        let contents = &bench.inspect()["contents"];
        assert!(contents["blocks"].as_u64().expect("a count") >= 3072 && contents["other"] != 0, "{contents}");
        let first = contents["first_other"].as_u64().expect("an offset");
        assert!((offset / 4096 * 4096..offset + len).contains(&first), "{contents}");
    }
    let bench = Bench::new(12 * MIB);
    let small = bench.scratch.file("tiny.yaml", &SMALL.replace("64MiB", "8MiB"));
    put(&bench.device, 7 * MIB, &foreign(1));
    assert_eq!(bench.inspect()["contents"]["blocks"], 3072, "small devices are read whole");
    bench.run(&small, &[], 5);
    bench.run(&small, &[FLAG], 0);
}

#[test]
fn single_blocks_of_one_in_a_hundred_are_found() {
    if !root("single_blocks_of_one_in_a_hundred_are_found") {
        return;
    }
    let bench = Bench::new(512 * MIB);
    let (blocks, data) = (512 * MIB / 4096, foreign(4096));
    // 1311 of 131 072 blocks: all 1024 samples miss them with a chance of 3 in 100 000.
    let file = std::fs::OpenOptions::new().write(true).open(&bench.device.device).expect("a device");
    for number in 0..blocks / 100 {
        // Between the ends.
        let block = 1024 + stend_base::random::below(stend_base::random::draw(7, number), blocks - 2048);
        file.write_all_at(&data, block * 4096).expect("a write");
    }
    file.sync_all().expect("a sync");
    drop(file);
    assert!(bench.asks());
}

#[test]
fn what_stend_wrote_is_written_over_without_asking_and_what_came_after_it_is_not() {
    if !root("what_stend_wrote_is_written_over_without_asking_and_what_came_after_it_is_not") {
        return;
    }
    let bench = Bench::new(96 * MIB);
    let mixed = "suite: mixed
defaults: {ramp: 100ms, trial: 300ms}
fill: {size: 64MiB}
repeats: {blocks: 1}
cases:
  - name: small
    streams: [{op: write, pattern: random, block_size: 512B, queue_depth: 4}]
  - name: compressible
    streams: [{op: write, pattern: sequential, block_size: 64KiB, queue_depth: 4, data: {compress: 2}}]
  - name: repeated
    streams: [{op: write, pattern: random, block_size: 16KiB, queue_depth: 4, data: {dedup: 1.5}}]
  - name: verified
    streams: [{op: write, pattern: random, block_size: 4KiB, queue_depth: 4, verify: {after: true}}]
  - name: open
    streams: [{op: write, pattern: random, block_size: 4KiB, rate: 500/s}]
";
    let mixed = bench.scratch.file("mixed.yaml", mixed);
    bench.run(&bench.suite, &[], 0);
    bench.run(&mixed, &[], 0);
    bench.run(&bench.suite, &[], 0);
    bench.run(&bench.suite, &[FLAG], 0);
    let contents = bench.inspect()["contents"].clone();
    assert!(contents["ours"].as_u64().expect("a count") > 1000 && contents["mark"].is_null(), "{contents}");
    assert_eq!(contents["other"], 0, "{contents}");
    put(&bench.device, 20 * MIB, &foreign(256 << 10));
    let told = bench.run(&bench.suite, &[], 5);
    assert!(told.contains(FLAG), "{told}");
}

#[test]
fn small_writes_into_compressible_data_leave_blocks_that_are_known_as_ours() {
    if !root("small_writes_into_compressible_data_leave_blocks_that_are_known_as_ours") {
        return;
    }
    let bench = Bench::new(96 * MIB);
    let suite = |name: &str, stream: &str| {
        let text =
            format!("suite: {name}\ndefaults: {{ramp: 0s, trial: 300ms}}\ncases: [{{name: a, streams: [{stream}]}}]\n");
        bench.scratch.file(&format!("{name}.yaml"), &text)
    };
    let compressible = "{op: write, pattern: sequential, block_size: 64KiB, data: {compress: 2}, region: {size: 4MiB}}";
    let compressible = suite("compressible", compressible);
    let parts = "{op: write, pattern: random, block_size: 512B, rate: 2000/s, region: {size: 4MiB}}";
    let parts = suite("parts", parts);
    bench.run(&compressible, &[], 0);
    bench.run(&parts, &[], 0);
    let contents = contents_of(&bench);
    assert!(contents["other"] != 0 && contents["mark"]["broken_at"].is_null(), "{contents}");
    assert!(contents["mark"]["by"].as_str().expect("a run").starts_with("R-"), "{contents}");
    bench.run(&bench.suite, &[], 0);
    assert!(!bench.asks());
}

#[test]
fn after_a_run_that_was_killed_the_next_one_goes_on_and_a_resumed_one_stops_at_data_of_others() {
    if !root("after_a_run_that_was_killed_the_next_one_goes_on_and_a_resumed_one_stops_at_data_of_others") {
        return;
    }
    let bench = Bench::new(96 * MIB);
    let long = bench.scratch.file("long.yaml", &SMALL.replace("blocks: 2", "blocks: 8"));
    let file = bench.scratch.join("r.stend");
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &long, "--on", &bench.device.device, &bench.confirm, "-o", &path, "--progress", "none"];
    let mut run = Running::new(stend(&bench.scratch, &words).stdout(std::process::Stdio::null()));
    eventually("two trials", Duration::from_secs(60), || {
        stend_record::store::read(&file).is_ok_and(|run| run.trials.iter().filter(|t| t.outcome.is_some()).count() > 1)
    });
    let workers = run.workers();
    workers.iter().for_each(|pid| drop(tool(&["kill", "-KILL", &pid.to_string()])));
    run.kill();
    run.wait(Duration::from_secs(60));
    eventually("the worker is gone", IN_TIME, || !workers.iter().any(|pid| alive(*pid)));
    bench.run(&bench.suite, &[], 0);

    put(&bench.device, 33 * MIB, &foreign(256 << 10));
    let before = sum(&bench.device);
    let resume = ["run", "--resume", &path, &bench.confirm];
    let (_, told) = expect_exit(&mut stend(&bench.scratch, &resume), 5);
    let first = bench.inspect()["contents"]["first_other"].as_u64().expect("an offset");
    assert!((33 * MIB..33 * MIB + (256 << 10)).contains(&first), "{first}");
    assert!(told.contains(FLAG) && told.contains("the first at 34"), "{told}");
    assert_eq!(sum(&bench.device), before);
    expect_exit(&mut stend(&bench.scratch, &[&resume[..], &[FLAG]].concat()), 0);
}

#[test]
fn what_fio_wrote_is_known_by_a_mark_until_something_else_is_written_there() {
    if !root("what_fio_wrote_is_known_by_a_mark_until_something_else_is_written_there") {
        return;
    }
    if std::process::Command::new("fio").arg("--version").output().is_err() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "needs fio");
        return;
    }
    let bench = Bench::new(96 * MIB);
    let fio = SMALL.replace("  - name: write\n", "  - name: write\n    engine: fio\n");
    let fio = bench.scratch.file("fio.yaml", &fio);
    bench.run(&fio, &[], 0);
    let contents = bench.inspect()["contents"].clone();
    assert!(contents["other"] != 0 && contents["mark"]["broken_at"].is_null(), "{contents}");
    assert!(contents["mark"]["by"].as_str().expect("a run").starts_with("R-"), "{contents}");
    assert!(!bench.asks());
    // Twice again: what a mark knows is marked anew.
    bench.run(&bench.suite, &[], 0);
    bench.run(&fio, &[], 0);
    assert!(!bench.asks());

    // The same bytes on another device are somebody's.
    let copy = Loop::new(&bench.scratch, "copy.img", 96 * MIB);
    let (from, to) = (format!("if={}", bench.device.device), format!("of={}", copy.device));
    tool(&["dd", &from, &to, "bs=1M", "conv=fsync", "status=none"]);
    assert!(asks(&inspected(&bench.scratch, &copy)), "a mark that was copied");
    // One block that the mark names is enough.
    let first = contents_of(&bench)["first_other"].as_u64().expect("an offset");
    put(&bench.device, first, &foreign(512));
    assert_eq!(contents_of(&bench)["mark"]["broken_at"], first);
    let told = bench.run(&fio, &[], 5);
    assert!(told.contains("marked its data there") && told.contains(FLAG), "{told}");
    bench.run(&fio, &[FLAG], 0);
    assert!(bench.asks(), "there may be data of others between those of fio");
}

#[test]
fn a_mark_that_was_written_over_or_forged_does_not_count() {
    if !root("a_mark_that_was_written_over_or_forged_does_not_count") {
        return;
    }
    let bench = Bench::new(96 * MIB);
    let id = bench.confirm.trim_start_matches("--confirm=").to_string();
    let stand = Stand::new(&bench.scratch, "mark", &format!("drives: [{{id: '{id}'}}]\nlayers: [fs: {{type: ext4}}]"));
    stand.run("up", 0);
    stand.run("down", 0);
    assert!(!bench.asks());
    let mut tail = vec![0; (4 * MIB) as usize];
    // Not kept open: a device is in use while its file is.
    let below = std::fs::File::open(&bench.device.backing).expect("the file below");
    below.read_exact_at(&mut tail, 92 * MIB).expect("the end of the device");
    drop(below);
    let at = tail.chunks(4096).position(|block| &block[16..24] == b"StendM01").expect("a mark") as u64 * 4096;
    let mark = tail[at as usize..].to_vec();
    // A forged one: a bit of a hash, of the size, of the identity.
    for byte in [16 + 100, 16 + 17, 16 + 50] {
        let mut forged = mark.clone();
        forged[byte] ^= 1;
        put(&bench.device, 92 * MIB + at, &forged);
        assert!(bench.asks(), "byte {byte}");
    }
    put(&bench.device, 92 * MIB + at, &mark);
    assert!(!bench.asks(), "as it was");
    // Where it does not say that it lies.
    put(&bench.device, 92 * MIB + at, &vec![0; mark.len()]);
    put(&bench.device, 92 * MIB + at - 40960, &mark);
    assert!(bench.asks(), "moved");
}

#[test]
fn a_stand_on_the_same_drives_goes_up_again_and_data_of_others_on_them_are_refused() {
    if !root("a_stand_on_the_same_drives_goes_up_again_and_data_of_others_on_them_are_refused") {
        return;
    }
    let bench = Bench::new(320 * MIB);
    let id = bench.confirm.trim_start_matches("--confirm=").to_string();
    let layers = format!("drives: [{{id: '{id}'}}]\nlayers: [partition: {{count: 2}}, btrfs: {{data: raid0}}]");
    let stand = Stand::new(&bench.scratch, "again", &layers);
    let directory = format!("/run/stend/stands/{}-btrfs", stand.name);
    for turn in 0..2 {
        stand.run("up", 0);
        std::fs::File::create(format!("{directory}/data"))
            .and_then(|mut file| file.write_all(&foreign(40 * MIB)).and_then(|()| file.sync_all()))
            .expect("a file in the stand");
        stand.run("down", 0);
        let contents = bench.inspect()["contents"].clone();
        assert!(contents["other"] != 0 && contents["mark"]["broken_at"].is_null(), "{turn}: {contents}");
        assert_eq!(contents["mark"]["by"], format!("stand {}", stand.name));
    }
    // A run on the drive itself is not asked either, and leaves it as known as it was.
    bench.run(&bench.suite, &[], 0);
    assert!(!bench.asks());
    put(&bench.device, 100 * MIB, &foreign(2 * MIB));
    let (_, told) = stand.run("up", 5);
    assert!(told.contains("overwrite: [unknown-data]") && told.contains("marked its data there"), "{told}");
    assert!(!stand.journal().exists());
    let named = Stand::new(&bench.scratch, "named", &format!("overwrite: [unknown-data]\n{layers}"));
    named.run("up", 0);
    named.run("down", 0);
    assert!(bench.asks(), "what was there before and was not written over is still somebody's");
}
