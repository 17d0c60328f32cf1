//! Which cases are probed, how often and where. Must not run anything.

use super::*;
use crate::fixture;
use crate::{Plan, PlanInputs, Room};
use stend_spec::rate::{Gaps, Rate, Shape, Step};
use stend_spec::workload::Mix;

/// The trial of a case with this stream and other keys, on this device or file.
fn planned(target: PlanTarget, more: &str, stream: &str) -> Trial {
    let text = format!(
        "suite: x\ncases:\n  - {{name: a{more}, streams: [{{pattern: random, block_size: 4KiB, {stream}}}]}}\n"
    );
    let suite = stend_spec::parse::suite(&text, "s.yaml").unwrap();
    Plan::new(&PlanInputs { target, ..fixture::inputs(suite) }).unwrap().cases.remove(0).trial
}

fn device() -> PlanTarget {
    fixture::device(Bytes::gib(1))
}

/// A directory, in which there is nothing that could be read.
fn directory() -> PlanTarget {
    let room = Room { total: Bytes::gib(100), free: Bytes::gib(100) };
    PlanTarget { room: Some(room), ..fixture::device(Bytes(0)) }
}

fn why_none(trial: &Trial) -> NoProber {
    match trial.probing {
        Probing::None(why) => why,
        Probing::By(prober) => panic!("{prober:?}"),
    }
}

fn rate(trial: &Trial) -> u64 {
    trial.prober().unwrap().rate.0
}

#[test]
fn an_open_loop_is_probed_by_one_i_o_for_two_hundred_and_at_most_a_hundred_a_second() {
    let reads = |rate_key: &str| planned(device(), "", &format!("op: read, rate: {rate_key}"));
    let trial = reads("5000/s");
    let whole = Region { start: Bytes(0), len: Bytes::gib(1) };
    let expected = Prober { rate: MilliIops::per_second(25), op: Op::Read, block: Bytes(4096), region: whole };
    assert_eq!((trial.prober(), trial.free_region()), (Some(&expected), whole));
    assert_eq!((rate(&reads("{poisson: 1500/s}")), rate(&reads("1000000/s"))), (7_500, 100_000));
    for offered in [667, 999, 12_345, 19_999, 20_001, 3_000_000] {
        let found = rate(&reads(&format!("{offered}/s")));
        assert!(found * LOAD_PER_PROBE <= offered * 1000 && found <= RATE_MOST.0, "{found} of {offered}");
    }
}

#[test]
fn off_is_off_and_what_is_asked_for_is_made_also_in_a_closed_loop() {
    assert_eq!(why_none(&planned(device(), ", prober: off", "op: read, rate: 5000/s")), NoProber::Off);
    assert_eq!(why_none(&planned(device(), "", "op: read")), NoProber::Capacity);
    assert_eq!(rate(&planned(device(), ", prober: {rate: 20/s}", "op: read")), 20_000);
    let search = "op: read, rate: {search: {from: 5000/s, to: 9000/s, quantile: 99%, limit: 5ms}}";
    assert_eq!(why_none(&planned(device(), "", search)), NoProber::Capacity);
}

#[test]
fn a_load_too_slow_or_a_window_too_short_for_a_useful_share_has_none() {
    assert_eq!(why_none(&planned(device(), "", "op: read, rate: 199/s")), NoProber::TooSlow);
    assert_eq!(why_none(&planned(device(), "", "op: read, rate: 200/s")), NoProber::TooShort);
    assert_eq!(rate(&planned(device(), ", trial: 10s", "op: read, rate: 200/s")), 1000);
    assert_eq!(why_none(&planned(device(), ", trial: 9900ms", "op: read, rate: 200/s")), NoProber::TooShort);
    let week = planned(device(), ", trial: 7d", "op: read, rate: 5000000/s");
    assert!((1000..2000).contains(&rate(&week)), "what is remembered is bounded");
    // Half of the time nothing is due.
    let bursts =
        "op: read, rate: {schedule: [{at: 0s, rate: 0/s, shape: {burst: {rate: 1000/s, every: 2s, lasting: 1s}}}]}";
    assert_eq!(rate(&planned(device(), ", trial: 30s", bursts)), 2_500);
}

#[test]
fn durable_probes_have_the_end_of_the_range_for_themselves() {
    let log = "op: write, sync: dsync, rate: 5000/s";
    let trial = planned(device(), "", log);
    let end = Region { start: Bytes(Bytes::gib(1).0 - Bytes::mib(1).0), len: Bytes::mib(1) };
    assert_eq!(trial.prober().map(|prober| (prober.op, prober.region)), Some((Op::Write, end)));
    assert!(crate::fit::spans(&trial, |_| true).iter().all(|span| span.end <= end.start.0));
    let reading = planned(device(), ", prober: {rate: 20/s, op: read}", log);
    assert_eq!(reading.prober().map(|prober| (prober.op, prober.region.len)), Some((Op::Read, Bytes::gib(1))));
    assert_eq!(planned(device(), "", "op: write, rate: 5000/s").prober().map(|prober| prober.op), Some(Op::Read));
    let small = planned(fixture::device(Bytes::mib(8)), "", log);
    assert_eq!(small.prober().map(|prober| prober.region.len), Some(Bytes::kib(128)));
    assert_eq!(why_none(&planned(fixture::device(Bytes::mib(2)), "", log)), NoProber::NoRoom);
}

