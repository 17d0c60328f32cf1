//! Results of the real fio 3.33, and one in the form of 2.21 (by hand, after `add_ddir_status_json` in its stat.c).

use super::read;
use crate::build::{File, ImportedRun, RESULTS_MAX};
use proptest::prelude::*;
use stend_base::{Bytes, Histogram, Lang, Nanos, Share};
use stend_record::observed::{TrialOutcome, TrialStatus};
use stend_record::{Entry, ToolOp};
use stend_spec::pattern::Pattern;
use stend_spec::workload::{Op, Sync, Trial};

const PLUS: [&[u8]; 2] = [
    include_bytes!("../../tests/fixtures/fio-3.33-plus-1.json"),
    include_bytes!("../../tests/fixtures/fio-3.33-plus-2.json"),
];
const GROUP: &[u8] = include_bytes!("../../tests/fixtures/fio-3.33-group.json");
const STATUS: &[u8] = include_bytes!("../../tests/fixtures/fio-3.33-status.json");
const CLIENT: &[u8] = include_bytes!("../../tests/fixtures/fio-3.33-client.json");
const OLD: &[u8] = include_bytes!("../../tests/fixtures/fio-2.21.json");

pub(super) fn files(texts: &[&[u8]]) -> stend_base::Result<ImportedRun> {
    const NAMES: [&str; 3] = ["a.json", "b.json", "c.json"];
    let files: Vec<File<'_>> = NAMES.iter().zip(texts).map(|(name, bytes)| File { name, bytes }).collect();
    read(&files)
}

pub(super) fn imported(texts: &[&[u8]]) -> ImportedRun {
    files(texts).unwrap_or_else(|error| panic!("{}", error.render(Lang::En)))
}

fn refused(text: &str) -> String {
    files(&[text.as_bytes()]).unwrap_err().render(Lang::En)
}

pub(super) fn trials(run: &ImportedRun) -> Vec<(u32, u32, Trial, TrialOutcome)> {
    let mut found = Vec::new();
    for pair in run.entries.chunks(2) {
        let [Entry::TrialStart { case, block, asked, .. }, Entry::TrialEnd { outcome, .. }] = pair else {
            panic!("a trial is its start and its end");
        };
        found.push((*case, *block, asked.as_ref().clone(), outcome.as_ref().clone()));
    }
    found
}

fn labels(run: &ImportedRun) -> Vec<String> {
    run.inputs.suite.imported.iter().map(|case| case.label()).collect()
}

fn op(outcome: &TrialOutcome, op: Op) -> &ToolOp {
    outcome.tool_output.as_ref().unwrap().ops.iter().find(|told| told.op == op).unwrap()
}

fn printed<'a>(told: &'a ToolOp, name: &str) -> &'a str {
    &told.numbers.iter().find(|number| number.name == name).unwrap().printed
}

#[test]
fn files_of_the_same_jobs_are_trials_of_the_same_cases() {
    let run = imported(&PLUS);
    assert_eq!(labels(&run), ["rand-read", "mix"]);
    let places: Vec<(u32, u32)> = trials(&run).iter().map(|(case, block, ..)| (*case, *block)).collect();
    assert_eq!(places, [(0, 0), (1, 0), (0, 1), (1, 1)], "in the order of time");
    assert_eq!((run.inputs.suite.blocks, run.imported.dropped.len()), (2, 0));
    assert_eq!(run.imported.targets, ["/mnt/test"]);
    assert_eq!(run.imported.files[1].version, "fio-3.33");
}

#[test]
fn repetitions_with_other_seeds_are_trials_of_one_case() {
    let seeded = |file: &[u8], seed: &str| {
        let text = std::str::from_utf8(file).unwrap();
        let option = format!("\"job options\" : {{\n        \"randseed\" : \"{seed}\",");
        assert!(text.contains("\"job options\" : {"));
        text.replace("\"job options\" : {", &option)
    };
    let (first, second) = (seeded(PLUS[0], "1"), seeded(PLUS[1], "2"));
    let run = imported(&[first.as_bytes(), second.as_bytes()]);
    assert_eq!((labels(&run), run.inputs.suite.blocks), (vec!["rand-read".to_string(), "mix".to_string()], 2));
}

