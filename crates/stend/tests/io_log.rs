//! A log of every I/O with the real binary: kept, told, exported, and readable after a kill.

use crate::support::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use stend_base::{Histogram, Nanos};
use stend_record::store;

const SUITE: &str = "\
suite: logged
defaults: {ramp: 100ms, trial: 400ms, io_log: {size: 64MiB}}
fill: {size: 16MiB}
repeats: {blocks: 2}
cases:
  - name: mix
    streams: [{op: {read: 70, write: 30}, pattern: random, block_size: {4KiB: 50, 16KiB: 50}, queue_depth: 4, jobs: 2}]
  - name: plain
    io_log: none
    streams: [{op: read, pattern: random, block_size: 4KiB}]
";

/// Runs the suite; the run file.
fn logged(scratch: &Scratch) -> String {
    let (suite, target) = (scratch.file("s.yaml", SUITE), scratch.directory("target"));
    let path = scratch.join("r.stend").to_string_lossy().into_owned();
    let (dry, _) = expect_exit(&mut stend(scratch, &["run", &suite, "--on", &target, "--dry-run"]), 0);
    assert!(dry.contains("Every I/O of the windows: at most 128"), "{dry}");
    expect_exit(&mut stend(scratch, &["run", &suite, "--on", &target, "-o", &path]), 0);
    let shown = show_all(scratch, Path::new(&path));
    assert!(shown.contains("Log of every I/O") && shown.contains("of 2 trials kept"), "{shown}");
    path
}

/// Cells of the lines of a table, without its head.
fn lines(text: &str, separator: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(separator).map(String::from).collect()).collect()
}

#[test]
fn a_log_of_every_io_is_kept_told_and_exported() {
    let scratch = Scratch::new();
    let path = logged(&scratch);
    let run = store::read(path.as_ref()).expect("a run");
    let (csv, _) = expect_exit(&mut stend(&scratch, &["export", &path, "--ios"]), 0);
    let table = lines(&csv, ",");
    assert_eq!(table[0].join(","), "trial,case,stream,job,begin_ns,latency_ns,op,offset,bytes,failed");
    let mut histograms: BTreeMap<(String, String, String), Histogram> = BTreeMap::new();
    for row in &table[1..] {
        let number = |column: usize| row[column].parse::<i64>().expect("a number");
        assert!(row[1] == "mix" && row[9] == "false" && [4096, 16384].contains(&number(8)), "{row:?}");
        assert!(number(7) + number(8) <= 16 << 20 && number(4) + number(5) < 400_000_000, "{row:?}");
        let key = (row[0].clone(), row[3].clone(), row[6].clone());
        histograms.entry(key).or_default().record(Nanos(number(5) as u64));
    }
    let kept = run.trials.iter().filter(|trial| trial.asked.io_log.is_some());
    for trial in kept.clone() {
        let outcome = trial.outcome.as_ref().expect("an outcome");
        assert_eq!(outcome.io_log.map(|log| (log.recorded, log.beyond, log.failed)), Some((trial.logged, 0, 0)));
        let rows = table[1..].iter().filter(|row| row[0] == trial.trial.to_string());
        let offsets: Vec<&String> = rows.map(|row| &row[7]).collect();
        let places = offsets.iter().collect::<BTreeSet<_>>().len();
        let placed = outcome.io_log.map(|log| (log.placed, log.places));
        assert_eq!(placed, Some((offsets.len() as u64, places as u64)));
        for (job, (op, name)) in outcome.jobs.iter().flat_map(|job| [(job, (0, "read")), (job, (1, "write"))]) {
            let key = (trial.trial.to_string(), job.job.to_string(), name.to_string());
            assert_eq!(histograms.remove(&key).map(|found| found.sparse()), Some(job.latency[op].clone()), "{key:?}");
        }
    }
    assert!(histograms.is_empty() && kept.count() == 2);

    let findings = show_json(&scratch, path.as_ref());
    let logs = findings["cases"][0]["io_logs"].as_array().expect("logs");
    assert_eq!((logs.len(), findings["cases"][1]["io_logs"].as_array().map(Vec::len)), (2, Some(0)));
    assert!(logs.iter().all(|log| log["recorded"].as_u64() > Some(0) && log["dropped"] == 0), "{logs:?}");
    let report = scratch.join("r.html");
    expect_exit(&mut stend(&scratch, &["report", &path, "-o", &report.to_string_lossy(), "--lang", "ru"]), 0);
    assert!(std::fs::read_to_string(&report).expect("a report").contains("Журнал операций: "));
}

