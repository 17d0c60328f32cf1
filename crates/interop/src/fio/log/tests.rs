//! Logs of the real fio 3.33, and made-up ones for what it rarely writes.

use super::*;
use stend_base::{Histogram, Lang, Share};
use stend_record::observed::TrialOutcome;
use stend_spec::workload::Trial;

const PLUS: &[u8] = include_bytes!("../../../tests/fixtures/fio-3.33-logged.json");
const LAT: &[u8] = include_bytes!("../../../tests/fixtures/fio-3.33-logged_lat.1.log");
const CLAT: &[u8] = include_bytes!("../../../tests/fixtures/fio-3.33-logged_clat.1.log");
const HISTOGRAMS: &[u8] = include_bytes!("../../../tests/fixtures/fio-3.33-logged_clat_hist.1.log");

/// A line of histograms with this count in the first bucket.
fn counted(kind: u64, count: u64) -> String {
    counted_at(5, kind, count)
}

fn counted_at(ms: u64, kind: u64, count: u64) -> String {
    format!("{ms}, {kind}, 4096, {count}{}\n", ", 0".repeat(1855))
}

/// Reads files with these names and texts: the run, and the slices of its trials.
pub(super) fn import(files: &[(&str, &[u8])]) -> Result<(ImportedRun, Vec<(u32, Slice)>)> {
    let (names, mut slices) = (files.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>(), Vec::new());
    let texts: BTreeMap<String, Vec<u8>> = files.iter().map(|(name, text)| (name.to_string(), text.to_vec())).collect();
    let open = |name: &str| -> Result<Box<dyn Read>> { Ok(Box::new(std::io::Cursor::new(texts[name].clone()))) };
    let run = read(&names, &open, &mut |entry| {
        if let Entry::Slices { trial, slices: more, .. } = entry {
            slices.extend(more.into_iter().map(|slice| (trial, slice)));
        }
    })?;
    Ok((run, slices))
}

pub(super) fn good(files: &[(&str, &[u8])]) -> (ImportedRun, Vec<(u32, Slice)>) {
    import(files).unwrap_or_else(|error| panic!("{}", error.render(Lang::En)))
}

pub(super) fn refused(name: &str, text: &str) -> String {
    import(&[(name, text.as_bytes())]).unwrap_err().render(Lang::En)
}

pub(super) fn trial(run: &ImportedRun, number: usize) -> (&Trial, &TrialOutcome) {
    match &run.entries[2 * number..2 * number + 2] {
        [Entry::TrialStart { asked, .. }, Entry::TrialEnd { outcome, .. }] => (asked, outcome),
        other => panic!("{other:?}"),
    }
}

pub(super) fn dropped(run: &ImportedRun) -> Vec<&str> {
    run.imported.dropped.iter().map(|say| say.en.as_str()).collect()
}

/// What the summary of the same run of fio says: I/Os, bytes and p99 of clat by kind.
fn summary() -> Vec<(Op, u64, u64, u64)> {
    let run = crate::fio::read(&[crate::fio::File { name: "x", bytes: PLUS }]).unwrap();
    let Entry::TrialEnd { outcome, .. } = &run.entries[1] else { panic!("a trial") };
    let ops = &outcome.tool_output.as_ref().unwrap().ops;
    let of = |told: &stend_record::ToolOp| {
        let (ios, bytes) = outcome.jobs[0].done[told.op.index()];
        let p99 = told.percentiles.iter().find(|(share, _)| *share == 990_000).map_or(0, |(_, at)| *at);
        (told.op, ios, bytes, p99)
    };
    ops.iter().map(of).collect()
}

