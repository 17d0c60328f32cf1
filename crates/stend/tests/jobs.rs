//! `stend import --suite` with the real binary: what fio does for a job and what our engine does for its suite, counted I/O by
//! I/O; and what is refused or said.

use crate::support::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Twenty jobs, each of which is a case; `|` ends a line.
const JOBS: [&str; 20] = [
    "rw=randread|ioengine=libaio|direct=1|iodepth=8",
    "rw=randwrite|ioengine=libaio|direct=1|iodepth=4|bs=8k",
    "readwrite=read|ioengine=libaio|direct=1|iodepth=2|blocksize=64k",
    "rw=write|direct=1|bs=16k|size=128k",
    "rw=randrw|rwmixread=70|norandommap|ioengine=libaio|direct=1|iodepth=4",
    "rw=randread|bssplit=4k/60:16k/40|norandommap|ioengine=libaio|buffered=0|iodepth=4",
    "rw=randread|bsrange=4k-16k|norandommap|ioengine=libaio|direct=1",
    "rw=randread|numjobs=2|ioengine=libaio|direct=1|iodepth=2",
    "rw=randread|random_distribution=zipf:1.2|direct=1|size=256k",
    "rw=randread|random_distribution=zoned:80/20:20/80|direct=1|size=256k|norandommap",
    "rw=randread|percentage_random=50|norandommap|direct=1|size=64k",
    "rw=write|fdatasync=1|direct=1|size=32k",
    "rw=randwrite|sync=dsync|direct=1|size=32k",
    "rw=randread|rate_iops=500|direct=1|size=256k",
    "rw=randread|thinktime=500|thinktime_blocks=4|direct=1|size=128k",
    "rw=read|offset=256k|size=512k|direct=1|bs=32k",
    "rw=write|numjobs=2|offset_increment=512k|size=512k|direct=1|bs=64k",
    "rw=randread|direct=0",
    "rw=randread|ioengine=posixaio|direct=1|iodepth=4",
    "rw=randread|ioengine=libaio|direct=1|iodepth=8|iodepth_batch_submit=4|iodepth_batch_complete_min=4",
];

/// What a case did, counted.
#[derive(Debug, Default)]
struct Seen {
    operations: BTreeMap<&'static str, u64>,
    sizes: BTreeMap<u64, u64>,
    /// Pieces of 4 KiB that were touched.
    places: BTreeSet<u64>,
    depth: u64,
}

impl Seen {
    fn add(&mut self, operation: &'static str, offset: u64, bytes: u64) {
        *self.operations.entry(operation).or_default() += 1;
        *self.sizes.entry(bytes).or_default() += 1;
        self.places.extend(offset / 4096..(offset + bytes).div_ceil(4096));
    }

    /// Percent of all by key.
    fn shares<K: Ord + Clone>(counts: &BTreeMap<K, u64>) -> BTreeMap<K, i64> {
        let all: u64 = counts.values().sum();
        counts.iter().map(|(key, count)| (key.clone(), (count * 100 / all.max(1)) as i64)).collect()
    }
}

/// Largest difference of two distributions in percent points; a key that one of them lacks counts in full.
fn distance<K: Ord + Clone>(a: &BTreeMap<K, u64>, b: &BTreeMap<K, u64>) -> i64 {
    let (a, b) = (Seen::shares(a), Seen::shares(b));
    let keys: BTreeSet<K> = a.keys().chain(b.keys()).cloned().collect();
    keys.iter().map(|key| (a.get(key).unwrap_or(&0) - b.get(key).unwrap_or(&0)).abs()).max().unwrap_or(0)
}

fn job_file(directory: &Path) -> String {
    let shown = directory.display();
    let head = format!(
        "[global]\nfilename={shown}/file\nsize=1m\nruntime=400ms\ntime_based\nlog_offset=1\nallow_mounted_write=1\n"
    );
    let section = |(index, text): (usize, &&str)| {
        let lines = text.replace('|', "\n");
        format!("[c{index:02}]\nstonewall\nwrite_lat_log={shown}/c{index:02}\n{lines}\n")
    };
    head + &JOBS.iter().enumerate().map(section).collect::<String>()
}

