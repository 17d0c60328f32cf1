//! What a suite file may say, and how everything else is refused.

use super::*;
use crate::workload::{Backend, Pages};
use expect_test::{Expect, expect};
use stend_base::Lang;

fn check_error(text: &str, expected: Expect) {
    expected.assert_eq(&suite(text, "suite.yaml").unwrap_err().render(Lang::En));
}

fn with_stream(stream: &str) -> String {
    format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {stream}\n")
}

#[test]
fn the_built_in_suite_parses() {
    let quick = suite(include_str!("../../../../suites/quick/suite.yaml"), "quick").unwrap();
    assert_eq!((quick.name.as_str(), quick.cases.len(), quick.blocks), ("quick", 6, 6));
    assert_eq!(quick.cases[2].streams[0].queue_depth, [1, 32]);
    assert_eq!(quick.cases[5].streams[0].sync, Sync::Fdatasync(1));
}

#[test]
fn an_unknown_key_names_its_place_and_its_neighbour() {
    check_error(
        &with_stream("{op: read, pattern: random, block_size: 4KiB, que_depth: 3}"),
        expect![[r#"
            error: suite.yaml:5:55: a stream: unknown key `que_depth`
            hint: did you mean `queue_depth`?"#]],
    );
    check_error(
        &with_stream("{op: read, pattern: random, block_size: 4KiB, tempo: 3}"),
        expect![[r#"
            error: suite.yaml:5:55: a stream: unknown key `tempo`
            hint: known keys: `op`, `pattern`, `block_size`, `queue_depth`, `jobs`, `sync`, `data`, `rate`, `verify`, `region`, `think`, `batch`, `submit`, `cpus`, `numa`, `trace`"#]],
    );
}

#[test]
fn a_mistyped_required_key_is_not_called_missing() {
    check_error(
        &with_stream("{op: read, patern: random, block_size: 4KiB}"),
        expect![[r#"
            error: suite.yaml:5:20: a stream: unknown key `patern`
            hint: did you mean `pattern`?"#]],
    );
}

#[test]
fn contradictions_are_refused_not_ignored() {
    check_error(
        &with_stream("{op: read, pattern: random, block_size: 4KiB, sync: {fsync: 1}}"),
        expect![[r#"
            error: suite.yaml:5:61: `sync` needs writes in `op`: it follows them, and nothing else leaves data to sync
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
    check_error(
        &with_stream("{op: {read: 70, write: 40}, pattern: random, block_size: 4KiB}"),
        expect![[r#"
            error: suite.yaml:5:14: the shares of `op` are percent and add up to 110, not to 100
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
}

#[test]
fn pages_are_ordinary_unless_a_case_or_the_defaults_say_otherwise() {
    let text = |defaults: &str, case: &str| {
        let stream = "{op: read, pattern: random, block_size: 1MiB}";
        format!("suite: x\ndefaults: {{{defaults}}}\ncases:\n  - {{name: a, {case}streams: [{stream}]}}\n")
    };
    let pages = |defaults, case| suite(&text(defaults, case), "suite.yaml").unwrap().cases[0].pages;
    assert_eq!((pages("", ""), pages("", "pages: huge, ")), (Pages::Ordinary, Pages::Huge));
    assert_eq!((pages("pages: huge", ""), pages("pages: huge", "pages: ordinary, ")), (Pages::Huge, Pages::Ordinary));
    check_error(
        &text("", "pages: large, "),
        expect![[r#"
            error: suite.yaml:4:22: `large` is not one of `ordinary`, `huge`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
}

#[test]
fn libaio_is_for_direct_io_only() {
    let text = |defaults: &str, case: &str| {
        let stream = "{op: read, pattern: random, block_size: 4KiB}";
        format!("suite: x\ndefaults: {{{defaults}}}\ncases:\n  - {{name: a, {case}streams: [{stream}]}}\n")
    };
    let backend = |text: String| suite(&text, "suite.yaml").unwrap().cases[0].backend;
    assert_eq!(backend(text("backend: libaio", "")), Backend::Libaio);
    assert_eq!(backend(text("backend: libaio, direct: false", "direct: true, ")), Backend::Libaio);
    assert_eq!(backend(text("backend: libaio", "direct: false, backend: psync, ")), Backend::Psync);
    check_error(
        &text("backend: libaio", "direct: false, "),
        expect![[r#"
            error: suite.yaml:4:5: `backend: libaio` contradicts `direct: false`: AIO makes buffered I/O one after the other
            hint: use `direct: true`, or for buffered I/O `backend: io_uring` or `backend: psync`"#]],
    );
    check_error(
        &text("backend: aio", ""),
        expect![[r#"
            error: suite.yaml:2:21: `aio` is not one of `auto`, `io_uring`, `io_uring_sqpoll`, `io_uring_iopoll`, `nvme_passthrough`, `libaio`, `psync`, `none`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
}

#[test]
fn nothing_can_be_verified_that_is_never_written() {
    let text = "suite: x\ndefaults: {backend: none}\ncases:\n  - name: a\n    streams:\n      - {op: {read: 50, write: 50}, \
                pattern: random, block_size: 4KiB, verify: {after: true}}\n";
    let error = suite(text, "suite.yaml").unwrap_err().render(Lang::En);
    assert!(error.starts_with("error: suite.yaml:4:5: `backend: none` contradicts `verify`"), "{error}");
}

#[test]
fn numbers_without_units_and_out_of_range_are_refused() {
    check_error(
        &with_stream("{op: read, pattern: random, block_size: 4096}"),
        expect![[r#"
            error: suite.yaml:5:49: `4096` has no unit
            hint: write `4096B` or, for example, `4KiB`"#]],
    );
    check_error(
        &with_stream("{op: read, pattern: random, block_size: 1000B}"),
        expect![[r#"
            error: suite.yaml:5:49: a block is a multiple of 512 B, at most 64 MiB
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
    check_error(
        &with_stream("{op: read, pattern: random, block_size: 4KiB, queue_depth: -1}"),
        expect![[r#"
            error: suite.yaml:5:68: -1 is outside 1 to 4096
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
    check_error(
        &with_stream("{op: read, pattern: random, block_size: 4KiB, queue_depth: 99999999999999999999999}"),
        expect![[r#"
            error: suite.yaml:5:68: expected a whole number, found a number
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
}

#[test]
fn sizes_are_mixed_by_shares_and_a_list_is_still_an_axis() {
    let parse = |sizes: &str| suite(&with_stream(&format!("{{op: read, pattern: random, block_size: {sizes}}}")), "x");
    let stream = parse("{64KiB: 40, 4KiB: 60}").unwrap().cases.remove(0).streams.remove(0);
    let shares: Vec<_> = stream.block_mix.iter().map(|share| (share.size.0 >> 10, share.percent)).collect();
    assert_eq!((stream.block_size, shares), (vec![Bytes::kib(64)], vec![(4, 60), (64, 40)]));
    assert!(parse("[4KiB, 64KiB]").unwrap().cases[0].streams[0].block_mix.is_empty());
    let refused = |sizes: &str| parse(sizes).unwrap_err().render(Lang::En);
    let all = [
        "{4KiB: 60, 64KiB: 30}",
        "{4KiB: 60, 6KiB: 40}",
        "{4KiB: 60, 4096B: 40}",
        "{4KiB: 100}",
        "{4: 60, 8KiB: 40}",
        "{}",
        "[{4KiB: 60, 64KiB: 40}, 4KiB]",
    ];
    expect![[r#"
        error: x:5:49: the shares of `block_size` are percent and add up to 90, not to 100
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
        error: x:5:49: the sizes of a mixture differ, and each is a multiple of the smallest
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
        error: x:5:49: the sizes of a mixture differ, and each is a multiple of the smallest
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
        error: x:5:56: 100 is outside 1 to 99
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
        error: x:5:50: not a size: `4` has no unit
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
        error: x:5:49: the shares of `block_size` are percent and add up to 0, not to 100
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
        error: x:5:50: expected text, found a mapping
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]]
    .assert_eq(&all.map(refused).join("\n"));
}

#[test]
fn shapes_and_duplicates_are_refused() {
    check_error(
        "suite: x\ncases: []\n",
        expect![[r#"
        error: suite.yaml:1:1: `cases` is empty
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
    check_error(
        "[1, 2]",
        expect![[r#"
        error: suite.yaml:1:1: suite: keys are expected, such as `suite: …`, found a list
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
    let twice =
        "suite: x\ncases:\n  - &c {name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}\n  - *c\n";
    check_error(
        twice,
        expect![[r#"
        error: suite.yaml:1:1: two cases are named `a`
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
    check_error(
        "suite: x\nsuite: y\n",
        expect![[r#"
        error: suite.yaml:2:1: the key `suite` stands here twice
        hint: remove one of them"#]],
    );
    check_error(
        "",
        expect![[r#"
        error: suite.yaml:1:1: the file is empty
        hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
    );
}

#[test]
fn errors_are_also_russian() {
    let error = suite(&with_stream("{op: read, pattern: random, block_size: 4x}"), "suite.yaml").unwrap_err();
    expect![[r#"
        ошибка: suite.yaml:5:49: не размер: `x` — не единица размера; возможны B, KiB, MiB, GiB, TiB, kB, MB, GB и TB
        совет: все ключи описаны в docs/formats/suite.md; образец напечатает `stend suites quick`"#]]
    .assert_eq(&error.render(Lang::Ru));
}

#[test]
fn the_described_defaults_are_those_that_hold() {
    let stream = |more: &str| with_stream(&format!("{{op: write, pattern: random, block_size: 4KiB{more}}}"));
    let plain = suite(&stream(""), "x").unwrap();
    for (mapping, at) in [(&keys::SUITE, ""), (&keys::CASE, "    "), (&keys::STREAM, ", ")] {
        for key in mapping.keys {
            // What is absent unless it is written has no value that could be written.
            let Some(default) = key.default.filter(|default| *default != "absent") else { continue };
            let text = match at {
                ", " => stream(&format!(", {}: {default}", key.name)),
                _ => format!("{}{at}{}: {default}\n", stream(""), key.name),
            };
            assert_eq!(suite(&text, "x").unwrap(), plain, "{text}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[\\x00-\\x7f]{0,80}|(suite|cases|op|- |: |\\n|\\{|\\}|\\[|\\]|&a|\\*a|4KiB| ){0,40}") {
        let _ = suite(&text, "fuzz.yaml");
    }
}
