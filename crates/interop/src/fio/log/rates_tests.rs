//! Logs of rates and averages of the real fio 3.33: 2 s of 150 reads and as many writes per second, of 4 KiB.

use super::tests::{dropped, good, import, refused, trial};
use super::*;

const IOPS: &[u8] = include_bytes!("../../../tests/corpus/fio-logs/averaged_iops.1.log");
const BW: &[u8] = include_bytes!("../../../tests/corpus/fio-logs/averaged_bw.1.log");
const LAT: &[u8] = include_bytes!("../../../tests/corpus/fio-logs/averaged_lat.1.log");
const CLAT: &[u8] = include_bytes!("../../../tests/corpus/fio-logs/averaged_clat.1.log");
const EACH_IOPS: &[u8] = include_bytes!("../../../tests/corpus/fio-logs/single_iops.1.log");
const EACH_BW: &[u8] = include_bytes!("../../../tests/corpus/fio-logs/single_bw.1.log");

#[test]
fn averages_come_to_the_rates_and_means_of_the_summary() {
    let files = [("a_iops.1.log", IOPS), ("a_bw.1.log", BW), ("a_lat.1.log", LAT), ("a_clat.1.log", CLAT)];
    let (run, slices) = good(&files);
    let (asked, outcome) = trial(&run, 0);
    // fio told 149.9 of each kind per second, and means of 774 and 28 µs.
    let seconds = asked.window.0 as f64 / 1e9;
    let told = outcome.tool_output.as_ref().unwrap();
    for (op, mean_us) in [(Op::Read, 773.7), (Op::Write, 27.98)] {
        let (ios, bytes) = outcome.jobs[0].done[op.index()];
        assert_eq!(asked.streams[0].block_size, Bytes(4096), "the mean");
        assert!((ios as f64 / seconds - 149.9).abs() < 3.0 && bytes.abs_diff(ios * 4096) < bytes / 50, "{ios} {bytes}");
        let own = told.ops.iter().find(|own| own.op == op).unwrap();
        assert!((own.sum_ns as f64 / own.count as f64 / 1000.0 / mean_us - 1.0).abs() < 0.05, "{own:?}");
        assert!(!own.mergeable && own.percentiles.is_empty() && own.max_ns == 0 && own.occupied_ns.is_none());
        assert_eq!(
            (own.latency.as_str(), slices.iter().filter(|(_, s)| s.op == op).map(|(_, s)| s.ops).sum::<u64>()),
            ("lat", ios)
        );
    }
    assert!(
        told.ops[0]
            .numbers
            .iter()
            .any(|n| (n.name.as_str(), n.unit.as_str(), n.printed.as_str()) == ("lat.100ms", "ns", "558927"))
    );
    assert!(!told.sizes_known && slices.iter().all(|(_, slice)| slice.latency.is_none()));
    assert_eq!((run.imported.files.len(), dropped(&run).len()), (3, 1), "clat was not read");
}

#[test]
fn averages_without_latencies_are_counts_alone() {
    let (run, _) = good(&[("a_iops.1.log", IOPS), ("a_bw.1.log", BW)]);
    let told = trial(&run, 0).1.tool_output.as_ref().unwrap();
    assert!(told.ops[0].latency.is_empty() && told.ops[0].count == 0 && !told.ops[0].mergeable);
}

#[test]
fn a_line_for_each_i_o_of_a_log_of_rates_is_an_i_o() {
    for (name, log) in [("r_iops.1.log", EACH_IOPS), ("r_bw.1.log", EACH_BW)] {
        let (run, slices) = good(&[(name, log)]);
        let outcome = trial(&run, 0).1;
        assert_eq!(outcome.jobs[0].done[..2], [(300, 1_228_800), (300, 1_228_800)], "{name}");
        assert!(slices.iter().all(|(_, slice)| slice.latency.is_none() && slice.latency_max_ns == 0 && slice.ops > 0));
        let told = outcome.tool_output.as_ref().unwrap();
        assert!(told.sizes_known && told.ops[0].latency.is_empty() && !told.ops[0].mergeable);
        assert_eq!(outcome.jobs[0].latency[0].sum_ns, 0, "rates are no latencies");
    }
}