/// What fio did, by case.
fn by_fio(directory: &Path, jobs: &str) -> BTreeMap<String, Seen> {
    let out = output(Command::new("fio").args(["--output-format=json", jobs]).current_dir(directory));
    let (code, stdout, stderr) = texts(&out);
    assert_eq!(code, 0, "{stdout}\n{stderr}");
    let document: serde_json::Value = serde_json::from_str(&stdout[stdout.find('{').expect("JSON")..]).expect("JSON");
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    for job in document["jobs"].as_array().expect("jobs") {
        let case = seen.entry(job["jobname"].as_str().expect("a name").to_string()).or_default();
        let levels = job["iodepth_level"].as_object().expect("depths");
        let there = levels.iter().filter(|(_, share)| share.as_f64() > Some(1.0));
        let depth = there.filter_map(|(level, _)| level.trim_start_matches(">=").parse::<u64>().ok()).max();
        case.depth = case.depth.max(depth.expect("a depth"));
    }
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((case, _)) = name.split_once("_lat.") else { continue };
        let case = seen.get_mut(case).expect("a job of that name");
        for line in std::fs::read_to_string(entry.path()).expect("a log").lines() {
            let cells: Vec<u64> = line.split(',').map(|cell| cell.trim().parse().expect("a number")).collect();
            case.add(if cells[2] == 0 { "read" } else { "write" }, cells[4], cells[3]);
        }
    }
    seen
}

/// What our engine did, by case.
fn by_stend(scratch: &Scratch, jobs: &str) -> BTreeMap<String, Seen> {
    let (suite, _) = expect_exit(&mut stend(scratch, &["import", "--suite", jobs]), 0);
    assert!(suite.contains("defaults: {prober: off}\n") && !suite.contains("repeats"), "{suite}");
    // What the test needs beside the load: every I/O, once.
    let suite = suite.replace("prober: off}", "prober: off, io_log: {size: 64MiB}}") + "repeats: {blocks: 1}\n";
    let (suite, target) = (scratch.file("imported.yaml", &suite), scratch.directory("target"));
    let run = scratch.join("r.stend").to_string_lossy().into_owned();
    expect_exit(&mut stend(scratch, &["run", &suite, "--on", &target, "-o", &run]), 0);
    let (csv, _) = expect_exit(&mut stend(scratch, &["export", &run, "--ios"]), 0);
    let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
    let mut edges: BTreeMap<(String, String), Vec<(i64, i64)>> = BTreeMap::new();
    for line in csv.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |column: usize| cells[column].parse::<i64>().expect("a number");
        let case = cells[1].split(' ').next().expect("a label").to_string();
        let operation = match cells[6] {
            "read" => "read",
            "write" => "write",
            _ => continue,
        };
        // A stream with one job each, or a job of a stream.
        let thread = (case.clone(), format!("{}/{}", cells[2], cells[3]));
        edges.entry(thread).or_default().extend([(number(4), 1), (number(4) + number(5), -1)]);
        seen.entry(case).or_default().add(operation, number(7) as u64, number(8) as u64);
    }
    for ((case, _), mut edges) in edges {
        // An end counts before a begin at the same time.
        edges.sort_unstable();
        let mut now = 0;
        let most = edges
            .iter()
            .map(|(_, step)| {
                now += step;
                now
            })
            .max()
            .unwrap_or(0);
        let case = seen.get_mut(&case).expect("a case");
        case.depth = case.depth.max(most as u64);
    }
    seen
}

#[test]
fn twenty_jobs_are_the_same_mix_sizes_places_and_depth_by_fio_and_by_us() {
    if Command::new("fio").arg("--version").output().is_err() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "this needs fio");
        eprintln!("skipped, needs fio: twenty_jobs_are_the_same_mix_sizes_places_and_depth_by_fio_and_by_us");
        return;
    }
    let scratch = Scratch::new();
    let directory = scratch.directory("fio");
    let jobs = scratch.file("fio/jobs.fio", &job_file(Path::new(&directory)));
    let (theirs, ours) = (by_fio(Path::new(&directory), &jobs), by_stend(&scratch, &jobs));
    assert_eq!((theirs.len(), ours.len()), (JOBS.len(), JOBS.len()));
    for (index, (name, theirs)) in theirs.iter().enumerate() {
        let (job, ours) = (JOBS[index], &ours[name]);
        // Shares that are drawn by chance: 400 I/Os at least, so that 8 points are more than three deviations.
        assert!(
            distance(&theirs.operations, &ours.operations) <= 8,
            "{job}: {:?} {:?}",
            theirs.operations,
            ours.operations
        );
        assert!(distance(&theirs.sizes, &ours.sizes) <= 8, "{job}: {:?} {:?}", theirs.sizes, ours.sizes);
        let ends = |seen: &Seen| (seen.places.first().copied(), seen.places.last().copied());
        let (their, our) = (theirs.places.len() as i64, ours.places.len() as i64);
        assert!((their - our).abs() * 100 <= 15 * their, "{job}: {their} and {our} places");
        let near = |a: Option<u64>, b: Option<u64>| a.zip(b).is_some_and(|(a, b)| a.abs_diff(b) <= 8);
        let (a, b) = (ends(theirs), ends(ours));
        assert!(near(a.0, b.0) && near(a.1, b.1), "{job}: {a:?} {b:?}");
        // With a rate our log counts from when an I/O was due, so that waiting looks like being in flight.
        if !job.contains("rate_iops") {
            assert_eq!(theirs.depth, 1 << ours.depth.ilog2(), "{job}: {} in flight", ours.depth);
        }
    }
}

