//! `pattern`: a word, or a mapping with exactly one key.

use super::{Map, bytes, list, share, thousandths, word};
use crate::keys::pattern as keys;
use crate::pattern::{self, Pattern, Zone};
use crate::yaml::{Node, Value};
use stend_base::{Bytes, Millionths, Result, say};

/// A pattern for blocks of these sizes.
pub(super) fn pattern(node: &Node, block_sizes: &[Bytes]) -> Result<Pattern> {
    let Value::Map(_) = node.value else { return word(node, keys::PATTERNS) };
    let mut map = Map::of(node, &keys::PATTERN)?;
    let found = [
        map.optional("zipf", zipf)?,
        map.optional("pareto", pareto)?,
        map.optional("normal", normal)?,
        map.optional("zones", zones)?,
        map.optional("strided", |node| strided(node, block_sizes))?,
        map.optional("sequential", |node| Ok(Pattern::Mixed { sequential: share(node, pattern::SEQUENTIAL)? }))?,
    ];
    map.finish()?;
    let mut found = found.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(pattern), None) => Ok(pattern),
        _ => Err(node
            .error(say!(
                "`pattern` is a word or a mapping with exactly one key",
                "`pattern` — это слово или отображение ровно с одним ключом"
            ))
            .hint(say!("for example `{{zipf: {{theta: 1.2}}}}`", "например, `{{zipf: {{theta: 1.2}}}}`"))),
    }
}

fn zipf(node: &Node) -> Result<Pattern> {
    let mut map = Map::of(node, &keys::ZIPF)?;
    let theta_thousandths = map.required("theta", |node| thousandths(node, pattern::THETA))?;
    map.finish()?;
    Ok(Pattern::Zipf { theta_thousandths })
}

fn pareto(node: &Node) -> Result<Pattern> {
    let mut map = Map::of(node, &keys::PARETO)?;
    let hot = map.required("hot", |node| share(node, pattern::HOT))?;
    map.finish()?;
    Ok(Pattern::Pareto { hot })
}

fn normal(node: &Node) -> Result<Pattern> {
    let mut map = Map::of(node, &keys::NORMAL)?;
    let deviation = map.required("deviation", |node| share(node, pattern::DEVIATION))?;
    map.finish()?;
    Ok(Pattern::Normal { deviation })
}

fn zones(node: &Node) -> Result<Pattern> {
    let zones: Vec<Zone> = list(node)?.iter().map(zone).collect::<Result<_>>()?;
    if !pattern::ZONES.hold(&zones.len()) {
        return Err(node.error(say!("a region has 2 to 64 zones", "в области от 2 до 64 зон")));
    }
    for (key, of) in [("space", (|z| z.space) as fn(&Zone) -> Millionths), ("accesses", |z| z.accesses)] {
        let sum: u64 = zones.iter().map(|zone| u64::from(of(zone).0)).sum();
        if sum != u64::from(Millionths::ALL.0) {
            let percent = sum as f64 / 1e4;
            return Err(node.error(say!(
                "the shares `{key}` of all zones add up to {percent} %, not to 100 %",
                "доли `{key}` всех зон дают в сумме {percent} %, а не 100 %"
            )));
        }
    }
    Ok(Pattern::Zones(zones))
}

fn zone(node: &Node) -> Result<Zone> {
    let mut map = Map::of(node, &keys::ZONE)?;
    let part = |node: &Node| share(node, keys::ZONE_SHARE);
    let zone = Zone { space: map.required("space", part)?, accesses: map.required("accesses", part)? };
    map.finish()?;
    if zone.space.0 == 0 && zone.accesses.0 > 0 {
        return Err(
            node.error(say!("a zone without space cannot have accesses", "у зоны без места не может быть обращений"))
        );
    }
    Ok(zone)
}