#[test]
fn what_does_not_tell_how_much_was_done_is_refused() {
    for files in [&[("a_lat.1.log", LAT)][..], &[("a_iops.1.log", IOPS), ("a_lat.1.log", LAT)], &[("a_bw.1.log", BW)]] {
        let error = import(files).unwrap_err().render(stend_base::Lang::En);
        assert!(
            error.contains("do not give the numbers of I/Os") && error.contains("need both the `_iops` and the `_bw`"),
            "{error}"
        );
    }
    assert!(refused("a_slat.1.log", "1, 5, 0, 4096\n").contains("do not give the numbers of I/Os"));
}

#[test]
fn averages_have_their_windows_from_the_line_before_of_their_kind() {
    let iops: &[u8] = b"500, 100, 0, 0\n1000, 10, 1, 0\n1500, 200, 0, 0\n1500, 7, 0, 0\n1400, 9, 0, 0\n";
    let bw: &[u8] = b"1500, 1000, 0, 0\n1000, 40, 1, 0\n";
    let lat: &[u8] = b"500, 2000, 0, 0\n1000, 2000, 0, 0\n1500, 4000, 0, 0\n";
    let (run, slices) = good(&[("a_iops.1.log", iops), ("a_bw.1.log", bw), ("a_lat.1.log", lat)]);
    let outcome = trial(&run, 0).1;
    assert_eq!(outcome.jobs[0].done[..2], [(250, 1_536_000), (10, 40_960)]);
    let told: Vec<_> = slices.iter().map(|(_, s)| (s.interval, s.span, s.op, s.ops, s.bytes)).collect();
    assert_eq!(
        told,
        [(0, 5, Op::Read, 50, 512_000), (5, 10, Op::Read, 200, 1_024_000), (0, 10, Op::Write, 10, 40_960)]
    );
    // 150 I/Os in the first second, 100 in the half behind it.
    assert_eq!(outcome.tool_output.as_ref().unwrap().ops[0].sum_ns, 150 * 2000 + 100 * 4000);
    assert!(dropped(&run)[0].starts_with("a_iops.1.log: 2 averages are not later"));
}

#[test]
fn what_is_wrong_in_averages_is_refused_with_its_line() {
    let why = |iops: &str, bw: &str| {
        let files = [("a_iops.1.log", iops.as_bytes()), ("a_bw.1.log", bw.as_bytes())];
        import(&files).unwrap_err().render(stend_base::Lang::En)
    };
    let good = "1, 5, 0, 0\n";
    for (iops, bw, expected) in [
        ("1, 5, 0, 0\n2, 5, 0, 4096\n", good, "a_iops.1.log:2: a single I/O among averages"),
        (good, "1, 5, 0, 0\n2, 5, 8, 0\n", "a_bw.1.log:2: 8 is not a kind of I/O"),
        (good, "1, 5, 0, 0\n2, 5\n", "a_bw.1.log:2: not `time, value, kind, size`"),
        ("1, 5, 0, 0\n999999999, 5, 0, 0\n", good, "a_iops.1.log:2: a time more than 58 hours"),
    ] {
        let error = why(iops, bw);
        assert!(error.contains(expected), "{error}");
    }
    let far = why("1795379512000, 5, 0, 0\n1795559512000, 6, 0, 0\n", good);
    assert!(far.contains("a_iops.1.log:2: a time more than 58 hours"), "two periods: {far}");
}