#[test]
fn jobs_are_printed_written_or_refused_in_the_users_language() {
    let scratch = Scratch::new();
    let jobs = scratch.file("a.fio", "[a]\nfilename=/dev/sdb\nrw=randread\ndirect=1\nruntime=5\nnice=5\n");
    let (_, error) = expect_exit(&mut stend(&scratch, &["import", "--suite", &jobs, "--lang", "ru"]), 3);
    assert!(error.contains("a.fio:6: `nice` не импортируется"), "{error}");
    let to = scratch.join("s.yaml").to_string_lossy().into_owned();
    let (said, note) = expect_exit(&mut stend(&scratch, &["import", "--suite", "--lenient", &jobs, "-o", &to]), 0);
    assert!(said.contains("s.yaml") && note.contains("with another meaning: 1"), "{said}{note}");
    let text = std::fs::read_to_string(&to).expect("a suite");
    assert!(text.contains("#   ") && text.contains("nice") && !text.contains("filename"), "{text}");
    let (json, _) = expect_exit(&mut stend(&scratch, &["import", "--suite", "--lenient", &jobs, "--json"]), 0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["targets"][0], &json["notes"][0]["weight"]), (&"/dev/sdb".into(), &"changed".into()));
    let command = ["import", "--suite", "--", "fio", "--name=x", "--filename=/dev/sdb", "--rw=randread", "--bss=4k"];
    let (_, error) = expect_exit(&mut stend(&scratch, &command), 3);
    assert!(error.contains("command:5: unknown option `bss`") && error.contains("did you mean `bs`"), "{error}");
    let (_, error) = expect_exit(&mut stend(&scratch, &["import", "--lenient", &jobs]), 2);
    assert!(error.contains("--suite"), "{error}");
    let (_, error) = expect_exit(&mut stend(&scratch, &["run", &jobs, "--on", &scratch.directory("t")]), 3);
    assert!(error.contains("stend import --suite"), "{error}");
}

#[test]
fn a_suite_that_is_exported_runs_in_fio_and_every_tool_is_known_by_its_files() {
    let scratch = Scratch::new();
    let suite = "suite: x\ndefaults: {trial: 200ms, ramp: 0s, backend: psync}\ncases:\n\
                 - {name: a, streams: [{op: read, pattern: random, block_size: [4KiB, 8KiB]}]}\n\
                 - {name: b, streams: [{op: write, pattern: reverse, block_size: 4KiB}]}\n";
    let (suite, jobs) = (scratch.file("s.yaml", suite), scratch.join("x.fio").to_string_lossy().into_owned());
    let (said, note) = expect_exit(&mut stend(&scratch, &["export", &suite, "--format", "fio-job", "-o", &jobs]), 0);
    assert!(said.contains("x.fio") && note.contains("2 settings are missing or differ"), "{said}{note}");
    let text = std::fs::read_to_string(&jobs).expect("jobs");
    assert!(text.contains(";   `b` is left out: fio has no equivalent of `reverse`"), "{text}");
    if Command::new("fio").arg("--version").output().is_ok() {
        let file = scratch.file("data", &"x".repeat(1 << 20));
        let out = output(Command::new("fio").env("TARGET", file).arg(&jobs));
        let (code, stdout, stderr) = texts(&out);
        assert!(code == 0 && stdout.contains("a bs4096") && stdout.contains("a bs8192"), "{stdout}{stderr}");
    }
    let vdbench = "sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1,xfersize=4k\nrd=rd1,wd=wd1,iorate=max,elapsed=5\n";
    let (text, _) = expect_exit(&mut stend(&scratch, &["import", "--suite", &scratch.file("v.txt", vdbench)]), 0);
    assert!(text.contains("queue_depth: 8") && text.contains("name: \"rd1\""), "{text}");
    let (text, _) =
        expect_exit(&mut stend(&scratch, &["import", "--suite", "--", "diskspd", "-b4K", "-r", "-o4", "/dev/sdb"]), 0);
    assert!(text.contains("pattern: uniform, block_size: 4KiB, queue_depth: 4"), "{text}");
}