#[test]
fn what_was_asked_for_follows_from_the_options() {
    let run = imported(&PLUS[..1]);
    let [(.., read, _), (.., mix, _)] = &trials(&run)[..] else { panic!("two trials") };
    let stream = &read.streams[0];
    assert_eq!((stream.jobs, stream.queue_depth, stream.block_size), (2, 1, Bytes::kib(4)));
    assert_eq!((&stream.pattern, read.direct, read.region.len), (&Pattern::Random, false, Bytes::mib(8)));
    let stream = &mix.streams[0];
    assert_eq!(
        (stream.mix.read, stream.queue_depth, stream.block_size, stream.sync),
        (70, 8, Bytes::kib(16), Sync::Fsync(32))
    );
    assert!(mix.direct && run.asked_text.contains("[mix]\n") && run.asked_text.contains("iodepth=8\n"));
}

#[test]
fn counts_and_bytes_are_those_of_fio_and_histograms_hold_every_i_o() {
    for (.., outcome) in trials(&imported(&PLUS)) {
        assert_eq!(outcome.status, TrialStatus::Complete);
        for told in &outcome.tool_output.as_ref().unwrap().ops {
            let job = outcome.jobs.iter().find(|job| job.job == told.job).unwrap();
            let (ios, bytes) = job.done[told.op.index()];
            assert_eq!(ios.to_string(), printed(told, "total_ios"));
            let histogram = &job.latency[told.op.index()];
            assert!(told.mergeable && histogram.count() == told.count, "{told:?}");
            if told.op != Op::Sync {
                assert_eq!((bytes.to_string().as_str(), told.latency.as_str()), (printed(told, "io_bytes"), "clat"));
                assert_eq!(told.count, ios);
            }
            assert_eq!(histogram.max_ns, told.max_ns);
        }
    }
}

#[test]
fn percentiles_of_the_histogram_are_those_that_fio_prints_to_the_width_of_a_bucket() {
    for (.., outcome) in trials(&imported(&PLUS)) {
        for told in &outcome.tool_output.as_ref().unwrap().ops {
            let job = outcome.jobs.iter().find(|job| job.job == told.job).unwrap();
            let mut histogram = Histogram::new();
            histogram.merge_sparse(&job.latency[told.op.index()]);
            for (share, at) in &told.percentiles {
                let ours = histogram.quantile(Share(f64::from(*share) / 1e6)).unwrap().0 as f64;
                // fio prints the middle of a bucket, and its extremes exactly.
                assert!((ours / *at as f64 - 1.0).abs() < 1.0 / 60.0, "{share}: {ours} and {at}");
            }
        }
    }
}

#[test]
fn plain_json_has_percentiles_as_printed_and_no_histogram() {
    let run = imported(&[GROUP]);
    let [(.., asked, outcome), _] = &trials(&run)[..] else { panic!("two groups") };
    // Two jobs that are reported as one.
    assert_eq!((asked.streams[0].jobs, outcome.jobs.len()), (2, 1));
    let read = op(outcome, Op::Read);
    assert!(!read.mergeable && outcome.jobs[0].latency[0].count() == 0);
    assert_eq!(read.percentiles.len(), 17);
    let p99 = read.percentiles.iter().find(|(share, _)| *share == 990_000).unwrap();
    assert_eq!(p99.1.to_string(), printed(read, "clat_ns.percentile.99.000000"));
    assert_eq!((read.count, outcome.jobs[0].latency[0].sum_ns), (600, read.sum_ns));
    assert!(read.occupied_ns.unwrap() >= read.sum_ns, "lat holds clat");
}