#[test]
fn a_log_of_each_i_o_has_what_the_summary_of_the_same_run_has() {
    for (name, text) in [("d/r_lat.1.log", LAT), ("d/r_clat.1.log", CLAT)] {
        let (run, slices) = good(&[(name, text)]);
        let (asked, outcome) = trial(&run, 0);
        for (op, ios, bytes, p99) in summary() {
            let job = &outcome.jobs[0];
            assert_eq!(job.done[op.index()], (ios, bytes), "{name} {op:?}");
            let own = || slices.iter().filter(|(_, slice)| slice.op == op).map(|(_, slice)| slice);
            assert_eq!((own().map(|s| s.ops).sum::<u64>(), own().map(|s| s.bytes).sum::<u64>()), (ios, bytes));
            let latencies = own().filter_map(|slice| slice.latency.as_ref()).map(|l| l.count()).sum::<u64>();
            assert_eq!((latencies, job.latency[op.index()].count()), (ios, ios));
            if name.contains("clat") {
                let found = job.latency[op.index()].dense().quantile(Share(0.99)).unwrap().0 as f64;
                assert!((found / p99 as f64 - 1.0).abs() < 0.04, "{op:?}: {found} and {p99}");
            }
        }
        assert_eq!((asked.streams[0].jobs, asked.streams[0].queue_depth, run.imported.dropped.len()), (1, 0, 0));
        assert_eq!(asked.streams[0].block_size, Bytes(4096));
        assert!(outcome.tool_output.as_ref().unwrap().sizes_known);
    }
}

#[test]
fn a_log_of_histograms_is_differences_that_add_up() {
    let (run, slices) = good(&[("r_clat_hist.1.log", HISTOGRAMS)]);
    let (_, outcome) = trial(&run, 0);
    let all = slices.iter().map(|(_, slice)| slice.ops).sum::<u64>();
    let done: u64 = outcome.jobs[0].done.iter().map(|(ops, _)| ops).sum();
    assert!(all == done && done > 0);
    // The last interval is often missing in such a log, so there may be fewer than in the summary.
    assert!(done <= summary().iter().map(|(_, ios, ..)| ios).sum::<u64>());
    assert!(
        !outcome.tool_output.as_ref().unwrap().sizes_known && slices.iter().all(|(_, slice)| slice.latency.is_some())
    );
}

#[test]
fn histograms_with_dates_count_from_an_interval_before_the_first() {
    const DATE: u64 = 1_795_379_512_345;
    let line = |second: u64, kind: u64| counted_at(DATE + second * 1000, kind, 100);
    let text = [line(0, 1), line(0, 0), line(1, 0), line(1, 1), line(2, 0)].concat();
    let (run, slices) = good(&[("r_clat_hist.1.log", text.as_bytes())]);
    let (asked, outcome) = trial(&run, 0);
    assert_eq!((asked.window, outcome.jobs[0].done[0].0), (stend_base::Nanos::secs(3), 300));
    let reads: Vec<_> =
        slices.iter().filter(|(_, s)| s.op == Op::Read).map(|(_, s)| (s.interval, s.span, s.ops)).collect();
    assert_eq!(reads, [(0, 10, 100), (10, 10, 100), (20, 10, 100)]);
    // One line alone does not show when its interval began.
    for lines in [line(0, 0), line(0, 0) + &line(0, 1)] {
        let error = refused("r_clat_hist.1.log", &lines);
        assert!(error.contains("r_clat_hist.1.log:1: its times are dates, and no second line"), "{error}");
    }
    assert!(refused("r_clat_hist.1.log", &(line(0, 0) + "x\n")).contains("r_clat_hist.1.log:2: not `time, kind"));
}

#[test]
fn a_rest_behind_the_first_histogram_is_not_the_length_of_its_interval() {
    const DATE: u64 = 1_795_379_512_345;
    let text: String = [0, 60, 61, 62].map(|second| counted_at(DATE + second * 1000, 0, 100)).concat();
    let (run, _) = good(&[("r_clat_hist.1.log", text.as_bytes())]);
    assert_eq!(trial(&run, 0).0.window, stend_base::Nanos::secs(63));
}

#[test]
fn lines_that_make_up_for_a_rest_do_not_show_the_length_of_an_interval() {
    const DATE: u64 = 1_795_379_512_345;
    let window = |distances: &[u64]| {
        let text: String = distances.iter().map(|ms| counted_at(DATE + ms, 0, 100)).collect();
        let (run, slices) = good(&[("r_clat_hist.1.log", text.as_bytes())]);
        (trial(&run, 0).0.window, slices[0].1.span)
    };
    let rest = [0, 1000, 2000, 3000, 4000, 64_000, 64_008, 64_016, 65_000, 66_000];
    assert_eq!(window(&rest), (stend_base::Nanos::secs(67), 10));
    // No two of the usual ones are equal, and two of the others are.
    let late = [0, 1003, 2001, 3003, 64_000, 64_008, 64_016];
    assert_eq!(window(&late), (stend_base::Nanos::millis(65_018), 11));
    // Few lines of another kind decide nothing.
    let reads: String = (0..5).map(|s| counted_at(DATE + 1000 * s, 0, 100)).collect();
    let writes = counted_at(DATE + 4008, 1, 100) + &counted_at(DATE + 4016, 1, 100);
    let (run, _) = good(&[("r_clat_hist.1.log", (reads + &writes).as_bytes())]);
    assert_eq!(trial(&run, 0).0.window, stend_base::Nanos::millis(5016));
}

