//! `calibrate`, `ceilings` and `confirm`: what is measured and stated of the storage, and tests of cause.

use super::frequency::frequency;
use super::{Map, axis, bytes, name, text, whole, word};
use crate::calibration::Calibrate;
use crate::ceilings::{Ceilings, DriveRates, Layout};
use crate::confirm::Test;
use crate::keys::Limits;
use crate::keys::ceilings as keys;
use crate::yaml::Node;
use stend_base::units::parse_throughput;
use stend_base::{Bytes, Result, Say, say};

/// What a suite has measured first.
pub(super) fn calibrate(node: &Node) -> Result<Calibrate> {
    word(node, crate::keys::calibrate::CHOICES)
}

/// Tests of cause, each once.
pub(super) fn confirm(node: &Node) -> Result<Vec<Test>> {
    axis(node, |node| word(node, crate::keys::confirm::TESTS))
}

/// What a suite states.
pub(super) fn ceilings(node: &Node) -> Result<Ceilings> {
    let mut map = Map::of(node, &keys::CEILINGS)?;
    let found = Ceilings {
        layout: map.optional("layout", layout)?,
        drive: map.optional("drive", drive)?.unwrap_or_default(),
        network: map.optional("network", throughput)?,
        source: map.optional("source", name)?,
    };
    map.finish()?;
    let numbers = found.drive.is_any() || found.network.is_some();
    let message = match (numbers, &found.source, found.layout) {
        (true, None, _) => say!(
            "`ceilings` states numbers without `source`, where they come from",
            "в `ceilings` есть числа, но нет `source` — откуда они"
        ),
        (false, Some(_), _) => say!(
            "`source` needs `drive` or `network`: there is nothing that it would be the source of",
            "`source` требует `drive` или `network`: без них у него нет чисел"
        ),
        (false, None, None) => say!("`ceilings` states nothing", "в `ceilings` ничего не указано"),
        _ => return Ok(found),
    };
    Err(node.error(message).hint(say!(
        "for example `ceilings: {{drive: {{random_write: 90000/s}}, source: data sheet, page 3}}`",
        "например `ceilings: {{drive: {{random_write: 90000/s}}, source: паспорт, с. 3}}`"
    )))
}

fn drive(node: &Node) -> Result<DriveRates> {
    let mut map = Map::of(node, &keys::DRIVE)?;
    let per_second = |node: &Node| frequency(node, crate::keys::rate::RATE);
    let found = DriveRates {
        random_read: map.optional("random_read", per_second)?,
        random_write: map.optional("random_write", per_second)?,
        sequential_read: map.optional("sequential_read", throughput)?,
        sequential_write: map.optional("sequential_write", throughput)?,
    };
    map.finish()?;
    if !found.is_any() {
        return Err(node.error(say!("`drive` states nothing", "в `drive` ничего не указано")));
    }
    Ok(found)
}

fn throughput(node: &Node) -> Result<Bytes> {
    let text = text(node)?;
    let found = parse_throughput(&text)
        .map_err(|Say { en, ru }| node.error(say!("not a throughput: {en}", "не пропускная способность: {ru}")))?;
    if !keys::THROUGHPUT.hold(&found) {
        return Err(node.error(say!("{text} is outside 1 MB/s to 10 TB/s", "{text} вне пределов от 1 МБ/с до 10 ТБ/с")));
    }
    Ok(found)
}

fn layout(node: &Node) -> Result<Layout> {
    let mut map = Map::of(node, &keys::LAYOUT)?;
    let all = [
        map.optional("stripe", stripe)?,
        map.optional("mirror", |node| Ok(Layout::Mirror { drives: only_drives(node, 2)? }))?,
        map.optional("raid10", raid10)?,
        map.optional("raid5", |node| {
            let (drives, chunk) = parity(node, 3)?;
            Ok(Layout::Raid5 { drives, chunk })
        })?,
        map.optional("raid6", |node| {
            let (drives, chunk) = parity(node, 4)?;
            Ok(Layout::Raid6 { drives, chunk })
        })?,
        map.optional("replication", replication)?,
        map.optional("erasure", erasure)?,
        map.optional("copy_on_write", |node| Ok(Layout::CopyOnWrite { drives: only_drives(node, 1)? }))?,
    ];
    map.finish()?;
    let mut named = all.into_iter().flatten();
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(node
            .error(say!("`layout` names exactly one layout", "в `layout` указывается ровно одна схема"))
            .hint(say!(
                "for example `layout: {{raid5: {{drives: 6, chunk: 512KiB}}}}`",
                "например `layout: {{raid5: {{drives: 6, chunk: 512KiB}}}}`"
            ))),
    }
}