#[test]
fn before_version_3_times_are_microseconds_and_bytes_are_kib() {
    let run = imported(&[OLD]);
    let (.., asked, outcome) = &trials(&run)[0];
    assert_eq!(outcome.jobs[0].done[Op::Write.index()], (10_000, 81_920_000));
    assert_eq!((asked.window, asked.streams[0].queue_depth), (Nanos::secs(10), 16));
    let write = op(outcome, Op::Write);
    assert_eq!(write.percentiles[1], (990_000, 40_192_000));
    assert_eq!((write.sum_ns, write.occupied_ns), (159_800_000_000, Some(159_900_000_000)));
    assert_eq!((write.max_ns, printed(write, "clat.max")), (90_000_000, "90000"));
    assert_eq!(run.started_unix_ns, Some(1_500_000_000_000_000_000));
}

#[test]
fn buckets_of_microseconds_are_placed_by_their_edges() {
    let plus = String::from_utf8(OLD.to_vec()).unwrap();
    let plus = plus.replace(
        "\"50.000000\" : 15000,",
        "\"50.000000\" : 15000 }, \"bins\" : { \"500\" : 9999, \"90000\" : 1 }, \"x\" : {",
    );
    let (.., outcome) = trials(&imported(&[plus.as_bytes()])).remove(0);
    let histogram = &outcome.jobs[0].latency[Op::Write.index()];
    assert_eq!((histogram.count(), histogram.min_ns, histogram.max_ns), (10_000, 500_000, 90_000_000));
    // 500 µs is in the bucket from 500 to 503 µs.
    let p50 = histogram.dense().quantile(Share(0.5)).unwrap().0;
    assert!((503_999..=507_999).contains(&p50), "{p50}");
}

#[test]
fn of_snapshots_only_the_last_counts_and_the_others_are_counted() {
    let run = imported(&[STATUS]);
    let trials = trials(&run);
    assert_eq!(trials.len(), 1);
    assert!(trials[0].3.tool_output.as_ref().unwrap().paced, "rate_iops");
    assert_eq!((run.imported.snapshots, run.imported.dropped.len()), (3, 0));
}

#[test]
fn several_clients_are_jobs_and_their_sum_is_left_out() {
    let run = imported(&[CLIENT]);
    let trials = trials(&run);
    assert_eq!(labels(&run), ["rand-read", "mix"]);
    assert_eq!((trials[0].3.jobs.len(), trials[0].2.streams[0].jobs), (2, 2));
    assert_eq!(trials.iter().map(|(.., outcome)| outcome.jobs.len()).sum::<usize>(), 3);
}

#[test]
fn documents_behind_each_other_are_trials() {
    let both = [PLUS[0], b"\nfio: bye\n", PLUS[1]].concat();
    let run = imported(&[&both]);
    assert_eq!((trials(&run).len(), run.inputs.suite.blocks), (4, 2));
}

#[test]
fn one_name_with_other_options_is_another_case_and_its_label_says_which() {
    let old = String::from_utf8(OLD.to_vec()).unwrap();
    let deep = old.replace("\"iodepth\" : \"16\"", "\"iodepth\" : \"64\"").replace("1500000010", "1500000030");
    let run = imported(&[OLD, deep.as_bytes()]);
    assert_eq!(labels(&run), ["randwrite, queue_depth 16", "randwrite, queue_depth 64"]);
}

#[test]
fn what_fio_does_not_tell_is_not_known() {
    let mut text = String::from_utf8(OLD.to_vec()).unwrap();
    let (from, to) = (text.find("\"job options\"").unwrap(), text.find("\"read\"").unwrap());
    text.replace_range(from..to, "");
    let (.., asked, outcome) = trials(&imported(&[text.as_bytes()])).remove(0);
    let told = outcome.tool_output.unwrap();
    assert!(!told.depth_known && !told.sizes_known);
    // Kinds and the mean size follow from what was done.
    let stream = &asked.streams[0];
    assert_eq!((stream.queue_depth, stream.mix.write, stream.block_size), (0, 100, Bytes::kib(8)));
}

