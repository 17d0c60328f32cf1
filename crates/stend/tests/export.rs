//! `stend export`: results for other programs, by the real binary, and read again by what reads such files.

use crate::support::fixed_run::two_runs;
use crate::support::*;
use serde_json::Value;
use std::path::Path;

const A: &str = "R-20261121T213000Z-aaaa";
const B: &str = "R-20261122T213000Z-bbbb";

fn json(scratch: &Scratch, words: &[&str]) -> Value {
    let (stdout, _) = expect_exit(&mut stend(scratch, words), 0);
    serde_json::from_str(&stdout).expect("JSON")
}

fn close(a: &Value, b: &Value, within: f64) {
    let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
    assert!((a - b).abs() <= within * a.abs(), "{a} and {b}");
}

#[test]
fn what_is_written_as_fio_comes_back_as_it_was() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let (document, back) = (scratch.join("a.json"), scratch.join("back.stend"));
    let (document, back) = (document.to_string_lossy().into_owned(), back.to_string_lossy().into_owned());
    expect_exit(&mut stend(&scratch, &["export", A, "--format", "fio-json", "-o", &document]), 0);
    let told: Value = serde_json::from_str(&std::fs::read_to_string(&document).expect("a file")).expect("JSON");
    assert_eq!(told["jobs"].as_array().map(Vec::len), Some(4), "a job for each trial");
    expect_exit(&mut stend(&scratch, &["import", &document, "-o", &back]), 0);

    let (before, after) = (json(&scratch, &["show", A, "--json"]), json(&scratch, &["show", &back, "--json"]));
    assert_eq!(before["targets"], after["targets"]);
    for (was, is) in before["cases"].as_array().unwrap().iter().zip(after["cases"].as_array().unwrap()) {
        assert_eq!((&was["label"], &was["trials"]), (&is["label"], &is["trials"]));
        assert_eq!(was["workload"], is["workload"]);
        // fio tells times in whole milliseconds: of a window of 400 ms that is an eighth of a percent.
        for rate in ["iops", "throughput_bytes_per_s"] {
            close(&was[rate]["value"], &is[rate]["value"], 0.00125);
            for end in 0..2 {
                close(&was[rate]["interval_95"][end], &is[rate]["interval_95"][end], 0.00125);
            }
        }
        let (was, is) = (&was["operations"][0], &is["operations"][0]);
        assert_eq!((&was["count"], &was["latency_max_ns"]), (&is["count"], &is["latency_max_ns"]));
        close(&was["latency_mean_ns"], &is["latency_mean_ns"], 1e-9);
        // Its buckets are twice as wide as ours.
        for quantile in 0..2 {
            let value = |of: &Value| of["latency_quantiles"][quantile]["value_ns"].clone();
            close(&value(was), &value(is), 1.0 / 64.0);
            assert!(value(is).as_u64() >= value(was).as_u64(), "never too low");
        }
    }
    let compared = json(&scratch, &["compare", A, &back, "--json"]);
    assert_eq!(compared["cases"].as_array().map(Vec::len), Some(2), "the labels are the same");
}

#[test]
fn a_folder_has_a_document_for_each_case_and_never_a_run_file_replaced() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let folder = format!("{}/", scratch.join("plots").to_string_lossy());
    let words = ["export", A, "--format", "fio-json", "-o", &folder];
    let (stdout, _) = expect_exit(&mut stend(&scratch, &words), 0);
    let files: Vec<&str> = stdout.lines().collect();
    assert_eq!(files.len(), 2);
    let read = |file: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap() };
    let found = json(&scratch, &["show", A, "--json"]);
    for (file, case) in files.iter().zip(found["cases"].as_array().unwrap()) {
        let job = &read(file)["jobs"][0];
        let side = if job["job options"]["rw"] == "randwrite" { "write" } else { "read" };
        assert_eq!(job["jobname"], case["label"]);
        close(&job[side]["iops"], &case["iops"]["value"], 1e-9);
        // What fio-plot asks of every job.
        for option in ["rw", "bs", "iodepth", "numjobs"] {
            assert!(job["job options"][option].is_string(), "{option}");
        }
        assert!(job[side]["bw"].is_number() && job[side]["lat_ns"]["stddev"].is_number(), "{job}");
        assert!(job["latency_us"].is_object(), "{job}");
    }
    let listed = json(&scratch, &[&words[..], &["--json"]].concat());
    assert_eq!(listed["exports"].as_array().map(Vec::len), Some(2));

    std::fs::write(files[0], b"SQLite format 3\0").expect("a file");
    expect_exit(&mut stend(&scratch, &words), 5);
    assert_eq!(std::fs::read(files[0]).expect("a file"), b"SQLite format 3\0");
}