#[test]
fn a_log_in_which_no_two_distances_are_alike_takes_bounded_memory() {
    let (mut distances, mut at) = (Distances::default(), 0);
    for own in std::iter::repeat_n(1000, 30).chain(1..50_000).chain(std::iter::repeat_n(1000, 30)) {
        at += own;
        distances.add(at);
    }
    assert_eq!(distances.times.len(), DISTANCES_MAX);
    assert_eq!(distances.times[&1000], 60, "one that is known is still counted");
}

#[test]
fn the_gap_between_two_jobs_of_one_log_with_dates_is_not_the_length_of_an_interval() {
    const DATE: u64 = 1_795_379_512_345;
    let of = |distances: &[u64]| -> String { distances.iter().map(|ms| counted_at(DATE + ms, 0, 100)).collect() };
    for distances in [&[0, 3][..], &[0, 1000], &[0, 3, 6]] {
        let error = refused("r_clat_hist.log", &of(distances));
        assert!(
            error.contains("r_clat_hist.log:1: its times are dates, and no second line of the same job"),
            "{error}"
        );
    }
    // Two jobs with two lines each.
    let text = of(&[0, 1000, 3, 1003]);
    let (run, _) = good(&[("r_clat_hist.log", text.as_bytes())]);
    assert_eq!(trial(&run, 0).0.window, stend_base::Nanos::millis(2003));
    // The log of one job.
    let text = of(&[0, 1000]);
    assert_eq!(trial(&good(&[("r_clat_hist.1.log", text.as_bytes())]).0, 0).0.window, stend_base::Nanos::secs(2));
}

#[test]
fn the_log_that_says_most_is_read_and_the_others_are_told() {
    let files: [(&str, &[u8]); 4] =
        [("a/r_bw.1.log", b"x"), ("a/r_clat.1.log", CLAT), ("a/r_lat.1.log", LAT), ("a/r_clat_hist.1.log", HISTOGRAMS)];
    let (run, _) = good(&files);
    assert_eq!(run.imported.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["a/r_lat.1.log"]);
    let said = dropped(&run);
    assert!(said.len() == 3 && said.iter().all(|say| say.contains("has more detail")), "{said:?}");
}

#[test]
fn jobs_of_a_run_are_one_trial_and_other_directories_other_trials() {
    let line: &[u8] = b"5, 100, 0, 4096, 0, 0\n";
    let files = [("a/r_lat.1.log", line), ("a/r_lat.2.log", line), ("b/r_lat.1.log", line), ("b/s_lat.log", line)];
    let (run, slices) = good(&files);
    let cases: Vec<&str> = run.inputs.suite.imported.iter().map(|case| case.name.as_str()).collect();
    assert_eq!((cases, run.inputs.suite.blocks), (vec!["r", "s"], 2));
    assert_eq!([0, 1, 2].map(|number| trial(&run, number).1.jobs.len()), [2, 1, 1]);
    assert_eq!(slices.iter().map(|(trial, _)| *trial).collect::<Vec<_>>(), [0, 0, 1, 2]);
}

#[test]
fn intervals_are_where_their_times_say_and_histograms_come_at_the_end_of_a_second() {
    let text = "10, 1000, 0, 4096\n20, 2000, 1, 512\n150, 3000, 0, 4096\n1500, 4000, 0, 4096\n1501, 5000, 0, 4096\n";
    let (_, slices) = good(&[("r_lat.1.log", text.as_bytes())]);
    let told: Vec<_> = slices
        .iter()
        .map(|(_, s)| (s.interval, s.op, s.ops, s.bytes, s.latency_max_ns, s.latency.as_ref().map(|l| l.count())))
        .collect();
    let (read, write) = (Op::Read, Op::Write);
    let expected = [
        (0, read, 1, 4096, 1000, None),
        (0, write, 1, 512, 2000, None),
        (1, read, 1, 4096, 3000, Some(2)),
        (1, write, 0, 0, 0, Some(1)),
        (15, read, 2, 8192, 5000, Some(2)),
    ];
    assert_eq!(told, expected);
}

