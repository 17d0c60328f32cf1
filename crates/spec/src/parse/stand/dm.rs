//! A mapping: exactly one, with its settings.

use super::super::{Map, span, whole, word};
use super::values::{contradiction, power_of_two, whole_mib};
use crate::keys::stand::dm as keys;
use crate::stand::{Dm, Kind};
use crate::yaml::Node;
use stend_base::{Nanos, Result, say};

pub(super) fn dm(node: &Node) -> Result<Kind> {
    let mut map = Map::of(node, &keys::DM)?;
    let linear = map.optional("linear", |node| word(node, &[("whole", "", Dm::Linear)]))?;
    let delay = map.optional("delay", |node| {
        let mut map = Map::of(node, &keys::DELAY)?;
        let wait = |node: &Node| in_whole(node, Nanos::millis(1));
        let read = map.optional("read", wait)?.unwrap_or(Nanos(0));
        let write = map.optional("write", wait)?.unwrap_or(Nanos(0));
        map.finish()?;
        if read.0 + write.0 == 0 {
            let message = say!(
                "neither reads nor writes are delayed: give `read` or `write`",
                "ни чтение, ни запись не задерживаются: укажите `read` или `write`"
            );
            return contradiction(node, message);
        }
        Ok(Dm::Delay { read, write })
    })?;
    let flakey = map.optional("flakey", |node| {
        let mut map = Map::of(node, &keys::FLAKEY)?;
        let seconds = |node: &Node| in_whole(node, Nanos::secs(1));
        let (up, down) = (map.required("up", seconds)?, map.required("down", seconds)?);
        let drops = map.optional("drop", |node| word(node, keys::DROPPED))?.is_some();
        if up.0 + down.0 == 0 {
            return contradiction(node, say!("`up` and `down` are both 0", "и `up`, и `down` равны 0"));
        }
        let found = Dm::Flakey { up, down, drops };
        map.finish()?;
        Ok(found)
    })?;
    let error = map.optional("error", |node| {
        let mut map = Map::of(node, &keys::ERROR)?;
        let from = map.required("from", |node| whole_mib(node, keys::PLACE))?;
        let found = Dm::Error { from, length: map.required("length", |node| whole_mib(node, keys::LENGTH))? };
        map.finish()?;
        Ok(found)
    })?;
    let crypt = map.optional("crypt", |node| word(node, keys::CIPHERS).map(Dm::Crypt))?;
    let integrity = map.optional("integrity", |node| word(node, keys::CHECKSUMS).map(Dm::Integrity))?;
    let writecache = map.optional("writecache", |node| {
        let mut map = Map::of(node, &keys::WRITECACHE)?;
        let block = map.optional("block_size", |node| power_of_two(node, keys::CACHE_BLOCK))?;
        map.finish()?;
        Ok(Dm::WriteCache { block_size: block.unwrap_or(keys::CACHE_BLOCK.most) })
    })?;
    let log_writes = map.optional("log_writes", |node| {
        let mut map = Map::of(node, &keys::LOG_WRITES)?;
        let points = map.optional("points", |node| whole(node, keys::POINTS))?;
        map.finish()?;
        Ok(Dm::LogWrites { points: points.unwrap_or(keys::POINTS_USUAL) })
    })?;
    map.finish()?;
    let mut named = [linear, delay, flakey, error, crypt, integrity, writecache, log_writes].into_iter().flatten();
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(Kind::Dm(one)),
        _ => contradiction(node, say!("`dm` is exactly one mapping", "`dm` — это ровно одно отображение")),
    }
}

/// A duration in whole units, within the limits of a wait.
fn in_whole(node: &Node, unit: Nanos) -> Result<Nanos> {
    let found = span(node)?;
    match keys::WAIT.hold(&found) && found.0.is_multiple_of(unit.0) {
        true => Ok(found),
        false => {
            let ms = unit.0 / 1_000_000;
            Err(node.error(say!("not at most an hour in steps of {ms} ms", "нужно не больше часа с шагом {ms} мс")))
        }
    }
}