#[test]
fn a_job_that_failed_is_a_failed_trial_with_its_error() {
    let failed = String::from_utf8(OLD.to_vec()).unwrap().replace("\"error\" : 0", "\"error\" : 5");
    let (.., outcome) = trials(&imported(&[failed.as_bytes()])).remove(0);
    assert_eq!(outcome.status, TrialStatus::Failed);
    assert_eq!((outcome.errors[0].errno, outcome.errors[0].count), (5, 1));
    let went_on = failed.replace("\"error\" : 5", "\"error\" : 5, \"total_err\" : 7");
    let (.., outcome) = trials(&imported(&[went_on.as_bytes()])).remove(0);
    assert_eq!((outcome.status, outcome.errors[0].count), (TrialStatus::Complete, 7));
}

#[test]
fn what_lacks_its_end_is_told_and_the_rest_is_kept() {
    let cut = [PLUS[0], &PLUS[1][..9000]].concat();
    let run = imported(&[&cut]);
    assert_eq!(trials(&run).len(), 2);
    let dropped = &run.imported.dropped[0].en;
    assert!(
        dropped.starts_with("a.json:") && dropped.ends_with("the last results: the file ends in the middle of it"),
        "{dropped}"
    );
}

#[test]
fn reads_and_writes_that_are_reported_as_one_are_left_out_and_told() {
    let mixed = String::from_utf8(OLD.to_vec()).unwrap().replace("\"write\" : {", "\"mixed\" : {");
    let unknown = mixed.replace("\"randwrite\",\n        \"bs\"", "\"randrw\",\n        \"bs\"");
    assert!(refused(&unknown).contains("job `randwrite`: reads and writes are one number"), "{}", refused(&unknown));
    let (.., outcome) = trials(&imported(&[mixed.as_bytes()])).remove(0);
    assert_eq!(outcome.jobs[0].done[Op::Write.index()].0, 10_000, "only writes were asked for");
}

#[test]
fn what_is_no_result_is_refused_with_its_place() {
    for (text, why) in [
        ("", "`a.json` holds no results of fio"),
        ("\u{0}\u{1}\u{2}{\u{3}", "`a.json` holds no results of fio"),
        ("{\"a\": 1}", "`a.json` holds no results of fio"),
        ("{\"fio version\": \"fio-3.33\", \"jobs\": []}", "`a.json` holds no results of fio"),
        ("{\"jobs\": [{\"groupid\": 0}]}", "a job without `jobname`"),
        ("{\n\"jobs\": [\n{\"jobname\": \"a\", \"read\": {\"iops\": }}]}", "a.json:3: results of fio cannot be read"),
        ("{\"jobs\": [", "a.json:1: results of fio cannot be read: the file ends"),
    ] {
        let error = refused(text);
        assert!(error.contains(why) && error.contains("hint: make them with"), "{text:?}: {error}");
    }
    let twice = files(&[PLUS[0], PLUS[0]]).unwrap_err().render(Lang::Ru);
    assert!(twice.contains("b.json:1 содержит те же результаты, что и a.json:1"), "{twice}");
    let long = vec![b' '; RESULTS_MAX + 1];
    assert!(files(&[&long]).unwrap_err().render(Lang::En).contains("longer than 64 MiB"));
}

#[test]
fn numbers_beyond_all_measure_are_no_reason_to_fall() {
    let huge = String::from_utf8(OLD.to_vec()).unwrap();
    let huge = huge.replace("\"runtime\" : 10000", "\"runtime\" : 18446744073709551615");
    let huge =
        huge.replace("\"mean\" : 15980.00", "\"mean\" : 1e300").replace("\"total_ios\" : 10000", "\"total_ios\" : nan");
    let _ = files(&[huge.as_bytes()]);
    // Counts of two kinds, and of two jobs of one section, with no options that tell kinds and sizes.
    let most = 1u64 << 50;
    let side = |ios: u64| format!("{{\"total_ios\": {ios}, \"io_bytes\": {most}, \"runtime\": 10}}");
    let job = format!("{{\"jobname\": \"a\", \"read\": {}, \"write\": {}}}", side(most), side(1));
    let document = format!("{{\"fio version\": \"fio-3.33\", \"timestamp_ms\": 5, \"jobs\": [{job}, {job}]}}");
    let run = imported(&[document.as_bytes(), document.replace("\"runtime\": 10", "\"runtime\": 11").as_bytes()]);
    assert_eq!(trials(&run)[0].2.streams[0].mix.read, 100);
    let _ = files(&[format!("{document}\n{}", document.replace("_ms\": 5", "_ms\": 6")).as_bytes()]);
}

