//! A flatfile of the real vdbench 5.04.06: two loops over threads, two over sizes.

use super::read;
use crate::build::{File, ImportedRun};
use stend_base::{Bytes, Lang, Millionths, Nanos, Result};
use stend_record::Entry;
use stend_record::observed::{Slice, TrialOutcome};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Op, Trial};

const FLATFILE: &str = include_str!("../../tests/corpus/vdbench/5.04.06-flatfile.html");

fn flatfile(text: &str) -> Result<ImportedRun> {
    read(&[File { name: "flatfile.html", bytes: text.as_bytes() }])
}

fn why(text: &str) -> String {
    flatfile(text).unwrap_err().render(Lang::En)
}

fn trials(run: &ImportedRun) -> Vec<(Trial, TrialOutcome, Vec<Slice>)> {
    let mut found: Vec<(Trial, TrialOutcome, Vec<Slice>)> = Vec::new();
    let (mut trial, mut own) = (None, Vec::new());
    for entry in &run.entries {
        match entry {
            Entry::TrialStart { asked, .. } => trial = Some(asked.as_ref().clone()),
            Entry::Slices { slices, .. } => own = slices.clone(),
            Entry::TrialEnd { outcome, .. } => {
                found.push((trial.take().unwrap(), outcome.as_ref().clone(), std::mem::take(&mut own)));
            }
            other => panic!("{other:?}"),
        }
    }
    found
}

#[test]
fn each_loop_is_a_case_and_its_label_says_in_what_it_differs() {
    let run = flatfile(FLATFILE).unwrap();
    let labels: Vec<String> = run.inputs.suite.imported.iter().map(|case| case.label()).collect();
    assert_eq!(labels, ["run1, threads 2", "run1, threads 8", "run2, block_size 4 KiB", "run2, block_size 16 KiB"]);
}

#[test]
fn numbers_are_means_over_the_intervals_that_vdbench_names() {
    let run = flatfile(FLATFILE).unwrap();
    let (asked, outcome, slices) = &trials(&run)[0];
    // avg_3-6 of intervals of a second, but the numbers are the means of 2 to 6.
    assert_eq!((asked.ramp, asked.window), (Nanos::secs(1), Nanos::secs(5)));
    assert!(outcome.tool_output.as_ref().unwrap().ops[0].numbers.iter().any(|number| number.printed == "avg_3-6"));
    assert_eq!((asked.streams[0].block_size, asked.streams[0].mix.read), (Bytes::kib(4), 70));
    let told = outcome.tool_output.as_ref().unwrap();
    assert!(!told.paced && told.sizes_known && !told.depth_known, "threads of how many drives is not told");
    let printed = |name: &str| told.ops[0].numbers.iter().find(|number| number.name == name).unwrap().printed.clone();
    let rate: f64 = printed("rate").parse().unwrap();
    let ios: u64 = outcome.jobs[0].done.iter().map(|(ios, _)| ios).sum();
    assert!((ios as f64 / 5.0 - rate).abs() < 1.0, "{ios} {rate}");
    let bytes: u64 = outcome.jobs[0].done.iter().map(|(_, bytes)| bytes).sum();
    let mib: f64 = printed("MB/sec").parse().unwrap();
    assert!((bytes as f64 / 5.0 / 1_048_576.0 - mib).abs() < 0.01, "{bytes} {mib}");
    assert!(told.ops[0].percentiles.is_empty() && told.ops[0].occupied_ns.is_some());
    // Seconds that count, with both kinds.
    assert_eq!((slices.len(), slices[0].interval, slices[9].interval, slices[0].span), (10, 0, 40, 10));
    assert_eq!(slices.iter().map(|slice| slice.ops).sum::<u64>(), ios);
}

#[test]
fn at_a_steady_rate_the_other_columns_say_which_intervals_count() {
    // All rates the same, as with a rate that is asked for: the response of interval 2 says that it counts.
    let rows = |first_response: &str| {
        let row = |at: u32, label: &str, response: &str| {
            format!("00:00:{at:02}.000 00:00:{at:02} run {label} 1000.0 1000.0 3.90 4096 50.0 {response}\n")
        };
        let head = "tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp\n".to_string();
        let all = (1..=4).map(|at| row(at, &at.to_string(), if at == 2 { "4.0000" } else { "1.0000" }));
        head + &all.collect::<String>() + &row(4, "avg_3-4", first_response)
    };
    let window = |response: &str| {
        let (asked, _, slices) = trials(&flatfile(&rows(response)).unwrap()).remove(0);
        (asked.ramp, asked.window, slices.len())
    };
    assert_eq!(window("2.0000"), (Nanos::secs(1), Nanos::secs(3), 6));
    assert_eq!(window("1.0000"), (Nanos::secs(2), Nanos::secs(2), 4));
}

