//! `data`: a word, or ratios.

use super::{Map, thousandths};
use crate::keys;
use crate::workload::{Data, Mix};
use crate::yaml::{Node, Value};
use stend_base::{Result, say};

/// What a stream of this mix writes.
pub(super) fn data(node: &Node, mix: Mix) -> Result<Data> {
    if let Value::Text(word) = &node.value
        && word == "incompressible"
    {
        return Ok(Data::default());
    }
    let mut map = Map::of(node, &keys::DATA)?;
    let ratio = |node: &Node| thousandths(node, keys::RATIO);
    let (compress, dedup) = (map.optional("compress", ratio)?, map.optional("dedup", ratio)?);
    map.finish()?;
    if compress.is_none() && dedup.is_none() {
        return Err(node.error(say!(
            "`data` is `incompressible`, or has `compress`, `dedup` or both",
            "`data` — это `incompressible` либо `compress`, `dedup` или оба"
        )));
    }
    if mix.write == 0 {
        return Err(node.error(say!(
            "`data` needs writes in `op`: nothing else brings data",
            "для `data` в `op` нужны записи: данные несут только они"
        )));
    }
    let one = Data::default();
    Ok(Data {
        compress_thousandths: compress.unwrap_or(one.compress_thousandths),
        dedup_thousandths: dedup.unwrap_or(one.dedup_thousandths),
    })
}

#[cfg(test)]
mod tests {
    use crate::parse::suite;
    use crate::workload::Data;
    use expect_test::expect;
    use stend_base::{Lang, Result};

    fn parse(op: &str, data: &str) -> Result<Data> {
        let stream = format!("{{op: {op}, block_size: 4KiB, pattern: random, data: {data}}}");
        let text = format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {stream}\n");
        suite(&text, "suite.yaml").map(|mut suite| suite.cases.remove(0).streams.remove(0).data)
    }

    #[test]
    fn ratios_are_reached_from_a_suite_and_what_is_not_asked_for_is_one() {
        let data = |compress_thousandths, dedup_thousandths| Data { compress_thousandths, dedup_thousandths };
        assert_eq!(parse("write", "{compress: 2.0, dedup: 1.5}").unwrap(), data(2000, 1500));
        assert_eq!(parse("{read: 70, write: 30}", "{compress: 2}").unwrap(), data(2000, 1000));
        assert_eq!(parse("write", "incompressible").unwrap(), Data::default());
    }

    #[test]
    fn ratios_below_one_and_data_that_nobody_writes_are_refused() {
        let refused = |(op, data)| parse(op, data).unwrap_err().render(Lang::En);
        let all = [
            ("write", "{compress: 0.5}"),
            ("write", "{dedup: 101}"),
            ("write", "{}"),
            ("write", "zeros"),
            ("read", "{dedup: 2}"),
        ];
        expect![[r#"
            error: suite.yaml:5:73: 0.5 is not a number from 1 to 100 with at most three decimals
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:70: 101 is not a number from 1 to 100 with at most three decimals
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:62: `data` is `incompressible`, or has `compress`, `dedup` or both
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:62: data: keys are expected, such as `compress: …`, found text
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:61: `data` needs writes in `op`: nothing else brings data
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]]
        .assert_eq(&all.map(refused).join("\n"));
    }
}