#[test]
fn durable_probes_go_only_where_no_stream_does() {
    let log = "op: write, sync: dsync, rate: 5000/s, region:";
    let half = planned(device(), "", &format!("{log} {{start: 0%, size: 50%}}"));
    assert_eq!(half.prober().map(|prober| prober.op), Some(Op::Write));
    assert_eq!(why_none(&planned(device(), "", &format!("{log} {{start: 50%, size: 50%}}"))), NoProber::NoRoom);
    let case = SuiteCase { prober: ProberKey::At { rate: RATE_LEAST, op: Some(Op::Write) }, ..case("op: read") };
    let context = ProbeContext { target: &device(), filled: true, files: 1 };
    let trial = planned(device(), "", "op: read");
    assert_eq!(probing(&case, &trial, &context), Probing::None(NoProber::NotDurable), "as `defaults` may ask");
    let (log, files) =
        (planned(device(), "", "op: write, sync: dsync, rate: 5000/s"), ProbeContext { files: 2, ..context });
    let auto = SuiteCase { prober: ProberKey::Auto, ..case };
    let auto = SuiteCase { streams: stend_spec::parse::suite(LOG, "s.yaml").unwrap().cases.remove(0).streams, ..auto };
    assert_eq!(probing(&auto, &log, &files), Probing::None(NoProber::NoRoom));
}

const LOG: &str = "suite: x\ncases:\n  - {name: a, streams: [{op: write, sync: dsync, rate: 5000/s, pattern: random, block_size: 4KiB}]}\n";

fn case(stream: &str) -> SuiteCase {
    let text =
        format!("suite: x\ncases:\n  - {{name: a, streams: [{{pattern: random, block_size: 4KiB, {stream}}}]}}\n");
    stend_spec::parse::suite(&text, "s.yaml").unwrap().cases.remove(0)
}

#[test]
fn nothing_is_read_that_was_never_written_by_anybody() {
    let writes = "op: write, rate: 5000/s";
    assert_eq!(why_none(&planned(directory(), "", writes)), NoProber::NothingToRead);
    assert_eq!(planned(device(), "", writes).prober().map(|prober| prober.op), Some(Op::Read));
    assert_eq!(why_none(&planned(device(), ", backend: none", "op: read, rate: 5000/s")), NoProber::Nowhere);
    let blocks = PlanTarget { logical_block: Bytes::kib(16), ..device() };
    let text = "op: {read: 50, write: 50}, rate: 5000/s";
    let case = SuiteCase { streams: case(text).streams, ..case(text) };
    let trial = Trial::new(
        planned(device(), "", text).streams,
        Nanos::secs(3),
        Region { start: Bytes(0), len: Bytes::mib(64) },
    );
    let found = probing(&case, &trial, &ProbeContext { target: &blocks, filled: false, files: 1 });
    assert!(matches!(found, Probing::By(Prober { block: Bytes(16384), .. })), "{found:?}");
    assert!(trial.streams.iter().all(|stream| stream.mix == Mix::of_reads(50)));
}

#[test]
fn the_mean_of_a_schedule_counts_each_step_for_its_time() {
    let step = |at, rate, shape| Step { at: Nanos::secs(at), rate: MilliIops::per_second(rate), shape };
    let mean = |steps: Vec<Step>, length| Rate { gaps: Gaps::Even, steps }.mean(Nanos::secs(length)).0;
    let level = step(0, 100, Shape::Jump);
    assert_eq!(mean(vec![level], 7), 100_000);
    assert_eq!(mean(vec![level, step(4, 300, Shape::Jump)], 8), 200_000);
    assert_eq!(mean(vec![level, step(4, 300, Shape::Ramp)], 4), 200_000);
    assert_eq!(mean(vec![level, step(40, 300, Shape::Jump)], 8), 100_000, "what comes later does not count");
    let (rate, every, lasting) = (MilliIops::per_second(500), Nanos::secs(4), Nanos::secs(1));
    assert_eq!(mean(vec![step(0, 100, Shape::Burst { rate, every, lasting })], 8), 200_000);
    let sine = Shape::Sine { amplitude: MilliIops::per_second(50), period: Nanos::secs(1) };
    assert_eq!(mean(vec![step(0, 100, sine)], 8), 100_000);
}
