//! Samples after ManagerList.cpp of Iometer 1.1: two specifications with two depths each, as Iometer writes them and as a Russian spreadsheet
//! saves them again.

use super::read;
use crate::build::{File, ImportedRun};
use stend_base::{Bytes, Lang, Result};
use stend_record::Entry;
use stend_record::observed::TrialOutcome;
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Op, Trial};

const RESULTS: &str = include_str!("../../tests/corpus/iometer/1.1.0.csv");
const SPREADSHEET: &str = include_str!("../../tests/corpus/iometer/1.1.0-spreadsheet.csv");
/// First row of all managers, cut before its numbers.
const FIRST: &str = "ALL,All,8 KiB; 67% Read; 100% random,1,2,2,";

fn results(text: &str) -> Result<ImportedRun> {
    read(&[File { name: "results.csv", bytes: text.as_bytes() }])
}

fn why(text: &str) -> String {
    results(text).unwrap_err().render(Lang::En)
}

fn trials(text: &str) -> Vec<(Trial, TrialOutcome)> {
    let run = results(text).unwrap_or_else(|e| panic!("{}", e.render(Lang::En)));
    let (mut found, mut asked) = (Vec::new(), None);
    for entry in run.entries {
        match entry {
            Entry::TrialStart { asked: trial, .. } => asked = Some(*trial),
            Entry::TrialEnd { outcome, .. } => found.push((asked.take().unwrap(), *outcome)),
            other => panic!("{other:?}"),
        }
    }
    found
}

fn line(text: &str, with: &str) -> usize {
    text.lines().position(|line| line.contains(with)).unwrap() + 1
}

#[test]
fn each_row_of_all_managers_is_a_case_and_its_label_says_the_depth() {
    let run = results(RESULTS).unwrap();
    let labels: Vec<String> = run.inputs.suite.imported.iter().map(|case| case.label()).collect();
    let (random, sequential) = ("8 KiB; 67% Read; 100% random", "64 KiB, sequential write");
    let of = |name: &str, depth: u32| format!("{name}, queue_depth {depth}");
    assert_eq!(labels, [of(random, 1), of(random, 8), of(sequential, 1), of(sequential, 8)]);
    assert_eq!((run.imported.files[0].version.as_str(), run.imported.dropped.len()), ("Iometer 1.1.0", 0));
    assert_eq!(run.started_unix_ns, None, "times are of a zone that is not told");
}

#[test]
fn counts_are_exact_and_the_time_is_that_of_the_rate() {
    let (asked, outcome) = trials(RESULTS).remove(0);
    let (read, write) = (outcome.jobs[0].done[Op::Read.index()], outcome.jobs[0].done[Op::Write.index()]);
    assert_eq!((read.1, write.1), (read.0 * 8192, write.0 * 8192));
    // 30.002345 s: the rate has six decimals.
    assert!(asked.window.0.abs_diff(30_002_345_000) < 1000, "{}", asked.window.0);
    let stream = &asked.streams[0];
    assert_eq!((stream.block_size, stream.queue_depth, stream.jobs), (Bytes::kib(8), 1, 2));
    assert_eq!((&stream.pattern, stream.mix.read, asked.direct), (&Pattern::Uniform, 67, true));
    let told = outcome.tool_output.unwrap();
    // 0.36 ms with six decimals.
    assert_eq!(told.ops[0].sum_ns / u128::from(told.ops[0].count), 360_000);
    assert_eq!((told.ops[0].max_ns, told.ops[0].min_ns), (3_960_000, 0));
    assert!(told.depth_known && told.sizes_known && !told.paced && told.ops[0].occupied_ns.is_some());
    let units: Vec<(&str, &str)> =
        told.ops[1].numbers.iter().map(|number| (number.name.as_str(), number.unit.as_str())).collect();
    for expected in [("Write MiBps (Binary)", "MiB/s"), ("Write MBps (Decimal)", "MB/s"), ("Bytes Written", "B")] {
        assert!(units.contains(&expected), "{units:?}");
    }
    assert!(units.iter().all(|(name, _)| !name.contains("Read")), "{units:?}");
}

#[test]
fn decimal_commas_of_a_spreadsheet_do_not_matter() {
    let (own, saved) = (trials(RESULTS), trials(SPREADSHEET));
    assert_eq!(own.len(), saved.len());
    for (own, saved) in own.iter().zip(&saved) {
        assert_eq!((&own.0, &own.1.jobs), (&saved.0, &saved.1.jobs));
    }
    let tabs = SPREADSHEET.replace(';', "\t").replace("KiB\t 67% Read\t 100", "KiB; 67% Read; 100");
    assert_eq!(trials(&tabs)[3].1.jobs, own[3].1.jobs);
}