#[test]
fn cases_that_differ_in_more_options_than_a_label_holds_are_counted() {
    let labels_of = |cases: usize, options: &dyn Fn(usize) -> String| {
        let job = |case: usize| {
            let side = format!("{{\"total_ios\": {}, \"io_bytes\": 4096, \"runtime\": 10}}", case + 1);
            let options = options(case);
            format!("{{\"jobname\": \"a\", \"groupid\": {case}, \"job options\": {{{options}}}, \"read\": {side}}}")
        };
        let jobs: Vec<String> = (0..cases).map(job).collect();
        let document = format!("{{\"fio version\": \"fio-3.33\", \"jobs\": [{}]}}", jobs.join(", "));
        labels(&imported(&[document.as_bytes()]))
    };
    let own = |case: usize| (0..100).map(|at| format!("\"own{case}_{at}\": \"1\"")).collect::<Vec<_>>().join(", ");
    let counted = labels_of(100, &own);
    assert_eq!((counted.len(), counted[0].as_str(), counted[99].as_str()), (100, "a, variant 1", "a, variant 100"));
    let long = labels_of(2, &|case| format!("\"{}\": \"{case}\"", "long".repeat(2000)));
    assert_eq!(long, ["a, variant 1", "a, variant 2"]);
    // One that is missing is as one that is set to the default.
    let few = |case: usize| ["\"x\": \"default\", \"y\": \"1\"", "\"y\": \"2\", \"z\": \"3\""][case].to_string();
    assert_eq!(labels_of(2, &few), ["a, y 1, z default", "a, y 2, z 3"]);
}

proptest! {
    #[test]
    fn no_damage_makes_it_panic(at in 0usize..25_000, with in any::<u8>(), cut in 0usize..26_000) {
        let mut text = PLUS[0].to_vec();
        let at = at % text.len();
        text[at] = with;
        text.truncate(cut.max(1));
        let _ = files(&[&text]);
    }
}

/// A document of one job with these options, which did so many reads and writes of 4 KiB in so many ms each.
fn one_job(options: &str, more: &str, reads: (u64, u64), writes: (u64, u64)) -> String {
    let side = |(ios, ms): (u64, u64)| {
        let bytes = ios * 4096;
        format!(
            r#"{{"io_bytes": {bytes}, "io_kbytes": {}, "total_ios": {ios}, "runtime": {ms},
                "clat_ns": {{"mean": 900.0, "min": 1, "max": 2000, "N": {ios}, "percentile": {{"99.000000": 1500, "0.00": 0, "0.00": 0}}}},
                "lat_ns": {{"mean": 1000.0, "min": 1, "max": 2000, "N": {ios}}}}}"#,
            bytes / 1024
        )
    };
    format!(
        r#"{{"fio version": "fio-3.1", "jobs": [{{"jobname": "j", "groupid": 0, "job options": {{{options}}}{more},
            "read": {}, "write": {}}}]}}"#,
        side(reads),
        side(writes)
    )
}

fn of_one(text: &str) -> (Trial, TrialOutcome, Vec<String>) {
    let run = imported(&[text.as_bytes()]);
    let (.., asked, outcome) = trials(&run).remove(0);
    (asked, outcome, run.imported.dropped.iter().map(|why| why.en.clone()).collect())
}