fn strided(node: &Node, block_sizes: &[Bytes]) -> Result<Pattern> {
    let mut map = Map::of(node, &keys::STRIDED)?;
    let stride = map.required("stride", |node| {
        let stride = bytes(node)?;
        let fits = |block: &Bytes| stride.0 >= 2 * block.0 && stride.0.is_multiple_of(block.0);
        if keys::STRIDE.hold(&stride) && block_sizes.iter().all(fits) {
            return Ok(stride);
        }
        Err(node.error(say!(
            "a stride is a multiple of every block size of its stream, at least twice as much and at most 1 TiB",
            "шаг кратен каждому размеру блока потока, не меньше двух блоков и не больше 1 ТиБ"
        )))
    })?;
    map.finish()?;
    Ok(Pattern::Strided { stride })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::suite;
    use expect_test::{Expect, expect};
    use stend_base::Lang;

    fn parse(pattern: &str) -> Result<Pattern> {
        let op = if pattern == "append" { "write" } else { "read" };
        let stream = format!("{{op: {op}, block_size: [4KiB, 8KiB], pattern: {pattern}}}");
        let text = format!("suite: x\ncases:\n  - name: a\n    streams:\n      - {stream}\n");
        suite(&text, "suite.yaml").map(|mut suite| suite.cases.remove(0).streams.remove(0).pattern)
    }

    fn refused(pattern: &str, expected: Expect) {
        expected.assert_eq(&parse(pattern).unwrap_err().render(Lang::En));
    }

    #[test]
    fn every_pattern_is_reached_from_a_suite() {
        let percent = Millionths::percent;
        let zone = |space, accesses| Zone { space: percent(space), accesses: percent(accesses) };
        for (text, pattern) in [
            ("sequential", Pattern::Sequential),
            ("shared_sequential", Pattern::SharedSequential),
            ("append", Pattern::Append),
            ("reverse", Pattern::Reverse),
            ("random", Pattern::Random),
            ("uniform", Pattern::Uniform),
            ("{zipf: {theta: 1.2}}", Pattern::Zipf { theta_thousandths: 1200 }),
            ("{zipf: {theta: 1}}", Pattern::Zipf { theta_thousandths: 1000 }),
            ("{pareto: {hot: 20%}}", Pattern::Pareto { hot: percent(20) }),
            ("{normal: {deviation: 12.5 %}}", Pattern::Normal { deviation: Millionths(125_000) }),
            (
                "{zones: [{space: 10%, accesses: 90%}, {space: 90%, accesses: 10%}]}",
                Pattern::Zones(vec![zone(10, 90), zone(90, 10)]),
            ),
            ("{strided: {stride: 1MiB}}", Pattern::Strided { stride: Bytes::mib(1) }),
            ("{sequential: 60%}", Pattern::Mixed { sequential: percent(60) }),
        ] {
            assert_eq!(parse(text).unwrap(), pattern, "{text}");
        }
    }

    #[test]
    fn one_pattern_is_asked_for_and_its_settings_have_limits() {
        refused(
            "zipf",
            expect![[r#"
                error: suite.yaml:5:55: `zipf` is not one of `sequential`, `shared_sequential`, `append`, `reverse`, `random`, `uniform`
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{zipf: {theta: 1.2}, pareto: {hot: 20%}}",
            expect![[r#"
            error: suite.yaml:5:55: `pattern` is a word or a mapping with exactly one key
            hint: for example `{zipf: {theta: 1.2}}`"#]],
        );
        refused(
            "{}",
            expect![[r#"
            error: suite.yaml:5:55: `pattern` is a word or a mapping with exactly one key
            hint: for example `{zipf: {theta: 1.2}}`"#]],
        );
        refused(
            "{zipf: {theta: 0}}",
            expect![[r#"
                error: suite.yaml:5:70: 0 is not a number from 0.001 to 10 with at most three decimals
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{zipf: {theta: 1.0005}}",
            expect![[r#"
                error: suite.yaml:5:70: 1.0005 is not a number from 0.001 to 10 with at most three decimals
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{zipf: {theta: .nan}}",
            expect![[r#"
                error: suite.yaml:5:70: non-finite float `.nan` rejected by the configured policy
                hint: look at indentation, quotes and brackets in front of this place"#]],
        );
        refused(
            "{pareto: {hot: 60%}}",
            expect![[r#"
            error: suite.yaml:5:70: 60% is outside 0.0001% to 50%
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{pareto: {hot: 0.2}}",
            expect![[r#"
                error: suite.yaml:5:70: expected a share such as `20%`, found a number
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{normal: {deviation: 101%}}",
            expect![[r#"
            error: suite.yaml:5:76: not a share: `101` is more than 100 %
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{sequential: 100%}",
            expect![[r#"
            error: suite.yaml:5:68: 100% is outside 0.0001% to 99.9999%
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{strided: {stride: 12KiB}}",
            expect![[r#"
                error: suite.yaml:5:74: a stride is a multiple of every block size of its stream, at least twice as much and at most 1 TiB
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{strided: {stride: 8KiB}}",
            expect![[r#"
                error: suite.yaml:5:74: a stride is a multiple of every block size of its stream, at least twice as much and at most 1 TiB
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
    }

    #[test]
    fn zones_cover_everything_and_no_access_goes_nowhere() {
        refused(
            "{zones: [{space: 100%, accesses: 100%}]}",
            expect![[r#"
                error: suite.yaml:5:63: a region has 2 to 64 zones
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{zones: [{space: 10%, accesses: 90%}, {space: 80%, accesses: 10%}]}",
            expect![[r#"
                error: suite.yaml:5:63: the shares `space` of all zones add up to 90 %, not to 100 %
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{zones: [{space: 10%, accesses: 90%}, {space: 90%, accesses: 20%}]}",
            expect![[r#"
                error: suite.yaml:5:63: the shares `accesses` of all zones add up to 110 %, not to 100 %
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
        refused(
            "{zones: [{space: 0%, accesses: 50%}, {space: 100%, accesses: 50%}]}",
            expect![[r#"
                error: suite.yaml:5:64: a zone without space cannot have accesses
                hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]],
        );
    }
}
