//! `op` and `sync`: what I/Os do, and when what was written is durable.

use super::{Map, nearest, whole, word};
use crate::keys::operation::{self as keys, MIX, OPERATIONS, SYNC};
use crate::workload::{Mix, Sync};
use crate::yaml::{Node, Value};
use stend_base::{Result, say};

/// One kind of I/O, or shares of several.
pub(super) fn mix(node: &Node) -> Result<Mix> {
    match &node.value {
        Value::Text(text) if OPERATIONS.iter().any(|(word, ..)| word == text) => word(node, OPERATIONS),
        Value::Map(_) => shares(node),
        Value::Text(text) => {
            let error = node.error(say!(
                "`{text}` is not an `op`; use `read`, `write`, `discard`, `write_zeroes` or a mix such as `{{read: 70, write: 30}}`",
                "`{text}` — не `op`; возможны `read`, `write`, `discard`, `write_zeroes` или смесь вроде `{{read: 70, write: 30}}`"
            ));
            Err(match nearest(text, OPERATIONS.iter().map(|(word, ..)| *word)) {
                Some(near) => error.hint(say!("did you mean `{near}`?", "возможно, `{near}`?")),
                None => error,
            })
        }
        _ => Err(node.error(say!(
            "`op` is `read`, `write`, `discard`, `write_zeroes` or a mix such as `{{read: 70, write: 30}}`",
            "`op` — это `read`, `write`, `discard`, `write_zeroes` или смесь, например `{{read: 70, write: 30}}`"
        ))),
    }
}

fn shares(node: &Node) -> Result<Mix> {
    let mut map = Map::of(node, &MIX)?;
    let percent = |node: &Node| whole(node, keys::PERCENT);
    let mut share = |name: &'static str| -> Result<u32> { Ok(map.optional(name, percent)?.unwrap_or(0)) };
    let (read, write) = (share("read")?, share("write")?);
    let (discard, write_zeroes) = (share("discard")?, share("write_zeroes")?);
    map.finish()?;
    let sum = read + write + discard + write_zeroes;
    if sum != 100 {
        return Err(node.error(say!(
            "the shares of `op` are percent and add up to {sum}, not to 100",
            "доли в `op` указаны в процентах и дают в сумме {sum}, а не 100"
        )));
    }
    Ok(Mix { read: read as u8, write: write as u8, discard: discard as u8, write_zeroes: write_zeroes as u8 })
}

/// When what a stream of this mix writes must be durable.
pub(super) fn sync(node: &Node, mix: Mix) -> Result<Sync> {
    let sync = match &node.value {
        Value::Text(_) => word(node, keys::SYNC_WORDS)?,
        _ => after_writes(node)?,
    };
    if sync != Sync::None && mix.write == 0 {
        return Err(node.error(say!(
            "`sync` needs writes in `op`: it follows them, and nothing else leaves data to sync",
            "для `sync` в `op` нужны записи: синхронизация следует за ними, остальным синхронизировать нечего"
        )));
    }
    Ok(sync)
}

