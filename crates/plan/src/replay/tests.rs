//! Plans of suites with traces: what the streams are, how long they take, and why they do not run.

use super::*;
use crate::fixture;
use crate::{Plan, PlanInputs, PlanTarget, Room};
use expect_test::{Expect, expect};
use stend_base::Kind;
use stend_spec::case::Case;
use stend_spec::suite::Suite;

/// 1000 reads and 10 writes of 4 KiB, 1 ms apart, the last byte at 8 MiB.
fn text() -> String {
    let line = |n: u64| {
        let op = if n.is_multiple_of(101) { "write" } else { "read" };
        format!("{} /a {op} {} 4096\n", n * 1000, (n * 4096) % (8 << 20))
    };
    let lines: String = (1..=1010).map(line).collect();
    format!("fio version 3 iolog\n{lines}1010000 /a read {} 4096\n", (8 << 20) - 4096)
}

fn suite(keys: &str, more: &str) -> Suite {
    let stream = format!("{{trace: {{file: a.iolog{keys}}}}}");
    stend_spec::parse::suite(&format!("suite: x\ncases:\n  - {{name: a, streams: [{stream}]{more}}}\n"), "x").unwrap()
}

fn inputs(trace: &str, suite: Suite, size: Bytes, writes: bool) -> PlanInputs {
    let traces = suite.traces();
    let traces =
        traces.iter().map(|s| stend_spec::trace::read(trace.as_bytes(), "/x/a.iolog", s).unwrap().facts).collect();
    let writes = if writes { Ok(()) } else { Err(say!("not confirmed", "не подтверждено")) };
    PlanInputs { target: PlanTarget { writes, ..fixture::device(size) }, traces, ..fixture::inputs(suite) }
}

fn cases(keys: &str, more: &str) -> Vec<Case> {
    Plan::new(&inputs(&text(), suite(keys, more), Bytes::gib(1), true)).unwrap().cases
}

/// Why the only case does not run.
fn check_not_run(trace: &str, keys: &str, more: &str, change: impl FnOnce(&mut PlanInputs), expected: Expect) {
    let mut inputs = inputs(trace, suite(keys, more), Bytes::gib(1), true);
    change(&mut inputs);
    expected.assert_eq(&Plan::new(&inputs).unwrap_err().message.en);
}

#[test]
fn a_stream_is_what_its_trace_holds_and_lasts_as_long_at_its_pace() {
    let cells = cases(", pace: [1, 0.5, asap]", "");
    let told: Vec<_> = cells.iter().map(|case| (case.label(), case.trial.ramp, case.trial.window)).collect();
    let (ms, none) = (Nanos::millis, Nanos(0));
    // From 1 ms to 1010 ms, so 1009 ms, and the last I/O inside; at half the pace 2018 ms.
    let expected =
        [("a, pace 1", none, ms(1100)), ("a, pace 0.5", none, ms(2100)), ("a, pace asap", ms(1000), ms(3000))];
    assert_eq!(told, expected.map(|(label, ramp, window)| (label.to_string(), ramp, window)));
    let stream = &cells[0].trial.streams[0];
    // 10 of 1011 I/Os are writes: less than a percent is printed as one.
    assert_eq!((stream.mix, stream.block_size, stream.queue_depth), (Mix::of_reads(99), Bytes::kib(4), 64));
    assert!(stream.is_open() && cells[0].trial.writes() && !cells[2].trial.streams[0].is_open());
    let named = cases("", ", ramp: 200ms, trial: 500ms");
    assert_eq!((named[0].trial.ramp, named[0].trial.window), (ms(200), ms(500)));
    let ramped = cases("", ", ramp: 200ms");
    assert_eq!(ramped[0].trial.window, ms(900), "the ramp is part of the replay");
}

#[test]
fn shares_are_whole_percent_and_none_that_occurs_is_lost() {
    let of = |reads: u64, writes: u64, discards: u64| {
        let mut facts = inputs(&text(), suite("", ""), Bytes::gib(1), true).traces.remove(0);
        facts.ios = [reads, writes, discards, 0, 7];
        let mix = mix(&facts);
        [mix.read, mix.write, mix.discard, mix.write_zeroes]
    };
    assert_eq!((of(1, 1, 1), of(1_000_000, 1, 1), of(0, 5, 0)), ([33, 33, 34, 0], [98, 1, 1, 0], [0, 100, 0, 0]));
}

