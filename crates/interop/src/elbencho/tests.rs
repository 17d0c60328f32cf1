//! Results of the real elbencho 3.1-10.

use super::{read_json, read_tables};
use crate::build::{File, ImportedRun};
use stend_base::{Bytes, Lang, Nanos, Result};
use stend_record::observed::TrialOutcome;
use stend_record::{Entry, ToolOp};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Op, Trial};

const TABLE: &str = include_str!("../../tests/corpus/elbencho/3.1-10.csv");
const JSON: &str = include_str!("../../tests/corpus/elbencho/3.1-10.json");

fn table(text: &str) -> Result<ImportedRun> {
    read_tables(&[File { name: "e.csv", bytes: text.as_bytes() }])
}

fn json(text: &str) -> Result<ImportedRun> {
    read_json(&[File { name: "e.json", bytes: text.as_bytes() }])
}

fn trials(run: &ImportedRun) -> Vec<(Trial, TrialOutcome)> {
    let asked = run.entries.iter().filter_map(|entry| match entry {
        Entry::TrialStart { asked, .. } => Some(asked.as_ref().clone()),
        _ => None,
    });
    let ended = run.entries.iter().filter_map(|entry| match entry {
        Entry::TrialEnd { outcome, .. } => Some(outcome.as_ref().clone()),
        _ => None,
    });
    asked.zip(ended).collect()
}

fn labels(run: &ImportedRun) -> Vec<String> {
    run.inputs.suite.imported.iter().map(|case| case.label()).collect()
}

fn op(outcome: &TrialOutcome, op: Op) -> &ToolOp {
    outcome.tool_output.as_ref().unwrap().ops.iter().find(|told| told.op == op).unwrap()
}

fn why(result: Result<ImportedRun>) -> String {
    result.unwrap_err().render(Lang::En)
}

#[test]
fn phases_of_one_label_and_load_are_trials_of_one_case() {
    // Less than a millisecond has a time only in JSON, where the rate tells it.
    for (run, short) in [(table(TABLE).unwrap(), true), (json(JSON).unwrap(), false)] {
        assert!(
            labels(&run).starts_with(&["before WRITE".into(), "before READ".into(), "mix RWMIX70".into()]),
            "{run:?}"
        );
        assert_eq!(run.inputs.suite.blocks, 2);
        assert_eq!(run.imported.files[0].version, "elbencho 3.1-10");
        assert_eq!(run.started_unix_ns, Some(1_795_395_436_190_000_000));
        let dropped = |why: &str| run.imported.dropped.iter().any(|what| what.en.contains(why));
        assert!(dropped("`MKDIRS` reads and writes no data"));
        assert_eq!(dropped("`READ` took less than a millisecond"), short);
    }
}

#[test]
fn numbers_of_a_table_are_those_of_the_slowest_thread_and_kept_as_printed() {
    let run = table(TABLE).unwrap();
    let (asked, outcome) = &trials(&run)[1];
    let stream = &asked.streams[0];
    assert_eq!((stream.jobs, stream.queue_depth, stream.block_size), (2, 4, Bytes::kib(4)));
    assert!(asked.direct && stream.pattern.is_scattered());
    assert_eq!(asked.window, Nanos::millis(502));
    // 32589 I/Os a second for 502 ms.
    assert_eq!(outcome.jobs[0].done[Op::Read.index()], (16_360, 16_360 << 12));
    let read = op(outcome, Op::Read);
    assert_eq!((read.min_ns, read.max_ns, read.latency.as_str()), (38_000, 9_225_000, "lat"));
    let printed = |name: &str| read.numbers.iter().find(|number| number.name == name).unwrap();
    assert_eq!((printed("IOPS [last]").printed.as_str(), printed("MiB/s [first]").unit.as_str()), ("32589", "MiB/s"));
    assert!(outcome.engine.external.as_ref().unwrap().job_file.contains("--iodepth"));
    // A mean of whole microseconds is good enough from 100 on.
    assert!(read.occupied_ns.is_some() && !read.mergeable && read.percentiles.is_empty());
}

#[test]
fn the_two_kinds_of_a_mixed_phase_are_told_apart() {
    for run in [table(TABLE).unwrap(), json(JSON).unwrap()] {
        let (asked, outcome) = trials(&run).into_iter().find(|(asked, _)| asked.streams[0].mix.read == 70).unwrap();
        assert_eq!(asked.streams[0].mix.write, 30);
        let (reads, writes) = (outcome.jobs[0].done[0].0, outcome.jobs[0].done[1].0);
        assert!(reads > 2 * writes && reads + writes > 16_000, "{reads} {writes}");
    }
}