#[test]
fn one_trial_is_written_as_fio_has_it_and_what_means_nothing_is_refused() {
    let scratch = Scratch::new();
    let path = logged(&scratch);
    let run = store::read(path.as_ref()).expect("a run");
    let trial = run.trials.iter().find(|trial| trial.asked.io_log.is_some()).expect("a log");
    let (number, file) = (trial.trial.to_string(), scratch.join("lat.log").to_string_lossy().into_owned());
    let words = ["export", &path, "--ios", "--trial", &number, "--format", "fio", "-o", &file];
    expect_exit(&mut stend(&scratch, &words), 0);
    let text = std::fs::read_to_string(&file).expect("a log");
    assert_eq!(text.lines().count() as u64, trial.logged);
    let known = |row: &Vec<String>| row.len() == 6 && row[0].parse::<u64>().is_ok_and(|ms| ms < 400) && row[5] == "0";
    assert!(lines(&text, ", ").iter().all(known), "{}", &text[..200]);

    let other = (0..).find(|n| run.trials.iter().all(|t| t.trial != *n || t.asked.io_log.is_none())).expect("one");
    let refused = |words: &[&str], told: &str| {
        let all = [&["export", &path], words].concat();
        let (_, stderr) = expect_exit(&mut stend(&scratch, &all), 2);
        assert!(stderr.contains(told), "{words:?}: {stderr}");
    };
    refused(&["--ios", "--format", "fio"], "logs of several");
    refused(&["--ios", "--format", "json"], "`csv` or `fio`");
    refused(&["--format", "fio"], "is for `--ios`");
    refused(&["--trial", "0"], "--ios");
    refused(&["--ios", "--trial", &other.to_string()], "no log of trial");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["export", &path, "--ios", "-o", &path]), 5);
    assert!(stderr.contains("run file"), "{stderr}");
    assert!(store::read(path.as_ref()).is_ok_and(|again| again == run), "nothing was written over it");
}

/// The line of the page that begins so, with this log in place of the export.
fn sorted_as_the_page_says(scratch: &Scratch, begin: &str, log: &str) -> Vec<String> {
    let page = include_str!("../../../docs/formats/io-log.md");
    let command = page.lines().find(|line| line.starts_with(begin)).expect("a command");
    let (words, file) = (command.strip_prefix("stend ").expect("ours"), scratch.file("log", log));
    let (_, rest) = words.split_once(" | ").expect("a pipe");
    tool(&["sh", "-c", &format!("cat '{file}' | {rest}")]).lines().map(String::from).collect()
}

#[test]
fn a_log_is_sorted_by_time_as_the_page_says_whatever_its_labels_contain() {
    let scratch = Scratch::new();
    let head = "trial,case,stream,job,begin_ns,latency_ns,op,offset,bytes,failed\n";
    let rows = [
        "0,\"mix, queue_depth 4\",0,0,2000,900,read,0,4096,false",
        "0,\"mix, queue_depth 4\",0,1,-500,700,write,4096,4096,false",
        "1,plain,0,0,30,9,read,0,4096,false",
        "2,\"a, b, c\",0,7,7,8,read,8192,4096,false",
    ];
    let log = head.to_string() + &rows.map(|row| format!("{row}\n")).concat();
    let csv = sorted_as_the_page_says(&scratch, "stend export RUN --ios | ", &log);
    assert_eq!(csv, [rows[1], rows[3], rows[2], rows[0]]);
    let lines = ["12, 900, 0, 4096, 0, 0", "3, 80, 1, 4096, 512, 0", "103, 7, 0, 4096, 0, 0", "3, 9, 0, 4096, 0, 0"];
    let fio = sorted_as_the_page_says(&scratch, "stend export RUN --ios --trial", &lines.join("\n"));
    assert_eq!(fio, [lines[1], lines[3], lines[0], lines[2]]);
}

#[test]
fn a_coordinator_that_is_killed_during_a_logged_trial_leaves_a_file_whose_log_opens() {
    let scratch = Scratch::new();
    let long = SUITE.replace("trial: 400ms", "trial: 30s");
    let (suite, target, file) = (scratch.file("s.yaml", &long), scratch.directory("t"), scratch.join("r.stend"));
    let path = file.to_string_lossy().into_owned();
    let words = ["run", &suite, "--on", &target, "-o", &path, "--progress", "none"];
    let mut run = Running::new(stend(&scratch, &words).stdout(std::process::Stdio::null()));
    eventually("records", Duration::from_secs(60), || {
        file.exists() && store::read(&file).is_ok_and(|run| run.trials.iter().any(|trial| trial.logged > 1000))
    });
    run.kill();
    let killed = store::read(&file).expect("the run file opens");
    let logged: u64 = killed.trials.iter().map(|trial| trial.logged).sum();
    let (csv, _) = expect_exit(&mut stend(&scratch, &["export", &path, "--ios"]), 0);
    assert_eq!(csv.lines().count() as u64, logged + 1);
}