#[test]
fn fio_reads_the_jobs_of_every_built_in_suite() {
    let scratch = Scratch::new();
    let (list, _) = expect_exit(&mut stend(&scratch, &["suites", "--json"]), 0);
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let names = list["suites"].as_array().expect("suites").iter().filter_map(|suite| suite["name"].as_str());
    for name in names {
        let jobs = scratch.join("jobs.fio").to_string_lossy().into_owned();
        expect_exit(&mut stend(&scratch, &["export", name, "--format", "fio-job", "-o", &jobs]), 0);
        let text = std::fs::read_to_string(&jobs).expect("jobs");
        std::fs::remove_file(&jobs).expect("removed");
        // Fio can have no case of `video`, whose rates are no whole numbers for each job: what is left out is named.
        if !text.contains("stonewall") {
            assert!(text.contains("is left out"), "{name}: {text}");
            continue;
        }
        let parsed = output(
            Command::new("fio").args(["--parse-only", &scratch.file("x.fio", &text)]).env("TARGET", "/dev/null"),
        );
        let (code, stdout, stderr) = texts(&parsed);
        assert!(code == 0 && !format!("{stdout}{stderr}").contains("dropped"), "{name}: {stdout}{stderr}");
    }
}

/// A folder with a file that imports whole, one with losses, one that does not, and one that holds no jobs.
fn folder(scratch: &Scratch) -> String {
    let folder = scratch.directory("jobs");
    scratch.directory("jobs/below");
    scratch.file("jobs/a.fio", "[a]\nfilename=/dev/sdb\nrw=randread\ndirect=1\n");
    scratch.file("jobs/b.fio", "[b]\nfilename=/dev/sdb\nrw=randread\ndirect=1\nnice=5\n");
    scratch.file("jobs/below/c.txt", "sd=sd1,size=1g\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n");
    scratch.file("jobs/readme.txt", "not jobs\n");
    folder
}

#[test]
fn a_folder_becomes_a_table_of_how_its_files_import() {
    let scratch = Scratch::new();
    let folder = folder(&scratch);
    let (text, _) = expect_exit(&mut stend(&scratch, &["import", "--suite", &folder, "--lang", "en"]), 0);
    assert!(text.contains("a.fio: whole\n") && text.contains("b.fio: with losses (--lenient)\n"), "{text}");
    assert!(text.contains("below/c.txt: refused\n") && text.contains("c.txt:1: `sd=sd1` has no `lun`"), "{text}");
    assert!(text.ends_with("3 job files: 1 whole, 1 with losses, 1 refused, 0 unclear; 1 other files\n"), "{text}");
    let (json, _) = expect_exit(&mut stend(&scratch, &["import", "--suite", &folder, "--json"]), 0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((json["counts"]["whole"].as_u64(), json["other_files"].as_u64()), (Some(1), Some(1)), "{json}");
    assert_eq!(json["files"][1]["outcome"], "losses");
    let to = scratch.join("s.yaml").to_string_lossy().into_owned();
    let (_, error) = expect_exit(&mut stend(&scratch, &["import", "--suite", &folder, "-o", &to]), 2);
    assert!(error.contains("-o") && !scratch.join("s.yaml").exists(), "{error}");
    let empty = scratch.directory("empty");
    expect_exit(&mut stend(&scratch, &["import", "--suite", &empty]), 2);
}

#[test]
fn a_job_of_the_null_engine_runs_on_a_directory_without_filling_it() {
    let scratch = Scratch::new();
    let jobs = scratch.file("null.fio", "[null]\nioengine=null\nsize=100t\nrw=randread\nnorandommap\n");
    let (suite, target) = (scratch.join("s.yaml").to_string_lossy().into_owned(), scratch.directory("t"));
    expect_exit(&mut stend(&scratch, &["import", "--suite", &jobs, "-o", &suite]), 0);
    let (plan, _) = expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "--dry-run", "--json"]), 0);
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    assert_eq!(plan["not_run"].as_array().map(Vec::len), Some(0), "{plan}");
}