#[test]
fn cells_in_double_quotes_are_read_as_well() {
    let quoted = |line: &str| line.split(',').map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",");
    let (name, plain) = ("64 KiB, sequential write", "64 KiB sequential write");
    let text: String = RESULTS.replace(name, plain).lines().map(|line| quoted(line) + "\r\n").collect();
    let text = text.replace(plain, name);
    let (own, saved) = (results(RESULTS).unwrap(), results(&text).unwrap_or_else(|e| panic!("{}", e.render(Lang::En))));
    let labels = |run: &ImportedRun| run.inputs.suite.imported.iter().map(|case| case.label()).collect::<Vec<_>>();
    assert_eq!((labels(&own), own.imported.dropped.len()), (labels(&saved), saved.imported.dropped.len()));
    for (own, saved) in trials(RESULTS).iter().zip(&trials(&text)) {
        assert_eq!((&own.0, &own.1.jobs), (&saved.0, &saved.1.jobs));
    }
    // Without a name of the specification the test is called by its description.
    let unnamed = |text: &str, name: &str| {
        let run = results(&text.replacen(name, "", 2)).unwrap();
        run.inputs.suite.imported[0].name.clone()
    };
    assert_eq!(unnamed(&text, "8 KiB; 67% Read; 100% random"), "array after the move");
}

#[test]
fn what_differs_between_workers_is_not_known() {
    let text = RESULTS.replacen(FIRST, "ALL,All,,1,2,2,", 1);
    let (asked, outcome) = trials(&text).remove(0);
    assert!(asked.streams[0].block_size == Bytes::kib(8) && !outcome.tool_output.unwrap().sizes_known);
    assert_eq!(results(&text).unwrap().inputs.suite.imported[0].name, "array after the move");
    let at = RESULTS.find(FIRST).unwrap();
    let end = at + RESULTS[at..].find('\r').unwrap();
    let depth = RESULTS[at..end].replacen(",0,0,1,12.345678", ",0,0,-1,12.345678", 1);
    let text = format!("{}{depth}{}", &RESULTS[..at], &RESULTS[end..]);
    assert!(!trials(&text)[0].1.tool_output.as_ref().unwrap().depth_known);
}

#[test]
fn rows_of_a_specification_that_differ_are_shares_of_sizes() {
    let two = RESULTS.replacen("8192,100,67,100,0,1,0,0,", "4096,60,67,100,0,1,0,0,\r\n8192,40,67,50,7,1,0,0,", 1);
    let (asked, outcome) = trials(&two).remove(0);
    let shares: Vec<_> = asked.streams[0].block_mix.iter().map(|share| (share.size.0, share.percent)).collect();
    assert_eq!((asked.streams[0].block_size.0, shares), (8192, vec![(4096, 60), (8192, 40)]));
    assert!(matches!(asked.streams[0].pattern, Pattern::Mixed { sequential } if sequential.0 == 200_000));
    let told = outcome.tool_output.unwrap();
    assert!(told.paced && !told.sizes_known);
}

#[test]
fn a_test_without_results_and_a_row_that_was_cut_are_left_out_and_told() {
    let second = RESULTS.match_indices("'Results").nth(3).unwrap().0;
    let run = results(&RESULTS[..second]).unwrap();
    assert_eq!(run.inputs.suite.imported.len(), 3);
    assert!(run.imported.dropped[0].en.ends_with("a test without results: it did not end"));
    let cut = RESULTS.rfind("ALL,").unwrap();
    let run = results(&RESULTS[..cut + 90]).unwrap();
    assert!(run.imported.dropped[0].en.contains("columns, but the header has 80"), "{:?}", run.imported.dropped);
    assert_eq!(run.imported.dropped.len(), 2);
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    let row = line(RESULTS, FIRST);
    let short = why(&RESULTS.replacen(FIRST, "ALL,All\r\nALL,All,x,1,2,2,", 1));
    assert!(short.contains(&format!("results.csv:{row}: 2 columns, but the header has 80")), "{short}");
    let word = why(&RESULTS.replacen(FIRST, "ALL,All,8 KiB; 67% Read; 100% random,1,2,2,fast", 1));
    assert!(
        word.contains(&format!("results.csv:{row}: `fast")) && word.contains("in column `IOps` is not a number"),
        "{word}"
    );
    let missing = why(&RESULTS.replacen("Bytes Read,", "Bytes,", 1));
    assert!(missing.contains(":14: there is no column `Bytes Read`"), "{missing}");
    let share = why(&RESULTS.replacen("8192,100,67,100", "8192,100,67,101", 1));
    assert!(share.contains(":11: shares above 100 %") && share.contains("hint: import `results.csv`"), "{share}");
    let words = why(&RESULTS.replacen("8192,100,67,100", "all,100,67,100", 1));
    assert!(words.contains(":11: expected a row of an access specification"), "{words}");
    let idle = RESULTS.lines().take(14).map(|line| format!("{line}\n")).collect::<String>();
    assert!(why(&idle).contains("holds no results of a test"), "{}", why(&idle));
}