#[test]
fn dates_count_from_a_period_before_the_first() {
    let dates: (&[u8], &[u8]) =
        (b"1795379512000, 5, 0, 0\n1795379513000, 6, 0, 0\n", b"1795379512000, 20, 0, 0\n1795379513000, 24, 0, 0\n");
    let (run, slices) = good_pair(dates);
    assert_eq!(trial(&run, 0).1.jobs[0].done[0], (11, 44 * 1024));
    assert_eq!((trial(&run, 0).0.window.0, slices.len(), dropped(&run).len()), (2_000_000_000, 2, 0));
    assert!(!trial(&run, 0).1.tool_output.as_ref().unwrap().sizes_known, "4096 on average");
}

#[test]
fn the_first_date_of_a_kind_is_no_length_of_an_interval() {
    // Two lines of reads and one of writes.
    let rates: &[u8] = b"1795379512000, 5, 0, 0\n1795379512000, 7, 1, 0\n1795379513000, 6, 0, 0\n";
    let (run, _) = good_pair((rates, rates));
    let (asked, outcome) = trial(&run, 0);
    assert_eq!(outcome.jobs[0].done[..2], [(11, 11 * 1024), (7, 7 * 1024)]);
    assert_eq!((asked.window.0, dropped(&run).len()), (2_000_000_000, 0));
}

#[test]
fn one_average_with_a_date_is_of_an_interval_whose_length_is_not_known() {
    let rate: &[u8] = b"1795379512000, 5, 0, 0\n";
    let error = refused_all(&[("b_iops.1.log", rate), ("b_bw.1.log", rate)]);
    assert!(
        error.contains("b_iops.1.log:1: its times are dates, and no second line of the same job shows how long"),
        "{error}"
    );
    // The other log of the job shows it.
    let (run, _) = good_pair((rate, b"1795379512000, 5, 0, 0\n1795379513000, 5, 0, 0\n"));
    assert_eq!(trial(&run, 0).1.jobs[0].done[0].0, 5);
}

#[test]
fn averages_with_dates_of_two_jobs_in_one_log_need_more_lines_than_one_of_each() {
    let of = |distances: &[u64]| -> Vec<u8> {
        let lines = distances.iter().map(|ms| format!("{}, 5, 0, 0\n", 1_795_379_512_000 + ms));
        lines.collect::<String>().into_bytes()
    };
    for distances in [&[0, 3][..], &[0, 1000], &[0, 3, 6]] {
        let rate = of(distances);
        let error = refused_all(&[("b_iops.log", &rate), ("b_bw.log", &rate)]);
        assert!(error.contains("b_iops.log:1: its times are dates, and no second line of the same job"), "{error}");
    }
    // Times that count from the start need none.
    let (run, _) = good(&[("b_iops.log", b"1000, 5, 0, 0\n"), ("b_bw.log", b"1000, 20, 0, 0\n")]);
    assert_eq!(trial(&run, 0).1.jobs[0].done[0].0, 5);
}

#[test]
fn intervals_without_a_line_had_no_i_o() {
    // One second of I/O after a rest of 5 s, three more, a rest of a minute, and a last one.
    let iops: &[u8] = b"6000, 100, 0, 0\n7000, 100, 0, 0\n8000, 100, 0, 0\n9000, 100, 0, 0\n70000, 100, 0, 0\n";
    let bw: &[u8] = b"6000, 400, 0, 0\n7000, 400, 0, 0\n8000, 400, 0, 0\n9000, 400, 0, 0\n70000, 400, 0, 0\n";
    let lat: &[u8] = b"6000, 10, 0, 0\n7000, 10, 0, 0\n8000, 10, 0, 0\n9000, 10, 0, 0\n70000, 510, 0, 0\n";
    let (run, slices) = good(&[("a_iops.1.log", iops), ("a_bw.1.log", bw), ("a_lat.1.log", lat)]);
    let (asked, outcome) = trial(&run, 0);
    assert_eq!((outcome.jobs[0].done[0], asked.window.0), ((500, 500 * 4096), 70_000_000_000));
    let told: Vec<_> = slices.iter().map(|(_, s)| (s.interval, s.span, s.ops)).collect();
    assert_eq!(told, [(50, 10, 100), (60, 10, 100), (70, 10, 100), (80, 10, 100), (690, 10, 100)]);
    // A fifth of the I/Os was slow, not sixty of sixty-four.
    assert_eq!(outcome.tool_output.as_ref().unwrap().ops[0].sum_ns, 400 * 10 + 100 * 510);
    assert_eq!(dropped(&run)[0], "a_iops.1.log: 2 gaps between averages, in which there was no I/O");
    assert_eq!(dropped(&run).len(), 3);
}