#[test]
fn results_as_a_table_can_be_audited_and_have_the_numbers_of_the_report() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let table = scratch.join("results.csv").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["export", A, "--format", "csv", "-o", &table, "--lang", "ru"]), 0);
    let audit = json(&scratch, &["audit", &table, "--json"]);
    assert_eq!(audit["unread"].as_array().map(Vec::len), Some(0), "{}", audit["unread"]);
    let check = |id: &str| audit["checks"].as_array().unwrap().iter().find(|c| c["check"] == id).unwrap().clone();
    for id in ["H01", "H02"] {
        assert_eq!((&check(id)["places"], &check(id)["doubts"]), (&2.into(), &0.into()), "{id}");
    }
    let found = json(&scratch, &["show", A, "--json"]);
    let text = std::fs::read_to_string(&table).expect("a table");
    for case in found["cases"].as_array().unwrap() {
        let value = case["iops"]["value"].as_f64().unwrap();
        assert!(text.contains(&format!(",iops,IOPS,{value},")), "{value}");
    }
}

#[test]
fn a_table_for_excel_in_russian_has_the_same_numbers_in_its_own_dress() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let of = |format: &str| expect_exit(&mut stend(&scratch, &["export", B, "--format", format]), 0).0;
    let (plain, russian) = (of("csv"), of("csv-ru"));
    assert!(russian.starts_with("\u{feff}прогон;набор;"), "{:.40}", russian);
    assert!(russian.ends_with("\r\n") && plain.lines().count() == russian.lines().count());
    let place = |head: &str, name: &str, separator| head.split(separator).position(|cell| cell == name).unwrap();
    let at = place(plain.lines().next().unwrap(), "value", ',');
    assert_eq!(place(russian.lines().next().unwrap(), "значение", ';'), at);
    for (plain, russian) in plain.lines().zip(russian.lines()).skip(1) {
        let own = plain.rsplit(',').nth(21 - at).unwrap().parse::<f64>().unwrap();
        let other = russian.rsplit(';').nth(21 - at).unwrap().replace(',', ".").parse::<f64>().unwrap();
        assert_eq!(own, other);
    }
}

#[test]
fn a_workbook_is_written_of_one_run_and_of_several() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let book = scratch.join("book.xlsx").to_string_lossy().into_owned();
    for lang in ["en", "ru"] {
        for runs in [&[A][..], &[A, B]] {
            let words = [&["export"], runs, &["--format", "xlsx", "-o", &book, "--lang", lang]].concat();
            let (stdout, _) = expect_exit(&mut stend(&scratch, &words), 0);
            assert_eq!(stdout.trim(), book);
            assert!(std::fs::read(&book).expect("a workbook").starts_with(b"PK\x03\x04"));
        }
    }
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["export", A, "--format", "xlsx"]), 2);
    assert!(stderr.contains("needs a file") && stderr.contains("-o results.xlsx"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["export", A, B, "--format", "csv"]), 2);
    assert!(stderr.contains("only `--format xlsx`"), "{stderr}");
    let too_many = [&["export"][..], &[A; 65], &["--format", "xlsx", "-o", &book]].concat();
    expect_exit(&mut stend(&scratch, &too_many), 2);
}