#[test]
fn json_has_bytes_exactly_and_percentiles_by_the_edges_of_buckets() {
    let run = json(JSON).unwrap();
    let (_, outcome) = &trials(&run)[1];
    assert_eq!(outcome.jobs[0].done[Op::Read.index()], (16_384, 64 << 20));
    let read = op(outcome, Op::Read);
    // 16216 of the 16384 are below 4096 µs, 21 more in 4871-5793us, and p99 is the 16221st.
    assert_eq!(
        read.percentiles,
        [(500_000, 152_000), (900_000, 215_000), (990_000, 5_793_000), (999_000, 9_742_000), (999_900, 9_742_000)]
    );
    assert!(!read.mergeable);
}

/// Rates over the window are those that elbencho printed, which are cut to whole ones.
fn check_rates(run: &ImportedRun) -> usize {
    let mut sides = 0;
    for (asked, outcome) in trials(run) {
        for told in &outcome.tool_output.as_ref().unwrap().ops {
            let (ios, bytes) = outcome.jobs[0].done[told.op.index()];
            for (name, count) in [("iops", ios), ("bytes/s", bytes)] {
                let printed = told.numbers.iter().find(|number| number.name == format!("last_done.{name}")).unwrap();
                let printed: f64 = printed.printed.parse().unwrap();
                let rate = count as f64 * 1e9 / asked.window.0 as f64;
                assert!((printed - rate).abs() < 1.0 + printed * 1e-6, "{name}: {rate} where {printed} is told");
            }
            sides += 1;
        }
    }
    sides
}

#[test]
fn rates_of_json_are_those_that_elbencho_tells_though_milliseconds_are_cut() {
    let run = json(JSON).unwrap();
    assert_eq!(check_rates(&run), 9);
    // 512 KiB at 382691970 B/s: 1.37 ms, told as 1.
    let windows: Vec<Nanos> = trials(&run).iter().map(|(asked, _)| asked.window).collect();
    assert!(windows.contains(&Nanos(1_370_000)), "{windows:?}");
    // A rate that is of some other time is none to compute with.
    let other = json(&JSON.replace("\"382691970\"", "\"200000000\"")).unwrap();
    assert!(trials(&other).iter().any(|(asked, _)| asked.window == Nanos::millis(1)));
    let none = json(&JSON.replace("\"382691970\"", "\"0\"")).unwrap();
    assert!(trials(&none).iter().any(|(asked, _)| asked.window == Nanos::millis(1)));
}

#[test]
fn a_phase_of_json_shorter_than_a_millisecond_lasts_as_long_as_its_rate_says() {
    // 512 KiB in 0.37 ms.
    let short = JSON
        .replace("\"382691970\"", "\"1400000000\"")
        .replace("\"elapsed_time_ms\":\"1\"", "\"elapsed_time_ms\":\"0\"");
    let windows: Vec<Nanos> = trials(&json(&short).unwrap()).iter().map(|(asked, _)| asked.window).collect();
    assert!(windows.contains(&Nanos(374_491)), "{windows:?}");
    let none = json(&short.replace("\"1400000000\"", "\"0\"")).unwrap();
    assert!(none.imported.dropped.iter().any(|what| what.en.contains("`WRITE` took less than a millisecond")));
}

#[test]
fn phases_with_other_flags_of_load_are_other_cases() {
    let second = JSON.match_indices("\"phase_type\":\"READ\"").nth(1).unwrap().0;
    let with = |flag: &str| {
        let text = format!("{}{}", &JSON[..second], JSON[second..].replacen("\\\"--nolive\\\"", flag, 1));
        labels(&json(&text).unwrap())
    };
    assert_eq!(with("\\\"--nolive\\\""), labels(&json(JSON).unwrap()));
    assert_eq!(with("\\\"--csvfile\\\" \\\"b.csv\\\""), labels(&json(JSON).unwrap()));
    let labels = with("\\\"--randalgo\\\" \\\"fast\\\"");
    assert!(labels.contains(&"before READ, --randalgo fast".to_string()), "{labels:?}");
    assert!(with("\\\"--sync\\\"").contains(&"before READ, --sync yes".to_string()));
}