#[test]
fn a_trace_that_writes_needs_the_permission_of_any_write() {
    let inputs = inputs(&text(), suite("", ""), Bytes::gib(1), false);
    let error = Plan::new(&inputs).unwrap_err();
    assert_eq!(error.kind, Kind::Unsafe);
    let reads = text().replace("write", "read");
    assert!(
        Plan::new(&PlanInputs { traces: self::inputs(&reads, suite("", ""), Bytes::gib(1), false).traces, ..inputs })
            .is_ok()
    );
}

#[test]
fn what_does_not_fit_its_target_is_not_run_and_says_where_and_what_to_do() {
    let small = |inputs: &mut PlanInputs| inputs.target.size = Bytes::mib(4);
    check_not_run(
        &text(),
        "",
        "",
        small,
        expect![
            "no case of the suite can run: a.iolog:1012: the trace reaches to 8 MiB, the range is 4 MiB; take a larger target or `fill`, or set `beyond: wrap` or `beyond: scale`"
        ],
    );
    let mut wrapped = inputs(&text(), suite(", beyond: wrap", ""), Bytes::gib(1), true);
    small(&mut wrapped);
    assert!(Plan::new(&wrapped).is_ok());
    check_not_run(
        &text(),
        ", beyond: wrap",
        "",
        |inputs| inputs.target.size = Bytes(2048),
        expect!["no case of the suite can run: the target has 2 KiB, a block 4 KiB"],
    );
    let odd = format!("{}1011000 /a read 100 50\n", text());
    check_not_run(
        &odd,
        "",
        "",
        |_| {},
        expect![
            "no case of the suite can run: a.iolog:1013: direct I/O and discards on this target need offsets and lengths that are multiples of 512 B; `align: 512B` rounds them"
        ],
    );
    assert!(Plan::new(&inputs(&odd, suite("", ", direct: false"), Bytes::gib(1), true)).is_ok());
    assert!(Plan::new(&inputs(&odd, suite(", align: 512B", ""), Bytes::gib(1), true)).is_ok());
    let timeless = "fio version 2 iolog\n/a read 0 512\n/a read 512 512\n";
    check_not_run(
        timeless,
        "",
        "",
        |_| {},
        expect!["no case of the suite can run: a.iolog has no times; use `pace: asap`"],
    );
    let long = "fio version 3 iolog\n0 /a read 0 512\n600000000000 /a read 512 512\n";
    check_not_run(
        long,
        ", pace: 0.5",
        "",
        |_| {},
        expect!["no case of the suite can run: at this pace a.iolog takes longer than 7 days; name a shorter `trial`"],
    );
    let discards = "fio version 3 iolog\n0 /a read 0 512\n5 /a trim 512 512\n";
    check_not_run(
        discards,
        "",
        ", backend: libaio",
        |_| {},
        expect![
            "no case of the suite can run: a.iolog holds discards, and AIO has no requests for them; use `backend: auto` or `backend: psync`"
        ],
    );
}

#[test]
fn discards_of_a_device_are_whole_blocks_of_it_however_it_was_opened() {
    let log = |op: &str| format!("fio version 3 iolog\n0 /a read 0 512\n500000 /a {op} 512 512\n");
    let large = |inputs: &mut PlanInputs| inputs.target.logical_block = Bytes::kib(4);
    check_not_run(
        &log("trim"),
        "",
        ", direct: false",
        large,
        expect![
            "no case of the suite can run: a.iolog:2: direct I/O and discards on this target need offsets and lengths that are multiples of 4096 B; `align: 4096B` rounds them"
        ],
    );
    let runs = |op: &str, change: fn(&mut PlanInputs)| {
        let mut inputs = inputs(&log(op), suite("", ", direct: false"), Bytes::gib(1), true);
        large(&mut inputs);
        change(&mut inputs);
        Plan::new(&inputs).is_ok()
    };
    assert!(runs("write", |_| {}), "the page cache takes any bytes");
    let file = |inputs: &mut PlanInputs| inputs.target.room = Some(Room { total: Bytes::gib(9), free: Bytes::gib(9) });
    assert!(runs("trim", file), "a file does, too");
}

