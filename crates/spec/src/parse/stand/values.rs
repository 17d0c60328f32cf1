//! Values that several kinds of layers have: sizes, and words for other programs.

use super::super::{Map, bytes, list, word};
use crate::keys::Limits;
use crate::keys::stand as keys;
use crate::stand::InitialSync;
use crate::yaml::Node;
use stend_base::format::bytes as format;
use stend_base::{Bytes, Lang, Result, Say, say};

/// Words that would lead to another device, or that mean nothing without one.
const LEADS_AWAY: [&str; 6] = ["logdev", "rtdev", "device", "journal_dev", "journal_path", "name="];

/// Keys that cannot stand together.
pub(super) fn contradiction<T>(node: &Node, what: Say) -> Result<T> {
    Err(node.error(what))
}

/// Words for another program, none of which can lead it to a device that the stand does not name.
pub(super) fn plain_words(node: &Node) -> Result<Vec<String>> {
    let items = list(node)?;
    let plain = |item: &Node| {
        let word = super::super::name(item)?;
        let known = |c: char| c.is_ascii_alphanumeric() || "-_=,.:+^".contains(c);
        // `mkfs.f2fs -c` takes another device.
        let leads = word == "-c" || LEADS_AWAY.iter().any(|part| word.contains(part));
        match word.chars().all(known) && !leads {
            true => Ok(word),
            false => Err(item.error(say!(
                "`{word}` is not allowed here: it could name another device",
                "`{word}` здесь не допускается: так можно назвать другое устройство"
            ))),
        }
    };
    items.iter().map(plain).collect()
}

/// How the first synchronisation is dealt with.
pub(super) fn initial_sync(map: &mut Map) -> Result<InitialSync> {
    let found = map.optional("initial_sync", |node| word(node, keys::INITIAL_SYNC))?;
    Ok(found.unwrap_or(InitialSync::Wait))
}

/// The size of a volume.
pub(super) fn size(node: &Node) -> Result<Bytes> {
    whole_mib(node, keys::SIZE)
}

/// A size in whole MiB.
pub(super) fn whole_mib(node: &Node, limits: Limits<Bytes>) -> Result<Bytes> {
    let found = bytes(node)?;
    match limits.hold(&found) && found.0.is_multiple_of(keys::UNIT) {
        true => Ok(found),
        false => Err(not_between(node, limits, say!("in whole MiB", "в целых МиБ"))),
    }
}

/// A size that is a power of two.
pub(super) fn power_of_two(node: &Node, limits: Limits<Bytes>) -> Result<Bytes> {
    let found = bytes(node)?;
    match limits.hold(&found) && found.0.is_power_of_two() {
        true => Ok(found),
        false => Err(not_between(node, limits, say!("a power of two", "степень двойки"))),
    }
}

fn not_between(node: &Node, limits: Limits<Bytes>, how: Say) -> Box<stend_base::Error> {
    let [least, most] = [limits.least, limits.most].map(|size| format(size, Lang::En));
    let [from, to] = [limits.least, limits.most].map(|size| format(size, Lang::Ru));
    let Say { en, ru } = how;
    node.error(say!("not {least} to {most}, {en}", "нужно от {from} до {to}, {ru}"))
}