#[test]
fn backwards_and_in_strides_is_not_in_order() {
    let of_json = |text: &str| json(text).unwrap();
    let of_table = |text: &str| table(text).unwrap();
    // The first phase writes 128 KiB by two threads, in order.
    let orders = |flag: &str| {
        let in_json = JSON.replacen("\\\"--nolive\\\"", &format!("\\\"{flag}\\\""), 1);
        let in_table = TABLE.replacen("\"--nolive\"", &format!("\"{flag}\""), 1);
        [of_json(&in_json), of_table(&in_table)].map(|run| trials(&run)[0].0.streams[0].pattern.clone())
    };
    for (flag, order) in [
        ("--nolive", Pattern::Sequential),
        ("--backward", Pattern::Reverse),
        ("--strided", Pattern::Strided { stride: Bytes::kib(256) }),
    ] {
        assert_eq!(orders(flag), [order.clone(), order], "{flag}");
    }
    // One thread in strides of a block is in order.
    let alone =
        JSON.replacen("\\\"--nolive\\\"", "\\\"--strided\\\"", 1).replacen("\"threads\":\"2\"", "\"threads\":\"1\"", 1);
    assert_eq!(trials(&of_json(&alone))[0].0.streams[0].pattern, Pattern::Sequential);
}

#[test]
fn files_smaller_than_a_block_do_not_make_fewer_ios_of_json() {
    // 128 files of 4 KiB, each one I/O, where blocks of 16 KiB were asked for.
    let small = JSON.replace("\"23357\"", "\"93430\"");
    let of = |text: &str| {
        let (_, outcome) =
            trials(&json(text).unwrap()).into_iter().find(|(asked, _)| asked.window.0 == 1_370_000).unwrap();
        (outcome.jobs[0].done[Op::Write.index()], outcome.tool_output.unwrap().sizes_known)
    };
    assert_eq!(of(JSON), ((32, 512 << 10), true));
    assert_eq!(of(&small), ((128, 512 << 10), false));
    // The time may be nearly 2 ms where the rate of bytes does not tell it better.
    let by_ms = json(&JSON.replace("\"382691970\"", "\"0\"")).unwrap();
    let (_, outcome) = trials(&by_ms).into_iter().find(|(asked, _)| asked.window == Nanos::millis(1)).unwrap();
    assert_eq!(outcome.jobs[0].done[Op::Write.index()], (32, 512 << 10));
    check_rates(&json(JSON).unwrap());
}

#[test]
fn throughput_of_a_table_does_not_follow_from_mebibytes_cut_down_to_none() {
    let mut sides = 0;
    for (asked, outcome) in trials(&table(TABLE).unwrap()) {
        for told in &outcome.tool_output.as_ref().unwrap().ops {
            let prefix = if asked.streams[0].mix.read == 70 && told.op == Op::Read { "rwmix read " } else { "" };
            let name = format!("{prefix}MiB/s [last]");
            let printed = &told.numbers.iter().find(|number| number.name == name).unwrap().printed;
            let printed: f64 = printed.parse().unwrap();
            let bytes = outcome.jobs[0].done[told.op.index()].1;
            let rate = bytes as f64 / 1_048_576.0 * 1e9 / asked.window.0 as f64;
            // I/Os of 1 ms are whole ones: 23 of 23.4.
            let whole = if asked.window == Nanos::millis(1) { 0.02 * printed } else { 0.01 };
            assert!((printed - whole..printed + 1.0).contains(&rate), "{rate} where {printed} is told");
            sides += 1;
        }
    }
    assert_eq!(sides, 8);
    let bytes = |line: &str, own: &str| {
        let (_, outcome) = trials(&table(&TABLE.replacen(line, own, 1)).unwrap()).swap_remove(1);
        (outcome.jobs[0].done[Op::Read.index()].1, outcome.tool_output.unwrap().sizes_known)
    };
    // Rates of I/Os and of bytes that are of no one size: what has more digits counts, 90 MiB/s for 502 ms or 64 MiB.
    assert_eq!(bytes(",141,127,", ",141,90,"), (90 * (1 << 20) * 502 / 1000, false));
    assert_eq!(bytes(",141,127,", ",141,40,"), (64 << 20, false));
}

