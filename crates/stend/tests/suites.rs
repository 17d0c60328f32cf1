//! The suites that are built in: each lays out the plan that was read, and each runs to its end.
//! `UPDATE_EXPECT=1 CI=true cargo test -p stend --test suites` writes the plans anew; read the difference.

use crate::support::*;
use expect_test::{expect, expect_file};
use serde_json::Value;
use std::path::Path;

/// (name, text) of every suite.
fn built_in(scratch: &Scratch) -> Vec<(String, String)> {
    let (stdout, _) = expect_exit(&mut stend(scratch, &["suites", "--json"]), 0);
    let document: Value = serde_json::from_str(&stdout).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let suites = document["suites"].as_array().expect("a list").iter();
    suites.map(|suite| (text(&suite["name"]), text(&suite["text"]))).collect()
}

#[test]
fn suites_are_listed_and_printed_and_an_unknown_one_is_refused() {
    let scratch = Scratch::new();
    let (list, _) = expect_exit(&mut stend(&scratch, &["suites"]), 0);
    let (russian, _) = expect_exit(&mut stend(&scratch, &["suites", "--lang", "ru"]), 0);
    let suites = built_in(&scratch);
    assert!(suites.len() > 20);
    for (name, text) in &suites {
        assert!(list.contains(&format!("\n{name}\n")) || list.starts_with(&format!("{name}\n")), "{name}: {list}");
        assert!(russian.contains(name.as_str()));
        assert_eq!(&expect_exit(&mut stend(&scratch, &["suites", name]), 0).0, text);
    }
    // What a suite takes is what a dry run of it says.
    let target = scratch.directory("target");
    let json = |words: &[&str]| -> serde_json::Value {
        serde_json::from_str(&expect_exit(&mut stend(&scratch, words), 0).0).expect("JSON")
    };
    let takes = json(&["suites", "--json", "fsync"])["suites"][0]["takes"].clone();
    let preview = json(&["run", "fsync", "--on", &target, "--dry-run", "--json"]);
    assert_eq!(takes["time_ns"], preview["time"]["trials_ns"], "{takes} {preview}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["suites", "fsink"]), 2);
    assert!(stderr.contains("no suite `fsink` is built in") && stderr.contains("did you mean `fsync`?"), "{stderr}");
}

#[test]
fn a_workload_in_fios_words_is_the_suite_that_is_printed() {
    let scratch = Scratch::new();
    let target = scratch.directory("target");
    let printed =
        |words: &[&str]| expect_exit(&mut stend(&scratch, &[&["run", "--print-suite", "--rw"], words].concat()), 0).0;
    let all = printed(&[
        "randrw,write",
        "--mix=70",
        "--bs=8k,1M",
        "--qd=1,4",
        "--jobs=2",
        "--rate=500",
        "--sync=fsync",
        "--verify",
    ]);
    expect![[r#"
        suite: write-randrw
        defaults: {ramp: 500ms, trial: 2500ms}
        fill: {size: auto}
        cases:
          - name: write
            streams: [{op: write, pattern: sequential, block_size: [8k, 1M], queue_depth: [1, 4], jobs: 2, rate: 500/s, sync: {fsync: 1}, verify: {after: true}}]
          - name: randrw
            streams: [{op: {read: 70, write: 30}, pattern: random, block_size: [8k, 1M], queue_depth: [1, 4], jobs: 2, rate: 500/s, sync: {fsync: 1}, verify: {after: true}}]
        repeats: {blocks: 6}
    "#]]
    .assert_eq(&all);
    let quick = |words: &[&str]| expect_exit(&mut stend(&scratch, &[&["run", "quick"], words].concat()), 0).0;
    let changed = ["--repeats=12", "--engine=fio", "--print-suite"];
    let (before, after) = (quick(&["--print-suite"]), quick(&changed));
    let expected = before.replace("blocks: 6", "blocks: 12").replace("{direct: true", "{engine: fio, direct: true");
    assert_eq!(after, expected);
    assert!(printed(&["read", "--engine=fio"]).contains("defaults: {engine: fio, ramp: 500ms"));
    // What is printed is what runs, and one short trial is enough.
    let (file, words) =
        (scratch.join("r.stend"), ["randread", "--bs=4k", "--qd=1,4", "--time=200ms", "--repeats=1", "--size=4M"]);
    let place = ["--on", &target, "-o", &file.to_string_lossy(), "--progress", "none"];
    let (stdout, _) = expect_exit(&mut stend(&scratch, &[&["run", "--rw"], &words[..], &place[..]].concat()), 0);
    assert!(stdout.contains("QD") && stdout.contains("no interval: too few trials"), "{stdout}");
    let run = stend_record::store::read(&file).expect("a run file");
    assert_eq!((run.header.suite_text, run.trials.len()), (printed(&words), 2));
}

/// What a dry run says of steps, time and bytes: the same on every machine and in every run.
fn laid_out(preview: &str, scratch: &Scratch) -> String {
    const OWN: &str = ".stend-R-";
    let preview = preview.replace(&*scratch.path().to_string_lossy(), "SCRATCH");
    let mut parts = preview.split(OWN);
    let first = parts.next().unwrap_or_default().to_string();
    // The id of a run: time and four letters.
    let preview =
        parts.fold(first, |text, part| text + OWN + "ID" + part.get("20261123T010057Z-ttum".len()..).unwrap_or(part));
    let lines = preview.lines().skip_while(|line| *line != "Steps");
    lines.take_while(|line| !line.starts_with("run file")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_suite_lays_out_the_plan_that_was_read() {
    if !root("every_suite_lays_out_the_plan_that_was_read") {
        return;
    }
    let scratch = Scratch::new();
    // Sparse: nothing is written to it.
    let device = Loop::new(&scratch, "disk.img", 64 << 30);
    let identity = device.identity(&scratch);
    let memory = Mount::new(&["-t", "tmpfs", "-o", "size=512g", "tmpfs"], scratch.join("files"));
    let memory = memory.0.to_string_lossy();
    for (name, text) in built_in(&scratch) {
        if text.contains("mariadb") && !Path::new("/usr/sbin/mariadbd").exists() {
            eprintln!("skipped, needs mariadbd: the plan of {name}");
            continue;
        }
        // Nobody cuts the power of this machine: `tests/power.rs`, and in a machine of the lab `tests/lab_power.rs`.
        if text.contains("power.cut") {
            continue;
        }
        // Several files, and the data of instances, are made in a directory.
        let on: &[&str] = match text.contains("\nfiles:") || text.contains("application:") {
            true => &["--on", &memory],
            false => &["--on", &device.device, "--confirm", &identity],
        };
        let words = [&["run", &name, "--dry-run", "--seed", "1"], on].concat();
        let (preview, _) = expect_exit(&mut stend(&scratch, &words), 0);
        let laid_out = laid_out(&preview, &scratch);
        assert!(laid_out.contains("measure:"), "{preview}");
        // Nodes and CPUs are those of the machine; a test of `stend-spec` places such a suite on a machine with two nodes.
        if text.contains("numa: ") {
            continue;
        }
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/suites").join(name.replace('/', "."));
        expect_file![golden.with_file_name(format!("{}.txt", name.replace('/', ".")))].assert_eq(&laid_out);
    }
}

/// A suite as small as it gets: shortest trials and rounds, one block, a small range, of every axis both ends.
fn scaled(text: &str) -> String {
    let mut small = text.to_string();
    for (key, value) in [
        ("ramp", "0s"),
        ("trial", "200ms"),
        ("round", "200ms"),
        ("rounds", "5"),
        ("blocks", "1"),
        ("passes", "1"),
        ("count", "8"),
    ] {
        small = with(&small, key, value);
    }
    let small = small.replace("size: auto", "size: 128MiB").replace("size: 20GiB", "size: 16MiB");
    // What memory does not take, as long as it is one part of a mixture.
    let small = small.replace("512B: 22, 1KiB: 15, 2KiB: 8, 4KiB: 23", "4KiB: 68");
    small.lines().map(|line| ends(line) + "\n").collect()
}

/// Every value of a key replaced.
fn with(text: &str, key: &str, value: &str) -> String {
    let mut parts = text.split(&format!("{key}: ")).map(String::from).collect::<Vec<_>>().into_iter();
    let mut out = parts.next().unwrap_or_default();
    for part in parts {
        let is_key = out.ends_with([' ', '{', '\n']);
        let rest = part.find([',', '}', '\n']).map_or("", |end| &part[end..]);
        out += &format!("{key}: {}", if is_key { format!("{value}{rest}") } else { part.clone() });
    }
    out
}

/// A plain list of more than three values: the first and the last.
fn ends(line: &str) -> String {
    let found = line.find('[').and_then(|start| Some((start, start + line[start..].find(']')?)));
    let inner = found.map(|(start, end)| (start, end, line[start + 1..end].split(", ").collect::<Vec<_>>()));
    match inner {
        Some((start, end, values)) if values.len() > 3 && !line[start..end].contains('{') => {
            format!("{}[{}, {}{}", &line[..start], values[0], values[values.len() - 1], &line[end..])
        }
        Some((start, ..)) => format!("{}[{}", &line[..start], ends(&line[start + 1..])),
        None => line.to_string(),
    }
}

#[test]
fn a_scaled_suite_has_the_ends_of_its_axes_and_short_trials() {
    let text =
        "defaults: {ramp: 7min, trial: 1h, steady: {rounds: 25, round: 1min}}\n  - s: [{a: [1, 2, 3, 4], q: 1}]\n";
    let small = "defaults: {ramp: 0s, trial: 200ms, steady: {rounds: 5, round: 200ms}}\n  - s: [{a: [1, 4], q: 1}]\n";
    assert_eq!(scaled(text), small);
}

/// Runs a scaled suite in a directory of its own below `memory`; a person is there at once.
fn run(scratch: &Scratch, memory: &Path, name: &str, text: &str) {
    let slug = name.replace('/', ".");
    let (suite, target) = (scratch.file(&format!("{slug}.yaml"), &scaled(text)), memory.join(&slug));
    match name {
        // It only reads, and a new file in a directory holds nothing to read.
        "limits" => std::fs::write(&target, vec![7u8; 16 << 20]).expect("a file with data"),
        _ => std::fs::create_dir(&target).expect("a directory"),
    }
    let target = target.to_string_lossy();
    let file = scratch.join(&format!("{slug}.stend"));
    let path = file.to_string_lossy();
    let measure = |words: &[&str]| {
        let words = [&["run", "--json", "--progress", "none"], words].concat();
        let (stdout, _) = expect_exit(&mut stend(scratch, &words), 0);
        serde_json::from_str::<Value>(&stdout).expect("JSON")
    };
    let mut found = measure(&[&suite, "--on", &target, "-o", &path]);
    if found["state"]["state"] == "suspended" {
        found = measure(&["--resume", &path]);
    }
    assert_eq!(found["state"]["state"], "complete", "{name}");
    // Memory takes blocks of 4 KiB at least, and machines may have one node.
    for idle in found["not_run"].as_array().into_iter().flatten() {
        let reason = idle["reason"]["en"].as_str().unwrap_or_default();
        let known = ["multiples of 4096 B", "one NUMA node", "NUMA node of the target's device"];
        assert!(known.iter().any(|words| reason.contains(words)), "{name}: {idle}");
    }
    let cases = found["cases"].as_array().expect("cases");
    assert!(!cases.is_empty(), "{name}");
    // On a machine that is busy with other tests nothing may complete in so short a window: no rate is asked for.
    for case in cases {
        let (label, trials) = (&case["label"], case["trials"].as_u64());
        assert!(trials > Some(0) && case["trials_left_out"] == 0, "{name}, {label}: {trials:?}");
    }
    std::fs::remove_file(&file).expect("the run file");
}

/// Half of the suites: the one test that takes minutes would end long after all others.
fn run_half(of: usize) {
    let scratch = Scratch::new();
    // In memory: a slow disk would make this take as long as it likes to.
    let memory = tempfile::Builder::new().prefix("stend-e2e-").tempdir_in("/dev/shm").expect("a directory in memory");
    // Applications need disks, time and programs: `tests/density.rs` runs them. Events need arrays: `tests/lab_stands.rs`.
    let own = |(_, text): &(String, String)| !text.contains("application:") && !text.contains("events:");
    let suites = built_in(&scratch).into_iter().filter(own);
    suites.skip(of).step_by(2).for_each(|(name, text)| run(&scratch, memory.path(), &name, &text));
}

// What is measured does not matter here, so that several may run at the same time.

#[test]
fn every_suite_runs_to_its_end_on_small_files_the_first_of_two() {
    run_half(0);
}

#[test]
fn every_suite_runs_to_its_end_on_small_files_the_second_of_two() {
    run_half(1);
}