#[test]
fn slots_of_percentiles_that_are_not_used_are_no_name_that_is_there_twice() {
    let (_, outcome, _) = of_one(&one_job("\"rw\": \"randread\"", "", (4000, 1000), (0, 0)));
    let read = op(&outcome, Op::Read);
    assert_eq!(read.percentiles, [(990_000, 1500)]);
    assert!(read.numbers.iter().all(|number| !number.name.ends_with("percentile.0.00")), "{:?}", read.numbers);
    let twice = one_job("\"rw\": \"randread\"", "", (4000, 1000), (0, 0)).replace("\"0.00\"", "\"99.000000\"");
    assert!(refused(&twice).contains("`99.000000` appears twice"));
}

#[test]
fn an_entry_of_several_sections_has_the_options_of_one_and_no_depth() {
    let grouped = "\"rw\": \"randread\", \"iodepth\": \"2\", \"ioengine\": \"libaio\", \"group_reporting\": \"1\"";
    // As fio 3.33 told of two sections, of one and of two jobs, that ran for a second.
    let (asked, outcome, _) = of_one(&one_job(grouped, ", \"job_runtime\": 3000", (3603, 1001), (0, 0)));
    let stream = &asked.streams[0];
    assert_eq!((stream.queue_depth, stream.jobs, &stream.pattern), (0, 3, &Pattern::Sequential));
    let told = outcome.tool_output.unwrap();
    assert!(!told.depth_known && !told.sizes_known);
    // From one section alone everything is known, and from results without run times nothing is.
    for (options, more, depth) in [
        (grouped, ", \"job_runtime\": 1000", 2),
        (&grouped.replace("\"2\"", "\"2\", \"numjobs\": \"3\"")[..], ", \"job_runtime\": 3000", 2),
        (grouped, "", 0),
        (&grouped.replace("\"group_reporting\": \"1\"", "\"group_reporting\": \"0\"")[..], "", 2),
    ] {
        let (asked, outcome, _) = of_one(&one_job(options, more, (3603, 1001), (0, 0)));
        assert_eq!(
            (asked.streams[0].queue_depth, outcome.tool_output.unwrap().depth_known),
            (depth, depth > 0),
            "{options}"
        );
    }
}

#[test]
fn reads_of_the_verification_are_no_load() {
    let verified = |rw: &str| format!("\"rw\": \"{rw}\", \"verify\": \"crc32c\"");
    let text = one_job(&verified("randwrite"), "", (102_400, 4000), (102_400, 3500));
    let (asked, outcome, dropped) = of_one(&text);
    assert_eq!((asked.window, outcome.jobs[0].done[Op::Read.index()].0), (Nanos::millis(3500), 0));
    assert_eq!(outcome.jobs[0].done[Op::Write.index()].0, 102_400);
    assert!(dropped[0].contains("reads of the verification that follows the writes"), "{dropped:?}");
    // Reads of the load and of the verification are one number.
    let mixed = refused(&one_job(&verified("randrw"), "", (1024, 186), (538, 87)));
    assert!(mixed.contains("cannot be separated"), "{mixed}");
    for options in [
        "\"rw\": \"randrw\", \"verify\": \"0\"".to_string(),
        verified("randrw") + ", \"do_verify\": \"0\"",
        verified("randread"),
    ] {
        let (_, outcome, dropped) = of_one(&one_job(&options, "", (500, 1000), (500, 1000)));
        assert!(outcome.jobs[0].done[Op::Read.index()].0 == 500 && dropped.is_empty(), "{options}");
    }
    let backlog = verified("write") + ", \"verify_backlog\": \"64\"";
    assert!(
        of_one(&one_job(&backlog, "", (500, 1), (500, 1000))).1.tool_output.unwrap().paced,
        "writes wait for reads"
    );
}

