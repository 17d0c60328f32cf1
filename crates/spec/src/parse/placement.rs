//! `region`, `think`, `cpus` and `numa`: where a stream works, when it rests, and where it runs.

use super::{Map, bytes, list, share, span, whole, word};
use crate::keys::placement as keys;
use crate::keys::{BLOCK_UNIT, Limits};
use crate::region::{Extent, Part};
use crate::suite::StreamSpec;
use crate::topology::Numa;
use crate::workload::Think;
use crate::yaml::{Node, Value};
use std::collections::BTreeSet;
use stend_base::{Bytes, Millionths, Result, format, say};

/// A part of the range.
pub(super) fn region(node: &Node) -> Result<Option<Part>> {
    if is_word(node, "equal") {
        return Ok(None);
    }
    let mut map = Map::of(node, &keys::REGION)?;
    let start = map.optional("start", |node| extent(node, keys::START, keys::START_BYTES))?;
    let size = map.optional("size", |node| extent(node, keys::SIZE, keys::SIZE_BYTES))?;
    map.finish()?;
    let part = Part { start: start.unwrap_or(Extent::Share(Millionths(0))), size };
    if let (Extent::Share(start), Some(Extent::Share(size))) = (part.start, part.size)
        && u64::from(start.0) + u64::from(size.0) > u64::from(Millionths::ALL.0)
    {
        return Err(
            node.error(say!("`start` and `size` are more than 100 % together", "`start` и `size` вместе больше 100 %"))
        );
    }
    Ok(Some(part))
}

fn is_word(node: &Node, word: &str) -> bool {
    matches!(&node.value, Value::Text(text) if text == word)
}

fn extent(node: &Node, shares: Limits<Millionths>, sizes: Limits<Bytes>) -> Result<Extent> {
    if matches!(&node.value, Value::Text(text) if text.ends_with('%')) {
        return Ok(Extent::Share(share(node, shares)?));
    }
    let size = bytes(node)?;
    if sizes.hold(&size) && size.0.is_multiple_of(BLOCK_UNIT) {
        return Ok(Extent::Size(size));
    }
    let told = |lang| format::bytes(size, lang);
    let (en, ru) = (told(stend_base::Lang::En), told(stend_base::Lang::Ru));
    Err(node.error(say!(
        "{en} is no share such as `10%` and no multiple of 512 B that a region can have",
        "{ru} — не доля, например `10%`, и не кратный 512 Б размер, возможный для области"
    )))
}

/// Rests of a closed loop.
pub(super) fn think(node: &Node, open: bool) -> Result<Option<Think>> {
    if is_word(node, "none") {
        return Ok(None);
    }
    let mut map = Map::of(node, &keys::THINK)?;
    let time = map.required("time", |node| {
        let time = span(node)?;
        match keys::THINK_TIME.hold(&time) {
            true => Ok(time),
            false => Err(node.error(say!("a rest lasts 1 µs to 1 h", "пауза длится от 1 мкс до 1 ч"))),
        }
    })?;
    let every = map.optional("every", |node| whole(node, keys::THINK_EVERY))?.unwrap_or(1);
    map.finish()?;
    if open {
        return Err(node
            .error(say!(
                "`think` contradicts `rate`: in an open loop I/Os begin when they are due",
                "`think` противоречит `rate`: в разомкнутом цикле операции начинаются в срок"
            ))
            .hint(say!(
                "for bursts of an open loop use a `schedule` with `burst`",
                "для всплесков разомкнутого цикла служит `schedule` с `burst`"
            )));
    }
    Ok(Some(Think { time, every }))
}

/// CPUs in the order in which threads get them, none if the scheduler chooses.
pub(super) fn cpus(node: &Node) -> Result<Vec<u32>> {
    if is_word(node, "any") {
        return Ok(Vec::new());
    }
    let items = list(node)?;
    let cpus: Vec<u32> = items.iter().map(|item| whole(item, keys::NUMBER)).collect::<Result<_>>()?;
    let different = cpus.iter().collect::<BTreeSet<_>>().len();
    if !keys::CPUS.hold(&cpus.len()) || different < cpus.len() {
        return Err(node.error(say!("`cpus` names 1 to 1024 CPUs, each once", "в `cpus` от 1 до 1024 разных CPU")));
    }
    Ok(cpus)
}

