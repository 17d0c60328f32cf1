//! Traces as tools write them, broken ones, and none at all. Must not read files.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use stend_base::Lang;

fn source() -> Source {
    Source { file: "t".into(), device: TraceDevice::Only, arrival: Arrival::Queued, align: None }
}

fn parse(text: &str, source: &Source) -> Result<Trace> {
    read(text.as_bytes(), "t", source)
}

/// `at_us op[!] offset+len` of each I/O.
fn told(trace: &Trace) -> String {
    let one = |io: &TracedIo| {
        let durable = if io.durable { "!" } else { "" };
        format!("{} {:?}{durable} {}+{}", io.at.0 / 1000, io.op, io.offset, io.len)
    };
    trace.ios.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn check(text: &str, source: &Source, expected: Expect) -> TraceFacts {
    let trace = parse(text, source).unwrap();
    expected.assert_eq(&told(&trace));
    trace.facts
}

fn check_error(text: &str, expected: Expect) {
    expected.assert_eq(&parse(text, &source()).unwrap_err().render(Lang::En));
}

/// Written by fio 3.33 (`--write_iolog`), shortened.
const V3: &str = "fio version 3 iolog
52 /var/tmp/a add
292 /var/tmp/a open
300 /var/tmp/a read 249856 4096
695 /var/tmp/a write 3104768 4096
2214 /var/tmp/a datasync 0 0
2475 /var/tmp/a trim 1970176 8192
1000464 /var/tmp/a close
";

#[test]
fn an_iolog_of_version_3_has_a_time_in_each_line() {
    let facts = check(
        V3,
        &source(),
        expect![[r#"
            0 Read 249856+4096
            395 Write 3104768+4096
            1914 Sync 0+0
            2175 Discard 1970176+8192"#]],
    );
    assert_eq!((facts.format, facts.span, facts.count()), (Format::IologV3, Nanos(2_175_000), 4));
    assert_eq!((facts.end, facts.end_line, facts.transfer_max), (Bytes(3_108_864), 5, Bytes::kib(4)));
    assert_eq!((facts.io_max, facts.alignment, facts.alignment_line), (Bytes::kib(8), Bytes::kib(4), 4));
    assert_eq!((facts.left_out.file_actions, facts.depth), (3, None));
    let replay = facts.replay(0, Pace::Asap, Beyond::Refuse);
    assert!(replay.syncs && !replay.durable);
}

#[test]
fn an_iolog_of_version_2_waits_between_its_lines() {
    let text = "fio version 2 iolog\n/a add\n/a open\n/a write 0 512\n/a wait 1500 0\n/a read 512 512\n/a read 0 512\n\
                /a wait 250 0\n/a sync 0 0\n/a close\n";
    check(
        text,
        &source(),
        expect![[r#"
            0 Write 0+512
            1500 Read 512+512
            1500 Read 0+512
            1750 Sync 0+0"#]],
    );
}

/// Made by hand after blkparse(1); no trace of a real device, because that needs privileges.
const EVENTS: &str = "Input file sda.blktrace.0 added
  8,0    0        1     0.000100000   697  Q   W 1000 + 8 [kworker]
  8,0    0        2     0.000100500   697  G   W 1000 + 8 [kworker]
  8,0    0        3     0.000150000   697  Q   W 1008 + 8 [kworker]
  8,0    0        4     0.000150500   697  M   W 1008 + 8 [kworker]
  8,0    0        5     0.000200000   697  D   W 1000 + 16 [kworker]
  8,0    1        1     0.000300000   700  Q FWFS 2000 + 8 [jbd2/sda-8]
  8,0    0        0     0.000000000     0  m   N cfq697S / alloced
  8,0    0        6     0.000600000     0  C   W 1000 + 16 [0]
  8,0    1        2     0.000700000     0  C WFS 2000 + 8 [0]
  8,0    0        7     0.000800000   701  Q  RA 16 + 256 [cat]
  8,0    0        8     0.000900000   701  Q   D 4096 + 2048 [fstrim]
  8,0    0        9     0.000950000   701  Q FWS [jbd2/sda-8]
  8,0    0       10     0.000960000   701  Q   N 0 + 0 [sg_inq]
  8,0    0       11     0.001100000     0  C  RA 16 + 256 [0]
  8,0    0       12     0.001200000     0  C   D 4096 + 2048 [0]
CPU0 (8,0):
 Reads Queued:           1,        128KiB	 Writes Queued:           3,       12KiB
Total (8,0):
";

#[test]
fn of_blkparse_what_was_queued_is_replayed_and_flushes_are_syncs() {
    let facts = check(
        EVENTS,
        &source(),
        expect![[r#"
            0 Write 512000+4096
            50 Write 516096+4096
            200 Sync 0+0
            200 Write! 1024000+4096
            700 Read 8192+131072
            800 Discard 2097152+1048576
            850 Sync 0+0"#]],
    );
    assert_eq!((facts.format, facts.durable, facts.transfer_max), (Format::Blkparse, 1, Bytes::kib(128)));
    let left_out = LeftOut { other_events: 8, no_io: 1, ..LeftOut::default() };
    assert_eq!(facts.left_out, left_out);
    // Both writes of the merged request ended with it: 500 and 450 µs. The third took 400 µs, read and discard 300 each.
    let depth = OriginalDepth { completed: 5, in_flight_sum_ns: 1_950_000, most: 3 };
    assert_eq!(facts.depth, Some(depth));
}

#[test]
fn what_was_issued_is_replayed_when_asked_for() {
    let facts = check(EVENTS, &Source { arrival: Arrival::Issued, ..source() }, expect!["0 Write 512000+8192"]);
    assert_eq!(facts.depth.map(|depth| (depth.completed, depth.in_flight_sum_ns)), Some((1, 400_000)));
}

/// After `process_default` in blkparse_fmt.c: what has no place, or no length, is followed by who did it, by how
/// it ended, or by a command.
#[test]
fn events_of_blkparse_without_a_place_are_no_io() {
    let text = "8,0 0 1 0.1 7 Q R 0 + 8 [cat]\n8,0 0 2 0.2 7 Q R 36 (12 00 00 00 24 00 ..) [sg_inq]\n\
                8,0 0 3 0.3 0 C R (12 00 00 00 24 00 ..) [0]\n8,0 0 4 0.4 0 C WFS 0 [0]\n8,0 0 5 0.5 7 Q W [a b]\n\
                8,0 0 6 0.6 7 UT R [cat] 3\n8,0 0 7 0.7 0 C R 0 + 8 (  600000) [0]\n8,0 0 8 0.8 0 C FWS 0 (      12) [0]\n";
    let facts = check(text, &source(), expect!["0 Read 0+4096"]);
    assert_eq!(facts.left_out, LeftOut { other_events: 5, no_io: 2, ..LeftOut::default() });
    assert_eq!(facts.depth, Some(OriginalDepth { completed: 1, in_flight_sum_ns: 600_000_000, most: 1 }));
}

#[test]
fn the_sum_is_that_of_the_whole_file() {
    // `printf 'fio version 2 iolog\n/a read 0 512\n' | sha256sum`.
    let facts = parse("fio version 2 iolog\n/a read 0 512\n", &source()).unwrap().facts;
    assert_eq!(facts.sha256, "0496e775d02cf0cc1e7b8754f09a5ec36fef7a46312fb8892da5e1b29339b0bd");
    assert_ne!(
        parse(EVENTS, &source()).unwrap().facts.sha256,
        parse(&format!("{EVENTS} "), &source()).unwrap().facts.sha256
    );
}

#[test]
fn one_of_several_devices_is_named_or_all_are_one() {
    let text = "fio version 3 iolog\n1 /a read 0 512\n2 /b read 512 512\n3 /b read 1024 512\n";
    check_error(
        text,
        expect![[r#"
            error: `t` holds I/O of 2 devices or files: `/a` (1), `/b` (2)
            hint: name one with `device`; `device: all` puts them all on the target, over one another"#]],
    );
    let named = |name: &str| Source { device: TraceDevice::Named(name.into()), ..source() };
    let facts = check(
        text,
        &named("/b"),
        expect![[r#"
        0 Read 512+512
        1 Read 1024+512"#]],
    );
    assert_eq!(facts.left_out.other_devices, 1);
    assert_eq!(parse(text, &Source { device: TraceDevice::All, ..source() }).unwrap().ios.len(), 3);
    expect!["error: `t` holds no I/O of `/c`"].assert_eq(&parse(text, &named("/c")).unwrap_err().render(Lang::En));
}

#[test]
fn times_out_of_order_are_sorted_and_counted() {
    let text = "fio version 3 iolog\n30 /a read 0 512\n10 /a write 0 512\n20 /a read 512 512\n";
    let facts = check(
        text,
        &source(),
        expect![[r#"
        0 Write 0+512
        10 Read 512+512
        20 Read 0+512"#]],
    );
    assert_eq!(facts.out_of_order, 2);
}

#[test]
fn alignment_is_told_with_its_line_and_made_when_asked_for() {
    let text = "fio version 3 iolog\n1 /a read 4096 4096\n2 /a write 5000 100\n3 /a read 512 512\n";
    let facts = parse(text, &source()).unwrap().facts;
    // 5000 is 8 x 625.
    assert_eq!((facts.alignment, facts.alignment_line, facts.aligned), (Bytes(4), 3, 0));
    let facts = check(
        text,
        &Source { align: Some(Bytes::kib(4)), ..source() },
        expect![[r#"
        0 Read 4096+4096
        1 Write 4096+4096
        2 Read 0+4096"#]],
    );
    assert_eq!((facts.alignment, facts.aligned), (Bytes::kib(4), 2));
}

#[test]
fn a_discard_of_many_gibibytes_comes_in_pieces() {
    let text = format!("fio version 3 iolog\n1 /a trim 0 {}\n2 /a read 0 512\n", 5u64 << 29);
    let facts = check(
        &text,
        &source(),
        expect![[r#"
        0 Discard 0+1073741824
        0 Discard 1073741824+1073741824
        0 Discard 2147483648+536870912
        1 Read 0+512"#]],
    );
    assert_eq!((facts.split, facts.io_max, facts.transfer_max), (2, Bytes::gib(1), Bytes(512)));
}

#[test]
fn what_is_no_trace_is_refused_with_its_line() {
    let v3 = |line: &str| format!("fio version 3 iolog\n{line}\n");
    let all = [
        String::new(),
        "0, 4096, 512\n".into(),
        "\u{7}eat\n".into(),
        "fio version 2 iolog\n/a open\n".into(),
        v3("5 /a sync 0 0"),
        v3("-5 /a read 0 512"),
        v3("5 /a wait 0 512"),
        v3("5 /a read 0"),
        v3("5 /a read 18446744073709551615 512"),
        v3("5 /a read 18446744073709551616 512"),
        v3("18446744073709551615 /a read 0 512"),
        v3("5 /a read 0 67108865"),
        v3("5 /a read 0 512\n900000000000 /a read 0 512"),
        v3(&"x".repeat(5000)),
        "8,0 1 1 0.5 9 Q W 10 + 8 [x]\nwhatever\n".into(),
        "8,0 1 1 -0.5 9 Q W 10 + 8 [x]\n".into(),
        "8,0 1 1 0.0000000001 9 Q W 10 + 8 [x]\n".into(),
        "8,0 1 1 0.5 9 Q W 99999999999999999999 + 8 [x]\n".into(),
        "8,0 1 1 0.5 9 Q W 36028797018963967 + 8 [x]\n".into(),
        "8,0 1 1 0.5 9 D W 10 + 8 [x]\n".into(),
        "8,0 x 1 0.5 9 Q W 10 + 8 [x]\n".into(),
        "8,0 1 -1 0.5 9 Q W 10 + 8 [x]\n".into(),
        "8,0 1 1 0:5 9 M W 10 + 8 [x]\n".into(),
        "8,0 1 1 . 9 M W 10 + 8 [x]\n".into(),
        "8,0 1 1 0.5 x Q W 10 + 8 [x]\n".into(),
        "8,0 1 1 0.5 9 7 W 10 + 8 [x]\n".into(),
        "8,0 1 1 0.5 9\n".into(),
        "8,0 1 1 0.5 9 Q W 10 8 [x]\n".into(),
        "8,0 1 1 0.5 9 C W 10 8 [0]\n".into(),
        "8,0 1 1 0.5 9 Q W 10 +\n".into(),
        "8,0 1 1 0.5 9 Q W 10 + 8\n".into(),
        "8,0 1 1 0.5 9 Q W\n".into(),
        "8,0 1 1 0.5 9 Q W 10 + 8 [x]\nCPU0 (8,0):\n8,0 1 2 0.6 9 Q W 10 + 8 [x]\n".into(),
    ];
    let refused = |text: &String| parse(text, &source()).unwrap_err().render(Lang::En);
    expect![[r#"
        error: `t` holds no I/O
        error: t:1: neither a fio iolog of version 2 or 3 nor the default output of blkparse
        hint: an iolog begins with `fio version 3 iolog`; the binary files of blktrace are made into text by `blkparse -i NAME`
        error: t:1: neither a fio iolog of version 2 or 3 nor the default output of blkparse
        hint: an iolog begins with `fio version 3 iolog`; the binary files of blktrace are made into text by `blkparse -i NAME`
        error: `t` holds no I/O
        error: `t` holds no I/O
        error: t:2: `-5` is not a whole number from 0 on
        error: t:2: unknown action `wait`
        error: t:2: not a line of an iolog: a file, an action and, for I/O, offset and length
        error: t:2: the I/O ends beyond all bounds
        error: t:2: `18446744073709551616` is not a whole number from 0 on
        error: t:2: a time beyond all bounds: 18446744073709551615 µs
        error: t:2: an I/O of 67108865 bytes; the limit is 64 MiB
        error: `t` spans 250 h 00 min; the limit is 7 days
        error: t:2: the line is longer than 4096 bytes
        error: t:2: not an event of blkparse
        error: t:1: not a time in seconds: `-0.5`
        error: t:1: not a time in seconds: `0.0000000001`
        error: t:1: not a place on a device: `99999999999999999999 + 8 [x]`
        error: t:1: not a place on a device: `36028797018963967 + 8 [x]`
        error: `t` holds no I/O
        error: t:1: not the number of a CPU, of an event or of a process: `x`
        error: t:1: not the number of a CPU, of an event or of a process: `-1`
        error: t:1: not a time in seconds: `0:5`
        error: t:1: not a time in seconds: `.`
        error: t:1: not the number of a CPU, of an event or of a process: `x`
        error: t:1: not an action of blkparse: `7`
        error: t:1: not an action of blkparse: ``
        error: t:1: not a place on a device: `10 8 [x]`
        error: t:1: not a place on a device: `10 8 [0]`
        error: t:1: not a place on a device: `10 +`
        error: t:1: not a place on a device: `10 + 8`
        error: t:1: not a place on a device: ``
        error: t:3: an event behind the summary of blkparse: the file holds more than one output
        hint: make a file of each"#]].assert_eq(&all.iter().map(refused).collect::<Vec<_>>().join("\n"));
    let binary = read(&b"8,0 1 1 0.5 9 Q W 10 + 8 [x]\n\xff\xfe\n"[..], "t", &source()).unwrap_err();
    assert_eq!(binary.render(Lang::En), "error: t:2: the line is not text");
}

#[test]
fn a_pace_scales_times_and_has_the_words_of_the_suite() {
    let at = Nanos(1_000_001);
    assert_eq!((Pace::Timed(1000).due(at), Pace::Timed(2000).due(at)), (Some(1_000_001), Some(500_000)));
    assert_eq!((Pace::Timed(10).due(SPAN_MAX), Pace::Asap.due(at)), (Some(SPAN_MAX.0 * 100), None));
    let labels = [Pace::Timed(1000), Pace::Timed(500), Pace::Timed(2250), Pace::Asap].map(Pace::label);
    assert_eq!(labels, ["1", "0.5", "2.25", "asap"]);
}

#[test]
fn the_limit_of_ios_is_that_of_all_traces_and_holds_while_one_is_read() {
    let text = "fio version 3 iolog\n1 /a read 0 512\n2 /a read 0 512\nno line of an iolog\n";
    let beside = |others: u64| read_beside(text.as_bytes(), "t", &source(), others).unwrap_err().render(Lang::En);
    expect![[r#"
        error: t:3: more than 10000000 I/Os in all traces of the suite
        hint: cut the trace, or name one `device` of it"#]]
    .assert_eq(&beside(IOS_MAX - 1));
    assert!(beside(IOS_MAX).starts_with("error: t:2: more than") && beside(u64::MAX) == beside(IOS_MAX));
    assert!(beside(IOS_MAX - 2).starts_with("error: t:4: `no` is not"));
}

#[test]
fn an_io_takes_24_bytes() {
    assert_eq!(size_of::<TracedIo>(), 24);
}

/// Lines that look like those of a trace, and some that do not.
fn line() -> impl Strategy<Value = String> {
    let number = prop_oneof![0u64..5000, Just(u64::MAX), Just(1 << 62)];
    let word =
        prop::sample::select(vec!["read", "write", "trim", "sync", "wait", "open", "Q", "C", "+", "W", "8,0", "-1"]);
    let field = prop_oneof![number.prop_map(|n| n.to_string()), word.prop_map(str::to_string), "[ -~]{0,9}"];
    prop::collection::vec(field, 0..9).prop_map(|fields| fields.join(" "))
}

proptest! {
    #[test]
    fn whatever_stands_in_a_file_is_a_trace_in_order_or_an_error(
        first in prop::sample::select(vec!["fio version 2 iolog", "fio version 3 iolog", "8,0 0 1 0.1 1 Q R 0 + 8 [x]"]),
        lines in prop::collection::vec(line(), 0..20),
        align in prop::option::of(prop::sample::select(vec![512u64, 4096])),
    ) {
        let source = Source { device: TraceDevice::All, align: align.map(Bytes), ..source() };
        let Ok(Trace { facts, ios }) = parse(&format!("{first}\n{}\n", lines.join("\n")), &source) else { return Ok(()) };
        prop_assert!(ios.windows(2).all(|pair| pair[0].at <= pair[1].at) && ios[0].at == Nanos(0));
        prop_assert_eq!(facts.span, ios[ios.len() - 1].at);
        prop_assert_eq!(facts.count(), ios.len() as u64);
        for io in &ios {
            prop_assert!(io.offset + u64::from(io.len) <= facts.end.0 && u64::from(io.len) <= facts.io_max.0);
            prop_assert!((io.offset | u64::from(io.len)).is_multiple_of(facts.alignment.0));
            prop_assert_eq!(io.len == 0, io.op == Op::Sync);
        }
    }

    #[test]
    fn an_iolog_reads_back_as_it_was_written(
        ios in prop::collection::vec((0u64..10_000_000, 0u64..1 << 40, 1u64..1 << 20, prop::bool::ANY), 1..50),
    ) {
        let mut ios = ios;
        ios.sort_by_key(|io| io.0);
        let line = |(at, offset, len, write): &(u64, u64, u64, bool)| {
            format!("{at} /dev/sda {} {offset} {len}\n", if *write { "write" } else { "read" })
        };
        let text: String = ios.iter().map(line).collect();
        let trace = parse(&format!("fio version 3 iolog\n{text}"), &source()).unwrap();
        let found: Vec<_> = trace.ios.iter()
            .map(|io| (io.at.0 / 1000 + ios[0].0, io.offset, u64::from(io.len), io.op == Op::Write)).collect();
        prop_assert_eq!(found, ios);
    }
}