/// A call after every so many writes.
fn after_writes(node: &Node) -> Result<Sync> {
    let mut map = Map::of(node, &SYNC)?;
    let every = |node: &Node| whole(node, keys::SYNC_EVERY);
    let (data, full) = (map.optional("fdatasync", every)?, map.optional("fsync", every)?);
    let range = map.optional("sync_file_range", every)?;
    map.finish()?;
    match (data, full, range) {
        (Some(n), None, None) => Ok(Sync::Fdatasync(n)),
        (None, Some(n), None) => Ok(Sync::Fsync(n)),
        (None, None, Some(n)) => Ok(Sync::SyncFileRange(n)),
        _ => Err(node.error(say!(
            "`sync` is a word, or one of `{{fdatasync: N}}`, `{{fsync: N}}` and `{{sync_file_range: N}}` with N writes per call",
            "`sync` — это слово или одно из `{{fdatasync: N}}`, `{{fsync: N}}`, `{{sync_file_range: N}}`, где N — число записей на один вызов"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::workload::{Mix, Sync};
    use expect_test::expect;
    use stend_base::{Lang, Result};

    fn parse(op: &str, more: &str) -> Result<Mix> {
        let stream = format!("{{op: {op}, block_size: 4KiB, pattern: random{more}}}");
        let text = format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {stream}\n");
        suite(&text, "suite.yaml").map(|mut suite| suite.cases.remove(0).streams.remove(0).mix)
    }

    fn shares(read: u8, write: u8, discard: u8, write_zeroes: u8) -> Mix {
        Mix { read, write, discard, write_zeroes }
    }

    #[test]
    fn an_operation_is_one_kind_or_shares_that_add_up() {
        assert_eq!(parse("read", "").unwrap(), shares(100, 0, 0, 0));
        assert_eq!(parse("discard", "").unwrap(), shares(0, 0, 100, 0));
        assert_eq!(parse("write_zeroes", "").unwrap(), shares(0, 0, 0, 100));
        assert_eq!(parse("{read: 60, write: 35, discard: 5}", "").unwrap(), shares(60, 35, 5, 0));
        assert_eq!(parse("{discard: 50, write_zeroes: 50}", "").unwrap(), shares(0, 0, 50, 50));
    }

    #[test]
    fn everything_but_a_read_changes_the_target() {
        for (mix, reads, writes, erases) in [
            (shares(100, 0, 0, 0), true, false, false),
            (shares(99, 0, 1, 0), true, true, true),
            (shares(0, 100, 0, 0), false, true, false),
            (shares(0, 0, 0, 100), false, true, true),
        ] {
            assert_eq!((mix.reads(), mix.writes(), mix.erases()), (reads, writes, erases), "{mix:?}");
            assert_eq!(mix.shares().map(|(_, share)| u32::from(share)).sum::<u32>(), 100);
        }
    }

    #[test]
    fn durability_is_a_word_or_a_call_after_so_many_writes() {
        let parse = |sync: &str| {
            let stream = format!("{{op: write, block_size: 4KiB, pattern: random, sync: {sync}}}");
            let text = format!("suite: x\ncases:\n  - name: a\n    direct: false\n    streams:\n      - {stream}\n");
            suite(&text, "suite.yaml").map(|mut suite| suite.cases.remove(0).streams.remove(0).sync)
        };
        let good = ["none", "dsync", "o_dsync", "{fdatasync: 1}", "{fsync: 8}", "{sync_file_range: 32}"];
        let found = good.map(|sync| parse(sync).unwrap());
        let all = [Sync::None, Sync::Dsync, Sync::ODsync, Sync::Fdatasync(1), Sync::Fsync(8), Sync::SyncFileRange(32)];
        assert_eq!(found, all);
        assert_eq!(all.map(Sync::every), [0, 0, 0, 1, 8, 32]);
        assert_eq!(all.map(Sync::is_durable), [false, true, true, true, true, false]);
        let refused = |sync| parse(sync).unwrap_err().render(Lang::En);
        expect![[r#"
            error: suite.yaml:6:62: `rwf_dsync` is not one of `none`, `dsync`, `o_dsync`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:6:62: `sync` is a word, or one of `{fdatasync: N}`, `{fsync: N}` and `{sync_file_range: N}` with N writes per call
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:6:80: 0 is outside 1 to 1000000
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:6:62: sync: keys are expected, such as `fdatasync: …`, found a number
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]]
        .assert_eq(&["rwf_dsync", "{fsync: 1, fdatasync: 1}", "{sync_file_range: 0}", "1"].map(refused).join("\n"));
    }

    #[test]
    fn a_range_is_synced_only_out_of_the_page_cache_and_by_plain_calls() {
        let parse = |case: &str| {
            let stream = "{op: write, block_size: 4KiB, pattern: random, sync: {sync_file_range: 4}}";
            let text = format!("suite: x\ncases:\n  - name: a\n    {case}\n    streams: [{stream}]\n");
            suite(&text, "suite.yaml").map(|_| ())
        };
        assert_eq!(parse("direct: false").unwrap(), ());
        let refused = |case| parse(case).unwrap_err().render(Lang::En);
        expect![[r#"
            error: suite.yaml:3:5: `sync_file_range` contradicts `direct: true`: direct writes leave nothing in the page cache
            hint: use `direct: false`, or `sync: dsync` for durable direct writes
            error: suite.yaml:3:5: `backend: io_uring` contradicts `sync_file_range`: io_uring would hand each to a kernel worker thread, at most 4 GiB
            hint: use `backend: auto` or `backend: psync`"#]]
        .assert_eq(&["direct: true", "direct: false\n    backend: io_uring"].map(refused).join("\n"));
    }

    #[test]
    fn shares_that_do_not_add_up_and_what_needs_writes_are_refused() {
        let refused = |(op, more)| parse(op, more).unwrap_err().render(Lang::En);
        let all = [
            ("trim", ""),
            ("{read: 60, discard: 50}", ""),
            ("{}", ""),
            ("{read: 60, trim: 40}", ""),
            ("{discard: 101}", ""),
            ("discard", ", sync: {fsync: 1}"),
            ("{read: 50, write_zeroes: 50}", ", data: {compress: 2}"),
        ];
        expect![[r#"
            error: suite.yaml:5:14: `trim` is not an `op`; use `read`, `write`, `discard`, `write_zeroes` or a mix such as `{read: 70, write: 30}`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:14: the shares of `op` are percent and add up to 110, not to 100
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:14: the shares of `op` are percent and add up to 0, not to 100
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:25: op: unknown key `trim`
            hint: known keys: `read`, `write`, `discard`, `write_zeroes`
            error: suite.yaml:5:24: 101 is outside 0 to 100
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:64: `sync` needs writes in `op`: it follows them, and nothing else leaves data to sync
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:85: `data` needs writes in `op`: nothing else brings data
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]]
        .assert_eq(&all.map(refused).join("\n"));
    }
}