#[test]
fn a_requested_rate_holds_the_load_back() {
    let paced = |(_, outcome, _): &(Trial, TrialOutcome, Vec<Slice>)| outcome.tool_output.as_ref().unwrap().paced;
    assert_eq!(trials(&flatfile(FLATFILE).unwrap()).iter().map(paced).collect::<Vec<_>>(), [false, false, true, true]);
}

#[test]
fn midnight_and_decimal_commas_do_not_matter() {
    let late = FLATFILE.replace("00:51:5", "23:59:5").replace("00:52:0", "00:00:0");
    assert_eq!(trials(&flatfile(&late).unwrap())[0].0.window, Nanos::secs(5));
    let rows: String = FLATFILE
        .lines()
        .map(|line| if line.starts_with("00:5") { line.replace('.', ",") } else { line.to_string() } + "\n")
        .collect();
    let (own, comma) = (trials(&flatfile(FLATFILE).unwrap()), trials(&flatfile(&rows).unwrap()));
    assert_eq!(own[0].1.jobs, comma[0].1.jobs);
    assert_eq!(own[0].1.jobs[0].done[Op::Read.index()].0, comma[0].1.jobs[0].done[Op::Read.index()].0);
}

#[test]
fn a_load_without_means_is_left_out_and_told() {
    let at = FLATFILE.rfind("avg_").unwrap();
    let end = FLATFILE[..at].rfind('\n').unwrap() + 1;
    let run = flatfile(&FLATFILE[..end]).unwrap();
    assert_eq!(trials(&run).len(), 3);
    assert!(run.imported.dropped[0].en.contains("`run2` has no row of means"), "{:?}", run.imported.dropped);
    let cut = flatfile(&FLATFILE[..at + 40]).unwrap();
    assert!(cut.imported.dropped[0].en.contains("columns, but the header has"), "{:?}", cut.imported.dropped);
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let head = FLATFILE.lines().position(super::flatfile::is_head).unwrap() + 1;
    let missing = why(&FLATFILE.replace(" bytes/io ", " bytes "));
    assert!(missing.contains(&format!("flatfile.html:{head}: there is no column `bytes/io`")), "{missing}");
    let first = FLATFILE.lines().find(|line| line.starts_with("00:5")).unwrap();
    let word = why(&FLATFILE.replacen(first, &first.replace("4748.0000", "n/a"), 1));
    assert!(word.contains(&format!("flatfile.html:{}: `n/a` in column `rate` is not a number", head + 1)), "{word}");
    let short = why(&FLATFILE.replacen(first, "00:51:56.808 x run1 1", 1));
    assert!(short.contains("4 columns, but the header has"), "{short}");
    let other = flatfile(&FLATFILE.replacen("14796.0000", "24796.0000", 1)).unwrap();
    assert!(other.imported.dropped[0].en.ends_with("its row of means is not the mean of its intervals"));
    let none: String = FLATFILE.lines().take(head).map(|line| format!("{line}\n")).collect();
    assert!(why(&none).contains("holds no run that ended"));
}

#[test]
fn words_of_a_long_line_are_not_all_kept() {
    let head = FLATFILE.lines().position(super::flatfile::is_head).unwrap();
    let own = FLATFILE.lines().nth(head).unwrap();
    let wide = why(&FLATFILE.replacen(own, &format!("{own}{}", " a".repeat(1000)), 1));
    assert!(wide.contains(&format!("flatfile.html:{}: more than 1000 columns", head + 1)), "{wide}");
    let row = FLATFILE.lines().nth(head + 1).unwrap();
    let columns = row.split_whitespace().count() + 5000;
    let long = why(&FLATFILE.replacen(row, &format!("{row}{}", " a".repeat(5000)), 1));
    assert!(long.contains(&format!("{columns} columns, but the header has {}", columns - 5000)), "{long}");
    for (line, expected) in [("tod Run Interval rate resp", true), ("a tod Run Interval rate resp", false), ("", false)]
    {
        assert_eq!(super::flatfile::is_head(line), expected, "{line:?}");
    }
}

#[test]
fn a_part_of_the_i_os_that_jumps_is_a_mixture() {
    let rows = |seeks: &str| {
        let row = |at: u32, label: &str| {
            format!("00:00:{at:02}.000 00:00:{at:02} run {label} 1000.0 1000.0 3.90 4096 50.0 1.0000 {seeks}\n")
        };
        let head = "tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp seekpct\n".to_string();
        let all = (1..=4).map(|at| row(at, &at.to_string()));
        head + &all.collect::<String>() + &row(4, "avg_2-4")
    };
    let pattern = |seeks: &str| trials(&flatfile(&rows(seeks)).unwrap()).remove(0).0.streams[0].pattern.clone();
    assert_eq!(pattern("0"), Pattern::Sequential);
    assert_eq!(pattern("30"), Pattern::Mixed { sequential: Millionths::percent(70) });
    assert_eq!(pattern("100"), Pattern::Uniform);
}