#[test]
fn a_slice_reaches_as_far_as_the_longest_average_that_begins_in_it() {
    let rates: &[u8] = b"40, 100, 0, 0\n250, 100, 0, 0\n450, 100, 0, 0\n650, 100, 0, 0\n";
    let slices = good_pair((rates, rates)).1;
    let told: Vec<_> = slices.iter().map(|(_, s)| (s.interval, s.span, s.ops)).collect();
    assert_eq!(told, [(0, 2, 25), (2, 2, 20), (4, 2, 20)]);
}

fn good_pair((iops, bw): (&[u8], &[u8])) -> (ImportedRun, Vec<(u32, Slice)>) {
    good(&[("a_iops.1.log", iops), ("a_bw.1.log", bw)])
}

/// A log of averages of two jobs, each a line a second for three seconds, one behind the other.
fn of_two_jobs(value: u64) -> Vec<u8> {
    (0..2).flat_map(|_| 1..=3).map(|second| format!("{second}000, {value}, 0, 0\n")).collect::<String>().into_bytes()
}

fn refused_all(files: &[(&str, &[u8])]) -> String {
    import(files).unwrap_err().render(stend_base::Lang::En)
}

#[test]
fn averages_of_all_jobs_in_one_file_are_those_of_each() {
    let (iops, bw, lat) = (of_two_jobs(400), of_two_jobs(1600), of_two_jobs(2_000_000));
    let (run, slices) = good(&[("b_iops.log", &iops[..]), ("b_bw.log", &bw), ("b_lat.log", &lat)]);
    let (asked, outcome) = trial(&run, 0);
    assert_eq!((asked.window.0, asked.streams[0].jobs, outcome.jobs.len()), (3_000_000_000, 2, 2));
    assert!(outcome.jobs.iter().all(|job| job.done[0] == (1200, 1200 * 4096)), "{:?}", outcome.jobs);
    assert_eq!(slices.iter().map(|(_, slice)| slice.ops).sum::<u64>(), 2400);
    assert!(dropped(&run).is_empty(), "{:?}", dropped(&run));
    // A log of one job whose time goes back is odd, as it was.
    let (run, _) = good(&[("b_iops.1.log", &iops[..]), ("b_bw.1.log", &bw)]);
    assert_eq!(trial(&run, 0).1.jobs[0].done[0].0, 1200);
    assert!(dropped(&run)[0].contains("3 averages"), "{:?}", dropped(&run));
    let one = &bw[..bw.len() / 2];
    let error = refused_all(&[("b_iops.log", &iops), ("b_bw.log", one)]);
    assert!(error.contains("`b_iops.log` and `b_bw.log` hold different numbers of jobs"), "{error}");
}

#[test]
fn values_that_were_negative_are_refused_with_their_line() {
    let wrapped = b"1000, 400, 0, 0\n2000, 18446744073709551615, 0, 0\n";
    let error = refused_all(&[("b_iops.1.log", wrapped), ("b_bw.1.log", b"1000, 1600, 0, 0\n2000, 1600, 0, 0\n")]);
    assert!(error.contains("b_iops.1.log:2: 18446744073709551615 is neither a latency"), "{error}");
    let error = refused("b_lat.1.log", "1, 400, 0, 4096\n2, 9223372036854775808, 0, 4096\n");
    assert!(error.contains("b_lat.1.log:2: 9223372036854775808 is neither a latency"), "{error}");
}