#[test]
fn the_options_of_one_section_say_nothing_of_the_reads_of_another() {
    // One section reads for 10 s, the other one writes for 10 s and verifies that for as long.
    let of = |rw: &str| format!("\"rw\": \"{rw}\", \"verify\": \"crc32c\", \"group_reporting\": \"1\"");
    let both = one_job(&of("randwrite"), ", \"job_runtime\": 30200", (90_000, 10_000), (40_000, 10_000));
    let (_, outcome, dropped) = of_one(&both);
    assert_eq!([Op::Read, Op::Write].map(|op| outcome.jobs[0].done[op.index()].0), [90_000, 40_000]);
    assert!(dropped.len() == 1 && dropped[0].contains("may stand for several sections"), "{dropped:?}");
    // Where the run times show one section, its reads are those of the verification: its job writes first, and then reads.
    for run_time in ["20100", "10500"] {
        let (asked, outcome, dropped) = of_one(&both.replace("30200", run_time));
        assert_eq!([Op::Read, Op::Write].map(|op| outcome.jobs[0].done[op.index()].0), [0, 40_000], "{run_time}");
        assert!(dropped.len() == 1 && dropped[0].contains("are left out"), "{dropped:?}");
        assert_eq!((asked.streams[0].jobs, asked.streams[0].queue_depth), (1, 1), "{run_time}");
        assert!(outcome.tool_output.unwrap().depth_known, "{run_time}");
    }
    // Without reads there is nothing to separate.
    let (.., dropped) = of_one(&one_job(&of("randwrite"), ", \"job_runtime\": 20100", (0, 0), (40_000, 10_000)));
    assert!(dropped.is_empty(), "{dropped:?}");
}

#[test]
fn one_number_of_several_sections_is_not_what_the_options_of_one_say() {
    let grouped = "\"rw\": \"randwrite\", \"unified_rw_reporting\": \"1\", \"group_reporting\": \"1\"";
    let mixed = |all_ms: u32| {
        let text = one_job(grouped, &format!(", \"job_runtime\": {all_ms}"), (0, 0), (40_000, 10_000));
        text.replace("\"write\": {", "\"mixed\": {")
    };
    let error = refused(&mixed(20_000));
    assert!(error.contains("reads and writes are one number"), "{error}");
    assert_eq!(of_one(&mixed(10_000)).1.jobs[0].done[Op::Write.index()].0, 40_000);
}

#[test]
fn sizes_that_fio_cut_short_or_that_differ_between_kinds_are_those_of_what_was_done() {
    let split = "\"rw\": \"randread\", \"bssplit\": \"8k/70:32k/30\"";
    let (asked, outcome, _) = of_one(&one_job(split, "", (1000, 1000), (0, 0)));
    assert_eq!((asked.streams[0].block_size, asked.streams[0].block_mix.len()), (Bytes(4096), 0), "the mean");
    assert!(!outcome.tool_output.unwrap().sizes_known);
    let exact = split.to_string() + ", \"norandommap\": \"1\"";
    let (asked, outcome, _) = of_one(&one_job(&exact, "", (1000, 1000), (0, 0)));
    assert!(outcome.tool_output.unwrap().sizes_known && asked.streams[0].block_mix.len() == 2);
    let kinds = "\"rw\": \"randrw\", \"bs\": \"4k,64k\"";
    let text = one_job(kinds, "", (1000, 1000), (1000, 1000)).replacen("4096000", "65536000", 2);
    let text = text.replacen("65536000", "4096000", 1);
    let (asked, ..) = of_one(&text);
    let sizes: Vec<_> = asked.streams[0].block_mix.iter().map(|share| (share.size, share.percent)).collect();
    assert_eq!(sizes, [(Bytes::kib(4), 50), (Bytes::kib(64), 50)]);
}

#[test]
fn a_count_that_was_negative_is_no_result() {
    let text = one_job("\"rw\": \"randread\"", "", (4000, 1000), (0, 0)).replace(": 4000,", ": 18446744073709551000,");
    assert!(refused(&text).contains("18446744073709551000 is not a number of I/Os"), "{}", refused(&text));
}