/// NUMA nodes of threads that run on `cpus`.
pub(super) fn numa(node: &Node, cpus: &[u32]) -> Result<Option<Numa>> {
    let numa = match &node.value {
        Value::Text(_) => word(node, keys::NUMA_WORDS)?,
        _ => {
            let mut map = Map::of(node, &keys::NUMA)?;
            let number = |node: &Node| whole(node, keys::NUMBER);
            let (cpu, memory) = (map.optional("cpu", number)?, map.optional("memory", number)?);
            map.finish()?;
            if cpu.is_none() && memory.is_none() {
                return Err(
                    node.error(say!("`numa` has `cpu`, `memory` or both", "у `numa` есть `cpu`, `memory` или оба"))
                );
            }
            Some(Numa::Nodes { cpu, memory })
        }
    };
    let places_threads = !matches!(numa, None | Some(Numa::Nodes { cpu: None, .. }));
    if places_threads && !cpus.is_empty() {
        return Err(node.error(say!(
            "`numa` contradicts `cpus`: both say where threads run",
            "`numa` противоречит `cpus`: оба говорят, где работать потокам"
        )));
    }
    Ok(numa)
}

/// One matrix of nodes per case.
pub(super) fn one_matrix(streams: &[StreamSpec], case: &Node) -> Result<()> {
    if streams.iter().filter(|stream| stream.placement.numa == Some(Numa::Every)).count() < 2 {
        return Ok(());
    }
    Err(case
        .error(say!("`numa: every` is for one stream of a case", "`numa: every` бывает только у одного потока случая")))
}