#[test]
fn times_that_go_back_count_where_they_say_and_are_told() {
    let text = "1500, 1, 0, 4096\n300, 2, 0, 4096\n1600, 3, 0, 4096\n1600, 4, 0, 4096\n";
    let (run, slices) = good(&[("r_lat.1.log", text.as_bytes())]);
    assert_eq!(dropped(&run), ["r_lat.1.log: 1 lines are out of order in time; their I/Os count at their own times"]);
    let latencies: u64 = slices.iter().filter_map(|(_, slice)| slice.latency.as_ref()).map(|l| l.count()).sum();
    assert_eq!((slices.iter().map(|(_, slice)| slice.ops).sum::<u64>(), latencies), (4, 4));
    assert!(slices.iter().any(|(_, slice)| slice.interval == 3 && slice.ops == 1));
}

#[test]
fn dates_count_from_the_first() {
    let text = "1795379512000, 7, 0, 4096\n1795379512250, 9, 0, 4096\n";
    let (run, slices) = good(&[("r_lat.1.log", text.as_bytes())]);
    assert_eq!(slices.iter().map(|(_, slice)| slice.interval).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(trial(&run, 0).0.window, stend_base::Nanos::millis(250));
}

#[test]
fn a_log_that_was_cut_is_read_to_its_last_whole_line() {
    let (run, slices) = good(&[("r_lat.1.log", &LAT[..LAT.len() - 5])]);
    let whole = LAT.iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(slices.iter().map(|(_, slice)| slice.ops).sum::<u64>(), whole - 1);
    assert_eq!(dropped(&run), [format!("r_lat.1.log: the last line, after {}, has no end", whole - 1)]);
}

#[test]
fn what_cannot_be_imported_is_refused_with_its_line() {
    let name = "r_lat.1.log";
    for (text, why) in [
        ("5, 100, 0, 4096\n5, x, 0, 4096\n", "error: r_lat.1.log:2: not `time, value, kind, size`"),
        ("5, 100, 0, 4096\n5, 100, 0, 0\n", "error: r_lat.1.log:2: a size of 0: an average among single I/Os"),
        ("5, 100, 7, 4096\n", "error: r_lat.1.log:1: 7 is not a kind of I/O"),
        ("5, 100, 0, 4096\n999999999999, 1, 0, 4096\n", "error: r_lat.1.log:2: a time more than 58 hours"),
    ] {
        let error = refused(name, text);
        assert!(error.starts_with(why) && error.contains("hint: "), "{text}: {error}");
    }
    assert!(refused("results.log", "").contains("does not show what the log contains"));
    assert!(refused("r_clat_hist.1.log", "5, 0, 4096, 1, 2\n").starts_with("error: r_clat_hist.1.log:1: 2 counts"));
}

#[test]
fn an_empty_log_is_a_trial_without_i_os() {
    let (run, slices) = good(&[("r_lat.1.log", b"")]);
    let (_, outcome) = trial(&run, 0);
    assert!(
        slices.is_empty()
            && outcome.window_start == outcome.window_end
            && outcome.jobs[0].latency[0].dense() == Histogram::new()
    );
}

#[test]
fn more_i_os_than_can_be_counted_are_no_reason_to_fall() {
    let most = 1 << 40;
    let text = counted(0, most) + &counted(1, 1);
    let (run, _) = good(&[("r_clat_hist.1.log", text.as_bytes())]);
    let mix = trial(&run, 0).0.streams[0].mix;
    assert_eq!((mix.read, mix.write), (100, 0));
    let twice = counted(0, most) + &counted(0, u64::MAX);
    let _ = import(&[("r_clat_hist.1.log", twice.as_bytes()), ("r_clat_hist.2.log", text.as_bytes())]);
}