fn stripe(node: &Node) -> Result<Layout> {
    let mut map = Map::of(node, &keys::STRIPE)?;
    let found = Layout::Stripe { drives: drives(&mut map, 2)?, chunk: map.optional("chunk", chunk)? };
    map.finish()?;
    Ok(found)
}

fn only_drives(node: &Node, least: u32) -> Result<u32> {
    let mut map = Map::of(node, &keys::OF_DRIVES)?;
    let found = drives(&mut map, least)?;
    map.finish()?;
    Ok(found)
}

fn raid10(node: &Node) -> Result<Layout> {
    let mut map = Map::of(node, &keys::RAID10)?;
    let copies = map.optional("copies", |n| whole(n, keys::COPIES))?.unwrap_or(keys::COPIES_DEFAULT);
    let found = Layout::Raid10 { drives: drives(&mut map, copies)?, copies, chunk: map.optional("chunk", chunk)? };
    map.finish()?;
    Ok(found)
}

fn parity(node: &Node, least: u32) -> Result<(u32, Bytes)> {
    let mut map = Map::of(node, &keys::PARITY)?;
    let found = (drives(&mut map, least)?, map.required("chunk", chunk)?);
    map.finish()?;
    Ok(found)
}

fn replication(node: &Node) -> Result<Layout> {
    let mut map = Map::of(node, &keys::REPLICATION)?;
    let copies = map.required("copies", |n| whole(n, keys::COPIES))?;
    let drives = drives(&mut map, copies)?;
    let most = Limits { most: copies, ..keys::SENT };
    let sent = map.optional("sent", |n| whole(n, most))?.unwrap_or(keys::SENT_DEFAULT);
    map.finish()?;
    Ok(Layout::Replication { copies, drives, sent })
}

fn erasure(node: &Node) -> Result<Layout> {
    let mut map = Map::of(node, &keys::ERASURE)?;
    let blocks = |map: &mut Map, key| map.required(key, |n| whole(n, keys::BLOCKS));
    let (data, parity) = (blocks(&mut map, "data")?, blocks(&mut map, "parity")?);
    let found = Layout::Erasure {
        data,
        parity,
        drives: drives(&mut map, data + parity)?,
        chunk: map.required("chunk", chunk)?,
    };
    map.finish()?;
    Ok(found)
}

/// Drives, at least as many as the layout cannot do without.
fn drives(map: &mut Map, least: u32) -> Result<u32> {
    map.required("drives", |node| whole(node, Limits { least, ..keys::DRIVES }))
}

