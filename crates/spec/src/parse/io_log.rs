//! `io_log`: whether every I/O is kept, and how much of that.

use super::{Map, bytes};
use crate::io_log::SIZES_MAX;
use crate::keys::io_log as keys;
use crate::suite::StreamSpec;
use crate::yaml::{Node, Value};
use stend_base::{Bytes, Result, say};

/// Size of the log of a trial; `None`: there is none.
pub(super) fn io_log(node: &Node) -> Result<Option<Bytes>> {
    if let Value::Text(word) = &node.value
        && word == "none"
    {
        return Ok(None);
    }
    let mut map = Map::of(node, &keys::IO_LOG)?;
    let size = map.required("size", |node| {
        let size = bytes(node)?;
        if !keys::SIZE.hold(&size) {
            return Err(node.error(say!(
                "the log of a trial has 1 MiB to 16 GiB",
                "журнал испытания занимает от 1 МиБ до 16 ГиБ"
            )));
        }
        Ok(size)
    })?;
    map.finish()?;
    Ok(Some(size))
}

/// Whether the I/Os of the streams of a case can be told by records of a log.
pub(super) fn fits(case: &Node, streams: &[StreamSpec]) -> Result<()> {
    if streams.iter().any(|stream| stream.trace.is_some()) {
        return Err(case
            .error(say!(
                "`io_log` contradicts `trace`: a record has no room for I/Os of any length",
                "`io_log` противоречит `trace`: запись журнала не вмещает операций любой длины"
            ))
            .hint(say!("leave out one of the two", "уберите одно из двух")));
    }
    let Some(sizes) = streams.iter().map(|stream| stream.block_mix.len()).find(|sizes| *sizes > SIZES_MAX) else {
        return Ok(());
    };
    Err(case.error(say!(
        "`io_log` contradicts `block_size`: a record tells {SIZES_MAX} sizes apart, and the mixture has {sizes}",
        "`io_log` противоречит `block_size`: запись журнала различает размеров: {SIZES_MAX}, а в смеси их {sizes}"
    )))
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use expect_test::expect;
    use stend_base::Bytes;

    /// The logs of two cases, of which the second has a key of its own.
    fn parsed(defaults: &str, own: &str) -> Result<[Option<Bytes>; 2], String> {
        let stream = "{op: read, pattern: random, block_size: 4KiB}";
        let text = format!(
            "suite: x\ndefaults: {{{defaults}}}\ncases:\n  - {{name: a, streams: [{stream}]}}\n  - {{name: b, {own}streams: [{stream}]}}\n"
        );
        suite(&text, "s.yaml").map(|s| [s.cases[0].io_log, s.cases[1].io_log]).map_err(|error| error.to_string())
    }

    fn refused(case: &str) -> String {
        let error = suite(&format!("suite: x\ncases:\n  - {{name: a, {case}}}\n"), "s.yaml").unwrap_err();
        error.render(stend_base::Lang::En)
    }

    #[test]
    fn a_case_may_have_a_log_of_its_own_or_none() {
        assert_eq!(parsed("", ""), Ok([None, None]));
        let size = |mib| Some(Bytes::mib(mib));
        assert_eq!(parsed("io_log: {size: 256MiB}", ""), Ok([size(256), size(256)]));
        assert_eq!(parsed("io_log: {size: 256MiB}", "io_log: none, "), Ok([size(256), None]));
        assert_eq!(parsed("", "io_log: {size: 1MiB}, "), Ok([None, size(1)]));
    }

    #[test]
    fn a_size_out_of_bounds_and_a_word_that_is_none_are_refused() {
        for value in ["{size: 1023KiB}", "{size: 17GiB}", "all", "{}", "{size: 1MiB, sise: 2}", "{size: 7}"] {
            assert!(parsed("", &format!("io_log: {value}, ")).is_err(), "{value}");
        }
    }

    #[test]
    fn what_a_record_cannot_tell_is_refused_by_key() {
        let log = "io_log: {size: 1MiB}";
        let shares: Vec<String> =
            (1..=17).map(|i| format!("{}KiB: {}", 4 * i, if i == 17 { 100 - 16 } else { 1 })).collect();
        let told = [
            refused(&format!("{log}, streams: [{{trace: {{file: t}}}}]")),
            refused(&format!("{log}, streams: [{{op: read, pattern: random, block_size: {{{}}}}}]", shares.join(", "))),
        ];
        expect![[r#"
            error: s.yaml:3:5: `io_log` contradicts `trace`: a record has no room for I/Os of any length
            hint: leave out one of the two
            error: s.yaml:3:5: `io_log` contradicts `block_size`: a record tells 16 sizes apart, and the mixture has 17
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]]
        .assert_eq(&told.join("\n"));
        let sixteen: Vec<String> =
            (1..=16).map(|i| format!("{}KiB: {}", 4 * i, if i == 16 { 100 - 15 } else { 1 })).collect();
        let fits = format!(
            "suite: x\ncases:\n  - {{name: a, {log}, streams: [{{op: read, pattern: random, block_size: {{{}}}}}]}}\n",
            sixteen.join(", ")
        );
        assert!(suite(&fits, "s.yaml").is_ok());
    }
}