#[test]
fn a_low_rate_whose_digits_are_cut_does_not_lose_ios() {
    let of = |ms: u64, iops: u64, mib: u64| {
        let head = "ISO date,label,threads,hosts,block size,direct IO,random,IO depth,operation,time ms [last],IOPS [last],MiB/s [last],MiB [last],version,command";
        let row = format!(
            "2026-07-26T11:56:18.779-0400,slow,1,4,1048576,1,0,1,WRITE,{ms},{iops},{iops},{mib},3.0-29,elbencho"
        );
        let (_, outcome) = trials(&table(&format!("{head}\n{row}\n")).unwrap()).swap_remove(0);
        (outcome.jobs[0].done[Op::Write.index()], outcome.tool_output.unwrap().sizes_known)
    };
    // 1150 MiB of 1 MiB in 21.5 s are 53.49 I/Os per second, of which 53 are printed: 1140 would be 0.9 % too few.
    assert_eq!(of(21_500, 53, 1150), ((1150, 1150 << 20), false));
    // What disagrees is not explained away: it stays for H01.
    assert_eq!(of(21_500, 48, 1150), ((1032, 1150 << 20), true));
}

#[test]
fn a_mean_that_was_cut_too_much_says_nothing_of_the_queue() {
    let run = table(&TABLE.replace(",38,227,9225,", ",1,22,9225,")).unwrap();
    assert_eq!(op(&trials(&run)[1].1, Op::Read).occupied_ns, None);
}

#[test]
fn commas_in_the_command_are_no_columns() {
    let run = table(&TABLE.replacen("\"--nolive\" \"-w\"", "\"--nolive\" \"-w\" \"--hosts\" \"a,b\"", 1)).unwrap();
    let (_, outcome) = &trials(&run)[0];
    let told = &outcome.engine.external.as_ref().unwrap().job_file;
    assert!(told.contains("\"a,b\"") && told.contains("--jsonfile"), "{told}");
}

#[test]
fn what_lacks_its_end_is_told_and_the_rest_is_kept() {
    let cut = table(&TABLE[..TABLE.find("RMDIRS").unwrap()]).unwrap();
    assert!(cut.imported.dropped.last().unwrap().en.starts_with("e.csv:10: 17 columns"), "{:?}", cut.imported.dropped);
    let cut = json(&JSON[..JSON.find("\"RMFILES\"").unwrap()]).unwrap();
    assert!(cut.imported.dropped.last().unwrap().en.contains("the file ends"), "{:?}", cut.imported.dropped);
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let broken = why(table(&TABLE.replace("36235,32589", "36235,many")));
    assert!(broken.contains("e.csv:3: `many` in column `IOPS [last]` is not a number"), "{broken}");
    let short = why(table(&TABLE.replacen(",502,", ",", 1)));
    assert!(short.contains("e.csv:3: 54 columns, but the header has 55"), "{short}");
    let twice = why(table(&format!("{TABLE}{}", TABLE.lines().nth(2).unwrap())));
    assert!(twice.contains("e.csv:12 holds the same results as e.csv:3"), "{twice}");
    let none: String = TABLE.lines().take(1).map(|line| format!("{line}\n")).collect();
    assert!(why(table(&none)).contains("holds no phase that reads or writes data"));
    let word = why(json(&JSON.replacen("\"67108864\",\"cpu%\"", "\"much\",\"cpu%\"", 1)));
    assert!(word.contains("e.json:1: `much` of `bytes` is not a whole number"), "{word}");
    let range = why(json(&JSON.replacen("32-38us", "32us", 1)));
    assert!(range.contains("e.json:2: `32us` is not a range of latencies"), "{range}");
}

#[test]
fn counts_beyond_all_measure_are_no_reason_to_fall() {
    let huge = "99999999999999999999";
    let row = TABLE.lines().nth(2).unwrap();
    let mut cells: Vec<&str> = row.split(',').collect();
    // Reads of the phase, and once more those of a mixed one.
    for name in ["IOPS [last]", "rwmix read IOPS [last]"] {
        cells[TABLE.lines().next().unwrap().split(',').position(|own| own == name).unwrap()] = huge;
    }
    let run = table(&TABLE.replacen(row, &cells.join(","), 1)).unwrap();
    assert_eq!(trials(&run)[1].0.streams[0].mix.read, 100);
    let max = format!("\"{}\"", u64::MAX);
    let _ = json(&JSON.replace("\"67108864\"", &max).replace("\"186\"", &max).replace("\"360796464\"", &max));
}