/// Streams that run together have parts of their own either all or none: the others would have to lie somewhere.
pub(super) fn all_or_none(streams: &[StreamSpec], case: &Node) -> Result<()> {
    let named = streams.iter().filter(|stream| stream.region.is_some()).count();
    if named == 0 || named == streams.len() {
        return Ok(());
    }
    Err(case
        .error(say!(
            "some streams of the case have a `region` and some have none",
            "у одних потоков случая есть `region`, у других нет"
        ))
        .hint(say!(
            "give each a `region`, or none; they may overlap, and the report mentions that",
            "задайте `region` каждому или ни одному; области могут перекрываться, отчёт об этом скажет"
        )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::suite;
    use expect_test::expect;
    use stend_base::{Lang, Nanos};

    fn parse(more: &[&str]) -> Result<Vec<StreamSpec>> {
        let stream = |more: &&str| format!("      - {{op: read, block_size: 4KiB, pattern: random{more}}}\n");
        let streams: String = more.iter().map(stream).collect();
        let text = format!("suite: x\ncases:\n  - name: a\n    streams:\n{streams}");
        suite(&text, "suite.yaml").map(|mut suite| suite.cases.remove(0).streams)
    }

    fn one(more: &str) -> StreamSpec {
        parse(&[more]).unwrap().remove(0)
    }

    #[test]
    fn a_region_is_a_share_or_bytes_and_goes_to_the_end_unless_it_says() {
        let percent = |n| Extent::Share(Millionths::percent(n));
        let size = |bytes| Extent::Size(bytes);
        let region = |text: &str| one(&format!(", region: {text}")).region;
        assert_eq!(region("{start: 10%, size: 20%}"), Some(Part { start: percent(10), size: Some(percent(20)) }));
        assert_eq!(region("{start: 1GiB}"), Some(Part { start: size(Bytes::gib(1)), size: None }));
        assert_eq!(region("{size: 4MiB}"), Some(Part { start: percent(0), size: Some(size(Bytes::mib(4))) }));
        assert_eq!((region("equal"), one("").region), (None, None));
    }

    #[test]
    fn rests_are_for_closed_loops() {
        let think = |time, every| Some(Think { time, every });
        assert_eq!(one(", think: {time: 1ms, every: 8}").think, think(Nanos::millis(1), 8));
        assert_eq!(one(", think: {time: 50us}").think, think(Nanos(50_000), 1));
        assert_eq!((one(", think: none").think, one("").think), (None, None));
    }

    #[test]
    fn regions_and_rests_without_meaning_are_refused() {
        let refused = |more: &&str| parse(&[*more]).unwrap_err().render(Lang::En);
        let all = [
            ", region: {start: 90%, size: 20%}",
            ", region: {start: 100%}",
            ", region: {size: 0%}",
            ", region: {size: 1000B}",
            ", region: {size: 4096}",
            ", region: {begin: 10%}",
            ", region: all",
            ", think: {every: 8}",
            ", think: {time: 10ns}",
            ", think: {time: 1ms, every: 0}",
            ", rate: 100/s, think: {time: 1ms}",
        ];
        expect![[r#"
            error: suite.yaml:5:63: `start` and `size` are more than 100 % together
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:71: 100% is outside 0% to 99.9999%
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:70: 0% is outside 0.0001% to 100%
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:70: 1000 B is no share such as `10%` and no multiple of 512 B that a region can have
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:70: `4096` has no unit
            hint: write `4096B` or, for example, `4KiB`
            error: suite.yaml:5:64: region: unknown key `begin`
            hint: known keys: `start`, `size`
            error: suite.yaml:5:63: region: keys are expected, such as `start: …`, found text
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:62: think: the key `time` is missing
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:69: a rest lasts 1 µs to 1 h
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:81: 0 is outside 1 to 1000000
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:75: `think` contradicts `rate`: in an open loop I/Os begin when they are due
            hint: for bursts of an open loop use a `schedule` with `burst`"#]]
        .assert_eq(&all.iter().map(refused).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn threads_and_memory_are_placed_by_cpu_by_node_or_by_the_device() {
        let nodes = |cpu, memory| Some(Numa::Nodes { cpu, memory });
        let placed = |text: &str| {
            let placement = one(text).placement;
            (placement.cpus, placement.numa)
        };
        assert_eq!(placed(", cpus: [3, 2]"), (vec![3, 2], None), "in turn");
        assert_eq!(placed(", cpus: [2], numa: {memory: 1}"), (vec![2], nodes(None, Some(1))));
        assert_eq!(placed(", numa: {cpu: 0, memory: 1}"), (vec![], nodes(Some(0), Some(1))));
        assert_eq!(placed(", numa: local"), (vec![], Some(Numa::Local)));
        assert_eq!(placed(", numa: every"), (vec![], Some(Numa::Every)));
        let twice = parse(&[", numa: every", ", numa: every"]).unwrap_err().render(Lang::En);
        assert!(twice.contains("`numa: every` is for one stream"), "{twice}");
        assert_eq!((placed(", cpus: any, numa: any"), placed("")), ((vec![], None), (vec![], None)));
        let refused = |more: &&str| parse(&[*more]).unwrap_err().render(Lang::En);
        let all = [
            ", cpus: []",
            ", cpus: [1, 1]",
            ", cpus: [9000]",
            ", cpus: 0-3",
            ", numa: near",
            ", numa: {}",
            ", cpus: [1], numa: remote",
            ", cpus: [1], numa: {cpu: 0}",
        ];
        expect![[r#"
            error: suite.yaml:5:61: `cpus` names 1 to 1024 CPUs, each once
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:61: `cpus` names 1 to 1024 CPUs, each once
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:62: 9000 is outside 0 to 8191
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:61: expected a list, found text
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:61: `near` is not one of `any`, `local`, `remote`, `every`
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:61: `numa` has `cpu`, `memory` or both
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:72: `numa` contradicts `cpus`: both say where threads run
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from
            error: suite.yaml:5:72: `numa` contradicts `cpus`: both say where threads run
            hint: docs/formats/suite.md describes every key; `stend suites quick` prints a suite to copy from"#]]
        .assert_eq(&all.iter().map(refused).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn one_stream_with_a_region_and_one_without_is_refused() {
        assert_eq!(parse(&[", region: {size: 50%}", ", region: {start: 50%}"]).unwrap().len(), 2);
        expect![[r#"
            error: suite.yaml:3:5: some streams of the case have a `region` and some have none
            hint: give each a `region`, or none; they may overlap, and the report mentions that"#]]
        .assert_eq(&parse(&[", region: {size: 50%}", ""]).unwrap_err().render(Lang::En));
    }
}