#[test]
fn a_format_that_needs_another_word_says_so() {
    let scratch = Scratch::new();
    two_runs(&scratch);
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["export", A, "--format", "fio"]), 2);
    assert!(stderr.contains("`--format fio-json`"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["export", A, "--ios", "--format", "csv-ru"]), 2);
    assert!(stderr.contains("not as `csv-ru`"), "{stderr}");
    let here = Path::new("/proc/no/such").to_string_lossy().into_owned() + "/";
    expect_exit(&mut stend(&scratch, &["export", A, "--format", "fio-json", "-o", &here]), 4);
}

/// Everything that Stend writes of a run that may be shared: the run file as bytes, and each document.
fn shared(scratch: &Scratch, run: &str, redact: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let outputs: [&[&str]; 6] = [
        &["export", run, "--format", "run"],
        &["export", run, "--format", "json"],
        &["export", run, "--format", "csv"],
        &["export", run, "--format", "fio-json"],
        &["report", run],
        &["compare", run, run],
    ];
    for (i, words) in outputs.iter().enumerate() {
        let file = scratch.join(&format!("shared-{}-{i}", redact.len())).to_string_lossy().into_owned();
        let file = if i == 0 { format!("{file}.stend") } else { file };
        expect_exit(&mut stend(scratch, &[words, redact, &["-o", &file]].concat()), 0);
        all.push((file.clone(), std::fs::read(&file).expect("a file")));
    }
    let markdown = scratch.join(&format!("shared-{}.md", redact.len())).to_string_lossy().into_owned();
    expect_exit(&mut stend(scratch, &[&["report", run, "--markdown", &markdown], redact].concat()), 0);
    all.push((markdown.clone(), std::fs::read(&markdown).expect("a file")));
    all
}

#[test]
fn what_is_shared_says_nothing_of_whose_it_is_and_finds_the_same() {
    let scratch = Scratch::new();
    let (suite, target) = (scratch.file("small.yaml", SMALL), scratch.directory("acme-vault"));
    let file = scratch.join("acme-array.stend").to_string_lossy().into_owned();
    expect_exit(&mut stend(&scratch, &["run", &suite, "--on", &target, "-o", &file, "--progress", "none"]), 0);
    let root = scratch.join("").to_string_lossy().trim_end_matches('/').to_string();
    let kernel = std::fs::read_to_string("/proc/cmdline").expect("a command line");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("an id");
    let secrets = ["acme-vault", "acme-array", root.as_str(), kernel.trim(), boot.trim()];
    let has = |bytes: &[u8], secret: &str| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());

    let plain = shared(&scratch, &file, &[]);
    for secret in secrets {
        assert!(plain.iter().any(|(_, bytes)| has(bytes, secret)), "without --redact `{secret}` is told");
    }
    let (_, page) = &plain[5];
    assert!(has(page, "Latency by percentile"), "a comparison draws the curves of both sides");
    let redacted = shared(&scratch, &file, &["--redact"]);
    for (name, bytes) in &redacted {
        for secret in secrets {
            assert!(!has(bytes, secret), "`{secret}` in {name}");
        }
    }
    let copy = &redacted[0].0;
    let facts = &json(&scratch, &["export", copy, "--format", "json"])["record"]["hosts"][0];
    let hostname = facts["info"]["facts"]["hostname"].as_str().or(facts["facts"]["hostname"].as_str());
    assert!(hostname.is_some_and(|name| name.starts_with("host-")), "{facts}");
    // What was found is the same, to the last digit.
    let cases = |run: &str| json(&scratch, &["show", run, "--json"])["cases"].clone();
    assert_eq!(cases(&file), cases(copy));
    assert_eq!(cases(&file), cases(&plain[0].0));

    let (_, stderr) = expect_exit(&mut stend(&scratch, &["report", &file, "--redact", "--open"]), 2);
    assert!(stderr.contains("-o shared.html"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["export", &file, "--format", "run"]), 2);
    assert!(stderr.contains("-o shared.stend"), "{stderr}");
    let (_, stderr) = expect_exit(&mut stend(&scratch, &["export", &file, "--format", "run", "-o", copy]), 5);
    assert!(stderr.contains(copy.as_str()), "a run file is never replaced: {stderr}");
}