#[test]
fn a_region_of_a_replay_begins_at_a_block_of_the_target() {
    let of = |start: &str, block: Bytes| {
        let stream = format!("{{trace: {{file: a.iolog}}, region: {{start: {start}}}}}");
        let text = format!("suite: x\ncases: [{{name: a, streams: [{stream}]}}]\n");
        let log = "fio version 3 iolog\n0 /a read 0 4096\n500000 /a read 4096 4096\n";
        let mut inputs = inputs(log, stend_spec::parse::suite(&text, "x").unwrap(), Bytes::gib(1), true);
        inputs.target.logical_block = block;
        Plan::new(&inputs).map(|_| ()).map_err(|error| error.message.en)
    };
    assert_eq!((of("4KiB", Bytes::kib(4)), of("512B", Bytes(512)), of("50%", Bytes::kib(4))), (Ok(()), Ok(()), Ok(())));
    expect![
        "no case of the suite can run: offsets of a.iolog count from the start of the `region`, and on this target that must be a multiple of 4096 B"
    ]
    .assert_eq(&of("512B", Bytes::kib(4)).unwrap_err());
}

#[test]
fn a_ramp_that_leaves_nothing_of_a_replay_is_refused() {
    check_not_run(
        &text(),
        ", pace: 2",
        ", ramp: 600ms",
        |_| {},
        expect![
            "no case of the suite can run: the replay of a.iolog takes 0.5 s and would end within the `ramp` of 0.6 s: the window would be empty; name a shorter one"
        ],
    );
    let runs = |keys: &str, ramp: &str| {
        Plan::new(&inputs(&text(), suite(keys, &format!(", ramp: {ramp}")), Bytes::gib(1), true)).is_ok()
    };
    assert!(runs(", pace: 2", "500ms") && runs(", pace: asap", "600ms"));
    let one = "fio version 3 iolog\n0 /a read 0 512\n";
    assert!(Plan::new(&inputs(one, suite("", ""), Bytes::gib(1), true)).is_ok(), "a single I/O without a ramp");
}

#[test]
fn a_time_budget_leaves_a_replay_as_long_as_it_is() {
    let mut suite = suite("", "");
    let plain = "suite: x\ncases: [{name: b, streams: [{op: read, pattern: random, block_size: 4KiB}]}]";
    suite.cases.extend(stend_spec::parse::suite(plain, "x").unwrap().cases);
    let budget = |seconds| {
        let inputs = inputs(&text(), suite.clone(), Bytes::gib(1), true);
        Plan::new(&PlanInputs { time_budget: Some(Nanos::secs(seconds)), ..inputs })
    };
    // Six blocks: 6.6 s of replay, and of 16 s for trials 9.4 s for the others.
    let plan = budget(20).unwrap();
    assert_eq!(plan.cases[0].trial.window, Nanos::millis(1100));
    let other = &plan.cases[1].trial;
    assert!((other.ramp + other.window).0.abs_diff(9_400_000_000 / 6) < 1000, "{other:?}");
    assert_eq!(budget(8).unwrap_err().kind, Kind::Usage);
}

#[test]
fn a_trace_that_nobody_read_is_our_defect() {
    let inputs = PlanInputs { traces: Vec::new(), ..inputs(&text(), suite("", ""), Bytes::gib(1), true) };
    assert_eq!(Plan::new(&inputs).unwrap_err().kind, Kind::Bug);
}

#[test]
fn events_and_steps_are_held_against_the_window_that_the_trace_gives() {
    let (event, late) = (
        |at: &str| format!(", events: [{{at: {at}, do: scrub}}]"),
        "after the window, which lasts 1100 ms in this cell",
    );
    assert_eq!(cases("", &event("1s")).len(), 1);
    let why = cases(", pace: [1, 0.1]", &event("5s"))[0].not_run.clone().unwrap_or_else(|| Say::same("")).en;
    assert!(why.contains(late), "{why}");
    assert!(cases(", pace: [1, 0.1]", &event("5s"))[1].not_run.is_none(), "ten times as long");
    let asap = cases(", pace: [asap, 0.01]", &event("70s"))[0].not_run.clone().unwrap_or_else(|| Say::same("")).en;
    assert!(asap.contains("which lasts 3 s in this cell"), "as the suite says, whatever the trace is: {asap}");
    let steps = |at: &str| {
        let rate = format!("{{schedule: [{{at: 0s, rate: 5/s}}, {{at: {at}, rate: 6/s}}]}}");
        let other = format!("{{op: read, pattern: random, block_size: 4KiB, region: {{size: 50%}}, rate: {rate}}}");
        let cases = format!(
            "suite: x\ncases: [{{name: a, streams: [{{trace: {{file: a.iolog}}, region: {{size: 50%}}}}, {other}]}}]\n"
        );
        Plan::new(&inputs(&text(), stend_spec::parse::suite(&cases, "x").unwrap(), Bytes::gib(1), true))
    };
    assert!(steps("1s").is_ok());
    assert!(steps("2s").unwrap_err().message.en.contains("a step of a schedule never comes"));
}