fn chunk(node: &Node) -> Result<Bytes> {
    let size = bytes(node)?;
    if keys::CHUNK.hold(&size) && size.0.is_multiple_of(keys::CHUNK_UNIT) {
        return Ok(size);
    }
    Err(node.error(say!("a chunk is 4 KiB to 64 MiB, a multiple of 4 KiB", "чанк — от 4 КиБ до 64 МиБ, кратно 4 КиБ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::suite;
    use stend_base::MilliIops;

    fn parsed(ceilings: &str) -> Result<Ceilings> {
        let case = "{name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}";
        let found = suite(&format!("suite: x\nceilings: {ceilings}\ncases: [{case}]\n"), "s.yaml")?;
        Ok(found.ceilings.unwrap())
    }

    fn layout(text: &str) -> Layout {
        parsed(&format!("{{layout: {{{text}}}}}")).unwrap().layout.unwrap()
    }

    #[test]
    fn what_one_drive_and_the_network_give_is_stated_with_its_source() {
        let found =
            parsed("{drive: {random_write: 90000/s, sequential_write: 2GB/s}, network: 25Gbit/s, source: data sheet}")
                .unwrap();
        let drive = DriveRates {
            random_write: Some(MilliIops::per_second(90_000)),
            sequential_write: Some(Bytes(2_000_000_000)),
            ..DriveRates::default()
        };
        let network = Some(Bytes(3_125_000_000));
        assert_eq!(found, Ceilings { layout: None, drive, network, source: Some("data sheet".into()) });
    }

    #[test]
    fn every_layout_is_known() {
        let chunk = Bytes::kib(64);
        for (text, expected) in [
            ("stripe: {drives: 4}", Layout::Stripe { drives: 4, chunk: None }),
            ("stripe: {drives: 4, chunk: 64KiB}", Layout::Stripe { drives: 4, chunk: Some(chunk) }),
            ("mirror: {drives: 2}", Layout::Mirror { drives: 2 }),
            ("raid10: {drives: 6}", Layout::Raid10 { drives: 6, copies: 2, chunk: None }),
            ("raid10: {drives: 6, copies: 3}", Layout::Raid10 { drives: 6, copies: 3, chunk: None }),
            ("raid5: {drives: 3, chunk: 64KiB}", Layout::Raid5 { drives: 3, chunk }),
            ("raid6: {drives: 4, chunk: 64KiB}", Layout::Raid6 { drives: 4, chunk }),
            ("replication: {copies: 3, drives: 12}", Layout::Replication { copies: 3, drives: 12, sent: 1 }),
            ("replication: {copies: 2, drives: 2, sent: 0}", Layout::Replication { copies: 2, drives: 2, sent: 0 }),
            (
                "erasure: {data: 3, parity: 2, drives: 5, chunk: 64KiB}",
                Layout::Erasure { data: 3, parity: 2, drives: 5, chunk },
            ),
            ("copy_on_write: {drives: 1}", Layout::CopyOnWrite { drives: 1 }),
        ] {
            assert_eq!(layout(text), expected);
            assert!(expected.drives() > 0);
        }
    }

    #[test]
    fn tests_of_cause_are_named_each_once() {
        let parsed = |confirm: &str| {
            let case = "{name: a, streams: [{op: read, pattern: random, block_size: 4KiB}]}";
            suite(&format!("suite: x\nconfirm: {confirm}\ncases: [{case}]\n"), "s.yaml")
        };
        assert_eq!(parsed("[threads, depth]").unwrap().confirm, [Test::Threads, Test::Depth]);
        assert_eq!(parsed("node").unwrap().confirm, [Test::Node]);
        for (text, told) in
            [("[depth, depth]", "s.yaml:2:18: "), ("[]", "s.yaml:2:10: "), ("cause", "`cause` is not one of `depth`")]
        {
            let error = parsed(text).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_is_an_error_with_its_place() {
        for (text, told) in [
            ("{}", "s.yaml:2:11: `ceilings` states nothing"),
            ("{drive: {}, source: x}", "s.yaml:2:19: `drive` states nothing"),
            ("{drive: {random_write: 1000/s}}", "without `source`"),
            ("{network: 10Gbit/s}", "without `source`"),
            ("{source: x}", "`source` needs `drive` or `network`"),
            ("{drive: {random_write: 1000}, source: x}", "`1000` has no unit"),
            ("{drive: {sequential_write: 2GB}, source: x}", "s.yaml:2:38: not a throughput"),
            ("{network: 1B/s, source: x}", "1B/s is outside 1 MB/s to 10 TB/s"),
            ("{layout: {}}", "names exactly one layout"),
            ("{layout: {mirror: {drives: 2}, stripe: {drives: 2}}}", "names exactly one layout"),
            ("{layout: {raid7: {drives: 2}}}", "layout: unknown key `raid7`"),
            ("{layout: {raid5: {drives: 2, chunk: 64KiB}}}", "2 is outside 3 to 10000"),
            ("{layout: {raid6: {drives: 3, chunk: 64KiB}}}", "3 is outside 4 to 10000"),
            ("{layout: {raid5: {drives: 4}}}", "the key `chunk` is missing"),
            ("{layout: {raid5: {drives: 4, chunk: 5KiB}}}", "a chunk is 4 KiB to 64 MiB"),
            ("{layout: {raid10: {drives: 3, copies: 4}}}", "3 is outside 4 to 10000"),
            ("{layout: {replication: {copies: 3, drives: 2}}}", "2 is outside 3 to 10000"),
            ("{layout: {replication: {copies: 3, drives: 9, sent: 4}}}", "4 is outside 0 to 3"),
            ("{layout: {erasure: {data: 4, parity: 2, drives: 5, chunk: 4KiB}}}", "5 is outside 6 to 10000"),
        ] {
            let error = parsed(text).unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("s.yaml:2:"), "{error}");
        }
    }
}
